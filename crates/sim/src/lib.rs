//! Builds every layer from a scenario and routes events and packets between the layers.
//!
//! [`catalog`] lists all names that a scenario can use. A [`Simulation`] is built from a checked
//! scenario and runs it. The results are tables, a summary and a fingerprint. [`World`] is the
//! event loop. It knows the routes of packets, but not their contents.

mod advice;
mod build;
mod catalog;
mod crossing;
mod directory;
mod divided;
mod division;
mod geometry;
mod hop;
mod host;
mod kernels;
mod notices;
pub mod observe;
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
};
pub use catalog::{catalog, find_entry};
pub use crossing::Signal;
pub use divided::{DividedSimulation, Worlds, check_with_own};
pub use geometry::geometry;
pub use hop::Hop;
pub use kernels::{KernelError, kernel_tcp_keys};
pub use run::agents;
pub use run::{Control, PortAddress, Progress, RunError, RunResults, Simulation};
pub use summary::{resolved, sum_up, summary};
pub use tracks::{Tracks, tracks};
pub use world::{Arrival, PortEnd, PortError, RouteError, World};

/// Types for a congestion control of the user's own.
pub use fadeout_transport::congestion;

/// Types for a handover policy of the user's own.
pub mod policy {
    pub use fadeout_radio::access::{CustomPolicy, HandoverPolicy, Policy, Report, ReportedCell};
}

/// Version of fadeout.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Version of the results. It is raised if and only if a change of the code changes the results of
/// an unchanged scenario. Results of earlier runs with the same version stay valid. Each entry
/// under "Results change" of the changelog raises it. A test fails if `tests/fingerprints.csv`
/// changes and the version does not.
pub const RESULTS_VERSION: u32 = 2;
