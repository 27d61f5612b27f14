//! The user plane between base stations: downlink PDCP PDUs of a bearer on their way to another
//! base station, and their flow control.
//!
//! ```text
//! Hosting (the node with PDCP) ── DL USER DATA: an NR-U sequence number and a PDU ──► Corresponding
//!        ▲                                                                                │
//!        └──── DL DATA DELIVERY STATUS: delivered up to, lost, desired buffer size ◄──────┘
//! ```
//!
//! Each node knows of the other only the contents of these frames, and links may drop either kind.
//! Delivered frames are reported by their NR-U sequence number. The standard reports the PDCP SN
//! that they carried.
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
