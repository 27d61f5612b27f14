"""The map of a network: sites, the directions of their sectors, UEs and buildings."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import ColorType

from fadeout._quantities import meters
from fadeout.plot import cells
from fadeout.plot.style import BLACK, STAMP

BUILDING = "#DDDDDD"
MOST_NAMES = 6
"""Largest number of serving cells that the legend names. With more, colours repeat."""

MOST_SITES = 12
"""Largest number of sites with names."""

MOST_NAMED_UES = 4
"""Largest number of UEs with names."""

FEWEST_BY_COUNT = 2
"""Number of UEs at one place from which their count is written."""


@dataclass(frozen=True)
class Cell:
    """A cell on the map."""

    name: str
    place: tuple[float, float]
    azimuth_deg: float | None
    """Direction of the antenna, counter-clockwise from east. None for an omnidirectional one."""


@dataclass(frozen=True)
class Places:
    """Objects on the map, in metres east and north."""

    cells: Sequence[Cell]
    ues: Mapping[str, tuple[float, float]]
    buildings: Sequence[tuple[tuple[float, float], tuple[float, float]]]
    outlines: Sequence[Sequence[Sequence[tuple[float, float]]]] = ()
    """Rings of the buildings that are not rectangles."""
    passed: Sequence[tuple[float, float]] = ()
    """Positions of moving objects, which the map must include."""
    is_road: bool = False
    """True for a map of a road. A long and narrow one is stretched across."""

    @property
    def is_a_map(self) -> bool:
        """True if there is a radio access whose cells and UEs have at least two positions."""
        places = {cell.place for cell in self.cells} | set(self.ues.values())
        return bool(self.cells) and len(places) > 1


def places(scenario: Mapping[str, Any]) -> Places:
    """Returns the objects of a resolved scenario."""
    cells = [
        Cell(name, _place(cell["position"]), _azimuth(cell.get("antenna")))
        for name, cell in scenario.get("cell", {}).items()
    ]
    ues = {name: _place(ue["position"]) for name, ue in scenario.get("ue", {}).items()}
    standing = scenario.get("building", {}).values()
    buildings = [
        (_place(one["corner"]), _place(one["opposite"])) for one in standing if "outline" not in one
    ]
    outlines = [
        [[_place(place) for place in ring] for ring in one["outline"]]
        for one in standing
        if "outline" in one
    ]
    return Places(cells, ues, buildings, outlines)


def _place(written: Sequence[str]) -> tuple[float, float]:
    east, north = (meters(item) for item in written)
    return east, north


_DIRECTED = ("sector", "column", "element", "array")


def _azimuth(antenna: object) -> float | None:
    if not isinstance(antenna, Mapping) or antenna.get("kind") not in _DIRECTED:
        return None
    return float(antenna.get("azimuth", 0.0))


def draw(
    ax: Axes,
    found: Places,
    serving: Mapping[str, str | None],
    more: Sequence[Line2D | Patch] = (),
    heard: Sequence[str] = (),
) -> dict[str, ColorType]:
    """Draws the map and returns the colours of the cells.

    `serving` has the cell of each UE at its place, and `more` has further entries of the legend.
    `heard` has the cells that served a UE at any time.
    """
    for (x0, y0), (x1, y1) in found.buildings:
        low = (min(x0, x1), min(y0, y1))
        ax.add_patch(
            Rectangle(
                low, abs(x1 - x0), abs(y1 - y0), facecolor=BUILDING, edgecolor="none", zorder=1
            )
        )
    for rings in found.outlines:
        ax.add_patch(PathPatch(_path(rings), facecolor=BUILDING, edgecolor="none", zorder=1))
    names = [cell.name for cell in found.cells]
    serves = set(heard) or set(serving.values())
    heard = [name for name in names if name in serves]
    colors: dict[str, ColorType] = dict(cells.colors(names, heard))
    size = 12.0 if len(found.ues) < 30 else 5.0 if len(found.ues) < 200 else 2.0
    for name in [*heard, None]:
        own = [place for ue, place in found.ues.items() if serving.get(ue) == name]
        if own:
            color = STAMP if name is None else colors[name]
            east, north = zip(*own, strict=True)
            ax.scatter(east, north, s=size, color=color, linewidths=0, zorder=3.5)
    _ue_names(ax, found)
    _sites(ax, found, colors)
    _frame(ax, found)
    has_lost = any(not serving.get(ue) for ue in found.ues)
    _legend(ax, found, heard, colors, more, has_lost=has_lost)
    return colors


def _path(rings: Sequence[Sequence[tuple[float, float]]]) -> Path:
    """Returns the outline of a building. The opposite direction keeps courtyards empty."""
    paths = []
    for number, ring in enumerate(rings):
        closed = [*ring, ring[0]]
        turn = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in itertools.pairwise(closed))
        goes_left = turn > 0
        paths.append(Path(closed if goes_left == (number == 0) else closed[::-1], closed=True))
    return Path.make_compound_path(*paths)


def _sites(ax: Axes, found: Places, colors: Mapping[str, ColorType]) -> None:
    reach = 0.05 * max(_extent(found))
    for cell in found.cells:
        x, y = cell.place
        if cell.azimuth_deg is not None:
            angle = math.radians(cell.azimuth_deg)
            end = (x + reach * math.cos(angle), y + reach * math.sin(angle))
            color = colors.get(cell.name, BLACK)
            ax.annotate(
                "",
                end,
                cell.place,
                zorder=4,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": color,
                    "linewidth": 0.8,
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "mutation_scale": 5,
                },
            )
    sites = sorted({cell.place for cell in found.cells})
    east, north = zip(*sites, strict=True)
    ax.plot(east, north, "^", color=BLACK, markersize=4, zorder=5)
    if len(sites) <= MOST_SITES:
        for site in sites:
            name = site_name([cell.name for cell in found.cells if cell.place == site])
            _write(ax, site, name, below=True)


def site_name(cells_of_it: Sequence[str]) -> str:
    """Returns the name of a site: the common start of the names of its cells, or all names."""
    if len(cells_of_it) == 1:
        return cells_of_it[0]
    letters = zip(*cells_of_it, strict=False)
    shared = itertools.takewhile(lambda each: len(set(each)) == 1, letters)
    common = "".join(each[0] for each in shared).rstrip("-_. ")
    return common or ", ".join(cells_of_it[:3]) + ("…" if len(cells_of_it) > 3 else "")


def _ue_names(ax: Axes, found: Places) -> None:
    """Writes the names of a few UEs, or the number of the UEs at one place."""
    at: dict[tuple[float, float], list[str]] = {}
    for ue, place in found.ues.items():
        at.setdefault(place, []).append(ue)
    for place, names in at.items():
        if len(names) >= FEWEST_BY_COUNT:
            _write(ax, place, f"{len(names)} UEs", below=False)
        elif len(found.ues) <= MOST_NAMED_UES:
            _write(ax, place, names[0], below=False)


def _write(ax: Axes, place: tuple[float, float], text: str, *, below: bool) -> None:
    ax.annotate(
        text,
        place,
        xytext=(0, -3 if below else 4),
        textcoords="offset points",
        ha="center",
        va="top" if below else "bottom",
        fontsize=6,
        bbox={"facecolor": "white", "alpha": 0.6, "pad": 0.3, "edgecolor": "none"},
        zorder=6,
    )


def _bounds(found: Places) -> tuple[float, float, float, float]:
    corners = [corner for building in found.buildings for corner in building]
    corners += [place for rings in found.outlines for place in rings[0]]
    places = (cell.place for cell in found.cells)
    every = [*places, *found.ues.values(), *corners, *found.passed]
    east, north = zip(*every, strict=True)
    return min(east), min(north), max(east), max(north)


def _extent(found: Places) -> tuple[float, float]:
    west, south, east, north = _bounds(found)
    return max(east - west, 1.0), max(north - south, 1.0)


LEAST_SIDE = 0.3
"""Smallest ratio of the short side of a map to the long one."""

MARGIN = 0.07
"""Margin of a map as a share of its long side."""

LONG = 5.0
"""Ratio of length to width from which a road is stretched across."""


def proportion(found: Places) -> float:
    """Returns the ratio of height to width of the map, with its margins."""
    width, height = _extent(found)
    side, times = max(width, height), stretch(found)
    high = max(height * times, LEAST_SIDE * side) + 3 * MARGIN * side
    return high / (max(width, LEAST_SIDE * side) + 2 * MARGIN * side)


def stretch(found: Places) -> float:
    """Returns the factor by which the width of a long road is stretched. 1 for other maps."""
    width, height = _extent(found)
    if not found.is_road or width < LONG * height:
        return 1.0
    return float(max(1, round(0.3 * width / height)))


def _frame(ax: Axes, found: Places) -> None:
    west, south, east, north = _bounds(found)
    side = max(_extent(found))
    margin = MARGIN * side
    times = stretch(found)
    ax.set_aspect(times)
    ax.grid(visible=False)
    ax.set_xlabel("East (m)")
    ax.set_ylabel("North (m)")
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    # A map has a minimum height, for example if all UEs are on a line.
    least = 0.5 * LEAST_SIDE * side / times
    low = min(south, 0.5 * (south + north) - least)
    high = max(north, 0.5 * (south + north) + least)
    left = min(west, 0.5 * (west + east) - 0.5 * LEAST_SIDE * side)
    right = max(east, 0.5 * (west + east) + 0.5 * LEAST_SIDE * side)
    ax.set_xlim(left - margin, right + margin)
    ax.set_ylim(low - 2 * margin / times, high + margin / times)
    length = _round_length(0.3 * (right - left))
    x, y = left, low - 1.3 * margin / times
    ax.plot([x, x + length], [y, y], color=BLACK, linewidth=1.5, solid_capstyle="butt")
    ax.text(x + length, y, f" {_length(length)}", va="center", ha="left", fontsize=7)
    if times > 1.0:
        across = _round_length(0.6 * (high - low))
        x = right + 0.6 * margin
        ax.plot([x, x], [low, low + across], color=BLACK, linewidth=1.5, solid_capstyle="butt")
        note = f"{_length(across)}, drawn\n{times:g} times longer"
        ax.text(x + 0.2 * margin, low, note, va="bottom", ha="left", rotation=90, fontsize=6)


def _length(length: float) -> str:
    return f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"


def _round_length(most: float) -> float:
    """Returns the largest of 1, 2 and 5 times a power of ten that does not exceed `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most * (1 + 1e-9))


def _legend(
    ax: Axes,
    found: Places,
    heard: Sequence[str],
    colors: Mapping[str, ColorType],
    more: Sequence[Line2D | Patch],
    *,
    has_lost: bool,
) -> None:
    def dot(color: ColorType, label: str) -> Line2D:
        return Line2D([], [], marker="o", linestyle="", markersize=3, color=color, label=label)

    handles: list[Line2D | Patch] = [
        Line2D([], [], marker="^", linestyle="", markersize=4, color=BLACK, label="site")
    ]
    if found.buildings or found.outlines:
        handles.append(Patch(facecolor=BUILDING, label="building"))
    if 0 < len(heard) <= MOST_NAMES:
        handles += [dot(colors[name], f"UE in {name}") for name in heard]
    elif heard:
        handles.append(dot(colors[heard[0]], f"UE, in the colour of its cell ({len(heard)} cells)"))
    if has_lost:
        handles.append(dot(STAMP, "UE without a cell"))
    handles += more
    wide = 4 if stretch(found) > 1.0 else 2
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.01),
        ncols=min(wide, len(handles)),
        handletextpad=0.4,
    )
