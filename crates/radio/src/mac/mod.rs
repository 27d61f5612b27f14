//! Medium access: who sends when, on which share of the band, and how a UE asks for it.
//!
//! The rules, apart from the machines that follow them: [`scheduler`] shares the units of a slot,
//! [`logical_channel`] a block among a UE's bearers, [`request`] has scheduling requests and buffer
//! status reports, [`occasions`] the slots in which a UE may use the uplink without a grant, and
//! [`drx`] says when a UE listens.

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
