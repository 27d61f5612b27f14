//! Configuration of one end of a multipath connection.

use super::scheduler::PathSchedulerKind;
use crate::tcp::{ReceiveWindow, TcpConfig};
use fadeout_core::registry::{Parameter, flag, span};
use fadeout_core::{Bytes, MptcpOption, Span, Time};

/// Constants of a connection.
#[derive(Debug, Clone)]
pub struct MultipathConfig {
    /// Configuration that its subflows share.
    pub tcp: TcpConfig,
    /// Which path carries the next data.
    pub path_scheduler: PathSchedulerKind,
    /// From the connection's establishment to the first MP_JOIN.
    pub join_delay: Span,
    /// Whether the head of the line is sent again on a faster path when the window is full
    /// (Raiciu et al., NSDI 2012, section 4.2).
    pub opportunistic_retransmission: bool,
    /// Whether the slower path's window is then halved.
    pub penalisation: bool,
    /// Most that a subflow's send buffer grows to under Linux's scheduler (`tcp_wmem[2]`).
    pub maximum_send_buffer: Bytes,
}

impl MultipathConfig {
    /// Configuration of a subflow: its window is the connection's.
    pub(super) fn subflow(&self) -> TcpConfig {
        TcpConfig {
            receive_window: ReceiveWindow::Shared,
            send_buffer: None, // the connection's
            multipath: true,
            packet_memory: (self.tcp.packet_memory).beside_less(MptcpOption::MAPPING_LEN),
            is_linux_subflow: matches!(self.path_scheduler, PathSchedulerKind::Linux(_)),
            ..self.tcp.clone()
        }
    }
}

/// One path of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct PathConfig {
    /// For use only while no regular path works (RFC 8684 section 3.3.8).
    pub backup: bool,
    /// When that turns to the other, in order of time; the peer is told by MP_PRIO.
    pub backup_changes: Vec<Time>,
    /// Whether the opening end joins it only once the other end announces it (ADD_ADDR).
    pub announced: bool,
    /// When it comes up; the first path's connection opens when the application says so.
    pub from: Time,
    /// When it goes away for good.
    pub until: Time,
}

fadeout_core::parameters! {
    /// The defaults of a path.
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
    /// The parameters of a path that a scenario may give.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;
}

impl Default for PathConfig {
    /// A regular path that both ends know, from the start on and for good.
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
