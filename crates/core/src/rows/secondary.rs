//! Rows of changes of the secondary node.

use super::HandoverOutcome;
use crate::rows::named;
use crate::table::{ColumnKind, ColumnSink, ColumnValue};
use crate::{CellId, Time, UeId, table};

table! {
    /// An addition, change, modification or release of the secondary node in dual connectivity, one
    /// row for each that has ended, with success or without. Times are simulated times, and NaN for
    /// a step that did not happen.
    pub struct SecondaryChangeRow = "secondary_changes" {
        /// Time at which the procedure ended.
        time_s: Time, "s";
        /// UE whose secondary node changed.
        ue: UeId, "";
        /// Kind of procedure. `addition`: the UE gets a secondary node. `change`: another base
        /// station becomes its secondary node. `modification`: another cell of the node serves, or
        /// the same cell again. `release`: the UE loses its secondary node.
        kind: SecondaryChange, "";
        /// Cause of the procedure: `measurement` (a report), `handover` (of the master's cell) or
        /// `failure` (of the secondary leg).
        cause: SecondaryCause, "";
        /// Cell of the secondary node before the procedure. For an addition, the master's cell.
        source: CellId, "";
        /// Cell of the secondary node that the UE enters by the procedure. For a release, the cell
        /// that was released.
        target: CellId, "";
        /// Outcome of the procedure. `success`: the procedure was completed. `refused`: the target
        /// was full. `cancelled`: an answer did not come, or the UE left the master's cell.
        /// `failed`: the UE could not enter the cell.
        outcome: HandoverOutcome, "";
        /// Time of the trigger: the measurement report or the failure report reached the master's
        /// base station, or the command of a handover was due.
        triggered_s: f64, "s";
        /// Time at which the master's base station asked the target.
        requested_s: f64, "s";
        /// Time at which the master's base station sent the RRC command to the UE.
        commanded_s: f64, "s";
        /// Time at which the UE left the old cell.
        left_s: f64, "s";
        /// Time at which random access to the new cell was complete, so that the leg carries data.
        entered_s: f64, "s";
        /// Time at which the UE's answer reached the master's base station.
        completed_s: f64, "s";
        /// Time for which the UE had no secondary leg. It starts when the UE leaves the old cell or
        /// the old cell fails, and ends when the UE enters the new cell. NaN if the UE entered no
        /// cell.
        gap_s: f64, "s";
        /// Number of random access preambles that the UE sent.
        preambles: u32, "";
        /// Downlink packets that were given to the old cell and not confirmed. They are sent again
        /// on either leg.
        downlink_again: u32, "packets";
        /// Uplink packets that the UE had given to the old leg and that were not confirmed. They
        /// are sent again on the master's leg.
        uplink_again: u32, "packets";
    }
}

named! {
    /// A kind of change of the secondary node.
    #[derive(Default)]
    SecondaryChange {
        /// The UE had no secondary node, and gets one.
        #[default]
        Addition = "addition",
        /// Another base station becomes the secondary node.
        Change = "change",
        /// Another cell of the secondary node serves, or the same cell again.
        Modification = "modification",
        /// The UE loses its secondary node.
        Release = "release",
    }
}

named! {
    /// The cause of a change of the secondary node.
    #[derive(Default)]
    SecondaryCause {
        /// A measurement report.
        #[default]
        Measurement = "measurement",
        /// A handover of the master's cell.
        Handover = "handover",
        /// A failure of the secondary leg.
        Failure = "failure",
    }
}
