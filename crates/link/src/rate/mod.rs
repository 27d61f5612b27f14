//! Sending rate of a link over time.
//!
//! A rate process is piecewise constant and does not depend on the traffic. A [`Trace`] is
//! different: a list of instants at which a fixed number of bytes may leave.

mod on_off;
mod pieces;
mod trace;

pub(crate) use pieces::{Piece, Pieces};
pub(crate) use trace::Opportunity;
pub use trace::{OPPORTUNITY, Trace};

use crate::steps::Steps;
use crate::streams::Streams;
use crate::{LinkError, Schedule};
use fadeout_core::{Rate, Span, Time};
use on_off::OnOff;

/// Rate of a link over time.
#[derive(Debug, Clone, PartialEq)]
pub enum RateConfig {
    /// A constant rate. [`Rate::UNLIMITED`] for a link that only delays.
    Constant(Rate),
    /// The rate changes at given times.
    Steps {
        /// Changes in order, the first at time zero. The last rate applies for ever.
        steps: Vec<RateStep>,
        /// Time after which the steps repeat. `None` if they do not.
        repeat_every: Option<Span>,
    },
    /// The link switches between two rates.
    OnOff {
        /// Rate outside the intervals of `schedule`.
        on: Rate,
        /// Rate in the intervals of `schedule`, in which the link is off. It is usually zero.
        off: Rate,
        /// Intervals in which the link is off.
        schedule: Schedule,
    },
    /// Delivery opportunities recorded on a real link.
    Trace(Trace),
}

/// Change of rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateStep {
    /// Time of the change, from time zero or from the start of the repetition.
    pub at: Span,
    /// Rate from that time on.
    pub rate: Rate,
}

/// Smallest positive value of a rate that varies or is sent in blocks. With a smaller rate a packet
/// would last over millions of pieces.
pub(crate) const SLOWEST: Rate = Rate::from_bits_per_sec(1_000);

/// Piecewise constant rate, read piece by piece.
#[derive(Debug, Clone)]
pub(crate) enum Process {
    Constant(Rate),
    Steps(Steps<Rate>),
    OnOff(OnOff),
}

impl Process {
    pub(crate) fn constant(rate: Rate) -> Result<Self, LinkError> {
        if rate.is_zero() {
            Err(LinkError::NeverSends)
        } else {
            Ok(Process::Constant(rate))
        }
    }

    pub(crate) fn steps(steps: &[RateStep], repeat: Option<Span>) -> Result<Self, LinkError> {
        check_rates(steps.iter().map(|step| step.rate))?;
        let steps = steps.iter().map(|step| (step.at, step.rate));
        Ok(Process::Steps(Steps::new(steps, repeat)?))
    }

    pub(crate) fn on_off(
        (on, off): (Rate, Rate),
        schedule: &Schedule,
        streams: Streams,
    ) -> Result<Self, LinkError> {
        check_rates([on, off].into_iter())?;
        let stream = streams.stream("link.on-off");
        Ok(Process::OnOff(OnOff::new(on, off, schedule, stream)?))
    }

    /// Returns the next piece. The first piece begins at time zero.
    pub(crate) fn next_piece(&mut self) -> Piece {
        match self {
            Process::Constant(rate) => Piece {
                until: Time::NEVER,
                rate: *rate,
            },
            Process::Steps(steps) => {
                let (until, rate) = steps.next_step();
                Piece { until, rate }
            }
            Process::OnOff(on_off) => on_off.next_piece(),
        }
    }

    /// Skips repetitions that end by `at`.
    pub(crate) fn skip_to(&mut self, at: Time) {
        if let Process::Steps(steps) = self {
            steps.skip_to(at);
        }
    }
}

fn check_rates(mut rates: impl Iterator<Item = Rate> + Clone) -> Result<(), LinkError> {
    if rates.clone().all(Rate::is_zero) {
        return Err(LinkError::NeverSends);
    }
    match rates.find(|rate| !rate.is_zero() && *rate < SLOWEST) {
        Some(rate) => Err(LinkError::RateTooSmall(rate)),
        None => Ok(()),
    }
}
