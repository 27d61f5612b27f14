//! Blockers scattered over the ground. The source is I. K. Jain, R. Kumar and S. Panwar, "Driven by
//! capacity or blockage? A millimeter wave blockage analysis", 2018.

use super::{BlockageModel, Process, View};
use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number, span};
use fadeout_core::{Span, Time};
use std::collections::VecDeque;

fadeout_core::parameters! {
    /// Pedestrians with a given density. They enter a link of ground length r as a Poisson process
    /// of rate `C r`, `C = (2 / pi) density speed (h_B - h_R) / (h_T - h_R)`. Each pedestrian stays
    /// in the link for an exponential time. The link is blocked while at least one of them is in
    /// it. The defaults are the paper's, with the loss of [`TwoState`](super::TwoState).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Crowd {
        /// Number of blockers per square metre.
        pub density: f64 = number((0.0, 10.0, ""), "0.1"),
        /// Speed of the blockers.
        pub speed: f64 = number((0.01, 300.0, "m/s"), "1"),
        /// Height of the blockers.
        pub height_m as "height": f64 = number((0.1, 10.0, "m"), "1.8"),
        /// Mean time for which a blocker stays in the path. The times are exponentially
        /// distributed.
        pub mean_blocked: Span = span("500 ms"),
        /// Loss of the path while it is blocked.
        pub loss_db as "loss": f64 = number((0.0, 300.0, "dB"), "25"),
    }
}

/// Length of a link in metres up to which the blockage rate grows. Longer links have the rate of
/// this length, which limits the number of drawn arrivals.
const MAX_GROUND_M: f64 = 500.0;

impl Registered for Crowd {
    const ENTRY: Entry = Entry::new(
        "crowd",
        "random",
        "Blockers that enter the path as a Poisson process. Their density on the ground determines \
         the rate.",
        "Jain, Kumar and Panwar, Driven by Capacity or Blockage?, 2018",
    )
    .with_parameters(Crowd::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Crowd::read(settings)
    }
}

impl Crowd {
    /// Returns C, the number of arrivals per second and metre. The base station's antenna is at the
    /// height h_T and the UE's at h_R, in metres. A UE above the blockers is never blocked. If the
    /// base station is below the blockers, the whole path can be blocked.
    pub fn arrivals_per_metre(&self, base_height_m: f64, ue_height_m: f64) -> f64 {
        let reach = (self.height_m - ue_height_m).max(0.0);
        let rise = (base_height_m - ue_height_m).max(reach);
        if reach == 0.0 {
            return 0.0;
        }
        2.0 / std::f64::consts::PI * self.density * self.speed * reach / rise
    }

    /// Returns the probability that a link of this ground length is blocked, if blockages do not
    /// overlap: `C r / (mu + C r)`, as in the paper. In the simulation blockages may overlap, and
    /// the probability is `1 - exp(-C r / mu)`.
    pub fn blocked_share(&self, arrivals_per_metre: f64, ground_m: f64) -> f64 {
        let rate = arrivals_per_metre * ground_m;
        rate / (1.0 / self.mean_blocked.as_secs_f64() + rate)
    }
}

impl BlockageModel for Crowd {
    type Process = CrowdProcess;

    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within("density of blockers", self.density, 0.0..=10.0, "1/m^2")?;
        ConfigError::within("speed of blockers", self.speed, 0.0..=100.0, "m/s")?;
        ConfigError::within("height of blockers", self.height_m, 0.1..=10.0, "m")?;
        ConfigError::within(
            "mean duration of a blockage",
            self.mean_blocked.as_secs_f64(),
            1e-3..=1e4,
            "s",
        )?;
        ConfigError::within("blockage loss", self.loss_db, 0.0..=300.0, "dB")
    }

    fn start(&self, stream: Stream) -> Self::Process {
        // The arrival rate is highest for a UE on the ground whose base station is as low as the
        // blockers.
        let rate = 2.0 / std::f64::consts::PI * self.density * self.speed * MAX_GROUND_M;
        let mut process = CrowdProcess {
            model: *self,
            stream,
            rate,
            next_at: Time::ZERO,
            present: VecDeque::new(),
        };
        // The blockers that are present at the start of the run are drawn from the equilibrium
        // distribution.
        process.next_at = process.following(Time::ZERO);
        process.warm_up();
        process
    }
}

