"""Places names beside the points of a scatter plot, so that none covers another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

Array = np.ndarray[Any, np.dtype[np.float64]]
"""Points (x, y) or boxes (left, bottom, right, top) in pixels, one in each row."""

Mask = np.ndarray[Any, np.dtype[np.bool_]]

TOGETHER_PT = 6.0
"""Points within this distance of each other have their names in one block."""
MOST_LINES = 8
"""Largest number of names in a column. A block with more names has two columns."""
LINE = 1.12
"""Distance between lines of a block, relative to the height of the text."""

ANGLES = 48
"""Number of directions around a point in which a block may be placed."""
NEAREST_PT, FARTHEST_PT, STEPS = 3.0, 100.0, 28
"""Smallest and largest distance of a block from its points, and the number of distances tried."""
CLEARANCE_PT = 1.2
MARKER_PT = 2.4
"""Half the size of a marker, with a margin."""
LEADER_PT = 4.2
"""Largest distance of a block that needs no line to its points."""
ROUNDS = 6

# Costs of a place. A block over another makes both unreadable, and a block over a point hides it. A
# line across a block, a point or another line misleads, as does a block nearer to foreign points.
# Otherwise the distance in points decides.
OVER_BLOCK, OVER_POINT, LINE_OVER_BLOCK, LINE_OVER_POINT, LINES_CROSS = 1e4, 1e3, 120.0, 25.0, 60.0
AMBIGUOUS = 20.0


@dataclass(frozen=True)
class Label:
    """A name for a point, in the units of the axes."""

    x: float
    y: float
    text: str
    color: str


@dataclass(frozen=True)
class Block:
    """The names of points that are close to each other."""

    labels: Sequence[Label]
    points: Array
    rows: int
    column_widths: Sequence[float]
    line_height: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels."""
        return sum(self.column_widths), self.rows * self.line_height

    @property
    def centre(self) -> Array:
        """Centre of the points."""
        return self.points.mean(axis=0)


def place_labels(figure: Figure, ax: Axes, labels: Sequence[Label], *, size: float = 6.0) -> None:
    """Writes `labels` beside their points, with a line to a point whose label had to move away.

    The limits and the layout are those of the figure's last drawing, such as by
    `draw_without_rendering`. The axes must not change afterwards. Points that are close to each
    other share a block of names, with the highest point's name first. For a few rounds, each block
    takes the best place around its points while the other blocks stay. The result is deterministic:
    the same points give the same figure.
    """
    if not labels:
        return
    pixels = figure.dpi / 72
    blocks = _blocks(ax, labels, size, pixels)
    places = _best_places(blocks, ax.bbox, pixels)
    to_data = ax.transData.inverted()
    for block, box in zip(blocks, places, strict=True):
        for index, label in enumerate(block.labels):
            column, row = divmod(index, block.rows)
            left = box[0] + sum(block.column_widths[:column])
            middle = box[3] - (row + 0.5) * block.line_height
            x, y = to_data.transform((left, middle))
            ax.text(x, y, label.text, color=label.color, fontsize=size, va="center_baseline")
        end = _nearest(box[None], block.centre)[0]
        if np.hypot(*(end - block.centre)) > LEADER_PT * pixels:
            (x, y), (end_x, end_y) = to_data.transform([block.centre, end])
            ax.plot([x, end_x], [y, end_y], color="#777777", linewidth=0.4, zorder=1.5)


