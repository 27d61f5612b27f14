//! TCP endpoints, congestion control, Multipath TCP, UDP, and the limits of ports, sans-IO.

pub mod congestion;
mod min_filter;
pub mod multipath;
pub mod port;
pub mod tcp;
pub mod udp;
