//! Schedules: time intervals that repeat, are listed, or are random.
//!
//! The same schedules serve the off times of an on/off link and the blockages of a fading link.

use crate::LinkError;
use fadeout_core::random::Stream;
use fadeout_core::{Span, Time};
use std::sync::Arc;

/// Smallest interval and gap. Finer schedules are no outages, and processing them would take longer
/// than the run.
pub const SHORTEST: Span = Span::from_micros(10);

/// Largest number of intervals that [`intervals`] lists.
pub const MOST: usize = 1_000_000;

/// Sequence of disjoint intervals.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// One interval in every period.
    Periodic {
        /// Time from the start of one interval to the start of the next.
        period: Span,
        /// Length of each interval, shorter than the period.
        duration: Span,
        /// Start of the first interval.
        phase: Phase,
    },
    /// Listed intervals, `start..end`, in order.
    Scripted(Vec<(Time, Time)>),
    /// Exponentially distributed lengths and gaps. It is a two-state Markov process in continuous
    /// time, stationary from the start, so time zero may fall into an interval.
    Exponential {
        /// Mean time between two intervals.
        mean_gap: Span,
        /// Mean length of an interval.
        mean_length: Span,
    },
}

/// Phase of a periodic schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first interval begins at this time.
    Fixed(Span),
    /// Uniformly random phase over the period. Time zero is a random instant of the cycle, so it
    /// may fall into an interval.
    Random,
}

/// Returns the intervals of `schedule` that begin before `until`, in order and disjoint. The last
/// one may end after `until`.
///
/// # Errors
/// Returns an error if the schedule is invalid, or has more than [`MOST`] intervals.
pub fn intervals(
    schedule: &Schedule,
    until: Time,
    stream: Stream,
) -> Result<Vec<(Time, Time)>, LinkError> {
    let mut found = Vec::new();
    for (start, end) in Intervals::new(schedule, stream)? {
        if start >= until {
            break;
        }
        if found.len() == MOST {
            return Err(LinkError::TooManyIntervals(MOST));
        }
        found.push((start, end));
    }
    Ok(found)
}

/// Intervals of a schedule, drawn one at a time on demand.
#[derive(Debug, Clone)]
pub(crate) struct Intervals {
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Periodic {
        next_start: u64,
        period: u64,
        duration: u64,
        head: Option<(Time, Time)>,
    },
    Scripted {
        list: Arc<[(Time, Time)]>,
        next: usize,
    },
    Exponential {
        at: Time,
        inside: bool,
        mean_gap: f64,
        mean_length: f64,
        stream: Stream,
    },
}

impl Intervals {
    pub(crate) fn new(schedule: &Schedule, mut stream: Stream) -> Result<Self, LinkError> {
        let source = match schedule {
            &Schedule::Periodic {
                period,
                duration,
                phase,
            } => {
                at_least("an interval", duration)?;
                if duration >= period {
                    return Err(LinkError::FillsPeriod { duration, period });
                }
                at_least("the gap between intervals", period - duration)?;
                let (period, duration) = (period.as_nanos(), duration.as_nanos());
                match phase {
                    Phase::Fixed(first) => {
                        let next_start = first.as_nanos();
                        Source::Periodic {
                            next_start,
                            period,
                            duration,
                            head: None,
                        }
                    }
                    Phase::Random => {
                        let next_start = stream.below(period);
                        // The interval before the first may extend beyond time zero.
                        let reaches = (next_start + duration).saturating_sub(period);
                        let head = (reaches > 0).then(|| (Time::ZERO, Time::from_nanos(reaches)));
                        Source::Periodic {
                            next_start,
                            period,
                            duration,
                            head,
                        }
                    }
                }
            }
            Schedule::Scripted(list) => {
                let mut previous_end = Time::ZERO;
                for &(start, end) in list {
                    if start >= end || start < previous_end {
                        return Err(LinkError::Interval { start, end });
                    }
                    previous_end = end;
                }
                Source::Scripted {
                    list: list.as_slice().into(),
                    next: 0,
                }
            }
            &Schedule::Exponential {
                mean_gap,
                mean_length,
            } => {
                at_least("the mean gap", mean_gap)?;
                at_least("the mean interval", mean_length)?;
                let (mean_gap, mean_length) = (mean_gap.as_secs_f64(), mean_length.as_secs_f64());
                let inside = stream.chance(mean_length / (mean_gap + mean_length));
                Source::Exponential {
                    at: Time::ZERO,
                    inside,
                    mean_gap,
                    mean_length,
                    stream,
                }
            }
        };
        Ok(Intervals { source })
    }
}

impl Iterator for Intervals {
    type Item = (Time, Time);

