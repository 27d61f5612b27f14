//! Corresponding node: received frames, their delivery, and the desired buffer size.

use super::{DeliveryStatus, DesiredBuffer, FlowControlConfig, ServedRate};
use crate::rlc::Sdu;
use fadeout_core::{Ring, Span, Time};

/// PDU that was passed to RLC.
#[derive(Clone, Copy, Default, Debug)]
struct Received {
    number: u64,
    serial: u32,
    size: u32,
}

/// Range of frames that were lost between the nodes.
#[derive(Clone, Copy, Default, Debug)]
struct Lost {
    first: u64,
    end: u64,
    /// Number of statuses that have reported the range.
    reports: u8,
}

/// Number of statuses that report a lost range, because a status may be lost.
const REPORTS_PER_RANGE: u8 = 4;
/// Number of statuses over which the rate is averaged, because RLC learns of deliveries in bursts.
const RATED_STATUSES: usize = 8;

/// Corresponding node of a bearer's downlink, the sender of DL DATA DELIVERY STATUS.
///
/// Standard: TS 38.425 §5.4.2.
#[derive(Clone, Debug)]
pub struct Corresponding {
    config: FlowControlConfig,
    /// PDUs passed to RLC and not confirmed, in the order of arrival.
    received: Ring<Received>,
    /// Highest received number plus one.
    expected: u64,
    lost: Ring<Lost>,
    /// True if an event was not reported by any status yet.
    has_news: bool,
    sent_at: Option<Time>,
    /// Discarded bytes that count as delivered.
    discarded: u64,
    /// Bytes delivered before each of the latest statuses, and the time since the previous status.
    served: [(u64, Span); RATED_STATUSES],
    next_served: usize,
    rate: ServedRate,
    /// First received frame of which RLC has sent no part.
    unsent: u64,
}

impl Corresponding {
    /// Returns a node that reports its desired buffer size at the first opportunity.
    pub fn new(config: &FlowControlConfig) -> Corresponding {
        Corresponding {
            config: *config,
            received: Ring::new(),
            expected: 0,
            lost: Ring::new(),
            has_news: true,
            sent_at: None,
            discarded: 0,
            served: [(0, Span::ZERO); RATED_STATUSES],
            next_served: 0,
            rate: ServedRate::default(),
            unsent: 0,
        }
    }

    /// Resets the node. Frames are expected from `number` on, and the first status reports the
    /// desired buffer size.
    pub fn restart(&mut self, number: u64) {
        *self = Corresponding {
            expected: number,
            sent_at: self.sent_at,
            rate: self.rate,
            ..Corresponding::new(&self.config)
        };
    }

    /// Processes a frame with a PDU. Returns true if the PDU must be passed to RLC. Links keep the
    /// order, so a frame with an old number was reported as lost.
    #[inline]
    pub fn on_data(&mut self, number: u64, sdu: &Sdu) -> bool {
        if number < self.expected {
            return false;
        }
        self.miss_below(number);
        debug_assert!(
            self.received.back().is_none_or(|last| last.number < number),
            "PDU {number} comes after a later one"
        );
        self.expected = number + 1;
        self.has_news = true;
        self.received.push(Received {
            number,
            serial: sdu.serial,
            size: sdu.size,
        });
        true
    }

    /// Processes a poll, which has the number of the next frame.
    pub fn on_poll(&mut self, number: u64) {
        self.miss_below(number);
        self.expected = self.expected.max(number);
        self.has_news = true;
    }

