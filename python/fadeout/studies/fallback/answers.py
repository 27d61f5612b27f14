"""Answers of the study: the best remedy, and the blockage length from which each helps."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from fadeout.studies.fallback.runs import CLEAR, NOTHING, SENDERS
from fadeout.study import Choice, Estimate, Found, estimate, sign
from fadeout.study.found import Point

CARRIER_MS = 10.0
"""Milliseconds of a second that one percent of a carrier corresponds to."""

OF_NETWORK = {"handover", "two legs"}
"""Tags of remedies of the network. All others are at the ends."""


def lengths(found: Found) -> list[Choice]:
    """Returns the lengths of blockage, from the shortest on."""
    return [length for length in found.parts("blocked") if length != CLEAR]


def rows(found: Found) -> list[Point]:
    """Returns pairs of a sender and a remedy that was run with it, in their order."""
    return list(dict.fromkeys(point[:2] for point in found))


def nothing(found: Found, at: Point) -> Point:
    """Returns the point without a remedy."""
    return found.moved(at, {"remedy": NOTHING.name})


def gain_pct(found: Found, at: Point) -> Estimate:
    """Returns the gain in goodput over no remedy in percent, paired by seed."""
    return found.gain_pct(at, nothing(found, at), "goodput_mbps")


def margin(found: Found, at: Point, key: str) -> Estimate:
    """Returns the improvement over no remedy, paired by seed: more goodput, or less of a time."""
    base = nothing(found, at)
    return found.less(at, base, key) if "goodput" in key else found.less(base, at, key)


def from_length(found: Found, row: Point, key: str) -> str | None:
    """Returns the shortest blockage from which the remedy is significantly better. None if none
    is.
    """
    shortest = None
    for length in reversed(lengths(found)):
        if not sign(margin(found, (*row, length), key)):
            break
        shortest = length.name
    return shortest


def macro_ms_a_megabyte(found: Found, at: Point) -> Estimate:
    """Returns the time of the whole macro carrier for a megabyte of goodput, in ms."""
    return estimate(
        [CARRIER_MS * each["macro_pct"] * 8 / each["goodput_mbps"] for each in found[at]]
    )


def judged(found: Found) -> list[dict[str, Any]]:
    """Returns the rows of the section with the answer."""
    return [
        {
            "sender": sender.name,
            "remedy": remedy.name,
            "goodput_from": from_length(found, (sender, remedy), "goodput_mbps"),
            "silence_from": from_length(found, (sender, remedy), "silence_ms"),
            "clear_gain_pct": gain_pct(found, (sender, remedy, CLEAR)),
            "clear_macro_pct": found.mean((sender, remedy, CLEAR), "macro_pct"),
        }
        for sender, remedy in rows(found)
        if remedy != NOTHING
    ]


def best(found: Found, at: Sequence[Point], length: Choice, key: str) -> Choice | None:
    """Returns the remedy with the largest improvement over no remedy. None if no remedy
    improves.
    """
    margins = {row[1]: margin(found, (*row, length), key) for row in at}
    better = {
        remedy: more.mean
        for remedy, more in margins.items()
        if more.mean > 0 and (more.ci95 is None or sign(more))
    }
    return max(better, key=lambda remedy: better[remedy]) if better else None


def words(found: Found) -> str:
    """Returns the answer in words, from the numbers."""
    parts: list[str] = []
    for sender in SENDERS:
        tried = [row for row in rows(found) if row[0] == sender and row[1] != NOTHING]
        sides = {
            "with network remedies": [at for at in tried if OF_NETWORK & {*at[1].tags}],
            "with remedies at the ends": [at for at in tried if not OF_NETWORK & {*at[1].tags}],
        }
        sentences = [
            f"{what} {where}: {_by_length(found, at, key)}."
            for what, key in (
                ("Highest goodput", "goodput_mbps"),
                ("Shortest silence", "silence_ms"),
            )
            for where, at in sides.items()
        ]
        parts.append(" ".join([f"**{sender.name}.**", *sentences]))
    return "\n\n".join(parts)


def _by_length(found: Found, at: Sequence[Point], key: str) -> str:
    """Returns the best remedy by length as text. Successive lengths with the same remedy are
    joined.
    """
    groups = groupby(lengths(found), lambda length: best(found, at, length, key))
    return ", ".join(_best_text(found, at, key, remedy, list(each)) for remedy, each in groups)


def _best_text(
    found: Found, at: Sequence[Point], key: str, remedy: Choice | None, each: Sequence[Choice]
) -> str:
    first, last = each[0], each[-1]
    when = first.name if first is last else f"{first.name.removesuffix(' s')} to {last.name}"
    if remedy is None:
        return f"nothing at {when}"
    point = (at[0][0], remedy, last)
    if key == "goodput_mbps":
        return f"*{remedy.name}* at {when} ({gain_pct(found, point).mean:+.0f} % at {last.name})"
    ours, base = (found.mean(each, key).mean for each in (point, nothing(found, point)))
    return f"*{remedy.name}* at {when} ({ours:.0f} ms for {base:.0f} ms at {last.name})"
