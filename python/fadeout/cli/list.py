"""`fadeout list`: everything that has a name."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.markup import escape

from fadeout import _lexicon, _names, _observations
from fadeout._columns import all_table_docs
from fadeout._quantities import range_text
from fadeout.cli import complete
from fadeout.cli.console import Entry, out, print_entries, print_paragraph
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.measured.presets import presets
from fadeout.studies import questions


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "list",
        epilog=examples(
            "fadeout list",
            "fadeout list congestion-controls",
            "fadeout list congestion-controls cubic",
            "fadeout list freeze-tcp",
            "fadeout list tables congestion",
            "fadeout list observations ue",
        ),
    )(reports_errors(list_command))


def list_command(
    kind: Annotated[
        str | None,
        typer.Argument(
            help=(
                "Kind to list, or any word. A word finds everything with this name or about it. "
                "Default: all kinds."
            ),
            autocompletion=complete.kinds,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            help="Entry of the kind, to explain in full.", autocompletion=complete.names
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the names of a kind, the studies or the tables, or find anything by its name."""
    if kind is None:
        _overview(as_json)
        return
    plural = plural_of(kind)
    if plural is None and name is None and not as_json:
        if explain_named(kind):
            return
        found = _lexicon.search(kind)
        if found:
            print_topics(found, kind)
            return
    if plural is None:
        plurals = [*_lexicon.catalog(), *OTHERS]
        raise typer.BadParameter(_names.unknown("kind", kind, plurals), param_hint="KIND")
    if plural in OTHERS:
        OTHERS[plural].show(name, as_json)
    else:
        _list_kind(_lexicon.catalog()[plural], name, as_json)


def plural_of(kind: str) -> str | None:
    """Returns the plural of a kind that is given in either form. None if there is no such kind."""
    singulars = {entry["name"]: plural for plural, entry in _lexicon.catalog().items()}
    singulars |= {other.singular: plural for plural, other in OTHERS.items()}
    plural = singulars.get(kind, kind)
    return plural if plural in (*_lexicon.catalog(), *OTHERS) else None


def _overview(as_json: bool) -> None:
    kinds = _lexicon.catalog()
    sizes = {plural: len(kind["entries"]) for plural, kind in kinds.items()}
    sizes |= {plural: other.count() for plural, other in OTHERS.items()}
    about = {plural: _lexicon.KINDS[kind["name"]] for plural, kind in kinds.items()}
    about |= {plural: other.about for plural, other in OTHERS.items()}
    if as_json:
        _print_json([{"name": name, "doc": about[name], "entries": sizes[name]} for name in about])
        return
    print_paragraph("Kinds of names in a scenario, with the number of entries:")
    print_entries([Entry(name, f"{sizes[name]:>3}  {about[name]}") for name in kinds])
    print_paragraph("Other lists:")
    print_entries([Entry(name, f"{sizes[name]:>3}  {about[name]}") for name in OTHERS])
    print_paragraph(
        "fadeout list KIND lists a kind, and fadeout list KIND NAME explains an entry. fadeout "
        "list WORD finds everything with this name or about it, such as fadeout list freeze-tcp."
    )


def print_topics(found: list[_lexicon.Topic], word: str) -> None:
    """Prints the topics found for a word, exact names first."""
    exact = _lexicon.exactly(word)
    shown = exact or found[:MOST_TOPICS]
    print_entries([Entry(t.name, t.summary, f"{t.kind}: {t.more}") for t in shown])
    others = [topic for topic in found if topic not in shown]
    if others and not exact:
        print_paragraph(f"and {len(others)} more; add a word to narrow the search")


MOST_TOPICS = 12
"""Number of topics that are printed for a word that is not a name."""


def explain_named(word: str) -> bool:
    """Explains every entry called `word`. Returns False if there is none."""
    wanted, is_found = _lexicon.plain(word), False
    for kind in _lexicon.catalog().values():
        for entry in kind["entries"]:
            if wanted in map(_lexicon.plain, (entry["name"], *entry["aliases"])):
                explain_entry(kind, entry)
                is_found = True
    return is_found


def _list_kind(kind: dict[str, Any], name: str | None, as_json: bool) -> None:
    entries = kind["entries"]
    if name is not None:
        entry = _find(kind["name"], name, entries)
        _print_json(entry) if as_json else explain_entry(kind, entry)
        return
    if as_json:
        _print_json(entries)
        return
    print_paragraph(f"{_lexicon.KINDS[kind['name']]}. {_how_to_write(kind, entries[0])}")
    print_entries([Entry(e["name"], e["summary"], _also(e)) for e in entries])
    if _is_shared(entries):
        print_paragraph(f"Parameters of every {kind['name']}:")
        _print_parameters(entries[0]["parameters"])
    else:
        print_paragraph(
            f"fadeout list {kind['plural']} NAME shows the parameters of an entry, such as fadeout "
            f"list {kind['plural']} {entries[0]['name']}."
        )


