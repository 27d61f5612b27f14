//! Selection of beams: sweeps, tracking, and recovery from failure.
//!
//! A beam is chosen from a measurement at one instant. It is used some time after the measurement,
//! until the next beam is used. The UE moves and turns meanwhile, so the beam points at a past or
//! predicted position of the UE. All measurements lie on a fixed time grid. The result therefore
//! does not depend on how often the link is evaluated.

use crate::error::ConfigError;
use fadeout_core::math::tan;
use fadeout_core::registry::{Parameter, choice, integer, join, number, span};
use fadeout_core::{Span, Time};

pub use fadeout_core::agreed::BeamPrediction;

/// Parameters of sweep, tracking and recovery of the beams of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamManagement {
    /// Time between two beam measurements: the period of SSB bursts or of a CSI-RS. SSB periods are
    /// 5, 10, 20, 40, 80 or 160 ms (TS 38.331). A UE assumes 20 ms (TS 38.213 clause 4.1).
    pub tracking_period: Span,
    /// Time from a measurement to the use of the new beam. It covers the L1-RSRP report, the MAC
    /// CE, and its activation 3 ms after the acknowledgement (TS 38.214 clause 5.1.5).
    pub switching_delay: Span,
    /// Rotation of the device and of its beam in degrees per second, counter-clockwise. About 100
    /// for a handheld device.
    pub rotation_deg_per_s: f64,
    /// Prediction of the UE's position, by which beams are steered between two measurements. The
    /// rotation of the UE is not predicted.
    pub prediction: BeamPrediction,
    /// Detection of beam failure. `None` if the link keeps a blocked beam.
    pub failure: Option<BeamFailure>,
}

impl BeamManagement {
    /// Parameters that a scenario may set as keys of a cell's channel.
    pub const PARAMETERS: &'static [Parameter] =
        &join::<{ Sweep::PARAMETERS.len() + BeamFailure::PARAMETERS.len() }>(&[
            Sweep::PARAMETERS,
            BeamFailure::PARAMETERS,
        ]);
}

fadeout_core::parameters! {
    /// Parameters of beam measurement and use.
    struct Sweep {
        /// Time between two beam measurements.
        tracking_period as "beam-tracking": Span = span("20 ms"),
        /// Time from a beam measurement to the use of the beam that it selects.
        switching_delay as "beam-switching-delay": Span = span("5 ms"),
        /// Steering of the beams between two beam measurements.
        prediction as "beam-prediction": BeamPrediction = choice(BeamPrediction::NAMES, "none"),
    }
}

impl Default for BeamManagement {
    /// Returns the defaults: an SSB burst every 20 ms, a switching delay of 5 ms, a device that
    /// does not turn, and beam failure recovery.
    fn default() -> BeamManagement {
        let sweep = Sweep::default();
        BeamManagement {
            tracking_period: sweep.tracking_period,
            switching_delay: sweep.switching_delay,
            rotation_deg_per_s: 0.0,
            prediction: sweep.prediction,
            failure: Some(BeamFailure::default()),
        }
    }
}

fadeout_core::parameters! {
    /// Beam failure detection and recovery (TS 38.321 clause 5.17).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct BeamFailure {
        /// Loss of the received signal, by blockage and misalignment, above which a beam
        /// measurement counts as a failure instance. The standard counts a hypothetical PDCCH BLER
        /// above 10 %. The loss for this BLER depends on the link's margin, so 10 dB is an
        /// assumption that should be varied.
        pub threshold_db as "beam-failure-threshold": f64 = number((0.0, 100.0, "dB"), "10"),
        /// Number of consecutive failure instances that declare a beam failure
        /// (beamFailureInstanceMaxCount: 1, 2, 3, 4, 5, 6, 8 or 10).
        pub count as "beam-failure-count": u32 = integer((1, 10, "instances"), "3"),
        /// Time from the declaration of a beam failure to the use of the new beam: candidate
        /// search, random access and the response to it. It is about 20 ms with a PRACH occasion
        /// every 10 ms. The UE receives nothing in that time.
        pub recovery_delay as "beam-recovery-delay": Span = span("20 ms"),
        /// Loss of the reflected path that beam recovery finds, relative to the clear direct path.
        /// None if there is no other path, so that recovery returns to the direct path.
        pub reflection_loss_db as "reflected-path": Option<f64> = number((0.0, 100.0, "dB"), ""),
    }
}

