"""Writes the tables of measured values of `fadeout validate measured` from the data sets.

    python tools/measured_tables.py FOLDER           write tables.csv
    python tools/measured_tables.py FOLDER --check   fail if tables.csv differs

FOLDER contains a copy of each data set as OWNER/NAME. Only data sets whose licence allows derived
tables are written (`stores = "tables"` in sources.toml).
"""

import argparse
import csv
import io
import sys
from pathlib import Path

from fadeout._native import FadeoutError
from fadeout.validate.measured import artefacts, model

HEAD = (
    "# Quantiles of measured values, written by tools/measured_tables.py from the data sets in\n"
    '# sources.toml with `stores = "tables"`. Sources and licences:\n'
)


def main() -> int:
    """Writes or checks the tables. Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder with copies of the data sets")
    parser.add_argument("--check", action="store_true", help="fail if the file differs")
    given = parser.parse_args()
    try:
        text = tables(given.folder)
    except FadeoutError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not given.check:
        model.TABLES.write_text(text, encoding="utf-8")
        return 0
    if model.TABLES.read_text(encoding="utf-8") == text:
        return 0
    print(f"error: {model.TABLES} is not what the data sets give", file=sys.stderr)
    return 1


def tables(folder: Path) -> str:
    """Returns the text of the tables.

    Raises:
        FadeoutError: a copy of a data set is missing, or not as expected.
    """
    head = HEAD
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(model.COLUMNS)
    for name in model.names():
        entry = model.load(name, {})
        if entry.source.stores != "tables":
            continue
        source = entry.source
        place = f"{source.address}, {source.commit[:12]}"
        head += f"# {name}: {source.title}; {place}; {source.licence}\n"
        for point, references in artefacts.derive(entry, folder).items():
            for found in references:
                values = (found.p10, found.median, found.p90)
                cells = ["" if value is None else f"{value:.4g}" for value in values]
                writer.writerow([name, point, found.half, found.count, *cells])
    return head + out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
