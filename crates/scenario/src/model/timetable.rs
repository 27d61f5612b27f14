//! Timetable of handovers, such as that of a recorded drive.

use crate::build::Builder;
use crate::keys::TIME;
use crate::read::{Fields, Item};
use crate::shape::Presence::Required;
use crate::shape::Shape;
use crate::table::{KeyValue, key_table, list, nested};
use fadeout_core::Time;
use serde_json::Value;

/// Policy that follows the timetable.
const POLICY: &str = "timetable";

key_table! {
    /// Handover of a UE at a given time.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct TimetableEntry {
        own {}
        /// Time at which the serving cell begins to prepare the handover. If another change of the
        /// UE's cell is under way, the handover begins afterwards.
        at: Time = TIME, Required;
        /// Name of the UE.
        ue: String = Shape::Text, Required;
        /// Name of the target cell.
        to: String = Shape::Text, Required;
    }
}

key_table! {
    /// Serving cells of a measurement. The Python package replaces them by a timetable.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ServingCells {
        own {}
        /// Name of a table `[measurement]` with a column of cells. A `[channel-file]` of the same
        /// measurement needs rows of the serving cell only.
        measurement: String = Shape::Text, Required;
        /// Name of the UE.
        ue: String = Shape::Text, Required;
    }
}

nested!(TimetableEntry, ServingCells);

impl KeyValue for Vec<TimetableEntry> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.iter()
            .map(|entry| KeyValue::written(entry, shape))
            .collect()
    }
}

/// Checks that a timetable and its policy are given together, and that times do not decrease.
pub(super) fn fits_policy(
    policy: &str,
    (timetable, has_cells): (Option<&[TimetableEntry]>, bool),
    fields: &Fields,
    builder: &mut Builder<'_, '_>,
) -> bool {
    let is_policy = policy == POLICY;
    let mut mistake = |key: &str, message: &str, expected: &str| {
        builder.mistake(fields.place_of(key), message, expected);
        false
    };
    let Some(entries) = timetable else {
        return match (has_cells, is_policy) {
            (false, false) => true,
            (false, true) => mistake(
                "policy",
                "the policy `timetable` without a timetable",
                "`timetable`, such as [{ at = \"6 s\", ue = \"phone\", to = \"b\" }]",
            ),
            (true, true) => mistake(
                "serving-cells",
                "serving cells of a measurement",
                "a run by `fadeout` or its Python package, which read the table",
            ),
            (true, false) => mistake(
                "serving-cells",
                "serving cells of a measurement with another policy",
                "`policy = \"timetable\"`, or no `serving-cells`",
            ),
        };
    };
    if !is_policy {
        let key = if has_cells {
            "serving-cells"
        } else {
            "timetable"
        };
        return mistake(
            key,
            &format!("`{key}` with another policy"),
            &format!("`policy = \"timetable\"`, or no `{key}`"),
        );
    }
    match entries.windows(2).find(|pair| pair[1].at < pair[0].at) {
        Some(pair) => mistake(
            "timetable",
            &format!(
                "the handover at {} comes after the one at {}",
                pair[1].at, pair[0].at
            ),
            "entries in the order of their times",
        ),
        None => true,
    }
}
