//! Movement traces: files of other tools, and positions of measurements.

use super::File;
use super::measurement::refuse_measurement;
use crate::build::Builder;
use crate::quantity::Dimension;
use crate::read::Fields;
use crate::shape::Presence::{Default, Required};
use crate::shape::{Range, Shape};
use crate::table::{variants, word_choice};
use fadeout_core::Span;

variants! {
    /// A movement trace of a node. The crate `mobility` parses the file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum MovementTrace {
        alone {}
        check = MovementTrace::without_measurement;
        /// Movement from a file of another tool.
        File as "file" {
            /// Path of the trace file, relative to the scenario file.
            file: File =
                Shape::File("a movement trace, relative to the scenario file"), Required;
            /// Format of the trace file.
            format: MovementFormat = MovementFormat::SHAPE, Required;
            /// Number of the node, or id of the vehicle, in the trace file. A person of SUMO with
            /// the id of a vehicle is `person:ID`.
            id: String = Shape::Text, Required;
            /// Time in the trace at which the run starts.
            start: Span = START, Default("\"0 s\"");
        }
        /// Movement from the positions of a measurement.
        Measurement as "measurement" {
            /// Name of the measurement. It needs columns for `x` and `y`, or for `latitude` and
            /// `longitude`.
            measurement: String = Shape::Text, Required;
        }
    }
}

/// Range of the time in a trace at which a run starts.
pub(super) const START: Shape = Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e15));

impl MovementTrace {
    /// Shape of the table.
    pub(crate) const SHAPE: Shape = Shape::Variants(MovementTrace::VARIANTS);

    fn without_measurement(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match &self {
            MovementTrace::File { .. } => Some(self),
            MovementTrace::Measurement { .. } => {
                refuse_measurement(fields, builder);
                None
            }
        }
    }
}

word_choice! {
    /// The format of a movement trace.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MovementFormat {
        /// Movement commands of ns-2's `setdest`.
        Ns2 = "ns-2",
        /// Floating car data of SUMO in XML, written with --fcd-output.
        SumoFcd = "sumo-fcd",
        /// Floating car data of SUMO as a table, which SUMO writes to a file that ends in .csv.
        SumoCsv = "sumo-csv",
        /// Movements of BonnMotion in an unpacked file.
        BonnMotion = "bonnmotion",
        /// A SUMO configuration, for vehicles only. fadeout runs SUMO and stores its output.
        Sumo = "sumo",
        /// Floating car data of SUMO in Parquet, for vehicles only.
        SumoParquet = "sumo-parquet",
    }
}
