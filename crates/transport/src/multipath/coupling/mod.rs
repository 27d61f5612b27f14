//! How much the paths of a connection together may take.
//!
//! A coupled congestion control sees the state of all paths in each step of its own. The design
//! goals are those of RFC 6356 section 1: at least what the best single path gives, no more than
//! one TCP takes where paths share a bottleneck, and away from congested paths.

mod balia;
mod coupled_cubic;
#[cfg(test)]
mod fixed_points;
mod lia;
mod olia;
mod wvegas;

use super::MAX_PATHS;
use crate::congestion::{AckSample, CongestionControl, CongestionEvent, Window, linux};
use arrayvec::ArrayVec;
use fadeout_core::Time;
use fadeout_core::registry::{Entry, Parameters, Registered, Settings};

/// What a coupling knows of a path.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathState {
    /// Congestion window, segments; the slow-start threshold while losses are repaired.
    pub cwnd: f64,
    /// Smoothed round-trip time, seconds; zero before the first sample.
    pub srtt_s: f64,
    /// Segments delivered between losses: the larger of the last whole interval and this one.
    pub loss_interval: f64,
    /// Mean of such intervals, a quarter of the weight on the newest.
    pub mean_interval: f64,
    /// Rate at the end of the last round, segments per second (wVegas).
    pub round_rate: f64,
}

impl PathState {
    /// Segments per second.
    pub(super) fn rate(&self) -> f64 {
        if self.srtt_s > 0.0 {
            self.cwnd / self.srtt_s
        } else {
            0.0
        }
    }
}

/// The paths as one of them sees them.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    pub(super) on: usize,
    pub(super) paths: ArrayVec<PathState, MAX_PATHS>,
}

impl View {
    pub(super) fn own(&self) -> PathState {
        self.paths.get(self.on).copied().unwrap_or_default()
    }
    /// Paths with a round-trip time.
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

    /// How much a subflow may take, beside the others.
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

/// How much a subflow may take, beside the others in `view`.
trait Law {
    /// Whether it looks at the others at all.
    fn is_coupled(&self) -> bool {
        true
    }

    /// Window added for each segment acknowledged, where the growth is otherwise Reno's.
    fn increase(&self, view: &View) -> f64 {
        1.0 / view.own().cwnd.max(1.0)
    }

    /// A segment was acknowledged.
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample, view: &View) {
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = linux::slow_start(window, left);
        }
        window.cwnd = (window.cwnd + f64::from(left) * self.increase(view)).max(1.0);
    }

    /// Sets the threshold after a congestion event.
    fn on_congestion(&mut self, window: &mut Window, _event: &CongestionEvent, _view: &View) {
        window.ssthresh = linux::half(window);
    }

    /// Rate at the end of the last round, segments per second, where it keeps one.
    fn round_rate(&self) -> f64 {
        0.0
    }
}

/// Each subflow has the flow's congestion control for itself.
#[derive(Debug, Clone)]
struct Uncoupled;

impl Registered for Uncoupled {
    const ENTRY: Entry = Entry::new(
        "uncoupled",
        "coupling",
        "Each subflow runs the flow's congestion control for itself",
        "RFC 6356 section 2",
    )
    .with_aliases(&["none"]);

    fn with(_: &Settings<'_>, (): ()) -> Self {
        Uncoupled
    }
}

impl Law for Uncoupled {
    fn is_coupled(&self) -> bool {
        false
    }
}

/// The congestion control of one subflow that looks at the others.
#[derive(Debug, Clone)]
pub struct Coupled {
    law: Laws,
    view: View,
    delivered_since_loss: f64,
    delivered_between_losses: f64,
    /// Zero before the first loss.
    mean_interval: f64,
}

/// Weight of the newest interval between losses in their mean.
const NEWEST: f64 = 0.25;

impl Coupled {
    /// The coupling called `name` or by an alias; `None` for "uncoupled" and unknown names.
    pub fn new(name: &str, parameters: &Parameters) -> Option<Coupled> {
        let law = Laws::new(name, parameters)?;
        each!(&law, law => law.is_coupled()).then(|| Coupled {
            law,
            view: View::default(),
            delivered_since_loss: 0.0,
            delivered_between_losses: 0.0,
            mean_interval: 0.0,
        })
    }

    /// What the others should know of this subflow. `cwnd` is the window, or the threshold while
    /// losses are repaired.
    pub(crate) fn state(&self, cwnd: f64, srtt_s: f64) -> PathState {
        let round_rate = each!(&self.law, law => law.round_rate());
        PathState {
            cwnd,
            srtt_s,
            loss_interval: self.delivered_since_loss.max(self.delivered_between_losses),
            // An interval that goes on counts once it is longer than the mean (RFC 5348 section
            // 5.4 counts it so too).
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

    /// Shows it all paths; it is number `on` of them.
    pub(crate) fn see(&mut self, on: usize, paths: &[PathState]) {
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

    /// Paths by window in segments, round-trip time in ms and loss interval in segments.
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

    /// The reference vectors' paths: 10 segments at 50 ms and 20 at 100 ms.
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
            assert_eq!(made.is_none(), entry.name == "uncoupled", "{}", entry.name);
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
}
