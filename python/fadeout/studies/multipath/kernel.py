"""Comparison with Linux's own Multipath TCP, over the cells of the study."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fadeout import FadeoutError, _toml
from fadeout.kernel import find
from fadeout.results import Results
from fadeout.studies.multipath.runs import (
    LTE,
    MMWAVE,
    MULTIPATH,
    NARROW,
    NEAR,
    PAGE,
    RECEIVE_WINDOW,
    SEND_BUFFER,
    SINGLE,
    Change,
    Effort,
    Setup,
    job,
    paths,
)
from fadeout.study import IN_SIGHT, Job, Numbers, Runs, Section, Spread, overrides
from fadeout.validate.kernel.scenario import HZ, KERNEL_SETTINGS

VERSION = "6.12"
SEEDS = 5
"""Maximum number of seeds for each side."""
LENGTH_S = 4
"""Length of a run in seconds. A kernel takes some 20 s of a processor for it at these rates."""

SMALLER = Change(
    "28 and 73 GHz",
    "400 MHz",
    {**NARROW, SEND_BUFFER: "4 MiB"},
)
"""Smaller carriers to save time, and buffers of Linux's default size."""

KERNEL, OURS = f"Linux {VERSION}", "fadeout"
SIDES = (KERNEL, OURS)

Point = tuple[str, Setup, str]
"""Use of the second path, the setup, and the sender."""

BACKUP, USERSPACE = "backup", "path manager in user space"
USES = (("", SINGLE), ("", LTE), (BACKUP, LTE), ("", MMWAVE))
POINTS: list[Point] = [
    *((use, setup, side) for use, setup in USES for side in SIDES),
    *((USERSPACE, setup, KERNEL) for setup in (LTE, MMWAVE)),
]


def why_not(effort: Effort) -> str | None:
    """Returns the reason why the section is left out. None if it is not."""
    if effort.duration_s is not None and effort.duration_s < LENGTH_S:
        return "Left out of a quick study: the runs with a kernel take minutes of a processor."
    try:
        find(VERSION)
    except FadeoutError as error:
        return f"Left out: {error}."
    return None


def section(runs: Runs[Effort]) -> Section:
    """Returns the section that compares Linux's Multipath TCP with fadeout's."""
    left_out = why_not(runs.effort)
    if left_out is not None:
        return Section("kernel", PAGE.parts["kernel"].title.text, left_out)
    seeds = min(SEEDS, runs.effort.seeds)
    found = runs.over_seeds(POINTS, kernel_job, measure, seeds)
    records = [_record(point, numbers) for point, numbers in found.items()]
    return PAGE.section(
        "kernel", records, version=VERSION, near=NEAR, length_s=LENGTH_S, seeds=seeds
    )


def kernel_job(point: Point, seed: int) -> Job:
    """Returns a run of either side."""
    use, setup, side = point
    made = job(setup, (NEAR, IN_SIGHT), {"duration": f"{LENGTH_S} s"}, seed, SMALLER)
    values = {"flow.download.congestion-control": f'{{ name = "cubic", hz = {HZ} }}'}
    if side == KERNEL:
        values |= {f"node.{name}.kernel": f'"{VERSION}"' for name in ("server", "phone")}
        values["flow.download.congestion-control"] = '"cubic"'
    else:
        values |= {
            f"flow.download.tcp.{key}": _toml.value(value) for key, value in KERNEL_SETTINGS.items()
        }
    if use == USERSPACE:
        values |= {f"node.{name}.path-manager": '"userspace"' for name in ("server", "phone")}
    if use == BACKUP:
        second = '{ links = ["core-lte", "ue-lte"], backup = true }'
        values[f"{MULTIPATH}.paths"] = f'[["core-28", "ue-28"], {second}]'
    # Without the fixed receive window, both sides grow it as Linux does.
    without = (*made.without, RECEIVE_WINDOW)
    return replace(made, overrides=(*made.overrides, *overrides(values)), without=without)


def measure(results: Results) -> Numbers:
    """Returns the numbers of a run. Those of a missing second path are zero."""
    flow = results.flows.row(0, named=True)
    first, second = paths(results) if len(results.paths) else (flow, {})
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "second_mbps": second.get("goodput_mbps", 0.0),
        "srtt_ms": 1e3 * (first["mean_srtt_s"] or 0.0),
        "second_srtt_ms": 1e3 * (second.get("mean_srtt_s") or 0.0),
        "retransmitted_segments": float(flow["retransmitted_segments"]),
        "timeouts": float(flow["timeouts"]),
    }


def _record(point: Point, numbers: Sequence[Numbers]) -> dict[str, Any]:
    use, setup, side = point
    record: dict[str, Any] = {
        "paths": setup.name + (f", {use}" if use else ""),
        "side": side,
    }
    for name in numbers[0]:
        spread = Spread.of([one[name] for one in numbers])
        record |= {name: spread.mean, f"{name}_least": spread.low, f"{name}_most": spread.high}
        # A single path has no second one, and an unused path has no round-trip time.
        is_missing = name.startswith("second") and setup is SINGLE
        is_unused = name == "second_srtt_ms" and spread.mean == 0
        record[f"_{name}"] = None if is_missing or is_unused else spread
    return record
