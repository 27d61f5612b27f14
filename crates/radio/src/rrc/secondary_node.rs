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
//! Every phase except `Phase::Idle` ends by a timer. [`SecondaryNetwork`] receives messages and
//! times and returns effects, as [`Network`](super::network::Network) does. [`SecondaryNetwork`]
//! does not use the radio, bearers or links.
//!
//! Standard: TS 37.340 §10.2.1, §10.3.1, §10.4.1, §10.5.1, §10.7.1; TS 36.423 §8.7; TS 38.423 §8.3.

pub(crate) mod message;
mod network;
mod ue;

pub(crate) use message::{
    FailureReaction, NodeAct, NodeDecision, NodeMessage, Order, RequestReason,
};
pub(crate) use network::SecondaryNetwork;

use super::message::Message;
use super::random_access::RandomAccess;
use super::survey::Survey;
use crate::config::SecondaryNodeConfig;
use crate::rlc::Generation;
use fadeout_core::{CellId, SecondaryChangeRow, Time};
use message::CELL_GROUP_BYTES;

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
        cell: CellId,
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

    /// Returns the additional bytes of a message that also configures the secondary node.
    pub(crate) fn extra_bytes(&self, message: Message) -> u32 {
        match (message, self.network.planned()) {
            (Message::Command(_), Some(_)) => CELL_GROUP_BYTES,
            _ => 0,
        }
    }
}
