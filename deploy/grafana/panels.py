"""What the dashboard shows: rows of panels, and the PromQL behind each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flightsrv.telemetry.clocks import STAGES
from flightsrv.telemetry.phases import PHASES, SUB_PHASES


def of(*matchers: str) -> str:
    """Matchers of a selector, those of the instances chosen in the dashboard among them."""
    return ", ".join((*matchers, 'instance=~"$instance"'))


def rate_by(labels: str, metric: str, *matchers: str) -> str:
    return f"sum by ({labels}) (rate({metric}{{{of(*matchers)}}}[$__rate_interval]))"


def gauge_by(labels: str, metric: str) -> str:
    return f"sum by ({labels}) ({metric}{{{of()}}})"


def quantile(share: float, histogram: str, labels: str, *matchers: str) -> str:
    return f"histogram_quantile({share}, {rate_by(f'le, {labels}', f'{histogram}_bucket', *matchers)})"


def stage_time(labels: str, *matchers: str) -> str:
    return rate_by(labels, "flightsrv_stage_time_seconds_total", *matchers)


def one_of(phases: Sequence[str]) -> str:
    names = "|".join(phases)
    return f'cqlite_rpc_phase=~"{names}"'


def phase_time(phase: str) -> str:
    """Threads in a phase, or a part of one."""
    name = f'cqlite_rpc_phase="{phase}"'
    return f"sum(rate(cqlite_rpc_phase_duration_seconds_sum{{{of(name)}}}[$__rate_interval]))"


UP = 'up{job="flightsrv", instance=~"$instance"}'
BUSY = 'flightsrv_state="busy"'
BUSY_SHARE = f"{stage_time('flightsrv_stage', BUSY)} / {stage_time('flightsrv_stage')}"
COLD_FAULT_SHARE = f"{phase_time('stream_cold_fault')} / {phase_time('stream')}"


@dataclass(frozen=True)
class Panel:
    """One panel. queries: (expression, legend)."""

    title: str
    about: str
    queries: tuple[tuple[str, str], ...]
    unit: str
    width: int
    type: str = "timeseries"
    stacking: str = "none"
    """none, normal (the sum is the height) or percent (shares of the sum)."""
    most: float | None = None
    colors: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


STATE_COLORS = {"busy": "green", "starved": "blue", "blocked": "orange"}
NAME_ONLY = {"textMode": "name", "colorMode": "background", "reduceOptions": {"calcs": ["lastNotNull"]}}
AS_NUMBER = {"textMode": "value", "colorMode": "value", "reduceOptions": {"calcs": ["lastNotNull"]}}


def stage_panel(stage: str) -> Panel:
    threads = stage_time("flightsrv_state", f'flightsrv_stage="{stage}"')
    return Panel(
        stage,
        "Shares of its time in which it works, waits for input (starved), or for the next stage (blocked).",
        ((threads, "{{flightsrv_state}}"),),
        "short",
        4,
        stacking="percent",
        colors=STATE_COLORS,
    )


def phase_panel(percent: int) -> Panel:
    expression = quantile(percent / 100, "cqlite_rpc_phase_duration_seconds", "cqlite_rpc_phase", one_of(PHASES))
    return Panel(
        f"Phases, p{percent}",
        "Phases of an RPC follow each other; stream holds the time a client does not read, too.",
        ((expression, "{{cqlite_rpc_phase}}"),),
        "s",
        8,
    )


ROWS: tuple[tuple[str, tuple[Panel, ...]], ...] = (
    (
        "Which stage is the bottleneck",
        (
            Panel(
                "Bottleneck",
                "The stage that is busy for the largest share of its life. For write, the client or the network is it.",
                ((f"topk(1, {BUSY_SHARE} > 0)", "{{flightsrv_stage}}"),),
                "percentunit",
                4,
                "stat",
                options=NAME_ONLY,
            ),
            Panel(
                "Busy share of each stage",
                "Busy time over busy, starved and blocked time. The highest line sets the pace.",
                ((BUSY_SHARE, "{{flightsrv_stage}}"),),
                "percentunit",
                8,
                most=1.0,
            ),
            Panel(
                "Busy threads of each stage",
                "What the scans take: all but read and write is time on a core.",
                ((stage_time("flightsrv_stage", BUSY), "{{flightsrv_stage}}"),),
                "short",
                6,
                stacking="normal",
            ),
            Panel(
                "Waiting for the disk",
                "Share of the stream phase in which scans stood still for bytes of Data.db (stream_cold_fault).",
                ((COLD_FAULT_SHARE, "cold fault"),),
                "percentunit",
                6,
                most=1.0,
            ),
            *(stage_panel(stage) for stage in STAGES),
        ),
    ),
    (
        "Throughput",
        (
            Panel("Rows", "Rows sent.", ((rate_by("instance", "cqlite_rpc_rows_total"), "{{instance}}"),), "rowsps", 8),
            Panel(
                "Bytes",
                "Arrow bytes sent, before IPC framing.",
                ((rate_by("instance", "cqlite_rpc_bytes_total"), "{{instance}}"),),
                "Bps",
                8,
            ),
            Panel(
                "RPCs by method and status",
                "RPCs completed.",
                (
                    (
                        rate_by("cqlite_rpc_method, cqlite_rpc_status", "cqlite_rpc_requests_total"),
                        "{{cqlite_rpc_method}} {{cqlite_rpc_status}}",
                    ),
                ),
                "reqps",
                8,
                stacking="normal",
            ),
        ),
    ),
    (
        "Where the time of an RPC goes",
        (
            *(phase_panel(percent) for percent in (50, 95, 99)),
            Panel(
                "Parts of the stream phase",
                "Seconds a second, told when a scan ends. They overlap: their sum is not the stream phase.",
                (
                    (
                        rate_by(
                            "cqlite_rpc_phase",
                            "cqlite_rpc_phase_duration_seconds_sum",
                            one_of(SUB_PHASES),
                        ),
                        "{{cqlite_rpc_phase}}",
                    ),
                ),
                "short",
                12,
            ),
            Panel(
                "DoGet from its start to its last byte",
                "Of scans that ended well.",
                tuple(
                    (
                        quantile(
                            percent / 100,
                            "cqlite_rpc_duration_seconds",
                            "cqlite_rpc_method",
                            'cqlite_rpc_method="do_get"',
                            'cqlite_rpc_status="ok"',
                        ),
                        f"p{percent}",
                    )
                    for percent in (50, 95, 99)
                ),
                "s",
                12,
            ),
        ),
    ),
    (
        "Admission and errors",
        (
            Panel(
                "Scans",
                "How many run, may run, and wait for their turn.",
                tuple(
                    (gauge_by("instance", f"cqlite_flight_admission_{name}"), f"{name} {{{{instance}}}}")
                    for name in ("limit", "in_use", "waiting")
                ),
                "short",
                6,
            ),
            Panel(
                "Waits for a turn, p95",
                "Of the scans that had to wait.",
                ((quantile(0.95, "cqlite_flight_admission_wait_seconds", "instance"), "{{instance}}"),),
                "s",
                6,
            ),
            Panel(
                "In flight, by method",
                "RPCs under way.",
                ((gauge_by("cqlite_rpc_method", "cqlite_rpc_in_flight"), "{{cqlite_rpc_method}}"),),
                "short",
                6,
                stacking="normal",
            ),
            Panel(
                "In each phase now",
                "DoGets under way, by the phase they are in.",
                ((gauge_by("cqlite_rpc_phase", "cqlite_rpc_phase_active"), "{{cqlite_rpc_phase}}"),),
                "short",
                6,
                stacking="normal",
            ),
            Panel(
                "Errors by cause",
                "RPCs that failed. corruption and storage are files; query is the client.",
                (
                    (
                        rate_by("cqlite_error_category, cqlite_flight_abort_reason", "cqlite_errors_total"),
                        "{{cqlite_error_category}} {{cqlite_flight_abort_reason}}",
                    ),
                ),
                "ops",
                12,
                stacking="normal",
            ),
            Panel(
                "Scans refused",
                "Scans told UNAVAILABLE, because their turn did not come in time or the server shuts down.",
                ((rate_by("instance", "cqlite_flight_admission_rejected_total"), "{{instance}}"),),
                "ops",
                12,
            ),
        ),
    ),
    (
        "Process",
        (
            Panel(
                "Resident memory",
                "RSS. Page cache is not in it.",
                ((gauge_by("instance", "cqlite_proc_rss_bytes"), "{{instance}}"),),
                "bytes",
                6,
            ),
            Panel(
                "Open files",
                "File descriptors: a scan holds one for each SSTable it reads.",
                ((gauge_by("instance", "cqlite_proc_fds"), "{{instance}}"),),
                "short",
                6,
            ),
            Panel(
                "Threads",
                "All of the process, and those that run a scan.",
                (
                    (gauge_by("instance", "cqlite_proc_threads"), "all {{instance}}"),
                    (gauge_by("instance", "cqlite_flight_blocking_tasks_in_use"), "scans {{instance}}"),
                ),
                "short",
                6,
            ),
            Panel(
                "Tables",
                "Tables seen when they were last listed.",
                ((gauge_by("instance", "cqlite_flight_tables_discovered"), "{{instance}}"),),
                "short",
                3,
                "stat",
                options=AS_NUMBER,
            ),
            Panel(
                "Up",
                "Instances that Prometheus reaches.",
                ((f"sum({UP})", "up"),),
                "short",
                3,
                "stat",
                options=AS_NUMBER,
            ),
        ),
    ),
)
