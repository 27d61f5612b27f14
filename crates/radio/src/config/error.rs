//! What can be wrong with a radio access.

use crate::channel::ConfigError;
use crate::phy::PhyError;
use crate::rlc::ParameterError;

/// Why a radio access cannot be built. Every message says where and what was expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RadioError {
    /// The physical layer of a cell.
    #[error("cell {cell}: {error}")]
    Phy {
        /// Position of the cell.
        cell: usize,
        /// What is wrong.
        error: PhyError,
    },
    /// The channel of a cell.
    #[error("cell {cell}: {error}")]
    Channel {
        /// Position of the cell.
        cell: usize,
        /// What is wrong.
        error: ConfigError,
    },
    /// A value of a cell out of its range.
    #[error("cell {cell}: {what} is {value}; expected {expected}")]
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
    #[error("UE {ue}: {what} is {value}; expected {expected}")]
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
    #[error("bearer {bearer}: {error}")]
    Parameter {
        /// Position of the bearer.
        bearer: usize,
        /// What is wrong.
        error: ParameterError,
    },
    /// A bearer of a UE that does not exist.
    #[error("bearer {bearer} is of UE {ue}; there are {ues} UEs")]
    NoUe {
        /// Position of the bearer.
        bearer: usize,
        /// The UE it names.
        ue: u32,
        /// How many UEs there are.
        ues: usize,
    },
    /// A bearer on a leg that its UE does not have.
    #[error("bearer {bearer} is on leg {leg} of its UE, which has {legs}; the first is 0")]
    NoLeg {
        /// Position of the bearer.
        bearer: usize,
        /// The leg it names.
        leg: u8,
        /// How many legs its UE has.
        legs: u8,
    },
}
