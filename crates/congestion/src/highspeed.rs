//! HighSpeed TCP: steeper increase and gentler decrease at large windows.
//!
//! Up to 38 segments it is Reno. Above, the increase `a(w)` and the decrease `b(w)` follow the
//! response function `w = 0.12 / p^0.835`. `increase = "table"` uses the table of RFC 3649 appendix
//! B, as net/ipv4/tcp_highspeed.c (Linux 6.12) does. In Linux every ACK adds `a` to the count, for
//! any number of acknowledged segments. `"formula"` computes a and b (RFC 3649 section 5) in real
//! numbers.

use super::linux::{AckCounter, slow_start, whole};
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice};
use std::sync::LazyLock;

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;

/// Row of the response table of RFC 3649.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Largest window for which the row is used, in segments.
    window: u32,
    /// Share of the window lost by a reduction, in units of 1/256.
    decrease: u32,
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("highspeed.csv").lines().skip(2);
    lines
        .map(|line| {
            let mut cells = line.split(',').map(|cell| cell.parse().unwrap_or(0));
            let (window, _a, decrease) = (cells.next(), cells.next(), cells.next());
            Row {
                window: window.unwrap_or(0),
                decrease: decrease.unwrap_or(0),
            }
        })
        .collect()
});

/// HighSpeed TCP.
#[derive(Debug, Clone)]
pub struct HighSpeed {
    is_computed: bool,
    acked: AckCounter,
    table: &'static [Row],
    /// Index of the table's row in use. The increase is this index plus one.
    row: usize,
}

fadeout_core::choices! {
    /// Source of increase and decrease.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Increase {
        Table = "table",
        Formula = "formula",
    }
}

impl Registered<Stream> for HighSpeed {
    const ENTRY: Entry = Entry {
        name: "highspeed",
        aliases: &["hstcp"],
        family: "loss-based",
        summary: "HighSpeed TCP: increase and decrease depend on the window. For large windows.",
        citation: "RFC 3649; Linux 6.12 net/ipv4/tcp_highspeed.c",
        parameters: &[choice(
            "increase",
            Increase::NAMES,
            "table",
            "Source of increase and decrease: the table of the RFC, as in Linux, or the functions \
             a(w) and b(w).",
        )],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        HighSpeed {
            is_computed: settings.get::<Increase>("increase") == Increase::Formula,
            acked: AckCounter::default(),
            table: &TABLE,
            row: 0,
        }
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if !ack.is_growth_due() {
            return;
        }
        if window.in_slow_start() {
            slow_start(window, ack.delivered_now);
        } else if self.is_computed {
            window.cwnd += increase(window.cwnd) * f64::from(ack.delivered_now) / window.cwnd;
        } else {
            let cwnd = whole(window);
            self.find_row(cwnd);
            self.acked.0 += self.row as u32 + 1;
            if self.acked.0 >= cwnd {
                self.acked.0 -= cwnd;
                window.cwnd += 1.0;
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent) {
        self.acked = AckCounter::default();
        window.ssthresh = if self.is_computed {
            (window.cwnd * (1.0 - decrease(window.cwnd))).max(2.0)
        } else {
            // The decrease uses the row of the last increase, as in Linux.
            let cwnd = u64::from(whole(window));
            let cut = (cwnd * u64::from(self.table[self.row].decrease)) >> 8;
            (cwnd - cut).max(2) as f64
        };
    }
}

impl HighSpeed {
    fn find_row(&mut self, cwnd: u32) {
        while self.row + 1 < self.table.len() && cwnd > self.table[self.row].window {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= self.table[self.row - 1].window {
            self.row -= 1;
        }
    }
}

/// Returns the decrease factor b(w) for a window of `window` segments.
///
/// Standard: RFC 3649 §5.
fn decrease(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return 0.5;
    }
    let position = math::ln(window / LOW_WINDOW) / math::ln(HIGH_WINDOW / LOW_WINDOW);
    (0.5 + (HIGH_DECREASE - 0.5) * position).max(0.0)
}

/// Returns the increase a(w) for a window of `window` segments.
///
/// Standard: RFC 3649 §5.
fn increase(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return 1.0;
    }
    let loss = 0.078 / math::pow(window, 1.2);
    let b = decrease(window);
    window * window * loss * 2.0 * b / (2.0 - b)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, build, choice, lose, window};
    use super::*;

