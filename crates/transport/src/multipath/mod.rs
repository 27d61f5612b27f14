//! Multipath TCP, sans-IO.
//!
//! A [`MultipathConnection`] owns one TCP endpoint a path and the state above them: data sequence
//! numbers, the mappings that tie them to subflow sequence numbers, the DATA_ACK, one receive
//! buffer, reinjection, and the close. A [`scheduler`] says which path carries the next data, a
//! [`coupling`] how much the paths together may take.
//!
//! Data is bound to a path when it leaves, not before: a subflow is offered data in each step,
//! sends what its window allows, and the rest is withdrawn.
//!
//! Standard: RFC 8684.

mod config;
mod connection;
mod outbox;
mod reinjection;
pub mod scheduler;

pub use crate::congestion::coupling;
pub use config::{MultipathConfig, PathConfig};
pub use connection::{MultipathConnection, PathStatistics, Subflow};
pub use coupling::COUPLINGS;
pub use outbox::PathOutbox;
pub use scheduler::{Choice, Demand, PATH_SCHEDULERS, PathScheduler, PathSchedulerKind, PathView};

pub use fadeout_core::agreed::MOST_PATHS as MAX_PATHS;

/// A path of a connection: an index into its paths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PathId(pub u8);

impl PathId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
