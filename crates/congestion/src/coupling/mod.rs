//! Coupled congestion control of the paths of a connection.
//!
//! A coupled congestion control sees the state of all paths in each of its steps. The design goals
//! are those of RFC 6356 section 1. The connection takes at least as much as the best single path
//! gives. It takes no more than one TCP where paths share a bottleneck. It moves away from
//! congested paths.

mod balia;
mod coupled_cubic;
#[cfg(test)]
mod fixed_points;
mod lia;
mod olia;
mod wvegas;

use crate::{AckSample, CongestionControl, CongestionEvent, Window, linux};
use arrayvec::ArrayVec;
use fadeout_core::Time;
use fadeout_core::agreed::{MOST_PATHS, UNCOUPLED};
use fadeout_core::registry::{Entry, Parameters, Registered, Settings};

/// State of a path that the coupled algorithms use.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathState {
    /// Congestion window in segments. During recovery the slow-start threshold.
    pub cwnd: f64,
    /// Smoothed round-trip time, seconds. Zero before the first sample.
    pub srtt_s: f64,
    /// Number of segments delivered between two losses: the larger of the last complete interval
    /// and the present interval.
    pub loss_interval: f64,
    /// Moving average of the number of segments delivered between two losses. The newest interval
    /// has a weight of a quarter.
    pub mean_interval: f64,
    /// Rate at the end of the last round, segments per second (wVegas).
    pub round_rate: f64,
}

impl PathState {
    /// Returns the rate, segments per second.
    pub(super) fn rate(&self) -> f64 {
        if self.srtt_s > 0.0 {
            self.cwnd / self.srtt_s
        } else {
            0.0
        }
    }
}

/// State of all paths, seen by the congestion control of one of them.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    pub(super) on: usize,
    pub(super) paths: ArrayVec<PathState, MOST_PATHS>,
}

impl View {
    pub(super) fn own(&self) -> PathState {
        self.paths.get(self.on).copied().unwrap_or_default()
    }
    /// Returns the paths with a round-trip time.
    pub(super) fn measured(&self) -> impl Iterator<Item = &PathState> {
        self.paths.iter().filter(|path| path.srtt_s > 0.0)
    }
    pub(super) fn total_rate(&self) -> f64 {
        self.measured().map(PathState::rate).sum()
    }
}

fadeout_core::registry! {
    /// The couplings that a scenario can name.
    pub static COUPLINGS;

    /// Coupled growth rules.
    #[derive(Debug, Clone)]
    enum Laws {
        Uncoupled(Uncoupled),
        Lia(lia::Lia),
        Olia(olia::Olia),
        Balia(balia::Balia),
        WVegas(wvegas::WVegas),
        Cubic(coupled_cubic::CoupledCubic),
    }
    macro each;
}

/// Growth rule of a subflow that depends on the other subflows in `view`. No method has a default,
/// because a missing method would silently be Reno's.
trait Law {
    /// Grows the window after a segment was acknowledged.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample, view: &View);

    /// Sets the threshold after a congestion event.
    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent, view: &View);

    /// Returns the rate at the end of the last round, segments per second. Zero if none is kept.
    fn round_rate(&self) -> f64;
}

/// Growth rule after slow start that consists of two functions: the increase for each acknowledged
/// segment, and the decrease after a loss.
trait Linked {
    /// Returns the window added for each segment acknowledged on the viewing path.
    fn increase(&self, view: &View) -> f64;

    /// Returns the threshold after a congestion event.
    fn decreased(&self, window: &Window, view: &View) -> f64;
}

impl<L: Linked> Law for L {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample, view: &View) {
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = linux::slow_start(window, left);
        }
        let increase = self.increase(view);
        debug_assert!(
            increase.is_finite(),
            "an acknowledged segment adds {increase} to the window"
        );
        window.cwnd = (window.cwnd + f64::from(left) * increase).max(1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, _: &CongestionEvent, view: &View) {
        window.ssthresh = self.decreased(window, view);
        debug_assert!(
            window.ssthresh > 0.0,
            "a loss leaves {} segments",
            window.ssthresh
        );
    }

    fn round_rate(&self) -> f64 {
        0.0
    }
}

/// Coupling in which each subflow uses the flow's congestion control independently.
#[derive(Debug, Clone)]
struct Uncoupled;

impl Registered for Uncoupled {
    const ENTRY: Entry = Entry::new(
        UNCOUPLED,
        "coupling",
        "Each subflow runs the flow's congestion control on its own.",
        "RFC 6356 section 2",
    )
    .with_aliases(&["none"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Uncoupled
    }
}

impl Linked for Uncoupled {
    fn increase(&self, view: &View) -> f64 {
        1.0 / view.own().cwnd.max(1.0)
    }

