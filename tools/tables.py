"""The tables of results as attributes: python/fadeout/_tables.py.

Written from the tables that the built package has, whose documentation is that of the row structs.
Without arguments the file is written anew; `--check` changes nothing and fails where it would.
"""

import argparse
import sys
import textwrap
from pathlib import Path

from fadeout._columns import table_docs

FILE = Path(__file__).resolve().parent.parent / "python" / "fadeout" / "_tables.py"
WIDTH = 100

HEAD = '''\
"""The tables of results as attributes, so that an editor knows them; `make tables` writes this."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class TableAttributes:
    """Each table of `Results`."""

    def table(self, name: str) -> "pl.DataFrame":
        """The table called `name`."""
        raise NotImplementedError
'''


def docstring(doc: str) -> str:
    """A docstring of these words, in lines that fit."""
    indent = " " * 8
    one_line = f'{indent}"""{doc}"""'
    if len(one_line) <= WIDTH:
        return one_line
    # The formatter joins words that fit in one line without their closing quotes.
    width = WIDTH if len(one_line) > WIDTH + 3 else WIDTH - 3
    lines = textwrap.wrap(f'"""{doc}', width, initial_indent=indent, subsequent_indent=indent)
    return "\n".join([*lines, f'{indent}"""'])


def attribute(name: str, doc: str) -> str:
    """A table as an attribute."""
    return f"""
    @property
    def {name}(self) -> "pl.DataFrame":
{docstring(doc)}
        return self.table("{name}")
"""


def module() -> str:
    """The file's text."""
    tables = table_docs().items()
    return HEAD + "".join(attribute(name, table["doc"]) for name, table in tables)


def main() -> None:
    """Write or check the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where the file is another")
    is_check = parser.parse_args().check
    text = module()
    if is_check:
        sys.exit(FILE.read_text() != text and f"{FILE.name} is not up to date: run `make tables`")
    FILE.write_text(text)


if __name__ == "__main__":
    main()
