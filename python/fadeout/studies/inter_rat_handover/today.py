"""The paper's question with today's stacks: forwarding, bicasting or neither, up to 1 Gbit/s."""

from collections.abc import Sequence
from pathlib import Path

from fadeout.results import Results
from fadeout.studies.inter_rat_handover.runs import (
    Effort,
    convergence,
    job,
    middle,
    read,
    shown,
)
from fadeout.studies.inter_rat_handover.setups import STOP_S, TCP, Setting
from fadeout.study import Job, Numbers, Runs, Section, Table, Values, overrides

MULTIPATH = Path(__file__).parent / "multipath.toml"

RATES_MBPS = (1.0, 10.0, 100.0, 1000.0)
SCHEMES = ("forwarding", "bicasting", "none")
CONTROLS = ("cubic", "bbr")
RTT_MS = 50.0
SEEDS = 3
"""Maximum number of seeds for each point. A run at 1,000 Mbit/s has two million packets."""
POINTS = len(RATES_MBPS) * (len(SCHEMES) * len(CONTROLS) + 1)

WIRES = ("internet", "s1", "iu", "forwarding")


def lengths(rate: float) -> Values:
    """Returns the start of the flow and the end of the run, which are shorter at high rates."""
    return {
        "flow.download.start": "80 s" if rate < 1000 else "84 s",
        "duration": "110 s" if rate < 1000 else "98 s",
    }


def setting(rate: float, scheme: str, control: str) -> Setting:
    """Returns a setting with Linux's stack, large buffers and wired links of 10 Gbit/s."""
    values = {
        **lengths(rate),
        **{f"link.{wire}.rate": "10 Gbit/s" for wire in WIRES},
        **{f"link.{wire}.reverse.rate": "10 Gbit/s" for wire in WIRES},
        "link.lte.queue.limit": "200 ms",
        "link.umts.queue.limit": "500 ms",
        "flow.download.profile": "linux",
        "flow.download.congestion-control": control,
        TCP: '{ maximum-receive-window = "64 MiB" }',
    }
    return Setting(rate, rate, RTT_MS, True, scheme).changed(values)


def section(runs: Runs[Effort]) -> Section:
    """Returns the section on the results with today's stacks and networks."""
    settings = {
        (rate, control, scheme): setting(rate, scheme, control)
        for rate in RATES_MBPS
        for control in CONTROLS
        for scheme in SCHEMES
    }
    seeds = min(SEEDS, runs.effort.seeds)
    results = runs.over_seeds(settings.values(), job, read, seeds)
    both = runs.over_seeds(RATES_MBPS, multipath_job, read_multipath, seeds)
    records = []
    for rate in RATES_MBPS:
        for control in CONTROLS:
            for scheme in SCHEMES:
                each = results[settings[rate, control, scheme]]
                records.append(record(rate, control.upper(), scheme, each))
        records.append(record(rate, "Multipath TCP", "both cells from the start", both[rate]))
    return Section(
        name="today",
        title="The question for today",
        text=(
            f"The sender is Linux 6.12, and the round trip is {RTT_MS:g} ms. The radio rate is "
            "the same before and after the handover, and the wires have 10 Gbit/s. The buffer is "
            "200 ms at the source and 500 ms at the target. The interruption is 100 ms, and "
            "bicasting begins 10 ms before the command. Multipath TCP has a path over each cell "
            "and no handover. The path over the source cell is lost at the time of the handover. "
            "For Multipath TCP the old rate is the rate of one cell."
        ),
        table=Table.of(
            records,
            {
                "rate": "{rate_mbps:g} Mbit/s",
                "control": "{control}",
                "data": "{scheme}",
                "lost": "{lost:.0f}",
                "retransmitted": "{retransmissions:.0f}",
                "timeouts": "{timeouts:.0f}",
                "s": "{_time}",
            },
        ),
        is_headline=True,
    )


def record(rate: float, control: str, scheme: str, each: Sequence[Numbers]) -> dict[str, object]:
    """Returns a row of the table."""
    names = ("lost", "retransmissions", "timeouts", "time_s")
    return {
        "rate_mbps": rate,
        "control": control,
        "scheme": scheme,
        **{name: middle(each, name) for name in names},
        "_time": shown(each, "time_s"),
    }


def multipath_job(rate: float, seed: int) -> Job:
    """Returns the run of a multipath download whose first path ends."""
    values = {f"link.{cell}.rate": f"{rate:g} Mbit/s" for cell in ("lte", "umts")}
    values |= {f"link.{cell}.reverse.rate": f"{rate:g} Mbit/s" for cell in ("lte", "umts")}
    values |= lengths(rate)
    return Job(MULTIPATH, overrides(values), seed=seed, with_tables=True)


def read_multipath(results: Results) -> dict[str, float]:
    """Returns the numbers of a run without a handover, as `read` does.

    The previous rate is half of the rate over both cells.
    """
    again = results.retransmissions["time_s"] >= STOP_S
    late = results.timeouts["time_s"] >= STOP_S
    whole = results.throughput.filter(results.throughput["flow"].cast(str) == "download")
    return {
        "retransmissions": float(again.sum()),
        "timeouts": float(late.sum()),
        "lost": float(results.drops["time_s"].is_between(STOP_S, STOP_S + 1).sum()),
        **convergence(whole, STOP_S, share=0.5),
    }
