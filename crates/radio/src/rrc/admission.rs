//! Duration of the admission control at a base station.
//!
//! In measured networks the time from a report to the command has a long tail. A log-normal
//! distribution has the measured median and 90th percentile.

use super::effect::Step;
use crate::config::ProcedureConfig;
use fadeout_core::math::{exp, ln};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Span, Time, UeId};

/// 90th percentile of the standard normal distribution.
const NORMAL_P90: f64 = 1.281_551_565_544_600_4;

impl Step<'_> {
    /// Returns the duration of an admission control that begins in `target` now.
    pub(crate) fn admission(&self, target: CellId) -> Span {
        let procedure = &self.config.procedure;
        duration(self.seed, self.ue, (target, self.now), procedure)
    }
}

/// Returns the duration of an admission control for a UE, which begins in a cell at a time.
fn duration(
    seed: u64,
    ue: UeId,
    (target, at): (CellId, Time),
    procedure: &ProcedureConfig,
) -> Span {
    let median = procedure.admission;
    let Some(p90) = procedure.admission_p90 else {
        return median;
    };
    debug_assert!(
        Span::ZERO < median && median <= p90,
        "an admission with a median of {median} and a 90th percentile of {p90}"
    );
    // Each UE, target and time has its own random stream, so other handovers have no influence.
    let of_time = Stream::new(seed, "radio.admission-times", at.as_nanos()).bits();
    let entity = u64::from(ue.0) << 32 | u64::from(target.0);
    let mut draws = Stream::new(of_time, "radio.admissions", entity);
    let deviation = ln(p90.as_secs_f64() / median.as_secs_f64()) / NORMAL_P90;
    Span::from_secs_f64(median.as_secs_f64() * exp(deviation * draws.normal()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn procedure(p90_ms: u64) -> ProcedureConfig {
        ProcedureConfig {
            admission: Span::from_millis(40),
            admission_p90: Some(Span::from_millis(p90_ms)),
            ..ProcedureConfig::default()
        }
    }

    /// Returns durations of many admissions in a cell, in milliseconds.
    fn durations(ue: u32, target: u32, procedure: &ProcedureConfig) -> Vec<f64> {
        let draw = |n: u64| duration(7, UeId(ue), (CellId(target), at_ms(10 * n)), procedure);
        (0..10_000).map(|n| draw(n).as_secs_f64() * 1e3).collect()
    }

    #[test]
    fn half_of_the_admissions_take_the_median_and_nine_in_ten_the_90th_percentile() {
        let procedure = procedure(100);
        let all = durations(0, 1, &procedure);
        let share_below = |ms: f64| all.iter().filter(|it| **it < ms).count() as f64 / 1e4;
        // The tolerance is five standard deviations of the share of 10,000 independent draws.
        let tolerance = |share: f64| 5.0 * (share * (1.0 - share) / 1e4).sqrt();
        for (ms, share) in [(40.0, 0.5), (100.0, 0.9), (16.0, 0.1)] {
            let found = share_below(ms);
            assert!((found - share).abs() < tolerance(share), "{ms} ms: {found}");
        }
    }

    #[test]
    fn without_a_spread_each_admission_takes_the_median() {
        assert!(durations(0, 1, &procedure(40)).iter().all(|ms| *ms == 40.0));
        let constant = ProcedureConfig::default();
        assert!(durations(0, 1, &constant).iter().all(|ms| *ms == 10.0));
    }

    #[test]
    fn a_duration_is_a_function_of_seed_ue_target_and_time() {
        let procedure = procedure(100);
        let draw = |seed, ue, cell, ms| {
            let place = (CellId(cell), at_ms(ms));
            duration(seed, UeId(ue), place, &procedure)
        };
        let first = draw(1, 2, 3, 4);
        assert_eq!(first, draw(1, 2, 3, 4));
        let others = [
            draw(2, 2, 3, 4),
            draw(1, 3, 3, 4),
            draw(1, 2, 4, 4),
            draw(1, 2, 3, 5),
        ];
        assert!(others.iter().all(|other| *other != first));
    }

    #[test]
    fn durations_of_two_targets_and_of_two_ues_are_independent() {
        let procedure = procedure(100);
        let logs = |ue, target| {
            let all = durations(ue, target, &procedure);
            all.iter().map(|ms| ln(ms / 40.0)).collect::<Vec<f64>>()
        };
        let first = logs(0, 1);
        let square = |all: &[f64]| all.iter().map(|it| it * it).sum::<f64>();
        for other in [logs(0, 2), logs(1, 1)] {
            let product: f64 = first.iter().zip(&other).map(|(a, b)| a * b).sum();
            let correlation = product / (square(&first) * square(&other)).sqrt();
            // The correlation of 10,000 independent pairs has a standard deviation of 0.01. The
            // tolerance is five times that.
            assert!(correlation.abs() < 0.05, "{correlation}");
        }
    }
}
