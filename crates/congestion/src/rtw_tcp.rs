//! RTW-TCP: CUBIC that separates a blockage from congestion.
//!
//! The rule is for a loss while a blockage is predicted or under way, with `T_b` its predicted
//! length:
//!
//! - `T_b <= RTO`: hold. Window, threshold, timeout and CUBIC's clock stay. The head is
//!   retransmitted at each timeout, without backoff, until the link is back.
//! - `T_b > RTO`, or unknown: CUBIC's reduction.
//!
//! Losses caused by a blockage are detected only afterwards. So a loss detected within a timeout
//! after the end of a blockage is attributed to it. A loss is congestion if it is detected more
//! than a timeout before the predicted start of a blockage. The same holds after the end of a
//! predicted blockage that never began.
//!
//! Without a blockage a loss is congestion. In a slow vehicle (`speed < low-speed`) fades are
//! longer. The sender then waits a round-trip time for the link layer to repair the loss, as in
//! TCP-DCR.
//!
//! Source: Na et al., "Congestion control vs. link failure: TCP behavior in mmWave connected
//! vehicular networks", section 3.2.5. The paper gives the rule in words and leaves some points
//! open. Here the timeout separates short from long blockages, because the number in the paper's
//! footnote does not fit all paths. The reduction is CUBIC's. The wait and the speed limit of a
//! slow vehicle are fadeout's choice. The map of channel quality belongs to
//! `[blockage-prediction]`.

use super::cubic::Cubic;
use super::{AckSample, CongestionControl, CongestionEvent, Window};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Parameters, Registered, Settings, number};
use fadeout_core::{LinkInfo, Span, Time};

/// RTW-TCP.
#[derive(Debug, Clone)]
pub struct RtwTcp {
    cubic: Cubic,
    /// Predicted or present blockage. `None` if there is none.
    blockage: Option<Blockage>,
    /// Time at which the last blockage ended, and its predicted length. `None` before the first
    /// end.
    past: Option<(Time, Span)>,
    is_slow: bool,
}

/// Predicted or present blockage.
#[derive(Debug, Clone, Copy)]
struct Blockage {
    /// Predicted start and length of the blockage. `None` if it was not predicted.
    predicted: Option<(Time, Span)>,
    has_begun: bool,
}

impl Blockage {
    fn length(&self) -> Option<Span> {
        self.predicted.map(|(_, length)| length)
    }

    /// Returns true if the blockage may have caused a loss detected at `now`.
    fn is_due(&self, now: Time, rto: Span) -> bool {
        let is_near = |(starts_at, lasts): (Time, Span)| {
            starts_at.saturating_sub(rto) <= now
                && now <= starts_at.saturating_add(lasts).saturating_add(rto)
        };
        self.has_begun || self.predicted.is_some_and(is_near)
    }
}

impl Registered<Stream> for RtwTcp {
    const ENTRY: Entry = Entry {
        name: "rtw-tcp",
        aliases: &["rtw"],
        family: "cross-layer",
        summary: "CUBIC that keeps its window during blockages shorter than its timeout. Needs \
                  `link-info`.",
        citation: "Na et al., TCP behavior in mmWave connected vehicular networks, section 3.2.5",
        parameters: &[
            number(
                "speed",
                (0.0, 1000.0, "m/s"),
                "15",
                "Speed of the vehicle. The paper has 5 to 30 m/s.",
            ),
            number(
                "low-speed",
                (0.0, 1000.0, "m/s"),
                "3",
                "Speed below which the sender waits a round-trip time for the link layer before it \
                 responds to a loss. The paper gives no value. The default separates pedestrians \
                 from vehicles.",
            ),
        ],
    };

    fn from_settings(settings: &Settings<'_>, random: Stream) -> Self {
        RtwTcp {
            cubic: Cubic::from_settings(&Settings::new(&Cubic::ENTRY, Parameters::NONE), random),
            blockage: None,
            past: None,
            is_slow: settings.number("speed") < settings.number("low-speed"),
        }
    }
}

impl CongestionControl for RtwTcp {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.cubic.on_ack(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.cubic.on_congestion(window, event);
    }

    fn on_recovered(&mut self, window: &mut Window, now: Time) {
        self.cubic.on_recovered(window, now);
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, now: Time) {
        self.cubic.on_spurious(window, prior, now);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        self.cubic.on_idle_restart(window, now, idle);
    }

