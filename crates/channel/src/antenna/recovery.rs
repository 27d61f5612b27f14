//! Beams of a link whose caller detects beam failure and runs recovery.

use super::management::BeamManagement;
use fadeout_core::Time;

/// State of the beams of a link whose caller runs beam recovery. During a beam failure the beams
/// are frozen. Recovery then finds new beams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CallerBeams {
    /// Loss of the reflected path that recovery may find, dB. `None` if there is no such path.
    reflection_db: Option<f64>,
    /// Time since which reports of better beams have not reached the base station. `None` if
    /// reports arrive.
    held_since: Option<Time>,
    /// Measurement time of the beams that the last recovery found.
    found_at: Time,
    is_reflected: bool,
}

impl CallerBeams {
    pub(crate) fn new(management: &BeamManagement) -> CallerBeams {
        CallerBeams {
            reflection_db: management.failure.and_then(|it| it.reflection_loss_db),
            held_since: None,
            found_at: Time::ZERO,
            is_reflected: false,
        }
    }

    /// Freezes the beams in use from `now` on, because reports of better beams do not arrive. The
    /// call has no effect if the beams are frozen already.
    pub(crate) fn hold(&mut self, now: Time) {
        self.held_since.get_or_insert(now);
    }

    /// Ends the freeze, because reports of beams arrive again.
    pub(crate) fn release(&mut self) {
        self.held_since = None;
    }

    /// Returns the measurement time of the beams in use at `now`.
    pub(crate) fn measured_at(&self, management: &BeamManagement, now: Time) -> Time {
        management
            .measured_at(self.steered_at(now))
            .max(self.found_at)
    }

    /// Returns the time of the UE position at which the beams in use at `now` point.
    pub(crate) fn steered_at(&self, now: Time) -> Time {
        self.held_since.unwrap_or(now).min(now)
    }

    /// Returns true if the beams in use are frozen.
    pub(crate) fn is_held(&self) -> bool {
        self.held_since.is_some()
    }

    /// Returns a state with the beams of the latest measurement before `now`. The caller evaluates
    /// this state as a candidate.
    pub(crate) fn latest(&self, management: &BeamManagement, now: Time) -> CallerBeams {
        let period = management.tracking_period.as_nanos().max(1);
        CallerBeams {
            held_since: None,
            found_at: Time::from_nanos(now.as_nanos() / period * period),
            is_reflected: false,
            ..*self
        }
    }

    /// Returns the state with beams along the reflected path if the loss of that path is below
    /// `blockage_db`. Otherwise returns the state unchanged.
    pub(crate) fn or_reflected(self, blockage_db: f64) -> CallerBeams {
        CallerBeams {
            is_reflected: self.reflection_db.is_some_and(|loss| loss < blockage_db),
            ..self
        }
    }

    /// Returns the loss of the reflected path. `None` if the reflected path is not in use. Tracking
    /// returns to the direct path when `blockage_db`, the loss of the direct path, is lower.
    pub(crate) fn reflection_db(&mut self, blockage_db: f64) -> Option<f64> {
        let loss_db = self.reflection_db.filter(|_| self.is_reflected)?;
        self.is_reflected = self.is_held() || blockage_db >= loss_db;
        self.is_reflected.then_some(loss_db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::antenna::BeamFailure;

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + fadeout_core::Span::from_millis(ms)
    }

    #[test]
    fn beams_stay_while_nobody_hears_of_others_and_are_those_found_until_the_next() {
        let management = BeamManagement::default();
        let mut caller_beams = CallerBeams::new(&management);
        assert_eq!(
            caller_beams.measured_at(&management, time_at_ms(67)),
            time_at_ms(60)
        );
        caller_beams.hold(time_at_ms(67));
        caller_beams.hold(time_at_ms(90));
        assert_eq!(
            caller_beams.measured_at(&management, time_at_ms(300)),
            time_at_ms(60)
        );
        let mut caller_beams = caller_beams.latest(&management, time_at_ms(313));
        assert_eq!(
            caller_beams.measured_at(&management, time_at_ms(313)),
            time_at_ms(300)
        );
        assert_eq!(
            caller_beams.measured_at(&management, time_at_ms(326)),
            time_at_ms(320)
        );
        caller_beams.hold(time_at_ms(401));
        assert_eq!(
            caller_beams.measured_at(&management, time_at_ms(401)),
            time_at_ms(380)
        );
        caller_beams.release();
        assert_eq!(
            caller_beams.measured_at(&management, time_at_ms(406)),
            time_at_ms(400)
        );
    }

    #[test]
    fn the_reflected_path_is_left_when_the_direct_one_is_better_and_the_base_station_hears_of_it() {
        let management = BeamManagement {
            failure: Some(BeamFailure {
                reflection_loss_db: Some(15.0),
                ..BeamFailure::default()
            }),
            ..BeamManagement::default()
        };
        let caller_beams = CallerBeams::new(&management).latest(&management, time_at_ms(100));
        assert_eq!(caller_beams.or_reflected(14.0).reflection_db(14.0), None);
        let mut caller_beams = caller_beams.or_reflected(30.0);
        assert_eq!(caller_beams.reflection_db(30.0), Some(15.0));
        caller_beams.hold(time_at_ms(200));
        assert_eq!(caller_beams.reflection_db(2.0), Some(15.0));
        caller_beams.release();
        assert_eq!(caller_beams.reflection_db(2.0), None);
        assert_eq!(caller_beams.reflection_db(30.0), None);
    }
}