def _how_to_write(kind: dict[str, Any], entry: dict[str, Any]) -> str:
    places = _lexicon.places(kind)
    if not places:
        return ""
    return f'In a scenario: {places[0].path} = "{entry["name"]}"'


def _also(entry: dict[str, Any]) -> str:
    also = f"also {', '.join(entry['aliases'])}" if entry["aliases"] else ""
    return "; ".join(filter(None, (also, entry["citation"])))


def _is_shared(entries: list[dict[str, Any]]) -> bool:
    """Returns True if several entries have the same parameters, which are then printed once."""
    first = entries[0]["parameters"]
    return len(entries) > 1 and bool(first) and all(e["parameters"] == first for e in entries)


def explain_entry(kind: dict[str, Any], entry: dict[str, Any]) -> None:
    """Prints one entry: its description, its use in a scenario, its parameters."""
    also = f" (also {', '.join(entry['aliases'])})" if entry["aliases"] else ""
    head = f"[bold]{escape(entry['name'])}[/bold]{escape(also)}: {escape(kind['name'])}"
    out().print(head, highlight=False)
    print_paragraph(entry["summary"])
    if entry["citation"]:
        print_paragraph(f"Source: {entry['citation']}")
    for place in _lexicon.places(kind)[:1]:
        print_paragraph(f'In a scenario: {place.path} = "{entry["name"]}"')
        if entry["parameters"] and place.tag:
            first = entry["parameters"][0]
            table = f'{{ {place.tag} = "{entry["name"]}", {first["name"]} = ... }}'
            print_paragraph(f"with parameters: {place.path} = {table}")
    if not entry["parameters"]:
        print_paragraph("It has no parameters.")
        return
    print_paragraph("Parameters, with their defaults:")
    _print_parameters(entry["parameters"])


def _print_parameters(parameters: list[dict[str, Any]]) -> None:
    """Prints each parameter with its default, its description and its range."""
    print_entries(
        [Entry(f"{p['name']} = {default(p)}", p["doc"], values(p)) for p in parameters], hang=True
    )


def default(parameter: dict[str, Any]) -> str:
    """Returns the default, with its unit if it is a bare number."""
    text = str(parameter["default"])
    unit = parameter.get("unit") or ""
    is_bare = text.replace(".", "", 1).replace("e", "", 1).replace("-", "").isdigit()
    return f"{text} {unit}" if unit and is_bare else text


def values(parameter: dict[str, Any]) -> str:
    """Returns the values that a parameter may have."""
    if "range" in parameter:
        low, high = parameter["range"]
        return range_text(low, high, parameter.get("unit") or "")
    if "choices" in parameter:
        return "one of " + ", ".join(parameter["choices"])
    words = {"bool": "true or false", "span": 'a time such as "20 ms"'}
    return words.get(parameter["kind"], str(parameter["kind"]))


def _list_presets(name: str | None, as_json: bool) -> None:
    known = presets()
    _check_name("preset", name, known)
    if as_json:
        rows = {key: vars(one) for key, one in known.items()}
        _print_json(list(rows.values()) if name is None else rows[name])
        return
    if name is None:
        print_entries([Entry(key, one.title, one.source) for key, one in known.items()])
        print_paragraph(
            "fadeout list presets NAME shows the keys of a preset, as a file of your own may "
            "have them."
        )
        return
    print_paragraph(f"{known[name].title}. Source: {known[name].source}")
    out().print(known[name].text.strip(), markup=False, highlight=False)


def _list_schemes(name: str | None, as_json: bool) -> None:
    known = {scheme.name: scheme for scheme in _lexicon.SCHEMES}
    if name is not None:
        wanted = _lexicon.plain(name)
        known = {
            key: scheme
            for key, scheme in known.items()
            if wanted in (_lexicon.plain(key), _lexicon.plain(scheme.value))
        }
        if not known:
            names = [scheme.name for scheme in _lexicon.SCHEMES]
            raise typer.BadParameter(_names.unknown("scheme", name, names), param_hint="NAME")
    if as_json:
        _print_json([vars(scheme) for scheme in known.values()])
        return
    print_entries([Entry(s.name, s.summary, f"{s.use}; {s.source}") for s in known.values()])
    print_paragraph(
        "An outage-response needs a link that sends notices, and freeze needs one that predicts: "
        "fadeout explain flow.link-info. To explain a parameter: fadeout list profiles linux."
    )


