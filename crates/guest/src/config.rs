//! How a guest is started, what it gives, and why it fails.

use crate::Fault;
use crate::agent::Report;
use std::path::PathBuf;

/// How a guest is started.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of its node, for messages.
    pub name: String,
    /// The kernel: an executable of user-mode Linux.
    pub kernel: PathBuf,
    /// The agent, built from [`crate::agent::SOURCE`].
    pub agent: PathBuf,
    /// Where what its console says is kept; nowhere when none.
    pub log: Option<PathBuf>,
    /// Its memory, MB.
    pub memory_mb: u32,
    /// How long it may compute without coming to rest, s of the wall clock.
    pub patience_s: u64,
    /// Address of its network device.
    pub mac: [u8; 6],
    /// Whether it sees what arrives at one instant together, as by a network card that puts segments
    /// together; otherwise each packet has an interrupt of its own, and programs read it before the next.
    pub receive_offload: bool,
    /// Whether it runs programs beside the agent.
    pub has_programs: bool,
}

impl Config {
    /// A guest with what most want.
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

/// Takes what a guest sends.
pub trait Sink {
    /// A frame on the network: one packet, with its checksums.
    fn frame(&mut self, frame: &[u8]);
    /// Takes a report of the agent.
    fn report(&mut self, report: Report<'_>);
}

/// The features that a kernel was found to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its release.
    pub release: String,
    /// Round-trip times of the echo requests, ns.
    pub echoes: Vec<u64>,
}

/// Why a guest ended, or never began.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The machine refuses something.
    #[error("kernel of \"{name}\": {what}: {error}")]
    Machine {
        /// Its name.
        name: String,
        /// The step that failed.
        what: &'static str,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The kernel ended.
    #[error("kernel of \"{name}\" ended{why}")]
    Ended {
        /// Its name.
        name: String,
        /// How, and what it said last.
        why: String,
    },
    /// The kernel does not come to rest.
    #[error(
        "kernel of \"{name}\" did not become idle at {at_s} s of its time, within {seconds} s or \
         the largest number of steps: a program in it runs forever{last}"
    )]
    Spins {
        /// Its name.
        name: String,
        /// How long it may compute, of the wall clock.
        seconds: u64,
        /// Where.
        at_s: f64,
        /// Its last output.
        last: String,
    },
    /// The kernel does something that it must not.
    #[error("kernel of \"{name}\" broke the protocol: {fault}")]
    Fault {
        /// Its name.
        name: String,
        /// The rule that it broke.
        fault: Fault,
    },
    /// There is no agent in it.
    #[error("kernel of \"{name}\" was not ready after {seconds} s of its time{last}")]
    Silent {
        /// Its name.
        name: String,
        /// How long it was waited for.
        seconds: u64,
        /// Its last output.
        last: String,
    },
    /// The kernel was built before it could do this.
    #[error(
        "kernel of \"{name}\" does not report its timers in shared memory; expected Linux 6.11 or \
         later"
    )]
    Old {
        /// Its name.
        name: String,
    },
    /// The machine is not one for it.
    #[error("kernel of \"{name}\": user-mode Linux runs only on Linux")]
    Elsewhere {
        /// Its name.
        name: String,
    },
    /// A file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
}
