//! Procedures about the secondary node of one UE. The master's base station requests, the other
//! base station decides, and the UE receives an order.
//!
//! ```text
//! report about addable cells ─► ask ─► Ask ─► cell ─► Accept ─► Tell ─► UE ─► answer: on_answer
//! report about the node's cell ─► Transfer ─► secondary node ─► Required ─► ask, or Tell
//! failure, or node not needed ─► Release ─► secondary node ─► Released ─► Tell
//! handover ─► ask on behalf of the target ─► GoOn: the command
//! ```
//!
//! Every phase except [`Phase::Idle`] ends by a timer. [`SecondaryNetwork`] receives messages and
//! times and returns acts, as [`Network`](super::network::Network) does. It does not use the radio,
//! bearers or links.
//!
//! Standard: TS 37.340 §10.2.1, §10.3.1, §10.4.1, §10.5.1, §10.7.1; TS 36.423 §8.7; TS 38.423 §8.3.

mod network;

pub(crate) use network::SecondaryNetwork;

use super::mobility::Measured;
use super::random_access::RandomAccess;
use super::survey::Survey;
use crate::config::{LegId, SecondaryNodeConfig};
use crate::rlc::Generation;
use fadeout_core::{CellId, SecondaryCause, SecondaryChangeRow, Time};

/// Secondary node of a UE: state of the UE and of the network.
#[derive(Debug)]
pub(crate) struct SecondaryNode {
    pub config: SecondaryNodeConfig,
    /// Measurements that the UE reports while it has no secondary node.
    pub adding: Survey,
    /// Measurements that the UE reports about the cell of its secondary node.
    pub about: Survey,
    /// Generation of the secondary node's cells.
    pub generation: Generation,
    pub network: SecondaryNetwork,
    pub ue: UeSide,
    /// Time of the UE's answer after its processing, and the number of the answered order. `None`
    /// without an order.
    pub answer: Option<(Time, u32)>,
    /// Number of the last order that the UE carried out.
    pub heard: u32,
    pub record: Option<SecondaryChangeRow>,
    /// Time since which the UE has had no working secondary leg. `None` if it has one or never had
    /// one.
    pub silent_since: Option<Time>,
}

/// State of the UE's secondary leg.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UeSide {
    /// The UE has no secondary leg.
    Alone,
    /// The UE enters this cell after the master's new cell. A command to that cell names both.
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

impl UeSide {
    fn wake_at(&self) -> Time {
        match self {
            UeSide::Entering { access, until, .. } => access.wake_at().min(*until),
            _ => Time::NEVER,
        }
    }
}

impl SecondaryNode {
    /// Returns the time of the next action that does not need a connection to the master.
    pub(crate) fn wake_at(&self) -> Time {
        self.network.wake_at().min(self.ue.wake_at())
    }

    /// Returns the time of the next message of a connected UE.
    pub(crate) fn speaks_at(&self) -> Time {
        let answer = self.answer.map_or(Time::NEVER, |(at, _)| at);
        let reports = match self.ue {
            UeSide::Serving if self.network.cell().is_some() => self.about.report_at(),
            UeSide::Alone => self.adding.report_at(),
            _ => Time::NEVER,
        };
        answer.min(reports)
    }

    /// Applies a step to the row of the change, if one is under way.
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
pub(crate) enum Wish {
    /// The UE should change to this cell.
    Change(CellId),
    /// The secondary node should be released.
    Release,
}

/// RRC message about the secondary node, sent over the master's leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NodeMessage {
    /// MeasurementReport about the secondary node's cell if `is_about` is true, or about cells that
    /// may be added.
    Report { is_about: bool, report: Measured },
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
            } => 60 + GROUP,
            NodeMessage::Order {
                order: Order::Release,
                ..
            } => 60,
            NodeMessage::AccessFailed(_) => 50,
        }
    }
}

/// Size in bytes of the configuration of a secondary cell group in an RRC message, a typical value.
pub(crate) const GROUP: u32 = 160;

/// Reason why a cell is requested as a secondary cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A measurement report, a decision of the secondary node, or a failure.
    Here(SecondaryCause),
    /// A handover of the master node to this cell.
    Handover(CellId),
}

impl Purpose {
    pub(crate) fn cause(self) -> SecondaryCause {
        match self {
            Purpose::Here(cause) => cause,
            Purpose::Handover(_) => SecondaryCause::Handover,
        }
    }
}

/// Step that the master's base station waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// No procedure is under way.
    #[default]
    Idle,
    /// Answer of the requested cell (TDCprep, TXnDCprep).
    Preparing {
        target: CellId,
        purpose: Purpose,
        until: Time,
    },
    /// Arrival of the UE in the master's new cell. The secondary node reserves resources in `cell`.
    Planned { cell: CellId, until: Time },
    /// Answer of the secondary node to its release.
    Releasing { until: Time },
    /// Answer of the UE to an order. The order is repeated at `until`.
    Telling { order: Order, until: Time },
}

/// Content of a message between the two base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeSignal {
    /// SgNB (S-Node) Addition Request, or Modification Request to the UE's present secondary node.
    Ask(CellId),
    /// Acknowledge of an Addition or Modification Request.
    Accept(CellId),
    /// Reject of an Addition or Modification Request.
    Reject(CellId),
    /// RRC Transfer: a report about the secondary node's cell.
    Transfer(Wish),
    /// Change Required, Modification Required or Release Required.
    Required(Wish),
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
            // These messages have RRC's containers.
            NodeSignal::Ask(_) => 600,
            NodeSignal::Accept(_) => 400,
            NodeSignal::Required(Wish::Change(_)) => 300,
            NodeSignal::Transfer(_) | NodeSignal::Complete(_) => 150,
            NodeSignal::Reject(_)
            | NodeSignal::Required(Wish::Release)
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
    Tell { order: Order, number: u32 },
    /// Begin a change to this cell, or a release if `target` is `None`.
    Began {
        target: Option<CellId>,
        purpose: Purpose,
    },
    /// End the change without success. `is_refused` is true if the cell had no room, false if it
    /// did not answer.
    Ended { is_refused: bool },
    /// Send the command for the master's handover to this cell.
    GoOn(CellId),
}

/// Reaction to a failed secondary leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    Release,
    Enter(CellId),
}
