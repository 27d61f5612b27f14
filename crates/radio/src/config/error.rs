//! What can be wrong with a radio access.

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
        /// What is wrong.
        error: PhyError,
    },
    /// The channel of a cell.
    #[error("cell {cell}: {}", self.reason())]
    Channel {
        /// Position of the cell.
        cell: usize,
        /// What is wrong.
        error: ConfigError,
    },
    /// A value of a cell out of its range.
    #[error("cell {cell}: {}", self.reason())]
    Cell {
        /// Position of the cell.
        cell: usize,
        /// Name of the value.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A value of a UE out of its range.
    #[error("UE {ue}: {}", self.reason())]
    Ue {
        /// Position of the UE.
        ue: usize,
        /// Name of the value.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A parameter of a bearer's RLC or PDCP.
    #[error("bearer {bearer}: {}", self.reason())]
    Parameter {
        /// Position of the bearer.
        bearer: usize,
        /// What is wrong.
        error: ParameterError,
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
    /// What is wrong and what was expected, without where.
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
            RadioError::NoUe { ue, ues, .. } => format!("is of UE {ue}; there are {ues} UEs"),
            RadioError::NoLeg { leg, legs, .. } => {
                format!("is on leg {leg} of its UE, which has {legs}; the first is 0")
            }
        }
    }
}
