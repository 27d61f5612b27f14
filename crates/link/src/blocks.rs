//! Transmitter that sends transport blocks and retransmits broken ones.
//!
//! Time is divided into transmission time intervals (TTIs). The bytes that wait at the start of an
//! interval are sent in the block of this interval, and arrive at its end. A block may hold several
//! packets, and the remainder of a packet goes into the next block. Intervals belong to the HARQ
//! processes in turn. A broken block is sent again in the next interval of its process. A block
//! that HARQ could not deliver is retransmitted by RLC later. The receiver delivers data in order
//! (MAC-hs and RLC), so data after a broken block waits.
//!
//! All times are known when a packet arrives, because they do not depend on later traffic. A block
//! needs no event.
//!
//! Standard: TS 25.302 §7.1; TS 25.321 §11.6.2; TS 25.322 §9.7.3.

use crate::LinkError;
use crate::rate::{Piece, Pieces};
use crate::streams::Streams;
use crate::transmission::{NEVER, Transmission};
use fadeout_core::random::Stream;
use fadeout_core::registry::in_range;
use fadeout_core::{Span, Time};

/// Largest number of HARQ processes.
const MOST_PROCESSES: usize = 16;
/// Largest probability that a transmission fails. Above it a block would take thousands of
/// transmissions.
const MOST_ERRORS: f64 = 0.9;
/// Smallest and largest length of an interval.
const INTERVALS: (Span, Span) = (Span::from_micros(100), Span::from_secs(1));

/// Parameters of transmission in blocks, with HARQ and RLC retransmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockConfig {
    /// Transmission time interval: the length of a block. A block carries the bits that the link's
    /// rate gives in an interval.
    pub interval: Span,
    /// Number of HARQ processes. A retransmission follows after this number of intervals.
    pub processes: u32,
    /// Probability that a transmission arrives broken, equal for all transmissions. At most 0.9.
    pub error: f64,
    /// Largest number of HARQ transmissions of a block, including the first. 1 without HARQ.
    pub transmissions: u32,
    /// Probability that a block is lost unnoticed by HARQ, for example because feedback was
    /// misread. At most 0.9.
    pub residual_error: f64,
    /// Time from a block that HARQ could not deliver to its retransmission by RLC.
    pub repeat_after: Span,
}

impl Default for BlockConfig {
    /// Returns HSDPA's interval and number of processes, without errors.
    fn default() -> Self {
        BlockConfig {
            interval: Span::from_millis(2),
            processes: 6,
            error: 0.0,
            transmissions: 4,
            residual_error: 0.0,
            repeat_after: Span::from_millis(100),
        }
    }
}

impl BlockConfig {
    fn check(&self) -> Result<(), LinkError> {
        let (shortest, longest) = INTERVALS;
        in_range("the interval", self.interval, shortest..=longest)?;
        let most = MOST_PROCESSES as u32;
        in_range("the number of HARQ processes", self.processes, 1..=most)?;
        in_range("the number of transmissions", self.transmissions, 1..=64)?;
        in_range("the block error rate", self.error, 0.0..=MOST_ERRORS)?;
        in_range(
            "the residual error rate",
            self.residual_error,
            0.0..=MOST_ERRORS,
        )?;
        Ok(())
    }
}

/// Transmitter of blocks. Work is counted in bit-nanoseconds, as in
/// [`Fluid`](crate::transmitter::Fluid). So fractions of a bit add up to the exact rate.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    config: BlockConfig,
    pieces: Pieces,
    harq: Stream,
    rlc: Stream,
    /// Interval of the newest block. The first interval has the number 0.
    newest: Option<u64>,
    /// Unused capacity of the newest block, bit-nanoseconds.
    spare: u64,
    /// Last interval for which the rate was read, and the capacity of this interval in
    /// bit-nanoseconds. The rate must be read only once and in order.
    ahead: (u64, u64),
    /// First free interval of each process.
    free_from: [u64; MOST_PROCESSES],
    /// Time at which all data sent so far is delivered in order.
    received_at: Time,
    /// End of the newest block's first transmission.
    free_at: Time,
    /// Earliest start of a block.
    opens_at: Time,
}

impl Blocks {
    pub(crate) fn new(
        config: BlockConfig,
        pieces: Pieces,
        streams: Streams,
    ) -> Result<Self, LinkError> {
        config.check()?;
        Ok(Blocks {
            config,
            pieces,
            harq: streams.stream("link.harq"),
            rlc: streams.stream("link.rlc"),
            newest: None,
            spare: 0,
            ahead: (0, 0),
            free_from: [0; MOST_PROCESSES],
            received_at: Time::ZERO,
            free_at: Time::ZERO,
            opens_at: Time::ZERO,
        })
    }

    /// Returns the rate over time.
    pub(crate) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Returns the end of the newest block's first transmission.
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Delays all data that is not yet in a block until `at`.
    pub(crate) fn open_at(&mut self, at: Time) {
        self.opens_at = self.opens_at.max(at);
    }

