"""Settings: read once at the start, from flags, then the environment, then a TOML file, then defaults.

A field of Settings is a flag (--batch-rows), a variable (FLIGHTSRV_BATCH_ROWS) and a key of the file (batch_rows).
Where it takes several values, the flag is repeated, the variable is separated like PATH, and the key is a list. The
folders of `data` are given without a flag.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import click

from flightsrv.telemetry import options as telemetry_options
from flightsrv.telemetry.options import TelemetryOptions

KIB = 1024
MIB = 1024 * KIB

ArrowTypes = Literal["compatible", "native"]
OnUnrepresentable = Literal["error", "null", "text"]

Command = TypeVar("Command", bound=Callable[..., Any])


class Address(NamedTuple):
    host: str
    port: int
    """0: any free port."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class TableFolder(NamedTuple):
    """A folder of SSTables that is a table by decree, wherever it lies."""

    keyspace: str
    table: str
    folder: Path


def _path(value: object) -> Path:
    return Path(str(value)).expanduser()


def _address(value: object) -> Address:
    found = re.fullmatch(r"\[([0-9a-fA-F:.]+)\]:(\d{1,5})|([^:\s]+):(\d{1,5})", str(value))
    port = int(found[2] or found[4]) if found else -1
    if not found or port > 65535:
        raise ValueError(f"{value!r} is not host:port")
    return Address(found[1] or found[3], port)


def _table_folder(value: object) -> TableFolder:
    found = re.fullmatch(r"(\w+)\.(\w+)=(.+)", str(value), re.ASCII)
    if not found:
        raise ValueError(f"{value!r} is not keyspace.table=folder")
    return TableFolder(found[1], found[2], _path(found[3]))


