//! Blockages at regular times, at listed times, and at random times.

use super::{BlockageModel, Process, View};
use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Parameter, Registered, Settings, choice, number, span};
use fadeout_core::{Span, Time};
use std::sync::Arc;

/// Phase of regular blockages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first blockage starts at this time.
    At(Time),
    /// The middle of the first blockage is drawn uniformly from the first period, separately for
    /// each link. A run of whole periods then always has the same number of blockages.
    Drawn,
}

fadeout_core::choices! {
    /// Choice of the phase of regular blockages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum PhaseKind {
        /// The scenario gives the start of the first blockage.
        Fixed = "fixed",
        /// The middle of the first blockage is drawn.
        Random = "random",
    }
}

fadeout_core::parameters! {
    /// [`Phase`] as two parameters of a scenario.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct PhaseParameters {
        /// Phase of the blockages. `fixed`: the first blockage starts at `first`. `random`: the
        /// middle of each link's first blockage is drawn uniformly from the first period.
        phase: PhaseKind = choice(PhaseKind::NAMES, "fixed"),
        /// Start of the first blockage. Used only with the phase `fixed`.
        first: Span = span("5 s"),
    }
}

/// Implements a parameter group of [`parameters!`](fadeout_core::parameters!).
impl Phase {
    pub(super) const PARAMETERS: &'static [Parameter] = PhaseParameters::PARAMETERS;

    pub(super) const fn with_defaults(
        defaults: &[(&str, &'static str)],
    ) -> [Parameter; PhaseParameters::PARAMETERS.len()] {
        PhaseParameters::with_defaults(defaults)
    }

    pub(super) fn read(settings: &Settings<'_>) -> Phase {
        let PhaseParameters { phase, first } = PhaseParameters::read(settings);
        match phase {
            PhaseKind::Fixed => Phase::At(Time::ZERO + first),
            PhaseKind::Random => Phase::Drawn,
        }
    }
}

fadeout_core::parameters! {
    /// Blockages at regular times. The default has the loss of a human at 73 GHz.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Periodic {
        /// Phase of the blockages.
        pub phase: Phase = group(),
        /// Time between the starts of two blockages.
        pub period: Span = span("5 s"),
        /// Duration of each blockage.
        pub duration: Span = span("500 ms"),
        /// Loss of the path during a blockage.
        pub loss_db as "loss": f64 = number((0.0, 300.0, "dB"), "15"),
    }
}

impl Registered for Periodic {
    const ENTRY: Entry = Entry::new(
        "periodic",
        "scripted",
        "Blockages of a given loss at regular times.",
        "none",
    )
    .with_parameters(Periodic::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Periodic::read(settings)
    }
}

/// Checks the period and the duration of blockages.
///
/// # Errors
/// Returns an error if `duration` exceeds the period, or if the period is zero.
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

/// Returns the middle instant of the first blockage.
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

impl BlockageModel for Periodic {
    type Process = PeriodicProcess;

    fn check(&self) -> Result<(), ConfigError> {
        check_cycle(self.period, self.duration)?;
        ConfigError::within("blockage loss", self.loss_db, 0.0..=300.0, "dB")
    }

    fn start(&self, mut stream: Stream) -> Self::Process {
        PeriodicProcess {
            model: *self,
            middle_at: first_middle(self.phase, self.period, self.duration, &mut stream),
        }
    }
}

/// Process of regular blockages.
#[derive(Debug)]
pub(crate) struct PeriodicProcess {
    model: Periodic,
    middle_at: Time,
}

impl PeriodicProcess {
    pub(crate) fn loss_db(&self, now: Time) -> f64 {
        let duration = self.model.duration.as_nanos();
        // Time since the start of the first blockage. The sum is computed first, because the start
        // may be before time zero.
        let since = (now.as_nanos() + duration / 2).checked_sub(self.middle_at.as_nanos());
        if since.is_some_and(|since| since % self.model.period.as_nanos() < duration) {
            self.model.loss_db
        } else {
            0.0
        }
    }
}

/// Blockage at a listed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Start of the blockage.
    pub from: Time,
    /// End of the blockage.
    pub until: Time,
    /// Loss during the blockage, dB.
    pub loss_db: f64,
}

/// Blockages at listed times, in order and without overlap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scripted {
    /// List of the blockages.
    pub intervals: Arc<[Interval]>,
}

impl BlockageModel for Scripted {
    type Process = ScriptedProcess;

