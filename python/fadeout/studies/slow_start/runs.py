"""The study's runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from fadeout.results import Results
from fadeout.studies.slow_start.delay import Delay, delay
from fadeout.studies.slow_start.ramp import MEASURES, Download, saturated_mbps
from fadeout.studies.slow_start.setups import (
    CHANGES,
    GOLDEN,
    RARE_REPORTS,
    SATURATION_MBPS,
    SETTINGS,
    Change,
    Setting,
)
from fadeout.study import Batch, Job
from fadeout.study.batch import overrides

PACKET_INTERVAL_S = 0.103090169944
BLERS = (0.0, 0.1)
DIRECTIONS = {"downlink": "down", "uplink": "up"}
RATE = "cell.cell.radio.downlink-rate"

Numbers = dict[str, dict[str, float]]
"""The four columns of Table 1 by the measure that reads them."""

Rates = Mapping[tuple[float, float], tuple[float, float]]
"""Of an interval in ms and its errors: the radio's rate, and the rate above TCP, in Mbit/s."""


Item = TypeVar("Item")


@dataclass(frozen=True)
class Effort:
    """How many runs, and how long."""

    seeds: int
    packets: int
    packets_with_errors: int
    """More, since one packet in ten is twice or three times as late."""


FULL = Effort(seeds=20, packets=5_000, packets_with_errors=100_000)
QUICK = Effort(seeds=3, packets=1_000, packets_with_errors=20_000)


class Runner:
    """Runs downloads and single packets."""

    def __init__(self, batch: Batch, effort: Effort, seeds: int) -> None:
        self._batch = batch
        self.effort = effort
        self.seeds = seeds
        batch.expect(
            len(SETTINGS) * len(BLERS) * len(DIRECTIONS)
            + 4 * 3 * len(BLERS)
            + len(SETTINGS) * (seeds * (1 + len(CHANGES)) + 1)
        )

    def delays(self) -> dict[tuple[Setting, float, str], Delay]:
        """Single packets in every setting, with each error rate, in each direction."""
        points = [(s, bler, d) for s in SETTINGS for bler in BLERS for d in DIRECTIONS]
        found = {}
        for direction, flow in DIRECTIONS.items():
            mine = [point for point in points if point[2] == direction]
            without = ("flow.download", *(f"flow.{f}" for f in DIRECTIONS.values() if f != flow))
            jobs = [
                Job(
                    overrides(
                        {
                            **setting.values(),
                            "cell.cell.radio.bler": str(bler),
                            "duration": f"{self._packets(bler) * PACKET_INTERVAL_S:.3f} s",
                            "probe.throughput": "false",
                        }
                    ),
                    without=without,
                    with_tables=True,
                )
                for setting, bler, _ in mine
            ]
            read = self._read(jobs, partial(delay, direction=direction))
            found |= dict(zip(mine, read, strict=True))
        return found

    def rates(self) -> Rates:
        """What the radio must carry for 21 Mbit/s above TCP, by interval and errors.

        The headers of RLC and MAC are a greater share of smaller blocks, and retransmissions
        take their share; the paper sets its scheme by what arrives, too.
        """
        keys = [(tti, bler) for tti in (1.0, 0.5, 0.1) for bler in BLERS]
        rates = [SATURATION_MBPS] * len(keys)
        reached = rates
        for attempt in range(3):
            if attempt > 0:
                rates = [r * SATURATION_MBPS / s for r, s in zip(rates, reached, strict=True)]
            jobs = [
                download_job(Setting(tti, 5), rate, {"cell.cell.radio.bler": str(bler)})
                for (tti, bler), rate in zip(keys, rates, strict=True)
            ]
            reached = self._read(jobs, saturated_mbps)
        return dict(zip(keys, zip(rates, reached, strict=True), strict=True))

    def limited(self, rates: Rates) -> dict[tuple[float, float], float]:
        """Rates above TCP when RLC reports its status no more than every 60 ms."""
        jobs = [
            download_job(Setting(tti, 5), rate, {**RARE_REPORTS, "cell.cell.radio.bler": str(bler)})
            for (tti, bler), (rate, _) in rates.items()
        ]
        return dict(zip(rates, self._read(jobs, saturated_mbps), strict=True))

    def numbers(
        self, changes: Sequence[Change], rates: Rates
    ) -> dict[tuple[Change, Setting], list[Numbers]]:
        """Table 1's columns over the seeds, for each change and setting."""
        points = [(change, setting) for change in changes for setting in SETTINGS]
        jobs = [
            seeded_job(change, setting, rates, seed)
            for change, setting in points
            for seed in range(1, self.seeds + 1)
        ]
        read = self._read(jobs, numbers)
        count = self.seeds
        return {
            point: read[index * count : (index + 1) * count] for index, point in enumerate(points)
        }

    def downloads(self, change: Change, rates: Rates) -> dict[Setting, Download]:
        """One download in each setting."""
        jobs = [seeded_job(change, setting, rates, seed=1) for setting in SETTINGS]
        return dict(zip(SETTINGS, self._read(jobs, Download.of), strict=True))

    def _packets(self, bler: float) -> int:
        return self.effort.packets_with_errors if bler > 0 else self.effort.packets

    def _read(self, jobs: Sequence[Job], read: Callable[[Results], Item]) -> list[Item]:
        """What `read` makes of every job; tables are not kept."""
        done = [item for item in self._batch.collect(jobs, read) if item is not None]
        if len(done) < len(jobs):
            # Every run is in some mean: a part of them is no result.
            raise KeyboardInterrupt
        return done


def seeded_job(change: Change, setting: Setting, rates: Rates, seed: int) -> Job:
    """A download whose seed draws the SR offset, and moves the core's round trip by up to half an
    interval, so that the ACK clock meets every phase of the frame."""
    rate = rates[setting.tti_ms, change.bler][0]
    phase = seed * GOLDEN % 1 - 0.5
    round_trip = change.round_trip_ms
    if round_trip > 0:
        round_trip += phase * setting.tti_ms
    values = {"link.core.delay": f"{round_trip / 2:.6f} ms", **change.values}
    return download_job(setting, rate, values, seed)


def download_job(
    setting: Setting, rate_mbps: float, values: Mapping[str, str], seed: int = 1
) -> Job:
    """A download at a rate of the radio."""
    rate = {RATE: f"{rate_mbps * 1e6:.0f}", "probe.radio-delay": "false"}
    return Job(
        overrides({**setting.values(), **rate, **values}),
        without=tuple(f"flow.{flow}" for flow in DIRECTIONS.values()),
        seed=seed,
        with_tables=True,
    )


def numbers(results: Results) -> Numbers:
    """Table 1's columns of a run, by measure."""
    download = Download.of(results)
    return {measure.name: download.numbers(measure) for measure in MEASURES}
