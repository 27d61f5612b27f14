//! Rows of changes of the secondary node.

use super::HandoverOutcome;
use crate::rows::named;
use crate::table::{ColumnKind, ColumnSink, ColumnValue};
use crate::{CellId, Time, UeId, table};

table! {
    /// An addition, change or release of the secondary node of dual connectivity that has ended, well or not, one row
    /// each. Times are those of the run; what did not happen is NaN.
    pub struct SecondaryChangeRow = "secondary_changes" {
        /// When it ended.
        time_s: Time, "s";
        /// UE.
        ue: UeId, "";
        /// addition, change, modification (within the secondary node, or into the same cell again) or release.
        kind: SecondaryChange, "";
        /// measurement, handover (of the master's cell) or failure (of the secondary leg).
        cause: SecondaryCause, "";
        /// Cell of the secondary node before; of an addition that of the master.
        source: CellId, "";
        /// Cell that was meant; of a release that which was left.
        target: CellId, "";
        /// success; refused, as the target was full; cancelled, as an answer did not come or the master's cell was left
        /// meanwhile; failed, as the UE could not enter the cell.
        outcome: HandoverOutcome, "";
        /// The report reached the master's base station, the failure did, or the command of a handover was due.
        triggered_s: f64, "s";
        /// The target was asked.
        requested_s: f64, "s";
        /// The UE was told.
        commanded_s: f64, "s";
        /// The UE left the old cell.
        left_s: f64, "s";
        /// Random access was done: the leg carries.
        entered_s: f64, "s";
        /// The UE's answer reached the master's base station.
        completed_s: f64, "s";
        /// How long the UE had no secondary leg, from the old cell or its failure to the new one.
        gap_s: f64, "s";
        /// Preambles sent.
        preambles: u32, "";
        /// Downlink packets that the old cell was given and had not confirmed: they are sent again on either leg.
        downlink_again: u32, "packets";
        /// The same of the uplink.
        uplink_again: u32, "packets";
    }
}

named! {
    /// What becomes of a secondary node.
    #[derive(Default)]
    SecondaryChange {
        /// There was none.
        #[default]
        Addition = "addition",
        /// Another base station is it.
        Change = "change",
        /// Another cell of it serves, or the same anew.
        Modification = "modification",
        /// There is none any more.
        Release = "release",
    }
}

named! {
    /// Why it does.
    #[derive(Default)]
    SecondaryCause {
        /// A measurement report.
        #[default]
        Measurement = "measurement",
        /// The master's cell changed.
        Handover = "handover",
        /// The secondary leg failed.
        Failure = "failure",
    }
}
