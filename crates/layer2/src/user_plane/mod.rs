//! User plane between base stations: transfer of a bearer's downlink PDCP PDUs to another base
//! station, and flow control.
//!
//! ```text
//! Hosting (node with PDCP) ── DL USER DATA: an NR-U sequence number and a PDU ──► Corresponding
//!        ▲                                                                            │
//!        └──── DL DATA DELIVERY STATUS: delivered up to, lost, desired buffer size ◄──┘
//! ```
//!
//! Each node knows the other only by the content of these frames, and links may drop frames in both
//! directions. Delivered frames are reported by their NR-U sequence number. The standard reports
//! the PDCP SN in the frames instead.
//!
//! Standard: TS 38.425 §5.

mod config;
mod corresponding;
mod hosting;
mod rate;
mod status;

pub use config::{DesiredBuffer, FlowControlConfig};
pub use corresponding::Corresponding;
pub use hosting::Hosting;
pub use rate::{ServedRate, time_for};
pub use status::{DeliveryStatus, MOST_LOST_RANGES};
