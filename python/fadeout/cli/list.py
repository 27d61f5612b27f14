"""`fadeout list`: what a scenario may name."""

import json
from typing import Annotated, Any

import typer

from fadeout import _names, _native
from fadeout.cli.console import new_table, out, print_table
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples
from fadeout.results import table_docs
from fadeout.study import studies


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "list",
        epilog=examples(
            "fadeout list",
            "fadeout list congestion-controls",
            "fadeout list congestion-controls cubic",
            "fadeout list tables congestion",
        ),
    )(reports_errors(list_command))


def list_command(
    kind: Annotated[
        str | None, typer.Argument(help="What to list. Without it: what can be listed.")
    ] = None,
    name: Annotated[str | None, typer.Argument(help="One of them, explained in full.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List congestion controls, profiles, queue disciplines, applications, studies, tables."""
    kinds = {entry["plural"]: entry for entry in json.loads(_native.catalog())["kinds"]}
    singulars = {entry["name"]: plural for plural, entry in kinds.items()}
    singulars |= {"study": "studies", "table": "tables"}
    plurals = [*kinds, "studies", "tables"]
    if kind is None:
        for plural in plurals:
            out().print(plural, highlight=False)
        return
    plural = singulars.get(kind, kind)
    if plural not in plurals:
        raise typer.BadParameter(_names.unknown("kind", kind, plurals), param_hint="KIND")
    if plural == "studies":
        _list_studies(name, as_json)
    elif plural == "tables":
        _list_tables(name, as_json)
    else:
        _list_entries(kinds[plural], name, as_json)


def _list_entries(kind: dict[str, Any], name: str | None, as_json: bool) -> None:
    entries = kind["entries"]
    if name is not None:
        entry = _find(kind["name"], name, entries)
        _print_json(entry) if as_json else _explain(entry)
        return
    if as_json:
        _print_json(entries)
        return
    is_shared = _is_shared(entries)
    columns = ["name", "aliases", "what it is", "source"]
    table = new_table(*columns, *([] if is_shared else ["parameters and defaults"]))
    for entry in entries:
        cells = [
            entry["name"],
            ", ".join(entry["aliases"]),
            entry["summary"],
            entry["citation"],
        ]
        if not is_shared:
            cells.append("\n".join(_parameter(parameter) for parameter in entry["parameters"]))
        table.add_row(*cells)
    print_table(table)
    if is_shared:
        out().print(f"parameters of every {kind['name']}:", highlight=False)
        _print_parameters(entries[0]["parameters"])


def _is_shared(entries: list[dict[str, Any]]) -> bool:
    """Whether several entries all take the same parameters, which are then printed once."""
    first = entries[0]["parameters"]
    return len(entries) > 1 and bool(first) and all(e["parameters"] == first for e in entries)


def _parameter(parameter: dict[str, Any]) -> str:
    unit = parameter.get("unit") or ""
    return f"{parameter['name']} = {parameter['default']}{' ' if unit else ''}{unit}"


def _explain(entry: dict[str, Any]) -> None:
    console = out()
    also = f" (also {', '.join(entry['aliases'])})" if entry["aliases"] else ""
    console.print(f"[bold]{entry['name']}[/bold]{also}", highlight=False)
    console.print(entry["summary"], markup=False, highlight=False)
    console.print(f"Source: {entry['citation']}", markup=False, highlight=False)
    if not entry["parameters"]:
        console.print("It has no parameters.")
        return
    _print_parameters(entry["parameters"])


def _print_parameters(parameters: list[dict[str, Any]]) -> None:
    table = new_table("parameter", "default", "unit", "values", "what it does")
    for parameter in parameters:
        table.add_row(
            parameter["name"],
            str(parameter["default"]),
            parameter.get("unit") or "",
            _values(parameter),
            parameter["doc"],
        )
    print_table(table)


def _values(parameter: dict[str, Any]) -> str:
    if "range" in parameter:
        low, high = parameter["range"]
        return f"{low:g} to {high:g}"
    if "choices" in parameter:
        return ", ".join(parameter["choices"])
    return str(parameter["kind"])


def _list_studies(name: str | None, as_json: bool) -> None:
    known = studies()
    if name is not None and name not in known:
        raise typer.BadParameter(_names.unknown("study", name, known), param_hint="NAME")
    rows = {key: study.summary for key, study in known.items() if name in (None, key)}
    if as_json:
        _print_json(rows)
        return
    table = new_table("name", "question")
    for key, summary in rows.items():
        table.add_row(key, summary)
    print_table(table)


def _list_tables(name: str | None, as_json: bool) -> None:
    known = table_docs()
    if name is not None and name not in known:
        raise typer.BadParameter(_names.unknown("table", name, known), param_hint="NAME")
    if as_json:
        _print_json(list(known.values()) if name is None else known[name])
        return
    if name is None:
        table = new_table("name", "what a row is")
        for key, entry in known.items():
            table.add_row(key, entry["doc"])
    else:
        table = new_table("column", "unit", "type", "meaning")
        for column in known[name]["columns"]:
            table.add_row(column["name"], column["unit"], column["kind"], column["doc"])
    print_table(table)


def _find(kind: str, name: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    for entry in entries:
        if name == entry["name"] or name in entry["aliases"]:
            return entry
    known = [name for entry in entries for name in (entry["name"], *entry["aliases"])]
    raise typer.BadParameter(_names.unknown(kind, name, known), param_hint="NAME")


def _print_json(value: Any) -> None:  # noqa: ANN401
    out().print(json.dumps(value, indent=2, ensure_ascii=False), markup=False, highlight=False)
