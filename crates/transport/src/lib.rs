#![doc = include_str!("../README.md")]
//!
//! # Contents
//!
//! [`tcp`] has the endpoint of TCP, [`multipath`] the connection of Multipath TCP. [`udp`] sends
//! and measures datagrams. [`port`] and [`quic`] have the settings of transports whose machines are
//! outside this crate.

pub mod multipath;
mod named;
pub mod port;
pub mod quic;
pub mod tcp;
pub mod udp;

/// Congestion controls, from a crate of their own.
pub use fadeout_congestion as congestion;
pub use named::{NamedTransport, TRANSPORTS};
