"""Events along the trajectory of each UE: serving cells, obstacles, losses."""

import math
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import polars as pl

from fadeout import _geometry, _reading
from fadeout._native import ResultError
from fadeout._quantities import seconds
from fadeout.results import Results

CAUSES = ("congestion", "blockage", "misalignment", "deafness", "handover", "fading")
"""Causes of the loss of a packet, of a timeout or of a recovery."""

CUT_DB = 6.0
"""Loss from which a path counts as blocked, as when the edge of a vehicle is in the direct path."""

FINEST_S = 0.02
MOST_LOOKS = 30_000
"""Largest number of evaluations of a UE and a cell. Longer runs and more cells have larger
steps.
"""

LOOK_BACK_S = 0.1
"""Time before a loss in which its cause is sought."""

Step = tuple[float, str | None]
"""A time, and the cell that serves from then on, or None."""

CONGESTED = {"queue-full", "aqm", "hold-full", "buffer-full", "discard-timer"}


@dataclass(frozen=True)
class Way:
    """Cell, obstacles and beams of all UEs of a run, in time steps."""

    steps: pl.DataFrame
    """A row for each UE and time step.

    The columns are `time_s`, `ue`, the serving `cell` (null between cells), those of
    `fadeout.sights` toward that cell, and `cause`. `cause` is the cause of a blocked path, or null.
    """
    every_s: float


_KNOWN: "weakref.WeakKeyDictionary[Results, dict[float, Way]]" = weakref.WeakKeyDictionary()
"""Computed `Way` objects by run and time step, shared by figures and tables."""


def way(results: Results, every: str | float | None = None) -> Way:
    """Returns the trajectories of all UEs of a run, from copies of its channels.

    The default interval is 20 ms.

    Raises:
        ResultError: the run has no radio access with places.
    """
    scenario = results.manifest.get("scenario", {})
    looks = len(scenario.get("ue", {})) * len(scenario.get("cell", {}))
    if looks == 0:
        raise ResultError("this run has no radio access, so no UE has a way")
    every_s = seconds(every) if every is not None else FINEST_S
    if every is None:
        every_s = max(every_s, results.duration_s * looks / MOST_LOOKS)
    known = _KNOWN.setdefault(results, {})
    if every_s not in known:
        sights = _geometry.sights(dict(scenario), every=every_s)
        known[every_s] = Way(way_steps(results, sights), every_s)
    return known[every_s]


def way_steps(
    results: Results, sights: pl.DataFrame, served: Mapping[str, list[Step]] | None = None
) -> pl.DataFrame:
    """Returns the rows of `Way.steps` from a frame of `fadeout.sights`.

    `served` has other cells than the serving cells. UEs that are not in it have no rows.
    """
    sights = sights.filter(pl.col("time_s") < results.duration_s)
    if served is None:
        served = serving(results)
    else:
        sights = sights.filter(pl.col("ue").is_in(list(served)))
    rows: list[pl.DataFrame] = []
    for (ue,), own in sights.group_by("ue", maintain_order=True):
        spans = pl.DataFrame(
            [(time, cell) for time, cell in served.get(str(ue), [])],
            schema={"time_s": pl.Float64, "cell": pl.String},
            orient="row",
        )
        times = own.select(pl.col("time_s").unique(maintain_order=True)).sort("time_s")
        by_time = times.join_asof(spans.sort("time_s"), on="time_s")
        by_time = by_time.with_columns(pl.lit(str(ue)).alias("ue"))
        rows.append(by_time.join(own, on=["time_s", "ue", "cell"], how="left"))
    return pl.concat(rows).with_columns(_cause().alias("cause"))


def _cause() -> pl.Expr:
    """Returns the cause of a blocked path at a time step. With several, the one with the largest
    loss.
    """
    return (
        pl.when(pl.col("cell").is_null())
        .then(pl.lit("handover"))
        .when(pl.col("deafness_db") >= CUT_DB)
        .then(pl.lit("deafness"))
        .when(_is_blocked())
        .then(pl.lit("blockage"))
        # Without an obstacle, a UE that searches for its beam has lost it by misalignment.
        .when((pl.col("misalignment_db") >= CUT_DB) | pl.col("beam_recovery"))
        .then(pl.lit("misalignment"))
    )


def _is_blocked() -> pl.Expr:
    """Returns whether vehicles, foliage, a building or a blockage of the channel block the path."""
    in_the_way = pl.col("vehicles_db") + pl.col("foliage_db")
    blocked_db = in_the_way + pl.col("blockage_db").fill_null(0)
    return pl.col("behind_building") | (blocked_db >= CUT_DB)


