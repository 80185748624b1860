"""Java, and the jars of the pinned Cassandra."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree
from pathlib import Path

KIT = Path(__file__).resolve().parent
CONF = KIT / "conf"
JAVA_VERSION = 17
_COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


class KitError(Exception):
    """Something the user can put right; printed without a traceback."""


def cassandra_version() -> str:
    version = xml.etree.ElementTree.parse(KIT / "pom.xml").findtext(".//{*}properties/{*}cassandra.version")
    assert version, "pom.xml names no version"
    return version


def library() -> Path:
    """The folder of jars: $CASSANDRA_KIT_CACHE, or cassandra-kit/ in the user's cache folder, then the version."""
    cache = os.environ.get("CASSANDRA_KIT_CACHE")
    if not cache:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = str(Path(root, "cassandra-kit"))
    return Path(cache, cassandra_version())


def java_binary() -> str:
    """$JAVA_HOME's java, or the one on the path. Raises KitError when there is none, or not of the version needed."""
    home = os.environ.get("JAVA_HOME")
    binary = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not binary or not Path(binary).exists():
        raise KitError(f"no Java: install JDK {JAVA_VERSION}, set JAVA_HOME or put java on the path")
    told = subprocess.run([binary, "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "(\d+)', told)
    if not found or int(found[1]) != JAVA_VERSION:
        raise KitError(f"Java {JAVA_VERSION} is needed, {binary} says {told.splitlines()[0]}")
    return binary


def fetch() -> int:
    """Copy Cassandra and all it depends on into the library with Maven, unless it is there. Returns how many jars.

    Raises KitError without Maven, subprocess.CalledProcessError when it fails.
    """
    jars = library()
    if not list(jars.glob("cassandra-all-*.jar")):
        if not shutil.which("mvn"):
            raise KitError("no Maven: put mvn on the path, it fetches Cassandra's jars")
        jars.mkdir(parents=True, exist_ok=True)
        pom = ["-f", str(KIT / "pom.xml"), _COPY_GOAL, f"-DoutputDirectory={jars}", "-DincludeScope=runtime"]
        subprocess.run(["mvn", "-q", "-B", *pom], check=True)
    return len(list(jars.glob("*.jar")))


def java(*arguments: str, logback: str = "logback-tools.xml", client: bool = True) -> list[str]:
    """The command line of a JVM that has Cassandra on its class path; `client` for one that lives a few seconds."""
    if not list(library().glob("cassandra-all-*.jar")):
        raise KitError(f"no jars in {library()}: fetch them first")
    return [
        java_binary(),
        f"@{CONF / 'jvm17.options'}",
        *(["-XX:TieredStopAtLevel=1"] if client else []),
        f"-Dlogback.configurationFile={CONF / logback}",
        "-cp",
        f"{library()}/*",
        *arguments,
    ]
