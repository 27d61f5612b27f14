"""Figures 3 to 5: the effect of deafness, blockage and misalignment on one car's window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from fadeout.results import Results
from fadeout.studies.vehicular import figures
from fadeout.studies.vehicular.claims import gain, values
from fadeout.studies.vehicular.runs import Effort, Numbers
from fadeout.study import Claim, Job, Runs, Section, Table, Values, Verdict, estimate, overrides

FOLDER = Path(__file__).parent
SCENARIO = FOLDER / "one-car.toml"
RELAY = FOLDER / "relay.toml"
LOOK_S = 0.001
"""Time step in which interruptions are detected: half of the mean of the shortest deafness."""
SETTLED_S = 1.5
"""Time from which windows count, as the first slow start is over, seconds."""
RECOVERED_MS = 10
"""Longest deafness or misalignment that a MAC recovers from, according to the paper, ms."""
WALL = "building"


@dataclass(frozen=True)
class Failure:
    """A cause that interrupts the car's path."""

    cause: str
    name: str
    values: Values = field(default_factory=dict, hash=False)
    behind_wall: bool = False
    is_relayed: bool = False
    """True if another car forwards the data, over a hop that fails."""
    is_drawn: bool = False
    """True if the figure shows this failure for its cause."""


BLOCKAGE = "cell.unit.channel.blockage"


def _beams(width: int) -> Values:
    beam = f'{{ kind = "beam", width = {width}, height = 180 }}'
    return {"cell.unit.antenna": beam, "cell.unit.channel.ue-antenna": beam}


def _total(duration: str) -> Values:
    model = f'model = "periodic", first = "4 s", period = "100 s", duration = "{duration}"'
    return {BLOCKAGE: f'{{ {model}, loss = "100 dB" }}'}


NEAR = {"ue.car.position": '["-30 m", "5 m"]'}
SLOW = {"cell.unit.channel.beam-tracking": '"1 s"'}

PREDICTED = {**NEAR, **SLOW, **_beams(10)}


def _by(prediction: str) -> Values:
    return {"cell.unit.channel.beam-prediction": f'"{prediction}"'}


ALONE = Failure("deafness", "away for 2 ms, alone", {BLOCKAGE: '"deafness"'})
CROWDED = Failure(
    "deafness",
    "away for 2 ms, 20 nodes",
    {BLOCKAGE: '{ model = "deafness", freezing = 20 }'},
    is_drawn=True,
)
TRACKED = Failure("misalignment", "30 degrees, every 20 ms", {**NEAR, **_beams(30)})

CONTENTION = "blockage.deaf.contention"


def _relay(name: str, model: str, *, is_drawn: bool = False) -> Failure:
    return Failure("relay", name, {CONTENTION: model}, is_relayed=True, is_drawn=is_drawn)


FORWARDED = _relay("away for 2 ms, alone", '"deafness"')
FORWARDED_IN_CROWD = _relay(
    "away for 2 ms, 20 nodes", '{ model = "deafness", freezing = 20 }', is_drawn=True
)

FAILURES = (
    ALONE,
    CROWDED,
    Failure("deafness", "away for 200 ms", {BLOCKAGE: '{ model = "deafness", dwell = "200 ms" }'}),
    FORWARDED,
    FORWARDED_IN_CROWD,
    _relay("away for 200 ms", '{ model = "deafness", dwell = "200 ms" }'),
    Failure("blockage", "a wall of 12 m", behind_wall=True),
    Failure("blockage", "nothing passes for 0.7 s", _total("700 ms"), is_drawn=True),
    Failure("blockage", "nothing passes for 1.5 s", _total("1500 ms")),
    TRACKED,
    Failure("misalignment", "30 degrees, every 1 s", {**NEAR, **SLOW}),
    Failure("misalignment", "10 degrees, every 1 s", {**NEAR, **SLOW, **_beams(10)}, is_drawn=True),
    Failure("misalignment", "10 degrees, every 1 s, by angle", {**PREDICTED, **_by("angle")}),
    Failure("misalignment", "10 degrees, every 1 s, by place", {**PREDICTED, **_by("place")}),
)

CAUSES = tuple(dict.fromkeys(one.cause for one in FAILURES))

MODES = {"am": "RLC AM", "um": "RLC UM"}
RELAY_MODES = {"am": "held", "um": "lost"}
"""Treatment of packets while the relay's hop is deaf."""

SENDERS: Mapping[str, Values] = {
    "CUBIC": {},
    "RTW-TCP": {"flow.download.congestion-control": '"rtw-tcp"'},
    "CUBIC, Linux": {"flow.download.profile": '"linux"'},
}

Case = tuple[Failure, str, str]
"""A failure, the mode of RLC, and the sender."""