def secondary(results: Results) -> dict[str, list[Step]]:
    """Returns the times from which a secondary node's cell serves each UE, and the cell, or None.

    UEs that never have a secondary node are left out.
    """
    ues = results.manifest.get("scenario", {}).get("ue", {})
    served: dict[str, list[Step]] = {
        ue: [(0.0, str(keys["pscell"]))] for ue, keys in ues.items() if keys.get("pscell")
    }
    if not results.has_table("secondary_changes"):
        return served
    columns = ("time_s", "ue", "kind", "target", "outcome")
    rows = _reading.collect(
        _reading.select(results, "secondary_changes", columns), "secondary_changes"
    )
    for time, ue, kind, target, outcome in rows.sort("time_s").iter_rows():
        steps = served.setdefault(str(ue), [(0.0, None)])
        if kind == "release":
            steps.append((time, None))
        elif outcome == "success" and target:
            steps.append((time, str(target)))
    return served


def serving(results: Results) -> dict[str, list[Step]]:
    """Returns the times from which a cell serves each UE, and the cell. None while no cell does.

    No cell serves a UE before its initial attach.
    """
    interfaces = results.interfaces
    ues = results.manifest.get("scenario", {}).get("ue", {})
    names = [one.rpartition("/")[0] or one for one in interfaces["interface"].to_list()]
    last = dict(zip(names, interfaces["cell"].to_list(), strict=True))
    served: dict[str, list[Step]] = {}
    if results.has_table("handovers"):
        columns = ("ue", "source", "target", "triggered_s", "left_s", "entered_s")
        for ue, source, target, triggered, left, entered in (
            results.table("handovers").sort("time_s").select(columns).rows()
        ):
            if math.isnan(entered):
                continue
            is_idle = "attach-at" in ues.get(str(ue), {})
            steps = served.setdefault(str(ue), [(0.0, None if is_idle else str(source))])
            since = triggered if math.isnan(left) else left
            if not math.isnan(since) and since < entered:
                steps.append((since, None))
            steps.append((entered, str(target)))
        last |= {ue: None for ue in last if "attach-at" in ues.get(ue, {})}
    for ue, cell in last.items():
        served.setdefault(ue, [(0.0, cell)])
    return {ue: sorted(steps, key=lambda step: step[0]) for ue, steps in served.items()}


def flows_of(results: Results) -> dict[str, str]:
    """Returns the UE of each flow that begins or ends at one."""
    scenario = results.manifest.get("scenario", {})
    ue_at: dict[str, str] = {one["node"]: ue for ue, one in scenario.get("ue", {}).items()}
    return {
        name: ue_at.get(flow["to"]) or ue_at[flow["from"]]
        for name, flow in scenario.get("flow", {}).items()
        if flow["to"] in ue_at or flow["from"] in ue_at
    }


def losses(results: Results) -> pl.DataFrame:
    """Returns the losses of each UE's flows, by cause.

    A packet that a full queue dropped counts as congestion. For packets that the radio lost, for
    timeouts and for recoveries, the cause is the one that blocked the path longest just before.
    This time is 100 ms before a lost packet, the retransmission timeout before a timeout, and two
    mean round trips before a recovery.

    - `handover`: no cell served the UE.
    - `blockage`: vehicles, buildings or blockages of the channel caused a loss of at least 6 dB.
    - `misalignment`: a misaligned beam caused a loss of at least 6 dB.
    - `deafness`: the other end's beam pointed elsewhere.

    A drop of a full queue in the same time makes the cause congestion. It does so always for a
    recovery, and for a timeout if nothing blocked the path. Losses without a cause count as
    `fading`, which stands for fading and interference.

    Returns
    -------
    A row for each `ue` and `kind` (packets, timeouts, recoveries), with the counts in `congestion`,
    `blockage`, `misalignment`, `deafness`, `handover` and `fading`.

    Raises
    ------
    ResultError
        If the run has no radio access with places.
    """
    return _losses(results, way(results))


