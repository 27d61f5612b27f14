"""Figures of the study."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from fadeout.plot.style import COLUMN_INCHES, PALETTE, legend_above, new_figure
from fadeout.results import Results

AROUND_S = (-0.5, 4.0)
"""Time that is drawn, relative to the handover command, seconds."""


def sequences(runs: Mapping[str, Results]) -> Figure:
    """Draws acknowledged data and retransmissions, with one panel for each run."""
    with new_figure(height=COLUMN_INCHES * 2.2, rows=len(runs), share_x=True) as (figure, axes):
        for ax, (name, results) in zip(axes, runs.items(), strict=True):
            stop_s = results.link_handovers["commanded_s"][0]
            rows = results.congestion.with_columns((pl.col("time_s") - stop_s).alias("t"))
            rows = rows.filter(pl.col("t").is_between(*AROUND_S))
            start = rows["acked_bytes"][0]
            acked = (rows["acked_bytes"] - start) / 1e3
            ax.step(rows["t"], acked, where="post", color=PALETTE[0], label="acknowledged")
            again = results.retransmissions.with_columns((pl.col("time_s") - stop_s).alias("t"))
            again = again.filter(pl.col("t").is_between(*AROUND_S))
            ax.plot(
                again["t"],
                (again["offset_bytes"].cast(pl.Int64) - start) / 1e3,
                "x",
                color=PALETTE[1],
                markersize=3,
                label="sent again",
            )
            ax.axvspan(0, 0.1, color="#cccccc", linewidth=0)
            ax.set_title(name, loc="right", pad=2)
            ax.set_ylabel("Data (kB)")
        axes[0].legend(loc="upper left", frameon=False)
        axes[-1].set_xlabel("Time since the command (s)")
    return figure


def axes(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws the recovery time by rate, with a line for each round trip."""
    with new_figure(height=COLUMN_INCHES * 0.7) as (figure, (ax,)):
        for color, rtt in zip(PALETTE, sorted({r["rtt_ms"] for r in records}), strict=False):
            rows = [r for r in records if r["rtt_ms"] == rtt]
            x, y = [r["rate_mbps"] for r in rows], [r["time_s"].mean for r in rows]
            ax.plot(x, y, "o-", color=color, markersize=3, label=f"{rtt:g} ms")
        ax.set_xscale("log")
        ax.set_xlabel("Rate (Mbit/s)")
        ax.set_ylabel("Recovery time (s)")
        ax.set_ylim(bottom=0)
        legend_above(ax, columns=3)
    return figure
