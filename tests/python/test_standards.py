"""The list of standards: doc comments in the fixed form, and the page that is made of them."""

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

from conftest import ROOT

TOOL = ROOT / "tools" / "standards.py"


@pytest.fixture(scope="module")
def standards() -> ModuleType:
    spec = importlib.util.spec_from_file_location("standards", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["standards"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current_and_every_clause_in_the_fixed_form():
    outcome = subprocess.run(
        [sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "/// The law's state (RFC 8289 section 5.2).\nfn law() {}",
            "/// The law's state.\n///\n/// Standard: RFC 8289 §5.2.\nfn law() {}",
        ),
        (
            "    /// RFC 6298 rule 5.3: starts the timer (RFC 8033 sections\n"
            "    /// 4.1 and 5.4, appendix A), if any.\n    pub fn start() {}",
            "    /// Starts the timer, if any.\n    ///\n"
            "    /// Standard: RFC 6298 rule 5.3; RFC 8033 §4.1, §5.4, §A.\n    pub fn start() {}",
        ),
        (
            "/// A bearer (TS 38.322 5.2.3, TS 36.322 clause 5.1.3, Table 7.1).\n///\n"
            "/// # Errors\n/// None.\n#[inline]\nconst fn bearer() {}",
            "/// A bearer.\n///\n/// Standard: TS 38.322 §5.2.3; TS 36.322 §5.1.3, Table 7.1.\n"
            "///\n/// # Errors\n/// None.\n#[inline]\nconst fn bearer() {}",
        ),
        (
            "/// Begins recovery (RFC 6675 section 5 step 4.3).\n///\n"
            "/// As vehicles do: TR 37.885 clause 6.2.1.\nfn begin() {}",
            "/// Begins recovery.\n///\n/// As vehicles do.\n///\n"
            "/// Standard: RFC 6675 §5, step 4.3; TR 37.885 §6.2.1.\nfn begin() {}",
        ),
        (
            "/// NR (TS 38.331 and TS 36.331 clause 6.3.2) and Nagle (as it is, RFC 9293).\n"
            "fn both() {}",
            "/// NR and Nagle (as it is).\n///\n"
            "/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2; RFC 9293.\nfn both() {}",
        ),
        (
            "/// A size (RFC 1071).\n///\n/// Standard: RFC 2018 §3.\nstruct Size;",
            "/// A size.\n///\n/// Standard: RFC 2018 §3; RFC 1071.\nstruct Size;",
        ),
    ],
)
def test_clauses_are_put_into_the_fixed_form(standards: ModuleType, text: str, expected: str):
    assert standards.fixed_text(text) == expected
    assert standards.fixed_text(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "/// RFC 6298 keeps plain SRTT.\nfn mean() {}",
        "/// PAWS (RFC 7323 section 5) has nothing to protect.\nfn nothing() {}",
        "/// - a list (RFC 6298)\nfn list() {}",
        "/// As Linux does (RFC 5682 section 3, the SACK version).\nfn linux() {}",
        "struct Row {\n    /// A field (RFC 6298).\n    rto: u32,\n}",
        "table! {\n    /// A row (RFC 6298).\n    pub struct Row {}\n}",
        "#[cfg(test)]\nmod tests {\n    /// A test (RFC 6298).\n    fn test() {}\n}",
    ],
)
def test_what_is_no_trace_stays_as_it_is(standards: ModuleType, text: str):
    assert standards.fixed_text(text) == text


def test_an_item_is_called_by_its_owner(standards: ModuleType):
    text = (
        "//! A module.\n\n/// A type.\npub struct Law<T>(T);\n\n"
        "impl<T: Into<u32>> Trait for Law<T> {\n    /// A rule.\n    #[inline]\n"
        "    pub const fn rule() {}\n}\n\n/// Alone.\nfn alone() {}\n"
    )
    found = [comment.item for comment in standards.comments(text.split("\n"))]
    assert found == ["", "Law", "Law::rule", "alone"]


def test_a_line_that_is_not_in_the_fixed_form_is_an_error(standards: ModuleType):
    for line in ("Standard: RFC 9438 §4.2", "Standard: the usual one."):
        with pytest.raises(ValueError, match="expected `Standard: "):
            standards.stated([line])


@pytest.mark.parametrize(
    "line",
    [
        "Standard: TR 38.901 Table 7.3-1, TR 38.802 Table A.2.1-8.",
        "Standard: TS 38.331 §6.4 (less one).",
        "Standard: RFC 9768 table 2.",
        "Standard: RFC 7323 §4.3 step 2.",
        "Standard: RFC 7323 §4.3",
    ],
)
def test_a_place_that_is_none_is_an_error(standards: ModuleType, line: str):
    with pytest.raises(ValueError, match="expected"):
        standards.stated([line])


def test_what_macros_declare_is_traced_by_its_type(standards: ModuleType):
    text = (
        "fadeout_core::parameters! {\n    /// A law.\n    ///\n    /// Standard: RFC 8289 §5.\n"
        "    pub struct Law {\n        /// How long (RFC 8289 section 4.3).\n"
        '        target: Span = span("5 ms"),\n    }\n}\n\n/// A function.\nfn after() {}'
    )
    found = [
        (one.item, standards.stated(one.lines)[0] + standards.bracketed(one.lines))
        for one in standards.comments(text.split("\n"))
    ]
    clause = standards.Clause
    law, field, after = found
    assert law == ("Law", [clause("RFC 8289", "§5")])
    assert field == ("Law", [clause("RFC 8289", "§4.3")])
    assert after == ("after", [])
    assert standards.fixed_text(text) == text


def test_what_is_there_is_not_said_to_be_left_out(standards: ModuleType):
    found = {"TS 38.321": {"§5.1": ["here"], "§5.9": ["here"]}}

    def listed(left_out: str) -> list[str]:
        return list(standards.left_out_and_listed(found, {"TS 38.321": {"left-out": left_out}}))

    assert listed("Random access (§5.1), bandwidth parts (§5.15).") == ["TS 38.321 §5.1"]
    assert listed("All but clause 5.1 and Table 7.1-1; clause 5.9.") == ["TS 38.321 §5.9"]
    assert listed("Bandwidth parts (§5.15).") == []
