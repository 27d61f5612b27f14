//! Measurement events: what is compared, and what is reported of it.

use super::Scope;
use fadeout_core::Span;

/// A measurement event with its report.
///
/// Standard: TS 38.331 §5.5.4; TS 36.331 §5.5.4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasurementEvent {
    /// The condition.
    pub kind: EventKind,
    /// Hysteresis.
    pub hysteresis_db: f64,
    /// How long the entering condition must hold.
    pub time_to_trigger: Span,
    /// filterCoefficient k of the layer 3 filter.
    pub filter: u8,
    /// From one report to the next.
    pub report_interval: Span,
    /// Most reports of a cell; none is infinity.
    pub report_amount: Option<u32>,
    /// The neighbours that it is about.
    pub scope: Scope,
}

/// The condition of an event, of RSRP in dBm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventKind {
    /// The serving cell is better than a threshold.
    A1 {
        /// In dBm.
        threshold: f64,
    },
    /// The serving cell is worse than a threshold.
    A2 {
        /// In dBm.
        threshold: f64,
    },
    /// A neighbour is better than the serving cell by an offset.
    A3 {
        /// In dB.
        offset: f64,
    },
    /// A neighbour is better than a threshold.
    A4 {
        /// In dBm.
        threshold: f64,
    },
    /// The serving cell is worse than one threshold, and a neighbour better than another.
    A5 {
        /// Of the serving cell, in dBm.
        serving: f64,
        /// Of the neighbour, in dBm.
        neighbour: f64,
    },
    /// A neighbour on the carrier of a secondary cell is better than that cell by an offset.
    A6 {
        /// In dB.
        offset: f64,
    },
    /// A neighbour of the other generation is better than a threshold.
    B1 {
        /// In dBm.
        threshold: f64,
    },
    /// The serving cell is worse than one threshold, and a neighbour of the other generation better than
    /// another.
    B2 {
        /// Of the serving cell, in dBm.
        serving: f64,
        /// Of the neighbour, in dBm.
        neighbour: f64,
    },
}

impl EventKind {
    /// Whether it is about neighbours: its report is a reason for a handover, or for another secondary cell.
    pub fn has_neighbour(&self) -> bool {
        !matches!(self, EventKind::A1 { .. } | EventKind::A2 { .. })
    }

    /// Whether it compares them with secondary cells.
    pub fn is_about_secondaries(&self) -> bool {
        matches!(self, EventKind::A6 { .. })
    }

    /// Whether those are of the other generation.
    pub fn is_inter_rat(&self) -> bool {
        matches!(self, EventKind::B1 { .. } | EventKind::B2 { .. })
    }

    /// Its name in results.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::A1 { .. } => "a1",
            EventKind::A2 { .. } => "a2",
            EventKind::A3 { .. } => "a3",
            EventKind::A4 { .. } => "a4",
            EventKind::A5 { .. } => "a5",
            EventKind::A6 { .. } => "a6",
            EventKind::B1 { .. } => "b1",
            EventKind::B2 { .. } => "b2",
        }
    }
}
