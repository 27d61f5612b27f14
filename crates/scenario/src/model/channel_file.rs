//! Channels that a file describes.

use super::File;
use super::measurement::refuse_measurement;
use crate::build::Builder;
use crate::keys::POSITIVE_TIME;
use crate::quantity::Dimension;
use crate::read::Fields;
use crate::shape::Presence::{Default, Optional};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue as _, key_table};
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
            /// File with the channels.
            file: File,
        }
        /// Path of a CSV table with a header line, relative to the scenario file. Columns are
        /// `time_s` or `time_ms`, `ue`, `cell`, and `gain_db` or `sinr_db`, the latter optionally
        /// with `uplink_sinr_db`. `gain_db` is the ratio of received to transmitted power,
        /// including both antennas.
        "file" = Shape::File("a table in CSV, relative to the scenario file"), Optional;
        /// Name of a measurement with the channels, in place of `file`. It needs a column for
        /// `sinr`, `gain` or `rsrp`.
        "measurement" = Shape::Text, Optional;
        /// UE of the rows of a measurement without a column `ue`.
        "ue" = Shape::Text, Optional;
        /// Cell of the rows of a measurement without a column `cell`.
        "cell" = Shape::Text, Optional;
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

impl ChannelFile {
    /// Reads the table. `None` after a mistake, for example without a file.
    pub(crate) fn from_fields(
        name: &str,
        fields: &Fields,
        builder: &mut Builder<'_, '_>,
    ) -> Option<Self> {
        let file = match fields.item("file") {
            Some(item) => File::from_item(item, builder).map(|file| (name.to_owned(), file)),
            None if fields.item("measurement").is_some() => {
                refuse_measurement(fields, builder);
                None
            }
            None => {
                let message = "a channel file without `file`";
                builder.mistake(fields.place, message, "`file` or `measurement`");
                None
            }
        };
        ChannelFile::read(fields, file, builder)
    }
}
