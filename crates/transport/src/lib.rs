//! TCP endpoints and congestion control, sans-IO.

pub mod congestion;
pub mod tcp;
