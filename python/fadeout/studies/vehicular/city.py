"""A city simulated by SUMO: 200 vehicles, with units at crossings and an LTE cell."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from fadeout import _traces
from fadeout.results import Results
from fadeout.studies.vehicular import figures
from fadeout.studies.vehicular.runs import Effort
from fadeout.studies.vehicular.setups import CONTROL
from fadeout.studies.vehicular.today import BBR, RTW, Choice
from fadeout.study import QUIET_CELL, Estimate, Job, Runs, Section, Table, estimate, overrides

SCENARIO = Path(__file__).parent / "city" / "city.toml"
MOST_SEEDS = 5
"""Maximum number of seeds. Seeds change shadowing and scheduling, but not the traffic."""

EVENTS = (
    '[{ kind = "a3", time-to-trigger = "40 ms" }, '
    '{ kind = "b2", serving-threshold = "-96 dBm", threshold = "-120 dBm", '
    'time-to-trigger = "40 ms" }, '
    '{ kind = "b2", serving-threshold = "-60 dBm", threshold = "-78 dBm", '
    'time-to-trigger = "40 ms" }]'
)
FALLBACK = ("mobility-management.events", EVENTS)

WITHOUT_LTE = ("cell.macro", "link.core-of-lte")

CHOICES = (
    Choice("CUBIC"),
    Choice("RTW-TCP", tuple(RTW.items())),
    Choice("Compound", ((CONTROL, '"compound"'),)),
    Choice("X-TCP", ((CONTROL, '"x-tcp"'),)),
    Choice("BBRv3", tuple(BBR.items())),
    Choice("CUBIC, fallback to LTE", (FALLBACK,), has_lte=True),
    Choice("BBRv3, fallback to LTE", (*BBR.items(), FALLBACK), has_lte=True),
)

Found = Mapping[str, Any]


def measure(results: Results) -> Found:
    """Returns the goodput of each car, and other numbers over all cars."""
    flows = results.flows
    rtts = flows["mean_rtt_s"].drop_nulls()
    return {
        "goodputs_mbps": sorted(flows["goodput_mbps"].to_list()),
        "rtt_ms": 1e3 * float(rtts.mean()) if len(rtts) else 0.0,  # pyright: ignore[reportArgumentType]
        "timeouts": float(flows["timeouts"].sum()),
        "handovers": float(len(results.table("handovers"))),
    }


def job(choice: Choice, effort: Effort, seed: int = 1) -> Job:
    """Returns the run of a choice."""
    given = {**QUIET_CELL, "duration": f"{effort.city_s:g} s", **dict(choice.pairs)}
    without = () if choice.has_lte else WITHOUT_LTE
    return Job(SCENARIO, overrides(given), without, seed, with_tables=True)


def why_not(effort: Effort) -> str | None:
    """Returns the reason why the city is left out. None if it is not."""
    if effort.city_s <= 0:
        return "Left out of a quick study: 200 vehicles take minutes of a processor."
    return None if _traces.find_sumo() is not None else f"Left out: {_traces.MISSING}."


def seeds(effort: Effort) -> int:
    """Returns the number of seeds of each choice."""
    return min(MOST_SEEDS, effort.seeds)


def section(runs: Runs[Effort]) -> Section:
    """Returns the section that compares the choices."""
    title = "A city of SUMO"
    left_out = why_not(runs.effort)
    if left_out is not None:
        return Section(name="city", title=title, text=left_out)

    def of_choice(choice: Choice, seed: int) -> Job:
        return job(choice, runs.effort, seed)

    found = runs.over_seeds(CHOICES, of_choice, measure, seeds(runs.effort))
    records = [_record(choice, numbers) for choice, numbers in found.items()]
    shares = {choice.name: numbers[0]["goodputs_mbps"] for choice, numbers in found.items()}
    return Section(
        name="city",
        title=title,
        text=(
            f"200 vehicles drive for {runs.effort.city_s:g} s on a grid of streets with traffic "
            "lights and houses. Five units at crossings send 10 Mbit/s to each vehicle. The "
            "senders use Linux's stack. *Worst tenth*: mean throughput of the 20 vehicles with "
            "the lowest throughput."
        ),
        table=Table.of(
            records,
            {
                "choice": "{choice}",
                "all Mbit/s": "{goodput:.1f}",
                "worst tenth Mbit/s": "{worst:.2f}",
                "RTT ms": "{rtt:.1f}",
                "timeouts": "{timeouts:.1f}",
                "handovers": "{handovers:.0f}",
            },
        ),
        figures={
            "Distribution of the throughput over the vehicles, with seed 1.": figures.shares(shares)
        },
        is_headline=True,
    )


def _record(choice: Choice, numbers: Sequence[Found]) -> dict[str, Any]:
    def over(name: str) -> Estimate:
        return estimate([each[name] for each in numbers])

    def worst(each: Found) -> float:
        goodputs = each["goodputs_mbps"]
        return fmean(goodputs[: max(1, len(goodputs) // 10)])

    return {
        "choice": choice.name,
        "goodput": estimate([sum(each["goodputs_mbps"]) for each in numbers]),
        "worst": estimate([worst(each) for each in numbers]),
        "rtt": over("rtt_ms"),
        "timeouts": over("timeouts"),
        "handovers": over("handovers"),
    }
