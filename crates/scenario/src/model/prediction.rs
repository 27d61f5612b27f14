//! Prediction of blockages: what road-side units make of what cars report.

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
    /// What base stations predict of the blockages of UEs, from places and speeds that these report. Flows
    /// whose `link-info` names a UE or a cell are told of it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BlockagePrediction {
        own {}
        /// What is known of the way ahead.
        knows: Knowledge = Knowledge::SHAPE, Default("\"reports\"");
        /// From one report of a UE to the next.
        report_period: Span = RRC_TIME, Default("\"40 ms\"");
        /// Downlink SNR below which a UE reports that it is cut off, and is not heard: about where the
        /// lowest CQI is lost.
        threshold: Decibel = QUALITY, Default("\"-6 dB\"");
        /// What a region is, of which a base station learns from reports.
        regions: Regions = Regions::SHAPE, Default("\"squares\"");
        /// Side of a region that is a square of the ground. The way ahead is looked at in steps of half of it.
        resolution: Meters = LENGTH, Default("\"5 m\"");
        /// Width of a region that is a beam of the base station.
        beam_width: f64 = BEAMWIDTH, Default("\"10 deg\"");
        /// Reports from a region until it is known.
        learning: u32 = REPORTS, Default("2");
        /// How far ahead a base station looks.
        horizon: Span = POSITIVE_TIME, Default("\"5 s\"");
        /// Standard deviation of a UE's error of place, the same for the whole run.
        place_error: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        /// Standard deviation of a UE's error of speed, as a share of it, the same for the whole run.
        speed_error: f64 = PROBABILITY, Default("0");
        /// Share of predictions that are lost.
        missed: f64 = PROBABILITY, Default("0");
        /// Share of reports without a prediction after which there is a wrong one.
        false_alarms: f64 = PROBABILITY, Default("0");
    }
}

words! {
    /// What is known of the way ahead.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Knowledge {
        /// what past reports from each region said of the cell
        Reports = "reports",
        /// where buildings cut the line of sight from the cell
        Buildings = "buildings",
        /// where buildings cut it, and all vehicles if they go straight on at the speed that they announce
        Vehicles = "vehicles",
        /// what will happen: an oracle, to compare with
        Future = "future",
    }
}

words! {
    /// What a region is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Regions {
        /// a square of the ground
        Squares = "squares",
        /// a beam of the base station, from its mast on: all that lies in the same direction is one
        Beams = "beams",
    }
}
