//! User-mode Linux as a machine in virtual time.
//!
//! A guest is a kernel in a process. It asks us for time ([`time`]), its network devices are ours
//! ([`vhost`], [`ring`]), and a small program inside it ([`agent`]) opens and watches its sockets. What
//! it writes is untrusted: every length and address is checked, and a mistake of it is a [`Fault`].
//!
//! The protocols are plain functions and structs; only `linux` knows processes and sockets.

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
pub use elsewhere::{Guest, Place, check};
#[cfg(target_os = "linux")]
pub use linux::{Guest, Place, check};

/// Something that a guest must not do, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub &'static str);

/// Which of a guest's devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// The network of the simulation.
    Network,
    /// Between us and the agent.
    Control,
}
