//! Controlled delay (CoDel) drops packets at the head if the delay stays above a target.
//!
//! Standard: RFC 8289.

use super::{Heads, Threshold, ThresholdError};
use crate::registry::{Entry, OutOfRange, Registered, Settings, flag, in_range, integer, span};
use crate::{Span, Time};

crate::parameters! {
    /// Parameters of CoDel.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct CoDelConfig {
        /// Target delay: the delay that a standing queue may have. It should be 5 to 10 % of the
        /// interval (RFC 8289 section 4.3).
        pub target: Span = span("5 ms"),
        /// Time for which the delay must stay above the target before the first drop. It should be
        /// about the longest usual round-trip time (RFC 8289 section 4.2).
        pub interval: Span = span("100 ms"),
        /// Amount of waiting data, without the packet at the head, up to which CoDel drops no
        /// packet (RFC 8289 section 5.5).
        pub mtu: u64 = integer((64, 65_535, "bytes"), "1514"),
        /// True if ECN-capable packets are marked in place of being dropped (RFC 3168).
        pub ecn: bool = flag("true"),
    }
}

impl CoDelConfig {
    /// Checks the values that the algorithm needs.
    ///
    /// # Errors
    /// Returns an error if the interval is shorter than a microsecond.
    pub fn check(&self) -> Result<(), OutOfRange> {
        in_range("interval", self.interval, Span::from_micros(1)..)
    }

    /// Changes the target delay. The state of the algorithm stays, and the next packet is compared
    /// with the new target.
    ///
    /// # Errors
    /// Returns [`ThresholdError::Absent`] for another threshold.
    pub fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        let Threshold::Target(target) = threshold else {
            return Err(ThresholdError::Absent);
        };
        self.target = target;
        Ok(())
    }
}

impl<Context> Registered<Context> for CoDelConfig {
    const ENTRY: Entry = Entry::new(
        "codel",
        "active",
        "CoDel. Drops packets at the head of the queue, at a growing rate, while the delay stays \
         above a target.",
        "RFC 8289",
    )
    .with_parameters(CoDelConfig::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Context) -> Self {
        CoDelConfig::read(settings)
    }
}

/// State of the algorithm for one queue.
///
/// Standard: RFC 8289 §5.2.
#[derive(Debug, Clone, Default)]
pub struct CoDel {
    /// Time at which the delay will have been above the target for an interval. `None` if the delay
    /// is below the target.
    first_above_at: Option<Time>,
    drop_next_at: Time,
    /// Number of drops since the dropping state began.
    count: u32,
    /// Value of `count` at the start of the dropping state.
    last_count: u32,
    is_dropping: bool,
}

/// Returns the time of the next drop.
///
/// Standard: RFC 8289 §5.4.
fn control_law(from: Time, interval: Span, count: u32) -> Time {
    debug_assert!(count > 0, "the control law divides by the count");
    let gap = interval.as_nanos() as f64 / f64::from(count).sqrt();
    from.saturating_add(Span::from_nanos(gap as u64))
}

impl CoDel {
    /// Drops packets at the head until one remains that leaves at `now`. This packet may be marked.
    /// Must be called once for each packet that leaves.
    ///
    /// Standard: RFC 8289 §5.5.
    pub fn drop_or_mark_head(&mut self, config: &CoDelConfig, now: Time, queue: &mut impl Heads) {
        let mut may_drop = self.may_drop(config, now, queue);
        if self.is_dropping {
            self.is_dropping = may_drop;
            while self.is_dropping && now >= self.drop_next_at {
                self.count = self.count.saturating_add(1);
                if signal(config, queue) {
                    self.drop_next_at = control_law(self.drop_next_at, config.interval, self.count);
                    break;
                }
                may_drop = self.may_drop(config, now, queue);
                self.is_dropping = may_drop;
                if may_drop {
                    self.drop_next_at = control_law(self.drop_next_at, config.interval, self.count);
                }
            }
        } else if may_drop {
            if !signal(config, queue) {
                self.may_drop(config, now, queue);
            }
            self.is_dropping = true;
            // A dropping state that begins soon after the last one starts with the drop rate that
            // the last one reached.
            debug_assert!(
                self.last_count <= self.count,
                "the count went down while it dropped"
            );
            let drops = self.count - self.last_count;
            let is_recent = now.since(self.drop_next_at) < config.interval.saturating_mul(16);
            self.count = if drops > 1 && is_recent { drops } else { 1 };
            self.drop_next_at = control_law(now, config.interval, self.count);
            self.last_count = self.count;
        }
        debug_assert!(
            !self.is_dropping || self.count > 0,
            "it drops without a count"
        );
    }

    /// Returns true if the delay, including that of the head, has been above the target for an
    /// interval.
    #[inline]
    fn may_drop(&mut self, config: &CoDelConfig, now: Time, queue: &impl Heads) -> bool {
        let is_above = queue.head().is_some_and(|head| {
            debug_assert!(head.entered_at <= now, "the head comes from the future");
            now.since(head.entered_at) >= config.target && head.behind > config.mtu
        });
        if !is_above {
            self.first_above_at = None;
            return false;
        }
        let deadline = now.saturating_add(config.interval);
        let since = *self.first_above_at.get_or_insert(deadline);
        now >= since
    }
}

