"""Figures of a campaign: metrics by parameter, distributions, and paired differences."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fadeout import _names
from fadeout._files import new_file
from fadeout.campaign.mistakes import mistake
from fadeout.plot.panels import MOST_LINES, line_style
from fadeout.plot.style import BLACK, COLUMN_INCHES, STAMP, legend_above, new_grid, sign
from fadeout.statistics import FEWEST

if TYPE_CHECKING:
    from fadeout.campaign.campaign import Campaign

__all__ = ["KINDS", "CampaignPlots"]

KINDS = {
    "metric": "Mean of a metric by the values of a key, with intervals.",
    "cdf": "Distribution of a metric over the runs of each point.",
    "differences": "Differences from a baseline, paired by seed, with intervals.",
}
"""The figures of a campaign."""

MOST_PANELS = 12
"""Largest number of panels of a figure."""

COLUMNS = 3
"""Largest number of panels side by side."""

LOG_RATIO = 30.0
"""Ratio of the largest value of a key to the smallest from which the axis is logarithmic."""

OF_CDF = ("panels", "where", "size", "title")
"""Arguments of `CampaignPlots.cdf`."""

MOST_TICKS = 6
"""Largest number of values of a key that have a tick each."""

UNITS = {
    "mbps": "Mbit/s",
    "s": "s",
    "ms": "ms",
    "db": "dB",
    "dbm": "dBm",
    "bytes": "bytes",
    "percent": "%",
}
"""Units by the last part of a metric's name."""

Size = tuple[float, float]
"""Width and height in inches."""


@dataclass(frozen=True)
class Layout:
    """The keys of a figure."""

    x: str | None
    """Key of the horizontal axis. None if there is no key."""
    lines: tuple[str, ...]
    """Keys whose values have a line each."""
    panels: str | None
    """Key whose values have a panel each."""


