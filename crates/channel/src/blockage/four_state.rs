//! Human blockage in four states: unshadowed, decay, shadowed, rise.
//!
//! Source: G. R. MacCartney, T. S. Rappaport and S. Rangan, "Rapid fading due to human blockage in
//! pedestrian crowds at 5G millimeter-wave frequencies", IEEE GLOBECOM 2017, 73.5 GHz.

use super::{BlockageModel, Process, View};
use crate::error::ConfigError;
use fadeout_core::math::log10;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, number};
use fadeout_core::{Span, Time};

/// Rates of leaving the four states, and depth of a shadow. The loss in dB grows linearly during
/// the decay state and falls linearly during the rise state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FourState {
    /// Rate of changes from the unshadowed state to the decay, 1/s.
    pub decay_rate: f64,
    /// Rate of changes from the decay to the shadowed state, 1/s.
    pub shadow_rate: f64,
    /// Rate of changes from the shadowed state to the rise, 1/s.
    pub rise_rate: f64,
    /// Rate of changes from the rise to the unshadowed state, 1/s.
    pub clear_rate: f64,
    /// Mean depth of a shadow, dB.
    pub depth_db: f64,
    /// Standard deviation of the depth, dB.
    pub depth_sigma_db: f64,
}

impl FourState {
    /// Returns the defaults of NYUSIM 3 for a receiving antenna with an azimuth beamwidth in
    /// degrees. They were fitted between 7 and 60 degrees.
    pub fn for_beamwidth(hpbw_deg: f64) -> FourState {
        FourState {
            decay_rate: 0.2,
            shadow_rate: 0.065 * hpbw_deg + 7.425,
            rise_rate: 0.05 * hpbw_deg + 7.35,
            clear_rate: 6.7,
            depth_db: 10.0 * log10(9.8 + 180.0 / hpbw_deg),
            depth_sigma_db: 0.31,
        }
    }

    fn rates(&self) -> [f64; 4] {
        [
            self.decay_rate,
            self.shadow_rate,
            self.rise_rate,
            self.clear_rate,
        ]
    }

    /// Returns the mean duration of a cycle through all four states in seconds.
    pub fn cycle(&self) -> f64 {
        self.rates().iter().map(|rate| 1.0 / rate).sum()
    }

    /// Returns the shares of time in the four states, in their order.
    pub fn shares(&self) -> [f64; 4] {
        let cycle = self.cycle();
        self.rates().map(|rate| 1.0 / rate / cycle)
    }
}

fadeout_core::parameters! {
    /// Parameters that a scenario may set.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct FourStateParameters {
        /// Azimuth beamwidth of the UE's antenna. It determines the rates of the states and the
        /// depth of a shadow.
        beamwidth: f64 = number((1.0, 180.0, "deg"), "30"),
    }
}

impl Registered for FourState {
    const ENTRY: Entry = Entry::new(
        "four-state",
        "random",
        "A crowd of pedestrians around the path, as a model with four states: unshadowed, decay, \
         shadowed and rise.",
        "MacCartney, Rappaport and Rangan, IEEE GLOBECOM 2017; NYUSIM 3 defaults",
    )
    .with_parameters(FourStateParameters::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        FourState::for_beamwidth(FourStateParameters::read(settings).beamwidth)
    }
}

impl BlockageModel for FourState {
    type Process = FourStateProcess;

    fn check(&self) -> Result<(), ConfigError> {
        for rate in self.rates() {
            ConfigError::within("rate of a four-state blockage", rate, 1e-6..=1e4, "1/s")?;
        }
        ConfigError::within("depth of a shadow", self.depth_db, 0.0..=100.0, "dB")?;
        ConfigError::within(
            "spread of a shadow's depth",
            self.depth_sigma_db,
            0.0..=20.0,
            "dB",
        )
    }

    fn start(&self, mut stream: Stream) -> FourStateProcess {
        let place = stream.uniform();
        let mut state = 0;
        let mut cumulated = 0.0;
        for (n, share) in self.shares().into_iter().enumerate() {
            if place >= cumulated {
                state = n;
            }
            cumulated += share;
        }
        let mut process = FourStateProcess {
            model: *self,
            stream,
            state,
            since: Time::ZERO,
            until: Time::ZERO,
            depth_db: 0.0,
        };
        process.depth_db = process.draw_depth();
        process.until = process.end_of_state();
        process
    }
}

/// Current state of the process.
#[derive(Debug)]
pub(crate) struct FourStateProcess {
    model: FourState,
    stream: Stream,
    /// Index into [`FourState::rates`].
    state: usize,
    since: Time,
    until: Time,
    /// Depth of the current or next shadow, dB.
    depth_db: f64,
}

impl FourStateProcess {
    fn draw_depth(&mut self) -> f64 {
        (self.model.depth_db + self.model.depth_sigma_db * self.stream.normal()).max(0.0)
    }

    fn end_of_state(&mut self) -> Time {
        let mean = 1.0 / self.model.rates()[self.state];
        let stay = Span::from_secs_f64(self.stream.exponential(mean));
        self.since.saturating_add(stay.max(Span::from_nanos(1)))
    }

    pub(crate) fn loss_db(&mut self, now: Time) -> f64 {
        while self.until <= now && !self.until.is_never() {
            self.state = (self.state + 1) % 4;
            if self.state == 0 {
                self.depth_db = self.draw_depth();
            }
            self.since = self.until;
            self.until = self.end_of_state();
        }
        let share = now.since(self.since).as_secs_f64() / (self.until - self.since).as_secs_f64();
        debug_assert!(self.state < 4, "state {} of four", self.state);
        debug_assert!(
            (0.0..=1.0).contains(&share),
            "{share} of a state has passed"
        );
        match self.state {
            0 => 0.0,
            1 => self.depth_db * share,
            2 => self.depth_db,
            _ => self.depth_db * (1.0 - share),
        }
    }
}

impl Process for FourStateProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_time_match_the_rates() {
        let model = FourState::for_beamwidth(7.0);
        let mut process = model.start(Stream::new(1, "test.four_state", 0));
        let mut counts = [0_u32; 4];
        let total = 2_000_000;
        for n in 0..total {
            process.loss_db(Time::ZERO + Span::from_millis(20) * n);
            counts[process.state] += 1;
        }
        for (count, share) in counts.into_iter().zip(model.shares()) {
            // There are 7,400 cycles. So the standard error of a state's share is 1.7 % of the
            // share.
            let found = f64::from(count) / total as f64;
            assert!((found / share - 1.0).abs() < 0.07, "{found} {share}");
        }
    }

    #[test]
    fn a_fade_begins_and_ends_gradually() {
        let mut process =
            FourState::for_beamwidth(15.0).start(Stream::new(1, "test.four_state", 1));
        let mut last = process.loss_db(Time::ZERO);
        let mut deepest = 0.0_f64;
        for n in 1..2_000_000 {
            let loss = process.loss_db(Time::ZERO + Span::from_micros(50) * n);
            // A decay state shorter than a millisecond is rare but possible. So the loss may grow
            // by the whole depth from one sample to the next.
            assert!((loss - last).abs() < 14.5);
            deepest = deepest.max(loss);
            last = loss;
        }
        // The depth of a shadow is 13.4 dB with a standard deviation of 0.31 dB. In 100 s there are
        // about 18 shadows, so the deepest is within 1.3 dB of the mean.
        assert!((deepest - 13.4).abs() < 1.3, "{deepest}");
    }
}
