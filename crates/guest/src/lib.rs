//! User-mode Linux as a machine in virtual time.
//!
//! A guest is a Linux kernel in a process of its own. It gets its time from the simulator
//! ([`time`]). The simulator also implements its network devices ([`vhost`], [`ring`]). A small
//! program in the guest ([`agent`]) opens its sockets and reports their state. Data from a guest is
//! not trusted: every length and address is checked, and a violation is a [`Fault`].
//!
//! The protocols are plain functions and structs. Only the module `linux` uses processes and
//! sockets.

pub mod agent;
pub mod archive;
mod config;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
pub mod frame;
pub mod installed;
#[cfg(target_os = "linux")]
mod linux;
pub mod memory;
pub mod ring;
pub mod tcp_info;
pub mod time;
pub mod vhost;

pub use config::{Checked, Config, GuestError, Sink};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{CorePin, Guest, check};
#[cfg(target_os = "linux")]
pub use linux::{CorePin, Guest, check};

/// A violation of a protocol by a guest, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub &'static str);

/// A network device of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// The network of the simulation.
    Network,
    /// The connection between the simulator and the agent.
    Control,
}
