//! Definitions that the scenario reader and the layers share. They are common limits, choices that
//! the reader parses and a layer uses, and names that both look up.

mod words;

pub use words::{
    BeamPrediction, CarFollowing, Changes, GapRule, Interpolation, LineOfSight, Outside,
    ReleasedState,
};

/// Largest number of paths of a Multipath TCP connection.
pub const MOST_PATHS: usize = 8;

/// Largest number of secondary cells of a UE: sixteen carriers minus that of the primary cell.
///
/// Standard: TS 38.300 §5.4.1.
pub const MOST_SECONDARY_CELLS: usize = 15;

/// Largest number of RLC entities of a PDCP entity in a direction (moreThanTwoRLC).
///
/// Standard: TS 38.331 §6.3.2.
pub const MOST_LEGS: usize = 4;

/// Largest number of sub-bands for which frequency-selective fading is computed.
pub const MOST_FADING_SUB_BANDS: usize = 64;

/// Largest number of a receiver's antennas whose signals are combined.
pub const MOST_RECEIVE_ANTENNAS: u32 = 8;

/// Name of the coupling of Multipath TCP without coupling. Each subflow then has the flow's
/// congestion control.
pub const UNCOUPLED: &str = "uncoupled";
