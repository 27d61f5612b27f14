//! Tests of beam failure detection and recovery: events and their effects.

use super::*;
use crate::config::{AccessConfig, DedicatedRecovery, MobilityConfig};
use crate::phy::frame::Frame;
use crate::rrc::random_access::tests::fdd;
use fadeout_core::Dbm;
use fadeout_testkit::Cases;

const PERIOD: Span = Span::from_millis(20);

const CONFIG: BeamMonitoring = BeamMonitoring {
    most_instances: 3,
    detection_periods: 2,
    dedicated: Some(DedicatedRecovery {
        threshold: Dbm(-110.0),
        timer: Some(Span::from_millis(40)),
    }),
};

/// Level of a candidate beam that has a dedicated preamble, in dBm.
const GOOD_DBM: f64 = -110.0;

const HELD: Effect = Effect::Ue(UeEffect::HoldBeams(true));
const FREE: Effect = Effect::Ue(UeEffect::HoldBeams(false));

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn row(event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(None, event))
}

/// A UE in a cell, and the effects of its events.
struct Rig {
    watch: BeamWatch,
    config: MobilityConfig,
    frame: Frame,
    draws: Stream,
    now: Time,
}

impl Rig {
    /// Returns a UE that has entered its cell at 0 ms.
    fn new(config: BeamMonitoring) -> Rig {
        let mut watch = BeamWatch::new();
        watch.on_entered(Time::ZERO, Some(PERIOD));
        Rig {
            watch,
            config: MobilityConfig {
                beam_failure: Some(config),
                access: AccessConfig {
                    backoff: Span::ZERO,
                    ..AccessConfig::default()
                },
                ..MobilityConfig::bare()
            },
            frame: fdd(),
            draws: Stream::new(1, "test.beams", 0),
            now: Time::ZERO,
        }
    }

