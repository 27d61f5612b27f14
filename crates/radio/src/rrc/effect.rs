//! Effects of the procedures of mobility, and the inputs of their steps.
//!
//! A machine receives an event and a view ([`Seen`] or [`Step`]), and adds [`Effect`]s to a list.
//! The executor of the radio access (`access/executor.rs`) carries them out in the order of the
//! list.

use super::backhaul::NetworkNode;
use super::message::Message;
use super::random_access::CellAccess;
use super::record::NewRow;
use super::secondary_node::message::NodeAct;
use crate::config::{Aggregation, BicastStart, MobilityConfig};
use fadeout_core::{CellId, Direction, HandoverOutcome, LinkInfo, RrcEvent, Span, Time, UeId};
use std::collections::VecDeque;

/// Time after which a lost path switch request is repeated: the least retransmission timeout of
/// SCTP.
///
/// Standard: RFC 9260 §16.
pub(crate) const REPEAT: Span = Span::from_secs(1);

/// Effects in the order in which the executor carries them out.
pub(crate) type Effects = VecDeque<Effect>;

/// Action that the executor carries out after a step of a procedure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Effect {
    /// Send this numbered message from one network node to another.
    Send {
        number: u64,
        from: NetworkNode,
        to: NetworkNode,
        size: u32,
    },
    /// The target has accepted the UE, and the source has received the answer.
    Accepted(CellId),
    /// The target has refused the UE, and the source has received the answer.
    Refused(CellId),
    /// The source has waited too long for the target's answer.
    AnswerExpired(CellId),
    /// The source has waited too long for the departure of the UE.
    DepartureExpired,
    /// Start bicast: the core also sends to the base station of this cell.
    StartBicast(CellId),
    /// End bicast: the core sends to one base station.
    EndBicast,
    /// Switch the path of the core to the UE's base station.
    SwitchPath,
    /// Make the base station of this cell the one to which the core sends the UE's data.
    SetHome(CellId),
    /// The base station has received the complete message of a UE that entered its cell.
    HasEntered,
    /// Wake the UE's cell for downlink messages that wait.
    WakeDownlink,
    /// Wake the UE's cell for uplink data that waits.
    WakeUplink,
    /// Connect the UE's signalling bearers to this cell, after RRC setup.
    ConnectSignalling(CellId),
    /// Connect the UE's data bearers to the cell of its signalling bearers.
    ConnectData,
    /// Disconnect the UE's signalling bearers and leave their cell.
    LeaveSignalling,
    /// Make the UE idle until its next cell selection at this time.
    Release(Time),
    /// Forward the UE's data from its former base station `from` to the base station of this cell.
    /// With fixed delays, forwarding takes the time `delay`. The core may have switched the path
    /// before.
    ForwardData {
        from: u32,
        cell: CellId,
        delay: Span,
    },
    /// The cell has received the UE's context.
    HasContext,
    /// Send the UE its candidates.
    SendCandidates,
    /// Resume the UE's data at the target. The target has received the forwarded data or is about
    /// to receive it.
    ResumeData,
    /// The target has received the source's status transfer.
    HasStatus,
    /// Carry out this action about the secondary node.
    SecondaryNode(NodeAct),
    /// Record an event of this cell. `None` stands for the serving cell.
    RecordEvent(Option<CellId>, RrcEvent),
    /// Pass this notice to listeners of the UE's link.
    Notify(LinkInfo),
    /// Send a message between the UE and its base station, in this direction.
    SendMessage(Direction, Message),
    /// Keep the UE's beams if true, or let them follow the channel.
    HoldBeams(bool),
    /// Handle a failure of the UE's link.
    FailLink,
    /// Remove this cell from the UE's secondary cells. Blocks under way in the cell are lost.
    DropSecondaryCell(CellId),
    /// Replace the list of the UE's secondary cells, without a change of its legs.
    SetSecondaryCells(Aggregation),
    /// Add those of these cells that are not yet secondary cells of the UE.
    AddSecondaryCells(Aggregation),
    /// Begin this result row.
    BeginRow(NewRow),
    /// End the result row of the procedure under way with this outcome.
    FailRow(HandoverOutcome),
    /// Cancel the commands that have not reached the UE.
    CancelCommand,
    /// Make the UE leave its cell for this candidate, because the execution conditions are met.
    ExecuteHandover(CellId),
    /// Order a preamble in this candidate cell, at the first occasion from this time on.
    OrderPreamble(CellId, Time),
    /// Make the UE leave its cell for this candidate, as a cell switch command demands.
    SwitchCell(CellId),
}

/// Inputs of one step of a UE's procedure. A step changes none of its inputs.
pub(crate) struct Seen<'a> {
    pub now: Time,
    pub config: &'a MobilityConfig,
    pub is_connected: bool,
    /// Serving cell of the UE, or its last serving cell. `None` if the UE had no serving cell yet.
    pub serving: Option<CellId>,
    /// Random access in the serving cell. `None` if there is no such cell.
    pub access: Option<CellAccess<'a>>,
    /// Secondary cells of the UE.
    pub secondaries: Aggregation,
}

#[cfg(test)]
impl<'a> Seen<'a> {
    /// Returns the view of a UE that is connected to cell 0.
    pub(crate) fn connected(config: &'a MobilityConfig, now: Time) -> Seen<'a> {
        Seen {
            now,
            config,
            is_connected: true,
            serving: Some(CellId(0)),
            access: None,
            secondaries: Aggregation::NONE,
        }
    }
}

/// Inputs of one step of the network, and the list of effects that the step returns.
pub(crate) struct Step<'a> {
    pub now: Time,
    /// Seed of the run.
    pub seed: u64,
    pub ue: UeId,
    pub config: &'a MobilityConfig,
    /// Number of UEs in each cell.
    pub loads: &'a [u32],
    /// Number of UEs for which each cell has reserved resources.
    pub held: &'a mut [u32],
    /// Serving cell of the UE, or its last serving cell. `None` if the UE had no serving cell yet.
    pub serving: Option<CellId>,
    pub is_connected: bool,
    /// Cell that waits for the UE's context. `None` if no cell waits.
    pub fetching: Option<CellId>,
    /// True if the UE's bearers are being set up.
    pub is_attaching: bool,
    /// Base station to which the core sends the UE's data.
    pub home: u32,
    /// Number of the next message.
    pub next_message: &'a mut u64,
    pub effects: &'a mut Effects,
}

impl Step<'_> {
    pub(crate) fn after(&self, span: Span) -> Time {
        self.now.saturating_add(span)
    }

    pub(crate) fn node_of(&self, cell: CellId) -> NetworkNode {
        NetworkNode::Station(self.config.station(cell))
    }

    /// True if the core sends the UE's data to the base station of this cell.
    pub(crate) fn is_home(&self, cell: CellId) -> bool {
        self.config.station(cell) == self.home
    }

    /// Returns when bicast to `target` starts. `None` if the handover does not use bicast.
    pub(crate) fn bicast_to(&self, target: CellId) -> Option<BicastStart> {
        self.config.bicast_between(self.serving?, target)
    }

    pub(crate) fn has_room(&self, target: CellId) -> bool {
        let place = target.index();
        self.config.has_room(self.loads[place] + self.held[place])
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push_back(effect);
    }
}
