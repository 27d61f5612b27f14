//! Controlled delay (RFC 8289): drops at the head once the delay has stayed above a target.

use super::Outcome;
use super::fifo::{Fifo, Queued};
use crate::LinkError;
use crate::error::in_range;
use fadeout_core::registry::{Entry, Parameter, Parameters, flag, integer, span};
use fadeout_core::{Span, Time};

const TARGET: Span = Span::from_millis(5);
const INTERVAL: Span = Span::from_millis(100);
const MTU: u64 = 1514;

/// Parameters of CoDel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoDelConfig {
    /// Delay that a standing queue may have.
    pub target: Span,
    /// How long the delay must stay above the target; about the longest usual round trip.
    pub interval: Span,
    /// No more than this many bytes behind the head are no standing queue.
    pub mtu: u64,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        CoDelConfig::new(&Parameters::default())
    }
}

impl CoDelConfig {
    /// The parameters given, the defaults of the RFC for the rest.
    pub fn new(given: &Parameters) -> CoDelConfig {
        CoDelConfig {
            target: given.span("target", TARGET),
            interval: given.span("interval", INTERVAL),
            mtu: given.number("mtu", MTU as f64) as u64,
            ecn: given.flag("ecn", true),
        }
    }
}

pub(super) const TARGET_PARAMETER: Parameter = span(
    "target",
    "5 ms",
    "Delay that a standing queue may have: 5 to 10 % of the interval (RFC 8289 section 4.3).",
);
pub(super) const INTERVAL_PARAMETER: Parameter = span(
    "interval",
    "100 ms",
    "How long the delay must stay above the target before the first drop: about the longest usual \
     round trip (RFC 8289 section 4.2).",
);
pub(super) const MTU_PARAMETER: Parameter = integer(
    "mtu",
    (64, 65_535, "bytes"),
    "1514",
    "No drop while no more than this waits behind the head (RFC 8289 section 5.5).",
);
pub(super) const ECN_PARAMETER: Parameter = flag(
    "ecn",
    "true",
    "Whether ECN-capable packets are marked where others are dropped (RFC 3168).",
);

pub(super) const ENTRY: Entry = Entry {
    name: "codel",
    aliases: &[],
    family: "active",
    summary: "Drops at the head, at a growing rate, while the delay stays above a target.",
    citation: "RFC 8289",
    parameters: &[
        TARGET_PARAMETER,
        INTERVAL_PARAMETER,
        MTU_PARAMETER,
        ECN_PARAMETER,
    ],
};

/// A queue that CoDel takes its packets from.
pub(super) trait Source {
    fn pop(&mut self) -> Option<Queued>;
    /// Bytes left in it.
    fn bytes(&self) -> u64;
}

impl Source for Fifo {
    fn pop(&mut self) -> Option<Queued> {
        Fifo::pop(self)
    }
    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}

/// CoDel's state for one queue (RFC 8289 section 5.2).
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    /// When the delay will have been above the target for an interval.
    first_above_at: Option<Time>,
    drop_next_at: Time,
    /// Drops since the dropping state began.
    count: u32,
    /// The count that it began with.
    last_count: u32,
    is_dropping: bool,
}

/// When to drop next (RFC 8289 section 5.4).
fn control_law(from: Time, interval: Span, count: u32) -> Time {
    let gap = interval.as_nanos() as f64 / f64::from(count).sqrt();
    from.saturating_add(Span::from_nanos(gap as u64))
}

impl Control {
    /// The packet that leaves at `now`, after those that are dropped (RFC 8289 section 5.5).
    pub(super) fn dequeue(
        &mut self,
        config: &CoDelConfig,
        now: Time,
        source: &mut impl Source,
        outcome: &mut Outcome<'_>,
    ) -> Option<Queued> {
        let (mut head, mut may_drop) = self.next(config, now, source);
        if self.is_dropping {
            self.is_dropping = may_drop;
            while self.is_dropping && now >= self.drop_next_at {
                self.count = self.count.saturating_add(1);
                if signal(config, head, outcome) {
                    self.drop_next_at = control_law(self.drop_next_at, config.interval, self.count);
                    break;
                }
                (head, may_drop) = self.next(config, now, source);
                self.is_dropping = may_drop;
                if may_drop {
                    self.drop_next_at = control_law(self.drop_next_at, config.interval, self.count);
                }
            }
        } else if may_drop {
            if !signal(config, head, outcome) {
                (head, _) = self.next(config, now, source);
            }
            self.is_dropping = true;
            // Soon after the last time, the rate that worked then is where to begin.
            let drops = self.count - self.last_count;
            let is_recent = now.since(self.drop_next_at) < config.interval.saturating_mul(16);
            self.count = if drops > 1 && is_recent { drops } else { 1 };
            self.drop_next_at = control_law(now, config.interval, self.count);
            self.last_count = self.count;
        }
        head
    }

