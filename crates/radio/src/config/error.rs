//! Errors in the configuration of a radio access.

use crate::channel::ConfigError;
use crate::phy::PhyError;
use crate::rlc::ParameterError;

/// Reason why a radio access cannot be built. Every message names the cell, UE or bearer, and the
/// expected values.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RadioError {
    /// Invalid physical layer of a cell.
    #[error("cell {cell}: {}", self.reason())]
    Phy {
        /// Index of the cell.
        cell: usize,
        /// Error of the physical layer.
        error: PhyError,
    },
    /// Invalid channel of a cell.
    #[error("cell {cell}: {}", self.reason())]
    Channel {
        /// Index of the cell.
        cell: usize,
        /// Error of the channel.
        error: ConfigError,
    },
    /// A value of a cell is out of range.
    #[error("cell {cell}: {}", self.reason())]
    Cell {
        /// Index of the cell.
        cell: usize,
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: String,
    },
    /// A value of a UE is out of range.
    #[error("UE {ue}: {}", self.reason())]
    Ue {
        /// Index of the UE.
        ue: usize,
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: String,
    },
    /// Invalid parameter of a bearer's RLC or PDCP.
    #[error("bearer {bearer}: {}", self.reason())]
    Parameter {
        /// Index of the bearer.
        bearer: usize,
        /// Error of the parameter.
        error: ParameterError,
    },
    /// A value of a bearer contradicts other values.
    #[error("bearer {bearer}: {}", self.reason())]
    Bearer {
        /// Index of the bearer.
        bearer: usize,
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// A bearer names a UE that does not exist.
    #[error("bearer {bearer} {}", self.reason())]
    NoUe {
        /// Index of the bearer.
        bearer: usize,
        /// Number of the UE that the bearer names.
        ue: u32,
        /// Number of UEs that exist.
        ues: usize,
    },
    /// A bearer names a leg that its UE does not have.
    #[error("bearer {bearer} {}", self.reason())]
    NoLeg {
        /// Index of the bearer.
        bearer: usize,
        /// Number of the leg that the bearer names.
        leg: u8,
        /// Number of legs of the UE.
        legs: u8,
    },
}

impl RadioError {
    /// Returns the message without the name of the cell, UE or bearer.
    pub fn reason(&self) -> String {
        match self {
            RadioError::Phy { error, .. } => error.to_string(),
            RadioError::Channel { error, .. } => error.to_string(),
            RadioError::Parameter { error, .. } => error.to_string(),
            RadioError::Cell {
                what,
                value,
                expected,
                ..
            }
            | RadioError::Ue {
                what,
                value,
                expected,
                ..
            } => format!("{what} is {value}; expected {expected}"),
            RadioError::Bearer {
                what,
                value,
                expected,
                ..
            } => format!("{what} is {value}; expected {expected}"),
            RadioError::NoUe { ue, ues, .. } => format!("is of UE {ue}; there are {ues} UEs"),
            RadioError::NoLeg { leg, legs, .. } => {
                format!("is on leg {leg} of its UE, which has {legs}; the first is 0")
            }
        }
    }
}
