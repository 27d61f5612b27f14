//! Delivery-rate sampling (draft-ietf-ccwg-bbr section 4.1; Linux `tcp_rate.c`).

use super::scoreboard::{SentSegment, Tags};
use crate::congestion::RateSample;
use fadeout_core::{Span, Time};

/// Counters of a connection from which each ACK's delivery-rate sample is computed.
#[derive(Debug, Clone, Default)]
pub(super) struct RateSampler {
    /// Number of segments delivered, cumulatively or selectively, including unnecessary copies.
    pub(super) delivered: u64,
    /// Number of delivered segments that the receiver reported as marked by ECN.
    pub(super) delivered_ce: u64,
    /// Number of segments marked lost so far.
    pub(super) lost: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Delivered count at which the sender is no longer application-limited. Zero if the sender is
    /// not application-limited.
    app_limited_until: u64,
    pending: Pending,
}

#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    prior: Option<(u64, Time)>,
    newest: (Time, u64),
    send_elapsed: Span,
    lost: u32,
    tx_in_flight: u32,
    is_app_limited: bool,
    prior_delivered_ce: u64,
}

impl RateSampler {
    /// Writes the snapshots of the counters into a segment that is about to be sent. `is_idle` is
    /// true if no segment is outstanding. A segment that is only believed lost counts as
    /// outstanding. Otherwise the sample's interval would be too short.
    #[inline]
    pub(super) fn on_send(
        &mut self,
        now: Time,
        is_idle: bool,
        in_flight: u32,
        segment: &mut SentSegment,
    ) {
        if is_idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        debug_assert!(
            self.first_sent_at <= now,
            "a rate sample begins in the future"
        );
        debug_assert!(
            self.delivered_at <= now,
            "something was delivered in the future"
        );
        segment.first_sent_at = self.first_sent_at;
        segment.delivered_at = self.delivered_at;
        segment.delivered = self.delivered;
        segment.lost = self.lost as u32;
        segment.tx_in_flight = in_flight + 1;
        segment.tags.clear(Tags::APP_LIMITED);
        if self.app_limited_until > 0 {
            segment.tags.set(Tags::APP_LIMITED);
        }
    }

