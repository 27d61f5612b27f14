"""What is known of each table before there is one: its columns, their units and meaning."""

import json
from functools import cache
from typing import Any

from fadeout import _native


@cache
def table_docs() -> dict[str, dict[str, Any]]:
    """Every table by name: where its rows lie, what they are, its columns with unit and meaning."""
    return {table["name"]: table for table in json.loads(_native.tables())}