    fn next(&mut self) -> Option<(Time, Time)> {
        match &mut self.source {
            Source::Periodic {
                next_start,
                period,
                duration,
                head,
            } => {
                if let Some(interval) = head.take() {
                    return Some(interval);
                }
                let start = *next_start;
                // The schedule ends at 584 years, because later times do not fit into 64 bits.
                let end = start.checked_add(*duration)?;
                *next_start = start.checked_add(*period)?;
                Some((Time::from_nanos(start), Time::from_nanos(end)))
            }
            Source::Scripted { list, next } => {
                *next += 1;
                list.get(*next - 1).copied()
            }
            Source::Exponential {
                at,
                inside,
                mean_gap,
                mean_length,
                stream,
            } => {
                let mut draw = |mean: f64| {
                    Span::from_secs_f64(stream.exponential(mean)).max(Span::from_nanos(1))
                };
                let start = if *inside {
                    *at
                } else {
                    at.saturating_add(draw(*mean_gap))
                };
                let end = start.saturating_add(draw(*mean_length));
                (*inside, *at) = (false, end);
                (start < end).then_some((start, end))
            }
        }
    }
}

pub(crate) fn at_least(what: &'static str, length: Span) -> Result<(), LinkError> {
    if length < SHORTEST {
        return Err(LinkError::TooShort {
            what,
            length,
            least: SHORTEST,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    fn listed(schedule: &Schedule, until: Time, seed: u64) -> Vec<(Time, Time)> {
        intervals(schedule, until, Stream::new(seed, "schedule", 0)).expect("a valid schedule")
    }

    #[test]
    fn a_fixed_phase_places_the_first_interval() {
        let schedule = Schedule::Periodic {
            period: Span::from_secs(5),
            duration: Span::from_millis(200),
            phase: Phase::Fixed(Span::from_millis(4800)),
        };
        let expected = [(ms(4800), ms(5000)), (ms(9800), ms(10_000))];
        assert_eq!(listed(&schedule, ms(14_800), 1), expected);
    }

    #[test]
    fn a_random_phase_blocks_the_same_share_of_time_on_average() {
        let (period, duration) = (Span::from_millis(100), Span::from_millis(40));
        let schedule = Schedule::Periodic {
            period,
            duration,
            phase: Phase::Random,
        };
        let runs = 4000;
        let covered = (0..runs)
            .filter(|&seed| {
                listed(&schedule, ms(1), seed)
                    .iter()
                    .any(|i| i.0 == Time::ZERO)
            })
            .count();
        // Time zero is blocked with probability 0.4. The limit of 0.039 is five standard errors.
        assert!(
            (covered as f64 / f64::from(runs as u32) - 0.4).abs() < 0.039,
            "{covered}"
        );
    }

    #[test]
    fn exponential_intervals_have_their_means() {
        let schedule = Schedule::Exponential {
            mean_gap: Span::from_millis(300),
            mean_length: Span::from_millis(100),
        };
        let list = listed(&schedule, Time::ZERO + Span::from_secs(4000), 7);
        let count = list.len() as f64;
        let mean = list
            .iter()
            .map(|(s, e)| (*e - *s).as_secs_f64())
            .sum::<f64>()
            / count;
        // The standard error of an exponential mean is mean / sqrt(count), and the limit is five
        // standard errors.
        assert!((mean - 0.1).abs() < 5.0 * 0.1 / count.sqrt(), "{mean}");
        assert!(
            (4000.0 / count - 0.4).abs() < 5.0 * 0.316 / count.sqrt(),
            "{count}"
        );
        assert!(list.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }

    #[test]
    fn impossible_schedules_are_errors() {
        let period = Span::from_millis(10);
        let fills = Schedule::Periodic {
            period,
            duration: period,
            phase: Phase::Random,
        };
        let tiny = Schedule::Exponential {
            mean_gap: period,
            mean_length: Span::from_nanos(1),
        };
        let crossed = Schedule::Scripted(vec![(ms(1), ms(3)), (ms(2), ms(4))]);
        let empty = Schedule::Scripted(vec![(ms(1), ms(1))]);
        for schedule in [fills, tiny, crossed, empty] {
            assert!(Intervals::new(&schedule, Stream::new(1, "schedule", 0)).is_err());
        }
    }

    #[test]
    fn a_schedule_with_too_many_intervals_is_refused() {
        let schedule = Schedule::Periodic {
            period: Span::from_micros(20),
            duration: Span::from_micros(10),
            phase: Phase::Fixed(Span::ZERO),
        };
        let list = intervals(&schedule, Time::NEVER, Stream::new(1, "schedule", 0));
        assert_eq!(list, Err(LinkError::TooManyIntervals(MOST)));
    }
}
