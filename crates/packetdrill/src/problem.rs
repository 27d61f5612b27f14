//! Why a script did not pass.

/// The reason for which a script did not pass, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    /// Line of the script, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// What the script expects and what came instead, as packets of the language.
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// The endpoint did something else than the script expects.
    Failed,
    /// The script is not of the language.
    Invalid,
    /// The script uses something that this runner does not have.
    Unsupported,
}

impl Problem {
    fn new(kind: ProblemKind, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            kind,
            line,
            message: message.into(),
            expected: None,
            actual: None,
        }
    }
    pub(crate) fn invalid(line: usize, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Invalid, line, message)
    }
    pub(crate) fn unsupported(line: usize, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Unsupported, line, message)
    }
    pub(crate) fn failed(line: usize, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Failed, line, message)
    }
    /// Adds what was expected and what came.
    pub(crate) fn between(
        mut self,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        self.expected = Some(expected.into());
        self.actual = Some(actual.into());
        self
    }
}
