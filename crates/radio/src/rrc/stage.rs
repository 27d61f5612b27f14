//! Stages of a UE in the procedures of mobility, with the timer of each stage.
//!
//! [`Stage::Connected`] ends with a handover command or a link failure. [`Stage::Daps`] ends with
//! the release of one of its two cells. Every other stage ends by a timer.
//!
//! Standard: TS 38.331 §5.3.5.3, §5.3.5.5, §5.3.7, §7.1.1; TS 36.331 §5.3.5.4, §5.3.7, §7.3.

use super::granted::EntryAccess;
use fadeout_core::{CellId, Procedure, Time};

/// Stage of a UE in the procedures of mobility.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stage {
    /// Connected: the UE is in a cell.
    Connected,
    /// Connected in a handover with DAPS: the UE is in the source and enters the target, or is in
    /// both cells.
    Daps(DapsStage),
    /// The UE selects a cell after a link failure. The next attempt is at `at`, and T311 expires at
    /// `until`.
    Selecting { at: Time, until: Time },
    /// The UE has left its cell and enters another cell.
    Entering(Entry),
    /// The UE enters this 3G cell. The entry ends at this time.
    Arriving { cell: CellId, at: Time },
    /// The cell that the UE selected after a link failure waits for the UE's context. With fixed
    /// delays the context arrives at `at`. T301 expires at `until`.
    Fetching { cell: CellId, at: Time, until: Time },
    /// The UE is idle without a connection. The next cell selection is at this time.
    Released { at: Time },
    /// The UE's bearers are being set up, after RRC setup in the serving cell. T3410 or a link
    /// failure ends this stage.
    Attaching,
}

/// Stage of a handover with DAPS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DapsStage {
    /// The UE is in the source and enters the target.
    Entering(Entry),
    /// The UE has entered the target, and the leg to the source still serves the UE.
    Both { source: CellId },
}

/// Action of the UE that is due and needs the radio channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DueAction {
    /// Select a cell for the re-establishment of the connection.
    SelectCell,
    /// Search a cell for a UE without connection.
    SearchCell,
    /// Run a step of the entry into a cell.
    StepOfAccess,
    /// Complete the entry into this 3G cell.
    EnterUtra(CellId),
}

/// Entry of a UE into a cell, until T304, T301 or T300 expires.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub cell: CellId,
    pub access: EntryAccess,
    /// Time at which the timer expires.
    pub until: Time,
    pub procedure: Procedure,
}

impl Stage {
    /// Returns the entry into a cell that is under way. `None` if there is none.
    pub(crate) fn entry(&self) -> Option<Entry> {
        match *self {
            Stage::Entering(entry) | Stage::Daps(DapsStage::Entering(entry)) => Some(entry),
            _ => None,
        }
    }
}

impl Entry {
    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        self.access.wake_at().min(self.until)
    }
}

impl DapsStage {
    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        match self {
            DapsStage::Entering(entry) => entry.wake_at(),
            DapsStage::Both { .. } => Time::NEVER,
        }
    }
}