    /// The head of the queue, and whether it may be dropped.
    fn next(
        &mut self,
        config: &CoDelConfig,
        now: Time,
        source: &mut impl Source,
    ) -> (Option<Queued>, bool) {
        let head = source.pop();
        let is_above = head.is_some_and(|head| {
            now.since(head.arrived_at) >= config.target && source.bytes() > config.mtu
        });
        if !is_above {
            self.first_above_at = None;
            return (head, false);
        }
        let deadline = now.saturating_add(config.interval);
        let since = *self.first_above_at.get_or_insert(deadline);
        (head, now >= since)
    }
}

/// Marks the packet, or drops it and returns false.
fn signal(config: &CoDelConfig, head: Option<Queued>, outcome: &mut Outcome<'_>) -> bool {
    let Some(head) = head else { return false };
    let is_marked = config.ecn && outcome.mark(head.packet);
    if !is_marked {
        outcome.drop(head.packet);
    }
    is_marked
}

/// A first-in-first-out queue under CoDel.
#[derive(Debug)]
pub(crate) struct CoDel {
    config: CoDelConfig,
    control: Control,
    queue: Fifo,
}

impl CoDel {
    pub(crate) fn new(config: CoDelConfig) -> Result<Self, LinkError> {
        check(&config)?;
        Ok(CoDel {
            config,
            control: Control::default(),
            queue: Fifo::default(),
        })
    }

    pub(super) fn enqueue(&mut self, arrival: Queued) {
        self.queue.push(arrival);
    }

    pub(super) fn dequeue(&mut self, now: Time, outcome: &mut Outcome<'_>) -> Option<Queued> {
        self.control
            .dequeue(&self.config, now, &mut self.queue, outcome)
    }

