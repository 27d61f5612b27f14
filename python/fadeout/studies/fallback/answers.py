"""Answers of the study: the best remedy, and the blockage length from which each helps."""

from collections.abc import Sequence
from typing import Any

from fadeout.studies.fallback.runs import CLEAR_S, NOTHING, REMEDIES, SENDERS, head
from fadeout.study import Estimate, Found, estimate, sign
from fadeout.study.found import Point

CARRIER_MS = 10.0
"""Milliseconds of a second that one percent of a carrier corresponds to."""

CLEAR = head(CLEAR_S)


def lengths(found: Found) -> list[str]:
    """Returns the lengths of blockage, from the shortest on."""
    return [length for length in found.parts("blocked") if length != CLEAR]


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


def from_length(found: Found, sender: str, remedy: str, key: str) -> str | None:
    """Returns the shortest blockage from which the remedy is significantly better. None if none
    is.
    """
    shortest = None
    for length in reversed(lengths(found)):
        if sign(margin(found, (sender, remedy, length), key)) is not True:
            break
        shortest = length
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
            "sender": sender,
            "remedy": remedy,
            "goodput_from": from_length(found, sender, remedy, "goodput_mbps"),
            "silence_from": from_length(found, sender, remedy, "silence_ms"),
            "clear_gain_pct": gain_pct(found, (sender, remedy, CLEAR)),
            "clear_macro_pct": found.mean((sender, remedy, CLEAR), "macro_pct"),
        }
        for sender, remedy in rows(found)
        if remedy != NOTHING.name
    ]


def rows(found: Found) -> list[tuple[str, str]]:
    """Returns pairs of a sender and a remedy that was run with it, in their order."""
    return [
        (sender, remedy.name)
        for sender in SENDERS
        for remedy in REMEDIES
        if (sender, remedy.name, CLEAR) in found.numbers
    ]


def best(found: Found, sender: str, length: str, key: str, names: Sequence[str]) -> str | None:
    """Returns the remedy with the largest improvement over no remedy. None if no remedy
    improves.
    """
    better = {
        name: more.mean
        for name in names
        if (more := margin(found, (sender, name, length), key)).mean > 0
        and sign(more) is not False
        and (sign(more) is True or more.ci95 is None)
    }
    return max(better, key=lambda name: better[name]) if better else None


def words(found: Found) -> str:
    """Returns the answer in words, from the numbers."""
    kinds = {remedy.name: remedy.kind for remedy in REMEDIES}
    by_network = {"handover", "two legs"}
    parts = []
    for sender in SENDERS:
        names = [name for each, name in rows(found) if each == sender and name != NOTHING.name]
        network = [name for name in names if kinds[name] in by_network]
        ends = [name for name in names if kinds[name] not in by_network]
        parts.append(
            f"**{sender}.** Highest goodput with network remedies: "
            f"{_by_length(found, sender, 'goodput_mbps', network)}. Highest goodput with remedies "
            f"at the ends: {_by_length(found, sender, 'goodput_mbps', ends)}. Shortest silence "
            f"with network remedies: {_by_length(found, sender, 'silence_ms', network)}. Shortest "
            f"silence with remedies at the ends: "
            f"{_by_length(found, sender, 'silence_ms', ends)}."
        )
    return "\n\n".join(parts)


def _by_length(found: Found, sender: str, key: str, names: Sequence[str]) -> str:
    """Returns the best remedy by length as text. Successive lengths with the same remedy are
    joined.
    """
    groups: list[tuple[str | None, list[str]]] = []
    for length in lengths(found):
        name = best(found, sender, length, key, names)
        if groups and groups[-1][0] == name:
            groups[-1][1].append(length)
        else:
            groups.append((name, [length]))
    return ", ".join(_best_text(found, sender, key, name, each) for name, each in groups)


def _best_text(found: Found, sender: str, key: str, name: str | None, each: Sequence[str]) -> str:
    first, last = each[0], each[-1]
    when = first if first == last else f"{first.removesuffix(' s')} to {last}"
    if name is None:
        return f"nothing at {when}"
    at = (sender, name, last)
    if key == "goodput_mbps":
        return f"*{name}* at {when} ({gain_pct(found, at).mean:+.0f} % at {last})"
    ours, base = (found.mean(point, key).mean for point in (at, nothing(found, at)))
    return f"*{name}* at {when} ({ours:.0f} ms for {base:.0f} ms at {last})"
