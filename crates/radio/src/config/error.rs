//! Errors in the configuration of a radio access.

use crate::channel::ConfigError;
use crate::phy::PhyError;
use crate::rlc::ParameterError;

/// Why a radio access cannot be built. Every message says where and what was expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RadioError {
    /// The physical layer of a cell.
    #[error("cell {cell}: {}", self.reason())]
    Phy {
        /// Position of the cell.
        cell: usize,
        /// The mistake.
        error: PhyError,
    },
    /// The channel of a cell.
    #[error("cell {cell}: {}", self.reason())]
    Channel {
        /// Position of the cell.
        cell: usize,
        /// The mistake.
        error: ConfigError,
    },
    /// A value of a cell out of its range.
    #[error("cell {cell}: {}", self.reason())]
    Cell {
        /// Position of the cell.
        cell: usize,
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: String,
    },
    /// A value of a UE out of its range.
    #[error("UE {ue}: {}", self.reason())]
    Ue {
        /// Position of the UE.
        ue: usize,
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: String,
    },
    /// A parameter of a bearer's RLC or PDCP.
    #[error("bearer {bearer}: {}", self.reason())]
    Parameter {
        /// Position of the bearer.
        bearer: usize,
        /// The mistake.
        error: ParameterError,
    },
    /// A value of a bearer that does not go with the others.
    #[error("bearer {bearer}: {}", self.reason())]
    Bearer {
        /// Position of the bearer.
        bearer: usize,
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// A bearer of a UE that does not exist.
    #[error("bearer {bearer} {}", self.reason())]
    NoUe {
        /// Position of the bearer.
        bearer: usize,
        /// The UE it names.
        ue: u32,
        /// How many UEs there are.
        ues: usize,
    },
    /// A bearer on a leg that its UE does not have.
    #[error("bearer {bearer} {}", self.reason())]
    NoLeg {
        /// Position of the bearer.
        bearer: usize,
        /// The leg it names.
        leg: u8,
        /// How many legs its UE has.
        legs: u8,
    },
}

impl RadioError {
    /// The mistake and what was expected, without the place.
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
