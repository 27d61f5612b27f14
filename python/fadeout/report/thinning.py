"""Series that are short enough for a page, and still have all peaks and troughs."""

import polars as pl


def thin(rows: pl.DataFrame, value: str, most: int) -> pl.DataFrame:
    """Returns at most about `most` rows of `time_s` and `value`, each a row of the table.

    The time is divided into equal bins. A bin keeps its first row, and the rows with its minimum
    and maximum. So each shown number is a recorded one.
    """
    rows = rows.select("time_s", value).drop_nulls()
    rows = rows.filter(pl.col(value).is_finite()) if rows[value].dtype.is_float() else rows
    if len(rows) <= most:
        return rows
    start, end = float(rows["time_s"][0]), float(rows["time_s"][-1])
    bins = max(1, most // 3)
    width = max((end - start) / bins, 1e-12)
    number = ((pl.col("time_s") - start) / width).floor().cast(pl.Int64)
    numbered = rows.with_row_index("row").with_columns(number.alias("bin"))
    kept = numbered.group_by("bin").agg(
        pl.col("row").first().alias("first"),
        pl.col("row").get(pl.col(value).arg_min()).alias("low"),
        pl.col("row").get(pl.col(value).arg_max()).alias("high"),
    )
    picked = pl.concat(
        [
            kept["first"],
            kept["low"],
            kept["high"],
            pl.Series([len(rows) - 1]).cast(kept["low"].dtype),
        ]
    )
    return rows[picked.unique().sort()]


def broken(rows: pl.DataFrame, value: str, longest_s: float) -> pl.DataFrame:
    """Returns the rows with a NaN after each time without a row that is longer than `longest_s`.

    A NaN is a gap of the line. Apply it after `thin`.
    """
    ends = rows.filter((pl.col("time_s").shift(-1) - pl.col("time_s")) > longest_s)
    if ends.is_empty():
        return rows
    gaps = ends.select(pl.col("time_s") + 1e-9, pl.lit(float("nan")).alias(value))
    rows = rows.with_columns(pl.col(value).cast(pl.Float64))
    return pl.concat([rows, gaps]).sort("time_s", maintain_order=True)


def ended(rows: pl.DataFrame, value: str, end_s: float | None) -> pl.DataFrame:
    """Returns the rows with a NaN at the end of a flow, after which its line stops.

    `end_s` is `None` if the flow did not end.
    """
    if end_s is None or rows.is_empty():
        return rows
    last = max(end_s, float(rows["time_s"][-1])) + 1e-9
    rows = rows.with_columns(pl.col(value).cast(pl.Float64))
    return pl.concat([rows, pl.DataFrame({"time_s": [last], value: [float("nan")]})])