def _list_studies(name: str | None, as_json: bool) -> None:
    known = questions()
    _check_name("study", name, known)
    rows = {key: question for key, question in known.items() if name in (None, key)}
    if as_json:
        _print_json(rows)
        return
    print_entries([Entry(key, summary) for key, summary in rows.items()])


def _list_tables(name: str | None, as_json: bool) -> None:
    known = all_table_docs()
    _check_name("table", name, known)
    if as_json:
        _print_json(list(known.values()) if name is None else known[name])
        return
    if name is None:
        print_entries([Entry(key, entry["doc"]) for key, entry in known.items()])
        print_paragraph("fadeout list tables TABLE shows the columns of a table.")
    else:
        explain_table(name)


def _list_observations(kind: str | None, as_json: bool) -> None:
    _check_name("kind of observations", kind, _observations.FORMS)
    observed = [it for it in _observations.observations() if kind in (None, it.kind)]
    settable = [it for it in _observations.settings() if kind in (None, it.kind)]
    if as_json:
        listed = {"observations": observed, "settings": settable}
        _print_json({key: [vars(it) for it in values] for key, values in listed.items()})
        return
    print_paragraph(
        'In Python: simulation.observe(["flow.download.srtt_s"]) and '
        'simulation.set("flow.download.cwnd_segments", 20).'
    )
    for each in _observations.FORMS if kind is None else [kind]:
        print_paragraph(f"{_observations.ABOUT[each]}. Name: {_observations.FORMS[each]}")
        print_entries([_observed(it) for it in observed if it.kind == each])
        names = [it for it in settable if it.kind == each]
        if names:
            print_paragraph(f"To set for a {each}:")
            print_entries([Entry(it.name, it.doc, it.values) for it in names])


def _observed(value: _observations.Value) -> Entry:
    return Entry(value.name, value.doc, f"column of {value.table}" if value.table else value.unit)


def explain_table(name: str) -> None:
    """Prints the description of a table and its columns."""
    entry = all_table_docs()[name]
    where = f"results.{name}" if entry["of"] == "run" else f"fadeout.{name}(scenario)"
    print_paragraph(f"{entry['doc']} In Python: {where}")
    print_entries([Entry(c["name"], c["doc"], c["unit"] or c["kind"]) for c in entry["columns"]])


def _find(kind: str, name: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    for entry in entries:
        if name == entry["name"] or name in entry["aliases"]:
            return entry
    known = [name for entry in entries for name in (entry["name"], *entry["aliases"])]
    raise typer.BadParameter(_names.unknown(kind, name, known), param_hint="NAME")


def _check_name(kind: str, name: str | None, known: Collection[str]) -> None:
    """Raises if a name is given and unknown."""
    if name is not None and name not in known:
        raise typer.BadParameter(_names.unknown(kind, name, known), param_hint="NAME")


def _print_json(value: Any) -> None:  # noqa: ANN401
    out().print(json.dumps(value, indent=2, ensure_ascii=False), markup=False, highlight=False)


@dataclass(frozen=True)
class Other:
    """A list that is not a kind of a scenario."""

    singular: str
    about: str
    """The meaning of the entries."""
    count: Callable[[], int]
    """Function that returns the number of entries."""
    show: Callable[[str | None, bool], None]
    """Function that prints an entry, or all for None. The second argument is True for JSON."""


OTHERS = {
    "observations": Other(
        "observation",
        "Values that a simulation in steps observes and sets",
        lambda: len(_observations.observations()),
        _list_observations,
    ),
    "presets": Other(
        "preset",
        "Formats of logs that the `preset` of a [measurement] names",
        lambda: len(presets()),
        _list_presets,
    ),
    "schemes": Other(
        "scheme",
        "Schemes for links that fail or lose: Freeze-TCP, ELFN, TCP-DCR and others",
        lambda: len(_lexicon.SCHEMES),
        _list_schemes,
    ),
    "studies": Other(
        "study",
        "Questions that `fadeout study` answers",
        lambda: len(questions()),
        _list_studies,
    ),
    "tables": Other(
        "table",
        "Tables of results, column by column",
        lambda: len(all_table_docs()),
        _list_tables,
    ),
}
"""The lists that are not kinds of a scenario, by their plurals."""
