"""Everything that has a name, found by that name or by words of its description."""

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
    "congestion-control": "How a sender's window grows and shrinks",
    "profile": "A TCP stack: its timers, recovery and options",
    "application": "What a flow sends, and when",
    "path-scheduler": "Which path of Multipath TCP sends next",
    "coupling": "How the paths of Multipath TCP share a window",
    "queue-discipline": "What a link's queue drops or marks",
    "radio-access-bearer": "A link over 2G or 3G",
    "deployment": "Sites of a network: where its cells stand and look",
    "radio": "The radio technology of a cell",
    "path-loss": "How a signal weakens with distance",
    "fading": "How a signal varies over milliseconds",
    "blockage-model": "When and how deep a path is blocked",
    "antenna": "Gain by direction",
    "mac-scheduler": "Which UE of a cell is served next",
    "handover-policy": "To which cell the network hands a UE over",
    "rlc": "Whether and how RLC repeats what the radio lost",
    "aqm": "What RLC's buffer drops or marks",
    "pdcp": "In which order PDCP delivers",
    "mobility": "How a node moves",
}
"""What each kind is."""


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
        """How a scenario asks for it."""
        return f'flow.NAME.tcp.{self.parameter} = "{self.value}"'


LOSS, OUTAGE = "loss-response", "outage-response"

SCHEMES = [
    Scheme("TCP-DCR", LOSS, "dcr",
           "Fast retransmit waits, so that a link layer may repair the loss first.",
           "Bhandarkar, Sadry, Reddy and Vaidya 2005"),
    Scheme("TCP-NCR", LOSS, "ncr-careful",
           "Counts duplicates up to a share of the window before it calls them a loss; "
           "ncr-aggressive sends on meanwhile.", "RFC 4653"),
    Scheme("TCP-Casablanca", LOSS, "casablanca",
           "Spares the window where a biased queue shows that the radio lost the segment.",
           "Biaz and Vaidya 2005"),
    Scheme("TCP-Feedback", OUTAGE, "feedback",
           "Sleeps from the word that a route failed to the word of a new one.",
           "Chandran, Raghunathan, Venkatesan and Prakash 2001"),
    Scheme("ELFN", OUTAGE, "elfn",
           "Stops at the word that a link failed, and probes until an answer comes.",
           "Holland and Vaidya 1999"),
    Scheme("Freeze-TCP", OUTAGE, "freeze",
           "The receiver closes its window ahead of an outage, and opens it after.",
           "Goff, Moronski, Phatak and Gupta 2000"),
]  # fmt: skip
"""What is known for links that fail or lose."""


@dataclass(frozen=True)
class Topic:
    """Something with a name."""

    name: str
    kind: str
    """What it is: "congestion control", "key of a scenario", "column of flows"."""
    summary: str
    more: str
    """The command that explains it in full, or how it is written."""
    aliases: tuple[str, ...] = ()
    text: str = ""
    """Further words by which it is found."""


@cache
def catalog() -> dict[str, dict[str, Any]]:
    """The kinds of things that a scenario may name, by their plural."""
    return {kind["plural"]: kind for kind in json.loads(_native.catalog())["kinds"]}


@cache
def topics() -> list[Topic]:
    """Everything that has a name, what is asked for most first."""
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
    """The keys of a scenario that name one of a kind."""
    first = kind["entries"][0]["name"]
    known = {name for e in kind["entries"] for name in (e["name"], *e["aliases"])}
    found = [k for k in _schema.all_keys() if first in k.names and known <= set(k.names)]
    if found:
        return found
    # Named by a parameter of something else that is named, as a queue's law is by RLC.
    return [
        _schema.Key(f"{place.path}.{parameter}", "", "", "", False)
        for other, parameter in sorted(_named_by(kind))
        for place in places(catalog()[other])
    ]


def _named_by(kind: dict[str, Any]) -> set[tuple[str, str]]:
    """Plural of the kinds, and name of their parameters, that name one of `kind`."""
    names = [entry["name"] for entry in kind["entries"]]
    return {
        (plural, parameter["name"])
        for plural, other in catalog().items()
        for entry in other["entries"]
        for parameter in entry["parameters"]
        if parameter["kind"] == "named" and parameter["choices"] == names and other is not kind
    }


def plain(text: str) -> str:
    """Letters and digits alone: "Freeze-TCP" and "freezetcp" are one word."""
    return re.sub(r"[^a-z0-9+]", "", text.lower())


def exactly(word: str) -> list[Topic]:
    """The topics that are called `word`."""
    wanted = plain(word)
    names = [t for t in topics() if plain(t.name) == wanted]
    aliases = [t for t in topics() if wanted in map(plain, t.aliases) and t not in names]
    return [*names, *aliases]


def search(text: str) -> list[Topic]:
    """What `text` may mean, the best first: by name, by a part of a name, by all of its words."""
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
    """Names that `text` may be a misspelling of."""
    names = {plain(n): n for t in topics() for n in (t.name, *t.aliases)}
    return [names[near] for near in get_close_matches(plain(text), names, n=3, cutoff=0.7)]
