"""Figures of a run, sized for a column of a paper and readable in grey.

`results.plot.congestion()` and the other methods each return a matplotlib Figure. They open no
window and change no global state. Save a figure with `figure.savefig("cwnd.pdf")`. A notebook shows
it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fadeout import _names, _native, drives
from fadeout._figures import FIGURES
from fadeout._files import new_file
from fadeout._native import ResultError
from fadeout._overview import stamp
from fadeout._quantities import seconds
from fadeout.plot import (
    cells,
    datagrams,
    drive,
    handover,
    legs,
    panels,
    radio,
    timeline,
    trajectories,
    walls,
)
from fadeout.plot import map as network
from fadeout.plot.handover import Number as ChangeNumber
from fadeout.plot.style import COLUMN_INCHES, Shown, new_figure, sign

if TYPE_CHECKING:
    from fadeout.results import Results

__all__ = ["Plots"]

NAMES = tuple(FIGURES)
"""The figures."""

MOST_PAGES = 4
"""Largest number of changes of cell that `save` draws, each in its own figure."""

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
        number: ChangeNumber = None,
        around: str | float | None = None,
        *,
        ax: Sequence[Axes] | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws one change of cell of a UE, and the response of TCP, above a common time axis.

        The panels are the RSRP of each cell, the swimlane, congestion window and round-trip time.
        The swimlane has lanes of core, target, source and UE. Dots are steps of RRC, arrows are
        messages, and bars below are the durations of the phases. The time in which the UE was in no
        cell is grey. Only the flows of this UE are drawn.

        `number` counts the rows of the table `handovers` from zero. By default it is the first.
        `"all"` draws the whole run, without arrows and durations. `around` is the time before and
        after the change, by default half its duration.

        For handovers between links, in the table `link_handovers`, the lanes are anchor, target
        and source. The other panels are acknowledged data, window and round-trip time.

        A UE with several legs may stay in its master's cell. It then has a lane, and each leg has
        one that is coloured while the leg carries data. The lanes show failures of the secondary
        leg, and when the master's base station learnt of them. By default the whole run is drawn.
        `number` selects a failure, or a row of `secondary_changes` if the secondary node changes.
        """
        around_s = None if around is None else seconds(around)
        shown = handover.view(self._results, number, around_s)
        if title is None and shown.about:
            title = ": ".join(filter(None, (self._results.title, shown.about)))
        if size is None and shown.about:
            size = (2 * COLUMN_INCHES, self._height(self._shown(shown.drawn)))
        return self._draw(shown.drawn, shown.flows, ax, size, title, shown.window, shown.gap)

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

        A dot is a UE at its start, in the colour of its first cell. The trajectory of a UE is drawn
        in the colours of its serving cells, with an arrow at its end, and dotted without a cell.
        With vehicles there are also beams at four times. A trajectory is then underlaid where a
        vehicle or building obstructs the path to the serving cell, or where the beam points
        elsewhere. A road that is far longer than wide is drawn wider. Crosses are positions of
        vehicles and UEs within the walls of buildings.
        """
        found = self._places()
        if not found.is_a_map:
            raise _native.ResultError(
                "this run has no radio access with places, so there is no map"
            )
        served = drives.serving(self._results)
        first = {ue: steps[0][1] for ue, steps in served.items()}
        heard = list(dict.fromkeys(c for steps in served.values() for _, c in steps if c))
        driven = drive.drive(self._results)
        trails = None if driven is not None else trajectories.find(self._results)
        if driven is not None:
            found = driven.on(found)
        elif trails is not None:
            found = trajectories.extend(found, trails)
        moved = driven.tracks if driven is not None else trails
        inside = walls.within(self._results.manifest.get("scenario", {}), moved)

        def draw(on: Axes) -> None:
            handles = drive.handles(driven) if driven is not None else trajectories.handles(trails)
            handles += walls.handles(inside, moved)
            colors = network.draw(on, found, first, handles, heard=heard)
            walls.draw(on, inside)
            if driven is not None:
                drive.draw(on, driven, colors)
            elif trails is not None:
                trajectories.draw(on, trails, served, colors)

        if ax is not None:
            draw(ax)
            if title is not None:
                ax.set_title(title, pad=6 + 11 * _legend_lines(ax), loc="left")
            return _figure_of([ax])
        is_long = network.stretch(found) > 1.0
        columns = 2.0 if is_long else 1.0
        rows = 0.9 if is_long else 0.85 * network.proportion(found) + 0.4
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
        """Draws causes above effects, over a common time axis.

        The panels are SINR, serving cell, throughput, congestion window, round-trip time and queue.
        Blockages are grey. For flows of a few windows, acknowledged data take the place of
        throughput. Without TCP, the delay of datagrams takes the place of window and round
        trip. With a radio access, the RLC buffer takes the place of the queue, unless packets also
        wait at a link. A panel without data, or whose data were not recorded, is left out.
        """
        found = self._results
        has_tcp = panels.has_rows(found, "congestion") if found.has_table("congestion") else False
        is_short = panels.has_short_flows(found, seconds(window))
        rate = panels.PROGRESS if is_short else panels.throughput(window)
        drawn = [radio.SINR, cells.CELLS, rate]
        drawn += [panels.CONGESTION, panels.RTT] if has_tcp else [datagrams.DELAY]
        if not found.has_table("bearers"):
            drawn.append(panels.QUEUE)
        else:
            drawn.append(radio.BUFFER)
            if found.has_table("queues") and panels.has_long_queue(found):
                drawn.append(panels.QUEUE)
        return self._draw(drawn, flows, ax, size, title)

    def available(self) -> list[str]:
        """Returns the figures for which this run has data."""
        needs = {
            "throughput": "throughput",
            "queue": "queues",
            "sinr": "transport_blocks",
            "buffer": "bearers",
            "delay": "radio_delay",
            "datagrams": "datagrams",
            "latency": "datagrams",
        }

        drawn = {
            "congestion": panels.CONGESTION,
            "rtt": panels.RTT,
            "buffer": radio.BUFFER,
            "sinr": radio.SINR,
            "throughput": panels.throughput(1.0),
            "datagrams": datagrams.DELAY,
            "latency": datagrams.DELAY,
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
            if name == "handover":
                return handover.has_steps(self._results)
            if name == "overview":
                return True
            if name == "throughput" and panels.has_short_flows(self._results):
                return False
            if not self._results.has_table(needs.get(name, "congestion")):
                return False
            # A figure of nothing says nothing.
            return name not in drawn or drawn[name].finds_data(self._results)

        return [name for name in NAMES if is_available(name)]

    def save(
        self,
        folder: str | Path,
        names: Sequence[str] | None = None,
        format: str = "png",  # noqa: A002
    ) -> list[Path]:
        """Writes the figures called `names`, or all available ones. Returns their paths.

        Each change of cell has a figure of its own, up to the fourth: `handover`, `handover-2` and
        so on. The name `handover-12` writes the twelfth only, and `handover-all` the whole run.

        Raises:
            ValueError: there is no figure with that name.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        pages = [
            page
            for name in (self.available() if names is None else names)
            for page in self._pages(name)
        ]
        for name, draw in pages:
            path = folder / f"{name}.{format}"
            # An interruption leaves no half figure.
            with new_file(path) as unfinished:
                draw().savefig(unfinished, format=format, metadata=self._metadata(format))
            paths.append(path)
        return paths

    def _pages(self, name: str) -> list[tuple[str, Callable[[], Figure]]]:
        """Returns the names of the files of a figure, and functions that draw them."""
        base, _, page = name.partition("-")
        if base == "handover" and page:
            number = "all" if page == "all" else int(page) - 1 if page.isdecimal() else -1
            if number == "all" or number >= 0:
                return [(name, partial(self.handover, number))]
        if name not in NAMES:
            raise ValueError(_names.unknown("figure", name, NAMES))
        if name != "handover":
            return [(name, getattr(self, name))]
        count = min(handover.count_pages(self._results), MOST_PAGES)
        more = [(f"{name}-{at + 1}", partial(self.handover, at)) for at in range(1, count)]
        return [(name, self.handover), *more]

    def _shown(self, drawn: Sequence[panels.Panel]) -> list[panels.Panel]:
        """Returns the panels for which the run has data. A figure keeps at least one panel."""
        if len(drawn) == 1:
            return list(drawn)
        there = [panel for panel in drawn if self._results.has_table(panel.table)]
        return [one for one in there if one.finds_data(self._results)] or there[:1]

    @staticmethod
    def _height(drawn: Sequence[panels.Panel]) -> float:
        """Returns the height of a figure in inches."""
        if len(drawn) <= 1:
            return 0.72 * COLUMN_INCHES
        # A legend takes about as much room in a low panel as in a high one.
        return COLUMN_INCHES * (0.08 + sum(0.4 * panel.height + 0.1 for panel in drawn))

    def _draw(
        self,
        drawn: Sequence[panels.Panel],
        flows: Sequence[str] | None,
        ax: Axes | Sequence[Axes] | None,
        size: Size | None,
        title: str | None,
        window: tuple[float, float] | None = None,
        gap: tuple[float, float] | None = None,
    ) -> Figure:
        drawn = self._shown(drawn)
        if ax is not None:
            given = [ax] if isinstance(ax, Axes) else list(ax)
            if len(given) != len(drawn):
                raise ValueError(f"this figure has {len(drawn)} panels; `ax` has {len(given)} axes")
            self._fill(drawn, given, flows, window, gap)
            if title is not None and given:
                # The padding puts the title above the legend.
                given[0].set_title(title, pad=_title_pad(given[0]), loc="left")
            return _figure_of(given)
        width, height = size or (COLUMN_INCHES, self._height(drawn))
        heights = [panel.height for panel in drawn] or [1.0]
        with new_figure(height=height, width=width, heights=heights) as (figure, axes):
            self._fill(drawn, axes, flows, window, gap)
            figure.align_ylabels()
            sign(figure, self._results.title if title is None else title, stamp(self._results))
        return figure

    def _fill(
        self,
        drawn: Sequence[panels.Panel],
        axes: Sequence[Axes],
        flows: Sequence[str] | None,
        window: tuple[float, float] | None,
        gap: tuple[float, float] | None,
    ) -> None:
        shown: Shown = set()
        for number, (panel, ax) in enumerate(zip(drawn, axes, strict=False)):
            is_first, is_last = number == 0, number == len(drawn) - 1
            canvas = panels.Canvas(ax, self._results, flows, is_first, is_last, shown)
            canvas.window, canvas.gap = window, gap
            if panel.finds_data(self._results):
                panel.draw(canvas)
            else:
                canvas.write_reason(panel.reason)
                canvas.finish_x("")

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


def _title_pad(ax: Axes) -> int:
    """Returns the room between axes and title in points. A legend above the axes needs some."""
    figure = ax.get_figure(root=True)
    has_room = figure is None or figure.get_layout_engine() is not None
    return 6 + 11 * _legend_lines(ax) * has_room


def _legend_lines(ax: Axes) -> int:
    legend = ax.get_legend()
    if legend is None:
        return 0
    columns = getattr(legend, "_ncols", 1)
    return -(-len(legend.get_texts()) // columns) + bool(legend.get_title().get_text())
