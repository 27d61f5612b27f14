"""Random scenarios for the comparison with a kernel, and the distribution of their errors."""

import csv
import dataclasses
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fadeout
from conftest import needs_kernel
from fadeout.cli.app import app
from fadeout.kernel import Kernel
from fadeout.validate.kernel import Sides, matrix, spread
from fadeout.validate.kernel.cases import Case
from fadeout.validate.kernel.compared import QUANTITIES, Judged
from fadeout.validate.kernel.draw import COMPETING, FAMILIES, draw
from fadeout.validate.kernel.matrix import FILE

RUNNER = CliRunner()


@pytest.mark.filterwarnings("ignore")
def test_drawn_scenarios_are_valid_on_both_sides():
    for case in draw(60, seed=4, seeds=5):
        pair = case.sides("6.12")
        for text in (pair.ours, pair.kernel):
            fadeout.check(text, set=pair.settings(1))


def test_scenarios_of_a_seed_do_not_depend_on_their_number():
    few, many = draw(12, seed=3, seeds=5), draw(40, seed=3, seeds=5)
    assert few == many[:12]
    others = draw(12, seed=4, seeds=5)
    assert not any(a.document == b.document for a, b in zip(few, others, strict=True))


def test_families_take_turns_and_only_competing_flows_have_several_runs():
    found = draw(30, seed=1, seeds=7)
    assert Counter(case.group for case in found) == dict.fromkeys(FAMILIES, 3)
    for case in found:
        assert len(case.seeds) == (7 if case.group in COMPETING else 1)
    only = draw(30, seed=1, families=["cell"], seeds=7)
    assert only == [case for case in found if case.group == "cell"]


def test_the_draws_cover_the_space():
    text = str([case.document for case in draw(400, seed=2, seeds=5)])
    for word in (
        *("red", "codel", "fq-codel", "pie", "dualpi2", "classic", "dctcp"),
        *("gilbert-elliott", "jitter", "held", "dropped-on-arrival", "steps", "reverse"),
        *("arrivals", "web", "ftp", "request-response", "on-off", "backup", "um"),
        *("maximum-send-buffer", "maximum-receive-window"),
    ):
        assert f"'{word}'" in text, word


def flow_error(theirs: list[float], ours: list[float], number: int = 0) -> spread.FlowError:
    """Returns the error of a flow: of several runs a side if more than one value is given."""
    name = "several" if len(theirs) > 1 else "short"
    at = tuple(FAMILIES).index(name)
    case = draw(10 * number + at + 1, seed=1, families=[name], seeds=5)[-1]
    return spread.FlowError(
        case, "a", Judged(QUANTITIES[0], tuple(theirs), tuple(ours), case.is_chaotic)
    )


def test_a_family_has_the_quantiles_of_its_errors():
    sizes = [0.0, 0.002, 0.005, 0.009, 0.02, 0.029, 0.1, 0.4]
    errors = [flow_error([10.0], [10.0 * (1 + size)], n) for n, size in enumerate(sizes)]
    family, scenarios, flows, middle, most, worst, within_1, within_3, _ = spread.cells(
        "short", errors
    )
    assert (family, scenarios, flows) == ("short", "8", "8")
    assert middle == f"{np.percentile(sizes, 50):.2%}"
    assert most == f"{np.percentile(sizes, 90):.1%}"
    assert (worst, within_1, within_3) == ("40%", "4", "6 (75%)")


def test_chance_is_no_error_and_the_worst_are_scenarios(tmp_path: Path):
    spreads = [1.0, 2.0, 3.0, 4.0, 5.0]
    by_chance = flow_error(spreads, [2.0, 3.0, 4.0, 5.0, 6.0])
    differs = flow_error(spreads, [11.0, 12.0, 13.0, 14.0, 15.0], 1)
    single = flow_error([10.0], [9.0])
    nothing = flow_error([0.0], [0.0], 1)
    errors = [by_chance, differs, single, nothing]
    assert not by_chance.differs and differs.differs
    assert spread.worst(errors) == [differs, single]
    files = spread.write(tmp_path, errors, "6.12")
    assert [path.name[:3] for path in files] == ["01-", "02-"]
    assert "goodput -10.0%" in files[1].read_text()
    for path, one in zip(files, [differs, single], strict=True):
        fadeout.check(path)
        assert tomllib.loads(path.read_text()) == one.case.document
    with (tmp_path / "flows.csv").open() as file:
        assert [row["error"] for row in csv.DictReader(file)][2] == "-0.100000"
    # A second call with fewer errors leaves no file of the first.
    assert len(spread.write(tmp_path, [single], "6.12")) == 1
    assert len(list((tmp_path / "worst").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--random", "10", "--seeds", "4"], "expected 5 or more"),
        (["--random", "10", "--only", "sevral"], "did you mean 'several'"),
        (["--random", "2", "--only", "several"], "expected --random 10 or more"),
        (["--random", "2", "x.toml"], "expected no scenario"),
        (["--random", "2", "--kernel", "0.99"], "fadeout kernel build builds one"),
        (["--seed", "2", "x.toml"], "expected --random N"),
        (["--random", "0"], "0 is not in the range"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str):
    result = RUNNER.invoke(app, ["validate", "kernel", *arguments])
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.stderr.replace("│", " ").split()), result.stderr


@pytest.fixture
def fadeout_on_both_sides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Lets fadeout's TCP run in place of a kernel."""
    sides = Case.sides

    def both_ours(case: Case, kernel: str) -> Sides:
        pair = sides(case, kernel)
        return dataclasses.replace(pair, kernel=pair.ours)

    monkeypatch.setattr(Case, "sides", both_ours)
    monkeypatch.setattr(matrix, "find", lambda _: Kernel("6.12.117", tmp_path))


@pytest.mark.usefixtures("fadeout_on_both_sides")
def test_the_same_tcp_on_both_sides_has_no_error(tmp_path: Path):
    # The fourth scenario has competing flows.
    command = ["validate", "kernel", "--random", "6", "--seed", "3", "--seeds", "5"]
    command += ["-o", str(tmp_path), "--jobs", "1"]
    result = RUNNER.invoke(app, command)
    assert result.exit_code == 0, result.stderr
    assert "5 of 5 flows without competition lie within 3 %" in result.stdout
    assert "competing flows show no difference at 1 %" in result.stdout
    with (tmp_path / "flows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["family"] for row in rows} == set(tuple(FAMILIES)[:6])
    # A connection with several paths has one row.
    assert sum(row["family"] == "multipath" for row in rows) == 1
    assert all(float(row["error"]) == 0 for row in rows)
    assert not list((tmp_path / "worst").iterdir())
    assert "| files |" in (tmp_path / "table.md").read_text()
    runs = (tmp_path / FILE).read_text()
    assert runs.count("\n") == 2 * (5 + 5)
    assert RUNNER.invoke(app, command).exit_code == 0
    assert (tmp_path / FILE).read_text() == runs


@needs_kernel
def test_a_second_call_continues_where_the_first_ended(tmp_path: Path):
    command = ["validate", "kernel", "--random", "2", "--seed", "5", "-o", str(tmp_path)]
    first = RUNNER.invoke(app, command)
    assert first.exit_code == 0, first.stderr
    assert "2 of 2 flows without competition" in first.stdout
    runs = (tmp_path / FILE).read_text()
    assert runs.count("\n") == 4
    assert RUNNER.invoke(app, command).exit_code == 0
    assert (tmp_path / FILE).read_text() == runs
