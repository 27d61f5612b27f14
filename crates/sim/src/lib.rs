//! The conductor: builds every layer from a scenario and routes events between them.
//!
//! [`catalog`] lists everything a scenario can name. A [`Simulation`] is built from a checked
//! scenario, runs it, and leaves tables, a summary and a fingerprint. [`World`] is the loop
//! inside; it knows where packets go and nothing of what they mean.

mod advice;
mod build;
mod catalog;
mod crossing;
mod directory;
mod divided;
mod division;
mod geometry;
mod hop;
mod kernels;
mod notices;
pub mod prediction;
mod radio;
mod routing;
mod run;
mod summary;
mod tracks;
mod utra;
mod world;

pub use advice::advice;
pub use build::{
    BuildError, ChooseCongestion, ChoosePolicy, Own, build, build_with, build_with_own,
    check_with_own,
};
pub use catalog::{catalog, find_entry};
pub use crossing::Signal;
pub use divided::{DividedSimulation, Worlds};
pub use geometry::geometry;
pub use hop::Hop;
pub use kernels::KernelError;
pub use run::{Control, Progress, RunError, RunResults, Simulation};
pub use summary::{resolved, sum_up, summary};
pub use tracks::{Tracks, tracks};
pub use world::{RouteError, World};

/// The parts of a congestion control of the user's own.
pub use fadeout_transport::congestion;

/// The parts of a handover policy of the user's own.
pub mod policy {
    pub use fadeout_radio::access::{CustomPolicy, HandoverPolicy, Policy, Report, ReportedCell};
}

/// Version of fadeout.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Changes when a change of the code moves the results of an unchanged scenario, and only then: what
/// was found under the same number need not be found again. Raised with each line under "Results
/// change" of the changelog; a test sees when `tests/fingerprints.csv` moved without it.
pub const RESULTS_VERSION: u32 = 2;
