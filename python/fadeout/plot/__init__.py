"""Figures of a run, sized for a column of a paper and readable in grey.

`results.plot.congestion()` and the other methods each return a matplotlib Figure. They open no
window and change no global state. Save a figure with `figure.savefig("cwnd.pdf")`. A notebook shows
it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fadeout import _names, _native
from fadeout._figures import FIGURES
from fadeout._native import ResultError
from fadeout._overview import stamp
from fadeout._quantities import seconds
from fadeout.plot import datagrams, drive, legs, mobility, panels, radio, timeline
from fadeout.plot import map as network
from fadeout.plot.style import COLUMN_INCHES, Shown, new_figure, sign

if TYPE_CHECKING:
    from fadeout.results import Results

__all__ = ["Plots"]

NAMES = tuple(FIGURES)
"""The figures."""

CHANGE_TIMES = ("triggered_s", "left_s", "entered_s", "completed_s", "switched_s")
"""Steps of a change of cell in the table `handovers`."""

LINK_CHANGE_TIMES = ("decided_s", "bicast_s", "resumed_s", "switched_s", "end_marker_s")
"""Steps of a change of link in the table `link_handovers`."""

Size = tuple[float, float]
"""Width and height in inches."""


class Plots:
    """Draws the figures of one run.

    Each method returns a matplotlib Figure, whose `axes`, lines and texts can be changed before it
    is saved. All take

    - `ax`: existing axes to draw into, one for each panel. Their figure is returned. It has a title
      only if `title` is given.
    - `size`: width and height in inches, in place of a column of a paper.
    - `title`: a title in place of the scenario's. An empty one leaves it out.

    Methods that draw flows also take `flows`, a list of their names. By default as many are drawn
    as can be told apart, and the legend gives the number of all. The time axis ends with the
    traffic.

    Raises:
        ResultError: the run did not record the tables of the figure, or has no such flow.
        ValueError: a time is not valid, or the number of `ax` is not that of panels.
    """

    def __init__(self, results: "Results") -> None:
        self._results = results

    def congestion(
        self,
        *,
        flows: Sequence[str] | None = None,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws congestion window and slow-start threshold, with retransmission timeouts marked.

        A multipath flow has a line for each path.
        """
        return self._draw([panels.CONGESTION], flows, ax, size, title)

    def throughput(
        self,
        window: str | float = "100 ms",
        *,
        flows: Sequence[str] | None = None,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the rate at which data reached each application, averaged over `window`.

        `window` is a number of seconds, or text such as "100 ms".
        """
        return self._draw([panels.throughput(window)], flows, ax, size, title)

    def rtt(
        self,
        *,
        flows: Sequence[str] | None = None,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws round-trip times of each path of a flow: samples and the smoothed estimate."""
        return self._draw([panels.RTT], flows, ax, size, title)

    def queue(
        self,
        *,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Packets queued at each link, with drops marked."""
        return self._draw([panels.QUEUE], None, ax, size, title)

    def sinr(
        self,
        *,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the signal to interference and noise ratio of each UE's transport blocks."""
        return self._draw([radio.SINR], None, ax, size, title)

    def buffer(
        self,
        *,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Bytes that wait in the RLC buffer of each bearer."""
        return self._draw([radio.BUFFER], None, ax, size, title)

    def delay(
        self,
        *,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Parts of the delay of packets on radio bearers, stacked.

        Two panels: downlink and uplink.
        """
        self._results.scan("radio_delay")  # Raises if the run did not record it.
        return self._draw(list(radio.DELAY), None, ax, size, title)

    def legs(
        self,
        ue: str | None = None,
        *,
        shares: bool = False,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Rates of the legs of a UE's bearer over time, stacked.

        Two panels: downlink and uplink, as rates, or with `shares` as shares of the received data.
        The legend has each leg's share of the packets that PDCP gave to legs, its copies, and the
        discarded packets. Legs over carriers are named by their cells. Default of `ue`: the first
        UE with a split bearer. `fadeout.leg_shares` returns the same data as a table.
        """
        self._results.scan("transport_blocks")  # Raises if the run did not record it.
        rows = self._results.legs
        owner = pl.col("bearer").str.split("/").list.first()
        ues = rows.select(owner.unique(maintain_order=True)).to_series().to_list()
        if not ues:
            message = (
                "no bearer of this run is split: give a UE a `split`, and a `pscell` or `carriers`"
            )
            raise ResultError(message)
        if ue is not None and ue not in ues:
            raise ResultError(_names.unknown("UE with a split bearer", ue, ues))
        name = ues[0] if ue is None else ue
        rows = rows.filter(owner == name)
        drawn = [
            legs.panel(name, direction, rows, is_share=shares)
            for direction in ("downlink", "uplink")
        ]
        return self._draw(drawn, None, ax, size, title)

    def datagrams(
        self,
        *,
        flows: Sequence[str] | None = None,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws UDP flows over time: one-way delay, missing datagrams, gap before each arrival.

        Three panels. The answers of an echo have a line of their own.
        """
        self._results.scan("datagrams")  # Raises if the run did not record it.
        drawn = [datagrams.DELAY, datagrams.LOST, datagrams.GAP]
        return self._draw(drawn, flows, ax, size, title)

    def latency(
        self,
        *,
        flows: Sequence[str] | None = None,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the distributions of UDP datagram delays and echo round-trip times."""
        return self._draw([datagrams.DISTRIBUTION], flows, ax, size, title)

    def handover(
        self,
        number: int | None = None,
        around: str | float = "500 ms",
        *,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Changes of cell of a UE, and the response of TCP, above a common time axis.

        The panels are the RSRP of each cell, steps of RRC, congestion window and round-trip time.
        Steps are on lanes of core, target, source and UE. The time in which the UE was in no cell
        is grey. `number` selects a change of cell, counted from zero in the table `handovers`, with
        the time `around` before and after it.

        For handovers between links, in the table `link_handovers`, the steps are on lanes of
        anchor, target and source. The other panels are forwarded packets, sequence numbers, window
        and round-trip time.

        A UE with several legs may stay in its master's cell. It then has a lane, and each leg has
        one that is coloured while the leg carries data. The lanes show failures of the secondary
        leg, and when the master's base station learnt of them. `number` then selects a failure, or
        a row of `secondary_changes` if the secondary node changes.
        """
        stays = not self._results.has_table("handovers") or (
            self._results.has_table("secondary_changes")
            and len(self._results.table("handovers")) == 0
        )
        if stays and len(self._results.legs) > 0:
            return self._two_legs(number, seconds(around), ax, size, title)
        is_of_links = self._results.has_table("link_handovers")
        changes = self._results.table("link_handovers" if is_of_links else "handovers")
        window = None
        if number is not None:
            if not 0 <= number < len(changes):
                raise ValueError(f"there are {len(changes)} changes of cell; got number {number}")
            row = changes.row(number, named=True)
            steps = LINK_CHANGE_TIMES if is_of_links else CHANGE_TIMES
            times = [row[key] for key in steps if row[key] == row[key]]
            margin = seconds(around)
            window = (max(min(times) - margin, 0.0), max(times) + margin)
        tcp = [panels.CONGESTION, panels.RTT] if len(self._results.congestion) else []
        drawn = [mobility.LEVELS, mobility.LANE, *tcp]
        if is_of_links:
            drawn = [mobility.LINK_LANE, mobility.SEQUENCE, *tcp]
        return self._draw(drawn, None, ax, size, title, window)

    def _two_legs(
        self,
        number: int | None,
        around_s: float,
        ax: Sequence[Axes] | None,
        size: Size | None,
        title: str | None,
    ) -> Figure:
        self._results.scan("transport_blocks")  # Raises if the run did not record it.
        owner = pl.col("bearer").str.split("/").list.first().alias("ue")
        rows = self._results.legs.with_columns(owner)
        ue = rows["ue"][0]
        rows = rows.filter(pl.col("ue") == ue)
        window = None
        if number is not None and self._results.has_table("secondary_changes"):
            changes = self._results.table("secondary_changes")
            if not 0 <= number < len(changes):
                message = (
                    f"there are {len(changes)} changes of a secondary node; got number {number}"
                )
                raise ValueError(message)
            ends = changes.select("triggered_s", "time_s").row(number)
            window = (max(ends[0] - around_s, 0.0), ends[1] + around_s)
        elif number is not None:
            steps = self._results.rrc.with_columns(pl.col("ue", "event").cast(pl.String))
            failures = steps.filter(ue=ue, event="secondary-failed")["time_s"]
            if not 0 <= number < len(failures):
                message = f"there are {len(failures)} failures of a leg; got number {number}"
                raise ValueError(message)
            window = (max(failures[number] - around_s, 0.0), failures[number] + around_s)
        cells = rows["cell"].unique(maintain_order=True).to_list()
        drawn = [legs.lanes(ue, cells), legs.panel(ue, "downlink", rows)]
        if len(self._results.congestion):
            drawn += [panels.CONGESTION, panels.RTT]
        return self._draw(drawn, None, ax, size, title, window)

    def completions(
        self,
        *,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the share of each group's flows that completed within a time."""
        return self._draw([panels.COMPLETIONS], None, ax, size, title)

    def map(
        self,
        *,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the network from above: sites with the directions of their sectors, UEs, buildings.

        UEs are drawn at their start, in the colour of the cell that serves them at the end of the
        run. With vehicles, the trajectory of each UE is drawn in the colours of its serving cells,
        with beams at four times. A trajectory is underlaid where a vehicle or building obstructs
        the path to the serving cell, or where the beam points elsewhere. A road that is far longer
        than wide is drawn wider.
        """
        found = self._places()
        if not found.is_a_map:
            raise _native.ResultError(
                "this run has no radio access with places, so there is no map"
            )
        interfaces = self._results.interfaces
        names = (one.rpartition("/")[0] or one for one in interfaces["interface"].to_list())
        serving = dict(zip(names, interfaces["cell"].to_list(), strict=True))
        driven = drive.drive(self._results)

        def draw(on: Axes) -> None:
            if driven is None:
                network.draw(on, found, serving)
                return
            handles = drive.handles(driven)
            everybody = driven.on(found)
            seen = dict.fromkeys(driven.steps["cell"].drop_nulls().to_list())
            colors = network.draw(on, everybody, serving, handles, heard=list(seen))
            drive.draw(on, driven, colors)

        if ax is not None:
            draw(ax)
            if title is not None:
                ax.set_title(title, pad=6 + 11 * _legend_lines(ax), loc="left")
            return _figure_of([ax])
        is_long = driven is not None and network.stretch(driven.on(found)) > 1.0
        columns, rows = (2.0, 0.9) if is_long else (1.0, 1.0 if driven is None else 1.1)
        width, height = size or (columns * COLUMN_INCHES, rows * COLUMN_INCHES)
        with new_figure(height=height, width=width) as (figure, axes):
            draw(axes[0])
            sign(figure, self._results.title if title is None else title, stamp(self._results))
        return figure

    def _places(self) -> network.Places:
        return network.places(self._results.manifest.get("scenario", {}))

    def drive(
        self,
        ue: str | None = None,
        window: str | float = "100 ms",
        *,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the time line of one UE: SINR, serving cell and beam, losses, window, goodput.

        The times of a blocked path are shaded by cause, as in `fadeout.drives`. Default of `ue`:
        the UE whose path is blocked longest. Without recorded transport blocks, the SINR is the SNR
        without fading and interference.
        """
        line = timeline.Timeline(self._results, ue)
        drawn = line.panels(window)
        if title is None:
            own = self._results.title
            title = f"{own}: {line.ue}" if own else line.ue
        if ax is None and size is None:
            size = (2 * COLUMN_INCHES, 0.36 * COLUMN_INCHES * len(drawn) + 0.5)
        return self._draw(drawn, line.flows or None, ax, size, title)

    def overview(
        self,
        window: str | float = "100 ms",
        *,
        flows: Sequence[str] | None = None,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws throughput, congestion window, round-trip time and queue above a common time axis.

        With a radio access the queue is the RLC buffer. A panel whose data were not recorded is
        left out.
        """
        queue = radio.BUFFER if self._results.has_table("bearers") else panels.QUEUE
        drawn = [panels.throughput(window), panels.CONGESTION, panels.RTT, queue]
        return self._draw(drawn, flows, ax, size, title)

    def available(self) -> list[str]:
        """Returns the figures for which this run has the tables."""
        needs = {
            "throughput": "throughput",
            "queue": "queues",
            "sinr": "transport_blocks",
            "buffer": "bearers",
            "delay": "radio_delay",
            "handover": "handovers",
            "datagrams": "datagrams",
            "latency": "datagrams",
        }

        def is_available(name: str) -> bool:
            if name == "completions":
                # The distribution of a single time says nothing.
                return len(self._results.completions) > 1
            if name == "legs":
                has_blocks = self._results.has_table("transport_blocks")
                return has_blocks and len(self._results.legs) > 0
            if name == "map":
                return self._places().is_a_map
            if name == "drive":
                return bool(self._results.manifest.get("scenario", {}).get("vehicles")) and (
                    self._places().is_a_map
                )
            if name == "handover" and self._results.has_table("link_handovers"):
                return True
            return name == "overview" or self._results.has_table(needs.get(name, "congestion"))

        return [name for name in NAMES if is_available(name)]

    def save(
        self,
        folder: str | Path,
        names: Sequence[str] | None = None,
        format: str = "png",  # noqa: A002
    ) -> list[Path]:
        """Writes the figures called `names`, or all available ones. Returns their paths.

        Raises:
            ValueError: there is no figure with that name.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in self.available() if names is None else names:
            if name not in NAMES:
                raise ValueError(_names.unknown("figure", name, NAMES))
            path = folder / f"{name}.{format}"
            # Written under another name and renamed, so that an interruption leaves no half figure.
            partial = folder / f".{name}.partial"
            try:
                figure = getattr(self, name)()
                figure.savefig(partial, format=format, metadata=self._metadata(format))
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
            paths.append(path)
        return paths

    def _draw(
        self,
        drawn: Sequence[panels.Panel],
        flows: Sequence[str] | None,
        ax: Axes | Sequence[Axes] | None,
        size: Size | None,
        title: str | None,
        window: tuple[float, float] | None = None,
    ) -> Figure:
        if len(drawn) > 1:
            drawn = [panel for panel in drawn if self._results.has_table(panel.table)]
        if ax is not None:
            given = [ax] if isinstance(ax, Axes) else list(ax)
            if len(given) != len(drawn):
                raise ValueError(f"this figure has {len(drawn)} panels; `ax` has {len(given)} axes")
            self._fill(drawn, given, flows, window)
            if title is not None and given:
                # The padding puts the title above the legend.
                given[0].set_title(title, pad=6 + 11 * _legend_lines(given[0]), loc="left")
            return _figure_of(given)
        height = COLUMN_INCHES * (0.72 if len(drawn) == 1 else 0.5 * max(len(drawn), 1) + 0.08)
        width, height = size or (COLUMN_INCHES, height)
        rows = max(len(drawn), 1)
        with new_figure(height=height, width=width, rows=rows) as (figure, axes):
            self._fill(drawn, axes, flows, window)
            figure.align_ylabels()
            sign(figure, self._results.title if title is None else title, stamp(self._results))
        return figure

    def _fill(
        self,
        drawn: Sequence[panels.Panel],
        axes: Sequence[Axes],
        flows: Sequence[str] | None,
        window: tuple[float, float] | None,
    ) -> None:
        shown: Shown = set()
        for number, (panel, ax) in enumerate(zip(drawn, axes, strict=False)):
            is_first, is_last = number == 0, number == len(drawn) - 1
            canvas = panels.Canvas(ax, self._results, flows, is_first, is_last, shown)
            canvas.window = window
            panel.draw(canvas)

    def _metadata(self, format: str) -> dict[str, str]:  # noqa: A002
        """Returns the metadata of a file, in the words of its format."""
        about = {"pdf": "Subject", "png": "Description", "svg": "Description"}
        if format not in about:
            return {}
        title = self._results.title
        return ({"Title": title} if title else {}) | {about[format]: stamp(self._results)}

    def __repr__(self) -> str:
        return f"<Plots {', '.join(self.available())}>"

    def _repr_png_(self) -> bytes:
        return self.overview()._repr_png_()  # type: ignore[attr-defined]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(_names.unknown("figure", name, NAMES))


def _figure_of(axes: Sequence[Axes]) -> Figure:
    figure = axes[0].get_figure(root=True) if axes else Figure()
    assert figure is not None, "axes that can be drawn into are part of a figure"
    return figure


def _legend_lines(ax: Axes) -> int:
    legend = ax.get_legend()
    if legend is None:
        return 0
    columns = getattr(legend, "_ncols", 1)
    return -(-len(legend.get_texts()) // columns) + bool(legend.get_title().get_text())
