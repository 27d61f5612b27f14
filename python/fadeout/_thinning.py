"""Series that are short enough to draw, and still have all peaks, troughs and gaps."""

import polars as pl

POINTS_OF_A_BIN = 4
"""Rows that a bin keeps: the first, the last, the minimum and the maximum."""

RATE_OF_A_GAP = 5.0
"""Ratio of the shortest gap to the usual time between two rows."""


def thin(rows: pl.DataFrame, value: str, most: int) -> pl.DataFrame:
    """Returns at most about `most` rows of `time_s` and `value`, each a row of the table.

    The time is divided into equal bins. A bin keeps its first and last rows, and the rows with its
    minimum and maximum. So each shown number is a recorded one, and a value that holds until the
    next row is the right one. Values that are null or not finite become one NaN, a gap of the line.
    A gap at the start is left out.
    """
    rows = with_gaps(rows.select("time_s", value), value)
    if len(rows) <= most:
        return rows
    start, end = float(rows["time_s"][0]), float(rows["time_s"][-1])
    width = max((end - start) / max(1, most // POINTS_OF_A_BIN), 1e-12)
    number = ((pl.col("time_s") - start) / width).floor().cast(pl.Int64)
    is_float = rows[value].dtype.is_float()
    known = pl.col(value).fill_nan(None) if is_float else pl.col(value)
    numbered = rows.with_row_index("row").with_columns(number.alias("bin"), known.alias("known"))
    row = pl.col("row")
    kept = numbered.group_by("bin").agg(
        row.first().alias("first"),
        row.last().alias("last"),
        row.get(pl.col("known").arg_min()).alias("low"),
        row.get(pl.col("known").arg_max()).alias("high"),
    )
    gaps = numbered.filter(pl.col("known").is_null())["row"]
    picked = pl.concat([*(kept[name] for name in ("first", "last", "low", "high")), gaps])
    return rows[picked.drop_nulls().unique().sort()]


def with_gaps(rows: pl.DataFrame, value: str) -> pl.DataFrame:
    """Returns the rows with a NaN in place of each run of values that are null or not finite."""
    is_float = rows[value].dtype.is_float()
    if not is_float and rows[value].null_count() == 0:
        return rows
    rows = rows.with_columns(pl.col(value).cast(pl.Float64))
    is_gap = ~pl.col(value).is_finite().fill_null(value=False)
    rows = rows.with_columns(pl.when(~is_gap).then(value).otherwise(float("nan")).alias(value))
    return rows.filter(~is_gap | ~is_gap.shift(1, fill_value=True))


def broken(
    rows: pl.DataFrame, value: str, longest_s: float, end_s: float | None = None
) -> pl.DataFrame:
    """Returns the rows with a NaN at the start of each time without rows that exceeds `longest_s`.

    A NaN is a gap of the line. If rows are usually further apart, a gap is five times as long as
    the usual time between rows. With `end_s`, the time from the last row to `end_s` counts, too.
    Apply it before `thin`.
    """
    usual_s = rows["time_s"].diff().quantile(0.25, "lower") or 0.0
    apart = pl.col("time_s").shift(-1, fill_value=end_s) - pl.col("time_s")
    ends = rows.filter(apart > max(longest_s, RATE_OF_A_GAP * usual_s))
    if ends.is_empty():
        return rows
    rows = rows.with_columns(pl.col(value).cast(pl.Float64))
    gaps = ends.with_columns(pl.col("time_s") + 1e-9, pl.lit(float("nan")).alias(value))
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
