//! Configuration of one end of a multipath connection.

use super::scheduler::{PathScheduler, PathSchedulerKind};
use crate::tcp::{ReceiveWindow, SocketKind, TcpConfig};
use fadeout_core::registry::{Parameter, flag, span};
use fadeout_core::{Bytes, MptcpOption, Span, Time};

/// Configuration of one end of a multipath connection.
#[derive(Debug, Clone)]
pub struct MultipathConfig {
    /// Configuration that its subflows share.
    pub tcp: TcpConfig,
    /// Scheduler, which chooses the path of the next data.
    pub path_scheduler: PathSchedulerKind,
    /// Time from the connection's establishment to the first MP_JOIN.
    pub join_delay: Span,
    /// Number of times that MP_PRIO and REMOVE_ADDR are repeated. Linux does not repeat them.
    pub signal_repeats: u32,
    /// True if the oldest unacknowledged data is retransmitted on a faster path when the peer's
    /// window is full (Raiciu et al., NSDI 2012, section 4.2).
    pub opportunistic_retransmission: bool,
    /// True if an opportunistic retransmission halves the slower path's window.
    pub penalisation: bool,
    /// Largest send buffer of a subflow under Linux's scheduler (`tcp_wmem[2]`).
    pub maximum_send_buffer: Bytes,
}

impl MultipathConfig {
    /// Returns the configuration of a subflow. Its receive window is the connection's.
    pub(super) fn subflow(&self) -> TcpConfig {
        self.tcp.clone().changed(|tcp| {
            tcp.multipath = true;
            tcp.buffers.receive_window = ReceiveWindow::Shared;
            // The connection owns the send buffer.
            tcp.buffers.send = if self.path_scheduler.is_upstream() {
                SocketKind::LinuxSubflow
            } else {
                SocketKind::Unbounded
            };
            let packet_memory = tcp.buffers.packet_memory;
            tcp.buffers.packet_memory = packet_memory.with_option(MptcpOption::MAPPING_LEN);
        })
    }
}

/// One path of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct PathConfig {
    /// True for a backup path, which carries data only while no regular path works (RFC 8684
    /// section 3.3.8).
    pub backup: bool,
    /// Times at which `backup` changes, in order. The peer is notified by MP_PRIO.
    pub backup_changes: Vec<Time>,
    /// True if the opening end joins the path only once the other end announces it (ADD_ADDR).
    pub announced: bool,
    /// Time at which the path becomes usable. The application opens the connection on the first
    /// path.
    pub from: Time,
    /// Time from which the path is not usable any more.
    pub until: Time,
}

fadeout_core::parameters! {
    /// Default values of a path's parameters.
    struct Keys {
        /// True if the path is used only while no regular path works.
        backup: bool = flag("false"),
        /// True if the path is joined only once it is announced.
        announced: bool = flag("false"),
        /// Time at which the path becomes usable.
        from: Span = span("0 s"),
    }
}

impl PathConfig {
    /// Parameters of a path that a scenario may give.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;
}

impl Default for PathConfig {
    /// Returns a regular path that both ends know, usable for the whole run.
    fn default() -> Self {
        let keys = Keys::default();
        PathConfig {
            backup: keys.backup,
            backup_changes: Vec::new(),
            announced: keys.announced,
            from: Time::ZERO + keys.from,
            until: Time::NEVER,
        }
    }
}