    fn run<R>(
        &mut self,
        action: impl FnOnce(&mut BeamWatch, &Seen<'_>, &mut Stream, &mut Effects) -> R,
    ) -> (R, Vec<Effect>) {
        let seen = Seen {
            access: Some(CellAccess {
                config: &self.config.access,
                frame: &self.frame,
            }),
            ..Seen::connected(&self.config, self.now)
        };
        let mut effects = Effects::new();
        let result = action(&mut self.watch, &seen, &mut self.draws, &mut effects);
        (result, effects.into())
    }

    /// Evaluates the beams when they are due next. Returns the effects.
    fn evaluate(&mut self, is_heard: bool) -> Vec<Effect> {
        self.now = self.watch.next_at;
        let now = self.now;
        assert!(self.watch.is_due(now, PERIOD) && !self.watch.is_due(now, PERIOD));
        let evaluation = BeamEvaluation {
            period: PERIOD,
            is_heard,
        };
        let (_, effects) = self.run(|watch, seen, _, effects| {
            watch.on_evaluation(evaluation, seen, effects);
        });
        effects
    }

    /// Runs the next due steps of a recovery with a candidate beam.
    fn recover(&mut self, rsrp_dbm: f64, is_heard: [bool; 2]) -> (Progress, Vec<Effect>) {
        let of_recovery = self.watch.recovery.as_ref().expect("under way");
        self.now = of_recovery
            .access
            .wake_at()
            .min(of_recovery.dedicated_until);
        let candidate = CandidateBeam { rsrp_dbm, is_heard };
        self.run(
            |watch, seen, draws, effects| match watch.on_due(seen.now, effects) {
                true => watch.on_candidate(candidate, seen, draws, effects),
                false => Progress::Running,
            },
        )
    }

    /// Returns the time in ms at which recovery begins, after evaluations every 20 ms with these
    /// results. `None` if none begins.
    fn begins(config: BeamMonitoring, heard: &[bool]) -> Option<u64> {
        let mut rig = Rig::new(config);
        heard.iter().find_map(|&is_heard| {
            let began = rig.evaluate(is_heard).contains(&row(RrcEvent::BeamFailure));
            began.then(|| rig.now.as_millis())
        })
    }

    /// Returns a UE whose beams failed at 60 ms.
    fn failed() -> Rig {
        let mut rig = Rig::new(CONFIG);
        (0..3).for_each(|_| drop(rig.evaluate(false)));
        rig
    }

    /// Runs a recovery until it ends. Returns the times of the preambles in ms, the times at which
    /// the timer expired, and the result.
    fn recover_fully(
        &mut self,
        rsrp_dbm: f64,
        is_heard: impl Fn(u64) -> bool,
    ) -> (Vec<u64>, Vec<u64>, Progress) {
        let (mut preambles, mut expired) = (Vec::new(), Vec::new());
        loop {
            let of_recovery = self.watch.recovery.as_ref().expect("under way");
            let now = of_recovery
                .access
                .wake_at()
                .min(of_recovery.dedicated_until);
            let (progress, effects) = self.recover(rsrp_dbm, [is_heard(now.as_millis()); 2]);
            for effect in effects {
                match effect {
                    _ if effect == row(RrcEvent::PreambleSent) => preambles.push(now.as_millis()),
                    _ if effect == row(RrcEvent::BeamRecoveryExpired) => {
                        expired.push(now.as_millis());
                    }
                    _ => {}
                }
            }
            if progress != Progress::Running {
                return (preambles, expired, progress);
            }
        }
    }
}

#[test]
fn a_ue_that_hears_its_cell_lets_its_beams_follow() {
    let mut rig = Rig::new(CONFIG);
    assert_eq!(rig.evaluate(true), [FREE]);
    assert_eq!(rig.now, at_ms(20));
}

#[test]
fn failing_beams_are_kept_and_announced_at_the_failure_alone() {
    let mut rig = Rig::new(CONFIG);
    assert_eq!(rig.evaluate(false), [HELD]);
    assert_eq!(rig.evaluate(false), [HELD]);
    let failure = [
        HELD,
        row(RrcEvent::BeamFailure),
        Effect::Report(ReportEffect::Notify(LinkInfo::BlockageBegan)),
    ];
    assert_eq!(rig.evaluate(false), failure);
}

#[test]
fn during_a_recovery_beams_are_kept_even_if_they_are_heard() {
    assert_eq!(Rig::failed().evaluate(true), [HELD]);
}

#[test]
fn a_second_failure_during_a_recovery_is_not_announced() {
    let mut rig = Rig::failed();
    for _ in 0..5 {
        assert_eq!(rig.evaluate(false), [HELD]);
    }
}

#[test]
fn so_many_instances_begin_recovery_and_no_fewer() {
    assert_eq!(Rig::begins(CONFIG, &[false; 5]), Some(60));
    assert_eq!(Rig::begins(CONFIG, &[false, false]), None);
    let at_once = BeamMonitoring {
        most_instances: 1,
        ..CONFIG
    };
    assert_eq!(Rig::begins(at_once, &[true, false]), Some(40));
}

#[test]
fn the_counter_begins_anew_when_its_timer_expires() {
    // The timer expires after two evaluations without failure, but not after one. Its expiry resets
    // the counter.
    assert_eq!(Rig::begins(CONFIG, &[false, false, true, false]), Some(80));
    let heard = [false, false, true, true, false, false, true];
    assert_eq!(Rig::begins(CONFIG, &heard), None);
    let shortest = BeamMonitoring {
        detection_periods: 1,
        ..CONFIG
    };
    assert_eq!(Rig::begins(shortest, &[false, false, true, false]), None);
    assert_eq!(Rig::begins(shortest, &[false, false, false]), Some(60));
}

#[test]
fn leaving_a_cell_frees_the_beams_and_tells_if_a_recovery_ran() {
    let mut rig = Rig::failed();
    let left = |rig: &mut Rig| rig.run(|watch, _, _, effects| watch.on_left(effects));
    assert_eq!(left(&mut rig), (true, vec![FREE]));
    assert!(rig.watch.wake_at().is_never());
    assert_eq!(left(&mut rig), (false, vec![FREE]));
}

#[test]
fn a_cell_without_detection_has_no_events() {
    let mut watch = BeamWatch::new();
    assert!(watch.wake_at().is_never());
    watch.on_entered(at_ms(7), None);
    assert!(watch.wake_at().is_never());
    watch.on_entered(at_ms(47), Some(PERIOD));
    assert_eq!(watch.wake_at(), at_ms(60), "a multiple of the period");
}

#[test]
fn without_a_recovery_no_step_is_due() {
    let mut rig = Rig::new(CONFIG);
    let due = rig.run(|watch, seen, _, effects| watch.on_due(seen.now, effects));
    assert_eq!(due, (false, vec![]));
}

#[test]
fn a_candidate_above_the_threshold_needs_the_response_alone() {
    let mut rig = Rig::failed();
    let sent = rig.recover(GOOD_DBM, [true; 2]);
    assert_eq!(sent, (Progress::Running, vec![row(RrcEvent::PreambleSent)]));
    assert_eq!(rig.now, at_ms(60));
    let recovered = vec![
        FREE,
        row(RrcEvent::BeamRecovered),
        Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)),
    ];
    assert_eq!(
        rig.recover(GOOD_DBM, [true; 2]),
        (Progress::Done, recovered)
    );
    assert_eq!(rig.now, at_ms(63));
    assert_eq!(rig.evaluate(true), [FREE], "the recovery is over");
}

