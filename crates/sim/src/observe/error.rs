//! Reasons why a value cannot be observed or set.

/// Reason why a value of a run cannot be observed or set. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ObserveError {
    /// A part of the name is unknown.
    #[error("there is no {what} \"{given}\" in \"{name}\"; expected {expected}")]
    Unknown {
        /// Whole name.
        name: String,
        /// Kind of the unknown part.
        what: &'static str,
        /// Unknown part.
        given: String,
        /// Valid names.
        expected: String,
    },
    /// The subject of the name does not have the value.
    #[error("\"{name}\" has no value: {reason}; expected {expected}")]
    Absent {
        /// Whole name.
        name: String,
        /// Property of the subject.
        reason: String,
        /// Subjects that have the value.
        expected: String,
    },
    /// The value is out of its range, or not a number.
    #[error("\"{name}\" is set to {value}; expected {expected}")]
    OutOfRange {
        /// Name of the value.
        name: String,
        /// Given value.
        value: f64,
        /// Valid values.
        expected: String,
    },
    /// The run refuses the change at this time.
    #[error("\"{name}\" cannot be set: {reason}")]
    Refused {
        /// Name of the value.
        name: String,
        /// Reason, and the expected state.
        reason: String,
    },
}
