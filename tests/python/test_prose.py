"""Tests of the prose linter: hand-marked sentences, other text, and the baseline."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "prose.py"
EXAMPLES = Path(__file__).with_name("prose-examples.md")


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prose"] = module
    spec.loader.exec_module(module)
    return module


def rules(prose: ModuleType, text: str, suffix: str = ".md") -> list[str]:
    return [finding.rule for finding in prose.findings(text, suffix)]


def examples() -> list[tuple[str, str]]:
    """Returns the rows of the table. ` / ` separates texts of different places."""
    rows = EXAMPLES.read_text().splitlines()[6:]
    cells = [row.strip("| ").split(" | ") for row in rows]
    return [
        (before.replace(" / ", "\n\n"), plain.replace(" / ", "\n\n")) for before, plain in cells
    ]


def test_no_plain_sentence_is_flagged(prose: ModuleType):
    assert len(examples()) == 50
    assert [plain for _, plain in examples() if rules(prose, plain)] == []


def test_most_unclear_sentences_are_flagged(prose: ModuleType):
    flagged = [before for before, _ in examples() if rules(prose, before)]
    # A word list cannot find the remaining ones, in which only words are wrong ("two products").
    assert len(flagged) >= 38


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("What is lost counts.", "opener"),
        ("Whether it is idle.", "opener"),
        ("Of ten packets two are lost.", "opener"),
        ("It counts bytes.", "pronoun"),
        ("This is the rate.", "pronoun"),
        ("One with no name.", "pronoun"),
        ("The sender keeps what is lost.", "what"),
        ("The flow that packets are of.", "of"),
        ("word " * 26 + ".", "long"),
        (
            "The queue holds packets of all the flows there are; the link sends them in order.",
            "semicolon",
        ),
    ],
)
def test_each_rule_finds_its_sentence(prose: ModuleType, text: str, rule: str):
    assert rules(prose, text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "What does a blockage cost?",
        "This page names the keys. It has three parts.",
        "By default the queue holds 100 packets.",
        "Whether to resend the first segment.",
        "The value is `a; b; c`, as `what is here` says in its one example for all readers here.",
        "| What; it is | of |\n|---|---|",
        "```toml\nwhat = 1; of = 2\n```",
        "    what = indented; code",
        "# What it models",
        "See [the page](https://example.org/what;of;that) for the values.",
        "As in TS 38.331 clause 5.3, e.g. Fig. 3 of it, cf. RFC 9438, the timer runs.",
    ],
)
def test_no_finding_where_the_text_is_plain_or_no_prose(prose: ModuleType, text: str):
    assert rules(prose, text) == []


def test_an_abbreviation_does_not_end_a_sentence(prose: ModuleType):
    half = "the rate of the link is low, " * 2
    assert rules(prose, f"Here {half} e.g. Fig. 3 has {half} and no more.") == ["long"]


def test_comments_of_both_languages_are_found_at_their_lines(prose: ModuleType):
    rust = """\
let s = "// What";
/// Whether it is.
///
/// Returns
/// what is left.
x(); // It is.
"""
    found = [(f.line, f.rule) for f in prose.findings(rust, ".rs")]
    assert found == [(2, "opener"), (4, "what"), (6, "pronoun")]
    python = """\
S = '''
# What
'''


def f():
    '''Text.

    Args:
        a: what counts.
    '''
    # It is.
"""
    found = [(f.line, f.rule) for f in prose.findings(python, ".py")]
    assert found == [(10, "opener"), (12, "pronoun")]


def test_a_long_comment_line_is_found(prose: ModuleType):
    line = "// a name " + "x" * 100
    assert rules(prose, line + "\n", ".rs") == ["width"]
    assert rules(prose, 'let x = "' + "x" * 100 + '";\n', ".rs") == []


def test_a_description_of_the_schema_counts_once(prose: ModuleType):
    line = '    "description": "What it is",\n'
    assert rules(prose, line * 3, ".json") == ["opener"]


def test_the_comments_of_a_scenario_are_read_but_for_its_commands(prose: ModuleType):
    scenario = """\
# It blocks the link.
#
# Try:  --set what=of
#       --set of=what
#
# What is left counts.

duration = "10 s"  # of what
rate = "#; what"
"""
    found = [(f.line, f.rule) for f in prose.findings(scenario, ".toml")]
    assert found == [(1, "pronoun"), (6, "opener"), (8, "opener")]


def test_the_record_never_rises(prose: ModuleType):
    recorded = {"a.md": {"what": 3, "long": 1}, "gone.md": {"what": 1}}
    now = {"a.md": {"what": 1, "long": 4, "of": 2}, "new.md": {"what": 5}}
    assert prose.lowered(recorded, now) == {"a.md": {"what": 1, "long": 1}}


def test_a_renamed_file_keeps_its_counts_and_gets_no_more(prose: ModuleType):
    recorded = {"old.rs": {"what": 2, "long": 1}, "kept.rs": {"what": 1}}
    now = {"new.rs": {"what": 3, "long": 1}, "kept.rs": {"what": 1}}
    limits = prose.allowed(recorded, now, {"new.rs", "kept.rs"})
    assert limits == {"new.rs": {"what": 2, "long": 1}, "kept.rs": {"what": 1}}


def test_moved_text_takes_its_counts_and_no_more(prose: ModuleType):
    recorded = {"a.rs": {"what": 5, "long": 1}, "b.rs": {"what": 1}}
    now = {"b.rs": {"what": 3}, "c.rs": {"what": 9, "of": 1}}
    after = prose.moved(recorded, now, "a.rs", ["b.rs", "c.rs"])
    assert after == {"a.rs": {}, "b.rs": {"what": 3}, "c.rs": {"what": 3}}


def test_more_findings_than_recorded_are_an_error_with_its_place(
    prose: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(prose, "read_baseline", lambda: {"a.md": {"what": 1}})
    finding = prose.Finding(7, "what", "Keeps what is lost.")
    assert prose.check({"a.md": [finding]}) == 0
    assert prose.check({"a.md": [finding, finding]}) == 1
    assert "a.md:7: what: Keeps what is lost." in capsys.readouterr().out
    assert prose.check({"a.md": []}) == 0
    assert "--accept" in capsys.readouterr().out
