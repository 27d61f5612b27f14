"""What the shell completes: names of kinds, of what they hold, of keys, figures and studies.

Each function is given the beginning of a word, and returns what it may become with a few words of
explanation, which zsh and fish show. Commands load this file, which loads what knows the names
when it is asked.
"""

from collections.abc import Iterable
from typing import Any

import typer

Found = list[tuple[str, str]]


def _starting(names: Iterable[tuple[str, str]], beginning: str) -> Found:
    return [(name, about) for name, about in names if name.startswith(beginning)]


def kinds(incomplete: str) -> Found:
    """What `fadeout list` lists."""
    from fadeout import _lexicon
    from fadeout.cli.list import OTHERS

    known = {p: _lexicon.KINDS[kind["name"]] for p, kind in _lexicon.catalog().items()} | OTHERS
    return _starting(known.items(), incomplete)


def names(context: typer.Context, incomplete: str) -> Found:
    """What the kind that is already on the line has."""
    from fadeout import _lexicon
    from fadeout.cli.list import plural_of

    plural = plural_of(context.params.get("kind") or "")
    if plural is None:
        return []
    known: dict[str, Any] = {
        "schemes": lambda: [(scheme.name, scheme.summary) for scheme in _lexicon.SCHEMES],
        "studies": lambda: studies(""),
        "tables": lambda: tables(""),
    }
    if plural in known:
        return _starting(known[plural](), incomplete)
    entries = _lexicon.catalog()[plural]["entries"]
    return _starting(((e["name"], e["summary"]) for e in entries), incomplete)


def tables(incomplete: str) -> Found:
    """Tables of results."""
    from fadeout._columns import all_table_docs

    return _starting(((name, t["doc"]) for name, t in all_table_docs().items()), incomplete)


def studies(incomplete: str) -> Found:
    """Studies."""
    from fadeout.studies import questions

    return _starting(questions().items(), incomplete)


def references(incomplete: str) -> Found:
    """What `fadeout validate` compares with."""
    from fadeout.validate import REFERENCES

    return _starting(((name, "") for name in REFERENCES), incomplete)


def figures(incomplete: str) -> Found:
    """Figures of a run."""
    from fadeout._figures import FIGURES

    return _starting(FIGURES.items(), incomplete)


def formats(incomplete: str) -> Found:
    """Formats of figures."""
    known = [("png", "pixels"), ("pdf", "for print"), ("svg", "for the web")]
    return _starting(known, incomplete)


def examples(incomplete: str) -> Found:
    """Example scenarios."""
    from fadeout._examples import examples

    known = examples().values()
    return _starting(((example.name, example.title) for example in known), incomplete)


def overrides(incomplete: str) -> Found:
    """KEY=VALUE: a key of a scenario, and after the equals sign the words that it may be."""
    from fadeout import _schema

    key, equals, value = incomplete.partition("=")
    if not equals:
        return _starting(((f"{k.short}=", k.doc) for k in _schema.all_keys()), incomplete)
    for known in _schema.all_keys():
        if known.short == key:
            return [(f"{key}={n}", "") for n in known.names if n.startswith(value)]
    return []


def topics(incomplete: str) -> Found:
    """Everything that can be explained."""
    from fadeout import _lexicon

    known = {topic.name: topic.summary for topic in reversed(_lexicon.topics())}
    return _starting(sorted(known.items()), incomplete)
