//! Transmitters, which compute when a packet that arrives now will have left.
//!
//! All transmitters serve packets in the order of arrival. They respond at once, because rate,
//! opportunities and errors do not depend on the traffic.

use crate::BlockageInterval;
use crate::blocks::Blocks;
use crate::rate::{OPPORTUNITY, Piece, Pieces, Process, Trace};
use crate::transmission::{NEVER, Transmission};
use fadeout_core::{Rate, Span, Time};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Transmitter {
    Fluid(Fluid),
    Opportunities(Opportunities),
    Blocks(Box<Blocks>),
}

impl Transmitter {
    /// Queues a packet of `size` bytes that arrives at `now`. Returns its transmission.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, size: u32) -> Transmission {
        match self {
            Transmitter::Fluid(fluid) => fluid.transmit(now, size),
            Transmitter::Opportunities(opportunities) => opportunities.transmit(now, size),
            Transmitter::Blocks(blocks) => blocks.transmit(now, size),
        }
    }

    /// Returns the time at which the first packet of a backlog that exists since `since` can begin.
    /// Later packets of the backlog may use the remainder of that instant.
    pub(crate) fn ready_at(&mut self, since: Time) -> Time {
        match self {
            Transmitter::Fluid(fluid) => fluid.free_at.max(since),
            Transmitter::Opportunities(opportunities) => opportunities.ready_at(since),
            Transmitter::Blocks(blocks) => blocks.ready_at(since),
        }
    }

    /// Returns the time at which everything queued so far has left, followed by `size` bytes that
    /// wait at `now`. The function sends the bytes on a copy of the transmitter. The copy is exact,
    /// because no later packet changes the rate. It shares its lists and does not allocate.
    pub(crate) fn free_after(&self, now: Time, size: u32) -> Time {
        // The waiting bytes arrived while the transmitter was busy, so they may use the remainder
        // of its last nanosecond.
        let nanosecond = Span::from_nanos(1);
        let since = now.min(self.free_at().saturating_sub(nanosecond));
        match self {
            Transmitter::Fluid(fluid) => fluid.clone().transmit(since, size).departs_at,
            Transmitter::Opportunities(opportunities) => {
                opportunities.clone().transmit(since, size).departs_at
            }
            Transmitter::Blocks(blocks) => {
                let mut ahead = Blocks::clone(blocks);
                // At its start a block takes all waiting packets that fit. The waiting bytes are
                // therefore sent in later blocks, and `now` is used in place of `since`.
                ahead.transmit(now, size);
                ahead.free_at()
            }
        }
    }

    /// Aborts the transmission. Blocks in transmission are completed.
    pub(crate) fn abort(&mut self, now: Time) {
        match self {
            Transmitter::Fluid(fluid) => {
                fluid.free_at = fluid.free_at.min(now);
                fluid.spare = 0;
            }
            Transmitter::Opportunities(opportunities) => {
                opportunities.free_at = opportunities.free_at.min(now);
                opportunities.spare = 0;
            }
            Transmitter::Blocks(_) => {}
        }
    }

    /// Delays packets that arrive from now on until `at`.
    pub(crate) fn begin_at(&mut self, at: Time) {
        match self {
            Transmitter::Fluid(fluid) => fluid.free_at = fluid.free_at.max(at),
            Transmitter::Opportunities(opportunities) => {
                if opportunities.free_at <= at {
                    opportunities.free_at = at;
                    opportunities.begin(at);
                }
            }
            Transmitter::Blocks(blocks) => blocks.open_at(at),
        }
    }

    /// Returns the time at which everything queued so far has left.
    pub(crate) fn free_at(&self) -> Time {
        match self {
            Transmitter::Fluid(fluid) => fluid.free_at,
            Transmitter::Opportunities(opportunities) => opportunities.free_at,
            Transmitter::Blocks(blocks) => blocks.free_at(),
        }
    }
}

/// Transmitter with a piecewise constant rate.
///
/// Work is counted in bit-nanoseconds. A packet of n bits is n 10^9 bit-nanoseconds of work. A rate
/// of r bit/s does r bit-nanoseconds of work in a nanosecond. A departure is rounded up to the
/// nanosecond. The unused work of that nanosecond serves the next packet if one waits. So
/// back-to-back packets end on the nanosecond of exact arithmetic.
#[derive(Debug, Clone)]
pub(crate) struct Fluid {
    pieces: Pieces,
    piece: Piece,
    free_at: Time,
    /// Unused work of the last nanosecond before `free_at`, bit-nanoseconds.
    spare: u64,
}

