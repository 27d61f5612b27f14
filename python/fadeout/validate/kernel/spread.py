"""Distribution of the errors of random cases, by family, and their worst cases as files."""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median, quantiles

from fadeout import _toml
from fadeout.validate.kernel.cases import Case
from fadeout.validate.kernel.compared import GOODPUT, SIGNIFICANCE, Compared, Judged
from fadeout.validate.kernel.draw import FAMILIES
from fadeout.validate.kernel.matrix import Runs, compared_by_case, markdown_table

WORST = 10
"""Number of scenarios that are written as the worst."""

TABLE = (
    "family",
    "scenarios",
    "flows",
    "median",
    "90th percentile",
    "worst",
    "within 1 %",
    "within 3 %",
    "no difference at 1 %",
)


@dataclass(frozen=True)
class FlowError:
    """The error of a flow: of its goodput, and so of its completion time."""

    case: Case
    flow: str
    goodput: Judged

    @property
    def competes(self) -> bool:
        """True if the flow shares its link with others, so that milliseconds decide its result."""
        return self.case.is_chaotic

    @property
    def error(self) -> float:
        """Relative error of our median. Infinite if the kernel delivered nothing and we did."""
        theirs, ours = median(self.goodput.kernel), median(self.goodput.ours)
        if theirs == 0:
            return 0.0 if ours == 0 else math.inf
        return ours / theirs - 1

    @cached_property
    def differs(self) -> bool:
        """True if the distributions of both sides differ at 1 % (Kolmogorov, Smirnov)."""
        return self.goodput.p_value < SIGNIFICANCE

    @property
    def weight(self) -> float:
        """Size of the error in the order of the worst. Zero if chance explains the error."""
        return 0.0 if self.competes and not self.differs else abs(self.error)


def flow_errors(runs: Runs) -> list[FlowError]:
    """Returns the error of each flow of each case that has runs of both sides.

    Paths of a Multipath TCP connection are left out, because the connection counts.
    """
    found = []
    for case, rows in compared_by_case(runs):
        for flow, row in rows.items():
            if flow.rpartition("/")[0] not in rows:
                found.append(FlowError(case, flow, _goodput(row)))
    return found


def _goodput(row: Compared) -> Judged:
    return next(one for one in row.rows() if one.quantity.key == "goodput_mbps")


def cells(family: str, errors: Sequence[FlowError]) -> list[str]:
    """Returns the row of a family in the table."""
    sizes = sorted(abs(one.error) for one in errors)
    same, competing = _same(errors)
    near = _within(errors, GOODPUT)
    return [
        family,
        str(len({one.case.name for one in errors})),
        str(len(sizes)),
        f"{median(sizes):.2%}",
        f"{_percentile_90(sizes):.1%}",
        f"{sizes[-1]:.0%}",
        str(_within(errors, 0.01)),
        f"{near} ({near / len(errors):.0%})",
        f"{same} of {competing} ({same / competing:.0%})" if competing else "",
    ]


def _within(errors: Sequence[FlowError], most: float) -> int:
    """Returns the number of flows whose error is at most `most`."""
    return sum(abs(one.error) <= most for one in errors)


def _same(errors: Sequence[FlowError]) -> tuple[int, int]:
    """Returns the number of competing flows without a difference, and that of competing flows."""
    competing = [one for one in errors if one.competes]
    return sum(not one.differs for one in competing), len(competing)


def _percentile_90(sizes: Sequence[float]) -> float:
    if len(sizes) == 1:
        return sizes[0]
    return quantiles(sizes, n=10, method="inclusive")[-1]


def table(errors: Sequence[FlowError]) -> list[list[str]]:
    """Returns the rows of the table: each family, all flows alone on their paths, and the rest."""
    rows = []
    for family in FAMILIES:
        if own := [one for one in errors if one.case.group == family]:
            rows.append(cells(family, own))
    for name, competes in (("one flow at a time", False), ("competing flows", True)):
        if own := [one for one in errors if one.competes is competes]:
            rows.append(cells(name, own))
    return rows


def markdown(errors: Sequence[FlowError]) -> str:
    """Returns the table in Markdown."""
    return markdown_table(TABLE, table(errors))


def headline(errors: Sequence[FlowError]) -> str:
    """Returns a sentence with the shares of flows that agree."""
    alone = [one for one in errors if not one.competes]
    same, competing = _same(errors)
    parts = []
    if alone:
        near = _within(alone, GOODPUT)
        parts.append(f"{near} of {len(alone)} flows without competition lie within 3 %")
    if competing:
        parts.append(f"{same} of {competing} competing flows show no difference at 1 %")
    return ", and ".join(parts)


def worst(errors: Iterable[FlowError]) -> list[FlowError]:
    """Returns the flow with the largest error of each of the worst scenarios, the worst first."""
    by_case: dict[str, FlowError] = {}
    for one in errors:
        known = by_case.get(one.case.name)
        if known is None or one.weight > known.weight:
            by_case[one.case.name] = one
    ranked = sorted(by_case.values(), key=lambda one: one.weight, reverse=True)
    return [one for one in ranked[:WORST] if one.weight > 0]


def write(folder: Path, errors: Sequence[FlowError], kernel: str) -> list[Path]:
    """Writes the table, the errors of all flows, and the worst scenarios.

    Returns the files of the scenarios. Files of an earlier call are replaced.
    """
    (folder / "table.md").write_text(markdown(errors), encoding="utf-8")
    with (folder / "flows.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["case", "family", "flow", "runs", "linux_mbps", "fadeout_mbps", "error"])
        for one in errors:
            rows.writerow(
                [
                    *(one.case.name, one.case.group, one.flow, len(one.goodput.kernel)),
                    f"{median(one.goodput.kernel):.6g}",
                    f"{median(one.goodput.ours):.6g}",
                    f"{one.error:.6f}",
                ]
            )
    files = []
    target = folder / "worst"
    target.mkdir(exist_ok=True)
    for old in target.glob("*.toml"):
        old.unlink()
    for number, one in enumerate(worst(errors), start=1):
        path = target / f"{number:02}-{one.case.file_name}.toml"
        path.write_text(_described(one, kernel), encoding="utf-8")
        files.append(path)
    return files


def _described(one: FlowError, kernel: str) -> str:
    """Returns the text of a scenario, with the numbers of both sides as comments."""

    def values(of: Sequence[float]) -> str:
        return " ".join(f"{value:.4g}" for value in of)

    assert isinstance(one.case.document, dict)
    lines = [
        f"# {one.case.name}, flow {one.flow}: goodput {one.error:+.1%}",
        f"# Linux {kernel}, Mbit/s by seed: {values(one.goodput.kernel)}",
        f"# fadeout, Mbit/s by seed: {values(one.goodput.ours)}",
        f"# fadeout validate kernel FILE --seeds {len(one.goodput.kernel)}",
    ]
    return "\n".join(lines) + "\n" + _toml.dumps(one.case.document)
