"""Writes the reference pages from the program: scenario keys, tables, algorithms."""

import json
from pathlib import Path
from statistics import median
from typing import Any

import gather
from fadeout import _native
from fadeout._columns import all_table_docs
from fadeout._schema import nested, resolve, shape
from fadeout.validate import linux

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


def write_all(folder: Path) -> None:
    """Write every generated page into `folder`."""
    folder.mkdir(exist_ok=True)
    catalog = json.loads(_native.catalog())
    pages = {
        "scenario": scenario_page(json.loads(_native.schema())),
        "tables": tables_page(),
        "catalog": catalog_page(catalog["kinds"]),
    }
    rows = linux.compare_all()
    pages |= {"headline": headline(rows), "validation": validation_page(rows, folder)}
    pages |= {"limits": gather.limits(), "gallery": gather.gallery(folder), "api": gather.api()}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def tables_page() -> str:
    """The tables of a run's folder."""
    parts = [
        "# Tables of results",
        "What sums up a run is always there: the whole run and its radio access in `summary.json`, "
        "flows, links and whatever else there are several of in a Parquet file a table. Of the "
        "tables over time the scenario's `probe` says which are written, and how often. In Python "
        "each is an attribute of `Results`, a frame. `Results.doc(table)` and "
        "`fadeout list tables TABLE` print the same as below.",
    ]
    for name, table in all_table_docs().items():
        rows = [
            [f"`{column['name']}`", column["unit"], column["kind"], column["doc"]]
            for column in table["columns"]
        ]
        head = [f"## {name}", table["doc"], place_of(name, table)]
        parts += [*head, markdown(["column", "unit", "type", "meaning"], rows)]
    return "\n\n".join(parts) + "\n"


def place_of(name: str, table: dict[str, Any]) -> str:
    """Where the rows of a table lie."""
    if table["of"] == "scenario":
        return f"Known without a run: `fadeout.{name}(scenario)`."
    key = table["key"]
    if key is not None:
        return f"In `summary.json` under `{key}`." if key else "The keys of `summary.json` itself."
    always = ", of every run that has a row of it" if table["always"] else ""
    return f"In `{name}.parquet`{always}."


def catalog_page(kinds: list[dict[str, Any]]) -> str:
    """What a scenario may name."""
    parts = [
        "# Names and parameters",
        "What a scenario may name, from the registries that the program itself uses. `fadeout "
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
    """Our runs beside the kernel's, from simulations made for this page."""
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
    """What the table below comes to; the README says the same, or the build fails."""
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
    readme = (gather.ROOT / "README.md").read_text(encoding="utf-8")
    if text not in " ".join(readme.split()):
        raise ValueError(f"the README's row on Linux should say: {text}")
    return f"**{text}.**\n"


def is_shared(entries: list[dict[str, Any]]) -> bool:
    """Whether several entries all take the same parameters."""
    first = entries[0]["parameters"]
    return len(entries) > 1 and bool(first) and all(e["parameters"] == first for e in entries)


def parameters(listed: list[dict[str, Any]]) -> str:
    """A table of parameters."""
    rows = [[code(p["name"]), str(p["default"]), p.get("unit") or "", p["doc"]] for p in listed]
    return markdown(["parameter", "default", "unit", "what it does"], rows)


def scenario_page(schema: dict[str, Any]) -> str:
    """Every key of a scenario, from its JSON Schema."""
    definitions = schema.get("$defs", {})
    parts = [
        "# Scenario reference",
        "Every key, from the JSON Schema that `fadeout schema` prints. Quantities are strings with "
        'a unit: `"20 ms"`, `"38 GHz"`, `"807 Mbit/s"`, `"1.4 m"`. What `congestion-control`, '
        "`application`, `discipline`, `tcp`, `radio`, `antenna`, `rlc` and the like take is under "
        "[Names and parameters](catalog.md).",
    ]
    parts += table_section("", schema, definitions, level=2)
    return "\n\n".join(parts) + "\n"


def table_section(
    path: str, schema: dict[str, Any], definitions: dict[str, Any], level: int
) -> list[str]:
    """A heading, the keys of one table, and the sections of the tables below it."""
    heading = f"`[{path}]`" if path else "The file"
    parts = [f"{'#' * min(level, 5)} {heading}"]
    if path and "description" in schema:
        parts.append(schema["description"])
    rows, below = [], []
    required = schema.get("required", [])
    for key, entry in schema.get("properties", {}).items():
        entry = resolve(entry, definitions)
        here = f"{path}.{key}" if path else key
        need = "required" if key in required else default_of(entry)
        rows.append(
            [code(key), shape(entry, definitions, code), need, entry.get("description", "")]
        )
        below += nested(here, entry, definitions)
    if rows:
        parts.append(markdown(["key", "value", "default", "meaning"], rows))
    else:
        parts.append("No keys.")
    for here, child in below:
        parts += table_section(here, child, definitions, level + 1)
    return parts


def default_of(entry: dict[str, Any]) -> str:
    """The default as a scenario would write it."""
    if "default" not in entry:
        return ""
    return code(json.dumps(entry["default"], ensure_ascii=False))


def code(text: str) -> str:
    """Text in monospace."""
    return f"`{text}`"


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *([cell(c) for c in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(text: str) -> str:
    """Text that cannot break a table."""
    return text.replace("|", "\\|").replace("\n", " ")
