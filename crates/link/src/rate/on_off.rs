//! A rate that switches between two values.

use super::Piece;
use crate::schedule::Intervals;
use crate::{LinkError, Schedule};
use fadeout_core::random::Stream;
use fadeout_core::{Rate, Time};

/// Rate that is off inside the intervals of a schedule and on outside. Intervals are drawn when
/// time reaches them, so they do not depend on the traffic.
#[derive(Debug, Clone)]
pub(crate) struct OnOff {
    on: Rate,
    off: Rate,
    intervals: Intervals,
    ahead: Option<(Time, Time)>,
    at: Time,
}

impl OnOff {
    pub(crate) fn new(
        on: Rate,
        off: Rate,
        schedule: &Schedule,
        stream: Stream,
    ) -> Result<Self, LinkError> {
        let mut intervals = Intervals::new(schedule, stream)?;
        let ahead = intervals.next();
        Ok(OnOff {
            on,
            off,
            intervals,
            ahead,
            at: Time::ZERO,
        })
    }

    pub(crate) fn next_piece(&mut self) -> Piece {
        match self.ahead {
            None => Piece {
                until: Time::NEVER,
                rate: self.on,
            },
            Some((start, _)) if self.at < start => {
                self.at = start;
                Piece {
                    until: start,
                    rate: self.on,
                }
            }
            Some((start, end)) => {
                debug_assert!(
                    start < end && self.at <= end,
                    "an interval ends at {end}, before {}",
                    self.at
                );
                self.at = end;
                self.ahead = self.intervals.next();
                Piece {
                    until: end,
                    rate: self.off,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;
    use fadeout_core::Span;

    #[test]
    fn pieces_alternate_between_on_and_off() {
        let schedule = Schedule::Periodic {
            period: Span::from_millis(10),
            duration: Span::from_millis(2),
            phase: Phase::Fixed(Span::from_millis(3)),
        };
        let on = Rate::from_bits_per_sec(1_000_000);
        let stream = Stream::new(1, "link.on-off", 0);
        let mut process = OnOff::new(on, Rate::ZERO, &schedule, stream).expect("valid");
        let pieces: Vec<_> = (0..4)
            .map(|_| process.next_piece())
            .map(|piece| (piece.until.as_millis(), piece.rate.is_zero()))
            .collect();
        assert_eq!(pieces, [(3, false), (5, true), (13, false), (15, true)]);
    }
}