    fn decreased(&self, window: &Window, _: &View) -> f64 {
        linux::half(window)
    }
}

/// Congestion control of one subflow that depends on the other subflows.
#[derive(Debug, Clone)]
pub struct Coupled {
    law: Laws,
    view: View,
    delivered_since_loss: f64,
    delivered_between_losses: f64,
    /// Moving average of the intervals between losses, in segments. Zero before the first loss.
    mean_interval: f64,
}

/// Weight of the newest interval between losses in their mean.
const NEWEST: f64 = 0.25;

impl Coupled {
    /// Returns the coupling called `name` or by an alias. `None` for "uncoupled" and unknown names.
    pub fn new(name: &str, parameters: &Parameters) -> Option<Coupled> {
        let law = Laws::new(name, parameters)?;
        let is_coupled = !matches!(law, Laws::Uncoupled(_));
        is_coupled.then(|| Coupled {
            law,
            view: View::default(),
            delivered_since_loss: 0.0,
            delivered_between_losses: 0.0,
            mean_interval: 0.0,
        })
    }

    /// Returns the state of this subflow for the other subflows. `cwnd` is the window, or the
    /// threshold while losses are repaired.
    pub fn state(&self, cwnd: f64, srtt_s: f64) -> PathState {
        let round_rate = each!(&self.law, law => law.round_rate());
        PathState {
            cwnd,
            srtt_s,
            loss_interval: self.delivered_since_loss.max(self.delivered_between_losses),
            // The present interval counts once it is longer than the mean (as in RFC 5348 section
            // 5.4).
            mean_interval: self
                .mean_interval
                .max(self.mean_with(self.delivered_since_loss)),
            round_rate,
        }
    }

    fn mean_with(&self, interval: f64) -> f64 {
        if self.mean_interval > 0.0 {
            self.mean_interval + NEWEST * (interval - self.mean_interval)
        } else {
            interval
        }
    }

    /// Sets the state of all paths, as [`Coupled::state`] of each returns it. `on` is the index of
    /// this subflow.
    pub fn set_paths(&mut self, on: usize, paths: &[PathState]) {
        debug_assert!(
            on < paths.len(),
            "path {on} is none of those that are shown"
        );
        debug_assert!(
            paths
                .iter()
                .all(|path| path.cwnd > 0.0 && path.srtt_s >= 0.0),
            "a path without a window is shown"
        );
        self.view.on = on;
        self.view.paths.clear();
        self.view.paths.extend(paths.iter().copied());
    }
}

impl CongestionControl for Coupled {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.delivered_since_loss += f64::from(ack.delivered_now);
        each!(&mut self.law, law => law.on_ack(window, ack, &self.view));
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.mean_interval = self.mean_with(self.delivered_since_loss);
        self.delivered_between_losses = self.delivered_since_loss;
        self.delivered_since_loss = 0.0;
        each!(&mut self.law, law => law.on_congestion(window, event, &self.view));
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, _now: Time) {
        self.delivered_since_loss += self.delivered_between_losses;
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::testing::{ack, lose, window};
    use fadeout_core::Span;

    /// Returns a view from `paths`: window in segments, round-trip time in ms and loss interval in
    /// segments of each path.
    pub(super) fn view(on: usize, paths: &[(f64, f64, f64)]) -> View {
        View {
            on,
            paths: paths
                .iter()
                .map(|&(cwnd, rtt_ms, loss_interval)| PathState {
                    cwnd,
                    srtt_s: rtt_ms / 1e3,
                    loss_interval,
                    mean_interval: loss_interval,
                    round_rate: 0.0,
                })
                .collect(),
        }
    }

    /// Returns the paths of the reference vectors: 10 segments at 50 ms, and 20 segments at 100 ms.
    pub(super) fn reference(on: usize) -> View {
        view(on, &[(10.0, 50.0, 100.0), (20.0, 100.0, 100.0)])
    }

    pub(super) fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
    }

    #[test]
    fn every_registered_coupling_but_none_can_be_made() {
        for entry in COUPLINGS {
            let made = Coupled::new(entry.name, &Parameters::default());
            assert_eq!(made.is_none(), entry.name == UNCOUPLED, "{}", entry.name);
        }
    }

    #[test]
    fn alone_a_linked_increase_is_renos() {
        let alone = view(0, &[(10.0, 50.0, 100.0)]);
        near(lia::Lia.increase(&alone), 0.1);
        near(balia::Balia.increase(&alone), 0.1);
        near(olia::Olia::default().increase(&alone), 0.1);
        near(balia::decreased(10.0, &alone), 5.0);
    }

    #[test]
    fn a_path_without_a_round_trip_time_has_no_rate() {
        let view = view(
            1,
            &[(10.0, 50.0, 1.0), (10.0, 0.0, 1.0), (20.0, 100.0, 1.0)],
        );
        near(view.paths[0].rate(), 200.0);
        assert_eq!(view.own().rate(), 0.0);
        assert_eq!(view.measured().count(), 2);
        near(view.total_rate(), 400.0);
    }

