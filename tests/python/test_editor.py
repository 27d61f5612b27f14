"""Editors complete and check scenarios by the schema."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fadeout
from conftest import ROOT
from fadeout import _examples, _schema
from fadeout.cli.app import app

KEPT = json.loads((ROOT / "schemas" / "scenario.schema.json").read_text())


def properties(entry: Any) -> Iterator[tuple[str, Any]]:
    """Yields every property of a schema with its name."""
    if isinstance(entry, list):
        for each in entry:
            yield from properties(each)
    if isinstance(entry, dict):
        named = entry.get("properties", {})
        yield from named.items() if isinstance(named, dict) else ()
        # A condition names properties again, without their descriptions.
        for key, each in entry.items():
            if key not in ("if", "then", "else"):
                yield from properties(each)


@pytest.mark.parametrize("schema", [KEPT, _schema.document()], ids=["kept", "printed"])
def test_the_schema_has_an_address_and_describes_every_property(schema: dict[str, Any]):
    assert schema["$id"] == _schema.ADDRESS
    assert schema["title"] == _schema.TITLE
    found = [(name, entry) for name, entry in properties(schema) if isinstance(entry, dict)]
    assert len(found) > 1000
    assert [name for name, entry in found if not entry.get("description")] == []


def test_new_names_the_schema_and_writes_it_beside_the_scenario(cli: CliRunner):
    Path("sub").mkdir()
    done = cli.invoke(app, ["new", "sub/blockage"])
    assert done.exit_code == 0, done.output
    assert "sub/scenario.schema.json" in done.stdout
    first = Path("sub/blockage.toml").read_text().splitlines()[0]
    assert first == "#:schema ./scenario.schema.json"
    assert Path("sub/scenario.schema.json").read_text() == _schema.text()
    fadeout.check(Path("sub/blockage.toml"))


def test_new_replaces_the_schema_of_another_version_and_no_other_file(cli: CliRunner):
    path = Path("scenario.schema.json")
    path.write_text(json.dumps({"title": _schema.TITLE}))
    assert cli.invoke(app, ["new", "a"]).exit_code == 0
    assert path.read_text() == _schema.text()
    for foreign in ("{}", "[1]", "no JSON"):
        path.write_text(foreign)
        refused = cli.invoke(app, ["new", "b"])
        assert refused.exit_code == 1
        assert "--no-schema" in refused.stderr
        assert path.read_text() == foreign
        assert not Path("b.toml").exists()


def test_without_a_schema_the_example_is_copied_as_it_is(cli: CliRunner):
    assert cli.invoke(app, ["new", "a", "--no-schema"]).exit_code == 0
    assert not Path("scenario.schema.json").exists()
    assert Path("a.toml").read_text() == _examples.examples()["blockage"].text
