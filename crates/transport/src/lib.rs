//! TCP endpoints, congestion control and Multipath TCP, sans-IO.

pub mod congestion;
pub mod multipath;
pub mod tcp;