impl Fluid {
    pub(crate) fn new(mut pieces: Pieces) -> Self {
        let piece = pieces.piece_at(Time::ZERO);
        Fluid {
            pieces,
            piece,
            free_at: Time::ZERO,
            spare: 0,
        }
    }

    /// Returns the rate if it never changes. `None` if it may change.
    pub(crate) fn constant_rate(&self) -> Option<Rate> {
        self.pieces.constant_rate()
    }

    /// Drops all planned transmissions, and sends at a new constant rate from `now` on.
    pub(crate) fn restart(&mut self, now: Time, rate: Rate) {
        *self = Fluid::new(Pieces::new(Process::Constant(rate), Vec::new()));
        self.free_at = now;
    }

    /// Sends the rest of a packet of `size` bytes that would have taken `left` at the rate
    /// `before`. Returns the end of the transmission.
    pub(crate) fn finish_rest(&mut self, left: Span, before: Rate, size: u32) -> Time {
        let rest = left.as_nanos().saturating_mul(before.as_bits_per_sec());
        self.finish(rest.min(work_of(size)))
    }

    /// Sends a packet of `size` bytes that waits at `now`. Returns the end of the transmission.
    pub(crate) fn append(&mut self, now: Time, size: u32) -> Time {
        self.transmit(now, size).departs_at
    }

    /// Returns the rate over time.
    pub(crate) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Sends a packet of `size` bytes that waits at `now`. Returns its transmission.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, size: u32) -> Transmission {
        if self.free_at <= now {
            self.free_at = now;
            self.spare = 0;
        } else if self.free_at.is_never() {
            return NEVER;
        }
        debug_assert!(
            self.free_at >= now,
            "a transmission begins before the packet came"
        );
        let first = self.free_at;
        let departs_at = self.finish(work_of(size));
        Fluid::transmission(first, departs_at)
    }

    /// Computes a transmission as [`transmit`](Self::transmit) does, at the rate of `now`
    /// throughout.
    pub(crate) fn transmit_as_arrived(&mut self, now: Time, size: u32) -> Transmission {
        if self.piece.until <= now {
            let rate = self.piece.rate;
            self.piece = self.pieces.piece_at(now);
            if self.piece.rate != rate {
                self.spare = 0;
            }
        }
        let later = std::mem::replace(&mut self.piece.until, Time::NEVER);
        let transmission = self.transmit(now, size);
        self.piece.until = later;
        transmission
    }

    /// Moves the end of the transmission. It becomes earlier if the delay grows from `before` to
    /// `delay`, and later if it shrinks.
    pub(crate) fn shift(&mut self, before: Span, delay: Span) {
        self.free_at = self.free_at.saturating_add(before).saturating_sub(delay);
        self.spare = 0;
    }

    #[inline]
    fn transmission(first: Time, departs_at: Time) -> Transmission {
        let last = departs_at.saturating_sub(Span::from_nanos(1)).max(first);
        Transmission {
            first,
            last,
            departs_at,
        }
    }

    #[inline(always)]
    fn finish(&mut self, mut work: u64) -> Time {
        if work <= self.spare {
            self.spare -= work;
            return self.free_at;
        }
        work -= self.spare;
        self.spare = 0;
        loop {
            if self.piece.until <= self.free_at {
                self.piece = self.pieces.piece_at(self.free_at);
            }
            let Piece { until, rate } = self.piece;
            debug_assert!(until > self.free_at, "a piece of the rate is over");
            if rate.is_unlimited() {
                return self.free_at;
            }
            let room = until - self.free_at;
            let rate = rate.as_bits_per_sec();
            if rate > 0 {
                let nanos = work.div_ceil(rate);
                if nanos <= room.as_nanos() {
                    self.free_at += Span::from_nanos(nanos);
                    debug_assert!(
                        self.free_at <= until,
                        "a piece ends before the departure in it"
                    );
                    self.spare = match work % rate {
                        0 => 0,
                        sent_last => rate - sent_last,
                    };
                    return self.free_at;
                }
                // The result is less than the work, because the work is not finished. So nothing
                // overflows.
                work -= room.as_nanos() * rate;
            }
            self.free_at = until;
            if until.is_never() {
                return until;
            }
        }
    }
}

