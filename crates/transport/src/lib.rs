//! TCP endpoints, congestion control, Multipath TCP, UDP, and the settings of ports and of QUIC,
//! sans-IO.

pub mod congestion;
mod min_filter;
pub mod multipath;
mod named;
pub mod port;
pub mod quic;
pub mod tcp;
pub mod udp;

pub use named::{NamedTransport, TRANSPORTS};