    pub(super) fn packets(&self) -> u64 {
        self.queue.packets()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

pub(super) fn check(config: &CoDelConfig) -> Result<(), LinkError> {
    in_range("interval", config.interval, Span::from_micros(1)..)
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, ms};
    use super::*;
    use fadeout_core::Ecn;

    /// Dequeues once a millisecond from a queue of twenty packets whose head has waited `delay`.
    /// Returns the times in milliseconds at which packets were dropped, and what left.
    fn standing(
        codel: &mut CoDel,
        rig: &mut Rig,
        delay: Span,
        ecn: Ecn,
        times: std::ops::Range<u64>,
    ) -> (Vec<u64>, usize) {
        let mut drops = Vec::new();
        let mut left = 0;
        for n in times {
            let now = ms(n);
            while codel.packets() < 20 {
                let arrival = rig.packet(now.saturating_sub(delay), 1500, ecn, 0);
                codel.enqueue(arrival);
            }
            // All have waited as long as the head: the queue stands still.
            let mut fresh = Fifo::default();
            while let Some(queued) = codel.queue.pop() {
                fresh.push(Queued {
                    arrived_at: now.saturating_sub(delay),
                    ..queued
                });
            }
            codel.queue = fresh;
            left += usize::from(codel.dequeue(now, &mut rig.outcome()).is_some());
            drops.extend(rig.dropped.drain(..).map(|_| n));
        }
        (drops, left)
    }

    fn codel() -> CoDel {
        CoDel::new(CoDelConfig::default()).expect("the defaults are valid")
    }

    #[test]
    fn nothing_is_dropped_while_the_delay_is_below_the_target() {
        let just_below = Span::from_micros(4_999);
        let (drops, left) = standing(
            &mut codel(),
            &mut Rig::default(),
            just_below,
            Ecn::NotEct,
            1_000..11_000,
        );
        assert_eq!((drops.len(), left), (0, 10_000));
    }

    #[test]
    fn drops_begin_after_an_interval_and_come_at_interval_over_root_count() {
        let delay = Span::from_millis(20);
        let (drops, _) = standing(
            &mut codel(),
            &mut Rig::default(),
            delay,
            Ecn::NotEct,
            1_000..2_000,
        );
        // Above the target since 1000 ms; then gaps of 100 ms / sqrt(n), seen at the next
        // millisecond.
        let mut at = 1_100.0;
        let mut expected = vec![1_100];
        for count in 1..=drops.len() as u32 - 1 {
            at += 100.0 / f64::from(count).sqrt();
            expected.push(at.ceil() as u64);
        }
        assert_eq!(drops, expected);
        assert!(drops.len() > 20, "{} drops in 900 ms", drops.len());
    }

    #[test]
    fn nothing_is_dropped_when_no_more_than_an_mtu_waits_behind() {
        let mut codel = codel();
        let mut rig = Rig::default();
        for n in 0..1_000 {
            // The packet behind the head is alone: 1500 bytes, below the MTU of 1514.
            for _ in codel.packets()..2 {
                let arrival = rig.full(ms(n));
                codel.enqueue(arrival);
            }
            let leaves = codel.dequeue(ms(n + 500), &mut rig.outcome());
            assert!(leaves.is_some() && rig.dropped.is_empty());
        }
    }

    #[test]
    fn one_dequeue_below_the_target_ends_the_dropping_state() {
        let mut codel = codel();
        let mut rig = Rig::default();
        let high = Span::from_millis(20);
        standing(&mut codel, &mut rig, high, Ecn::NotEct, 1_000..1_400);
        assert!(codel.control.is_dropping);
        standing(
            &mut codel,
            &mut rig,
            Span::from_millis(1),
            Ecn::NotEct,
            1_400..1_401,
        );
        assert!(!codel.control.is_dropping);
        let (drops, _) = standing(&mut codel, &mut rig, high, Ecn::NotEct, 1_401..1_501);
        assert!(
            drops.is_empty(),
            "a whole interval above the target comes first"
        );
    }

    #[test]
    fn re_entry_soon_resumes_the_drop_rate_and_late_starts_anew() {
        let high = Span::from_millis(20);
        let low = Span::from_millis(1);
        // RFC 8289 section 5.5: the count resumes at the drops of the last time, within 16
        // intervals.
        for (pause, is_recent) in [(100, true), (2_000, false)] {
            let mut codel = codel();
            let mut rig = Rig::default();
            standing(&mut codel, &mut rig, high, Ecn::NotEct, 1_000..1_600);
            let drops = codel.control.count - codel.control.last_count;
            assert!(drops > 5);
            let back = 1_600 + pause;
            standing(&mut codel, &mut rig, low, Ecn::NotEct, 1_600..back);
            standing(&mut codel, &mut rig, high, Ecn::NotEct, back..back + 101);
            let expected = if is_recent { drops } else { 1 };
            assert_eq!(codel.control.count, expected);
        }
    }

    #[test]
    fn ecn_capable_packets_are_marked_at_the_times_of_drops_and_all_leave() {
        let delay = Span::from_millis(20);
        let times = 1_000..2_000;
        let (drops, _) = standing(
            &mut codel(),
            &mut Rig::default(),
            delay,
            Ecn::NotEct,
            times.clone(),
        );
        let mut rig = Rig::default();
        let (dropped, left) = standing(&mut codel(), &mut rig, delay, Ecn::Ect0, times);
        assert_eq!((dropped.len(), left), (0, 1_000));
        assert_eq!(rig.marked, drops.len() as u64);
    }

    #[test]
    fn an_interval_of_zero_is_an_error() {
        let config = CoDelConfig {
            interval: Span::ZERO,
            ..CoDelConfig::default()
        };
        let error = CoDel::new(config).map(|_| ()).expect_err("no interval");
        assert_eq!(
            error.to_string(),
            "interval is 0 ns; expected at least 1 us"
        );
    }
}
