//! Blockages at regular, listed and random times.

use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time};
use std::sync::Arc;

/// Where regular blockages begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first starts at this time.
    At(Time),
    /// The middle of the first is drawn uniformly from the first period, for each link, so that a
    /// run of whole periods has as many blockages.
    Drawn,
}

/// Blockages at regular times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic {
    /// Where they begin.
    pub phase: Phase,
    /// From one start to the next.
    pub period: Span,
    /// How long each lasts, at most the period.
    pub duration: Span,
    /// Loss while blocked, dB.
    pub loss_db: f64,
}

impl Default for Periodic {
    /// Half a second in every five, with the loss of a human at 73 GHz.
    fn default() -> Periodic {
        Periodic {
            phase: Phase::At(Time::from_nanos(5_000_000_000)),
            period: Span::from_secs(5),
            duration: Span::from_millis(500),
            loss_db: 15.0,
        }
    }
}

impl Periodic {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_cycle(self.period, self.duration)?;
        ConfigError::within("blockage loss", self.loss_db, 0.0..=300.0, "dB")
    }

    pub(crate) fn start(&self, mut stream: Stream) -> PeriodicProcess {
        PeriodicProcess {
            model: *self,
            middle_at: first_middle(self.phase, self.period, self.duration, &mut stream),
        }
    }
}

/// # Errors
/// When blockages of `duration` do not fit a period.
pub(super) fn check_cycle(period: Span, duration: Span) -> Result<(), ConfigError> {
    if period.is_zero() || duration > period {
        return Err(ConfigError::new(
            "blockage period",
            period.as_secs_f64(),
            "a period above zero and not shorter than the duration, in seconds",
        ));
    }
    Ok(())
}

/// The middle of the first blockage.
pub(super) fn first_middle(
    phase: Phase,
    period: Span,
    duration: Span,
    stream: &mut Stream,
) -> Time {
    match phase {
        Phase::At(at) => at.saturating_add(duration / 2),
        Phase::Drawn => Time::from_nanos(stream.below(period.as_nanos())),
    }
}

/// Regular blockages from a given instant on.
#[derive(Debug)]
pub(crate) struct PeriodicProcess {
    model: Periodic,
    middle_at: Time,
}

impl PeriodicProcess {
    pub(crate) fn loss_db(&self, now: Time) -> f64 {
        let duration = self.model.duration.as_nanos();
        // Since the start of the first, which may lie before time zero.
        let since = (now.as_nanos() + duration / 2).checked_sub(self.middle_at.as_nanos());
        if since.is_some_and(|since| since % self.model.period.as_nanos() < duration) {
            self.model.loss_db
        } else {
            0.0
        }
    }
}

/// One blockage of a script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Start.
    pub from: Time,
    /// End.
    pub until: Time,
    /// Loss meanwhile, dB.
    pub loss_db: f64,
}

/// Blockages at listed times, in order and without overlap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scripted {
    /// The list.
    pub intervals: Arc<[Interval]>,
}

impl Scripted {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let mut end = Time::ZERO;
        for interval in self.intervals.iter() {
            if interval.from < end || interval.until <= interval.from {
                return Err(ConfigError::new(
                    "scripted blockage",
                    interval.from.as_secs_f64(),
                    "a start in seconds after the blockage before it, and before its own end",
                ));
            }
            end = interval.until;
            ConfigError::within("blockage loss", interval.loss_db, 0.0..=300.0, "dB")?;
        }
        Ok(())
    }

    pub(crate) fn start(&self) -> ScriptedProcess {
        ScriptedProcess {
            intervals: Arc::clone(&self.intervals),
            next: 0,
        }
    }
}

/// A script and how far it has been read.
#[derive(Debug)]
pub(crate) struct ScriptedProcess {
    intervals: Arc<[Interval]>,
    next: usize,
}

impl ScriptedProcess {
    pub(crate) fn loss_db(&mut self, now: Time) -> f64 {
        while self
            .intervals
            .get(self.next)
            .is_some_and(|interval| interval.until <= now)
        {
            self.next += 1;
        }
        self.intervals
            .get(self.next)
            .filter(|interval| interval.from <= now)
            .map_or(0.0, |interval| interval.loss_db)
    }
}

/// Blocked and clear in turn, each for an exponential time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoState {
    /// Mean time blocked.
    pub mean_blocked: Span,
    /// Mean time clear.
    pub mean_clear: Span,
    /// Loss while blocked, dB.
    pub loss_db: f64,
}

impl Default for TwoState {
    /// 0.3 s blocked and 5 s clear with 25 dB: the middle of what is measured for pedestrians at
    /// millimetre waves (0.2 to 0.5 s, 20 to 30 dB).
    fn default() -> TwoState {
        TwoState {
            mean_blocked: Span::from_millis(300),
            mean_clear: Span::from_secs(5),
            loss_db: 25.0,
        }
    }
}