class CampaignPlots:
    """Draws the figures of a campaign.

    Each method returns a matplotlib Figure. All take

    - `where`: values of keys, such as `{"link.radio.delay": "5 ms"}`. Other points are left out.
    - `size`: width and height in inches.
    - `title`: a title in place of the campaign's. An empty one leaves it out.

    Raises:
        ScenarioError: there is no such key, value or metric, or there are too many lines or panels.
    """

    def __init__(self, campaign: "Campaign") -> None:
        self._campaign = campaign

    def metric(
        self,
        name: str | None = None,
        *,
        x: str | None = None,
        panels: str | None = None,
        where: Mapping[str, Any] | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the mean of a metric over the seeds by the values of a key, with intervals.

        Args:
            name: the metric. Default: the first of `Campaign.metrics`.
            x: key of the horizontal axis. Default: the key of numbers with the most values.
            panels: key with a panel for each value. The panels share the vertical axis.
            where: values of keys.
            confidence: confidence level of the intervals.
            ax: existing axes to draw into, for a figure without `panels`.
            size: width and height in inches.
            title: a title in place of the campaign's.

        The values of the other keys have a line each. A quantity of one unit has an axis of
        numbers, which is logarithmic if the values differ by a factor of 30. Points with fewer than
        five seeds have no interval.
        """
        name = self._metric(name)
        means = self._select(self._campaign.means(name, confidence=confidence), where)
        layout = self._layout(means, x, panels)
        groups = _panels(means, layout.panels, ax)

        def draw(on: Axes, part: pl.DataFrame) -> None:
            self._draw_means(on, part, name, layout)

        stamp = self._stamp(means[f"{name}_n"], confidence)
        return self._figure(groups, draw, layout, (ax, size, title), (name, stamp))

    def cdf(
        self,
        name: str | None = None,
        *,
        panels: str | None = None,
        where: Mapping[str, Any] | None = None,
        ax: Axes | None = None,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the distribution of a metric over the runs of each point.

        Args:
            name: the metric. Default: the first of `Campaign.metrics`.
            panels: key with a panel for each value.
            where: values of keys.
            ax: existing axes to draw into, for a figure without `panels`.
            size: width and height in inches.
            title: a title in place of the campaign's.
        """
        name = self._metric(name)
        frame = self._select(self._campaign.frame(), where)
        frame = frame.filter(pl.col(name).is_not_null())
        keys = [key for key in self._varied(frame) if key != self._key(panels)]
        layout = Layout(None, tuple(keys), self._key(panels))
        groups = _panels(frame, layout.panels, ax)

        def draw(on: Axes, part: pl.DataFrame) -> None:
            for number, (label, own) in enumerate(_lines(part, layout.lines)):
                values = own[name].cast(pl.Float64).sort().to_list()
                shares = [(rank + 1) / len(values) for rank in range(len(values))]
                style = line_style(number) | {"drawstyle": "steps-post", "label": label}
                on.plot([values[0], *values], [0.0, *shares], **style)
            on.set_ylim(0, 1)
            on.set_xlabel(label_of(name))

        stamp = f"{len(frame):,} runs"
        return self._figure(
            groups, draw, layout, (ax, size, title), ("share of runs", stamp), share_y=True
        )

    def differences(
        self,
        key: str,
        baseline: Any,  # noqa: ANN401 - a value of the key
        *metrics: str,
        confidence: float = 0.95,
        size: Size | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draws the differences of the values of `key` from `baseline`, paired by seed.

        There is a panel for each metric, and a row for each other value and each combination of the
        other keys. A filled dot has an interval without zero. See `Campaign.compare`.
        """
        from fadeout.campaign.comparison import compare_values

        table = compare_values(self._campaign, key, baseline, list(metrics), confidence=confidence)
        if table.is_empty():
            raise mistake(f"no run of {key} has the seed of a run of {baseline}")
        names = table["metric"].unique(maintain_order=True).to_list()
        columns = table.columns[: table.columns.index("metric")]
        most = max(len(part) for _, part in table.group_by("metric"))
        width, height = size or (COLUMN_INCHES * min(2, len(names)), 0.22 * most + 1.1)
        with new_grid(1, len(names), size=(width, height), share_y=True) as (figure, axes):
            for on, name in zip(axes, names, strict=True):
                part = table.filter(pl.col("metric") == name)
                _draw_differences(on, part, columns, name)
            stamp = self._stamp(table["n"], confidence)
            shown = f"difference from {baseline}" if title is None else title
            sign(figure, shown, stamp)
        return figure

    def save(
        self,
        folder: str | Path,
        kinds: Sequence[str] | None = None,
        metrics: Sequence[str] = (),
        format: str = "png",  # noqa: A002
        **more: Any,  # noqa: ANN401 - arguments of the figures
    ) -> list[Path]:
        """Writes figures of each metric, and returns their paths.

        `kinds` are `metric` and `cdf`, both by default.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for kind in kinds or ("metric", "cdf"):
            if kind not in ("metric", "cdf"):
                raise mistake(_names.unknown("figure of a campaign", kind, ("metric", "cdf")))
            for name in metrics or self._numbers():
                given = {k: v for k, v in more.items() if kind == "metric" or k in OF_CDF}
                figure = getattr(self, kind)(name, **given)
                path = folder / f"{kind}-{re.sub(r'[^-.a-zA-Z0-9_]+', '-', name)}.{format}"
                with new_file(path) as unfinished:
                    figure.savefig(unfinished, format=format)
                paths.append(path)
        return paths

    # --- what is drawn --------------------------------------------------------------------------

    def _numbers(self) -> list[str]:
        """Returns the requested metrics that are numbers and that a run has."""
        frame = self._campaign.frame()
        names = [name for name in self._campaign.metrics() if name in frame.columns]
        return [
            n for n in names if frame[n].dtype.is_numeric() and frame[n].null_count() < len(frame)
        ]

    def _metric(self, name: str | None) -> str:
        frame = self._campaign.frame()
        if name is None:
            found = self._numbers()
            if not found:
                raise mistake("no run has a value of a metric")
            return found[0]
        (known,) = self._campaign.known(frame, [name])
        if not frame[known].dtype.is_numeric():
            raise mistake(f"{name} is not a number", expected="a metric that is a number")
        return known

    def _key(self, key: str | None) -> str | None:
        """Returns the key with this name, or with this last part."""
        if key is None:
            return None
        keys = self._campaign.keys
        found = [each for each in keys if each == key or each.endswith(f".{key}")]
        if len(found) != 1:
            raise mistake(_names.unknown("key of the campaign", key, keys))
        return found[0]

    def _select(self, frame: pl.DataFrame, where: Mapping[str, Any] | None) -> pl.DataFrame:
        for given, value in (where or {}).items():
            key = self._key(given)
            assert key is not None, "a given key is one of the campaign"
            values = frame[key].unique(maintain_order=True).to_list()
            chosen = [each for each in values if each == value or str(each) == str(value)]
            if not chosen:
                known = [str(each) for each in values]
                raise mistake(_names.unknown(f"value of {key}", str(value), known))
            frame = frame.filter(pl.col(key) == chosen[0])
        return frame

    def _varied(self, frame: pl.DataFrame) -> list[str]:
        return [key for key in self._campaign.keys if frame[key].n_unique() > 1]

    def _layout(self, means: pl.DataFrame, x: str | None, panels: str | None) -> Layout:
        across, apart = self._key(x), self._key(panels)
        keys = [key for key in self._varied(means) if key != apart]
        if across is None:
            counts = {key: means[key].n_unique() for key in keys}
            keys_of_numbers = [key for key in keys if self._values(key) is not None]
            across = max(keys_of_numbers or keys, key=lambda key: counts[key], default=None)
        return Layout(across, tuple(key for key in keys if key != across), apart)

    def _values(self, key: str) -> dict[Any, float] | None:
        """Returns the number of each value of a key. None if a value is no number."""
        points = self._campaign.points
        names = [name for name in points.columns if name == key or name.startswith(f"{key} (")]
        column = points[names[-1]]
        if not column.dtype.is_numeric() or column.null_count():
            return None
        return dict(zip(points[key].to_list(), column.cast(pl.Float64).to_list(), strict=True))

    def _axis_label(self, key: str) -> str:
        names = [name for name in self._campaign.points.columns if name.startswith(f"{key} (")]
        return names[0] if names else key

    def _draw_means(self, ax: Axes, part: pl.DataFrame, name: str, layout: Layout) -> None:
        numbers = None if layout.x is None else self._values(layout.x)
        lines = _lines(part, layout.lines)
        categories: list[Any] = []
        if layout.x is not None and numbers is None:
            categories = part[layout.x].unique(maintain_order=True).to_list()
        for number, (label, own) in enumerate(lines):
            # Intervals at one category are drawn side by side.
            aside = 0.0 if numbers else 0.5 * ((number + 0.5) / len(lines) - 0.5)
            values = [None] * len(own) if layout.x is None else own[layout.x].to_list()
            if numbers is not None:
                places = [numbers[value] for value in values]
            else:
                places = [categories.index(v) + aside if categories else aside for v in values]
            order = sorted(range(len(places)), key=places.__getitem__)
            mean, low, high = (
                own[f"{name}_{each}"].cast(pl.Float64).fill_null(math.nan).to_list()
                for each in ("mean", "low", "high")
            )
            style = line_style(number)
            if numbers is None:
                style["linestyle"] = "none"
            ax.errorbar(
                [places[at] for at in order],
                [mean[at] for at in order],
                yerr=[
                    [mean[at] - low[at] for at in order],
                    [high[at] - mean[at] for at in order],
                ],
                marker="o",
                markersize=3,
                capsize=1.5,
                elinewidth=0.8,
                label=label,
                **style,
            )
        least, most = (min(numbers.values()), max(numbers.values())) if numbers else (0.0, 0.0)
        if least > 0 and most / least >= LOG_RATIO:
            ax.set_xscale("log")
        if numbers and len(set(numbers.values())) <= MOST_TICKS:
            ticks = sorted(set(numbers.values()))
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.minorticks_off()
        if categories:
            ax.set_xticks(range(len(categories)), [str(each) for each in categories])
            ax.set_xlim(-0.5, len(categories) - 0.5)
            ax.tick_params(axis="x", labelrotation=30 if len(categories) > 4 else 0)
        elif layout.x is None:
            ax.set_xticks([])
        if layout.x is not None:
            ax.set_xlabel(self._axis_label(layout.x))

    def _stamp(self, counts: pl.Series, confidence: float) -> str:
        least, most = int(counts.min() or 0), int(counts.max() or 0)  # type: ignore[arg-type]
        seeds = f"{least}" if least == most else f"{least} to {most}"
        text = f"{seeds} seeds, {100 * confidence:g} % intervals"
        return text if least >= FEWEST else f"{seeds} seeds, no interval below {FEWEST} seeds"

    def _figure(
        self,
        groups: Sequence[tuple[str, pl.DataFrame]],
        draw: Any,  # noqa: ANN401 - a function of axes and rows
        layout: Layout,
        given: tuple[Axes | None, Size | None, str | None],
        texts: tuple[str, str],
        *,
        share_y: bool = True,
    ) -> Figure:
        ax, size, title = given
        name, stamp = texts
        if not groups:
            raise mistake("no run has these values")
        if len(groups) > MOST_PANELS:
            raise mistake(
                f"{layout.panels} has {len(groups)} values; a figure has at most {MOST_PANELS} "
                "panels",
                expected="`where`, to select points",
            )
        if ax is not None:
            draw(ax, groups[0][1])
            ax.set_ylabel(label_of(name))
            if len(layout.lines):
                legend_above(ax, 3)
            figure = ax.get_figure(root=True)
            assert figure is not None, "axes that can be drawn into are part of a figure"
            return figure
        columns = 2 if len(groups) == 4 else min(COLUMNS, len(groups))
        rows = -(-len(groups) // columns)
        width = COLUMN_INCHES * (1.0 if columns == 1 else 0.65 * columns)
        own_size = (width, rows * COLUMN_INCHES * (0.72 if columns == 1 else 0.6) + 0.3)
        with new_grid(rows, columns, size=size or own_size, share_y=share_y) as (figure, axes):
            for number, (on, (label, part)) in enumerate(zip(axes, groups, strict=False)):
                draw(on, part)
                if label:
                    on.set_title(label, fontsize=7, loc="right")
                if number % columns == 0:
                    on.set_ylabel(label_of(name))
                if number == 0 and len(layout.lines):
                    legend_above(on, 3, ", ".join(layout.lines))
            for unused in axes[len(groups) :]:
                unused.set_visible(False)
            sign(figure, self._campaign.title if title is None else title, stamp)
        return figure

    def __repr__(self) -> str:
        return f"<CampaignPlots {', '.join(KINDS)}>"

    def _repr_png_(self) -> bytes:
        return self.metric()._repr_png_()  # type: ignore[attr-defined]


def _panels(
    frame: pl.DataFrame, key: str | None, ax: Axes | None
) -> list[tuple[str, pl.DataFrame]]:
    """Returns the rows of each panel, with its label. Existing axes can have one panel."""
    panels = [] if frame.is_empty() else [("", frame)]
    if key is not None:
        short = key.rpartition(".")[2]
        parts = frame.group_by(key, maintain_order=True)
        panels = [(f"{short} = {value}", part) for (value,), part in parts]
    if ax is not None and len(panels) != 1:
        raise mistake(f"`ax` is for one panel; {key} has {len(panels)} values")
    return panels


def _lines(frame: pl.DataFrame, keys: Sequence[str]) -> list[tuple[str | None, pl.DataFrame]]:
    """Returns the rows of each line of a panel, with its label."""
    if not keys:
        return [(None, frame)]
    parts = list(frame.group_by(list(keys), maintain_order=True))
    if len(parts) > MOST_LINES:
        raise mistake(
            f"{len(parts)} lines for {', '.join(keys)}; at most {MOST_LINES} can be told apart",
            expected="`panels` for one of the keys, or `where`, to select points",
        )
    return [(", ".join(str(value) for value in values), part) for values, part in parts]


def _draw_differences(ax: Axes, part: pl.DataFrame, columns: Sequence[str], name: str) -> None:
    """Draws a row for each difference, from top to bottom."""
    labels = [", ".join(map(str, row)) for row in part.select(columns).rows()]
    ax.axvline(0.0, color=STAMP, linewidth=0.8, zorder=1)
    for height, row in enumerate(part.iter_rows(named=True)):
        low, high = row["low"], row["high"]
        is_clear = low is not None and (low > 0 or high < 0)
        if low is not None:
            ax.plot([low, high], [height, height], color=BLACK, linewidth=0.9)
        ax.plot(
            [row["difference"]],
            [height],
            marker="o",
            markersize=4,
            color=BLACK,
            markerfacecolor=BLACK if is_clear else "white",
        )
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlabel(label_of(name))


def label_of(metric: str) -> str:
    """Returns the name of a metric in words, with its unit in brackets."""
    base, bracket, row = metric.partition("[")
    words, _, last = base.partition(":")[0].rpartition("_")
    unit = UNITS.get(last)
    if unit is None or not words:
        return metric.replace("_", " ")
    how = base.partition(":")[2]
    words = words.replace("_", " ").replace(".", " ").replace("rtt", "RTT")
    text = " ".join(filter(None, (words, how)))
    return f"{text}{f' of {row[:-1]}' if bracket else ''} ({unit})"
