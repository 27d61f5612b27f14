"""Everything that has a name, found by its name or by words of its description."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from fadeout import _examples, _native, _schema
from fadeout._columns import all_table_docs
from fadeout._figures import FIGURES
from fadeout.studies import questions

KINDS = {
    "congestion-control": "Growth and reduction of a sender's window",
    "profile": "TCP stack: its timers, recovery and options",
    "application": "Data that a flow sends, and its times",
    "transport": "Transport of a flow in place of its application's TCP or UDP",
    "quic-congestion-control": "Congestion control of a flow over QUIC, in its `transport`",
    "path-scheduler": "Choice of the path that Multipath TCP sends on next",
    "coupling": "Coupling of the congestion windows of Multipath TCP's paths",
    "queue-discipline": "Drops and marks of a link's queue",
    "radio-access-bearer": "Link over 2G or 3G",
    "deployment": "Sites of a network: places and directions of its cells",
    "timing": "Times of equipment, measured or by the standards",
    "cell-preset": "Cell of a commercial network in one line",
    "host-preset": "Offloads and queues of a host in one line",
    "radio": "Radio technology of a cell",
    "path-loss": "Loss of a signal over distance",
    "fading": "Variation of a signal over milliseconds",
    "blockage-model": "Times and depths of blockages of a path",
    "antenna": "Antenna gain by direction",
    "mac-scheduler": "Choice of the UEs that a slot of a cell serves",
    "handover-policy": "Choice of the target cell of a handover",
    "rlc": "Retransmission by RLC of data that the radio lost",
    "aqm": "Drops and marks of RLC's buffer",
    "pdcp": "Order of delivery by PDCP",
    "mobility": "Movement of a node",
}
"""A description of each kind."""


@dataclass(frozen=True)
class Scheme:
    """A scheme of the literature that is a value of a profile's parameter."""

    name: str
    parameter: str
    value: str
    summary: str
    source: str

    @property
    def use(self) -> str:
        """The key of a scenario with this value."""
        return f'flow.NAME.tcp.{self.parameter} = "{self.value}"'


LOSS, OUTAGE = "loss-response", "outage-response"

SCHEMES = [
    Scheme("TCP-DCR", LOSS, "dcr",
           "Fast retransmit waits, so that a link layer may repair the loss first.",
           "Bhandarkar, Sadry, Reddy and Vaidya 2005"),
    Scheme("TCP-NCR", LOSS, "ncr-careful",
           "Fast retransmit waits for duplicates of a share of the window. ncr-aggressive sends "
           "new data meanwhile.", "RFC 4653"),
    Scheme("TCP-Casablanca", LOSS, "casablanca",
           "Keeps the window where a biased queue shows that the radio lost the segment.",
           "Biaz and Vaidya 2005"),
    Scheme("TCP-Feedback", OUTAGE, "feedback",
           "Stops sending from the notice of a failed route to the notice of a new one.",
           "Chandran, Raghunathan, Venkatesan and Prakash 2001"),
    Scheme("ELFN", OUTAGE, "elfn",
           "Stops sending at the notice of a failed link, and probes until an answer comes.",
           "Holland and Vaidya 1999"),
    Scheme("Freeze-TCP", OUTAGE, "freeze",
           "The receiver closes its window before an outage, and opens it afterwards.",
           "Goff, Moronski, Phatak and Gupta 2000"),
]  # fmt: skip
"""Schemes for links that fail or lose packets."""


@dataclass(frozen=True)
class Topic:
    """An entry that has a name, such as a key, a column or an algorithm."""

    name: str
    kind: str
    """Kind of the entry: "congestion control", "key of a scenario", "column of flows"."""
    summary: str
    more: str
    """Command that explains the entry, or key that uses the entry."""
    aliases: tuple[str, ...] = ()
    text: str = ""
    """Additional words that find the entry."""


@cache
def catalog() -> dict[str, dict[str, Any]]:
    """Returns the kinds of names in a scenario, by their plural."""
    return {kind["plural"]: kind for kind in json.loads(_native.catalog())["kinds"]}


@cache
def topics() -> list[Topic]:
    """Returns everything that has a name, in the order of search results."""
    found = [*_named(), *_schemes(), *_others(), *_parameters(), *_keys(), *_columns()]
    return list(dict.fromkeys(found))


def _named() -> Iterator[Topic]:
    for plural, kind in catalog().items():
        for entry in kind["entries"]:
            yield Topic(
                entry["name"],
                kind["name"].replace("-", " "),
                entry["summary"],
                f"fadeout list {plural} {entry['name']}",
                tuple(entry["aliases"]),
                entry["citation"],
            )
        words = kind["name"].replace("-", " ")
        summary = KINDS.get(kind["name"], "")
        yield Topic(plural, "kind", summary, f"fadeout list {plural}", (kind["name"], words))


