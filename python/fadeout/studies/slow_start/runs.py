"""The runs of the study."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from fadeout import study
from fadeout.results import Results
from fadeout.studies.slow_start.delay import DIRECTIONS, Delay, delay
from fadeout.studies.slow_start.ramp import MEASURES, Download, saturated_mbps
from fadeout.studies.slow_start.setups import (
    BASE,
    BLER,
    CHANGES,
    DATA,
    FOLDER,
    MSS,
    SATURATION_MBPS,
    SEGMENT_BYTES,
    SETTINGS,
    Change,
    Setting,
)
from fadeout.study import Estimate, Found, Job, Runs, Values, estimate, overrides, spread
from fadeout.study.found import Point

SCENARIO = FOLDER / "scenario.toml"

PACKET_INTERVAL_S = 0.103090169944
BLERS = (0.0, 0.1)
RATE = "cell.cell.radio.downlink-rate"
TUNED = 3
"""Number of adjustments of the radio's rate until the saturation rate arrives."""

RampNumbers = dict[str, dict[str, float]]
"""The four columns of Table 1 for each way of reading them."""

Load = tuple[float, float, int]
"""Interval in ms, error rate, and size of segments in bytes."""

Rates = Mapping[Load, tuple[float, float]]
"""The radio's rate and the rate above TCP in Mbit/s."""


@dataclass(frozen=True, kw_only=True)
class Effort(study.Effort):
    """Number of seeds and packets of the runs."""

    packets: int
    packets_with_errors: int
    """Packets of runs with errors. They are more, as one packet in ten has two or three times the
    delay.
    """


def loads() -> list[Load]:
    """Returns the combinations of interval, errors and segments for which the rate is tuned."""
    sizes = sorted({change.segment_bytes for change in CHANGES} - {SEGMENT_BYTES})
    intervals = sorted({setting.tti_ms for setting in SETTINGS}, reverse=True)
    return [
        *((tti, bler, SEGMENT_BYTES) for tti in intervals for bler in BLERS),
        *((tti, 0.0, size) for size in sizes for tti in intervals),
    ]


def delays(runs: Runs[Effort]) -> dict[tuple[Setting, float, str], Delay]:
    """Returns the delays of single packets, by setting, error rate and direction."""

    def job(point: tuple[Setting, float, str], seed: int) -> Job:
        setting, bler, flow = point
        packets = runs.effort.packets_with_errors if bler > 0 else runs.effort.packets
        values = {
            **setting.values(),
            BLER: str(bler),
            "duration": f"{packets * PACKET_INTERVAL_S:.3f} s",
            "probe.throughput": "false",
        }
        without = tuple(f"flow.{other}" for other in ("download", *DIRECTIONS) if other != flow)
        return Job(SCENARIO, overrides(values), without, seed, with_tables=True)

    points = itertools.product(SETTINGS, BLERS, DIRECTIONS)
    return {
        (setting, bler, DIRECTIONS[flow]): Delay(**found)
        for (setting, bler, flow), (found,) in runs.over_seeds(points, job, delay, 1).items()
    }


def rates(runs: Runs[Effort]) -> Rates:
    """Returns the radio's rates for 21 Mbit/s above TCP, by interval and error rate.

    Headers of RLC and MAC take a larger share of smaller blocks, and retransmissions take their
    share too. The paper also sets its scheme by the rate that arrives.
    """
    keys = loads()
    rates = [SATURATION_MBPS] * len(keys)
    reached = rates
    for attempt in range(TUNED):
        if attempt > 0:
            rates = [r * SATURATION_MBPS / s for r, s in zip(rates, reached, strict=True)]
        jobs = [loaded_job(load, rate) for load, rate in zip(keys, rates, strict=True)]
        reached = runs.each(jobs, saturated_mbps)
    return dict(zip(keys, zip(rates, reached, strict=True), strict=True))


def limited(runs: Runs[Effort], rates: Rates) -> dict[Load, float]:
    """Returns the rates above TCP if RLC reports its status at most every 60 ms."""
    rare = DATA.values["rare-reports"]
    jobs = [loaded_job(load, rate, rare) for load, (rate, _) in rates.items()]
    return dict(zip(rates, runs.each(jobs, saturated_mbps), strict=True))


class Ramps(Found):
    """Table 1's columns by change, setting and definition. A mean needs every seed."""

    def mean(self, point: Point, name: str) -> Estimate:
        """Returns the mean of a cell. It has no value if a seed did not reach the rate."""
        values = [numbers[name] for numbers in self[point]]
        return estimate([] if any(map(math.isnan, values)) else values)


def ramps(runs: Runs[Effort], rates: Rates) -> Ramps:
    """Returns Table 1's columns over the seeds."""
    points = [(change, setting) for change in CHANGES for setting in SETTINGS]
    found = runs.over_seeds(points, lambda point, seed: seeded_job(*point, rates, seed), numbers)
    by_measure = {
        (*point, measure): [each[measure.name] for each in of_seeds]
        for point, of_seeds in found.items()
        for measure in MEASURES
    }
    return Ramps(("change", "setting", "reading"), by_measure)


def downloads(runs: Runs[Effort], rates: Rates) -> dict[Setting, Download]:
    """Returns one download in each setting."""
    jobs = [seeded_job(BASE, setting, rates, seed=1) for setting in SETTINGS]
    return dict(zip(SETTINGS, map(Download.of, runs.whole(jobs)), strict=True))


def seeded_job(change: Change, setting: Setting, rates: Rates, seed: int) -> Job:
    """Returns a download with the random values of a seed.

    The seed draws the SR offset. It also changes the core's round trip by up to half an interval,
    so that the ACK clock meets every phase of the frame.
    """
    rate = rates[setting.tti_ms, change.bler, change.segment_bytes][0]
    phase = spread(seed) - 0.5
    round_trip = change.round_trip_ms
    if round_trip > 0:
        round_trip += phase * setting.tti_ms
    values = {"link.core.delay": f"{round_trip / 2:.6f} ms", **change.values}
    return download_job(setting, rate, values, seed)


def loaded_job(load: Load, rate_mbps: float, values: Values | None = None) -> Job:
    """Returns a download with an interval, errors and size of segments, to tune the rate."""
    tti, bler, size = load
    segments = {} if size == SEGMENT_BYTES else {MSS: str(size)}
    return download_job(Setting(tti, 5), rate_mbps, {**(values or {}), BLER: str(bler), **segments})


def download_job(setting: Setting, rate_mbps: float, values: Values, seed: int = 1) -> Job:
    """Returns a download at a rate of the radio."""
    rate = {RATE: f"{rate_mbps * 1e6:.0f}", "probe.radio-delay": "false"}
    return Job(
        SCENARIO,
        overrides({**setting.values(), **rate, **values}),
        tuple(f"flow.{flow}" for flow in DIRECTIONS),
        seed,
        with_tables=True,
    )


def numbers(results: Results) -> RampNumbers:
    """Returns Table 1's columns of a run, for each way of reading them."""
    download = Download.of(results)
    return {measure.name: download.numbers(measure) for measure in MEASURES}