impl BeamManagement {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::within(
            "beam tracking period",
            self.tracking_period.as_secs_f64(),
            1e-4..=10.0,
            "s",
        )?;
        ConfigError::within(
            "beam switching delay",
            self.switching_delay.as_secs_f64(),
            0.0..=10.0,
            "s",
        )?;
        ConfigError::within(
            "rotation",
            self.rotation_deg_per_s,
            -2000.0..=2000.0,
            "degrees/s",
        )?;
        let Some(failure) = &self.failure else {
            return Ok(());
        };
        ConfigError::within(
            "beam failure threshold",
            failure.threshold_db,
            0.0..=100.0,
            "dB",
        )?;
        ConfigError::within(
            "beam failure count",
            f64::from(failure.count),
            1.0..=10.0,
            "instances",
        )?;
        ConfigError::within(
            "beam recovery delay",
            failure.recovery_delay.as_secs_f64(),
            0.0..=10.0,
            "s",
        )?;
        ConfigError::within(
            "loss of the reflected path",
            failure.reflection_loss_db.unwrap_or(0.0),
            0.0..=100.0,
            "dB",
        )
    }

    /// Returns the time at which the beam in use at `now` was measured. Before the first switch
    /// this is the start of the run.
    pub fn measured_at(&self, now: Time) -> Time {
        let period = self.tracking_period.as_nanos().max(1);
        let usable = now.saturating_sub(self.switching_delay).as_nanos();
        let at = Time::from_nanos(usable / period * period);
        debug_assert!(at <= now, "beams are measured in the future");
        at
    }

    /// Returns the time between two failure instances, which is the tracking period, but at least 2
    /// ms.
    ///
    /// Standard: TS 38.213 §6; TS 38.133 §8.5.
    pub fn indication_period(&self) -> Span {
        self.tracking_period.max(Span::from_millis(2))
    }

    /// Returns the longest time from the start of a lasting blockage to the declaration of failure.
    /// `None` without failure detection.
    pub fn detection_time(&self) -> Option<Span> {
        let failure = self.failure?;
        Some(self.indication_period() * u64::from(failure.count))
    }
}

/// Returns the duration of an exhaustive search by a UE with an analogue receiver. The UE uses one
/// of its beams in each burst.
pub fn exhaustive_search(ue_beams: u64, burst_period: Span) -> Span {
    burst_period * ue_beams
}

/// Returns the duration of a sweep over all pairs of beams. The UE measures `parallel` of its beams
/// at the same time. The source is M. Polese et al., "Improved handover through dual connectivity
/// in 5G mmWave mobile networks", IEEE JSAC 35(9), 2017.
pub fn pair_sweep(base_beams: u64, ue_beams: u64, measurement: Span, parallel: u64) -> Span {
    measurement * (base_beams * ue_beams) / parallel.max(1)
}

/// Returns the time in seconds for which the gain of a fixed beam toward a passing UE stays within
/// 3 dB of the peak. The beam has a width in degrees. The UE passes at a distance in metres with a
/// transverse speed in m/s.
pub fn staleness_seconds(hpbw_deg: f64, distance_m: f64, transverse_speed: f64) -> f64 {
    distance_m * tan(hpbw_deg.to_radians() / 2.0) / transverse_speed
}

/// State of beam failure detection and recovery.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// The direct path is in use. The number counts the consecutive failure instances so far.
    Direct(u32),
    /// Beam recovery is running until this time.
    Recovering(Time),
    /// A reflected path is in use.
    Reflected,
}

/// Detector of beam failure.
///
/// Standard: TS 38.321 §5.17; TS 38.213 §6.
#[derive(Debug)]
pub(crate) struct FailureMonitor {
    config: BeamFailure,
    period: Span,
    state: State,
    /// Time of the next beam measurement.
    next_at: Time,
}

/// Longest pause between two evaluations after which all missed measurements are computed. After a
/// longer pause, older measurements are skipped.
const MEMORY: Span = Span::from_secs(1);

impl FailureMonitor {
    pub(crate) fn new(management: &BeamManagement) -> Option<FailureMonitor> {
        let config = management.failure?;
        let period = management.indication_period();
        Some(FailureMonitor {
            config,
            period,
            state: State::Direct(0),
            next_at: Time::ZERO + period,
        })
    }

    /// Returns the largest loss that never changes the state of the detector.
    pub(crate) fn harmless_db(&self) -> f64 {
        let reflected = self.config.reflection_loss_db;
        // Tracking returns to the direct path only if its loss is strictly below that of the
        // reflected path.
        let better = reflected.map_or(f64::INFINITY, f64::next_down);
        self.config.threshold_db.min(better)
    }

