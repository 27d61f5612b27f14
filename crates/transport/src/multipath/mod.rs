//! Multipath TCP, sans-IO.
//!
//! A [`MultipathConnection`] owns one TCP endpoint a path and the connection-level state. This
//! state has data sequence numbers, the mappings that tie them to subflow sequence numbers, the
//! DATA_ACK, one receive buffer, reinjection, and the close. A [`scheduler`] chooses the path of
//! the next data. A [`coupling`] limits the windows of all paths together.
//!
//! Data is bound to a path when it leaves, not before. In each step a subflow is offered data and
//! sends as much as its window allows. Unsent data is withdrawn.
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

/// Identifier of a path: its index in the connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PathId(pub u8);

impl PathId {
    /// Returns the number of the path as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