    pub(crate) fn transmit(&mut self, now: Time, size: u32) -> Transmission {
        self.close(now);
        debug_assert!(
            self.free_at <= self.received_at || self.newest.is_none(),
            "a block is received before it is out"
        );
        let mut work = u64::from(size).saturating_mul(8_000_000_000);
        let mut first = None;
        loop {
            let sent = work.min(self.spare);
            if sent > 0 {
                work -= sent;
                self.spare -= sent;
                first = first.or(Some(self.begins_at()));
            }
            if work == 0 {
                return Transmission {
                    first: first.unwrap_or(self.free_at),
                    last: self.free_at.saturating_sub(Span::from_nanos(1)),
                    departs_at: self.received_at,
                };
            }
            match self.next_interval(now) {
                Some(interval) => self.begin(interval),
                None => {
                    self.free_at = Time::NEVER;
                    self.received_at = Time::NEVER;
                    return NEVER;
                }
            }
        }
    }

    /// Returns the time at which the first packet of a backlog can begin. The backlog exists since
    /// `since`.
    pub(crate) fn ready_at(&mut self, since: Time) -> Time {
        self.close(since);
        if self.spare > 0 {
            return self.begins_at();
        }
        match self.next_interval(since) {
            Some(interval) => self.time_of(interval),
            None => Time::NEVER,
        }
    }

    /// Closes a block that has begun, so that no more data is added.
    fn close(&mut self, now: Time) {
        if self.begins_at() <= now {
            self.spare = 0;
        }
    }

    /// Returns the start of the newest block.
    fn begins_at(&self) -> Time {
        self.newest
            .map_or(Time::ZERO, |interval| self.time_of(interval))
    }

    fn time_of(&self, interval: u64) -> Time {
        Time::from_nanos(interval.saturating_mul(self.config.interval.as_nanos()))
    }

    fn process(&self, interval: u64) -> usize {
        (interval % u64::from(self.config.processes)) as usize
    }

    /// Returns the next interval that can carry a packet that arrives at `now`. `None` if there is
    /// none.
    fn next_interval(&mut self, now: Time) -> Option<u64> {
        if self.free_at.is_never() {
            return None;
        }
        let length = self.config.interval.as_nanos();
        let mut interval = (now.as_nanos() / length + 1)
            .max(self.newest.map_or(0, |newest| newest + 1))
            .max(self.opens_at.as_nanos().div_ceil(length))
            .max(self.ahead.0);
        loop {
            let at = self.time_of(interval);
            if at.is_never() {
                return None;
            }
            if self.free_from[self.process(interval)] > interval {
                interval += 1;
                continue;
            }
            if self.ahead.0 != interval {
                self.ahead = (interval, self.work_in(at));
            }
            if self.ahead.1 > 0 {
                return Some(interval);
            }
            // The rate is zero in the whole interval. The loop ends if the rate stays zero for
            // ever.
            let beyond = self.pieces.piece_at(self.time_of(interval + 1));
            if beyond.rate.is_zero() && beyond.until.is_never() {
                return None;
            }
            interval += 1;
            if beyond.rate.is_zero() {
                interval = interval.max(beyond.until.as_nanos() / length);
            }
        }
    }

    /// Returns the capacity of the interval that begins at `at`, in bit-nanoseconds.
    fn work_in(&mut self, mut at: Time) -> u64 {
        let end = at.saturating_add(self.config.interval);
        let mut work: u64 = 0;
        while at < end {
            let Piece { until, rate } = self.pieces.piece_at(at);
            let until = until.min(end);
            let length = until.since(at).as_nanos();
            work = work.saturating_add(rate.as_bits_per_sec().saturating_mul(length));
            at = until;
        }
        work
    }

    /// Starts a new block in `interval`, and draws its number of transmissions.
    fn begin(&mut self, interval: u64) {
        let length = self.config.interval;
        debug_assert_eq!(self.ahead.0, interval, "a block begins after a look ahead");
        self.newest = Some(interval);
        self.spare = self.ahead.1;
        self.free_at = self.time_of(interval).saturating_add(length);

        let processes = u64::from(self.config.processes);
        let mut through_at = self.free_at;
        let mut transmissions: u64 = 0;
        loop {
            let (sent, is_right) = self.harq_transmissions();
            transmissions += sent;
            through_at = through_at.saturating_add(length.saturating_mul((sent - 1) * processes));
            if is_right && !self.rlc.chance(self.config.residual_error) {
                break;
            }
            through_at = through_at.saturating_add(self.config.repeat_after);
        }
        let process = self.process(interval);
        self.free_from[process] = interval.saturating_add(transmissions.saturating_mul(processes));
        self.received_at = self.received_at.max(through_at);
    }

    /// Draws the number of HARQ transmissions of the block. Also returns true if the last one
    /// arrived intact.
    fn harq_transmissions(&mut self) -> (u64, bool) {
        let mut sent = 1;
        while self.harq.chance(self.config.error) {
            if sent == u64::from(self.config.transmissions) {
                return (sent, false);
            }
            sent += 1;
        }
        (sent, true)
    }
}