/// Returns the work of a packet of `size` bytes in bit-nanoseconds.
#[inline]
fn work_of(size: u32) -> u64 {
    u64::from(size).saturating_mul(8_000_000_000)
}

/// Transmitter that sends at the opportunities of a trace and counts bytes. Small packets share an
/// opportunity, and the remainder of a large packet is sent at the next one. An opportunity serves
/// packets that arrived before it. Its unused bytes are lost.
#[derive(Debug, Clone)]
pub(crate) struct Opportunities {
    trace: Trace,
    next: crate::rate::Opportunity,
    free_at: Time,
    /// Unused bytes of the opportunity at `free_at`.
    spare: u32,
    /// Blockages, whose opportunities are lost.
    blockages: Arc<[BlockageInterval]>,
    next_blockage: usize,
}

impl Opportunities {
    /// Returns the transmitter. `blockages` must be total, disjoint and in order.
    pub(crate) fn new(trace: Trace, blockages: Vec<BlockageInterval>) -> Self {
        let next = trace.after(Time::ZERO);
        Opportunities {
            trace,
            next,
            free_at: Time::ZERO,
            spare: 0,
            blockages: blockages.into(),
            next_blockage: 0,
        }
    }

    /// Returns the capacity after `from` up to `to`, as a rate. Opportunities within a blockage
    /// count, because traces have total blockages only, which are reported separately.
    pub(crate) fn rate_between(&self, from: Time, to: Time) -> Rate {
        let mut opportunity = self.trace.after(from);
        let mut count: u64 = 0;
        loop {
            let at = self.trace.time_of(opportunity);
            if at > to || at.is_never() {
                break;
            }
            count += 1;
            opportunity = self.trace.next(opportunity);
        }
        let bits = count as f64 * f64::from(OPPORTUNITY) * 8.0;
        Rate::from_bits_per_sec((bits / to.since(from).as_secs_f64()) as u64)
    }

    /// Skips opportunities that have passed when a packet arrives at `now`. Their bytes are lost.
    fn begin(&mut self, now: Time) {
        if self.free_at <= now {
            self.spare = 0;
            if self.trace.time_of(self.next) <= now {
                self.next = self.trace.after(now);
            }
        }
    }

    fn ready_at(&mut self, since: Time) -> Time {
        self.begin(since);
        if self.spare > 0 || self.free_at.is_never() {
            return self.free_at;
        }
        self.next_usable().unwrap_or(Time::NEVER)
    }

    fn transmit(&mut self, now: Time, size: u32) -> Transmission {
        self.begin(now);
        if self.free_at.is_never() {
            return NEVER;
        }
        let mut first = (self.spare > 0).then_some(self.free_at);
        let mut left = size;
        loop {
            let sent = left.min(self.spare);
            left -= sent;
            self.spare -= sent;
            if left == 0 {
                let departs_at = self.free_at;
                let first = first.unwrap_or(departs_at);
                return Transmission {
                    first,
                    last: departs_at,
                    departs_at,
                };
            }
            let Some(at) = self.next_usable() else {
                self.free_at = Time::NEVER;
                return NEVER;
            };
            self.free_at = at;
            self.spare = OPPORTUNITY;
            self.next = self.trace.next(self.next);
            first = first.or(Some(at));
        }
    }

    /// Moves `next` past blockages and returns its time. `None` if there is no further opportunity.
    fn next_usable(&mut self) -> Option<Time> {
        loop {
            let at = self.trace.time_of(self.next);
            if at.is_never() {
                return None;
            }
            while self
                .blockages
                .get(self.next_blockage)
                .is_some_and(|blocked| blocked.end <= at)
            {
                self.next_blockage += 1;
            }
            match self.blockages.get(self.next_blockage) {
                Some(blocked) if blocked.start <= at => {
                    if blocked.end.is_never() {
                        return None;
                    }
                    // The end is later than `at`, so one nanosecond before it cannot underflow.
                    let just_before = blocked.end - Span::from_nanos(1);
                    self.next = self.trace.after(just_before);
                }
                _ => return Some(at),
            }
        }
    }
}
