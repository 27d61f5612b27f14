"""The runs of the study."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fadeout import study
from fadeout.results import Results
from fadeout.studies.slow_start.delay import Delay, downlink_delay, uplink_delay
from fadeout.studies.slow_start.ramp import MEASURES, Download, saturated_mbps
from fadeout.studies.slow_start.setups import (
    BASE,
    CHANGES,
    RARE_REPORTS,
    SATURATION_MBPS,
    SETTINGS,
    Change,
    Setting,
)
from fadeout.study import Job, Runs, Values, overrides, spread

SCENARIO = Path(__file__).parent / "scenario.toml"

PACKET_INTERVAL_S = 0.103090169944
BLERS = (0.0, 0.1)
DIRECTIONS = {"downlink": ("down", downlink_delay), "uplink": ("up", uplink_delay)}
"""The flow of single packets in each direction, and what is read from it."""
SINGLE_PACKETS = tuple(flow for flow, _ in DIRECTIONS.values())
BLER = "cell.cell.radio.bler"
RATE = "cell.cell.radio.downlink-rate"
TUNED = 3
"""Times that the radio's rate is set anew until what arrives is the saturation rate."""

RampNumbers = dict[str, dict[str, float]]
"""The four columns of Table 1 by the measure that reads them."""

Rates = Mapping[tuple[float, float], tuple[float, float]]
"""Of an interval in ms and its errors: the radio's rate, and the rate above TCP, in Mbit/s."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """How many runs, and how long."""

    packets: int
    packets_with_errors: int
    """More, since one packet in ten is twice or three times as late."""


def count(effort: Effort) -> int:
    """How many simulations the study takes at most."""
    return (
        len(SETTINGS) * len(BLERS) * len(DIRECTIONS)
        + (TUNED + 1) * len({setting.tti_ms for setting in SETTINGS}) * len(BLERS)
        + len(SETTINGS) * (effort.seeds * (1 + len(CHANGES)) + 1)
    )


def delays(runs: Runs[Effort]) -> dict[tuple[Setting, float, str], Delay]:
    """Single packets in every setting, with each error rate, in each direction."""
    found = {}
    for direction, (flow, read) in DIRECTIONS.items():
        points = [(setting, bler, direction) for setting in SETTINGS for bler in BLERS]
        others = (f"flow.{other}" for other in SINGLE_PACKETS if other != flow)
        without = ("flow.download", *others)
        jobs = []
        for setting, bler, _ in points:
            packets = runs.effort.packets_with_errors if bler > 0 else runs.effort.packets
            values = {
                **setting.values(),
                BLER: str(bler),
                "duration": f"{packets * PACKET_INTERVAL_S:.3f} s",
                "probe.throughput": "false",
            }
            jobs.append(Job(SCENARIO, overrides(values), without, with_tables=True))
        parts = runs.each(jobs, read)
        found |= {point: Delay(**each) for point, each in zip(points, parts, strict=True)}
    return found


def rates(runs: Runs[Effort]) -> Rates:
    """What the radio must carry for 21 Mbit/s above TCP, by interval and errors.

    The headers of RLC and MAC are a greater share of smaller blocks, and retransmissions
    take their share; the paper sets its scheme by what arrives, too.
    """
    keys = [(tti, bler) for tti in (1.0, 0.5, 0.1) for bler in BLERS]
    rates = [SATURATION_MBPS] * len(keys)
    reached = rates
    for attempt in range(TUNED):
        if attempt > 0:
            rates = [r * SATURATION_MBPS / s for r, s in zip(rates, reached, strict=True)]
        jobs = [
            download_job(Setting(tti, 5), rate, {BLER: str(bler)})
            for (tti, bler), rate in zip(keys, rates, strict=True)
        ]
        reached = runs.each(jobs, saturated_mbps)
    return dict(zip(keys, zip(rates, reached, strict=True), strict=True))


def limited(runs: Runs[Effort], rates: Rates) -> dict[tuple[float, float], float]:
    """Rates above TCP when RLC reports its status no more than every 60 ms."""
    jobs = [
        download_job(Setting(tti, 5), rate, {**RARE_REPORTS, BLER: str(bler)})
        for (tti, bler), (rate, _) in rates.items()
    ]
    return dict(zip(rates, runs.each(jobs, saturated_mbps), strict=True))


def ramps(runs: Runs[Effort], rates: Rates) -> dict[tuple[Change, Setting], list[RampNumbers]]:
    """Table 1's columns over the seeds, for each change and setting."""
    points = [(change, setting) for change in (BASE, *CHANGES) for setting in SETTINGS]
    return runs.over_seeds(points, lambda point, seed: seeded_job(*point, rates, seed), numbers)


def downloads(runs: Runs[Effort], rates: Rates) -> dict[Setting, Download]:
    """One download in each setting."""
    jobs = [seeded_job(BASE, setting, rates, seed=1) for setting in SETTINGS]
    return dict(zip(SETTINGS, map(Download.of, runs.whole(jobs)), strict=True))


def seeded_job(change: Change, setting: Setting, rates: Rates, seed: int) -> Job:
    """A download whose seed draws the SR offset, and moves the core's round trip by up to half an
    interval, so that the ACK clock meets every phase of the frame."""
    rate = rates[setting.tti_ms, change.bler][0]
    phase = spread(seed) - 0.5
    round_trip = change.round_trip_ms
    if round_trip > 0:
        round_trip += phase * setting.tti_ms
    values = {"link.core.delay": f"{round_trip / 2:.6f} ms", **change.values}
    return download_job(setting, rate, values, seed)


def download_job(setting: Setting, rate_mbps: float, values: Values, seed: int = 1) -> Job:
    """A download at a rate of the radio."""
    rate = {RATE: f"{rate_mbps * 1e6:.0f}", "probe.radio-delay": "false"}
    return Job(
        SCENARIO,
        overrides({**setting.values(), **rate, **values}),
        tuple(f"flow.{flow}" for flow in SINGLE_PACKETS),
        seed,
        with_tables=True,
    )


def numbers(results: Results) -> RampNumbers:
    """Table 1's columns of a run, by measure."""
    download = Download.of(results)
    return {measure.name: download.numbers(measure) for measure in MEASURES}
