//! Effects of the procedures of mobility, and the inputs of their steps.
//!
//! A machine receives an event and a view ([`Seen`] or [`Step`]), and adds [`Effect`]s to a list.
//! The executor of the radio access (`access/executor.rs`) carries them out in the order of the
//! list.

use super::backhaul::NetworkNode;
use super::candidates::Candidates;
use super::message::Message;
use super::random_access::CellAccess;
use super::record::{Change, NewRow, RowTime};
use super::secondary_node::message::NodeAct;
use crate::config::{Aggregation, BicastStart, Fate, MobilityConfig};
use crate::rlc::Generation;
use fadeout_core::{
    CellId, Direction, HandoverOutcome, LinkInfo, Procedure, RrcEvent, SecondaryChangeRow, Span,
    Time, UeId,
};
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
    /// Take back the downlink packets that wait at the 3G base station.
    RecallUtraPackets,
    /// Pass the UE's data to the target of the handover, after the command.
    PassData(CellId),
    /// End the sending of early copies, because the source knows the UE's cell.
    EndEarlyCopies,
    /// Cancel the planned change of the secondary node.
    CancelNodeRequest,
    /// Send downlink data that waits at the UE's base station.
    SendDownlinkData,
    /// Report the UE's bearers to a core that waits for them. Otherwise the handover is done.
    ReportBearers,
    /// Offer secondary cells to a UE that has entered its cell.
    OfferSecondaryCells,
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
    /// Forward the UE's data from its former base station `from` to the base station of this cell.
    /// With fixed delays, forwarding takes the time `delay`. The core may have switched the path
    /// before.
    ForwardData {
        from: u32,
        cell: CellId,
        delay: Span,
    },
    /// Send the UE its candidates.
    SendCandidates,
    /// Resume the UE's data at the target. The target has received the forwarded data or is about
    /// to receive it.
    ResumeData,
    /// The target has received the source's status transfer.
    HasStatus,
    /// Pass this act of the network to the UE's secondary node.
    SecondaryNode(NodeAct),
    /// Send the UE the handover command to this cell.
    CommandUe(CellId),
    /// Send a message between the UE and its base station, in this direction.
    SendMessage(Direction, Message),
    /// Cancel the commands that have not reached the UE.
    CancelCommand,
    /// Drop the secondary node that a handover command named.
    DropCommandedNode,
    /// Cancel the handover that the network prepares or has commanded.
    CancelHandover,
    /// Cancel the path switch, because the link to the UE is lost.
    StopPathSwitch,
    /// Change the UE, its legs or its bearers.
    Ue(UeEffect),
    /// Report to result rows, counters or listeners.
    Report(ReportEffect),
}

/// Effect on a UE, on its legs and on its bearers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum UeEffect {
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
    /// The cell has received the UE's context.
    HasContext,
    /// Carry out this step of the UE's secondary leg.
    SecondaryLeg(LegStep),
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
    /// Stop the downlink of the UE's bearers, whose data have this fate.
    StopDownlink(Fate),
    /// Detach the UE from its cell. The next cell is `None` if it is unknown.
    Detach(Option<CellId>),
    /// Start the UE's entry into a cell.
    StartEntry(EntryStart),
    /// Start the UE's entry into this 3G cell.
    ArriveInUtra(CellId),
    /// Release the UE's leg in this cell, which is not its serving cell.
    LeaveLeg(CellId),
    /// Move the UE and its bearers to this cell.
    EnterCell(CellId),
    /// Move the UE to the target of a DAPS handover, and keep the source as a second cell.
    EnterDapsTarget(CellId),
    /// Send the RRC complete message.
    SendComplete,
    /// Begin the attach procedure in this cell, after contention resolution.
    SetUp(CellId),
    /// Fetch the UE's context for this cell. T301 expires at `until`.
    FetchContext { cell: CellId, until: Time },
    /// Add the secondary cells that the handover command named.
    AddCommandedCells,
    /// Enter the cell of the secondary node that the handover command named.
    EnterCommandedNode,
    /// End the attach attempt without success.
    FailAttach,
    /// Stop the messages of the attach procedure.
    StopAttach,
    /// Drop all candidates at the UE and in the network.
    DropCandidates,
    /// Carry out this step of each data bearer of the UE.
    Bearers(BearerStep),
    /// Order a preamble in this candidate cell, at the first occasion from this time on.
    OrderPreamble(CellId, Time),
}

/// Effect on result rows, counters and listeners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ReportEffect {
    /// Report the UE's data rate to listeners of its link.
    ReportRate,
    /// Set this time of the result row.
    StampRow(RowTime),
    /// Begin this result row of the secondary node.
    BeginNodeRow(SecondaryChangeRow),
    /// Set this time of the result row of the secondary node.
    StampNodeRow(NodeRowTime),
    /// End the result row of the secondary node with this outcome.
    EndNodeRow(HandoverOutcome),
    /// Record an event of this cell. `None` stands for the serving cell.
    RecordEvent(Option<CellId>, RrcEvent),
    /// Pass this notice to listeners of the UE's link.
    Notify(LinkInfo),
    /// Begin this result row.
    BeginRow(NewRow),
    /// End the result row of the procedure under way with this outcome.
    FailRow(HandoverOutcome),
    /// Begin the result row of the UE's departure for this candidate. A handover that the network
    /// prepares or has commanded is cancelled.
    BeginCandidateRow(CellId),
    /// Set the target and the procedure of the result row.
    RetargetRow(CellId, Procedure),
    /// Count a failure of the UE's link.
    CountLinkFailure,
}

