"""Completion in the shell: kinds, their entries, keys, figures and studies.

Each function gets the beginning of a word, and returns the possible completions. zsh and fish show
the short explanation of each. Commands load this file, which loads the names when a shell asks for
them.
"""

from collections.abc import Iterable
from typing import Any

import typer

Found = list[tuple[str, str]]


def _starting(names: Iterable[tuple[str, str]], beginning: str) -> Found:
    return [(name, about) for name, about in names if name.startswith(beginning)]


def kinds(incomplete: str) -> Found:
    """Returns the arguments of `fadeout list`."""
    from fadeout import _lexicon
    from fadeout.cli.list import OTHERS

    known = {p: _lexicon.KINDS[kind["name"]] for p, kind in _lexicon.catalog().items()}
    known |= {plural: other.about for plural, other in OTHERS.items()}
    return _starting(known.items(), incomplete)


def names(context: typer.Context, incomplete: str) -> Found:
    """Returns the entries of the kind on the command line."""
    from fadeout import _lexicon, _observations
    from fadeout.cli.list import plural_of

    plural = plural_of(context.params.get("kind") or "")
    if plural is None:
        return []
    known: dict[str, Any] = {
        "presets": presets,
        "schemes": lambda: [(scheme.name, scheme.summary) for scheme in _lexicon.SCHEMES],
        "studies": lambda: studies(""),
        "tables": lambda: tables(""),
        "observations": lambda: list(_observations.ABOUT.items()),
    }
    if plural in known:
        return _starting(known[plural](), incomplete)
    entries = _lexicon.catalog()[plural]["entries"]
    return _starting(((e["name"], e["summary"]) for e in entries), incomplete)


def presets() -> Found:
    """Returns the formats of logs."""
    from fadeout.measured.presets import presets as known

    return [(name, one.title) for name, one in known().items()]


def tables(incomplete: str) -> Found:
    """Returns the tables of results."""
    from fadeout._columns import all_table_docs

    return _starting(((name, t["doc"]) for name, t in all_table_docs().items()), incomplete)


def scenarios(incomplete: str) -> Found:
    """Returns the examples, and the scenario files and folders that begin with the word."""
    from pathlib import Path

    place = Path(incomplete if incomplete.endswith("/") else incomplete.rpartition("/")[0])
    try:
        listed = sorted(place.iterdir())
    except OSError:
        listed = []
    folders = [(f"{path}/", "") for path in listed if path.is_dir()]
    files = [(str(path), "") for path in listed if path.suffix == ".toml"]
    return examples(incomplete) + _starting([*files, *folders], incomplete)


def studies(incomplete: str) -> Found:
    """Returns the studies."""
    from fadeout.studies import questions

    return _starting(questions().items(), incomplete)


def references(incomplete: str) -> Found:
    """Returns the references of `fadeout validate`."""
    from fadeout.validate import REFERENCES

    return _starting(((name, "") for name in REFERENCES), incomplete)


def figures(incomplete: str) -> Found:
    """Returns the figures of a run."""
    from fadeout._figures import FIGURES

    return _starting(FIGURES.items(), incomplete)


def formats(incomplete: str) -> Found:
    """Returns the formats of figures."""
    known = [("png", "pixels"), ("pdf", "for print"), ("svg", "for the web")]
    return _starting(known, incomplete)


def examples(incomplete: str) -> Found:
    """Returns the example scenarios."""
    from fadeout._examples import examples

    known = examples().values()
    return _starting(((example.name, example.title) for example in known), incomplete)


def overrides(incomplete: str) -> Found:
    """Returns the keys of a scenario, and after the equals sign the words that a key may have."""
    from fadeout import _schema

    key, equals, value = incomplete.partition("=")
    if not equals:
        return _starting(((f"{k.short}=", k.doc) for k in _schema.all_keys()), incomplete)
    for known in _schema.all_keys():
        if known.short == key:
            return [(f"{key}={n}", "") for n in known.names if n.startswith(value)]
    return []


def topics(incomplete: str) -> Found:
    """Returns everything that can be explained."""
    from fadeout import _lexicon

    known = {topic.name: topic.summary for topic in reversed(_lexicon.topics())}
    return _starting(sorted(known.items()), incomplete)
