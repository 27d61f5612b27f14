"""`fadeout explain`: the meaning of a key, a table, a name or an error."""

from typing import Annotated

import typer
from rich.text import Text

from fadeout import _faults, _lexicon, _names, _schema
from fadeout._columns import all_table_docs
from fadeout.cli import complete
from fadeout.cli.console import Entry, out, print_entries, print_paragraph
from fadeout.cli.errors import reports_errors
from fadeout.cli.list import explain_named, explain_table, print_topics
from fadeout.cli.options import examples


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        "explain",
        epilog=examples(
            "fadeout explain link.queue.limit",
            "fadeout explain congestion",
            "fadeout explain freeze-tcp",
            "fadeout explain 'expected a rate without a unit'",
        ),
    )(reports_errors(explain))


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY|TABLE|NAME|ERROR",
            help=(
                "Key of a scenario, table or column of results, name in a scenario, or an error "
                "or a part of its message."
            ),
            autocompletion=complete.topics,
        ),
    ],
) -> None:
    """Explain a key of a scenario, a table, a name, or an error."""
    text = " ".join(words)
    is_found = explain_key(text)
    if text in all_table_docs():
        explain_table(text)
        is_found = True
    is_found |= _explain_names(text)
    found = _faults.faults(text)
    for fault in found:
        print_paragraph(f"{fault.name}: {fault.meaning}")
        print_paragraph(fault.remedy)
    if is_found or found:
        return
    topics = _lexicon.search(text)
    if not topics:
        near = _lexicon.nearest(text) or ["fadeout list"]
        message = f"nothing is called {text!r}; did you mean {', '.join(near)}?"
        if len(near) == 1:
            message = _names.unknown("name", text, near)
        raise typer.BadParameter(message, param_hint="NAME")
    print_topics(topics, text)


def _explain_names(text: str) -> bool:
    """Explains the entries with a name, and lists other uses of the word."""
    if explain_named(text):
        return True
    keys = {key.short for key in _schema.all_keys()}
    others = [t for t in _lexicon.exactly(text) if t.name not in keys and t.kind != "table"]
    if others:
        print_entries([Entry(t.name, t.summary, f"{t.kind}: {t.more}") for t in others])
    return bool(others)


def explain_key(text: str) -> bool:
    """Explains a key of a scenario by its path, or by its name if that is unique."""
    known = _schema.all_keys()
    found = [key for key in known if text in (key.path, key.short)]
    found = found or [key for key in known if text == key.name]
    for key in found:
        need = "required" if key.is_required else f"default {key.default}" if key.default else ""
        print_entries([Entry(key.path, key.doc, "; ".join(filter(None, (key.value, need))))])
    paths = [key.path for key in found] or [text]
    for table in dict.fromkeys(name for path in paths for name in (path, f"{path}.NAME")):
        below = [key for key in known if key.path.rpartition(".")[0] == table]
        if below:
            out().print(Text.assemble("Keys of ", (table, "bold"), ":"))
            print_entries([Entry(k.name, k.doc, k.value) for k in dict.fromkeys(below)])
            found = found or below
    return bool(found)
