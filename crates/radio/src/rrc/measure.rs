//! Measurements of a UE: the layer 3 filter, events with hysteresis and time to trigger, reports.
//!
//! [`EventState`] is one configured event of one UE. It is told of samples and of time, and says
//! what is to be reported; it knows no air, no clock and no signalling.
//!
//! Standard: TS 38.331 §5.5; TS 36.331 §5.5.

use crate::config::{EventKind, MeasurementEvent};
use fadeout_core::{Span, Time};

/// Input period for which filterCoefficient is defined: a measurement period without DRX (TS
/// 36.133 clause 8.1.2.2.1, TS 38.133 Table 9.2.5.2-1).
const FILTER_PERIOD: Span = Span::from_millis(200);

/// The layer 3 filter, in dB.
///
/// Standard: TS 38.331 §5.5.3.2; TS 36.331 §5.5.3.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Filter {
    /// Weight of a new sample.
    weight: f64,
}

impl Filter {
    /// The filter with coefficient `k` for a sample each `period`, with the time characteristics
    /// that it has at the period it is defined for.
    pub(crate) fn new(k: u8, period: Span) -> Filter {
        let weight = (-f64::from(k) / 4.0 * std::f64::consts::LN_2).exp_exact();
        let samples = period.as_secs_f64() / FILTER_PERIOD.as_secs_f64();
        Filter {
            weight: match k {
                0 => 1.0,
                _ => 1.0 - fadeout_core::math::powf(1.0 - weight, samples),
            },
        }
    }

    /// The filtered value after a sample; the first sample is its own.
    fn next(self, before: Option<f64>, sample: f64) -> f64 {
        match before {
            None => sample,
            Some(before) => (1.0 - self.weight) * before + self.weight * sample,
        }
    }
}
