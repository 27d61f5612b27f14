"""Reader of the table of an archive's runs, as a program of its own.

A file that only looks like Parquet may take any memory, or end the process that decodes it. So this
file is run by its path, and imports nothing of fadeout.
"""

import sys

COLUMNS = ("point", "seed", "fingerprint")
"""Names of the columns that are read."""


def main(path: str, most_rows: int, most_bytes: int) -> None:
    """Writes the columns as CSV to standard output, or the mistake to standard error.

    Args:
        path: the Parquet file.
        most_rows: largest number of rows.
        most_bytes: largest address space for reading, in bytes.
    """
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    import polars as pl

    schema = dict(zip(COLUMNS, (pl.String, pl.Int64, pl.String), strict=True))
    try:
        frame = pl.read_parquet(path, columns=list(COLUMNS), n_rows=most_rows + 1)
    except (pl.exceptions.PolarsError, OSError, ValueError, MemoryError) as error:
        sys.exit(str(error).partition("\n")[0])
    if dict(frame.schema) != schema or sum(frame.null_count().row(0)):
        sys.exit("expected a point, a seed and a fingerprint in each row")
    if len(frame) > most_rows:
        sys.exit(f"it has more rows than the campaign has runs, {most_rows:,}")
    sys.stdout.write(frame.write_csv())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
