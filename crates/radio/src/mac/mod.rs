//! Medium access control (MAC): the rules by which UEs share the radio resources.
//!
//! This module has the rules alone, without the state machines that follow them. [`scheduler`]
//! divides the units of a slot. [`logical_channel`] divides a transport block among a UE's bearers.
//! [`request`] has scheduling requests. [`occasions`] has the slots in which a UE may use the
//! uplink without a dynamic grant. [`drx`] has the times at which a UE listens.

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
