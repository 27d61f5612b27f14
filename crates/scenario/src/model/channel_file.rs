//! Channels that a file describes.

use super::File;
use crate::keys::POSITIVE_TIME;
use crate::quantity::Dimension;
use crate::shape::Presence::{Default, Required};
use crate::shape::{Range, Shape};
use crate::table::key_table;
use fadeout_core::Span;
use fadeout_core::agreed::{Interpolation, Outside};

key_table! {
    /// Gain or SINR over time, from a ray tracer or a drive test. It replaces the channel model for
    /// the pairs of UE and cell that the file names. Other pairs keep the channel of their cell.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ChannelFile {
        own {
            /// Name of the table in the scenario.
            name: String,
        }
        /// Path of a CSV table with a header line, relative to the scenario file. Columns are
        /// `time_s` or `time_ms`, `ue`, `cell`, and `gain_db` or `sinr_db`, the latter optionally
        /// with `uplink_sinr_db`. `gain_db` is the ratio of received to transmitted power,
        /// including both antennas.
        file: File = Shape::File("a table in CSV, relative to the scenario file"), Required;
        /// Value between two rows of the same UE and cell.
        interpolation: Interpolation = Shape::Choice(Interpolation::WORDS), Default("\"linear\"");
        /// Value more than `maximum-gap` before the first row of a UE and cell, and after their
        /// last row.
        outside: Outside = Shape::Choice(Outside::WORDS), Default("\"error\"");
        /// Longest time between two rows of the same UE and cell during the run.
        maximum_gap: Span = POSITIVE_TIME, Default("\"1 s\"");
        /// Time in the channel file at which the run starts.
        start: Span = Shape::Quantity(Dimension::Time, Range::closed(0.0, 9e18)), Default("\"0 s\"");
        /// True if the fading of the cell's channel is added to a gain from the file. Suitable if
        /// the gains in the file are means over positions or time.
        fading: bool = Shape::Bool, Default("false");
    }
}
