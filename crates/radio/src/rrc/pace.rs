//! Periods at which a UE measures its cells and evaluates its link. The periods are longer while
//! the UE sleeps between the on-durations of DRX.
//!
//! Standard: TS 36.133 §7.6.2, §8.1.2.2; TS 38.133 §8.1.2, §9.2.5.

use crate::config::MobilityConfig;
use fadeout_core::Span;

/// DRX of a sleeping UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sleep {
    /// Length of the DRX cycle.
    pub cycle: Span,
    /// True if the rules of NR apply, false for those of LTE.
    pub is_nr: bool,
}

/// Period of the evaluations of a link, and the number of averaged evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// Time between two evaluations, each with an indication.
    pub period: Span,
    /// Number of evaluations averaged for Qout.
    pub out: usize,
    /// Number of evaluations averaged for Qin.
    pub in_sync: usize,
}

/// Maximum number of averaged evaluations: those for Qout without DRX, with one each 10 ms.
///
/// Standard: TS 36.133 §7.6.2.1.
pub(crate) const MOST_EVALUATIONS: usize = 20;

/// Returns the time between two evaluations of the beams of an NR cell. Without DRX the time is
/// `period`.
///
/// Standard: TS 38.133 §8.5.
pub(crate) fn beam_period(period: Span, sleep: Option<Sleep>) -> Span {
    match sleep {
        None => period,
        Some(Sleep { cycle, .. }) if cycle <= SHORT_CYCLE => {
            Span::from_nanos(cycle.max(period).as_nanos() / 2 * 3)
        }
        Some(Sleep { cycle, .. }) => cycle,
    }
}

/// Shortest L1 measurement period.
const MEASUREMENT: Span = Span::from_millis(200);
/// Typical period of the SS/PBCH blocks that a UE of NR measures (SMTC).
const BLOCKS: Span = Span::from_millis(20);
/// Longest DRX cycle of NR for which a sample takes one and a half cycles.
const SHORT_CYCLE: Span = Span::from_millis(320);

impl Evaluation {
    /// Returns the evaluations of a UE without DRX.
    pub(crate) fn awake(config: &MobilityConfig) -> Evaluation {
        Evaluation {
            period: config.monitoring.period,
            out: MOST_EVALUATIONS,
            in_sync: MOST_EVALUATIONS / 2,
        }
    }

    /// Returns the evaluations of a UE with or without DRX. In LTE with DRX, Qout and Qin use the
    /// mean over 20, 10 or 5 DRX cycles. In NR with DRX, Qout uses 15 cycles and Qin 7.5 cycles of
    /// up to 320 ms. With longer cycles, Qout uses 10 cycles and Qin 5.
    ///
    /// Standard: TS 36.133 §7.6.2.2, §7.6.2.3, Table 7.6.2.2-1; TS 38.133 §8.1.2.2, Table
    /// 8.1.2.2-1, §8.1.6.
    pub(crate) fn new(config: &MobilityConfig, sleep: Option<Sleep>) -> Evaluation {
        let awake = Evaluation::awake(config);
        let Some(Sleep { cycle, is_nr }) = sleep else {
            return awake;
        };
        if is_nr {
            let period = match cycle <= SHORT_CYCLE {
                true => Span::from_nanos(cycle.max(BLOCKS).as_nanos() / 2 * 3),
                false => cycle,
            };
            return Evaluation {
                period: period.max(awake.period),
                out: 10,
                in_sync: 5,
            };
        }
        let count = match cycle.as_nanos() / 1_000_000 {
            0..=10 => return awake,
            11..=40 => 20,
            41..=640 => 10,
            _ => 5,
        };
        Evaluation {
            period: cycle.max(awake.period),
            out: count,
            in_sync: count,
        }
    }
}

/// Returns the time between two measurements of a UE with or without DRX. Without DRX the time is
/// the configured period. With DRX the time is five cycles, if five cycles exceed a measurement
/// period. In NR, eight cycles apply instead if a cycle has at most 320 ms.
///
/// Standard: TS 36.133 §8.1.2.2.1, Table 8.1.2.2.1.2-2; TS 38.133 Table 9.2.5.2-1.
pub(crate) fn measurement_period(config: &MobilityConfig, sleep: Option<Sleep>) -> Span {
    let period = awake_period(config, sleep);
    let gaps = config.gaps.as_ref();
    gaps.map_or(period, |gaps| gaps.whole_periods(period))
}

/// Returns the time between two measurements of a UE that need not wait for measurement gaps.
fn awake_period(config: &MobilityConfig, sleep: Option<Sleep>) -> Span {
    let asked = config.measurement_period;
    let Some(Sleep { cycle, is_nr }) = sleep else {
        return asked;
    };
    let needed = match (is_nr, cycle <= SHORT_CYCLE) {
        (true, true) => cycle.max(BLOCKS) * 8,
        _ => cycle * 5,
    };
    if needed > MEASUREMENT {
        asked.max(needed)
    } else {
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleep(cycle_ms: u64, is_nr: bool) -> Option<Sleep> {
        let cycle = Span::from_millis(cycle_ms);
        Some(Sleep { cycle, is_nr })
    }

    /// Row of a test table. All values are in ms: DRX cycle, averaging time for Qout, averaging
    /// time for Qin, interval of indications, measurement period.
    type Row = (u64, u64, u64, u64, u64);

    fn check(is_nr: bool, rows: &[Row]) {
        let config = MobilityConfig::bare();
        for &(cycle, out, in_sync, interval, measurement) in rows {
            let state = sleep(cycle, is_nr);
            let found = Evaluation::new(&config, state);
            let ms = |span: Span| span.as_nanos() / 1_000_000;
            let window = |count: usize| ms(found.period * count as u64);
            let found = (
                cycle,
                window(found.out),
                window(found.in_sync),
                ms(found.period),
                ms(measurement_period(&config, state)),
            );
            assert_eq!(found, (cycle, out, in_sync, interval, measurement));
        }
    }

    #[test]
    fn periods_of_lte_are_those_of_the_tables() {
        check(
            false,
            &[
                (10, 200, 100, 10, 200),
                (20, 400, 400, 20, 200),
                (40, 800, 800, 40, 200),
                (80, 800, 800, 80, 400),
                (640, 6400, 6400, 640, 3200),
                (1280, 6400, 6400, 1280, 6400),
                (2560, 12800, 12800, 2560, 12800),
            ],
        );
    }

    #[test]
    fn periods_of_nr_are_those_of_the_tables() {
        check(
            true,
            &[
                (10, 300, 150, 30, 200),
                (40, 600, 300, 60, 320),
                (320, 4800, 2400, 480, 2560),
                (640, 6400, 3200, 640, 3200),
            ],
        );
    }

    #[test]
    fn a_ue_that_listens_has_the_periods_that_are_asked_for() {
        let config = MobilityConfig {
            measurement_period: Span::from_millis(40),
            ..MobilityConfig::bare()
        };
        let awake = Evaluation::new(&config, None);
        assert_eq!((awake.out, awake.in_sync), (20, 10));
        assert_eq!(awake.period, Span::from_millis(10));
        assert_eq!(measurement_period(&config, None), Span::from_millis(40));
        // With a short DRX cycle the measurement period is the same as without DRX.
        let short = measurement_period(&config, sleep(40, false));
        assert_eq!(short, Span::from_millis(40));
    }
}
