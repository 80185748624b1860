# flightsrv, with its kernels compiled: no scan waits for a compiler.
#
#   docker build -t flightsrv .
#   docker run --volume /var/lib/cassandra/data:/data:ro --group-add 999 --publish 8815:8815 --publish 9815:9815 flightsrv
#
# Mount Cassandra's data folders read-only at /data (several: name them after `serve`), and give the container the group
# that Cassandra's files belong to. Settings: docs/operations.md, as FLIGHTSRV_* variables.

FROM python:3.12.11-slim-bookworm AS build

RUN python -m venv /opt/flightsrv
ENV PATH=/opt/flightsrv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY requirements.lock ./
RUN pip install --require-hashes --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY corpus corpus
COPY flightsrv flightsrv
RUN pip install --no-deps . \
    # Numba takes what it compiled for a source file of this very time, of which image layers keep whole seconds only.
    && find /opt/flightsrv -path '*/flightsrv/kernels/*.py' -exec touch --date=@1700000000 {} +


FROM python:3.12.11-slim-bookworm

# The compiled kernels are run as they are found: nobody but the server's user may write, or even look, there.
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin flightsrv \
    && install --directory --owner=flightsrv --group=flightsrv --mode=0700 /var/cache/flightsrv
COPY --from=build /opt/flightsrv /opt/flightsrv
ENV PATH=/opt/flightsrv/bin:$PATH \
    FLIGHTSRV_CACHE=/var/cache/flightsrv \
    FLIGHTSRV_DATA=/data \
    FLIGHTSRV_LISTEN=0.0.0.0:8815 \
    FLIGHTSRV_OPS_LISTEN=0.0.0.0:9815
USER 10001:10001
# For the CPU of this machine. On one of another kind the first start compiles once more, for a minute.
RUN flightsrv warm

EXPOSE 8815 9815
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:9815/readyz', timeout=3)"]
ENTRYPOINT ["flightsrv"]
CMD ["serve"]