/// Marks the head. If that is not possible, drops it and returns false.
fn signal(config: &CoDelConfig, queue: &mut impl Heads) -> bool {
    let is_marked = config.ecn && queue.mark_head();
    if !is_marked {
        queue.drop_head();
    }
    is_marked
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Queue, ms};
    use super::*;
    use crate::Ecn;

    /// Runs a queue of twenty packets once a millisecond, whose head has waited `delay`. Returns
    /// the times in milliseconds of drops, and the packets that left.
    fn standing(
        codel: &mut CoDel,
        queue: &mut Queue,
        delay: Span,
        ecn: Ecn,
        times: std::ops::Range<u64>,
    ) -> (Vec<u64>, usize) {
        let config = CoDelConfig::default();
        let mut drops = Vec::new();
        let mut left = 0;
        for n in times {
            queue.stand(20, ms(n), delay, ecn);
            let before = queue.dropped;
            codel.drop_or_mark_head(&config, ms(n), queue);
            left += usize::from(queue.packets.pop_front().is_some());
            drops.extend((before..queue.dropped).map(|_| n));
        }
        (drops, left)
    }

    const HIGH: Span = Span::from_millis(20);
    const LOW: Span = Span::from_millis(1);

    #[test]
    fn nothing_is_dropped_while_the_delay_is_below_the_target() {
        let just_below = Span::from_micros(4_999);
        let (mut codel, mut queue) = (CoDel::default(), Queue::default());
        let times = 1_000..11_000;
        let (drops, left) = standing(&mut codel, &mut queue, just_below, Ecn::NotEct, times);
        assert_eq!((drops.len(), left), (0, 10_000));
    }

    #[test]
    fn drops_begin_after_an_interval_and_come_at_interval_over_root_count() {
        let (mut codel, mut queue) = (CoDel::default(), Queue::default());
        let (drops, _) = standing(&mut codel, &mut queue, HIGH, Ecn::NotEct, 1_000..2_000);
        // The delay is above the target from 1000 ms on. Gaps are 100 ms / sqrt(n), rounded up to
        // the next millisecond.
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
        let (mut codel, mut queue) = (CoDel::default(), Queue::default());
        for n in 0..1_000 {
            // One packet of 1500 bytes waits behind the head. This is below the MTU of 1514 bytes,
            // so no packet is dropped.
            queue.stand(2, ms(n + 500), Span::from_millis(500), Ecn::NotEct);
            codel.drop_or_mark_head(&CoDelConfig::default(), ms(n + 500), &mut queue);
            assert_eq!((queue.dropped, queue.packets.len()), (0, 2));
        }
    }

    #[test]
    fn one_head_below_the_target_ends_the_dropping_state() {
        let (mut codel, mut queue) = (CoDel::default(), Queue::default());
        standing(&mut codel, &mut queue, HIGH, Ecn::NotEct, 1_000..1_400);
        assert!(codel.is_dropping);
        standing(&mut codel, &mut queue, LOW, Ecn::NotEct, 1_400..1_401);
        assert!(!codel.is_dropping);
        let (drops, _) = standing(&mut codel, &mut queue, HIGH, Ecn::NotEct, 1_401..1_501);
        assert!(
            drops.is_empty(),
            "a whole interval above the target comes first"
        );
    }

    #[test]
    fn re_entry_soon_resumes_the_drop_rate_and_late_starts_anew() {
        // A dropping state that begins within 16 intervals of the last one resumes its number of
        // drops (RFC 8289 section 5.5).
        for (pause, is_recent) in [(100, true), (1_400, true), (1_600, false)] {
            let (mut codel, mut queue) = (CoDel::default(), Queue::default());
            standing(&mut codel, &mut queue, HIGH, Ecn::NotEct, 1_000..1_600);
            let drops = codel.count - codel.last_count;
            assert!(drops > 5);
            let back = 1_600 + pause;
            standing(&mut codel, &mut queue, LOW, Ecn::NotEct, 1_600..back);
            standing(&mut codel, &mut queue, HIGH, Ecn::NotEct, back..back + 101);
            assert_eq!(codel.count, if is_recent { drops } else { 1 });
        }
    }

    #[test]
    fn capable_packets_are_marked_at_the_times_of_drops_and_all_leave() {
        let times = 1_000..2_000;
        let (mut codel, mut queue) = (CoDel::default(), Queue::default());
        let (drops, _) = standing(&mut codel, &mut queue, HIGH, Ecn::NotEct, times.clone());
        let (mut codel, mut queue) = (CoDel::default(), Queue::default());
        let (dropped, left) = standing(&mut codel, &mut queue, HIGH, Ecn::Ect0, times);
        assert_eq!((dropped.len(), left), (0, 1_000));
        assert_eq!(queue.marked, drops.len());
    }

    #[test]
    fn an_interval_of_zero_is_an_error() {
        let config = CoDelConfig {
            interval: Span::ZERO,
            ..CoDelConfig::default()
        };
        let error = config.check().expect_err("no interval");
        assert_eq!(
            error.to_string(),
            "interval is 0 ns; expected at least 1 us"
        );
    }
}
