//! Agreements between the reader of scenarios and a layer: common limits, choices that one reads
//! and the other uses, and names that both search for.

mod words;

pub use words::{
    BeamPrediction, CarFollowing, Changes, GapRule, Interpolation, LineOfSight, Outside,
    ReleasedState,
};

/// Most paths of a Multipath TCP connection.
pub const MOST_PATHS: usize = 8;

/// Secondary cells of a UE at most: sixteen carriers less the primary cell's.
///
/// Standard: TS 38.300 §5.4.1.
pub const MOST_SECONDARY_CELLS: usize = 15;

/// RLC entities that PDCP may have in a direction (moreThanTwoRLC).
///
/// Standard: TS 38.331 §6.3.2.
pub const MOST_LEGS: usize = 4;

/// Most sub-bands in which wideband fading is sampled.
pub const MOST_FADING_SUB_BANDS: usize = 64;

/// Most antennas of a receiver whose signals are combined.
pub const MOST_RECEIVE_ANTENNAS: u32 = 8;

/// The coupling of Multipath TCP that is none: each subflow has the flow's congestion control.
pub const UNCOUPLED: &str = "uncoupled";