    /// Records that RLC has discarded `bytes`, because the hosting node knows that they were
    /// delivered elsewhere. These bytes do not count for the rate.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.discarded += bytes;
    }

    /// Records that a transport block took `bytes` from RLC. `is_left`: true if RLC has more data.
    #[inline]
    pub fn on_block(&mut self, now: Time, bytes: u32, is_left: bool) {
        self.rate.on_block(now, bytes, is_left);
    }

    /// Records that RLC has sent a part of each PDU before `head`. `None` if it has sent a part of
    /// all PDUs.
    pub fn on_sent(&mut self, head: Option<&Sdu>) {
        self.unsent = self.unsent.max(self.received.first());
        while self.received.contains(self.unsent)
            && head.is_none_or(|sdu| sdu.serial != self.received[self.unsent].serial)
        {
            self.unsent += 1;
        }
        debug_assert!(
            self.unsent <= self.received.end(),
            "PDUs were sent that have not come"
        );
    }

    fn miss_below(&mut self, number: u64) {
        if number > self.expected {
            self.lost.push(Lost {
                first: self.expected,
                end: number,
                reports: 0,
            });
        }
    }

    /// Returns the time at which the next status is due. Never if there is nothing to report.
    #[inline]
    pub fn status_at(&self) -> Time {
        if !self.has_news && self.received.is_empty() && self.lost.is_empty() {
            return Time::NEVER;
        }
        let period = self.config.status_period;
        (self.sent_at).map_or(Time::ZERO, |at| at.saturating_add(period))
    }

    /// Returns the status that is due. `oldest` is the first PDU that RLC has not confirmed. `None`
    /// if there is nothing to report.
    pub fn status(&mut self, now: Time, oldest: Option<&Sdu>) -> Option<DeliveryStatus> {
        let mut bytes = 0;
        while let Some(&first) = self.received.front()
            && oldest.is_none_or(|sdu| sdu.serial != first.serial)
        {
            self.received.pop();
            bytes += u64::from(first.size);
        }
        let is_new = bytes > 0;
        let discarded = self.discarded.min(bytes);
        debug_assert!(discarded <= bytes, "more was discarded than has gone");
        self.discarded -= discarded;
        bytes -= discarded;
        let period = self.config.status_period;
        let since = self.sent_at.map_or(period, |at| now.since(at));
        self.sent_at = Some(now);
        // A node without data for a long time was not slow, so the time is limited.
        self.served[self.next_served] = (bytes, since.min(period * 2).max(period));
        self.next_served = (self.next_served + 1) % RATED_STATUSES;
        if !is_new && !self.has_news && self.lost.is_empty() {
            return None;
        }
        self.has_news = false;
        let oldest = self.received.front().map_or(self.expected, |it| it.number);
        let mut status = DeliveryStatus::new(oldest, self.desired());
        status.rate = self.rate.bytes_per_s();
        status.transmitted = match self.unsent.max(self.received.first()) {
            first if self.received.contains(first) => self.received[first].number,
            _ => self.expected,
        };
        for number in self.lost.first()..self.lost.end() {
            let range = &mut self.lost[number];
            debug_assert!(range.first < range.end, "an empty range was lost");
            if !status.name_lost((range.first, range.end)) {
                // A lost frame that is not reported must not count as delivered.
                if range.reports == 0 {
                    status.through = status.through.min(range.first);
                }
                self.has_news = true;
                break;
            }
            range.reports += 1;
        }
        while (self.lost.front()).is_some_and(|range| range.reports >= REPORTS_PER_RANGE) {
            self.lost.pop();
        }
        Some(status)
    }

    /// Returns the desired buffer size in bytes.
    fn desired(&self) -> u64 {
        match self.config.desired {
            DesiredBuffer::Fixed(bytes) => bytes.0,
            DesiredBuffer::Lasting(time, least) => {
                let bytes: u64 = self.served.iter().map(|&(bytes, _)| bytes).sum();
                let taken = self.served.iter().map(|&(_, span)| span.as_nanos());
                let taken = taken.sum::<u64>().max(1);
                let lasting = u128::from(bytes) * u128::from(time.as_nanos()) / u128::from(taken);
                (lasting as u64).max(least.0)
            }
        }
    }

    /// Returns true if RLC has unconfirmed PDUs, as of the latest status.
    pub fn is_busy(&self) -> bool {
        !self.received.is_empty()
    }
}
