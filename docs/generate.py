"""Writes the reference pages from the program: scenario keys, tables, algorithms."""

import base64
import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import gather
import papers
import reference
from fadeout import _native, _observations
from fadeout._columns import all_table_docs
from fadeout._schema import nested, required_of, resolve, shape
from fadeout.validate import linux
from fadeout.validate.measured import judge
from markdown_tables import markdown

DRAWN = (
    "clean_20m_cubic",
    "clean_20m_bbr",
    "block_100m_cubic_0.2",
    "block_100m_reno_0.2",
    "buf0.5_30m_80ms_cubic",
    "buf0.5_30m_80ms_reno",
    "loss0.5_40m_60ms_cubic_seed11",
    "loss2_40m_60ms_bbr_seed11",
    "block0.7_40m_30ms_cubic_lead0.2",
)
"""Recorded runs whose windows the validation page shows."""

EMPTY_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
"""A transparent picture of one pixel."""


def write_all(folder: Path, *, runs: bool = True) -> None:
    """Writes every generated page into `folder`.

    Without `runs` nothing is simulated: the gallery has no figures of scenarios, and the page of
    the validation has no table.
    """
    folder.mkdir(exist_ok=True)
    catalog = json.loads(_native.catalog())
    pages = {
        "scenario": scenario_page(json.loads(_native.schema())),
        "tables": tables_page(),
        "observations": observations_page(),
        "catalog": catalog_page(catalog["kinds"]),
    }
    if runs:
        rows = linux.compare_all()
        pages |= {"headline": headline(rows), "validation": validation_page(rows, folder)}
        pages |= {"measured": measured_page()}
    else:
        names = ("headline", "validation", "measured")
        pages |= dict.fromkeys(names, "The tests make the comparison.\n")
        draw_placeholders(folder)
    gallery = gather.gallery(folder if runs else None)
    pages |= {"limits": gather.limits(), "gallery": gallery, "papers": papers.page()}
    pages |= reference.pages()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def draw_placeholders(folder: Path) -> None:
    """Writes an empty picture for each drawn one that a page shows, where none was drawn."""
    for page in folder.parent.rglob("*.md"):
        for name in re.findall(
            r"generated/((?:gallery|validation)/[^)\s]+\.png)", page.read_text("utf-8")
        ):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(EMPTY_PNG)


def tables_page() -> str:
    """Returns the page of the tables in a run's folder."""
    parts = [
        "# Tables of results",
        "Every run has its summary: the whole run and its radio access in `summary.json`, and a "
        "Parquet file for each table of flows, links and the like. The scenario's `probe` selects "
        "the tables over time and their interval. In Python each table is an attribute of "
        "`Results`, a frame. `Results.doc(table)` and `fadeout list tables TABLE` print the text "
        "below.",
    ]
    for name, table in all_table_docs().items():
        rows = [
            [f"`{column['name']}`", column["unit"], column["kind"], column["doc"]]
            for column in table["columns"]
        ]
        head = [f"## {name}", table["doc"], place_of(name, table)]
        parts += [*head, markdown(["column", "unit", "type", "meaning"], rows)]
    return "\n\n".join(parts) + "\n"


def observations_page() -> str:
    """Returns the page of the values that a simulation in steps observes and sets."""
    parts = [
        "# Observations and settings",
        "Between two steps, `Simulation.observe` returns values of a run, and `Simulation.set` "
        "changes values. A value has the name `KIND.NAME.VALUE`, such as `flow.download.srtt_s`. "
        "`fadeout list observations` prints the text below. [A guide](../howto/learning.md) shows "
        "the use by learning agents.",
        "An observation of a column of a table has the value of a row of this table at the same "
        "time. A row is written within an event. An observation comes after all events of its "
        "time.",
    ]
    for kind, form in _observations.FORMS.items():
        observed = [it for it in _observations.observations() if it.kind == kind]
        rows = [[f"`{it.name}`", it.unit, it.table, it.doc] for it in observed]
        parts += [f"## {kind}", f"{_observations.ABOUT[kind]}. Name: {form}."]
        parts.append(markdown(["value", "unit", "table", "meaning"], rows))
    settings = _observations.settings()
    rows = [[f"`{it.kind}.NAME.{it.name}`", it.values, it.doc] for it in settings]
    return (
        "\n\n".join([*parts, "## Settings", markdown(["name", "values", "meaning"], rows)]) + "\n"
    )


def place_of(name: str, table: dict[str, Any]) -> str:
    """Returns the place of a table's rows."""
    if table["of"] == "scenario":
        return f"Known without a run: `fadeout.{name}(scenario)`."
    key = table["key"]
    if key is not None:
        return f"In `summary.json` under `{key}`." if key else "The keys of `summary.json` itself."
    always = ", of every run that has a row of it" if table["always"] else ""
    return f"In `{name}.parquet`{always}."


def catalog_page(kinds: list[dict[str, Any]]) -> str:
    """Returns the page of the names that a scenario may use."""
    parts = [
        "# Names and parameters",
        "All names that a scenario may use, from the registries of the program itself. `fadeout "
        "list` prints the same.",
    ]
    for kind in kinds:
        parts.append(f"## {kind['plural'].replace('-', ' ').capitalize()}")
        entries = kind["entries"]
        shared = is_shared(entries)
        for entry in entries:
            summary = entry["summary"].rstrip(".") + "."
            if entry["aliases"]:
                summary += f" Also called {', '.join(map(code, entry['aliases']))}."
            parts += [f"### {entry['name']}", f"{summary}\n\n*{entry['citation']}*"]
            if entry["parameters"] and not shared:
                parts.append(parameters(entry["parameters"]))
        if shared:
            parts += [
                f"### Parameters of every {kind['name']}",
                parameters(entries[0]["parameters"]),
            ]
    return "\n\n".join(parts) + "\n"