def _blocks(ax: Axes, labels: Sequence[Label], size: float, pixels: float) -> list[Block]:
    """Returns the labels in groups of points that are close to each other."""
    points = ax.transData.transform([(label.x, label.y) for label in labels])
    groups: list[list[int]] = []
    # From left to right, so that a group does not depend on the order of the labels.
    for index in np.lexsort((points[:, 1], points[:, 0])):
        distances = [
            np.hypot(*(points[group] - points[index]).T).max() / pixels for group in groups
        ]
        if distances and min(distances) <= TOGETHER_PT:
            groups[int(np.argmin(distances))].append(int(index))
        else:
            groups.append([int(index)])
    widths, heights = _extents(ax, labels, size)
    air = CLEARANCE_PT * pixels
    blocks = []
    for group in groups:
        group.sort(key=lambda index: (-points[index][1], labels[index].text))
        columns = 1 if len(group) <= MOST_LINES else 2
        rows = -(-len(group) // columns)
        split = [group[i : i + rows] for i in range(0, len(group), rows)]
        column_widths = [max(widths[index] for index in column) + 2 * air for column in split]
        column_widths[-1] -= 2 * air
        blocks.append(
            Block([labels[i] for i in group], points[group], rows, column_widths, LINE * heights)
        )
    return blocks


def _extents(ax: Axes, labels: Sequence[Label], size: float) -> tuple[list[float], float]:
    """Returns the width of each label and the height of a line, in pixels."""
    widths: list[float] = []
    height = 0.0
    for label in labels:
        text = ax.text(label.x, label.y, label.text, fontsize=size)
        extent = text.get_window_extent()
        widths.append(extent.width)
        height = max(height, extent.height)
        text.remove()
    return widths, height


def _best_places(blocks: Sequence[Block], inside: Bbox, pixels: float) -> Array:
    """Returns a box for each block."""
    around = [_candidates(block, inside, pixels) for block in blocks]
    # The largest and most crowded blocks come first, as they have the fewest possible places.
    centres = np.array([block.centre for block in blocks])
    distances = np.hypot(*(centres[:, None] - centres[None]).transpose(2, 0, 1))
    near = np.sort(distances, axis=1)[:, : 1 + len(blocks) // 3].sum(axis=1)
    order = np.lexsort((near, [-len(block.labels) for block in blocks]))
    alone = [_cost_alone(index, boxes, blocks, pixels) for index, boxes in enumerate(around)]
    placed: dict[int, Array] = {}
    for _ in range(ROUNDS):
        before = dict(placed)
        for index in map(int, order):
            others = {other: box for other, box in placed.items() if other != index}
            placed[index] = _choose(index, around[index], alone[index], blocks, others, pixels)
        if before and all(np.array_equal(box, placed[index]) for index, box in before.items()):
            # Further rounds would choose the same places.
            break
    return np.array([placed[index] for index in range(len(blocks))])


def _candidates(block: Block, inside: Bbox, pixels: float) -> Array:
    """Returns boxes around the points of `block` that lie within the axes, near ones first."""
    width, height = block.size
    reach = np.hypot(*(block.points - block.centre).T).max()
    distances = reach + np.geomspace(NEAREST_PT, FARTHEST_PT, STEPS) * pixels
    angles = np.arange(ANGLES) * (2 * np.pi / ANGLES)
    along, across = np.cos(angles), np.sin(angles)
    x, y = block.centre
    # The side or corner of the box that faces the points has the given distance from them.
    middle_x = x + along * distances[:, None] + np.clip(along * 2, -1, 1) * width / 2
    middle_y = y + across * distances[:, None] + np.clip(across * 2, -1, 1) * height / 2
    left, bottom = (middle_x - width / 2).ravel(), (middle_y - height / 2).ravel()
    boxes = np.column_stack([left, bottom, left + width, bottom + height])
    fits = (
        (boxes[:, 0] >= inside.x0)
        & (boxes[:, 1] >= inside.y0)
        & (boxes[:, 2] <= inside.x1)
        & (boxes[:, 3] <= inside.y1)
    )
    return boxes[fits] if fits.any() else boxes[:1]


def _cost_alone(index: int, boxes: Array, blocks: Sequence[Block], pixels: float) -> Array:
    """Returns the cost of each of `boxes` for the block `index` if no other block is placed."""
    block = blocks[index]
    ends = _nearest(boxes, block.centre)
    own = np.hypot(*(ends - block.centre).T)
    cost = own / pixels
    margin = MARKER_PT * pixels
    for number, other in enumerate(blocks):
        for point in other.points:
            marker = np.concatenate([point - margin, point + margin])
            cost += OVER_POINT * _overlap(boxes, marker)
            if number != index:
                cost += LINE_OVER_POINT * _line_meets_box(block.centre, ends, marker)
                cost += AMBIGUOUS * (np.hypot(*(_nearest(boxes, point) - point).T) < own)
    return cost


def _choose(
    index: int,
    boxes: Array,
    alone: Array,
    blocks: Sequence[Block],
    placed: dict[int, Array],
    pixels: float,
) -> Array:
    """Returns the box of least cost for the block `index`, with the other boxes in `placed`."""
    block = blocks[index]
    ends = _nearest(boxes, block.centre)
    cost = alone.copy()
    air = CLEARANCE_PT * pixels * np.array([-1, -1, 1, 1])
    for number, box in placed.items():
        owner = blocks[number].centre
        end = _nearest(box[None], owner)[0]
        cost += OVER_BLOCK * _overlap(boxes, box + air)
        cost += LINE_OVER_BLOCK * _line_meets_box(block.centre, ends, box)
        cost += LINE_OVER_BLOCK * _boxes_meet_line(boxes, owner, end)
        cost += LINES_CROSS * _lines_cross(block.centre, ends, owner, end)
    return boxes[np.argmin(cost)]


def _nearest(boxes: Array, point: Array) -> Array:
    """Returns the point of each box that is nearest to `point`."""
    return np.clip(point, boxes[:, :2], boxes[:, 2:])


def _overlap(boxes: Array, other: Array) -> Mask:
    """Returns for each box whether it overlaps `other`."""
    return (
        (boxes[:, 0] < other[2])
        & (boxes[:, 2] > other[0])
        & (boxes[:, 1] < other[3])
        & (boxes[:, 3] > other[1])
    )


SAMPLES = np.linspace(0.05, 0.95, 16)
"""Sample positions on a line, as shares of its length."""


def _line_meets_box(start: Array, ends: Array, box: Array) -> Mask:
    """Returns for each of `ends` whether the line from `start` passes over `box`."""
    along = start + SAMPLES[:, None, None] * (ends - start)
    return _anywhere((along > box[:2]) & (along < box[2:]))


def _boxes_meet_line(boxes: Array, start: Array, end: Array) -> Mask:
    """Returns for each box whether the line from `start` to `end` passes over it."""
    along = (start + SAMPLES[:, None] * (end - start))[:, None]
    return _anywhere((along > boxes[:, :2]) & (along < boxes[:, 2:]))


def _anywhere(is_inside: Mask) -> Mask:
    """Returns for each box (last axis) whether any sample (first axis) is inside it."""
    return np.logical_or.reduce(np.logical_and.reduce(is_inside, axis=2), axis=0)


def _lines_cross(start: Array, ends: Array, other: Array, other_end: Array) -> Mask:
    """Returns for each of `ends` whether the line from `start` crosses the line `other`."""

    def side(a: Array, b: Array, c: Array) -> Array:
        return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
            c[..., 0] - a[..., 0]
        )

    apart = side(start, ends, other) * side(start, ends, other_end)
    across = side(other, other_end, start) * side(other, other_end, ends)
    return (apart < 0) & (across < 0)