    /// Computes the measurements that were due until `now`. `loss_db` returns the loss of the beams
    /// in use, by blockage and misalignment. It is called for increasing times.
    pub(crate) fn advance(&mut self, now: Time, mut loss_db: impl FnMut(Time) -> f64) {
        let oldest = now.saturating_sub(MEMORY);
        if self.next_at < oldest {
            let periods = oldest.since(self.next_at).as_nanos() / self.period.as_nanos() + 1;
            self.next_at += self.period * periods;
            self.state = State::Direct(0);
        }
        while self.next_at <= now {
            let at = self.next_at;
            self.next_at += self.period;
            self.on_measurement(at, loss_db(at));
        }
        if let State::Recovering(until) = self.state
            && until <= now
        {
            self.state = self.recovered();
        }
        debug_assert!(self.next_at > now, "a measurement is left in the past");
        debug_assert!(
            !matches!(self.state, State::Direct(count) if count >= self.config.count),
            "as many failures as are recovered from, and no recovery"
        );
        debug_assert!(
            self.state != State::Reflected || self.config.reflection_loss_db.is_some(),
            "a reflected path is used that there is not"
        );
    }

    fn recovered(&self) -> State {
        match self.config.reflection_loss_db {
            Some(_) => State::Reflected,
            None => State::Direct(0),
        }
    }

    fn on_measurement(&mut self, at: Time, loss_db: f64) {
        if let State::Recovering(until) = self.state {
            if at < until {
                return;
            }
            self.state = self.recovered();
        }
        match self.state {
            State::Direct(_) if loss_db <= self.config.threshold_db => {
                self.state = State::Direct(0);
            }
            State::Direct(count) if count + 1 >= self.config.count => {
                self.state = State::Recovering(at + self.config.recovery_delay);
            }
            State::Direct(count) => self.state = State::Direct(count + 1),
            State::Reflected => {
                // Tracking finds that the direct path is again better than the reflected path.
                if self
                    .config
                    .reflection_loss_db
                    .is_none_or(|reflected| loss_db < reflected)
                {
                    self.state = State::Direct(0);
                }
            }
            State::Recovering(_) => {}
        }
    }

    /// Returns true during beam recovery, when the link receives nothing.
    pub(crate) fn is_recovering(&self) -> bool {
        matches!(self.state, State::Recovering(_))
    }

    /// Returns the loss of the reflected path. `None` if the reflected path is not in use.
    pub(crate) fn reflection_db(&self) -> Option<f64> {
        match self.state {
            State::Reflected => self.config.reflection_loss_db,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_beam_is_in_use_from_its_switch_to_the_next() {
        let management = BeamManagement::default();
        assert_eq!(management.measured_at(time_at_ms(24)), time_at_ms(0));
        assert_eq!(management.measured_at(time_at_ms(25)), time_at_ms(20));
        assert_eq!(management.measured_at(time_at_ms(44)), time_at_ms(20));
    }

    #[test]
    fn a_lasting_blockage_is_detected_and_recovered_by_a_reflection() {
        let management = BeamManagement {
            failure: Some(BeamFailure {
                reflection_loss_db: Some(15.0),
                ..BeamFailure::default()
            }),
            ..BeamManagement::default()
        };
        let mut monitor = FailureMonitor::new(&management).unwrap();
        // The path is blocked from 105 ms to 500 ms. The measurements at 120, 140 and 160 ms fail,
        // which makes a beam failure.
        let loss = |time: Time| {
            if (time_at_ms(105)..time_at_ms(500)).contains(&time) {
                30.0
            } else {
                0.0
            }
        };
        let mut seen = Vec::new();
        for ms in 0..600 {
            monitor.advance(time_at_ms(ms), loss);
            seen.push((monitor.is_recovering(), monitor.reflection_db()));
        }
        assert_eq!(seen[159], (false, None));
        assert_eq!(seen[160], (true, None));
        assert_eq!(seen[179], (true, None));
        assert_eq!(seen[180], (false, Some(15.0)));
        assert_eq!(seen[499], (false, Some(15.0)));
        assert_eq!(seen[500], (false, None));
    }

    #[test]
    fn the_state_does_not_depend_on_how_often_it_is_asked() {
        let management = BeamManagement::default();
        let loss = |time: Time| {
            if time.as_millis() % 300 < 130 {
                25.0
            } else {
                0.0
            }
        };
        let mut often = FailureMonitor::new(&management).unwrap();
        let mut seldom = FailureMonitor::new(&management).unwrap();
        for ms in 0..20_000 {
            often.advance(time_at_ms(ms), loss);
            if ms % 77 == 0 {
                seldom.advance(time_at_ms(ms), loss);
                assert_eq!(often.state, seldom.state, "{ms} ms");
            }
        }
    }
}
