"""The walk behind a building."""

from statistics import fmean

import polars as pl

from fadeout.results import Results
from fadeout.studies.link_retransmission import figures
from fadeout.studies.link_retransmission.runs import FOLDER, PAGE, Effort
from fadeout.study import Job, Runs, Section

BIN_S = 0.01
"""Length of the bins over which transport blocks are averaged, seconds."""

LINKS = {"phone-mmwave": "28 GHz", "phone-lte": "LTE 2.1 GHz"}
"""Names of each UE's link in tables."""


def section(runs: Runs[Effort]) -> Section:
    """Returns the section on the SINR over time."""
    seeds = runs.effort.walk_seeds
    scenario = FOLDER / "walk.toml"
    jobs = [Job(scenario, seed=seed, with_tables=True) for seed in range(1, seeds + 1)]
    traces = [
        {name: pl.DataFrame(series) for name, series in of_seed.items()}
        for of_seed in runs.each(jobs, sinr)
    ]
    records = []
    for name in LINKS.values():
        drops, losses = [], []
        for of_seed in traces:
            before = within(of_seed[name], 1.0, 2.4)
            after = within(of_seed[name], 2.6, 4.9)
            drops.append(float(before.median()) - float(after.median()))  # pyright: ignore[reportArgumentType]
            losses.append(float(before.median()) - float(after.min()))  # pyright: ignore[reportArgumentType]
        records.append(
            {"link": name, "median_drop_db": fmean(drops), "deepest_db": fmean(losses)}
            | {"seeds": seeds}
        )
    return PAGE.section(
        "walk",
        records,
        figures={"sinr": figures.sinr_over_time(traces[0])},
        bin_ms=1e3 * BIN_S,
        seeds=seeds,
    )


def within(rows: pl.DataFrame, start_s: float, end_s: float) -> pl.Series:
    """Returns the SINR values of a time interval."""
    return rows.filter(pl.col("time_s").is_between(start_s, end_s))["sinr_db"]


def sinr(results: Results) -> dict[str, dict[str, list[float]]]:
    """Returns the mean SINR of each link's downlink in bins, as columns."""
    blocks = results.table("transport_blocks").filter(pl.col("direction") == "downlink")
    time = (pl.col("time_s") / BIN_S).floor() * BIN_S
    return {
        name: blocks.filter(pl.col("ue").cast(pl.String) == ue)
        .group_by(time)
        .agg(pl.col("sinr_db").mean())
        .sort("time_s")
        .to_dict(as_series=False)
        for ue, name in LINKS.items()
    }
