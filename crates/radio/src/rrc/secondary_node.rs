//! The secondary node of one UE in base stations: the master's asks, the other one decides, the UE is told.
//!
//! ```text
//! report about cells that may be added ─► ask ─► Ask ─► cell ─► Accept ─► Tell ─► UE ─► answer: on_answer
//! report about the cell of the node ─► Transfer ─► secondary node ─► Required ─► ask, or Tell
//! failure, or nobody wants it any more ─► Release ─► secondary node ─► Released ─► Tell
//! handover ─► ask on behalf of the target ─► GoOn: the command
//! ```
//!
//! Every phase but [`Phase::Idle`] has a time that ends it. [`SecondaryNetwork`] is told of messages and of time, and says
//! what follows in acts, as [`Network`](super::network::Network) does; it knows no radio, no bearer and no link.
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

/// The secondary node of a UE, at both ends.
#[derive(Debug)]
pub(crate) struct SecondaryNode {
    pub config: SecondaryNodeConfig,
    /// What the UE reports while it has none.
    pub adding: Survey,
    /// What it reports about the cell of the one that it has.
    pub about: Survey,
    /// The generation that cells of the node are of.
    pub generation: Generation,
    pub network: SecondaryNetwork,
    pub ue: UeSide,
    /// When the UE has done what it was told and answers, and to which order.
    pub answer: Option<(Time, u32)>,
    /// The last order that it carried out.
    pub heard: u32,
    pub record: Option<SecondaryChangeRow>,
    /// Since when the UE has had no secondary leg that carries, after it had one.
    pub silent_since: Option<Time>,
}

/// Where the UE is with its secondary leg.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UeSide {
    /// It has none.
    Alone,
    /// A command to another master's cell names this cell, which it enters after that one.
    Waiting(CellId),
    /// It enters a cell until T304 expires.
    Entering {
        leg: LegId,
        access: RandomAccess,
        until: Time,
    },
    /// The leg is there.
    Serving,
    /// T304 has expired: it waits for what the network says.
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
    /// When something is to be done next, whether the UE is connected or not.
    pub(crate) fn wake_at(&self) -> Time {
        self.network.wake_at().min(self.ue.wake_at())
    }

    /// When a UE that is connected says something next.
    pub(crate) fn speaks_at(&self) -> Time {
        let answer = self.answer.map_or(Time::NEVER, |(at, _)| at);
        let reports = match self.ue {
            UeSide::Serving if self.network.cell().is_some() => self.about.report_at(),
            UeSide::Alone => self.adding.report_at(),
            _ => Time::NEVER,
        };
        answer.min(reports)
    }

    /// A step of the change under way, if one is.
    pub(crate) fn note(&mut self, step: impl FnOnce(&mut SecondaryChangeRow)) {
        if let Some(row) = &mut self.record {
            step(row);
        }
    }
}

/// What the master's base station tells the UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// RRCReconfiguration with a secondary cell group of this cell (reconfigurationWithSync).
    Enter(CellId),
    /// RRCReconfiguration that releases it.
    Release,
}

/// What the secondary node wants because of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The UE should go to this cell.
    Change(CellId),
    /// It should have no secondary node.
    Release,
}

/// A message of RRC about the secondary node, over the master's leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NodeMessage {
    /// MeasurementReport: about the cell of the node, or about cells that may be added.
    Report { is_about: bool, report: Measured },
    /// RRCReconfiguration with a secondary cell group, or its release.
    Order { order: Order, number: u32 },
    /// RRCReconfigurationComplete that answers it.
    Answer(u32),
    /// SCGFailureInformation: T304 has expired (synchReconfigFailureSCG) in this cell.
    AccessFailed(CellId),
}

impl NodeMessage {
    /// As [`Message::size`](super::mobility::Message::size).
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

/// Bytes of the configuration of a secondary cell group in a message of RRC: a usual size.
pub(crate) const GROUP: u32 = 160;

/// Why a cell is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A report, or a wish of the secondary node, or a failure.
    Here(SecondaryCause),
    /// The master is about to change to this cell.
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

/// The step that the master's base station waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Nothing is under way.
    #[default]
    Idle,
    /// The cell's answer (TDCprep, TXnDCprep).
    Preparing {
        target: CellId,
        purpose: Purpose,
        until: Time,
    },
    /// The UE's arrival in another master's cell; the secondary node holds room in this one.
    Planned { cell: CellId, until: Time },
    /// The secondary node's answer to its release.
    Releasing { until: Time },
    /// The UE's answer to an order; it is told again then.
    Telling { order: Order, until: Time },
}

/// Content of a message between the base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeSignal {
    /// SgNB (S-Node) Addition Request, or Modification Request to the one that the UE has.
    Ask(CellId),
    /// Its Acknowledge.
    Accept(CellId),
    /// Its Reject.
    Reject(CellId),
    /// RRC Transfer: a report about the secondary node's cell.
    Transfer(Wish),
    /// Change Required, Modification Required or Release Required.
    Required(Wish),
    /// Release Request about this cell.
    Release(CellId),
    /// Its Acknowledge.
    Released,
    /// Change Confirm, Release Confirm or UE Context Release: nobody answers.
    Confirm(CellId),
    /// Reconfiguration Complete.
    Complete(CellId),
}

impl NodeSignal {
    /// Bytes of an IP packet with SCTP's header: usual sizes, not those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            // With RRC's containers.
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

/// What follows in the radio from a step of the network's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeAct {
    /// The UE is told, which is order number so many.
    Tell { order: Order, number: u32 },
    /// A change begins: to this cell, or without one a release.
    Began {
        target: Option<CellId>,
        purpose: Purpose,
    },
    /// It comes to nothing: no room, or no answer.
    Ended { is_refused: bool },
    /// The command to the master's target may go.
    GoOn(CellId),
}

/// What is done about a failed leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    Release,
    Enter(CellId),
}