    #[test]
    fn reno_is_one_segment_a_window() {
        near(Uncoupled.increase(&view(0, &[(8.0, 50.0, 1.0)])), 0.125);
        near(Uncoupled.increase(&view(0, &[(0.5, 50.0, 1.0)])), 1.0);
        assert_eq!(Uncoupled.round_rate(), 0.0);
    }

    #[test]
    fn a_subflow_that_is_shown_the_others_grows_beside_them() {
        // The increase for the reference paths is 0.025 of a segment with LIA.
        let mut coupled = Coupled::new("lia", &Parameters::default()).expect("it is a coupling");
        coupled.set_paths(1, &reference(0).paths);
        coupled.set_paths(0, &reference(0).paths);
        assert_eq!((coupled.view.on, coupled.view.paths.len()), (0, 2));
        let mut w = window(10.0, 5.0);
        coupled.on_ack(&mut w, &ack(Time::ZERO, 4));
        near(w.cwnd, 10.1);
        // Four of the six acknowledged segments end slow start. The other two count in congestion
        // avoidance.
        let mut w = window(6.0, 10.0);
        coupled.on_ack(&mut w, &ack(Time::ZERO, 6));
        near(w.cwnd, 10.05);
        for idle in [
            AckSample {
                may_grow: false,
                ..ack(Time::ZERO, 4)
            },
            AckSample {
                is_cwnd_limited: false,
                ..ack(Time::ZERO, 4)
            },
        ] {
            let mut w = window(10.0, 5.0);
            coupled.on_ack(&mut w, &idle);
            assert_eq!(w.cwnd, 10.0);
        }
        let mut w = window(11.0, 20.0);
        assert_eq!(lose(&mut coupled, &mut w, Time::ZERO), 5.0);
    }

    #[test]
    fn intervals_between_losses_are_told_to_the_others() {
        let mut coupled = Coupled::new("olia", &Parameters::default()).expect("it is a coupling");
        let mut w = window(1e4, 1e5);
        let mut deliver = |coupled: &mut Coupled, segments| {
            coupled.on_ack(&mut w, &ack(Time::ZERO, segments));
            let state = coupled.state(7.0, 0.25);
            assert_eq!(
                (state.cwnd, state.srtt_s, state.round_rate),
                (7.0, 0.25, 0.0)
            );
            (state.loss_interval, state.mean_interval)
        };
        let loses = |coupled: &mut Coupled| lose(coupled, &mut window(10.0, 10.0), Time::ZERO);
        assert_eq!(deliver(&mut coupled, 60), (60.0, 60.0));
        assert_eq!(deliver(&mut coupled, 40), (100.0, 100.0));
        loses(&mut coupled);
        // The present interval of 20 segments does not count, because it is shorter than the mean
        // of 100.
        assert_eq!(deliver(&mut coupled, 20), (100.0, 100.0));
        assert_eq!(deliver(&mut coupled, 180), (200.0, 125.0));
        loses(&mut coupled);
        assert_eq!(deliver(&mut coupled, 5), (200.0, 125.0));
        // The next loss makes the mean 125 + (25 - 125) / 4 = 100.
        assert_eq!(deliver(&mut coupled, 20), (200.0, 125.0));
        loses(&mut coupled);
        assert_eq!(deliver(&mut coupled, 1), (25.0, 100.0));
        // The loss was spurious, so the interval continues and the windows are restored.
        let mut back = window(4.0, 4.0);
        coupled.on_spurious(&mut back, &window(10.0, 8.0), Time::ZERO);
        assert_eq!((back.cwnd, back.ssthresh), (10.0, 8.0));
        coupled.on_spurious(&mut back, &window(1.0, 2.0), Time::ZERO);
        assert_eq!((back.cwnd, back.ssthresh), (10.0, 8.0));
        let mut again = Coupled::new("olia", &Parameters::default()).expect("it is a coupling");
        deliver(&mut again, 30);
        loses(&mut again);
        deliver(&mut again, 3);
        again.on_spurious(&mut back, &window(1.0, 2.0), Time::ZERO);
        assert_eq!(deliver(&mut again, 1).0, 34.0);
    }

    #[test]
    fn the_rate_of_a_round_is_told_to_the_others() {
        let mut coupled = Coupled::new("wvegas", &Parameters::default()).expect("it is a coupling");
        let mut w = window(10.0, 5.0);
        for (una, expected) in [(1, 0.0), (50, 0.0), (60, 0.0), (101, 100.0)] {
            let ack = AckSample {
                snd_una: una,
                snd_nxt: una + 99,
                rtt: Some(Span::from_millis(100)),
                ..ack(Time::ZERO, 1)
            };
            coupled.on_ack(&mut w, &ack);
            near(coupled.state(10.0, 0.1).round_rate, expected);
        }
    }
}
