//! Beam failure detection and recovery: the counter, its timer, and the timer of dedicated
//! preambles.
//!
//! Standard: TS 38.321 §5.17; TS 38.213 §6.

use super::random_access::{CellAccess, RandomAccess};
use crate::config::BeamMonitoring;
use fadeout_core::{Span, Time};

/// State of beam failure detection in a UE's serving cell.
#[derive(Debug)]
pub(crate) struct BeamWatch {
    /// Time of the next evaluation of the beams. [`Time::NEVER`] in a cell without beam failure
    /// detection.
    next_at: Time,
    /// Number of beam failure instances (BFI_COUNTER).
    instances: u32,
    /// Time at which beamFailureDetectionTimer expires.
    forgotten_at: Time,
    recovery: Option<BeamRecovery>,
}

/// State of a beam failure recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeamRecovery {
    pub access: RandomAccess,
    /// True if dedicated preambles may be used.
    may_be_dedicated: bool,
    /// Time at which beamFailureRecoveryTimer expires.
    dedicated_until: Time,
}

impl BeamWatch {
    /// Returns a state without beam failure detection. Detection begins with [`BeamWatch::reset`].
    pub(crate) fn new() -> BeamWatch {
        BeamWatch {
            next_at: Time::NEVER,
            instances: 0,
            forgotten_at: Time::NEVER,
            recovery: None,
        }
    }

    /// Resets the detection for a new serving cell. The UE evaluates its beams each `period`.
    /// `None` if the cell has no beam failure detection.
    pub(crate) fn reset(&mut self, now: Time, period: Option<Span>) {
        *self = BeamWatch::new();
        if let Some(period) = period {
            self.next_at = next_multiple(now, period);
        }
    }

    /// Returns true if the UE evaluates its beams now, and plans the next evaluation after
    /// `period`.
    pub(crate) fn is_due(&mut self, now: Time, period: Span) -> bool {
        let is_due = self.next_at <= now;
        if is_due {
            self.next_at = next_multiple(now, period);
        }
        is_due
    }

    /// Handles an evaluation of the beams in use. Returns true if a beam failure is declared, so
    /// that recovery begins.
    pub(crate) fn on_evaluation(
        &mut self,
        (now, period): (Time, Span),
        (config, access): (&BeamMonitoring, CellAccess<'_>),
        is_failing: bool,
    ) -> bool {
        // A beam failure instance at the expiry of the timer restarts the timer and does not reset
        // the counter.
        if self.forgotten_at < now || !is_failing && self.forgotten_at <= now {
            (self.instances, self.forgotten_at) = (0, Time::NEVER);
        }
        if !is_failing {
            return false;
        }
        self.instances += 1;
        debug_assert!(
            self.recovery.is_some() || self.instances <= config.most_instances,
            "{} failures, and no recovery",
            self.instances
        );
        let lasts = period * u64::from(config.detection_periods);
        self.forgotten_at = now.saturating_add(lasts);
        if self.instances < config.most_instances || self.recovery.is_some() {
            return false;
        }
        let timer = config.dedicated.and_then(|dedicated| dedicated.timer);
        self.recovery = Some(BeamRecovery {
            access: RandomAccess::new(access, now, false),
            may_be_dedicated: config.dedicated.is_some(),
            dedicated_until: timer.map_or(Time::NEVER, |timer| now.saturating_add(timer)),
        });
        true
    }

    /// Returns the recovery under way. `None` if there is none.
    pub(crate) fn recovery(&mut self) -> Option<&mut BeamRecovery> {
        self.recovery.as_mut()
    }

    /// True if a recovery is under way.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    /// Ends the recovery, because the base station has answered. Base station and UE use other
    /// beams from now on.
    pub(crate) fn on_recovered(&mut self) {
        (self.instances, self.forgotten_at) = (0, Time::NEVER);
        self.recovery = None;
    }

    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        let of_recovery = self.recovery.as_ref();
        let of_recovery = of_recovery.map_or(Time::NEVER, |it| {
            it.access.wake_at().min(it.dedicated_until)
        });
        self.next_at.min(of_recovery)
    }
}

impl BeamRecovery {
    /// Returns true once, when beamFailureRecoveryTimer expires. From then on contention preambles
    /// are used.
    pub(crate) fn expires(&mut self, now: Time) -> bool {
        let expires = self.dedicated_until <= now;
        if expires {
            (self.may_be_dedicated, self.dedicated_until) = (false, Time::NEVER);
        }
        expires
    }

    /// Chooses a dedicated preamble for the next transmission, if the candidate beam has one and
    /// its level is sufficient.
    pub(crate) fn choose(&mut self, config: &BeamMonitoring, candidate_dbm: f64) {
        let is_good = |least: f64| self.may_be_dedicated && candidate_dbm >= least;
        let is_dedicated = config.dedicated.is_some_and(|it| is_good(it.threshold.0));
        self.access.choose(is_dedicated);
    }
}

