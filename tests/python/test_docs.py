"""What the documentation shows is carried out: its pages are tests."""

import re
from pathlib import Path

import pytest

import fadeout
import gather
import notebooks
import session
from conftest import ROOT
from session import Block, Failed, Session

DOCS = ROOT / "docs"
STEPS = sorted((DOCS / "tutorial").glob("[1-9]*.md"))
HOWTO = sorted(path for path in (DOCS / "howto").glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("page", STEPS + HOWTO, ids=lambda page: page.stem)
def test_every_block_of_a_page_does_what_the_page_says(page: Path, tmp_path: Path):
    session.carry_out(page, tmp_path)


def test_there_are_six_steps_and_ten_questions():
    assert len(STEPS) == 6
    assert len(HOWTO) >= 10


@pytest.mark.parametrize("page", STEPS, ids=lambda page: page.stem)
def test_a_step_shows_a_figure_and_holds_its_numbers(page: Path):
    kinds = [block.kind for block in session.blocks(page.read_text(encoding="utf-8"))]
    assert "drawn" in kinds
    assert "claims" in kinds


def test_the_first_page_leads_to_every_kind_of_page():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in ("quickstart", "tutorial/index", "howto/index", "limits", "peers", "validation"):
        assert f"\n{page}\n" in text, page
    for page in ("gallery", "scenario", "catalog", "tables", "api"):
        assert f"\ngenerated/{page}\n" in text, page


def test_the_reference_has_everything_public():
    page = gather.api()
    for name in set(fadeout.__all__) - {"__version__"}:
        assert re.search(rf"auto\w+:: fadeout[\w.]*\.{re.escape(name)}$", page, re.M), name


@pytest.mark.parametrize("folder", ["models", "algorithms"])
def test_no_formula_is_set_as_code(folder: str):
    for path in sorted((DOCS / folder).glob("*.md")):
        text = path.read_text(encoding="utf-8")
        without_math = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
        indented = re.findall(r"^ {4}(?![ *-]).*$", without_math, re.M)
        assert not [line for line in indented if "=" in line], path.name
        for language in re.findall(r"^```+(.*)\n", text, re.M)[::2]:
            assert language, f"{path.name}: a block of no language"


def test_the_readme_has_the_counts_of_the_packetdrill_page():
    page, readme = (
        (ROOT / name).read_text("utf-8") for name in ("docs/packetdrill.md", "README.md")
    )
    counts = re.findall(r"\| (\d+ of \d+), \d+ % \|", page)
    assert len(counts) == 2
    assert f"{counts[0]} and {counts[1]} pass" in readme


def test_a_page_that_is_wrong_is_found(tmp_path: Path):
    here = Session(tmp_path)
    with pytest.raises(Failed, match="exit status 2, not 0"):
        here.run(Block("console", "", "$ fadeout run\n"))
    with pytest.raises(AssertionError):
        here.run(Block("claims", "", "assert 2 + 2 == 5\n"))
    with pytest.raises(Failed, match="no figure"):
        here.run(Block("drawn", "nowhere.png", ""))


def test_a_command_over_two_lines_is_one():
    body = "$ fadeout run a.toml \\\n    --seed 7\noutput\n$ ls\n"
    assert list(session.commands(body)) == ["fadeout run a.toml --seed 7", "ls"]


@pytest.mark.parametrize("page", STEPS, ids=lambda page: page.stem)
def test_the_notebook_of_a_step_is_current(page: Path):
    written = (notebooks.NOTEBOOKS / f"{page.stem}.ipynb").read_text(encoding="utf-8")
    assert written == notebooks.notebook(page), "make notebooks"
