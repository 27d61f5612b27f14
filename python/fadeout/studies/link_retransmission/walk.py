"""The walk behind a building."""

from pathlib import Path
from statistics import fmean

import polars as pl

from fadeout.results import Results
from fadeout.studies.link_retransmission import figures
from fadeout.studies.link_retransmission.runs import Effort
from fadeout.study import Job, Runs, Section, Table

BIN_S = 0.01
"""Length of the bins over which transport blocks are averaged, seconds."""

LINKS = {"phone-mmwave": "28 GHz", "phone-lte": "LTE 2.1 GHz"}
"""Names of each UE's link in tables."""


def section(runs: Runs[Effort]) -> Section:
    """Returns the section on the SINR over time."""
    seeds = runs.effort.walk_seeds
    scenario = Path(__file__).parent / "walk.toml"
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
    return Section(
        name="walk",
        title="SINR of a walk behind a building",
        text=(
            "The UE walks from (45 m, 0) to (55 m, 0) at 2 m/s, and the antennas are at (75 m, "
            "50 m). From the middle of the walk on, a building is between them. *Drop*: "
            "difference between the median SINR in LOS and the median SINR behind the building. "
            "*Deepest*: difference between the median SINR in LOS and the lowest mean over "
            f"{1e3 * BIN_S:g} ms. The values are means of {seeds} seeds. The paper has a drop of "
            "10 to 15 dB for LTE, and says that the drop at 28 GHz may exceed 30 dB."
        ),
        table=Table.of(
            records,
            {
                "link": "{link}",
                "drop dB": "{median_drop_db:.1f}",
                "deepest dB": "{deepest_db:.1f}",
            },
        ),
        figures={
            "SINR of the transport blocks in one run, as means over 10 ms (the paper's Figure "
            "1).": (figures.sinr_over_time(traces[0]))
        },
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
