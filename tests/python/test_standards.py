"""The trace of standards: doc comments in the fixed form, and the page that is made of them."""

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
