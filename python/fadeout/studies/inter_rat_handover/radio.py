"""The paper's handover with a radio: LTE with its layers, and 3G that the phone measures."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fadeout.results import Results
from fadeout.studies.inter_rat_handover.runs import Effort, middle, of, recovery
from fadeout.studies.inter_rat_handover.setups import (
    ALL_SETTINGS,
    BASE,
    CELLS,
    DATA,
    FAST_MBPS,
    FIRST,
    FOLDER,
    PAGE,
    ROWS,
    SEGMENT_BYTES,
    Found,
    Setting,
)
from fadeout.study import Change, Job, Numbers, Runs, Section, Values, overrides, spread

SCENARIO = FOLDER / "radio.toml"

LTE = "cell.lte.radio"

NEVER_S = 20.0
"""Time to the old rate above which it is not reached in the rest of a run, seconds."""

NET = (1 - 0.1) * (1 - 0.05)
"""Share of the radio's rate that packets have, with 10 % errors of first transmissions and 5 % of
headers of RLC and MAC in a block.
"""

CHANGES = DATA.all("radio-change", Change)


def values(setting: Setting, seed: int) -> Values:
    """Returns the overrides of a setting.

    The seed moves the start of the flow by a part of a segment's transmission time. It also draws
    the errors of transmissions in LTE.
    """
    start_s = 1 + spread(seed) * SEGMENT_BYTES * 8 / (setting.before * 1e6)
    wire = FAST_MBPS if setting.is_fast else setting.before
    given = {
        "link.internet.rate": f"{wire:g} Mbit/s",
        "link.internet.delay": f"{setting.rtt_ms / 2:g} ms",
        f"{LTE}.downlink-rate": f"{setting.before * 1e6 / NET:.0f}",
        f"{LTE}.uplink-rate": f"{setting.before * 1e6 / NET:.0f}",
        "rab.umts.downlink.rate": f"{setting.after * 1e6 / NET:.0f} bit/s",
        "mobility-management.data": setting.scheme,
        "flow.download.start": f"{start_s:.9f} s",
    }
    if setting.scheme == "bicasting":
        given["mobility-management.bicast-before"] = f"{setting.bicast_ms:g} ms"
    return {**given, **dict(setting.extra)}


def job(setting: Setting, seed: int) -> Job:
    """Returns the run of a setting."""
    return Job(SCENARIO, overrides(values(setting, seed)), seed=seed, with_tables=True)


def found(runs: Runs[Effort], settings: Iterable[Setting]) -> Found:
    """Returns the numbers of each setting, as a list over the seeds."""
    return runs.over_seeds(list(settings), job, read)


def read(results: Results) -> dict[str, float]:
    """Returns the retransmissions, times and packets of a run, as those of a handover of links."""
    row = results.handovers.row(0, named=True)
    return {
        **recovery(results, row["commanded_s"]),
        "lost": float(row["lost_packets"]),
        "forwarded": float(row["forwarded_numbered"] + row["forwarded_fresh"]),
        "doubled": float(row["doubled_packets"]),
        "gap_s": row["downlink_gap_s"],
    }


def cell(items: Sequence[Numbers]) -> dict[str, float]:
    """Returns the medians of a cell of the table. The time is NaN if the rate is not reached."""
    time_s = middle(items, "time_s")
    return {
        "again": middle(items, "retransmissions"),
        "time": math.nan if time_s > NEVER_S else time_s,
    }


def records(runs: Runs[Effort], links: Found) -> list[dict[str, Any]]:
    """Returns the paper's cells over links and with the radio."""
    with_radio = found(runs, ALL_SETTINGS)
    kinds = {"links": links, "radio": with_radio}
    rows = []
    for row in ROWS:
        record: dict[str, Any] = {"_name": row.name, "_paper": row.cells, "figure": row.figure}
        record |= {"before_mbps": row.before, "after_mbps": row.after, "rtt_ms": row.rtt_ms}
        for each in CELLS:
            setting = row.setting(each)
            record |= {
                f"{each.name}_published_retransmissions": row.cells[each.name][0],
                f"{each.name}_published_s": row.cells[each.name][1],
            }
            record |= {
                f"{each.name}_{kind}_{number}": middle(results[setting], number)
                for kind, results in kinds.items()
                for number in ("retransmissions", "time_s", "lost", "timeouts", "gap_s")
            }
        record |= {
            f"_{kind}": {each.name: cell(results[row.setting(each)]) for each in CELLS}
            for kind, results in kinds.items()
        }
        rows.append(record)
    return rows


def changes_section(
    name: str,
    changes: Sequence[Change],
    runs: Runs[Effort],
    find: Callable[[Runs[Effort], Iterable[Setting]], Found],
    numbers: Sequence[str],
) -> Section:
    """Returns the section on the effect of each change on the cells of the paper's first row.

    `find` returns the numbers of settings, and `numbers` names those of the data file.
    """
    settings = {
        (change, each.name): FIRST.setting(each).changed(change.values)
        for change in changes
        for each in CELLS
    }
    results = find(runs, settings.values())
    records = []
    for change in changes:
        by_cell = {each.name: results[settings[change, each.name]] for each in CELLS}
        record: dict[str, Any] = change.data()
        for column, items in by_cell.items():
            record |= {f"{column}_{number}": middle(items, number) for number in numbers}
        record["_by_cell"] = {
            column: {number: of(items, number) for number in numbers}
            for column, items in by_cell.items()
        }
        records.append(record)
    return PAGE.section(name, records)


def assumptions(runs: Runs[Effort]) -> Section:
    """Returns the section on the effect of the radio's assumptions."""
    numbers = ("retransmissions", "time_s", "lost", "gap_s")
    return changes_section("radio-assumptions", (BASE, *CHANGES), runs, found, numbers)
