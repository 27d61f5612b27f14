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
    NEAR,
    PAGE,
    SINGLE,
    Effort,
    Setup,
    download,
)
from fadeout.study import IN_SIGHT, At, Grid, Job, Numbers, Section, Spread, overrides
from fadeout.validate.kernel.scenario import HZ, KERNEL_SETTINGS

VERSION = "6.12"

CONGESTION = "flow.download.congestion-control"

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
    if effort.kernel_s <= 0:
        return "Left out of a quick study: the runs with a kernel take minutes of a processor."
    try:
        find(VERSION)
    except FadeoutError as error:
        return f"Left out: {error}."
    return None


def section(grid: Grid, effort: Effort) -> Section:
    """Returns the section that compares Linux's Multipath TCP with fadeout's."""
    left_out = why_not(effort)
    if left_out is not None:
        return Section("kernel", PAGE.titles["kernel"], left_out)
    found = grid["kernel"].numbers
    return PAGE.section(
        "kernel",
        [record(point, numbers) for (point,), numbers in found.items()],
        version=VERSION,
        near=NEAR,
        length_s=effort.kernel_s,
        seeds=len(found[POINTS[0],]),
    )


def beside_kernel(at: At) -> Job:
    """Returns a run of either side, at the nearest distance with line of sight."""
    use, setup, side = at["point"]
    made = download(replace(at, parts={"distance_m": NEAR, "setup": setup}, sight=IN_SIGHT))
    values = {CONGESTION: f'{{ name = "cubic", hz = {HZ} }}'}
    if side == KERNEL:
        values |= {f"node.{name}.kernel": f'"{VERSION}"' for name in ("server", "phone")}
        values[CONGESTION] = '"cubic"'
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
    without = (*made.without, "flow.download.tcp.receive-window")
    return replace(made, overrides=(*made.overrides, *overrides(values)), without=without)


def measure_kernel(results: Results) -> Numbers:
    """Returns the numbers of a run. Those of a missing second path are zero."""
    flow = results.flows.row(0, named=True)
    first, second = results.paths.to_dicts() if len(results.paths) else (flow, {})
    return {
        "goodput_mbps": flow["goodput_mbps"],
        "second_mbps": second.get("goodput_mbps", 0.0),
        "srtt_ms": 1e3 * (first["mean_srtt_s"] or 0.0),
        "second_srtt_ms": 1e3 * (second.get("mean_srtt_s") or 0.0),
        "retransmitted_segments": float(flow["retransmitted_segments"]),
        "timeouts": float(flow["timeouts"]),
    }


def record(point: Point, numbers: Sequence[Numbers]) -> dict[str, Any]:
    """Returns the row of a point, with medians and ranges."""
    use, setup, side = point
    row: dict[str, Any] = {"paths": setup.name + (f", {use}" if use else ""), "side": side}
    for name in numbers[0]:
        spread = Spread.of([one[name] for one in numbers])
        row |= {name: spread.mean, f"{name}_least": spread.low, f"{name}_most": spread.high}
        # A single path has no second one, and an unused path has no round-trip time.
        is_missing = name.startswith("second") and setup is SINGLE
        is_unused = name == "second_srtt_ms" and spread.mean == 0
        row[f"_{name}"] = None if is_missing or is_unused else spread
    return row
