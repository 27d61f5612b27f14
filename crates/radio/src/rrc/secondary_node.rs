//! Procedures about the secondary node of one UE. The master's base station sends a request, the
//! secondary node's base station decides about the request, and the UE receives an order.
//!
//! ```text
//! report about addable cells ─► Request ─► cell ─► Accept ─► SendOrder ─► UE ─► on_answer
//! report about the node's cell ─► Transfer ─► secondary node ─► Required ─► Request or SendOrder
//! failure, or node not needed ─► Release ─► secondary node ─► Released ─► SendOrder
//! handover ─► Request on behalf of the target ─► CommandHandover
//! ```
//!
//! Every phase except [`Phase::Idle`] ends by a timer. [`SecondaryNetwork`] receives messages and
//! times and returns actions, as [`Network`](super::network::Network) does. [`SecondaryNetwork`]
//! does not use the radio, bearers or links.
//!
//! Standard: TS 37.340 §10.2.1, §10.3.1, §10.4.1, §10.5.1, §10.7.1; TS 36.423 §8.7; TS 38.423 §8.3.

mod network;

pub(crate) use network::SecondaryNetwork;

use super::mobility::MeasurementReport;
use super::random_access::RandomAccess;
use super::survey::Survey;
use crate::config::{LegId, SecondaryNodeConfig};
use crate::rlc::Generation;
use fadeout_core::{CellId, SecondaryCause, SecondaryChangeRow, Time};

/// State of the procedures about one UE's secondary node, at the UE and in the network.
#[derive(Debug)]
pub(crate) struct SecondaryNode {
    pub config: SecondaryNodeConfig,
    /// Measurements that the UE reports while it has no secondary node.
    pub addition_survey: Survey,
    /// Measurements that the UE reports about the cell of its secondary node.
    pub pscell_survey: Survey,
    /// Generation of the secondary node's cells.
    pub generation: Generation,
    pub network: SecondaryNetwork,
    pub leg_state: ScgState,
    /// Time at which the UE answers an order after processing it, and the number of that order.
    /// `None` without an order.
    pub answer: Option<(Time, u32)>,
    /// Number of the last order that the UE carried out.
    pub last_order: u32,
    pub record: Option<SecondaryChangeRow>,
    /// Time since which the UE has had no working secondary leg. `None` if the UE has a working
    /// secondary leg, or never had one.
    pub without_leg_since: Option<Time>,
}

/// State of the UE's secondary leg.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ScgState {
    /// The UE has no secondary leg.
    Alone,
    /// The UE enters this cell after the master's new cell. One handover command names both cells.
    Waiting(CellId),
    /// The UE enters a cell until T304 expires.
    Entering {
        leg: LegId,
        access: RandomAccess,
        until: Time,
    },
    /// The secondary leg is connected.
    Serving,
    /// T304 has expired. The UE waits for a decision of the network.
    Lost,
}

impl ScgState {
    fn wake_at(&self) -> Time {
        match self {
            ScgState::Entering { access, until, .. } => access.wake_at().min(*until),
            _ => Time::NEVER,
        }
    }
}

impl SecondaryNode {
    /// Returns the time of the next action that does not need the UE's connection to the master
    /// node.
    pub(crate) fn wake_at(&self) -> Time {
        self.network.wake_at().min(self.leg_state.wake_at())
    }

    /// Returns the time at which a connected UE sends its next message about the secondary node.
    pub(crate) fn message_at(&self) -> Time {
        let answer = self.answer.map_or(Time::NEVER, |(at, _)| at);
        let reports = match self.leg_state {
            ScgState::Serving if self.network.cell().is_some() => self.pscell_survey.report_at(),
            ScgState::Alone => self.addition_survey.report_at(),
            _ => Time::NEVER,
        };
        answer.min(reports)
    }

    /// Changes the result row of the secondary node's change, if a change is under way.
    pub(crate) fn update_row(&mut self, step: impl FnOnce(&mut SecondaryChangeRow)) {
        if let Some(row) = &mut self.record {
            step(row);
        }
    }
}

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
    /// Returns the size in bytes. See [`Message::size`](super::mobility::Message::size).
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
