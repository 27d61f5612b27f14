//! Values of a run that its caller observes and sets between two steps, and their names.
//!
//! A name is `KIND.NAME.COLUMN`, such as `flow.download.srtt_s`. The columns are those of the
//! tables of results.

mod error;
mod names;
mod rows;

pub use error::ObserveError;
pub use names::{Observable, SETTABLES, Settable, observables};
pub(crate) use names::{Split, column_of, find, settable_of};
pub(crate) use rows::{FlowCounts, InterfaceCounts, LinkCounts};

use fadeout_core::{CellId, Direction, DrbId, EndpointId, FlowId, LinkId, UeId};

/// Value that can be observed, with its name already looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    pub(crate) subject: Subject,
    /// Index of the table among those of the subject's kind.
    pub(crate) table: usize,
    /// Index of the column.
    pub(crate) column: usize,
}

/// Part of a run that is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A flow, or a path of a multipath flow, and its data sender. For a whole multipath flow, the
    /// sender of its first path.
    Flow(FlowId, EndpointId),
    Link(LinkId),
    Bearer(DrbId, Direction),
    Ue(UeId, Direction),
    Cell(CellId, Direction),
    Measurement(UeId, CellId),
}

/// Value that can be set, with its name already looked up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    pub(crate) target: Target,
    pub(crate) settable: &'static Settable,
}

/// Part of a run that is changed, and the value of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Window(EndpointId),
    HeldWindow(EndpointId),
    Threshold(EndpointId),
    PacingRate(EndpointId),
    LinkRate(LinkId),
    LinkThreshold(LinkId),
    BearerThreshold(DrbId, Direction),
    ServingCell(UeId),
    Weight(UeId),
}