def measure(results: Results) -> Numbers:
    """Returns the sender's numbers, and the interruptions of the path."""
    flow = results.flows.row(0, named=True)
    lengths = [1e3 * (end - start) for start, end in figures.cuts(results, LOOK_S)]
    windows = results.congestion.filter(pl.col("time_s") > SETTLED_S)["cwnd_segments"]
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "timeouts": float(flow["timeouts"]),
        "recoveries": float(flow["recoveries"]),
        "cuts": float(len(lengths)),
        "longest_ms": max(lengths, default=0.0),
        "within_pct": 100 * sum(each <= RECOVERED_MS for each in lengths) / max(1, len(lengths))
        if lengths
        else 100.0,
        "least_segments": float(windows.min()) if len(windows) else None,  # pyright: ignore[reportArgumentType]
    }


def job(case: Case, effort: Effort, seed: int = 1) -> Job:
    """Returns the run of a case."""
    failure, mode, sender = case
    given = {
        "duration": f"{effort.failure_s:g} s",
        **failure.values,
        **SENDERS[sender],
    }
    if failure.is_relayed:
        given["blockage.deaf.effect"] = f'"{RELAY_MODES[mode]}"'
        return Job(RELAY, overrides(given), (), seed, with_tables=True)
    given["ue.car.rlc.mode"] = f'"{mode}"'
    without = () if failure.behind_wall else (WALL,)
    return Job(SCENARIO, overrides(given), without, seed, with_tables=True)


def _link(failure: Failure, mode: str) -> str:
    """Returns the name of the failing link, for the column and the panel."""
    return f"a relay, {RELAY_MODES[mode]}" if failure.is_relayed else MODES[mode]


CASES = [(one, mode, sender) for one in FAILURES for mode in MODES for sender in SENDERS]


def failures(runs: Runs[Effort]) -> dict[Case, list[Numbers]]:
    """Returns the numbers of each case, by seed."""

    def of_case(case: Case, seed: int) -> Job:
        return job(case, runs.effort, seed)

    return runs.over_seeds(CASES, of_case, measure, runs.effort.swept)


def verdict(found: Mapping[Case, Sequence[Numbers]], claims: Mapping[str, Claim]) -> Verdict:
    """Returns the verdict that 95 % of deafness and misalignment are over within 10 ms."""
    within, longest = {}, []
    for failure in (ALONE, CROWDED, FORWARDED, FORWARDED_IN_CROWD, TRACKED):
        numbers = found[failure, "am", "CUBIC"]
        name = f"{failure.cause}, {failure.name}"
        within[name] = estimate(values(numbers, "within_pct"))
        longest.append(f"{name}: {max(values(numbers, 'longest_ms')):.0f} ms")
    return Verdict(claims["mac_recovery"], within, f"The longest are {'; '.join(longest)}")


def section(found: Mapping[Case, Sequence[Numbers]], runs: Runs[Effort]) -> Section:
    """Returns the section on figures 3 to 5."""
    records = []
    for failure in FAILURES:
        for mode in MODES:
            cubic = found[failure, mode, "CUBIC"]
            records.append(
                {"cause": failure.cause, "failure": failure.name, "link": _link(failure, mode)}
                | {
                    name: estimate(values(cubic, name))
                    for name in (
                        "cuts",
                        "longest_ms",
                        "goodput_mbps",
                        "timeouts",
                        "recoveries",
                        "least_segments",
                    )
                }
                | {
                    name: gain(found[failure, mode, sender], cubic, "goodput_mbps")
                    for name, sender in (("rtw_pct", "RTW-TCP"), ("linux_pct", "CUBIC, Linux"))
                }
            )
    drawn = [one for one in FAILURES if one.is_drawn]
    cases = [(one, mode, sender) for one in drawn for mode in MODES for sender in SENDERS]
    whole = runs.whole([job(case, runs.effort) for case in cases])
    panels: dict[tuple[str, str], dict[str, Results]] = {}
    for (failure, mode, sender), results in zip(cases, whole, strict=True):
        title = (f"{failure.cause}: {failure.name}", _link(failure, mode))
        panels.setdefault(title, {})[sender] = results
    return Section(
        name="failures",
        title="One car, and what cuts its path",
        text=(
            "The table corresponds to the paper's Figures 3 to 5. A car passes a unit with a "
            "download that always has data. *Cuts*: number of periods in which deafness, a wall, "
            "a blockage or a misaligned beam causes a loss of 6 dB or more. *Relay*: another car "
            "forwards the packets over a directional link with deafness. *Least window*: CUBIC's "
            "smallest window after the first 1.5 s. The last two columns show the throughput "
            "relative to CUBIC with the stack of the standards."
        ),
        table=Table.of(
            records,
            {
                "cause": "{cause}",
                "failure": "{failure}",
                "link": "{link}",
                "cuts": "{cuts:.1f}",
                "longest ms": "{longest_ms:.0f}",
                "CUBIC Mbit/s": "{goodput_mbps:.0f}",
                "its timeouts": "{timeouts:.1f}",
                "recoveries": "{recoveries:.1f}",
                "least window": "{least_segments:.0f}",
                "RTW-TCP %": "{rtw_pct:+.2f}",
                "Linux's CUBIC %": "{linux_pct:+.2f}",
            },
        ),
        figures={
            "Congestion windows of one car under deafness, blockage and misalignment, with seed "
            "1. Shaded: periods with a loss of 6 dB or more.": figures.failing(panels, LOOK_S)
        },
        is_headline=True,
    )
