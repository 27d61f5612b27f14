//! Prediction of blockages by base stations, from the reports of vehicles.

use crate::keys::{BEAMWIDTH, LENGTH, LENGTH_OR_ZERO, POSITIVE_TIME, PROBABILITY, RRC_TIME};
use crate::quantity::Dimension;
use crate::shape::Presence::Default;
use crate::shape::{Range, Shape};
use crate::table::{key_table, word_choice};
use fadeout_core::{Decibel, Meters, Span};

const QUALITY: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-50.0, 50.0));
const REPORTS: Shape = Shape::Integer {
    min: 1,
    max: 1_000_000,
};

key_table! {
    /// Prediction by base stations of blockages of their UEs, from the positions and speeds that
    /// UEs report. Flows whose `link-info` names a UE or a cell receive the predictions.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BlockagePrediction {
        own {}
        /// Knowledge that a base station uses for predictions.
        knows: Knowledge = Knowledge::SHAPE, Default("\"reports\"");
        /// Time between two position reports of a UE.
        report_period: Span = RRC_TIME, Default("\"40 ms\"");
        /// Downlink SNR below which a UE counts as blocked. Reports of a blocked UE are lost. The
        /// default is near the lowest SNR of the lowest CQI.
        threshold: Decibel = QUALITY, Default("\"-6 dB\"");
        /// Division of the ground into regions. A base station learns from reports how often each
        /// is blocked.
        regions: Regions = Regions::SHAPE, Default("\"squares\"");
        /// Side of a square region. The base station examines the UE's expected path in steps of
        /// half of this length.
        resolution: Meters = LENGTH, Default("\"5 m\"");
        /// Width of a region that is a beam of the base station, as an angle.
        beam_width: f64 = BEAMWIDTH, Default("\"10 deg\"");
        /// Number of reports from a region that a base station needs before it predicts for the
        /// region.
        learning: u32 = REPORTS, Default("2");
        /// Longest time ahead for which a base station predicts blockages.
        horizon: Span = POSITIVE_TIME, Default("\"5 s\"");
        /// Standard deviation of the error of a UE's reported position. The error of a UE is
        /// constant over the run.
        place_error: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        /// Standard deviation of the error of a UE's reported speed, as a share of the speed. The
        /// error of a UE is constant over the run.
        speed_error: f64 = PROBABILITY, Default("0");
        /// Probability that a prediction is lost.
        missed: f64 = PROBABILITY, Default("0");
        /// Probability that a report without a prediction is given a false prediction.
        false_alarms: f64 = PROBABILITY, Default("0");
    }
}

word_choice! {
    /// The knowledge that a base station uses for predictions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Knowledge {
        /// Past reports: the share of reports from each region during which the cell was blocked.
        Reports = "reports",
        /// The base station knows the buildings that obstruct the line of sight from the cell.
        Buildings = "buildings",
        /// Buildings and all vehicles. Each vehicle is assumed to drive straight on at its reported
        /// speed.
        Vehicles = "vehicles",
        /// The base station knows the exact future of the simulation, for comparison.
        Future = "future",
    }
}

word_choice! {
    /// The division of the ground into regions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Regions {
        /// Squares on the ground. All positions in a square are one region.
        Squares = "squares",
        /// Beams of the base station. All positions in the same direction from the mast are one
        /// region.
        Beams = "beams",
    }
}
