"""The pages of the documentation are tests: their blocks run here."""

import json
import re
from pathlib import Path

import pytest

import fadeout
import gather
import generate
import notebooks
import papers
import reference
import session
from conftest import ROOT
from fadeout import _native
from session import Block, Failed, Session

DOCS = ROOT / "docs"
STEPS = sorted((DOCS / "tutorial").glob("[1-9]*.md"))
HOWTO = sorted(path for path in (DOCS / "howto").glob("*.md") if path.stem != "index")
NEEDS = {"own-protocol": "aioquic", "learning": "gymnasium", "7-learning": "gymnasium"}
"""Packages that pages need, beside those of fadeout."""


@pytest.mark.parametrize("page", STEPS + HOWTO, ids=lambda page: page.stem)
def test_every_block_of_a_page_does_what_the_page_says(page: Path, tmp_path: Path):
    if page.stem in NEEDS:
        package = NEEDS[page.stem]
        pytest.importorskip(package, reason=f"{package} is not installed")
    session.carry_out(page, tmp_path)


def test_there_are_seven_steps_and_ten_questions():
    assert len(STEPS) == 7
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
    pages = "".join(reference.pages().values())
    for name in set(fadeout.__all__) - {"__version__"}:
        found = re.findall(rf"auto\w+:: fadeout[\w.]*\.{re.escape(name)}$", pages, re.M)
        assert len(found) == 1, name


def test_the_gallery_goes_from_a_link_to_streets():
    names = [path.stem for path in gather.ordered()]
    assert names[0] == "clean-link"
    assert names[-1] == "street-canyon"


def test_every_entry_of_the_scenario_reference_has_a_heading_of_its_own():
    page = generate.scenario_page(json.loads(_native.schema()))
    headings = re.findall(r"^#+ .*", page, re.M)
    assert len(headings) == len(set(headings))
    assert "#### `[link.NAME.rate]` with `steps`" in headings
    assert "- `[link.NAME.reverse.queue]` is as `[link.NAME.queue]`." in page


@pytest.mark.parametrize("folder", ["models", "algorithms"])
def test_no_formula_is_set_as_code(folder: str):
    for path in sorted((DOCS / folder).glob("*.md")):
        text = path.read_text(encoding="utf-8")
        # Continuation lines of nested lists are indented too. Their math and code are marked.
        without_math = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", "", text, flags=re.S)
        indented = re.findall(r"^ {4}(?![ *-]).*$", without_math, re.M)
        assert not [line for line in indented if "=" in line], path.name
        for language in re.findall(r"^```+(.*)\n", text, re.M)[::2]:
            assert language, f"{path.name}: a block of no language"


def test_the_readme_has_the_counts_of_the_packetdrill_page():
    page, readme = (
        (ROOT / name).read_text("utf-8") for name in ("docs/packetdrill.md", "README.md")
    )
    counts = re.findall(r"\| (\d+ of \d+), \d+ % \|", page)
    assert len(counts) == 3
    assert f"{counts[0]}, {counts[1]} and {counts[2]} pass" in readme


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
    written = json.loads((notebooks.NOTEBOOKS / f"{page.stem}.ipynb").read_text(encoding="utf-8"))
    assert any(cell.get("outputs") for cell in written["cells"]), "make notebooks"
    for cell in written["cells"]:
        cell.update({"outputs": []} if "outputs" in cell else {})
    assert written == json.loads(notebooks.notebook(page)), "make notebooks"


PAGES = {
    "congestion-controls": ["algorithms", "models/congestion-control.md"],
    "profiles": ["models/tcp.md"],
    "applications": ["models/traffic.md"],
    "path-schedulers": ["models/multipath.md"],
    "couplings": ["models/multipath.md", "models/coupled-cubic.md"],
    "queue-disciplines": ["models/queues.md"],
    "radio-access-bearers": ["models/rabs.md"],
    "radios": ["models/radio-access.md"],
    "deployments": ["models/deployment.md"],
    "timings": ["models/equipment.md"],
    "cell-presets": ["models/equipment.md"],
    "host-presets": ["models/hosts.md"],
    "path-losses": ["models/channel.md"],
    "fadings": ["models/channel.md"],
    "blockage-models": ["models/blockage.md", "models/channel.md"],
    "antennas": ["models/antennas.md"],
    "mac-schedulers": ["models/mac.md"],
    "handover-policies": ["models/handover.md"],
    "rlc-modes": ["models/rlc.md"],
    "aqms": ["models/rlc.md"],
    "transports": ["models/traffic.md", "models/quic.md"],
    "quic-congestion-controls": ["models/quic.md"],
    "pdcps": ["models/pdcp.md"],
    "mobility-models": ["models/mobility.md", "models/vehicles.md"],
}
"""Pages or folders of pages on each kind of name in a scenario."""


def test_every_name_of_a_registry_is_on_a_page_of_its_kind():
    for kind in json.loads(_native.catalog())["kinds"]:
        assert kind["plural"] in PAGES, f"no page is listed for {kind['plural']}"
        paths = [DOCS / name for name in PAGES[kind["plural"]]]
        files = [
            each for path in paths for each in (path.glob("*.md") if path.is_dir() else [path])
        ]
        text = "".join(file.read_text("utf-8") for file in files)
        for entry in kind["entries"]:
            # A page may write the name of an algorithm, such as CUBIC, in place of the value.
            words = rf"\b{entry['name'].replace('-', '[- ]')}\b"
            assert re.search(words, text, re.I), f"{kind['plural']}: {entry['name']}"


def test_the_readme_counts_the_items_of_the_papers():
    counts = papers.counts(papers.lines())
    assert counts in (ROOT / "README.md").read_text("utf-8").replace("\n", " ")


INTERVAL = re.compile(r"(\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)")


def rounds_to(given: str, value: float) -> bool:
    """Returns True if `value` has the digits of `given`. Its last digit may be rounded twice."""
    return abs(value - float(given)) <= 0.51 * 10.0 ** -len(given.partition(".")[2])


@pytest.mark.parametrize("report", sorted(papers.RESULTS.glob("*/report.md")), ids=str)
def test_the_intervals_of_the_page_of_a_study_are_those_of_its_report(report: Path):
    page = papers.STUDIES / f"{report.parent.name}.md"
    found = [tuple(map(float, each)) for each in INTERVAL.findall(report.read_text("utf-8"))]
    for mean, half in INTERVAL.findall(" ".join(page.read_text("utf-8").split())):
        assert any(rounds_to(mean, x) and rounds_to(half, y) for x, y in found), (mean, half)


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ("holds holds", papers.WORKS),
        ("holds open", papers.PART),
        ("open open", papers.PART),
        ("holds fails", papers.PART),
        ("open fails", papers.DIFFERS),
        ("open open fails", papers.PART),
        ("holds sign fails", papers.DIFFERS),
        ("sign", papers.DIFFERS),
    ],
)
def test_the_status_of_an_item_follows_from_the_verdicts(verdicts: str, status: str):
    words = {"fails": "does not hold", "sign": "holds in sign only"}
    values = [papers.Value("", "", "", "", words.get(one, one)) for one in verdicts.split()]
    assert papers.status_of(values, is_explained=True) == status


def test_an_item_that_no_report_has_is_found():
    paper = {"title": "", "study": "slow-start"}
    with pytest.raises(ValueError, match="no claim ramp_days"):
        papers.line(paper, {"item": "ramp", "claims": ["ramp_days"]})
    with pytest.raises(ValueError, match="no table 'Table 9'"):
        papers.line(paper, {"item": "ramp", "cells": [["ms", "Table 9", "1 ms", "DL"]]})
