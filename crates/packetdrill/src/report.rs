//! What became of a script.

use crate::problem::{Problem, ProblemKind};
use serde_json::json;
use std::fmt::Write;

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint did all that the script expects.
    Passed,
    /// It did something else.
    Failed,
    /// The script is not of the language.
    Invalid,
    /// The script uses something that this runner does not have.
    Unsupported,
}

impl Outcome {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Invalid => "invalid",
            Outcome::Unsupported => "unsupported",
        }
    }
}

/// What became of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Name of the script.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Line where it ended, from 1; `None` when it passed.
    pub line: Option<usize>,
    /// Text of that line.
    pub source: String,
    /// What went wrong; empty when it passed.
    pub message: String,
    /// What the script expects there.
    pub expected: Option<String>,
    /// What came instead.
    pub actual: Option<String>,
    /// Settings and commands that have no effect, with their lines.
    pub warnings: Vec<(usize, String)>,
    /// What the script printed.
    pub output: Vec<String>,
    /// Segments, calls and statements that were as expected.
    pub checks: usize,
}

impl Report {
    pub(crate) fn new(name: &str, text: &str, result: Result<(), Problem>) -> Report {
        let mut report = Report {
            name: name.to_owned(),
            outcome: Outcome::Passed,
            line: None,
            source: String::new(),
            message: String::new(),
            expected: None,
            actual: None,
            warnings: Vec::new(),
            output: Vec::new(),
            checks: 0,
        };
        if let Err(problem) = result {
            report.outcome = match problem.kind {
                ProblemKind::Failed => Outcome::Failed,
                ProblemKind::Invalid => Outcome::Invalid,
                ProblemKind::Unsupported => Outcome::Unsupported,
            };
            let line = text.lines().nth(problem.line.saturating_sub(1));
            report.source = line.unwrap_or("").trim().chars().take(200).collect();
            report.line = Some(problem.line);
            report.message = problem.message;
            report.expected = problem.expected;
            report.actual = problem.actual;
        }
        report
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        let warnings = self.warnings.iter();
        json!({
            "name": self.name,
            "outcome": self.outcome.name(),
            "line": self.line,
            "source": self.source,
            "message": self.message,
            "expected": self.expected,
            "actual": self.actual,
            "warnings": warnings
                .map(|(line, message)| json!({ "line": line, "message": message }))
                .collect::<Vec<_>>(),
            "output": self.output,
            "checks": self.checks,
            "text": self.render(),
        })
        .to_string()
    }

    /// The report in words: where, what, the line, and what was expected against what came.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        match self.line {
            None => {
                let _ = write!(text, "{}: passed, {} checks", self.name, self.checks);
            }
            Some(line) => {
                let _ = write!(
                    text,
                    "{}:{line}: {}: {}",
                    self.name,
                    self.outcome.name(),
                    self.message
                );
                if !self.source.is_empty() {
                    let _ = write!(text, "\n  line {line}: {}", self.source);
                }
                if let Some(expected) = &self.expected {
                    let _ = write!(text, "\n  expected: {expected}");
                }
                if let Some(actual) = &self.actual {
                    let _ = write!(text, "\n  actual:   {actual}");
                }
            }
        }
        text
    }
}