#[test]
fn a_weak_candidate_needs_contention_resolution() {
    let mut rig = Rig::failed();
    let mut steps = 0;
    while rig.recover(GOOD_DBM - 0.1, [true; 2]).0 == Progress::Running {
        steps += 1;
    }
    assert_eq!(steps, 3, "a preamble, its response and message 3 precede");
}

#[test]
fn after_the_recovery_timer_preambles_are_drawn() {
    // The dedicated preambles at 60 and 80 ms are lost. The timer expires at 100 ms, so the UE uses
    // contention preambles from then on.
    let mut rig = Rig::failed();
    let (preambles, expired, progress) = rig.recover_fully(-90.0, |ms| ms >= 100);
    assert_eq!((preambles, expired), (vec![60, 80, 100], vec![100]));
    assert_eq!(progress, Progress::Done);
    assert_eq!(rig.now, at_ms(115), "contention is resolved");
}

#[test]
fn a_preamble_that_does_not_arrive_has_no_response() {
    let mut rig = Rig::failed();
    assert_eq!(rig.recover(-90.0, [true, false]).0, Progress::Running);
    assert_eq!(rig.recover(-90.0, [true, false]).0, Progress::Running);
    assert!(rig.watch.recovery.is_some());
}

#[test]
fn so_many_preambles_in_vain_fail_the_link() {
    let mut rig = Rig::failed();
    let mut all = Vec::new();
    loop {
        let (progress, effects) = rig.recover(-90.0, [false; 2]);
        all.extend(effects);
        if progress == Progress::Problem {
            break;
        }
    }
    let count = |event| all.iter().filter(|&&effect| effect == row(event)).count();
    assert_eq!(count(RrcEvent::PreambleSent), 10, "preambleTransMax");
    assert_eq!(count(RrcEvent::BeamRecoveryExpired), 1);
    let end = [row(RrcEvent::AccessProblem), Effect::Ue(UeEffect::FailLink)];
    assert_eq!(all[all.len() - 2..], end);
}

#[test]
fn every_interruption_that_begins_ends_once() {
    // The results of evaluations and steps are random.
    Cases::new(200).run(|seed| {
        let mut draw = Stream::new(seed, "test.beams.events", 0);
        let (mut rig, mut open) = (Rig::new(CONFIG), 0);
        for _ in 0..200 {
            let of_recovery = rig.watch.recovery.as_ref();
            let step_at = of_recovery.map(|it| it.access.wake_at().min(it.dedicated_until));
            let effects = match step_at.is_some_and(|at| at <= rig.watch.next_at) {
                true => rig.recover(-90.0, [draw.below(3) > 0, draw.below(3) > 0]),
                false => (Progress::Running, rig.evaluate(draw.below(3) == 0)),
            };
            for effect in &effects.1 {
                match effect {
                    Effect::Report(ReportEffect::Notify(LinkInfo::BlockageBegan)) => open += 1,
                    Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)) => open -= 1,
                    _ => {}
                }
            }
            assert_eq!(open, i32::from(rig.watch.recovery.is_some()));
            if effects.0 == Progress::Problem {
                (rig, open) = (Rig::new(CONFIG), 0);
            }
        }
    });
}
