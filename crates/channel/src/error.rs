//! Errors in the parameters of a channel or an antenna.

use std::ops::RangeInclusive;

/// Error about a parameter value that is out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name} is {value}; expected {expected}")]
pub struct ConfigError {
    /// Name of the parameter.
    pub name: &'static str,
    /// Rejected value.
    pub value: f64,
    /// Range of valid values, with the unit.
    pub expected: String,
}

impl ConfigError {
    pub(crate) fn new(name: &'static str, value: f64, expected: impl Into<String>) -> ConfigError {
        ConfigError {
            name,
            value,
            expected: expected.into(),
        }
    }

    /// Returns an error if the value is outside the range. NaN is outside every range.
    pub(crate) fn within(
        name: &'static str,
        value: f64,
        range: RangeInclusive<f64>,
        unit: &str,
    ) -> Result<(), ConfigError> {
        if range.contains(&value) {
            return Ok(());
        }
        let expected = format!("{} to {} {unit}", range.start(), range.end());
        Err(ConfigError::new(name, value, expected.trim_end()))
    }
}
