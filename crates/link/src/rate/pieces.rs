//! Rate process combined with the blockages that slow it.

use super::Process;
use crate::BlockageInterval;
use fadeout_core::{Rate, Time};
use std::sync::Arc;

/// Period of constant rate, up to `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) until: Time,
    pub(crate) rate: Rate,
}

/// Rate over time as periods of constant rate. The rate is the smaller of the process's rate and
/// the largest rate in a blockage. A clone shares the lists and does not allocate, so that a link
/// can compute future departures on it.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    process: Process,
    current: Piece,
    blockages: Arc<[BlockageInterval]>,
    next_blockage: usize,
}

impl Pieces {
    /// Returns the rate of `process`, limited by `blockages`, which must be disjoint and in order.
    pub(crate) fn new(mut process: Process, blockages: Vec<BlockageInterval>) -> Self {
        let current = process.next_piece();
        Pieces {
            process,
            current,
            blockages: blockages.into(),
            next_blockage: 0,
        }
    }

    /// Returns the rate of the same process with other blockages, which must be disjoint and in
    /// order.
    pub(crate) fn under(&self, blockages: &[BlockageInterval]) -> Pieces {
        Pieces {
            blockages: blockages.into(),
            next_blockage: 0,
            ..self.clone()
        }
    }

    /// Returns the rate if it never changes. `None` if it may change.
    pub(crate) fn constant_rate(&self) -> Option<Rate> {
        match self.process {
            Process::Constant(rate) if self.blockages.is_empty() => Some(rate),
            _ => None,
        }
    }

    /// Returns the period of constant rate that contains `at`. `at` must not be before the last
    /// requested time, and not [`Time::NEVER`].
    pub(crate) fn piece_at(&mut self, at: Time) -> Piece {
        while self.current.until <= at {
            self.process.skip_to(at);
            self.current = self.process.next_piece();
        }
        while self
            .blockages
            .get(self.next_blockage)
            .is_some_and(|blockage| blockage.end <= at)
        {
            self.next_blockage += 1;
        }
        let Piece { until, rate } = self.current;
        match self.blockages.get(self.next_blockage) {
            None => self.current,
            Some(ahead) if at < ahead.start => Piece {
                until: until.min(ahead.start),
                rate,
            },
            Some(within) => Piece {
                until: until.min(within.end),
                rate: rate.min(within.rate),
            },
        }
    }
}
