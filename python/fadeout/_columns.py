"""What is known of each table before there is one: its columns, their units and meaning."""

import json
from functools import cache
from typing import Any

from fadeout import _native


@cache
def all_table_docs() -> dict[str, dict[str, Any]]:
    """Every table by name: those of results, and those of a scenario that is not run."""
    return {table["name"]: table for table in json.loads(_native.tables())}


@cache
def table_docs() -> dict[str, dict[str, Any]]:
    """Every table of results: where its rows lie, what they are, its columns and their units."""
    return {name: table for name, table in all_table_docs().items() if table["of"] == "run"}
