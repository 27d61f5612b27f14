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
    /// Gain or SINR over time, from a ray tracer or a drive test, in place of the model of the pairs
    /// of UE and cell that the file names. Pairs that it does not name keep their cell's channel.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ChannelFile {
        own {
            /// Its name in the scenario.
            name: String,
        }
        /// A table in CSV with a header line, relative to the scenario file: columns `time_s` or
        /// `time_ms`, `ue`, `cell`, and `gain_db` (received by transmitted power, both antennas
        /// included) or `sinr_db`, perhaps with `uplink_sinr_db`.
        file: File = Shape::File("a table in CSV, relative to the scenario file"), Required;
        /// What is between two rows.
        interpolation: Interpolation = Shape::Choice(Interpolation::WORDS), Default("\"linear\"");
        /// What is more than `maximum-gap` before the first row of a pair and after its last.
        outside: Outside = Shape::Choice(Outside::WORDS), Default("\"error\"");
        /// Longest time between two rows of a pair during the run.
        maximum_gap: Span = POSITIVE_TIME, Default("\"1 s\"");
        /// Time in the file at which the run starts.
        start: Span = Shape::Quantity(Dimension::Time, Range::closed(0.0, 9e18)), Default("\"0 s\"");
        /// Whether the fading of the cell's channel lies on top of a gain, as of one that is a mean
        /// over places or time.
        fading: bool = Shape::Bool, Default("false");
    }
}
