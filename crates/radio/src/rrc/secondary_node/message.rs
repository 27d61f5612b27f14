//! Messages and decisions about the secondary node of one UE.

use crate::rrc::report::MeasurementReport;
use fadeout_core::{CellId, SecondaryCause, Time};

/// Order of the master's base station to the UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// RRCReconfiguration with a secondary cell group in this cell (reconfigurationWithSync).
    Enter(CellId),
    /// RRCReconfiguration that releases the secondary cell group.
    Release,
}

/// Decision of the secondary node after a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeDecision {
    /// The UE should change to this cell.
    Change(CellId),
    /// The secondary node should be released.
    Release,
}

/// RRC message about the secondary node, sent over the master's leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NodeMessage {
    /// MeasurementReport about the secondary node's cell if `is_pscell` is true, or about cells
    /// that may be added.
    Report {
        is_pscell: bool,
        report: MeasurementReport,
    },
    /// RRCReconfiguration that adds, changes or releases a secondary cell group.
    Order { order: Order, number: u32 },
    /// RRCReconfigurationComplete that answers the order with this number.
    Answer(u32),
    /// SCGFailureInformation: T304 has expired in this cell (synchReconfigFailureSCG).
    AccessFailed(CellId),
}

impl NodeMessage {
    /// Returns the size in bytes. See [`Message::size`](crate::rrc::message::Message::size).
    pub(crate) fn size(self) -> u32 {
        match self {
            NodeMessage::Report { .. } | NodeMessage::Answer(_) => 40,
            NodeMessage::Order {
                order: Order::Enter(_),
                ..
            } => 60 + CELL_GROUP_BYTES,
            NodeMessage::Order {
                order: Order::Release,
                ..
            } => 60,
            NodeMessage::AccessFailed(_) => 50,
        }
    }
}

/// Size in bytes of the configuration of a secondary cell group in an RRC message, a typical value.
pub(crate) const CELL_GROUP_BYTES: u32 = 160;

/// Reason why a cell is requested as a secondary cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestReason {
    /// A measurement report, a decision of the secondary node, or a failure.
    Change(SecondaryCause),
    /// A handover of the master node to this cell.
    Handover(CellId),
}

impl RequestReason {
    pub(crate) fn cause(self) -> SecondaryCause {
        match self {
            RequestReason::Change(cause) => cause,
            RequestReason::Handover(_) => SecondaryCause::Handover,
        }
    }
}

/// Step of a procedure that the master's base station waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// No procedure is under way.
    #[default]
    Idle,
    /// Answer of the requested cell (TDCprep, TXnDCprep).
    Preparing {
        target: CellId,
        reason: RequestReason,
        until: Time,
    },
    /// Arrival of the UE in the master's new cell. Until then the secondary node reserves resources
    /// in `cell`.
    Planned { cell: CellId, until: Time },
    /// Answer of the secondary node to its release.
    Releasing { until: Time },
    /// Answer of the UE to an order. The order is repeated at `until`.
    Ordered { order: Order, until: Time },
}

/// Content of a message between the two base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeSignal {
    /// SgNB (S-Node) Addition Request, or Modification Request to the UE's present secondary node.
    Request(CellId),
    /// Acknowledge of an Addition or Modification Request.
    Accept(CellId),
    /// Reject of an Addition or Modification Request.
    Reject(CellId),
    /// RRC Transfer: a report about the secondary node's cell.
    Transfer(NodeDecision),
    /// Change Required, Modification Required or Release Required.
    Required(NodeDecision),
    /// Release Request about this cell.
    Release(CellId),
    /// Acknowledge of a Release Request.
    Released,
    /// Change Confirm, Release Confirm or UE Context Release. These messages have no answer.
    Confirm(CellId),
    /// Reconfiguration Complete after the UE's answer.
    Complete(CellId),
}

impl NodeSignal {
    /// Returns the size in bytes of the IP packet with SCTP's header. Sizes are typical values, not
    /// those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            // These messages contain RRC messages.
            NodeSignal::Request(_) => 600,
            NodeSignal::Accept(_) => 400,
            NodeSignal::Required(NodeDecision::Change(_)) => 300,
            NodeSignal::Transfer(_) | NodeSignal::Complete(_) => 150,
            NodeSignal::Reject(_)
            | NodeSignal::Required(NodeDecision::Release)
            | NodeSignal::Release(_)
            | NodeSignal::Released
            | NodeSignal::Confirm(_) => 100,
        }
    }
}

/// Action in the radio after a step of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeAct {
    /// Send the order with this number to the UE.
    SendOrder { order: Order, number: u32 },
    /// Begin a change to this cell, or a release if `target` is `None`.
    BeginChange {
        target: Option<CellId>,
        reason: RequestReason,
    },
    /// End the change without success. `is_refused` is true if the cell refused the UE, and false
    /// if the cell did not answer.
    Failed { is_refused: bool },
    /// Send the command for the master's handover to this cell.
    CommandHandover(CellId),
}

/// Reaction to a failed secondary leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureReaction {
    Release,
    Enter(CellId),
}
