//! Measurement events: conditions and their reports.

use super::Scope;
use fadeout_core::Span;

/// A measurement event and its report settings.
///
/// Standard: TS 38.331 §5.5.4; TS 36.331 §5.5.4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasurementEvent {
    /// Kind of the measurement event: the condition that triggers a report.
    pub kind: EventKind,
    /// Hysteresis in dB.
    pub hysteresis_db: f64,
    /// Time for which the entering condition must hold before the report.
    pub time_to_trigger: Span,
    /// Coefficient k of the layer 3 filter (filterCoefficient).
    pub filter: u8,
    /// Time between two reports.
    pub report_interval: Span,
    /// Maximum number of reports of one cell. `None` if there is no limit.
    pub report_amount: Option<u32>,
    /// Neighbours that the event applies to.
    pub scope: Scope,
}

/// Condition of an event. Levels are RSRP in dBm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventKind {
    /// The serving cell is better than a threshold.
    A1 {
        /// Threshold in dBm.
        threshold: f64,
    },
    /// The serving cell is worse than a threshold.
    A2 {
        /// Threshold in dBm.
        threshold: f64,
    },
    /// A neighbour is better than the serving cell by an offset.
    A3 {
        /// Offset in dB.
        offset: f64,
    },
    /// A neighbour is better than a threshold.
    A4 {
        /// Threshold in dBm.
        threshold: f64,
    },
    /// The serving cell is worse than one threshold, and a neighbour better than another.
    A5 {
        /// Threshold of the serving cell in dBm.
        serving: f64,
        /// Threshold of the neighbour in dBm.
        neighbour: f64,
    },
    /// A neighbour on the carrier of a secondary cell is better than that secondary cell by an
    /// offset.
    A6 {
        /// Offset in dB.
        offset: f64,
    },
    /// A neighbour of the other generation is better than a threshold.
    B1 {
        /// Threshold in dBm.
        threshold: f64,
    },
    /// The serving cell is worse than one threshold, and a neighbour of the other generation is
    /// better than another threshold.
    B2 {
        /// Threshold of the serving cell in dBm.
        serving: f64,
        /// Threshold of the neighbour in dBm.
        neighbour: f64,
    },
}

impl EventKind {
    /// True if the event is about neighbours. A report of such an event may cause a handover or a
    /// change of a secondary cell.
    pub fn has_neighbour(&self) -> bool {
        !matches!(self, EventKind::A1 { .. } | EventKind::A2 { .. })
    }

    /// True if the event compares neighbours with secondary cells.
    pub fn is_about_secondaries(&self) -> bool {
        matches!(self, EventKind::A6 { .. })
    }

    /// True if the event is about neighbours of the other generation.
    pub fn is_inter_rat(&self) -> bool {
        matches!(self, EventKind::B1 { .. } | EventKind::B2 { .. })
    }

    /// Returns the name of the event in results.
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