def _losses(results: Results, found: Way) -> pl.DataFrame:
    ue_of = flows_of(results)
    cut: dict[str, list[tuple[float, str]]] = {}
    rows = found.steps.filter(pl.col("cause").is_not_null()).select("ue", "time_s", "cause")
    for ue, time, cause in rows.rows():
        cut.setdefault(ue, []).append((time, cause))
    counts: dict[tuple[str, str], dict[str, int]] = {
        (ue, kind): dict.fromkeys(CAUSES, 0)
        for ue in found.steps["ue"].unique(maintain_order=True)
        for kind in ("packets", "timeouts", "recoveries")
    }
    congested: dict[str, list[float]] = {}

    def count(flow: str, kind: str, cause: str) -> None:
        if flow in ue_of:
            counts[ue_of[flow], kind][cause] += 1

    for table in ("drops", "radio_drops"):
        if not results.has_table(table):
            continue
        lost = results.table(table).select(
            "time_s", pl.col("flow").cast(pl.String), pl.col("cause").cast(pl.String)
        )
        for time, flow, said in lost.rows():
            if said in CONGESTED:
                congested.setdefault(flow, []).append(time)
                count(flow, "packets", "congestion")
            elif said == "handover":
                count(flow, "packets", "handover")
            else:
                before = _longest(cut.get(ue_of.get(flow, ""), []), time - LOOK_BACK_S, time)
                count(flow, "packets", before or "fading")

    for times in congested.values():
        times.sort()

    def why(flow: str, since: float, until: float) -> str:
        times = congested.get(flow, ())
        first = bisect_left(times, since)
        if first < len(times) and times[first] <= until:
            return "congestion"
        return _longest(cut.get(ue_of.get(flow, ""), []), since, until) or "fading"

    if results.has_table("timeouts"):
        expired = results.table("timeouts").filter(pl.col("end").cast(pl.String) == "sender")
        for time, flow, rto in expired.select(
            "time_s", pl.col("flow").cast(pl.String), "rto_s"
        ).rows():
            before = _longest(cut.get(ue_of.get(flow, ""), []), time - rto, time)
            count(flow, "timeouts", before or why(flow, time - rto, time))
    if results.has_table("flow_events"):
        round_trips = dict(results.flows.select("flow", "mean_rtt_s").rows())
        begun = results.table("flow_events").filter(pl.col("event").cast(pl.String) == "recovery")
        for time, flow in begun.select("time_s", pl.col("flow").cast(pl.String)).rows():
            back = 2 * (round_trips.get(flow) or LOOK_BACK_S)
            count(flow, "recoveries", why(flow, time - back, time))
    return pl.DataFrame(
        [{"ue": ue, "kind": kind, **by_cause} for (ue, kind), by_cause in counts.items()],
        schema={"ue": pl.String, "kind": pl.String} | dict.fromkeys(CAUSES, pl.Int64),
    )


def _longest(cut: list[tuple[float, str]], since: float, until: float) -> str | None:
    """Returns the cause of most time steps between two times. `cut` is in order of time."""
    time = itemgetter(0)
    within = cut[bisect_left(cut, since, key=time) : bisect_right(cut, until, key=time)]
    steps: dict[str, int] = {}
    for _, cause in within:
        steps[cause] = steps.get(cause, 0) + 1
    return max(steps, key=lambda cause: steps[cause]) if steps else None


