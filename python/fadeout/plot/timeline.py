"""Time line of one car: signal, serving cell, beam, obstacles, window and goodput."""

import math
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes

from fadeout import _names, drives
from fadeout._native import ResultError
from fadeout.plot.cells import cell_colors
from fadeout.plot.panels import CONGESTION, Canvas, Panel, throughput
from fadeout.plot.radio import SINR_BINS, percentiles
from fadeout.plot.style import BLACK, BLUE, BROWN, GREEN, PURPLE, SKY, STAMP, VERMILION

if TYPE_CHECKING:
    from fadeout.results import Results

SHADES = {
    "handover": (STAMP, 0.35, "no cell"),
    "blockage": (VERMILION, 0.18, "vehicle in the way"),
    "building": (BROWN, 0.3, "behind a building"),
    "misalignment": (PURPLE, 0.25, "beam beside"),
    "deafness": (SKY, 0.35, "deaf"),
}
"""Colour, opacity and label of the times in which a cause blocks the path."""

DEEPEST_DB = 60.0
"""Largest loss that is drawn. Larger losses do not matter, as the path carries nothing."""


LEAST_DB = 1.0
"""Causes whose loss never reaches this value are not drawn."""


class Timeline:
    """The panels of one UE."""

    def __init__(self, results: "Results", ue: str | None) -> None:
        way = drives.way(results)
        known = way.steps["ue"].unique(maintain_order=True).to_list()
        if ue is not None and ue not in known:
            raise ResultError(_names.unknown("UE", ue, known))
        self.ue = ue or _most_cut(way.steps)
        self.own = way.steps.filter(pl.col("ue") == self.ue)
        self.every_s = way.every_s
        of = drives.flows_of(results)
        self.flows = [flow for flow, its in of.items() if its == self.ue]
        self.cells = list(results.manifest["scenario"]["cell"])
        self.has_blocks = results.has_table("transport_blocks")

    def panels(self, window: str | float) -> list[Panel]:
        """Returns the panels from top to bottom."""
        # The first panels need no recorded table, so they name `flows`, which every run has.
        drawn = [
            Panel(self._signal, "flows"),
            Panel(self._units, "flows"),
            Panel(self._beam, "flows"),
            Panel(self._losses, "flows"),
        ]
        if self.own["beam_deg"].null_count() == len(self.own):
            del drawn[2]
        if self.flows:
            drawn += [self._shaded(CONGESTION), self._shaded(throughput(window))]
        return drawn

    def _shaded(self, panel: Panel) -> Panel:
        def draw(canvas: Canvas) -> None:
            self._shade(canvas.ax)
            panel.draw(canvas)

        return Panel(draw, panel.table, panel.finds_data, panel.reason)

    def _shade(self, ax: Axes, *, label: bool = False) -> None:
        """Shades the times in which something blocks the path."""
        is_building = (pl.col("cause") == "blockage") & pl.col("behind_building")
        own = self.own.with_columns(
            pl.when(is_building).then(pl.lit("building")).otherwise("cause").alias("cause")
        )
        own = own.select("time_s", pl.col("cause"), pl.col("cause").rle_id().alias("piece"))
        named: set[str] = set()
        for (_,), piece in own.group_by("piece", maintain_order=True):
            cause = piece["cause"][0]
            if cause is None:
                continue
            color, alpha, name = SHADES[cause]
            start, end = piece["time_s"][0], piece["time_s"][-1] + self.every_s
            ax.axvspan(
                start,
                end,
                color=color,
                alpha=alpha,
                linewidth=0,
                zorder=0,
                label=name if label and name not in named else None,
            )
            named.add(name)

    def _signal(self, canvas: Canvas) -> None:
        """Draws the SINR of transport blocks, or the SNR without fading if they were not
        recorded.
        """
        self._shade(canvas.ax, label=True)
        if self.has_blocks:
            blocks = canvas.read("transport_blocks", "time_s", "ue", "direction", "sinr_db")
            blocks = blocks.filter(
                (pl.col("ue").cast(pl.String) == self.ue)
                & (pl.col("direction").cast(pl.String) == "downlink")
            ).select("time_s", "sinr_db")
            if len(blocks):
                bins = percentiles(blocks, canvas.end_s / SINR_BINS)
                canvas.ax.plot(bins["time_s"], bins["median"], color=BLUE, label="SINR")
                canvas.ax.fill_between(
                    bins["time_s"], bins["low"], bins["high"], color=BLUE, alpha=0.25, linewidth=0
                )
        else:
            line = self.own.with_columns(
                pl.when(pl.col("snr_db") > -DEEPEST_DB).then("snr_db").alias("snr_db")
            )
            canvas.ax.plot(line["time_s"], line["snr_db"], color=BLUE, label="SNR without fading")
        canvas.finish_x("SINR (dB)" if self.has_blocks else "SNR (dB)", columns=3)

    def _units(self, canvas: Canvas) -> None:
        """Draws the cell that serves the UE over time."""
        self._shade(canvas.ax)
        served = set(self.own["cell"].drop_nulls())
        names = [name for name in self.cells if name in served]
        palette = cell_colors(canvas.results)
        own = self.own.select("time_s", "cell").with_columns(pl.col("cell").rle_id().alias("piece"))
        for (_,), piece in own.group_by("piece", maintain_order=True):
            cell = piece["cell"][0]
            if cell is None:
                continue
            start, end = piece["time_s"][0], piece["time_s"][-1] + self.every_s
            height = names.index(cell)
            canvas.ax.plot(
                [start, end],
                [height, height],
                color=palette.get(cell, BLACK),
                linewidth=3,
                solid_capstyle="butt",
            )
        canvas.finish_x("Unit")
        canvas.ax.set_yticks(range(len(names)), names, fontsize=6 if len(names) <= 6 else 4)
        canvas.ax.set_ylim(-0.6, max(len(names), 1) - 0.4)

    def _beam(self, canvas: Canvas) -> None:
        """Draws the direction of the serving cell's beam."""
        self._shade(canvas.ax)
        points = self.own.select("time_s", "cell", "beam_deg").rows()
        times: list[float] = []
        angles: list[float] = []
        last: tuple[str | None, float] = (None, math.nan)
        for time, cell, angle in points:
            if angle is None:
                angle = math.nan
            # The line is interrupted at a change of cell, and at the jump from 180 to -180 degrees.
            if cell != last[0] or abs(angle - last[1]) > 180:
                times.append(time)
                angles.append(math.nan)
            times.append(time)
            angles.append(angle)
            last = (cell, angle)
        canvas.ax.plot(times, angles, color=BLACK, drawstyle="steps-post", label="beam")
        canvas.finish_x("Beam (°)")
        legend = canvas.ax.get_legend()
        if legend is not None:
            legend.remove()
        canvas.ax.set_ylim(-190, 190)
        canvas.ax.set_yticks([-180, -90, 0, 90, 180])

    def _losses(self, canvas: Canvas) -> None:
        """Draws the losses of the direct path by cause."""
        self._shade(canvas.ax)
        lines = (
            ("vehicles_db", "vehicles", VERMILION),
            ("foliage_db", "foliage", GREEN),
            ("blockage_db", "blockage", BLACK),
            ("misalignment_db", "misalignment", PURPLE),
            ("deafness_db", "deafness", SKY),
        )
        for key, name, color in lines:
            if (self.own[key] >= LEAST_DB).any():
                deep = self.own[key].clip(0, DEEPEST_DB)
                canvas.ax.plot(self.own["time_s"], deep, color=color, linewidth=0.8, label=name)
        canvas.finish("Loss (dB)")


def _most_cut(steps: pl.DataFrame) -> str:
    """Returns the first of the UEs whose path is blocked longest."""
    cut = steps.group_by("ue", maintain_order=True).agg(pl.col("cause").is_not_null().sum())
    return str(cut.sort("cause", descending=True, maintain_order=True)["ue"][0])