    #[test]
    fn the_table_rises_to_the_high_window() {
        assert_eq!(TABLE.len(), 73);
        assert!(TABLE.windows(2).all(|pair| {
            pair[0].window < pair[1].window && pair[0].decrease > pair[1].decrease.saturating_sub(1)
        }));
        assert_eq!((TABLE[0].window, TABLE[0].decrease), (38, 128));
        assert_eq!((TABLE[29].window, TABLE[29].decrease), (10_661, 52));
    }

    #[test]
    fn every_ack_counts_as_often_as_the_table_says() {
        let (mut control, mut w) = (build::<HighSpeed>(&[]), window(100.0, 50.0));
        for _ in 0..50 {
            control.on_ack(&mut w, &ack(at_ms(0), 1));
        }
        assert_eq!(w.cwnd, 101.0);
        w.cwnd = 100.0;
        assert_eq!(lose(&mut control, &mut w, at_ms(1)), 57.0);
    }

    #[test]
    fn a_large_window_gives_up_less() {
        let (mut control, mut w) = (build::<HighSpeed>(&[]), window(1000.0, 50.0));
        control.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(lose(&mut control, &mut w, at_ms(1)), 676.0);
    }

    #[test]
    fn a_small_window_is_renos() {
        let (mut control, mut w) = (build::<HighSpeed>(&[]), window(38.0, 20.0));
        control.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!(
            (control.row, lose(&mut control, &mut w, at_ms(1))),
            (0, 19.0)
        );
    }

    #[test]
    fn the_formula_gives_the_rfcs_values() {
        for (w, a, b) in [
            (1e3, 7.7398, 0.329_878),
            (1e4, 29.0205, 0.210_092),
            (83e3, 70.7349, 0.1),
        ] {
            // The reference table prints four decimals of a and six of b, so the comparison allows
            // rounding errors.
            assert!((increase(w) - a).abs() < 1e-4, "a({w}) = {}", increase(w));
            assert!((decrease(w) - b).abs() < 1e-6, "b({w}) = {}", decrease(w));
        }
        let mut control = build::<HighSpeed>(&[("increase", choice("formula"))]);
        let mut w = window(1000.0, 50.0);
        control.on_ack(&mut w, &ack(at_ms(0), 1));
        assert!((w.cwnd - 1_000.007_739_8).abs() < 1e-6);
    }

    #[test]
    fn the_row_is_that_of_the_window() {
        // RFC 3649, appendix B: w, a(w), b(w). A row is used up to and including its own window.
        let mut control = build::<HighSpeed>(&[]);
        for (cwnd, row) in [
            (38, 0),
            (39, 1),
            (118, 1),
            (119, 2),
            (84_035, 70),
            (u32::MAX, 72),
            (118, 1),
            (38, 0),
            (2, 0),
        ] {
            control.find_row(cwnd);
            assert_eq!(control.row, row, "{cwnd}");
        }
    }

    #[test]
    fn what_is_beyond_a_window_counts_for_the_next() {
        let (mut control, mut w) = (build::<HighSpeed>(&[]), window(100.0, 50.0));
        control.acked.0 = 99;
        control.on_ack(&mut w, &ack(at_ms(0), 1));
        assert_eq!((w.cwnd, control.acked.0), (101.0, 1));
    }

    #[test]
    fn the_formula_takes_its_share_of_a_loss() {
        let mut control = build::<HighSpeed>(&[("increase", choice("formula"))]);
        for (cwnd, kept) in [(38.0, 19.0), (1e3, 670.122), (83e3, 74_700.0), (3.0, 2.0)] {
            let threshold = lose(&mut control, &mut window(cwnd, 50.0), at_ms(0));
            assert!((threshold / kept - 1.0).abs() < 1e-6, "{threshold}");
        }
        let mut w = window(1000.0, 50.0);
        control.on_ack(&mut w, &ack(at_ms(0), 10));
        assert!((w.cwnd - 1_000.077_398).abs() < 1e-6);
    }
}
