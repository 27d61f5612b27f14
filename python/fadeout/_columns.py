"""The definitions of all tables: their columns, units and meaning."""

import json
from functools import cache
from typing import Any

from fadeout import _native


@cache
def all_table_docs() -> dict[str, dict[str, Any]]:
    """Returns every table by name: tables of results, and tables of a scenario that need no run."""
    return {table["name"]: table for table in json.loads(_native.tables())}


@cache
def table_docs() -> dict[str, dict[str, Any]]:
    """Returns every table of results: the place of its rows, its columns and their units."""
    return {name: table for name, table in all_table_docs().items() if table["of"] == "run"}