def validation_page(rows: list[linux.Row], folder: Path) -> str:
    """Returns a comparison of our runs with the kernel's, from simulations made for this page."""
    parts = [
        "## Every row",
        markdown(list(linux.COLUMNS), [row.cells() for row in rows]),
    ]
    known = linux.known_misses()
    misses = [
        f"- {miss}. {known.get((row.name, key), '')}"
        for row in rows
        for key, miss in row.misses().items()
    ]
    if misses:
        parts += ["Outside the tolerance (✗):", "\n".join(misses)]
    parts += ["## The window over the kernel's"]
    for path in linux.draw(folder / "validation", DRAWN):
        parts.append(f"![{path.stem}](generated/validation/{path.name}){{width=560px}}")
        parts.append(f"*{path.stem}*")
    return "\n\n".join(parts) + "\n"


def headline(rows: list[linux.Row]) -> str:
    """Returns the totals of the table below. The README has the same text, or the build fails."""
    whole = sum(not row.misses() for row in rows)
    shares = {
        q.key: median(abs(row.error(q.key)) for row in rows if q in row.compared())
        for q in linux.QUANTITIES
    }
    text = (
        f"{whole} of {len(rows)} rows are within all tolerances; median error of the received "
        f"rate {shares['received_mbps']:.2%}, of the smoothed round-trip time "
        f"{shares['mean_srtt_ms']:.2%}"
    )
    require_in_readme(text, "Linux")
    return f"**{text}.**\n"


def measured_page() -> str:
    """Returns the comparison with measurements whose values are in the package."""
    found = judge.compare(judge.entries([], None))
    require_in_readme(found.headline(), "measured networks")
    rows = markdown(list(judge.COLUMNS), [row.cells() for row in found.rows])
    return f"{found.headline()}.\n\n{rows}\n"


def require_in_readme(text: str, row: str) -> None:
    """Raises ValueError if the README does not contain `text`, the result of one of its rows."""
    readme = (gather.ROOT / "README.md").read_text(encoding="utf-8")
    if text not in " ".join(readme.split()):
        raise ValueError(f"the README's row on {row} should say: {text}")


def is_shared(entries: list[dict[str, Any]]) -> bool:
    """Returns True if several entries all have the same parameters."""
    first = entries[0]["parameters"]
    return len(entries) > 1 and bool(first) and all(e["parameters"] == first for e in entries)


def parameters(listed: list[dict[str, Any]]) -> str:
    """Returns a table of parameters."""
    rows = [[code(p["name"]), str(p["default"]), p.get("unit") or "", p["doc"]] for p in listed]
    return markdown(["parameter", "default", "unit", "effect"], rows)


def scenario_page(schema: dict[str, Any]) -> str:
    """Returns the page of every key of a scenario, from its JSON Schema."""
    parts = [
        "# Scenario reference",
        "Every key, from the JSON Schema that `fadeout schema` prints. Quantities are strings with "
        'a unit: `"20 ms"`, `"38 GHz"`, `"807 Mbit/s"`, `"1.4 m"`. [Names and '
        "parameters](catalog.md) has the parameters of `congestion-control`, `application`, "
        "`discipline`, `tcp`, `radio`, `antenna`, `rlc` and the like.",
    ]
    parts += ScenarioTables(schema.get("$defs", {})).section("", schema, level=2)
    return "\n\n".join(parts) + "\n"


class ScenarioTables:
    """Sections of the scenario's tables. A table that several paths share has one section."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self.heading_of: dict[str, str] = {}
        """Heading of each table's section, by the table's keys."""

    def section(
        self, path: str, schema: dict[str, Any], level: int, heading: str = "The file"
    ) -> list[str]:
        """Returns a heading, the keys of one table, and the sections of the tables below it."""
        self.heading_of[keys_of(schema)] = heading
        parts = [f"{'#' * min(level, 5)} {heading}"]
        if path and "description" in schema:
            parts.append(schema["description"])
        rows, below = [], []
        required = required_of(schema)
        for key, entry in schema.get("properties", {}).items():
            entry = resolve(entry, self.definitions)
            here = f"{path}.{key}" if path else key
            need = "required" if key in required else default_of(entry)
            value = shape(entry, self.definitions, code)
            rows.append([code(key), value, need, entry.get("description", "")])
            below += nested(here, entry, self.definitions)
        table = markdown(["key", "value", "default", "meaning"], rows) if rows else "No keys."
        parts.append(table)
        return [*parts, *self.below(below, level + 1)]

    def below(self, tables: list[tuple[str, dict[str, Any]]], level: int) -> list[str]:
        """Returns the sections of these tables, and a line for each that has one already."""
        shared, parts = {}, []
        paths = [path for path, _ in tables]
        for path, table in tables:
            name = f"`[{path}]`"
            if paths.count(path) > 1:
                name += f" with {', '.join(map(code, table['required']))}"
            other = self.heading_of.get(keys_of(table))
            if other is None:
                parts += self.section(path, table, level, name)
            else:
                shared[name] = f"- {name} is as {other}."
        return [*(["\n".join(shared.values())] if shared else []), *parts]


def keys_of(table: dict[str, Any]) -> str:
    """Returns the keys of a table as text, the same for tables with the same keys."""
    return json.dumps([table.get("properties", {}), required_of(table)], sort_keys=True)


def default_of(entry: dict[str, Any]) -> str:
    """Returns the default in the notation of a scenario."""
    if "default" not in entry:
        return ""
    return code(json.dumps(entry["default"], ensure_ascii=False))


def code(text: str) -> str:
    """Returns text in monospace."""
    return f"`{text}`"