    fn on_link_info(&mut self, _window: &mut Window, now: Time, info: &LinkInfo) {
        match *info {
            LinkInfo::BlockagePredicted { starts_at, lasts } => {
                let has_begun = self.blockage.is_some_and(|it| it.has_begun);
                self.blockage = Some(Blockage {
                    predicted: Some((starts_at, lasts)),
                    has_begun,
                });
            }
            LinkInfo::BlockageBegan => {
                let predicted = self.blockage.and_then(|it| it.predicted);
                self.blockage = Some(Blockage {
                    predicted,
                    has_begun: true,
                });
            }
            LinkInfo::BlockageEnded => {
                let length = self.blockage.take().and_then(|it| it.length());
                self.past = length.map(|length| (now, length));
            }
            LinkInfo::Rate(_) => {}
        }
    }

    fn holds(&self, now: Time, rto: Span) -> bool {
        match (self.blockage, self.past) {
            (Some(blockage), _) => {
                blockage.is_due(now, rto) && blockage.length().is_some_and(|it| it <= rto)
            }
            (None, Some((ended_at, length))) => length <= rto && now.since(ended_at) <= rto,
            (None, None) => false,
        }
    }

    fn loss_delay_rtts(&self) -> Option<f64> {
        (self.is_slow && self.blockage.is_none()).then_some(1.0)
    }

    fn phase(&self) -> &'static str {
        if self.blockage.is_some() {
            "blockage"
        } else {
            self.cubic.phase()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_ms, build, congestion, window};
    use super::*;
    use crate::CongestionKind;
    use fadeout_core::registry::Value;

    fn predict(control: &mut RtwTcp, ms: u64) {
        let info = LinkInfo::BlockagePredicted {
            starts_at: at_ms(100),
            lasts: Span::from_millis(ms),
        };
        control.on_link_info(&mut window(120.0, 60.0), at_ms(0), &info);
    }

    #[test]
    fn a_blockage_shorter_than_the_timeout_is_sat_out() {
        // Reference vector RT-1: the timeout is 300 ms. A blockage of 200 ms holds the window. A
        // blockage of 500 ms does not, so the loss is congestion.
        let rto = Span::from_millis(300);
        let mut control = build::<RtwTcp>(&[]);
        assert!(!control.holds(at_ms(0), rto));
        predict(&mut control, 200);
        assert!(control.holds(at_ms(100), rto));
        predict(&mut control, 500);
        assert!(!control.holds(at_ms(100), rto));
        let mut w = window(120.0, f64::INFINITY);
        let event = congestion(at_ms(100), CongestionKind::FastRecovery, 120);
        control.on_congestion(&mut w, &event);
        assert_eq!(w.ssthresh, 84.0);
    }

    #[test]
    fn a_loss_long_before_a_predicted_blockage_or_after_one_that_never_began_is_congestion() {
        let rto = Span::from_millis(50);
        let mut control = build::<RtwTcp>(&[]);
        // The blockage is predicted from 100 to 140 ms.
        predict(&mut control, 40);
        let held = [49, 50, 190, 191].map(|ms| control.holds(at_ms(ms), rto));
        assert_eq!(held, [false, true, true, false]);
        control.on_link_info(
            &mut window(120.0, 60.0),
            at_ms(100),
            &LinkInfo::BlockageBegan,
        );
        assert!(control.holds(at_ms(500), rto));
    }

    #[test]
    fn a_blockage_without_a_prediction_is_congestion() {
        let mut control = build::<RtwTcp>(&[]);
        let w = &mut window(120.0, 60.0);
        control.on_link_info(w, at_ms(0), &LinkInfo::BlockageBegan);
        assert!(!control.holds(at_ms(0), Span::from_secs(100)));
        control.on_link_info(w, at_ms(0), &LinkInfo::BlockageEnded);
        assert!(!control.holds(at_ms(0), Span::from_secs(100)));
    }

    #[test]
    fn a_loss_soon_after_a_blockage_is_its_own() {
        let rto = Span::from_millis(300);
        let mut control = build::<RtwTcp>(&[]);
        predict(&mut control, 200);
        let w = &mut window(120.0, 60.0);
        control.on_link_info(w, at_ms(300), &LinkInfo::BlockageEnded);
        assert!(control.holds(at_ms(600), rto));
        assert!(!control.holds(at_ms(601), rto));
    }

    #[test]
    fn a_slow_vehicle_waits_for_the_link_layer() {
        let slow = build::<RtwTcp>(&[("speed", Value::Number(1.0))]);
        assert_eq!(slow.loss_delay_rtts(), Some(1.0));
        assert_eq!(build::<RtwTcp>(&[]).loss_delay_rtts(), None);
    }
}
