//! Medium access control (MAC): the rules by which UEs share the radio resources.
//!
//! This module contains the rules without the state machines that apply them. [`scheduler`] divides
//! the units of a slot among UEs. [`logical_channel`] divides a transport block among a UE's
//! bearers. [`request`] defines scheduling requests. [`occasions`] defines the slots in which a UE
//! may use the uplink without a dynamic grant. [`drx`] defines the times at which a UE listens.

pub mod drx;
pub mod logical_channel;
pub mod occasions;
pub mod request;
pub mod scheduler;

pub use drx::DrxConfig;
pub use logical_channel::LogicalChannel;
pub use occasions::Occasions;
pub use request::RequestConfig;
pub use scheduler::{MAC_SCHEDULERS, MacScheduler, MacSchedulerKind};
