"""What the numbers say: from which length of blockage on a remedy helps, and which one to take."""

from collections.abc import Mapping, Sequence
from typing import Any

from fadeout.studies.fallback.runs import Point
from fadeout.studies.fallback.setups import CLEAR_S, NOTHING, REMEDIES, SENDERS
from fadeout.study import Estimate, Numbers, estimate, paired_difference, paired_ratio, sign

CARRIER_MS = 10.0
"""Milliseconds in a second for each percent."""


def estimate_of(numbers: Sequence[Numbers], key: str) -> Estimate:
    """The mean over seeds."""
    return estimate([each[key] for each in numbers if each[key] == each[key]])


class Found:
    """What the points of the main tables found."""

    def __init__(self, of: Mapping[Point, Sequence[Numbers]], lengths: Sequence[float]) -> None:
        self._of = {
            (point.sender, point.remedy.name, point.block_s): numbers
            for point, numbers in of.items()
        }
        self.lengths = tuple(lengths)
        self.all_lengths = (CLEAR_S, *lengths)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Senders with the remedies that were tried with them."""
        return [
            (sender, remedy.name)
            for sender in SENDERS
            for remedy in REMEDIES
            if (sender, remedy.name, CLEAR_S) in self._of
        ]

    def values(self, sender: str, remedy: str, length: float, key: str) -> list[float]:
        """By seed."""
        return [numbers[key] for numbers in self._of[sender, remedy, length]]

    def estimate(self, sender: str, remedy: str, length: float, key: str) -> Estimate:
        """The mean over seeds."""
        return estimate_of(self._of[sender, remedy, length], key)

    def series(self, key: str) -> dict[tuple[str, str], list[Estimate]]:
        """Over the lengths of blockage, by sender and remedy."""
        return {
            (sender, remedy): [
                self.estimate(sender, remedy, length, key) for length in self.lengths
            ]
            for sender, remedy in self.rows
        }

    def gain_pct(self, sender: str, remedy: str, length: float) -> Estimate:
        """Goodput over that of nothing, in percent, seed by seed."""
        ratio = paired_ratio(
            self.values(sender, remedy, length, "goodput_mbps"),
            self.values(sender, NOTHING.name, length, "goodput_mbps"),
        )
        return Estimate(100 * (ratio.mean - 1), 100 * ratio.half_width, ratio.count)

    def margin(self, sender: str, remedy: str, length: float, key: str) -> Estimate:
        """By how much it is better than nothing, seed by seed: more goodput, or less of a time."""
        ours = self.values(sender, remedy, length, key)
        base = self.values(sender, NOTHING.name, length, key)
        return paired_difference(ours, base) if "goodput" in key else paired_difference(base, ours)

    def from_s(self, sender: str, remedy: str, key: str) -> float | None:
        """The shortest blockage from which on it is better than nothing without doubt."""
        found = None
        for length in reversed(self.lengths):
            if sign(self.margin(sender, remedy, length, key)) is not True:
                break
            found = length
        return found

    def macro_ms_a_megabyte(self, sender: str, remedy: str, length: float) -> Estimate:
        """Time of the whole macro carrier for a megabyte of goodput, in ms."""
        shares = self.values(sender, remedy, length, "macro_pct")
        rates = self.values(sender, remedy, length, "goodput_mbps")
        return estimate(
            [CARRIER_MS * share * 8 / rate for share, rate in zip(shares, rates, strict=True)]
        )

    def judged(self, sender: str, remedy: str) -> dict[str, Any]:
        """A row of the answer."""
        return {
            "sender": sender,
            "remedy": remedy,
            "goodput_from": _from(self.from_s(sender, remedy, "goodput_mbps")),
            "silence_from": _from(self.from_s(sender, remedy, "silence_ms")),
            "clear_gain_pct": self.gain_pct(sender, remedy, CLEAR_S),
            "clear_macro_pct": self.estimate(sender, remedy, CLEAR_S, "macro_pct"),
        }

    def best(self, sender: str, length: float, key: str, names: Sequence[str]) -> str | None:
        """That of these remedies which is better than nothing by most; None where none is."""
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
    """The answer in words, from the numbers."""
    kinds = {remedy.name: remedy.group for remedy in REMEDIES}
    by_network = {"handover", "two legs"}
    parts = []
    for sender in SENDERS:
        names = [name for each, name in of.rows if each == sender and name != NOTHING.name]
        network = [name for name in names if kinds[name] in by_network]
        ends = [name for name in names if kinds[name] not in by_network]
        parts.append(
            f"**{sender}.** By goodput the best that the network does alone is "
            f"{_by_length(of, sender, 'goodput_mbps', network)}; of what the ends take part in it "
            f"is {_by_length(of, sender, 'goodput_mbps', ends)}. By the longest silence it is "
            f"{_by_length(of, sender, 'silence_ms', network)}, and "
            f"{_by_length(of, sender, 'silence_ms', ends)}."
        )
    return "\n\n".join(parts)


def _by_length(of: Found, sender: str, key: str, names: Sequence[str]) -> str:
    """The best by length, lengths with the same one together."""
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