def by_ue(results: Results) -> pl.DataFrame:
    """Returns a summary of a run for each UE.

    Returns
    -------
    A row for each `ue`. `goodput_mbps` is the goodput of its flows. `mean_sinr_db` is the mean SINR
    of its downlink transport blocks, and null if they were not recorded.

    Further columns are times in seconds. In `vehicles_s`, vehicles obstructed the path. In
    `building_s`, a building obstructed the direct path. In `misaligned_s`, the beam missed the UE
    by at least 6 dB. In `deaf_s`, the UE's own beam pointed elsewhere. In `unserved_s`, no cell
    served it.

    `blockages` counts blockages by vehicles of the path to the serving cell, and `mean_blockage_s`
    is their mean length. `handovers`, `timeouts`, `recoveries` and `lost_packets` are counts.

    Raises
    ------
    ResultError
        If the run has no radio access with places.
    """
    found = way(results)
    lost = _losses(results, found)
    goodput: dict[str, float] = {}
    rates = dict(results.flows.select("flow", "goodput_mbps").rows())
    for flow, ue in flows_of(results).items():
        goodput[ue] = goodput.get(ue, 0.0) + (rates.get(flow) or 0.0)
    sinr = _mean_sinr(results, "ue")
    totals = lost.with_columns(pl.sum_horizontal(CAUSES).alias("total"))
    changes = _changes(results, "ue")
    rows = []
    for (name,), own in found.steps.group_by("ue", maintain_order=True):
        ue = str(name)
        count = dict(totals.filter(pl.col("ue") == ue).select("kind", "total").rows())
        rows.append(
            {
                "ue": ue,
                "goodput_mbps": goodput.get(ue, 0.0),
                "mean_sinr_db": sinr.get(ue),
                **_shares(own, found.every_s),
                "handovers": changes.get(ue, 0),
                "timeouts": count["timeouts"],
                "recoveries": count["recoveries"],
                "lost_packets": count["packets"],
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _shares(own: pl.DataFrame, every_s: float) -> dict[str, float | int | None]:
    """Returns the times of one UE, and its blockages by vehicles."""

    def time(of: pl.Expr) -> float:
        return float(own.select(of.fill_null(value=False).sum()).item()) * every_s

    blocked = [bool(is_blocked) for is_blocked in (own["vehicles_db"] >= CUT_DB).fill_null(False)]
    begun = sum(now and not before for before, now in zip([False, *blocked], blocked, strict=False))
    return {
        "vehicles_s": sum(blocked) * every_s,
        "building_s": time(pl.col("behind_building")),
        "misaligned_s": time(pl.col("misalignment_db") >= CUT_DB),
        "deaf_s": time(pl.col("deafness_db") >= CUT_DB),
        "unserved_s": time(pl.col("cell").is_null()),
        "blockages": begun,
        "mean_blockage_s": sum(blocked) * every_s / begun if begun else None,
    }


def by_cell(results: Results) -> pl.DataFrame:
    """Returns a summary of a run for each cell.

    Returns
    -------
    A row for each `cell`. `mean_ues` is the mean number of UEs that it served. `blocked_share` is
    the share of their time in which vehicles or buildings obstructed the direct path, and null if
    it served none. `best_ues` is the mean number of UEs that received this cell with the most
    power. `in` and `out` count changes of cell.

    If transport blocks were recorded, there are further columns. `downlink_mbps` and `uplink_mbps`
    are the rates of blocks that arrived. `mean_sinr_db` is the mean SINR of the downlink.
    `busy_share` is the share of slots with downlink data.

    Raises
    ------
    ResultError
        If the run has no radio access with places.
    """
    found = way(results)
    scenario = results.manifest["scenario"]
    times = found.steps["time_s"].n_unique() or 1
    steps = found.steps.filter(pl.col("cell").is_not_null())
    served = steps.group_by("cell").agg(
        (pl.len() / times).alias("mean_ues"), _is_blocked().mean().alias("blocked_share")
    )
    coarse = _geometry.sights(dict(scenario), every=max(0.1, found.every_s))
    best = coarse.filter(pl.col("snr_db") == pl.col("snr_db").max().over("time_s", "ue"))
    best = best.group_by("cell").agg((pl.len() / coarse["time_s"].n_unique()).alias("best_ues"))
    table = pl.DataFrame({"cell": list(scenario["cell"])}).join(served, on="cell", how="left")
    table = table.join(best, on="cell", how="left", maintain_order="left")
    table = table.with_columns(pl.col("mean_ues", "best_ues").fill_null(0.0))
    ins, outs = _changes(results, "target"), _changes(results, "source")
    names = table["cell"].to_list()
    return table.with_columns(
        pl.Series("in", [ins.get(name, 0) for name in names], dtype=pl.Int64),
        pl.Series("out", [outs.get(name, 0) for name in names], dtype=pl.Int64),
        *_blocks(results, names),
    )


def _blocks(results: Results, names: list[str]) -> list[pl.Series]:
    """Returns columns about the transport blocks of each cell."""
    kinds = ("downlink_mbps", "uplink_mbps", "mean_sinr_db", "busy_share")
    found: dict[str, dict[str, float]] = {kind: {} for kind in kinds}
    if results.has_table("transport_blocks"):
        words = pl.col("cell", "direction").cast(pl.String)
        blocks = results.table("transport_blocks").with_columns(words)
        for (cell, direction), own in blocks.group_by("cell", "direction"):
            bits = float(own.filter("is_ok")["size_bytes"].cast(pl.UInt64).sum()) * 8
            found[f"{direction}_mbps"][str(cell)] = bits / results.duration_s / 1e6
            if direction == "downlink":
                slots = own["time_s"].unique().sort()
                slot = float(slots.diff().min() or 0.0)  # type: ignore[arg-type]
                found["busy_share"][str(cell)] = len(slots) * slot / results.duration_s
        found["mean_sinr_db"] = _mean_sinr(results, "cell")
    return [
        pl.Series(kind, [found[kind].get(name) for name in names], dtype=pl.Float64)
        for kind in kinds
    ]


def _mean_sinr(results: Results, key: str) -> dict[str, float]:
    if not results.has_table("transport_blocks"):
        return {}
    blocks = results.scan("transport_blocks").filter(
        pl.col("direction").cast(pl.String) == "downlink"
    )
    means = blocks.group_by(pl.col(key).cast(pl.String)).agg(pl.col("sinr_db").mean())
    return dict(means.collect().rows())


def _changes(results: Results, key: str) -> dict[str, int]:
    """Returns the changes of cell that ended, by UE, source or target."""
    if not results.has_table("handovers"):
        return {}
    done = results.table("handovers").filter(pl.col("entered_s").is_not_nan())
    counts = done.group_by(pl.col(key).cast(pl.String)).agg(pl.len())
    return dict(counts.rows())


def save(results: Results, folder: Path) -> list[str]:
    """Writes the tables by UE, by cell and of losses into `folder` as CSV. Returns their names."""
    tables: Mapping[str, pl.DataFrame] = {
        "by_ue": by_ue(results),
        "by_cell": by_cell(results),
        "losses": losses(results),
    }
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv", float_precision=6)
    return list(tables)