def _whole(at_least: int, at_most: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        text = str(value)
        if not re.fullmatch(r"-?\d+", text) or not at_least <= int(text) <= at_most:
            raise ValueError(f"{text!r} is not a whole number from {at_least} to {at_most}")
        return int(text)

    return parse


def _one_of(*allowed: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
        return str(value)

    return parse


def _seconds(at_most: float) -> Callable[[object], float]:
    def parse(value: object) -> float:
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = math.nan
        if not 0.0 <= seconds <= at_most:
            raise ValueError(f"{str(value)!r} is not a number of seconds from 0 to {at_most:g}")
        return seconds

    return parse


def _cores() -> int:
    """Cores this process may use: its CPU affinity, or its cgroup's quota (cpu.max) where that is smaller."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else min(cores, max(1, math.ceil(int(quota) / int(period))))


def _about(
    text: str, parse: Callable[[object], Any], *, many: bool = False, alias: tuple[str, float] | None = None
) -> Mapping[str, Any]:
    """What the sources need to know of a field. `alias`: a variable of cqlite-flight's, and a factor for its number."""
    return {"help": text, "parse": parse, "many": many, "alias": alias}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be chosen. The help texts say what each field is."""

    data: tuple[Path, ...] = field(
        default=(), metadata=_about("A Cassandra data folder: <folder>/<keyspace>/<table>-<id>.", _path, many=True)
    )
    tables: tuple[TableFolder, ...] = field(
        default=(),
        metadata=_about("A folder of SSTables served as one table: keyspace.table=folder.", _table_folder, many=True),
    )
    ddl: tuple[Path, ...] = field(
        default=(),
        metadata=_about("A file of CREATE TABLE and CREATE TYPE statements; wins over the disk's.", _path, many=True),
    )
    listen: Address = field(
        default=Address("127.0.0.1", 8815), metadata=_about("Address of the Flight listener.", _address)
    )
    ops_listen: Address = field(
        default=Address("127.0.0.1", 9815), metadata=_about("Address of /healthz, /readyz and /metrics.", _address)
    )
    ready_file: Path | None = field(
        default=None, metadata=_about("A file to write the ready line to, once the server is ready.", _path)
    )
    batch_rows: int = field(default=65_536, metadata=_about("Most rows in a record batch.", _whole(1, 1 << 20)))
    batch_bytes: int = field(
        default=3_000_000,
        metadata=_about("Arrow bytes that fill a batch. Go and Rust clients take 4 MiB at most.", _whole(1, 64 * MIB)),
    )
    arrow_types: ArrowTypes = field(
        default="compatible",
        metadata=_about(
            "Arrow types: cqlite-flight's (compatible), or ones that lose nothing (native).",
            _one_of(*get_args(ArrowTypes)),
        ),
    )
    on_unrepresentable: OnUnrepresentable = field(
        default="error",
        metadata=_about(
            "What becomes of a value that its Arrow type cannot hold: error, null or text.",
            _one_of(*get_args(OnUnrepresentable)),
        ),
    )
    piece_bytes: int = field(
        default=2 * MIB, metadata=_about("Bytes of one read of a scan.", _whole(256 * KIB, 64 * MIB))
    )
    read_depth: int = field(default=4, metadata=_about("Reads in flight, per SSTable of a scan.", _whole(1, 64)))
    disk_threads: int = field(
        default_factory=lambda: max(8, 2 * _cores()), metadata=_about("Threads that read.", _whole(1, 256))
    )
    cpu_threads: int = field(
        default_factory=lambda: max(1, _cores() - 1),
        metadata=_about("Threads that decompress. A scan has one of its own for the rest.", _whole(1, 256)),
    )
    frames_ahead: int = field(
        default=3, metadata=_about("Frames kept ready ahead of the client, per stream.", _whole(1, 64))
    )
    max_concurrent_scans: int = field(
        default_factory=lambda: min(max(2 * _cores(), 2), 64),
        metadata=_about(
            "Scans that run at once; others wait.", _whole(1, 1 << 16), alias=("CQLITE_MAX_CONCURRENT_SCANS", 1)
        ),
    )
    admission_wait_s: float = field(
        default=30.0,
        metadata=_about(
            "How long a scan waits for its turn before its client is told UNAVAILABLE.",
            _seconds(3600),
            alias=("CQLITE_ADMISSION_WAIT_TIMEOUT_MS", 0.001),
        ),
    )
    drain_s: float = field(default=2.0, metadata=_about("How long scans may go on after SIGTERM.", _seconds(3600)))
    telemetry: TelemetryOptions = field(default=TelemetryOptions())


def load(flags: Mapping[str, Any], environ: Mapping[str, str] | None = None, file: Path | None = None) -> Settings:
    """Build Settings. `flags`: field name to what click gave, None or () where the flag was not used.

    `environ` is the process's own when not given; `file` wins over FLIGHTSRV_CONFIG. Raises click.UsageError that names
    the flag, variable or key at fault.
    """
    environ = os.environ if environ is None else environ
    keys = _read_file(file or (Path(environ["FLIGHTSRV_CONFIG"]) if environ.get("FLIGHTSRV_CONFIG") else None))
    chosen: dict[str, Any] = {}
    for option in _options():
        source, value = _first_given(option, flags, environ, keys)
        if source is not None:
            chosen[option.name] = _parsed(option, source, value)
    try:
        telemetry = telemetry_options.from_environment(environ)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return Settings(**chosen, telemetry=telemetry)


def setting_flags(command: Command) -> Command:
    """Decorator: give a click command one flag for each setting, and DATA; hand its keyword arguments to `load`."""
    command = click.argument("data", nargs=-1, metavar="[DATA]...")(command)
    for option in reversed(_options()[1:]):
        command = click.option(
            _flag(option),
            option.name,
            multiple=option.metadata["many"],
            metavar="VALUE",
            help=option.metadata["help"] + _default_text(option),
        )(command)
    return command


def _options() -> list[Field[Any]]:
    """The settings that users choose; the first is `data`."""
    return [option for option in fields(Settings) if option.metadata]


def _flag(option: Field[Any]) -> str:
    """--batch-rows; a flag that is repeated names one: --table. DATA is none."""
    if option.name == "data":
        return "DATA"
    name = "table" if option.name == "tables" else option.name
    return "--" + name.replace("_", "-")


def _default_text(option: Field[Any]) -> str:
    if option.metadata["many"]:
        return "  [repeatable]"
    default = option.default_factory() if callable(option.default_factory) else option.default
    return "" if default is None else f"  [default: {default}]"


def _first_given(
    option: Field[Any], flags: Mapping[str, Any], environ: Mapping[str, str], keys: Mapping[str, Any]
) -> tuple[str | None, Any]:
    """The first source that speaks of `option`, by the name a user knows it by, and what it says."""
    if flags.get(option.name) not in (None, ()):
        return _flag(option), flags[option.name]
    variable = f"FLIGHTSRV_{option.name.upper()}"
    if environ.get(variable):
        text = environ[variable]
        return variable, text.split(os.pathsep) if option.metadata["many"] else text
    if option.metadata["alias"] and environ.get(option.metadata["alias"][0]):
        alias, factor = option.metadata["alias"]
        return alias, _scaled(environ[alias], factor)
    if option.name in keys:
        return option.name, keys[option.name]
    return None, None


def _scaled(text: str, factor: float) -> object:
    """`text` as a number times `factor`; as it stands when it is no number, for the setting's own parser to refuse."""
    return int(text) * factor if re.fullmatch(r"\d+", text) else text


def _parsed(option: Field[Any], source: str, value: Any) -> Any:
    parse = option.metadata["parse"]
    try:
        if not option.metadata["many"]:
            return parse(value)
        if isinstance(value, str):
            raise ValueError("a list is expected")
        return tuple(parse(each) for each in value)
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"{source}: {error}") from None


def _read_file(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return {}
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path}: {error}") from None
    unknown = sorted(set(keys) - {option.name for option in _options()})
    if unknown:
        raise click.UsageError(f"{path}: there is no setting {unknown[0]!r}")
    return keys
