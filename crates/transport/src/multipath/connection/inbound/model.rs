//! Stacks whose receive buffer a connection models.

use crate::multipath::PathSchedulerKind;

/// Stack whose receive buffer a connection models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::multipath::connection) enum ReceiveModel {
    /// The stack of the MPTCP papers, with one window for all subflows.
    Papers,
    /// Linux's stack, in which each subflow has a socket and a window of its own.
    Linux,
}

impl ReceiveModel {
    /// Returns the stack that has the scheduler `scheduler`.
    pub(in crate::multipath::connection) fn new(scheduler: &PathSchedulerKind) -> ReceiveModel {
        match scheduler {
            PathSchedulerKind::Linux(_) => ReceiveModel::Linux,
            _ => ReceiveModel::Papers,
        }
    }

    /// Returns true if the MPTCP option reduces the share of payload in the buffer's memory.
    pub(super) fn counts_option(self) -> bool {
        self == ReceiveModel::Linux
    }

    /// Returns true if the application reads data after its acknowledgment was sent. Otherwise the
    /// application reads data at once.
    #[inline]
    pub(super) fn reads_after_ack(self) -> bool {
        self == ReceiveModel::Linux
    }

    /// Returns true if a segment that would shrink the window of its subflow is acknowledged at
    /// once.
    #[inline]
    pub(super) fn reports_shrinking(self) -> bool {
        self == ReceiveModel::Linux
    }

    /// Returns true if each subflow offers a window of its own.
    #[inline]
    pub(super) fn has_subflow_windows(self) -> bool {
        self == ReceiveModel::Linux
    }
}
