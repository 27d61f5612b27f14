//! TCP endpoints, congestion control and Multipath TCP, sans-IO.

pub mod congestion;
mod min_filter;
pub mod multipath;
pub mod tcp;
