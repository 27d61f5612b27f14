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
use crate::congestion::{AckSample, CongestionControl, CongestionEvent, Window};
use arrayvec::ArrayVec;
use fadeout_core::Time;
use fadeout_core::registry::{Entry, Parameters, find};

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

const fn entry(
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    citation: &'static str,
    parameters: &'static [fadeout_core::registry::Parameter],
) -> Entry {
    Entry {
        name,
        aliases,
        family: "coupling",
        summary,
        citation,
        parameters,
    }
}

/// The couplings that a scenario can name.
pub static COUPLINGS: &[Entry] = &[
    entry(
        "uncoupled",
        &["none"],
        "Each subflow runs the flow's congestion control for itself",
        "RFC 6356 section 2",
        &[],
    ),
    entry(
        "lia",
        &[],
        "Linked increases: the aggregate of the best path, half the window on loss",
        "RFC 6356",
        &[],
    ),
    entry(
        "olia",
        &[],
        "Opportunistic linked increases: Pareto-optimal, moves window to the best paths",
        "Khalili, Gast, Popovic, Le Boudec, CoNEXT 2012",
        olia::PARAMETERS,
    ),
    entry(
        "balia",
        &[],
        "Balanced linked adaptation between friendliness and responsiveness",
        "Peng, Walid, Hwang, Low, IEEE/ACM ToN 24(1), 2016",
        &[],
    ),
    entry(
        "wvegas",
        &[],
        "Weighted Vegas: equal queueing delay price on every path",
        "Cao, Xu, Fu, ICNP 2012",
        &[],
    ),
    entry(
        "coupled-cubic",
        &[],
        "CUBIC on each path, scaled so that the sum is CUBIC's on the best path",
        "This project: docs, models, coupled CUBIC; RFC 9438",
        coupled_cubic::PARAMETERS,
    ),
];

#[derive(Debug, Clone)]
enum Law {
    Lia,
    Olia(olia::Olia),
    Balia,
    WVegas(wvegas::WVegas),
    Cubic(coupled_cubic::CoupledCubic),
}

/// The congestion control of one subflow that looks at the others.
#[derive(Debug, Clone)]
pub struct Coupled {
    law: Law,
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
        let law = match find(COUPLINGS, name)?.name {
            "lia" => Law::Lia,
            "olia" => Law::Olia(olia::Olia::new(parameters)),
            "balia" => Law::Balia,
            "wvegas" => Law::WVegas(wvegas::WVegas::default()),
            "coupled-cubic" => Law::Cubic(coupled_cubic::CoupledCubic::new(parameters)),
            _ => return None,
        };
        Some(Coupled {
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
        let round_rate = match &self.law {
            Law::WVegas(wvegas) => wvegas.round_rate(),
            _ => 0.0,
        };
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
        match &mut self.law {
            Law::WVegas(wvegas) => return wvegas.on_ack(window, ack, &self.view),
            Law::Cubic(cubic) => return cubic.on_ack(window, ack, &self.view),
            Law::Lia | Law::Olia(_) | Law::Balia => {}
        }
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = crate::congestion::linux::slow_start(window, left);
        }
        let per_segment = match &self.law {
            Law::Olia(olia) => olia.increase(&self.view),
            Law::Balia => balia::increase(&self.view),
            _ => lia::increase(&self.view),
        };
        window.cwnd = (window.cwnd + f64::from(left) * per_segment).max(1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.mean_interval = self.mean_with(self.delivered_since_loss);
        self.delivered_between_losses = self.delivered_since_loss;
        self.delivered_since_loss = 0.0;
        match &mut self.law {
            Law::Balia => window.ssthresh = balia::decreased(window.cwnd, &self.view),
            Law::Cubic(cubic) => cubic.on_congestion(window, event),
            Law::WVegas(wvegas) => {
                wvegas.on_congestion();
                window.ssthresh = crate::congestion::linux::half(window);
            }
            Law::Lia | Law::Olia(_) => window.ssthresh = crate::congestion::linux::half(window),
        }
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
        near(lia::increase(&alone), 0.1);
        near(balia::increase(&alone), 0.1);
        near(
            olia::Olia::new(&Parameters::default()).increase(&alone),
            0.1,
        );
        near(balia::decreased(10.0, &alone), 5.0);
    }
}