def _schemes() -> Iterator[Topic]:
    for scheme in SCHEMES:
        short = scheme.name.removeprefix("TCP-").removesuffix("-TCP")
        more = f"{scheme.use} (fadeout list schemes)"
        aliases = tuple(dict.fromkeys((short, scheme.value)))
        yield Topic(scheme.name, "scheme", scheme.summary, more, aliases, scheme.source)


def _others() -> Iterator[Topic]:
    for name, example in _examples.examples().items():
        yield Topic(name, "example", example.title, f"fadeout examples {name}")
    for name, question in questions().items():
        yield Topic(name, "study", question, f"fadeout study {name} --help")
    for name, summary in FIGURES.items():
        yield Topic(name, "figure", summary, f"fadeout plot RUN {name}")
    for name, table in all_table_docs().items():
        yield Topic(name, "table", table["doc"], f"fadeout list tables {name}")


def _parameters() -> Iterator[Topic]:
    for plural, kind in catalog().items():
        owners: dict[str, list[str]] = {}
        for entry in kind["entries"]:
            for parameter in entry["parameters"]:
                owners.setdefault(json.dumps(parameter), []).append(entry["name"])
        for text, names in owners.items():
            parameter = json.loads(text)
            is_of_all = len(names) == len(kind["entries"]) > 1
            whose = f"every {kind['name']}" if is_of_all else ", ".join(names)
            more = f"fadeout list {plural} {names[0]}"
            choices = [str(choice) for choice in parameter.get("choices", [])]
            yield Topic(
                parameter["name"],
                f"parameter of {whose}",
                parameter["doc"],
                more,
                text=" ".join(choices),
            )
            if parameter["kind"] == "choice":
                for choice in choices:
                    of = f"value of {parameter['name']}, a parameter of {whose}"
                    yield Topic(choice, of, parameter["doc"], more)


def _keys() -> Iterator[Topic]:
    for key in _schema.all_keys():
        more = f"fadeout explain {key.short}"
        yield Topic(key.short, "key of a scenario", key.doc, more, (key.name, key.path))


def _columns() -> Iterator[Topic]:
    for table, entry in all_table_docs().items():
        for column in entry["columns"]:
            yield Topic(
                column["name"],
                f"column of {table}",
                column["doc"],
                f"fadeout list tables {table}",
                (f"{table}.{column['name']}",),
            )


def places(kind: dict[str, Any]) -> list[_schema.Key]:
    """Returns the keys of a scenario that name an entry of a kind."""
    first = kind["entries"][0]["name"]
    known = {name for e in kind["entries"] for name in (e["name"], *e["aliases"])}
    found = [k for k in _schema.all_keys() if first in k.names and known <= set(k.names)]
    if found:
        return found
    # Some kinds are named only by a parameter of another kind, as an AQM is by RLC.
    return [
        _schema.Key(f"{place.path}.{parameter}", "", "", "", False)
        for other, parameter in sorted(_named_by(kind))
        for place in places(catalog()[other])
    ]


def _named_by(kind: dict[str, Any]) -> set[tuple[str, str]]:
    """Returns the kinds and parameters that name an entry of `kind`."""
    names = [entry["name"] for entry in kind["entries"]]
    return {
        (plural, parameter["name"])
        for plural, other in catalog().items()
        for entry in other["entries"]
        for parameter in entry["parameters"]
        if parameter["kind"] in ("named", "choice")
        and parameter["choices"] == names
        and other is not kind
    }


def plain(text: str) -> str:
    """Returns the letters and digits alone: "Freeze-TCP" becomes "freezetcp"."""
    return re.sub(r"[^a-z0-9+]", "", text.lower())


def exactly(word: str) -> list[Topic]:
    """Returns the topics called `word`."""
    wanted = plain(word)
    names = [t for t in topics() if plain(t.name) == wanted]
    aliases = [t for t in topics() if wanted in map(plain, t.aliases) and t not in names]
    return [*names, *aliases]


def search(text: str) -> list[Topic]:
    """Returns the topics that `text` may mean, best first: by name, by part of a name, by
    all words.
    """
    wanted = plain(text)
    if not wanted:
        return []
    found = exactly(text)
    names = [t for t in topics() if any(wanted in plain(n) for n in (t.name, *t.aliases))]
    words = [plain(word) for word in text.split()]
    described = [
        t
        for t in topics()
        if all(word in plain(f"{t.name} {t.kind} {t.summary} {t.text}") for word in words)
    ]
    return list(dict.fromkeys([*found, *names, *described]))


def nearest(text: str) -> list[str]:
    """Returns names of which `text` may be a misspelling."""
    names = {plain(n): n for t in topics() for n in (t.name, *t.aliases)}
    return [names[near] for near in get_close_matches(plain(text), names, n=3, cutoff=0.7)]