/// Arrivals of blockers at the highest rate of any link. Each link is blocked by a share of these
/// arrivals: its own rate divided by the highest rate.
#[derive(Debug)]
pub(crate) struct CrowdProcess {
    model: Crowd,
    stream: Stream,
    rate: f64,
    next_at: Time,
    present: VecDeque<Visit>,
}

/// Blocker that leaves the path at `until`. It blocks a link if the link's share of the highest
/// rate exceeds `mark`.
#[derive(Debug, Clone, Copy)]
struct Visit {
    until: Time,
    mark: f64,
}

impl CrowdProcess {
    fn following(&mut self, from: Time) -> Time {
        if self.rate <= 0.0 {
            return Time::NEVER;
        }
        let gap = Span::from_secs_f64(self.stream.exponential(1.0 / self.rate));
        from.saturating_add(gap.max(Span::from_nanos(1)))
    }

    /// Draws the blockers that are present at the start. In equilibrium their number is
    /// Poisson-distributed. The remaining time of each is exponential.
    fn warm_up(&mut self) {
        if self.rate <= 0.0 {
            return;
        }
        let mean_stay = self.model.mean_blocked.as_secs_f64();
        let mut elapsed = 0.0;
        loop {
            // The number of exponential gaps of mean 1 that fit into the mean number is
            // Poisson-distributed.
            elapsed += self.stream.exponential(1.0);
            if elapsed > self.rate * mean_stay {
                return;
            }
            self.admit(Time::ZERO);
        }
    }

    fn admit(&mut self, at: Time) {
        let mark = self.stream.uniform();
        let mean = self.model.mean_blocked.as_secs_f64();
        let stay = Span::from_secs_f64(self.stream.exponential(mean));
        self.present.push_back(Visit {
            until: at.saturating_add(stay),
            mark,
        });
    }

    pub(crate) fn loss_db(&mut self, view: &View) -> f64 {
        let now = view.now;
        while self.next_at <= now && !self.next_at.is_never() {
            let at = self.next_at;
            self.admit(at);
            self.next_at = self.following(at);
            // After a long pause many arrivals are drawn in one call. Blockers that have left are
            // removed during the loop to save memory.
            if self.present.len() > 64 {
                self.present.retain(|visit| visit.until > at);
            }
        }
        self.present.retain(|visit| visit.until > now);
        let own = self.model.arrivals_per_metre(view.base.z, view.ue.z)
            * view.ground_m().min(MAX_GROUND_M);
        let is_blocked = self
            .present
            .iter()
            .any(|visit| visit.mark * self.rate < own);
        if is_blocked { self.model.loss_db } else { 0.0 }
    }
}

impl Process for CrowdProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Point;
    use fadeout_core::math::exp;

    #[test]
    fn a_link_is_blocked_as_often_as_the_infinite_server_queue_is_busy() {
        let crowd = Crowd::default();
        let mut process = crowd.start(Stream::new(1, "test.crowd", 0));
        let (base, ue) = (Point::new(0.0, 0.0, 5.0), Point::new(50.0, 0.0, 1.4));
        let (mut blocked, total) = (0_u32, 400_000);
        for n in 0..total {
            let view = View {
                now: Time::ZERO + Span::from_millis(50) * n,
                base,
                ue,
                has_direct_path: true,
                wavelength_m: 0.01,
            };
            blocked += u32::from(process.loss_db(&view) > 0.0);
        }
        let rate = crowd.arrivals_per_metre(5.0, 1.4) * 50.0;
        let expected = 1.0 - exp(-rate * 0.5);
        let found = f64::from(blocked) / total as f64;
        // There are 7 000 busy periods in 20 000 s, so one standard error is about 0.002.
        assert!((found - expected).abs() < 0.01, "{found} {expected}");
    }
}
