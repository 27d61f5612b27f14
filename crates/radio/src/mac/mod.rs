//! Medium access: who sends when, on which share of the band, and how a UE asks for it.
//!
//! [`resources`] cuts a slot into units and says what a transport block of some units carries.
//! [`scheduler`] shares the units. [`logical_channel`] shares a block among a UE's bearers.
//! [`request`] has scheduling requests. [`drx`] says when a UE listens.

pub mod drx;
pub mod logical_channel;
pub mod request;
pub mod resources;
pub mod scheduler;

pub use drx::DrxConfig;
pub use logical_channel::LogicalChannel;
pub use request::RequestConfig;
pub use scheduler::{MacScheduler, SCHEDULERS, SchedulerKind};
