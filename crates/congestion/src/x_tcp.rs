//! X-TCP: the window equals the amount of data that the link transmits in the smallest round-trip
//! time.
//!
//! `cwnd = gain R RTT_min / (8 MSS)` in whole segments, at least two, updated on every ACK and
//! whenever the link reports a new rate `R`. Losses do not change the window. After a timeout the
//! window is restored at once. While a blockage lasts the rate is zero.
//!
//! Source: Azzino, Drago, Polese, Zanella and Zorzi, "X-TCP: a cross layer approach for TCP uplink
//! flows in mmWave networks", Med-Hoc-Net 2017. The paper estimates the rate from the uplink grants
//! of each slot and leaves the filter open. Here the link reports its rate as it changes, so by
//! default no filter is applied. Until a first rate is known the window is CUBIC's.

use super::cubic::Cubic;
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Parameters, Registered, Settings, number};
use fadeout_core::{LinkInfo, Rate, Span, Time};

const MIN_WINDOW: f64 = 2.0;

/// X-TCP.
#[derive(Debug, Clone)]
pub struct XTcp {
    gain: f64,
    weight: f64,
    /// Filtered rate, bit/s. `None` before the first report of the link.
    rate: Option<f64>,
    min_rtt: Span,
    before: Cubic,
}

impl Registered<Stream> for XTcp {
    const ENTRY: Entry = Entry {
        name: "x-tcp",
        aliases: &["xtcp"],
        family: "cross-layer",
        summary: "A window that is the link's reported rate times the smallest round-trip time. \
                  Needs `link-info`.",
        citation: "Azzino, Drago, Polese, Zanella, Zorzi, Med-Hoc-Net 2017",
        parameters: &[
            number(
                "gain",
                (0.1, 10.0, ""),
                "1",
                "Window in bandwidth-delay products. A value above 1 keeps a queue at the link, \
                 which hides errors of the estimate.",
            ),
            number(
                "rate-weight",
                (0.01, 1.0, ""),
                "1",
                "Weight of a newly reported rate in the filter. The default 1 uses each report \
                 unfiltered, because the link reports rates and not grants. Grants of single slots \
                 would need 1/8.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
        XTcp {
            gain: settings.number("gain"),
            weight: settings.number("rate-weight"),
            rate: None,
            min_rtt: Span::MAX,
            before: Cubic::from_settings(&Settings::new(&Cubic::ENTRY, Parameters::NONE), random),
        }
    }
}

impl XTcp {
    fn set_window(&self, window: &mut Window) {
        let Some(rate) = self.rate.filter(|_| self.min_rtt != Span::MAX) else {
            return;
        };
        let bits = self.gain * rate * self.min_rtt.as_secs_f64();
        let segments = (bits / (8.0 * f64::from(window.mss))).floor();
        window.cwnd = segments.max(MIN_WINDOW);
    }
}

impl CongestionControl for XTcp {
    fn on_established(&mut self, window: &mut Window, _now: Time, srtt: Option<Span>) {
        self.min_rtt = srtt.unwrap_or(Span::MAX);
        self.set_window(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.min_rtt = ack.min_rtt;
        match self.rate {
            Some(_) => self.set_window(window),
            None => self.before.on_ack(window, ack),
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        match self.rate {
            Some(_) => window.ssthresh = window.ssthresh.max(MIN_WINDOW),
            None => self.before.on_congestion(window, event),
        }
    }

    fn on_link_info(&mut self, window: &mut Window, _now: Time, info: &LinkInfo) {
        if let LinkInfo::Rate(rate) = *info {
            // A link without a rate limit must not cause an unlimited window.
            let bits_per_s = rate.min(Rate::from_bits_per_sec(1 << 43)).as_bits_per_sec() as f64;
            self.rate = Some(match self.rate {
                Some(old) => old + self.weight * (bits_per_s - old),
                None => bits_per_s,
            });
            self.set_window(window);
        }
    }

    fn controls_window(&self) -> bool {
        self.rate.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_with_rtt, at_ms, build, congestion, window};
    use super::*;
    use crate::CongestionKind;
    use fadeout_core::registry::Value;

    fn report_rate(control: &mut XTcp, w: &mut Window, mbps: u64) {
        let rate = Rate::from_bits_per_sec(mbps * 1_000_000);
        control.on_link_info(w, at_ms(0), &LinkInfo::Rate(rate));
    }

    #[test]
    fn the_window_is_the_bandwidth_delay_product() {
        // Reference vector XT-1: window for a reported rate and round-trip time.
        let mut w = Window {
            mss: 1400,
            ..window(10.0, f64::INFINITY)
        };
        let mut control = build::<XTcp>(&[]);
        control.on_established(&mut w, at_ms(0), Some(Span::from_millis(20)));
        report_rate(&mut control, &mut w, 1000);
        assert_eq!(w.cwnd, 1785.0);
        report_rate(&mut control, &mut w, 0);
        assert_eq!(w.cwnd, 2.0);
    }

    #[test]
    fn a_loss_moves_nothing() {
        let (mut control, mut w) = (build::<XTcp>(&[]), window(10.0, f64::INFINITY));
        control.on_established(&mut w, at_ms(0), Some(Span::from_millis(100)));
        report_rate(&mut control, &mut w, 100);
        let before = w.cwnd;
        control.on_congestion(&mut w, &congestion(at_ms(1), CongestionKind::Rto, 100));
        w.cwnd = 1.0; // the sender sets this window after a timeout
        control.on_ack(&mut w, &ack_with_rtt(at_ms(2), 1, 100.0));
        assert_eq!(w.cwnd, before);
    }

    #[test]
    fn a_filter_smooths_what_the_link_tells() {
        let mut control = build::<XTcp>(&[("rate-weight", Value::Number(0.125))]);
        let mut w = window(10.0, f64::INFINITY);
        report_rate(&mut control, &mut w, 800);
        report_rate(&mut control, &mut w, 0);
        assert_eq!(control.rate, Some(700e6));
    }

    #[test]
    fn before_the_link_tells_a_rate_it_is_cubic() {
        let (mut control, mut w) = (build::<XTcp>(&[]), window(100.0, f64::INFINITY));
        assert!(!control.controls_window());
        control.on_congestion(
            &mut w,
            &congestion(at_ms(1), CongestionKind::FastRecovery, 100),
        );
        assert_eq!(w.ssthresh, 70.0);
        report_rate(&mut control, &mut w, 100);
        assert!(control.controls_window());
        w.ssthresh = 1.0;
        control.on_congestion(
            &mut w,
            &congestion(at_ms(1), CongestionKind::FastRecovery, 100),
        );
        assert_eq!(w.ssthresh, 2.0);
    }

    #[test]
    fn a_gain_makes_the_window_so_many_times_as_large() {
        // At 100 Mbit/s and 100 ms the window is 863.2 segments of 1448 bytes, times the gain.
        for (gain, cwnd) in [(1.0, 863.0), (2.0, 1_726.0), (0.5, 431.0)] {
            let mut control = build::<XTcp>(&[("gain", Value::Number(gain))]);
            let mut w = window(10.0, f64::INFINITY);
            control.on_established(&mut w, at_ms(0), Some(Span::from_millis(100)));
            report_rate(&mut control, &mut w, 100);
            assert_eq!(w.cwnd, cwnd);
        }
    }
}
