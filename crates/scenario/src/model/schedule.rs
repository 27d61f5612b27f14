//! Schedules of recurring interruptions.

use crate::build::Builder;
use crate::keys::{OUTAGE, POSITIVE_TIME, TIME};
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Optional, Required};
use crate::shape::Shape;
use crate::table::{KeyValue, variants};
use fadeout_core::{Span, Time};
use serde_json::{Value, json};

/// Largest mean number of interruptions of one link in a run.
const MOST_CYCLES: u64 = 500_000;

pub(super) const SCHEDULE: Shape = Shape::Variants(Schedule::VARIANTS);

variants! {
    /// The schedule of a recurring interruption: a blockage, or the off times of a link.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Schedule {
        alone {}
        check = Schedule::bearable;
        /// Periodic intervals. Interval k starts at phase + k × period and lasts for `duration`,
        /// for k = 0, 1, 2, ….
        Periodic as "period" {
            /// Time between the starts of two successive intervals.
            period: Span = OUTAGE, Required;
            /// Length of each interval. It must be less than the period.
            duration: Span = OUTAGE, Required;
            /// Start of the first interval. It must be less than the period. "random" draws it
            /// uniformly. Default: the first interval ends at the end of the first period.
            phase: Phase = Shape::AnyOf(&[TIME, Shape::Word("random")]), Optional;
        }
        /// Listed intervals.
        Scripted as "intervals" {
            /// Start and end of each interval. Intervals are in order and do not overlap.
            intervals: Vec<(Time, Time)> =
                Shape::List(&Shape::Pair(&TIME, &POSITIVE_TIME)), Required;
        }
        /// Alternating clear and blocked intervals with exponentially distributed lengths. The
        /// process is in its steady state from the start of the run.
        Exponential as "mean-clear" {
            /// Mean length of a clear interval.
            mean_clear: Span = OUTAGE, Required;
            /// Mean length of a blocked interval.
            mean_blocked: Span = OUTAGE, Required;
        }
    }
}

/// Start of the first interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Fixed time from the start of the run, less than the period.
    Fixed(Span),
    /// Time drawn uniformly from `[0, period)` with the run's seed.
    Random,
}

impl KeyValue for Phase {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Word(_) => Some(Phase::Random),
            _ => Span::from_item(item, builder).map(Phase::Fixed),
        }
    }
    /// Reads the schedule. If its key is absent, the default is computed from the other keys of the
    /// table.
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if let Some(item) = fields.item(name) {
            return Self::from_item(item, builder);
        }
        let (period, duration) = (fields.span("period")?, fields.span("duration")?);
        Some(Phase::Fixed(period.saturating_sub(duration)))
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match self {
            Phase::Fixed(at) => at.written(shape),
            Phase::Random => Some(json!("random")),
        }
    }
}

impl Schedule {
    fn bearable(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let cycle = match &self {
            Schedule::Periodic {
                period,
                duration,
                phase,
            } => {
                check_period(*period, *duration, *phase, fields, builder)?;
                *period
            }
            Schedule::Exponential {
                mean_clear,
                mean_blocked,
            } => *mean_clear + *mean_blocked,
            Schedule::Scripted { intervals } => {
                check_intervals(intervals, fields, builder)?;
                return Some(self);
            }
        };
        if cycle.saturating_mul(MOST_CYCLES) < builder.duration {
            let message = format!("more than {MOST_CYCLES} interruptions within the duration");
            let expected = "a longer period, or a shorter duration of the run";
            builder.mistake(fields.place, message, expected);
        }
        Some(self)
    }
}

fn check_period(
    period: Span,
    duration: Span,
    phase: Phase,
    fields: &Fields,
    builder: &mut Builder<'_, '_>,
) -> Option<()> {
    if duration >= period {
        let message = format!("{duration} is not less than the period of {period}");
        let expected = format!("a duration below {period}");
        builder.mistake(fields.place_of("duration"), message, &expected);
        return None;
    }
    if matches!(phase, Phase::Fixed(phase) if phase >= period) {
        let message = format!("the phase is not less than the period of {period}");
        let expected = format!("a phase below {period}");
        builder.mistake(fields.place_of("phase"), message, &expected);
        return None;
    }
    Some(())
}

fn check_intervals(
    intervals: &[(Time, Time)],
    fields: &Fields,
    builder: &mut Builder<'_, '_>,
) -> Option<()> {
    let mut before = None;
    for ((start, end), item) in intervals.iter().zip(fields.list("intervals")) {
        let (start_item, end_item) = item.pair()?;
        if end <= start {
            let message = format!("the interval ends at {end}, not after its start at {start}");
            let expected = "[start, end] with start before end";
            builder.mistake(end_item.place, message, expected);
            return None;
        }
        if let Some(before) = before.filter(|before| start <= before) {
            let message = format!("the interval starts before the last one ended, at {before}");
            builder.mistake(start_item.place, message, "intervals in order and disjoint");
            return None;
        }
        before = Some(*end);
    }
    Some(())
}
