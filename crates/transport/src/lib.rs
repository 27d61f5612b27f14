//! TCP endpoints, congestion control, Multipath TCP, and UDP, sans-IO.

pub mod congestion;
mod min_filter;
pub mod multipath;
pub mod tcp;
pub mod udp;
