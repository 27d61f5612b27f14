//! Beam failure of a UE and its recovery within the cell: the counter of failure instances, its
//! timer, and random access for new beams.
//!
//! ```text
//! evaluation ─► instance ─► … ─► beamFailureInstanceMaxCount: beam failure ─► random access
//! random access ─┬─► response: new beams
//!                └─► no response: radio link failure
//! ```
//!
//! Standard: TS 38.321 §5.1.1, §5.1.2, §5.17; TS 38.213 §6; TS 38.331 §5.3.10.3.

use super::effect::{Effect, Effects, ReportEffect, Seen, UeEffect};
use super::random_access::{AccessStep, CellAccess, Progress, RandomAccess};
use crate::config::BeamMonitoring;
use fadeout_core::random::Stream;
use fadeout_core::{LinkInfo, RrcEvent, Span, Time};

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
struct BeamRecovery {
    access: RandomAccess,
    /// True if dedicated preambles may be used.
    may_be_dedicated: bool,
    /// Time at which beamFailureRecoveryTimer expires.
    dedicated_until: Time,
}

/// Result of an evaluation of the beams in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeamEvaluation {
    /// Time from one evaluation to the next.
    pub period: Span,
    /// True if the UE would receive PDCCH on its beams.
    pub is_heard: bool,
}

/// Best beam of the cell, for the next step of a recovery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CandidateBeam {
    pub rsrp_dbm: f64,
    /// True for each direction in which a block over this beam would arrive.
    pub is_heard: [bool; 2],
}

impl BeamWatch {
    /// Returns a state without beam failure detection. Detection begins with
    /// [`BeamWatch::on_entered`].
    pub(crate) fn new() -> BeamWatch {
        BeamWatch {
            next_at: Time::NEVER,
            instances: 0,
            forgotten_at: Time::NEVER,
            recovery: None,
        }
    }

    /// Begins the detection in a new serving cell. The UE evaluates its beams each `period`. `None`
    /// if the cell has no beam failure detection.
    pub(crate) fn on_entered(&mut self, now: Time, period: Option<Span>) {
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

    /// Ends the detection, because the UE leaves its cell. Returns true if a recovery was under
    /// way. Listeners of the UE's link then already know of the interruption.
    pub(crate) fn on_left(&mut self, effects: &mut Effects) -> bool {
        let was_recovering = self.recovery.is_some();
        *self = BeamWatch::new();
        effects.push_back(Effect::Ue(UeEffect::HoldBeams(false)));
        was_recovering
    }

    /// Handles an evaluation of the beams in use. The beams stay as they are while they fail and
    /// during a recovery.
    pub(crate) fn on_evaluation(
        &mut self,
        evaluation: BeamEvaluation,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        let (Some(config), Some(access)) = (&seen.config.beam_failure, seen.access) else {
            return;
        };
        let BeamEvaluation { period, is_heard } = evaluation;
        let has_failed = self.count_instance((seen.now, period), (config, access), !is_heard);
        effects.push_back(Effect::Ue(UeEffect::HoldBeams(
            !is_heard || self.recovery.is_some(),
        )));
        if has_failed {
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                None,
                RrcEvent::BeamFailure,
            )));
            effects.push_back(Effect::Report(ReportEffect::Notify(
                LinkInfo::BlockageBegan,
            )));
        }
    }

    /// Runs the timer of the recovery. Returns true if a step of random access is due, which needs
    /// a candidate beam.
    pub(crate) fn on_due(&mut self, now: Time, effects: &mut Effects) -> bool {
        let Some(recovery) = &mut self.recovery else {
            return false;
        };
        if recovery.expires(now) {
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                None,
                RrcEvent::BeamRecoveryExpired,
            )));
        }
        recovery.access.wake_at() <= now
    }

    /// Runs the due step of random access over a candidate beam. After [`Progress::Done`] base
    /// station and UE use this beam.
    pub(crate) fn on_candidate(
        &mut self,
        candidate: CandidateBeam,
        seen: &Seen<'_>,
        draws: &mut Stream,
        effects: &mut Effects,
    ) -> Progress {
        let (Some(config), Some(access)) = (&seen.config.beam_failure, seen.access) else {
            return Progress::Running;
        };
        let Some(recovery) = &mut self.recovery else {
            return Progress::Running;
        };
        recovery.choose(config, candidate.rsrp_dbm);
        let [down, up] = candidate.is_heard;
        let progress = recovery
            .access
            .on_wake(seen.now, access, draws, |step| match step {
                AccessStep::Preamble => {
                    effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                        None,
                        RrcEvent::PreambleSent,
                    )));
                    up
                }
                AccessStep::Message3 => up,
                AccessStep::Response | AccessStep::Resolution => down,
            });
        match progress {
            Progress::Running => {}
            Progress::Done => {
                (self.instances, self.forgotten_at) = (0, Time::NEVER);
                self.recovery = None;
                effects.push_back(Effect::Ue(UeEffect::HoldBeams(false)));
                effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                    None,
                    RrcEvent::BeamRecovered,
                )));
                effects.push_back(Effect::Report(ReportEffect::Notify(
                    LinkInfo::BlockageEnded,
                )));
            }
            Progress::Problem => {
                effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                    None,
                    RrcEvent::AccessProblem,
                )));
                effects.push_back(Effect::Ue(UeEffect::FailLink));
            }
        }
        progress
    }

    /// Counts a beam failure instance. Returns true if a beam failure is declared, so that recovery
    /// begins.
    fn count_instance(
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
    fn expires(&mut self, now: Time) -> bool {
        let expires = self.dedicated_until <= now;
        if expires {
            (self.may_be_dedicated, self.dedicated_until) = (false, Time::NEVER);
        }
        expires
    }

    /// Chooses a dedicated preamble for the next transmission, if the candidate beam has one and
    /// its level is sufficient.
    fn choose(&mut self, config: &BeamMonitoring, candidate_dbm: f64) {
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
mod tests;
