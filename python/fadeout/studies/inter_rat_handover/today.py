"""The paper's question with today's stacks: forwarding, bicasting or neither, up to 1 Gbit/s."""

from dataclasses import dataclass

from fadeout.results import Results
from fadeout.studies.inter_rat_handover.runs import (
    DATA,
    FOLDER,
    STOP_S,
    TCP,
    Effort,
    Setting,
    convergence,
    found,
)
from fadeout.study import Found, Job, Runs, Values, overrides

MULTIPATH = FOLDER / "multipath.toml"

WIRES = ("internet", "s1", "iu", "forwarding")


@dataclass(frozen=True)
class Today:
    """Points of the table. The seeds are a maximum."""

    seeds: int
    rates_mbps: tuple[float, ...]
    rtt_ms: float
    controls: tuple[str, ...]
    schemes: tuple[str, ...]


TODAY = DATA.one("today", Today)


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
    return Setting(rate, rate, TODAY.rtt_ms, True, scheme).changed(values)


def today(runs: Runs[Effort]) -> Found:
    """Returns the recoveries with today's stacks and networks, from the lowest rate on."""
    settings = {
        (rate, control.upper(), scheme): setting(rate, scheme, control)
        for rate in TODAY.rates_mbps
        for control in TODAY.controls
        for scheme in TODAY.schemes
    }
    seeds = min(TODAY.seeds, runs.effort.seeds)
    one = found(runs, "rate_mbps control scheme", settings, seeds=seeds)
    both = runs.over_seeds(TODAY.rates_mbps, multipath_job, read_multipath, seeds)
    way = ("Multipath TCP", "both cells from the start")
    every = one | Found(one.axes, {(rate, *way): each for rate, each in both.items()})
    return every.picked(sorted(every, key=lambda point: point[0]))


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
