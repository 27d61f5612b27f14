//! A transmitter that sends in transport blocks and repeats broken blocks.
//!
//! Time is divided into transmission time intervals (TTIs). The bytes that wait at the beginning of
//! an interval go into its block, and arrive at its end. A block may hold several packets, and the
//! rest of a packet goes into the next. Each interval belongs to one of the HARQ processes in turn,
//! which stops and waits. A broken block takes the process's next interval again. A block that HARQ
//! leaves broken is repeated by RLC, later. The receiver passes data on in order (MAC-hs and RLC),
//! so data behind a broken block waits for it.
//!
//! All of that is known when a packet arrives, because nothing depends on later traffic. A block
//! costs no event.
//!
//! Standard: TS 25.302 §7.1; TS 25.321 §11.6.2; TS 25.322 §9.7.3.

use crate::LinkError;
use crate::rate::{Piece, Pieces};
use crate::streams::Streams;
use crate::transmission::{NEVER, Transmission};
use fadeout_core::random::Stream;
use fadeout_core::registry::in_range;
use fadeout_core::{Span, Time};

/// Most HARQ processes.
const MOST_PROCESSES: usize = 16;
/// Highest probability that one transmission fails: above it a block takes thousands of them.
const MOST_ERRORS: f64 = 0.9;
/// Shortest and longest interval.
const INTERVALS: (Span, Span) = (Span::from_micros(100), Span::from_secs(1));

/// Transmission in blocks, with HARQ and RLC retransmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockConfig {
    /// Transmission time interval: length of a block, and distance from one to the next. A block
    /// carries as many bits as the link's rate gives in the interval.
    pub interval: Span,
    /// Number of HARQ processes. A repetition comes this many intervals later.
    pub processes: u32,
    /// Probability that a transmission arrives broken, the same for each. At most 0.9.
    pub error: f64,
    /// Largest number of transmissions of a block by HARQ, with the first one. 1 without HARQ.
    pub transmissions: u32,
    /// Probability that a block is lost without HARQ's knowledge, for example by misread feedback.
    /// At most 0.9.
    pub residual_error: f64,
    /// Time from a block that HARQ left broken to its repetition by RLC.
    pub repeat_after: Span,
}

impl Default for BlockConfig {
    /// HSDPA's interval and processes, free of errors.
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

/// The transmitter. Work is counted in bit-nanoseconds, as [`Fluid`](crate::transmitter::Fluid)
/// counts it, so that blocks of a fraction of a bit add up to the rate.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    config: BlockConfig,
    pieces: Pieces,
    harq: Stream,
    rlc: Stream,
    /// The interval of the newest block; the first is number 0.
    newest: Option<u64>,
    /// Work that the newest block has left.
    spare: u64,
    /// The last interval looked at, with its work: the rate is asked for once and in order.
    ahead: (u64, u64),
    /// The first interval that each process has free.
    free_from: [u64; MOST_PROCESSES],
    /// When everything sent so far is through, in order.
    received_at: Time,
    /// When the newest block is out for the first time.
    free_at: Time,
    /// No block begins before.
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
            harq: streams.of("link.harq"),
            rlc: streams.of("link.rlc"),
            newest: None,
            spare: 0,
            ahead: (0, 0),
            free_from: [0; MOST_PROCESSES],
            received_at: Time::ZERO,
            free_at: Time::ZERO,
            opens_at: Time::ZERO,
        })
    }

    /// The rate over time.
    pub(crate) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// When the newest block is out.
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Keeps everything that is not yet in a block until `at`.
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

    /// When the first packet of a backlog that stands since `since` can begin.
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

    /// A block that has begun takes nothing more.
    fn close(&mut self, now: Time) {
        if self.begins_at() <= now {
            self.spare = 0;
        }
    }

    /// When the newest block begins.
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

    /// Returns the next interval that can take a packet which arrived at `now`. `None` if none ever
    /// can.
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
            // Nothing is sent up to the end of this interval, and maybe longer.
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

    /// The work that the rate does in the interval that begins at `at`.
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

    /// Makes `interval` the newest block's, and draws how often it is sent.
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

    /// Returns the number of HARQ transmissions of the block, and true if the last one arrived
    /// intact.
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
