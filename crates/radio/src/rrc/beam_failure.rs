//! Detection of beam failure and recovery from it: the counter, its timer, and the timer of dedicated preambles.
//!
//! Standard: TS 38.321 §5.17; TS 38.213 §6.

use super::random_access::{CellAccess, RandomAccess};
use crate::config::BeamMonitoring;
use fadeout_core::{Span, Time};

/// The beams of a UE's serving cell as it watches them.
#[derive(Debug)]
pub(crate) struct BeamWatch {
    /// The next look at the beams; never in a cell of which none is watched.
    next_at: Time,
    /// BFI_COUNTER.
    instances: u32,
    /// When beamFailureDetectionTimer expires.
    forgotten_at: Time,
    recovery: Option<BeamRecovery>,
}

/// Recovery under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeamRecovery {
    pub access: RandomAccess,
    /// Whether dedicated preambles may be used.
    may_be_dedicated: bool,
    /// When beamFailureRecoveryTimer expires.
    dedicated_until: Time,
}

impl BeamWatch {
    /// Nothing is watched before [`BeamWatch::begin_anew`].
    pub(crate) fn new() -> BeamWatch {
        BeamWatch {
            next_at: Time::NEVER,
            instances: 0,
            forgotten_at: Time::NEVER,
            recovery: None,
        }
    }

    /// The UE is in a cell whose beams it looks at each `period`, or in one where it does not.
    pub(crate) fn begin_anew(&mut self, now: Time, period: Option<Span>) {
        *self = BeamWatch::new();
        if let Some(period) = period {
            self.next_at = next_multiple(now, period);
        }
    }

    /// Whether the UE looks at its beams now; it does so next after `period`.
    pub(crate) fn is_due(&mut self, now: Time, period: Span) -> bool {
        let is_due = self.next_at <= now;
        if is_due {
            self.next_at = next_multiple(now, period);
        }
        is_due
    }

    /// The beams in use fail or not. Whether they have failed with that, and recovery begins.
    pub(crate) fn on_look(
        &mut self,
        (now, period): (Time, Span),
        (config, access): (&BeamMonitoring, CellAccess<'_>),
        is_failing: bool,
    ) -> bool {
        // An instance as the timer expires starts it anew.
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

    /// Recovery under way.
    pub(crate) fn recovery(&mut self) -> Option<&mut BeamRecovery> {
        self.recovery.as_mut()
    }

    /// Whether it is.
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    /// The base station has answered: the beams are others.
    pub(crate) fn on_recovered(&mut self) {
        (self.instances, self.forgotten_at) = (0, Time::NEVER);
        self.recovery = None;
    }

    /// When something is to be done.
    pub(crate) fn wake_at(&self) -> Time {
        let of_recovery = self.recovery.as_ref();
        let of_recovery = of_recovery.map_or(Time::NEVER, |it| {
            it.access.wake_at().min(it.dedicated_until)
        });
        self.next_at.min(of_recovery)
    }
}

impl BeamRecovery {
    /// Whether beamFailureRecoveryTimer expires now: from here on preambles are drawn.
    pub(crate) fn expires(&mut self, now: Time) -> bool {
        let expires = self.dedicated_until <= now;
        if expires {
            (self.may_be_dedicated, self.dedicated_until) = (false, Time::NEVER);
        }
        expires
    }

    /// The next preamble is a dedicated one if there is one for the candidate, which is received with this level.
    pub(crate) fn choose(&mut self, config: &BeamMonitoring, candidate_dbm: f64) {
        let is_good = |least: f64| self.may_be_dedicated && candidate_dbm >= least;
        let is_dedicated = config.dedicated.is_some_and(|it| is_good(it.threshold.0));
        self.access.choose(is_dedicated);
    }
}

/// The first multiple of `period` after `now`.
fn next_multiple(now: Time, period: Span) -> Time {
    let count = now.as_nanos() / period.as_nanos().max(1);
    Time::ZERO.saturating_add(period * (count + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AccessConfig, DedicatedRecovery};
    use crate::rrc::random_access::tests::fdd;
    use crate::rrc::random_access::{Progress, Step};
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

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// The time in ms at which recovery begins, of looks each 20 ms.
    fn begins(config: &BeamMonitoring, looks: &[bool]) -> Option<u64> {
        let mut watch = BeamWatch::new();
        watch.begin_anew(Time::ZERO, Some(PERIOD));
        let (access, frame) = (AccessConfig::default(), fdd());
        let cell = CellAccess {
            config: &access,
            frame: &frame,
        };
        looks.iter().find_map(|&is_failing| {
            let now = watch.wake_at();
            assert!(watch.is_due(now, PERIOD) && !watch.is_due(now, PERIOD));
            let began = watch.on_look((now, PERIOD), (config, cell), is_failing);
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
        // One good look in between is within the timer, two are not.
        assert_eq!(begins(&CONFIG, &[true, true, false, true]), Some(80));
        let looks = [true, true, false, false, true, true, false];
        assert_eq!(begins(&CONFIG, &looks), None);
        let shortest = BeamMonitoring {
            detection_periods: 1,
            ..CONFIG
        };
        assert_eq!(begins(&shortest, &[true, true, false, true]), None);
        assert_eq!(begins(&shortest, &[true, true, true]), Some(60));
    }

    /// Recovery from 60 ms on of a UE whose candidate has this level, until it is answered or fails: its steps and
    /// times in ms.
    fn recover(
        candidate_dbm: f64,
        mut arrives: impl FnMut(u64, Step) -> bool,
    ) -> (Vec<(u64, Step)>, Progress) {
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
            watch.on_look((at(ms), PERIOD), (&CONFIG, cell), true);
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
                    u32::from(now > at(100)),
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
        assert_eq!(steps, [(60, Step::Preamble), (63, Step::Response)]);
        assert_eq!(progress, Progress::Done);
        let (steps, progress) = recover(-110.1, |_, _| true);
        assert_eq!((steps.len(), progress), (4, Progress::Done));
    }

    #[test]
    fn after_the_recovery_timer_preambles_are_drawn() {
        // Dedicated preambles at 60 and 80 ms are lost; the timer expires at 100 ms.
        let (steps, progress) = recover(-90.0, |ms, _| ms >= 100);
        let preambles = steps.iter().filter(|(_, step)| *step == Step::Preamble);
        assert!(preambles.map(|&(ms, _)| ms).eq([60, 80, 100]));
        assert_eq!(steps.last(), Some(&(115, Step::Resolution)));
        assert_eq!(progress, Progress::Done);
    }

    #[test]
    fn so_many_preambles_in_vain_are_a_problem() {
        let (steps, progress) = recover(-90.0, |_, _| false);
        assert_eq!((steps.len(), progress), (10, Progress::Problem));
    }
}
