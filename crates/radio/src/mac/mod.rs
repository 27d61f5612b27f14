//! Medium access: who sends when, on which share of the band, and how a UE asks for it.
//!
//! [`timing`] has the processing times between a request, a grant, data and feedback.
//! [`scheduler`] shares the units. [`request`] has scheduling requests and buffer status
//! reports.

pub mod request;
pub mod scheduler;
pub mod timing;

pub use request::{BufferStatus, RequestConfig};
pub use scheduler::{MacScheduler, SCHEDULERS, SchedulerKind};
pub use timing::Timing;