impl TwoState {
    /// Share of time blocked.
    pub fn blocked_share(&self) -> f64 {
        let (blocked, clear) = (
            self.mean_blocked.as_secs_f64(),
            self.mean_clear.as_secs_f64(),
        );
        blocked / (blocked + clear)
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (name, span) in [
            ("mean time blocked", self.mean_blocked),
            ("mean time clear", self.mean_clear),
        ] {
            ConfigError::within(name, span.as_secs_f64(), 1e-4..=1e6, "s")?;
        }
        ConfigError::within("blockage loss", self.loss_db, 0.0..=300.0, "dB")
    }

    pub(crate) fn start(&self, mut stream: Stream) -> TwoStateProcess {
        // Exponential times have no memory: the first interval starts as any other.
        let is_blocked = stream.chance(self.blocked_share());
        let mut process = TwoStateProcess {
            model: *self,
            stream,
            is_blocked,
            until: Time::ZERO,
        };
        process.until = process.end_of_state();
        process
    }
}

/// The state and how long it lasts.
#[derive(Debug)]
pub(crate) struct TwoStateProcess {
    model: TwoState,
    stream: Stream,
    is_blocked: bool,
    until: Time,
}

impl TwoStateProcess {
    fn end_of_state(&mut self) -> Time {
        let mean = if self.is_blocked {
            self.model.mean_blocked
        } else {
            self.model.mean_clear
        };
        let stay = Span::from_secs_f64(self.stream.exponential(mean.as_secs_f64()));
        // A stay of less than half a nanosecond would not let time pass.
        self.until.saturating_add(stay.max(Span::from_nanos(1)))
    }

    pub(crate) fn loss_db(&mut self, now: Time) -> f64 {
        while self.until <= now && !self.until.is_never() {
            self.is_blocked = !self.is_blocked;
            self.until = self.end_of_state();
        }
        if self.is_blocked {
            self.model.loss_db
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_periodic_blockage_starts_and_ends_on_time() {
        let periodic = Periodic::default().start(Stream::new(1, "test.periodic", 0));
        let at = |ms| periodic.loss_db(Time::ZERO + Span::from_millis(ms));
        assert_eq!((at(4_999), at(5_000), at(5_499)), (0.0, 15.0, 15.0));
        assert_eq!((at(5_500), at(9_999), at(10_000)), (0.0, 0.0, 15.0));
    }

    #[test]
    fn a_drawn_phase_is_uniform_and_blocks_for_the_same_share_of_time() {
        let model = Periodic {
            phase: Phase::Drawn,
            ..Periodic::default()
        };
        // A tenth of the time, and at time zero, before which no blockage has its middle, half of
        // that. Four standard errors of 4000 draws are 1.9 and 1.4 %.
        let blocked = |at: Time| {
            let links = (0..4000).map(|n| model.start(Stream::new(1, "test.periodic", n)));
            links.filter(|link| link.loss_db(at) > 0.0).count() as f64 / 4000.0
        };
        assert!((blocked(Time::ZERO) - 0.05).abs() < 0.014);
        for ms in [2_500, 7_500, 60_001] {
            let share = blocked(Time::ZERO + Span::from_millis(ms));
            assert!((share - 0.1).abs() < 0.019, "{share} at {ms} ms");
        }
    }

    #[test]
    fn a_script_is_read_in_order() {
        let second = |s| Time::ZERO + Span::from_secs(s);
        let interval = |from, until, loss_db| Interval {
            from: second(from),
            until: second(until),
            loss_db,
        };
        let scripted = Scripted {
            intervals: Arc::new([
                interval(1, 2, 10.0),
                interval(2, 3, 20.0),
                interval(5, 6, 30.0),
            ]),
        };
        scripted.check().unwrap();
        let mut process = scripted.start();
        let losses: Vec<f64> = (0..8).map(|s| process.loss_db(second(s))).collect();
        assert_eq!(losses, [0.0, 10.0, 20.0, 0.0, 0.0, 30.0, 0.0, 0.0]);
        let overlapping = Scripted {
            intervals: Arc::new([interval(1, 3, 10.0), interval(2, 4, 10.0)]),
        };
        assert!(overlapping.check().is_err());
    }

    #[test]
    fn two_states_share_time_as_their_means_say_whatever_the_query_times() {
        let model = TwoState::default();
        let share = |step: Span| {
            let mut process = model.start(Stream::new(1, "test.two_state", 0));
            let (mut now, mut blocked, mut total) = (Time::ZERO, 0_u32, 0_u32);
            while now < Time::ZERO + Span::from_secs(100_000) {
                blocked += u32::from(process.loss_db(now) > 0.0);
                total += 1;
                now += step;
            }
            f64::from(blocked) / f64::from(total)
        };
        // 19 000 cycles: one standard error of the share is 0.0006.
        for step in [Span::from_millis(50), Span::from_millis(730)] {
            assert!((share(step) - model.blocked_share()).abs() < 0.003);
        }
    }
}
