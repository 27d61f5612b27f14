//! Channels that a file describes.

use super::File;
use crate::keys::POSITIVE_TIME;
use crate::quantity::Dimension;
use crate::shape::Presence::{Default, Required};
use crate::shape::{Range, Shape};
use crate::table::table;
use fadeout_core::Span;
use fadeout_core::agreed::{Interpolation, Outside};

table! {
    /// Gain or SINR over time, from a ray tracer or a drive test. It takes the place of the model
    /// for the pairs of UE and cell that the file names. Other pairs keep the channel of their
    /// cell.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ChannelFile {
        own {
            /// Name of the table in the scenario.
            name: String,
        }
        /// Path of a CSV table with a header line, relative to the scenario file. Columns are
        /// `time_s` or `time_ms`, `ue`, `cell`, and `gain_db` or `sinr_db`, the latter optionally
        /// with `uplink_sinr_db`. `gain_db` is received power over transmitted power, both antennas
        /// included.
        file: File = Shape::File("a table in CSV, relative to the scenario file"), Required;
        /// Value between two rows of a pair.
        interpolation: Interpolation = Shape::Choice(Interpolation::WORDS), Default("\"linear\"");
        /// Value more than `maximum-gap` before the first row of a pair and after its last row.
        outside: Outside = Shape::Choice(Outside::WORDS), Default("\"error\"");
        /// Longest time between two rows of a pair during the run.
        maximum_gap: Span = POSITIVE_TIME, Default("\"1 s\"");
        /// Time in the file at which the run starts.
        start: Span = Shape::Quantity(Dimension::Time, Range::closed(0.0, 9e18)), Default("\"0 s\"");
        /// True if the fading of the cell's channel is added to a gain from the file. Use this for
        /// a gain that is a mean over places or time.
        fading: bool = Shape::Bool, Default("false");
    }
}