/// Returns the first multiple of `period` after `now`.
fn next_multiple(now: Time, period: Span) -> Time {
    let count = now.as_nanos() / period.as_nanos().max(1);
    Time::ZERO.saturating_add(period * (count + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AccessConfig, DedicatedRecovery};
    use crate::rrc::random_access::tests::fdd;
    use crate::rrc::random_access::{AccessStep, Progress};
    use fadeout_core::Dbm;
    use fadeout_core::random::Stream;

    const PERIOD: Span = Span::from_millis(20);

    const CONFIG: BeamMonitoring = BeamMonitoring {
        most_instances: 3,
        detection_periods: 2,
        dedicated: Some(DedicatedRecovery {
            threshold: Dbm(-110.0),
            timer: Some(Span::from_millis(40)),
        }),
    };

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Returns the time in ms at which recovery begins. `failures` contains the result of one
    /// evaluation every 20 ms.
    fn begins(config: &BeamMonitoring, failures: &[bool]) -> Option<u64> {
        let mut watch = BeamWatch::new();
        watch.reset(Time::ZERO, Some(PERIOD));
        let (access, frame) = (AccessConfig::default(), fdd());
        let cell = CellAccess {
            config: &access,
            frame: &frame,
        };
        failures.iter().find_map(|&is_failing| {
            let now = watch.wake_at();
            assert!(watch.is_due(now, PERIOD) && !watch.is_due(now, PERIOD));
            let began = watch.on_evaluation((now, PERIOD), (config, cell), is_failing);
            began.then(|| now.as_millis())
        })
    }

    #[test]
    fn so_many_instances_begin_recovery_and_no_fewer() {
        assert_eq!(begins(&CONFIG, &[true; 5]), Some(60));
        assert_eq!(begins(&CONFIG, &[true, true]), None);
        let at_once = BeamMonitoring {
            most_instances: 1,
            ..CONFIG
        };
        assert_eq!(begins(&at_once, &[false, true]), Some(40));
    }

    #[test]
    fn the_counter_begins_anew_when_its_timer_expires() {
        // The timer expires after two evaluations without failure, but not after one. Its expiry
        // resets the counter.
        assert_eq!(begins(&CONFIG, &[true, true, false, true]), Some(80));
        let failures = [true, true, false, false, true, true, false];
        assert_eq!(begins(&CONFIG, &failures), None);
        let shortest = BeamMonitoring {
            detection_periods: 1,
            ..CONFIG
        };
        assert_eq!(begins(&shortest, &[true, true, false, true]), None);
        assert_eq!(begins(&shortest, &[true, true, true]), Some(60));
    }

    /// Runs a recovery that begins at 60 ms, until its success or failure. The candidate beam has
    /// the given level. Returns the steps with their times in ms.
    fn recover(
        candidate_dbm: f64,
        mut arrives: impl FnMut(u64, AccessStep) -> bool,
    ) -> (Vec<(u64, AccessStep)>, Progress) {
        let access = AccessConfig {
            backoff: Span::ZERO,
            ..AccessConfig::default()
        };
        let frame = fdd();
        let cell = CellAccess {
            config: &access,
            frame: &frame,
        };
        let mut watch = BeamWatch::new();
        for ms in [20, 40, 60] {
            watch.on_evaluation((at_ms(ms), PERIOD), (&CONFIG, cell), true);
        }
        let (mut steps, mut expired) = (Vec::new(), 0);
        let mut draws = Stream::new(1, "test.beams", 0);
        loop {
            let now = watch.wake_at();
            let recovery = watch.recovery().expect("under way");
            expired += u32::from(recovery.expires(now));
            recovery.choose(&CONFIG, candidate_dbm);
            let progress = recovery.access.on_wake(now, cell, &mut draws, |step| {
                steps.push((now.as_millis(), step));
                arrives(now.as_millis(), step)
            });
            if progress != Progress::Running {
                assert_eq!(
                    expired,
                    u32::from(now > at_ms(100)),
                    "at {} ms",
                    now.as_millis()
                );
                watch.on_recovered();
                assert!(watch.wake_at().is_never() && !watch.is_recovering());
                return (steps, progress);
            }
        }
    }

    #[test]
    fn a_candidate_above_the_threshold_needs_the_response_alone() {
        let (steps, progress) = recover(-110.0, |_, _| true);
        assert_eq!(
            steps,
            [(60, AccessStep::Preamble), (63, AccessStep::Response)]
        );
        assert_eq!(progress, Progress::Done);
        let (steps, progress) = recover(-110.1, |_, _| true);
        assert_eq!((steps.len(), progress), (4, Progress::Done));
    }

    #[test]
    fn after_the_recovery_timer_preambles_are_drawn() {
        // The dedicated preambles at 60 and 80 ms are lost. The recovery timer expires at 100 ms,
        // so the UE uses contention preambles from then on.
        let (steps, progress) = recover(-90.0, |ms, _| ms >= 100);
        let preambles = steps
            .iter()
            .filter(|(_, step)| *step == AccessStep::Preamble);
        assert!(preambles.map(|&(ms, _)| ms).eq([60, 80, 100]));
        assert_eq!(steps.last(), Some(&(115, AccessStep::Resolution)));
        assert_eq!(progress, Progress::Done);
    }

    #[test]
    fn so_many_preambles_in_vain_are_a_problem() {
        let (steps, progress) = recover(-90.0, |_, _| false);
        assert_eq!((steps.len(), progress), (10, Progress::Problem));
    }
}
