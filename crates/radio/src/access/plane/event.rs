//! Events that a radio access schedules for itself.

use crate::config::LegId;
use fadeout_core::{CellId, Direction, DrbId, UeId};

/// Event of a radio access. A number in an event is the generation of a timer or the number of a
/// message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// Slot in which a cell may have data to schedule.
    Slot(CellId, u32),
    /// End of the receiver's decoding of a transport block.
    Received(LegId, u8, Direction),
    /// Timer at the end of a bearer that sends in this direction.
    Timer(DrbId, Direction, u32),
    /// Time at which a UE without a grant may repeat its scheduling request.
    RepeatRequest(LegId, u32),
    /// The downlink of a leg has been out of range for too long.
    OutOfRange(LegId),
    /// Cell selection of a UE.
    CellSelection(UeId),
    /// Mobility management of a UE is due.
    Mobility(UeId, u32),
    /// Link evaluations of UEs are due.
    LinkEvaluations,
    /// Arrival of a bearer's end marker at the target.
    EndMarker(DrbId),
    /// Packets of a bearer leave the bearer, because its UE is in a cell of 3G.
    PassOn(DrbId),
    /// Arrival of a numbered RRC message, for a UE in a cell of 3G.
    RrcMessage(UeId, Direction, u64),
    /// Time to check a UE's connection for inactivity.
    InactivityCheck(UeId, u32),
    /// Paging of a UE.
    Paged(UeId),
    /// Return of a UE to the connected state.
    Connected(UeId),
    /// A status or a poll may be due between the base stations of a split bearer.
    InterfaceReport(DrbId, u32),
    /// Time to repeat the report of a secondary leg's failure, or to handle the failure. The number
    /// identifies the failure.
    SecondaryFailure(u64),
    /// A secondary leg carries data again after its failure.
    LegReturned(LegId),
    /// Change of a bearer's PDCP duplication by the base station. Each set bit of the mask is a leg
    /// for which duplication is activated.
    Duplication(DrbId, u8),
}