    fn check(&self) -> Result<(), ConfigError> {
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

    fn start(&self, _: Stream) -> Self::Process {
        ScriptedProcess {
            intervals: Arc::clone(&self.intervals),
            next: 0,
        }
    }
}

/// Listed blockages, and the index of the next one.
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

fadeout_core::parameters! {
    /// Alternating blocked and clear times, which are exponentially distributed. The defaults are
    /// in the middle of values measured for pedestrians at millimetre waves (0.2 to 0.5 s, 20 to 30
    /// dB).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct TwoState {
        /// Mean duration of a blockage. The durations are exponentially distributed.
        pub mean_blocked: Span = span("300 ms"),
        /// Mean time between two blockages. The times are exponentially distributed.
        pub mean_clear: Span = span("5 s"),
        /// Loss of the path during a blockage.
        pub loss_db as "loss": f64 = number((0.0, 300.0, "dB"), "25"),
    }
}

impl Registered for TwoState {
    const ENTRY: Entry = Entry::new(
        "two-state",
        "random",
        "Blocked and clear times in turn. Their lengths are exponentially distributed.",
        "continuous-time Markov chain",
    )
    .with_parameters(TwoState::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        TwoState::read(settings)
    }
}

impl TwoState {
    /// Returns the share of time in which the path is blocked.
    pub fn blocked_share(&self) -> f64 {
        let (blocked, clear) = (
            self.mean_blocked.as_secs_f64(),
            self.mean_clear.as_secs_f64(),
        );
        blocked / (blocked + clear)
    }
}

impl BlockageModel for TwoState {
    type Process = TwoStateProcess;

    fn check(&self) -> Result<(), ConfigError> {
        for (name, span) in [
            ("mean time blocked", self.mean_blocked),
            ("mean time clear", self.mean_clear),
        ] {
            ConfigError::within(name, span.as_secs_f64(), 1e-4..=1e6, "s")?;
        }
        ConfigError::within("blockage loss", self.loss_db, 0.0..=300.0, "dB")
    }

    fn start(&self, mut stream: Stream) -> Self::Process {
        // Exponential times have no memory. So the first interval, which may have begun before the
        // run, is drawn like any other.
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

/// Current state, and the time at which it ends.
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
        // A duration that rounds to zero nanoseconds would repeat this loop for ever, so it becomes
        // 1 ns.
        let until = self.until.saturating_add(stay.max(Span::from_nanos(1)));
        debug_assert!(
            until > self.until || until.is_never(),
            "a state lasts no time"
        );
        until
    }

    pub(crate) fn loss_db(&mut self, now: Time) -> f64 {
        while self.until <= now && !self.until.is_never() {
            self.is_blocked = !self.is_blocked;
            self.until = self.end_of_state();
        }
        debug_assert!(self.until > now, "a state is left in the past");
        if self.is_blocked {
            self.model.loss_db
        } else {
            0.0
        }
    }
}

impl Process for PeriodicProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view.now)
    }
}

impl Process for ScriptedProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view.now)
    }
}

impl Process for TwoStateProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        self.loss_db(view.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_periodic_blockage_starts_and_ends_on_time() {
        let periodic = Periodic::default().start(Stream::new(1, "test.periodic", 0));
        let loss_at_ms = |ms| periodic.loss_db(Time::ZERO + Span::from_millis(ms));
        assert_eq!(
            (loss_at_ms(4_999), loss_at_ms(5_000), loss_at_ms(5_499)),
            (0.0, 15.0, 15.0)
        );
        assert_eq!(
            (loss_at_ms(5_500), loss_at_ms(9_999), loss_at_ms(10_000)),
            (0.0, 0.0, 15.0)
        );
    }

    #[test]
    fn a_drawn_phase_is_uniform_and_blocks_for_the_same_share_of_time() {
        let model = Periodic {
            phase: Phase::Drawn,
            ..Periodic::default()
        };
        // The path is blocked for a tenth of the time. No blockage has its middle before time zero.
        // So the probability of a blockage at time zero is half of that. Four standard errors of
        // 4,000 draws are 1.9 % and 1.4 %.
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
        let mut process = scripted.start(Stream::new(1, "test.scripted", 0));
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
        // There are 19,000 cycles, so one standard error of the blocked share is 0.0006.
        for step in [Span::from_millis(50), Span::from_millis(730)] {
            assert!((share(step) - model.blocked_share()).abs() < 0.003);
        }
    }
}
