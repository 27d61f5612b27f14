"""`fadeout examples` and `fadeout new`: scenarios to start from."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fadeout import ResultError, _examples, _names, _schema
from fadeout.cli import complete
from fadeout.cli.console import Entry, out, print_entries, print_paragraph
from fadeout.cli.errors import reports_errors
from fadeout.cli.options import examples

FIRST = "blockage"
"""The default example of a new scenario."""


SCHEMA = "scenario.schema.json"
"""File of the schema, beside the scenario."""


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(
        "examples",
        epilog=examples("fadeout examples", "fadeout examples lte-download"),
    )(reports_errors(list_examples))
    app.command(
        "new",
        epilog=examples(
            "fadeout new blockage",
            "fadeout new my-link --from lossy-link",
            note="Then: fadeout run my-link.toml",
        ),
    )(reports_errors(new))


def list_examples(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the example to print.", autocompletion=complete.examples),
    ] = None,
) -> None:
    """List the scenarios that come with fadeout, or print one."""
    known = _examples.examples()
    if name is not None:
        out().print(_find(name).text, end="", markup=False, highlight=False)
        return
    print_entries([Entry(example.name, example.title) for example in known.values()])
    print_paragraph(
        "fadeout examples NAME prints an example, fadeout new NAME writes it to NAME.toml, and "
        "fadeout run NAME.toml runs it."
    )


def new(
    name: Annotated[
        str,
        typer.Argument(
            help=(
                "Name of the scenario, written to NAME.toml. If it is the name of an example, "
                "that example is copied."
            ),
            autocompletion=complete.examples,
        ),
    ],
    example: Annotated[
        str | None,
        typer.Option(
            "--from",
            help=f"Example to copy. Default: the example NAME if there is one, else {FIRST}.",
            autocompletion=complete.examples,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    with_schema: Annotated[
        bool,
        typer.Option(
            "--schema/--no-schema",
            help=(
                f"Write the JSON Schema to {SCHEMA} beside the scenario and name it in the first "
                "line, so that editors complete and check keys."
            ),
        ),
    ] = True,
) -> None:
    """Write a scenario to start from: a copy of an example, and of the files that it reads."""
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    known = _examples.examples()
    source = _find(example or (path.stem if path.stem in known else FIRST))
    # The scenario names its files by their path relative to itself.
    beside = {path.parent / file.name: file for file in source.files}
    for one in (path, *beside):
        if one.exists() and not force:
            raise ResultError(f"{one} exists; --force replaces it")
    text = source.text
    if with_schema:
        _write_schema(path.parent / SCHEMA, force=force)
        text = f"#:schema ./{SCHEMA}\n\n{text}"
    path.write_text(text, encoding="utf-8")
    for copy, file in beside.items():
        copy.write_bytes(file.read_bytes())
    print_paragraph(f"{path}: {source.title}")
    for copy in beside:
        print_paragraph(f"{copy}: a file that the scenario reads")
    if with_schema:
        print_paragraph(f"{path.parent / SCHEMA}: the keys of scenarios, for editors")
    print_paragraph(f"next: fadeout run {path}")


def _write_schema(path: Path, *, force: bool) -> None:
    """Writes the schema of this version, also over that of another version."""
    if path.exists() and not force and not _is_schema(path):
        raise ResultError(
            f"{path} exists and is not the schema of scenarios; --force replaces it, --no-schema "
            "leaves it"
        )
    path.write_text(_schema.text(), encoding="utf-8")


def _is_schema(path: Path) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("title") == _schema.TITLE


def _find(name: str) -> _examples.Example:
    known = _examples.examples()
    if name not in known:
        raise typer.BadParameter(_names.unknown("example", name, known), param_hint="NAME")
    return known[name]