    /// Starts the sample of an ACK.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.pending = Pending {
            prior_delivered_ce: self.delivered_ce,
            ..Pending::default()
        };
    }

    /// Records a newly acknowledged segment, cumulatively or selectively.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Time, segment: &SentSegment) {
        debug_assert!(segment.sent_at <= now, "delivered before it was sent");
        debug_assert!(
            segment.delivered <= self.delivered,
            "more was delivered when it was sent than now"
        );
        self.delivered_at = now;
        let key = (segment.sent_at, segment.end_seq());
        if self.pending.prior.is_some() && key <= self.pending.newest {
            return;
        }
        self.pending.prior = Some((segment.delivered, segment.delivered_at));
        self.pending.newest = key;
        self.pending.send_elapsed = segment.sent_at.since(segment.first_sent_at);
        self.pending.lost = segment.lost;
        self.pending.tx_in_flight = segment.tx_in_flight;
        self.pending.is_app_limited = segment.tags.has(Tags::APP_LIMITED);
        self.first_sent_at = segment.sent_at;
    }

    /// Returns the sample of the ACK after it was processed. A sample over less than `min_rtt` is
    /// discarded, because it comes from an ambiguous retransmission.
    #[inline]
    pub(super) fn finish(&mut self, min_rtt: Span) -> RateSample {
        if self.app_limited_until > 0 && self.delivered >= self.app_limited_until {
            self.app_limited_until = 0;
        }
        let delivered_ce = (self.delivered_ce - self.pending.prior_delivered_ce) as u32;
        let Some((prior_delivered, prior_at)) = self.pending.prior else {
            return RateSample {
                delivered_ce,
                ..RateSample::default()
            };
        };
        debug_assert!(
            prior_delivered <= self.delivered,
            "a rate sample of fewer than no segments"
        );
        debug_assert!(
            prior_at <= self.delivered_at,
            "a rate sample ends before it begins"
        );
        let interval = self
            .pending
            .send_elapsed
            .max(self.delivered_at.since(prior_at));
        RateSample {
            delivered: self.delivered - prior_delivered,
            interval: (min_rtt == Span::MAX || interval >= min_rtt).then_some(interval),
            prior_delivered,
            is_app_limited: self.pending.is_app_limited,
            tx_in_flight: self.pending.tx_in_flight,
            lost: (self.lost as u32).wrapping_sub(self.pending.lost),
            delivered_ce,
        }
    }

    /// Records that the application limits the sender: it has no more data while the window is
    /// open.
    #[inline]
    pub(super) fn on_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = self.delivered + u64::from(in_flight) + 1;
    }

    /// Returns the delivered count at which the newest segment of this ACK was sent. `None` if no
    /// segment was delivered.
    #[inline]
    pub(super) fn prior_delivered(&self) -> Option<u64> {
        self.pending.prior.map(|(delivered, _)| delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_the_rate_at_which_a_flight_was_acknowledged() {
        let mut rate = RateSampler::default();
        let time_at_ms = |ms| Time::ZERO + Span::from_millis(ms);
        let mut sent = Vec::new();
        for n in 0..10 {
            let mut segment = SentSegment {
                sent_at: time_at_ms(n),
                len: 1,
                seq: n,
                ..Default::default()
            };
            rate.on_send(time_at_ms(n), n == 0, n as u32, &mut segment);
            sent.push(segment);
        }
        rate.begin();
        for segment in &sent {
            rate.delivered += 1;
            rate.on_delivered(time_at_ms(50), segment);
        }
        let sample = rate.finish(Span::from_millis(40));
        assert_eq!(
            (sample.delivered, sample.interval),
            (10, Some(Span::from_millis(50)))
        );
        assert_eq!(sample.segments_per_sec(), Some(200.0));
        assert_eq!(sample.tx_in_flight, 10);
    }

    #[test]
    fn a_sample_shorter_than_the_minimum_round_trip_is_void() {
        let mut rate = RateSampler::default();
        let mut segment = SentSegment {
            len: 1,
            ..SentSegment::default()
        };
        rate.on_send(Time::ZERO, true, 0, &mut segment);
        rate.begin();
        rate.on_delivered(Time::from_nanos(10), &segment);
        assert_eq!(rate.finish(Span::from_millis(1)).interval, None);
    }

    #[test]
    fn what_is_sent_while_the_application_has_nothing_more_is_so_marked_until_it_is_delivered() {
        let is_limited = |rate: &mut RateSampler| {
            let mut segment = SentSegment::default();
            rate.on_send(Time::ZERO, false, 0, &mut segment);
            segment.tags.has(Tags::APP_LIMITED)
        };
        let mut rate = RateSampler {
            delivered: 5,
            ..RateSampler::default()
        };
        assert!(!is_limited(&mut rate));
        rate.on_app_limited(3);
        assert!(is_limited(&mut rate));
        for (delivered, is_still) in [(7, true), (8, true), (9, false)] {
            rate.delivered = delivered;
            rate.finish(Span::MAX);
            assert_eq!(is_limited(&mut rate), is_still, "{delivered}");
        }
        let mut fresh = RateSampler::default();
        fresh.on_app_limited(0);
        assert!(is_limited(&mut fresh), "before anything was sent");
        let mut segment = SentSegment::default();
        fresh.on_send(Time::ZERO, true, 0, &mut segment);
        fresh.begin();
        fresh.on_delivered(Time::ZERO, &segment);
        assert!(fresh.finish(Span::MAX).is_app_limited);
    }

    #[test]
    fn an_ack_counts_the_marks_that_came_with_it_and_nothing_of_the_one_before() {
        let mut rate = RateSampler {
            delivered: 7,
            delivered_ce: 3,
            ..RateSampler::default()
        };
        let mut segment = SentSegment::default();
        rate.on_send(Time::ZERO, true, 0, &mut segment);
        rate.begin();
        assert_eq!(rate.prior_delivered(), None);
        rate.on_delivered(Time::ZERO, &segment);
        assert_eq!(rate.prior_delivered(), Some(7));
        rate.delivered = 8;
        rate.delivered_ce = 5;
        let sample = rate.finish(Span::MAX);
        assert_eq!((sample.delivered, sample.delivered_ce), (1, 2));
        rate.begin();
        assert_eq!(rate.prior_delivered(), None);
        rate.delivered_ce = 9;
        let sample = rate.finish(Span::MAX);
        assert_eq!((sample.delivered, sample.delivered_ce), (0, 4));
    }
}
