"""Answers of the study: the best remedy, and the blockage length from which each helps."""

from collections.abc import Mapping, Sequence
from typing import Any

from fadeout.studies.fallback.runs import Point
from fadeout.studies.fallback.setups import CLEAR_S, NOTHING, REMEDIES, SENDERS
from fadeout.study import Estimate, Numbers, difference, estimate, gain_pct, mean, sign

CARRIER_MS = 10.0
"""Milliseconds of a second that one percent of a carrier corresponds to."""


class Found:
    """The numbers of the points of the main tables."""

    def __init__(self, of: Mapping[Point, Sequence[Numbers]], lengths: Sequence[float]) -> None:
        self._of = {
            (point.sender, point.remedy.name, point.block_s): numbers
            for point, numbers in of.items()
        }
        self.lengths = tuple(lengths)
        self.all_lengths = (CLEAR_S, *lengths)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Pairs of a sender and a remedy that was run with it."""
        return [
            (sender, remedy.name)
            for sender in SENDERS
            for remedy in REMEDIES
            if (sender, remedy.name, CLEAR_S) in self._of
        ]

    def estimate(self, sender: str, remedy: str, length: float, key: str) -> Estimate:
        """Returns the mean of a number over the seeds."""
        return mean(self._of[sender, remedy, length], key)

    def series(self, key: str) -> dict[tuple[str, str], list[Estimate]]:
        """Returns the means over the lengths of blockage, by sender and remedy."""
        return {
            (sender, remedy): [
                self.estimate(sender, remedy, length, key) for length in self.lengths
            ]
            for sender, remedy in self.rows
        }

    def gain_pct(self, sender: str, remedy: str, length: float) -> Estimate:
        """Returns the gain in goodput over no remedy in percent, paired by seed."""
        ours, base = (self._of[sender, name, length] for name in (remedy, NOTHING.name))
        return gain_pct(ours, base, "goodput_mbps")

    def margin(self, sender: str, remedy: str, length: float, key: str) -> Estimate:
        """Returns the improvement over no remedy, paired by seed: more goodput, or less
        of a time.
        """
        ours, base = (self._of[sender, name, length] for name in (remedy, NOTHING.name))
        return difference(ours, base, key) if "goodput" in key else difference(base, ours, key)

    def from_s(self, sender: str, remedy: str, key: str) -> float | None:
        """Returns the shortest blockage from which the remedy is significantly better. None if none
        is.
        """
        found = None
        for length in reversed(self.lengths):
            if sign(self.margin(sender, remedy, length, key)) is not True:
                break
            found = length
        return found

    def macro_ms_a_megabyte(self, sender: str, remedy: str, length: float) -> Estimate:
        """Returns the time of the whole macro carrier for a megabyte of goodput, in ms."""
        return estimate(
            [
                CARRIER_MS * each["macro_pct"] * 8 / each["goodput_mbps"]
                for each in self._of[sender, remedy, length]
            ]
        )

    def judged(self, sender: str, remedy: str) -> dict[str, Any]:
        """Returns a row of the section with the answer."""
        return {
            "sender": sender,
            "remedy": remedy,
            "goodput_from": _from(self.from_s(sender, remedy, "goodput_mbps")),
            "silence_from": _from(self.from_s(sender, remedy, "silence_ms")),
            "clear_gain_pct": self.gain_pct(sender, remedy, CLEAR_S),
            "clear_macro_pct": self.estimate(sender, remedy, CLEAR_S, "macro_pct"),
        }

    def best(self, sender: str, length: float, key: str, names: Sequence[str]) -> str | None:
        """Returns the remedy with the largest improvement over no remedy. None if no remedy
        improves.
        """
        better = {
            name: margin.mean
            for name in names
            if (margin := self.margin(sender, name, length, key)).mean > 0
            and sign(margin) is not False
            and (sign(margin) is True or margin.ci95 is None)
        }
        return max(better, key=lambda name: better[name]) if better else None


def _from(length: float | None) -> str:
    return "never" if length is None else f"{length:g} s"


def words(of: Found) -> str:
    """Returns the answer in words, from the numbers."""
    kinds = {remedy.name: remedy.group for remedy in REMEDIES}
    by_network = {"handover", "two legs"}
    parts = []
    for sender in SENDERS:
        names = [name for each, name in of.rows if each == sender and name != NOTHING.name]
        network = [name for name in names if kinds[name] in by_network]
        ends = [name for name in names if kinds[name] not in by_network]
        parts.append(
            f"**{sender}.** Highest goodput with network remedies: "
            f"{_by_length(of, sender, 'goodput_mbps', network)}. Highest goodput with remedies at "
            f"the ends: {_by_length(of, sender, 'goodput_mbps', ends)}. Shortest silence with "
            f"network remedies: {_by_length(of, sender, 'silence_ms', network)}. Shortest silence "
            f"with remedies at the ends: {_by_length(of, sender, 'silence_ms', ends)}."
        )
    return "\n\n".join(parts)


def _by_length(of: Found, sender: str, key: str, names: Sequence[str]) -> str:
    """Returns the best remedy by length as text. Successive lengths with the same remedy are
    joined.
    """
    found = [(length, of.best(sender, length, key, names)) for length in of.lengths]
    groups: list[tuple[str | None, list[float]]] = []
    for length, name in found:
        if groups and groups[-1][0] == name:
            groups[-1][1].append(length)
        else:
            groups.append((name, [length]))
    return ", ".join(_told(of, sender, key, name, lengths) for name, lengths in groups)


def _told(of: Found, sender: str, key: str, name: str | None, lengths: Sequence[float]) -> str:
    first, last = lengths[0], lengths[-1]
    when = f"{first:g} s" if first == last else f"{first:g} to {last:g} s"
    if name is None:
        return f"nothing at {when}"
    if key == "goodput_mbps":
        gain = of.gain_pct(sender, name, last)
        return f"*{name}* at {when} ({gain.mean:+.0f} % at {last:g} s)"
    ours = of.estimate(sender, name, last, key).mean
    base = of.estimate(sender, NOTHING.name, last, key).mean
    return f"*{name}* at {when} ({ours:.0f} ms for {base:.0f} ms at {last:g} s)"