impl From<UeEffect> for Effect {
    fn from(effect: UeEffect) -> Effect {
        Effect::Ue(effect)
    }
}

impl From<ReportEffect> for Effect {
    fn from(effect: ReportEffect) -> Effect {
        Effect::Report(effect)
    }
}

/// Start of a UE's entry into a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EntryStart {
    pub cell: CellId,
    pub procedure: Procedure,
    /// Earliest time of the first transmission.
    pub ready_at: Time,
    /// Time at which the timer of the procedure (T304, T301 or T300) expires.
    pub until: Time,
    pub method: EntryMethod,
}

/// Method by which a UE enters a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum EntryMethod {
    Random,
    /// Entry from this source, without random access if the configuration allows that.
    Configured(CellId),
    /// Entry without random access, with this timing advance.
    Timed(Span),
}

/// Step of a UE's secondary leg, with the bearers that use the leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LegStep {
    /// The base station sends no new data over the leg, until the UE has answered an order.
    Hold,
    /// The UE begins random access to a cell.
    Enter { cell: CellId, ready_at: Time },
    /// The UE leaves the cell of its secondary node. `enters` is true if the UE enters another
    /// cell.
    Leave { enters: bool },
    /// The leg is released, because the UE leaves its master's cell.
    Release,
    /// The UE has entered the cell. `is_confirmed` is true if the base station knows that.
    Open { cell: CellId, is_confirmed: bool },
    /// The base station ends the use of the former leg.
    Close,
    /// Data that waits is sent on the legs that exist.
    SendData,
}

/// Time in the result row of a secondary node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NodeRowTime {
    Commanded,
    Left,
    /// Entry of a UE that had no secondary leg since `silent_since`. `None` if the UE never had
    /// one.
    Entered {
        silent_since: Option<Time>,
    },
    Completed,
}

/// Step of each data bearer of a UE in a procedure of mobility.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BearerStep {
    /// The connection is released. Data under way is lost.
    Release,
    /// The source copies packets to the base stations of these candidates.
    CopyEarly(Candidates),
    /// The UE leaves for this candidate.
    LeaveForCandidate(CellId),
    /// The candidate has received the UE's complete message.
    CompleteEarly,
    /// The source ends the copying. `is_there` is true if the UE has reached its candidate.
    EndEarly {
        is_there: bool,
    },
    /// The source of a DAPS handover begins to copy packets to the target.
    BeginDaps {
        source: CellId,
        target: CellId,
    },
    /// The target of a DAPS handover has received the UE's complete message.
    CompleteDaps,
    /// The source stops the numbering of packets. Its further packets have this fate.
    EndDapsNumbering(Fate),
    /// The source is released.
    ReleaseDaps,
    /// The source ends the copying, because the UE stays in the source.
    EndDaps,
    DapsSourceFailed,
    DapsTargetFailed,
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
    /// Generation of the serving cell. `None` if there is no such cell.
    pub generation: Option<Generation>,
    /// Random access in the cell that the UE enters. `None` if the UE enters no cell.
    pub entering: Option<CellAccess<'a>>,
    /// Secondary cells of the UE.
    pub secondaries: Aggregation,
    /// Cells that the UE measures, in the order of their ids.
    pub measured: &'a [CellId],
    /// Handover under way or done, until its result row is written. `None` if there is none.
    pub change: Option<Change>,
    /// True if the UE uses the attach procedure.
    pub may_attach: bool,
    /// True if the UE does not use the latest list of candidates that the network has sent.
    pub lacks_candidates: bool,
}

impl Seen<'_> {
    pub(crate) fn after(&self, span: Span) -> Time {
        self.now.saturating_add(span)
    }

    /// True if the UE is connected to a 3G cell.
    pub(crate) fn is_in_utra(&self) -> bool {
        let is_utra = |cell| self.config.is_utra(cell);
        self.is_connected && self.serving.is_some_and(is_utra)
    }
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
            generation: Some(Generation::Nr),
            entering: None,
            secondaries: Aggregation::NONE,
            measured: &[],
            change: None,
            may_attach: false,
            lacks_candidates: false,
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
    /// Generation of the serving cell. `None` if there is no such cell.
    pub generation: Option<Generation>,
    pub is_connected: bool,
    /// Cell that waits for the UE's context. `None` if no cell waits.
    pub fetching: Option<CellId>,
    /// True if the UE's bearers are being set up.
    pub is_attaching: bool,
    /// True if the source and the target of a DAPS handover serve the UE, or if the UE enters the
    /// target.
    pub is_in_daps: bool,
    /// Handover under way or done, until its result row is written. `None` if there is none.
    pub change: Option<Change>,
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

    pub(crate) fn push(&mut self, effect: impl Into<Effect>) {
        self.effects.push_back(effect.into());
    }
}
