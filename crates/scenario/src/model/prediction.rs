//! Prediction of blockages by base stations from the reports of vehicles.

use crate::keys::{BEAMWIDTH, LENGTH, LENGTH_OR_ZERO, POSITIVE_TIME, PROBABILITY, RRC_TIME};
use crate::quantity::Dimension;
use crate::shape::Presence::Default;
use crate::shape::{Range, Shape};
use crate::table::{table, words};
use fadeout_core::{Decibel, Meters, Span};

const QUALITY: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-50.0, 50.0));
const REPORTS: Shape = Shape::Integer {
    min: 1,
    max: 1_000_000,
};

table! {
    /// Prediction of the blockages of UEs by base stations, from the places and speeds that UEs
    /// report. Flows whose `link-info` names a UE or a cell receive the predictions.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BlockagePrediction {
        own {}
        /// Knowledge from which a base station predicts.
        knows: Knowledge = Knowledge::SHAPE, Default("\"reports\"");
        /// Time between two reports of a UE.
        report_period: Span = RRC_TIME, Default("\"40 ms\"");
        /// Downlink SNR below which a UE counts as blocked, so that its reports are lost. The
        /// default is near the limit of the lowest CQI.
        threshold: Decibel = QUALITY, Default("\"-6 dB\"");
        /// Division of the ground into regions, about which a base station learns from reports.
        regions: Regions = Regions::SHAPE, Default("\"squares\"");
        /// Side of a region that is a square. The base station examines the path ahead in steps of
        /// half of this length.
        resolution: Meters = LENGTH, Default("\"5 m\"");
        /// Width of a region that is a beam of the base station.
        beam_width: f64 = BEAMWIDTH, Default("\"10 deg\"");
        /// Number of reports from a region after which the base station knows it.
        learning: u32 = REPORTS, Default("2");
        /// Time for which a base station predicts ahead.
        horizon: Span = POSITIVE_TIME, Default("\"5 s\"");
        /// Standard deviation of the error of a UE's reported place. The error of a UE is constant
        /// over the run.
        place_error: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        /// Standard deviation of the error of a UE's reported speed, as a share of the speed. The
        /// error of a UE is constant over the run.
        speed_error: f64 = PROBABILITY, Default("0");
        /// Share of predictions that are lost.
        missed: f64 = PROBABILITY, Default("0");
        /// Share of reports without a prediction to which a false one is added.
        false_alarms: f64 = PROBABILITY, Default("0");
    }
}

words! {
    /// The knowledge from which a base station predicts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Knowledge {
        /// Past reports: the share of reports from each region in which the cell was blocked.
        Reports = "reports",
        /// Buildings that obstruct the line of sight from the cell.
        Buildings = "buildings",
        /// Buildings, and all vehicles, as if each went straight on at the speed that it reports.
        Vehicles = "vehicles",
        /// The future: an exact prediction for comparison.
        Future = "future",
    }
}

words! {
    /// The division of the ground into regions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Regions {
        /// Squares of the ground.
        Squares = "squares",
        /// Beams of the base station from its mast on. All places in one direction are one region.
        Beams = "beams",
    }
}
