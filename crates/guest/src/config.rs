//! Configuration of a guest, its outputs and its errors.

use crate::Fault;
use crate::agent::Report;
use std::path::PathBuf;

/// Configuration of a guest.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of the node, for messages.
    pub name: String,
    /// Path of the kernel, an executable of user-mode Linux.
    pub kernel: PathBuf,
    /// Path of the agent, built from [`crate::agent::SOURCE`].
    pub agent: PathBuf,
    /// File for the console output. `None` if it is discarded.
    pub log: Option<PathBuf>,
    /// Memory of the guest, MB.
    pub memory_mb: u32,
    /// Longest computing time before the guest must be idle, seconds of the wall clock.
    pub patience_s: u64,
    /// MAC address of the network device.
    pub mac: [u8; 6],
    /// True if the guest receives all packets of one instant together, as from a network card with
    /// receive offload. Otherwise each packet causes an interrupt of its own, and programs read it
    /// before the next one.
    pub receive_offload: bool,
    /// True if the guest runs programs besides the agent.
    pub has_programs: bool,
}

impl Config {
    /// Returns a configuration with the usual settings.
    pub fn new(name: &str, kernel: PathBuf, agent: PathBuf) -> Config {
        Config {
            name: name.to_owned(),
            kernel,
            agent,
            log: None,
            memory_mb: 1024,
            patience_s: 60,
            mac: [2, 0, 0, 0, 1, 1],
            receive_offload: false,
            has_programs: false,
        }
    }
}

/// Receiver of a guest's frames and reports.
pub trait Sink {
    /// Receives a frame of the network device: one packet with its checksums.
    fn frame(&mut self, frame: &[u8]);
    /// Receives a report of the agent.
    fn report(&mut self, report: Report<'_>);
}

/// Results of the check of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Release of the kernel.
    pub release: String,
    /// Round-trip times of the echo requests, ns.
    pub echoes: Vec<u64>,
}

/// Reasons why a guest ended or did not start.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The operating system of the host refuses an operation.
    #[error("kernel of \"{name}\": {what}: {error}")]
    Machine {
        /// Name of the node.
        name: String,
        /// Host operation that failed.
        what: &'static str,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The kernel ended.
    #[error("kernel of \"{name}\" ended{why}")]
    Ended {
        /// Name of the node.
        name: String,
        /// The reason, with the last output of the kernel.
        why: String,
    },
    /// The kernel does not become idle.
    #[error(
        "kernel of \"{name}\" did not become idle at {at_s} s of its time, within {seconds} s or \
         the largest number of steps: a program in it runs forever{last}"
    )]
    Spins {
        /// Name of the node.
        name: String,
        /// Longest allowed computing time, seconds of the wall clock.
        seconds: u64,
        /// Simulated time, seconds.
        at_s: f64,
        /// Last output of the kernel.
        last: String,
    },
    /// The kernel violates the protocol of its clock or of a device.
    #[error("kernel of \"{name}\" broke the protocol: {fault}")]
    Fault {
        /// Name of the node.
        name: String,
        /// Protocol rule that the kernel violated.
        fault: Fault,
    },
    /// The agent does not answer.
    #[error("kernel of \"{name}\" was not ready after {seconds} s of its time{last}")]
    Silent {
        /// Name of the node.
        name: String,
        /// Waiting time, seconds.
        seconds: u64,
        /// Last output of the kernel.
        last: String,
    },
    /// The kernel does not report its timers in shared memory, which Linux does since 6.11.
    #[error(
        "kernel of \"{name}\" does not report its timers in shared memory; expected Linux 6.11 or \
         later"
    )]
    Old {
        /// Name of the node.
        name: String,
    },
    /// Guests need Linux on a supported processor.
    #[error("kernel of \"{name}\": user-mode Linux runs only on Linux")]
    Elsewhere {
        /// Name of the node.
        name: String,
    },
    /// A file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
}
