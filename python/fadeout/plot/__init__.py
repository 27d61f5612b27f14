"""Figures of a run, sized for a column of a paper and readable in grey.

`results.plot.congestion()` and its neighbours each return a matplotlib Figure. No window is
opened and no global state touched: save it with `figure.savefig("cwnd.pdf")`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from matplotlib.figure import Figure

from fadeout import _names
from fadeout.plot import panels, radio
from fadeout.plot.style import COLUMN_INCHES, new_figure

if TYPE_CHECKING:
    from fadeout.results import Results

__all__ = ["Plots"]

NAMES = (
    "congestion",
    "throughput",
    "rtt",
    "queue",
    "completions",
    "sinr",
    "buffer",
    "delay",
    "overview",
)
"""The figures."""


class Plots:
    """Draws the figures of one run."""

    def __init__(self, results: "Results") -> None:
        self._results = results

    def congestion(self, *, flows: Sequence[str] | None = None) -> Figure:
        """Congestion window and slow-start threshold, with retransmission timeouts marked."""
        return self._draw([panels.CONGESTION], flows)

    def throughput(
        self, window: str | float = "100 ms", *, flows: Sequence[str] | None = None
    ) -> Figure:
        """Rate at which data reached each application, averaged over `window`."""
        return self._draw([panels.throughput(window)], flows)

    def rtt(self, *, flows: Sequence[str] | None = None) -> Figure:
        """Round-trip time: samples and the smoothed estimate."""
        return self._draw([panels.RTT], flows)

    def queue(self) -> Figure:
        """Packets queued at each link, with drops marked."""
        return self._draw([panels.QUEUE], None)

    def sinr(self) -> Figure:
        """Signal to interference and noise of each UE, as its transport blocks saw it."""
        return self._draw([radio.SINR], None)

    def buffer(self) -> Figure:
        """Bytes that wait in the RLC of each bearer."""
        return self._draw([radio.BUFFER], None)

    def delay(self) -> Figure:
        """Where the delay of packets on radio bearers comes from, its parts stacked."""
        self._results.table("radio_delay")  # Says so when the run did not record it.
        return self._draw(list(radio.DELAY), None)

    def completions(self) -> Figure:
        """Share of each group's flows that completed within a time."""
        return self._draw([panels.COMPLETIONS], None)

    def overview(
        self, window: str | float = "100 ms", *, flows: Sequence[str] | None = None
    ) -> Figure:
        """Throughput, congestion window, round-trip time and queue above one time axis.

        With a radio access the queue is that in its RLC.
        """
        queue = radio.BUFFER if self._results.has_table("bearers") else panels.QUEUE
        return self._draw([panels.throughput(window), panels.CONGESTION, panels.RTT, queue], flows)

    def available(self) -> list[str]:
        """The figures that this run recorded enough for."""
        needs = {
            "throughput": "throughput",
            "queue": "queues",
            "sinr": "transport_blocks",
            "buffer": "bearers",
            "delay": "radio_delay",
        }

        def is_available(name: str) -> bool:
            if name == "completions":
                # The distribution of a single time says nothing.
                return len(self._results.completions) > 1
            return name == "overview" or self._results.has_table(needs.get(name, "congestion"))

        return [name for name in NAMES if is_available(name)]

    def save(
        self,
        folder: str | Path,
        names: Sequence[str] | None = None,
        format: str = "png",  # noqa: A002
    ) -> list[Path]:
        """Write the figures called `names` (all that the run recorded) and return their paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name in self.available() if names is None else names:
            if name not in NAMES:
                raise ValueError(_names.unknown("figure", name, NAMES))
            path = folder / f"{name}.{format}"
            getattr(self, name)().savefig(path)
            paths.append(path)
        return paths

    def _draw(self, drawn: Sequence[panels.Panel], flows: Sequence[str] | None) -> Figure:
        if len(drawn) > 1:
            drawn = [panel for panel in drawn if self._results.has_table(panel.table)]
        height = COLUMN_INCHES * (0.66 if len(drawn) == 1 else 0.5 * max(len(drawn), 1))
        with new_figure(height=height, rows=max(len(drawn), 1)) as (figure, axes):
            for number, (panel, ax) in enumerate(zip(drawn, axes, strict=False)):
                is_first, is_last = number == 0, number == len(drawn) - 1
                panel.draw(panels.Canvas(ax, self._results, flows, is_first, is_last))
            figure.align_ylabels()
        return figure

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(_names.unknown("figure", name, NAMES))
