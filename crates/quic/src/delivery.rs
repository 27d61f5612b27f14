//! Delivery-rate samples of a QUIC connection, as in section 4.1 of draft-ietf-ccwg-bbr.

use fadeout_core::{Span, Time};
use fadeout_transport::congestion::RateSample;
use std::collections::VecDeque;

/// Packet that was sent, with the state of the connection at that time.
#[derive(Debug, Clone, Copy)]
struct Sent {
    number: u64,
    at: Time,
    /// Position of the packet's first byte among all bytes sent.
    start: u64,
    bytes: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    in_flight: u32,
    lost: u64,
    is_app_limited: bool,
    /// True if the packet was acknowledged or lost.
    is_settled: bool,
}

/// Newest packet of an ACK, and the sums over its packets.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Acked {
    newest: Option<Sent>,
    /// Number of acknowledged packets.
    pub(crate) packets: u32,
    /// Number of acknowledged packets that were sent after the present recovery began.
    pub(crate) later_packets: u32,
    /// Packets in flight before the ACK.
    pub(crate) prior_in_flight: u32,
    /// Round-trip time of the newest packet. `None` if no packet is known.
    pub(crate) rtt: Option<Span>,
}

/// Packets of a connection, with the numbers of delivered and lost packets.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    packets: VecDeque<Sent>,
    sent_bytes: u64,
    in_flight: u32,
    in_flight_bytes: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    /// Number of delivered packets up to which the application limits the sender. Zero if the
    /// application does not limit it.
    app_limited_until: u64,
}

impl Delivery {
    pub(crate) fn new() -> Delivery {
        Delivery {
            packets: VecDeque::new(),
            sent_bytes: 0,
            in_flight: 0,
            in_flight_bytes: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            lost: 0,
            app_limited_until: 0,
        }
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the position after the last byte sent, which takes the place of SND.NXT.
    pub(crate) fn next_position(&self) -> u64 {
        self.sent_bytes
    }

    /// Returns the position of the oldest packet in flight, which takes the place of SND.UNA.
    pub(crate) fn oldest_position(&self) -> u64 {
        self.packets.front().map_or(self.sent_bytes, |it| it.start)
    }

    /// Records a packet that is sent now.
    pub(crate) fn on_sent(&mut self, now: Time, number: u64, bytes: u64) {
        if self.in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        self.in_flight += 1;
        self.in_flight_bytes += bytes;
        self.packets.push_back(Sent {
            number,
            at: now,
            start: self.sent_bytes,
            bytes,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: self.in_flight,
            lost: self.lost,
            is_app_limited: self.app_limited_until > 0,
            is_settled: false,
        });
        self.sent_bytes += bytes;
    }

    /// Marks a packet as acknowledged or lost, and returns it. `None` if the packet is not known.
    fn settle(&mut self, from: usize, number: u64, sent_at: Option<Time>) -> Option<Sent> {
        let mut later = self.packets.iter_mut().skip(from);
        // Packets of several number spaces are in one list, so the number alone is not enough.
        let found = later.find(|it| {
            it.number == number && !it.is_settled && sent_at.is_none_or(|at| at == it.at)
        })?;
        found.is_settled = true;
        let sent = *found;
        self.in_flight -= 1;
        self.in_flight_bytes -= sent.bytes;
        while self.packets.front().is_some_and(|it| it.is_settled) {
            self.packets.pop_front();
        }
        Some(sent)
    }

    /// Processes an acknowledged packet. `recovery` is the start of the present recovery.
    pub(crate) fn on_acked(
        &mut self,
        (now, sent_at): (Time, Time),
        number: u64,
        recovery: Option<Time>,
        acked: &mut Acked,
    ) {
        if acked.packets == 0 {
            acked.prior_in_flight = self.in_flight;
        }
        acked.packets += 1;
        acked.later_packets += u32::from(recovery.is_none_or(|start| sent_at > start));
        self.delivered += 1;
        self.delivered_at = now;
        let from = self.packets.partition_point(|it| it.at < sent_at);
        let Some(sent) = self.settle(from, number, Some(sent_at)) else {
            return;
        };
        let is_newest = acked.newest.is_none_or(|it| it.start < sent.start);
        if is_newest {
            self.first_sent_at = sent.at;
            acked.rtt = Some(now.since(sent.at));
            acked.newest = Some(sent);
        }
    }

    /// Processes a lost packet.
    pub(crate) fn on_lost(&mut self, number: u64) {
        self.lost += 1;
        self.settle(0, number, None);
    }

    /// Forgets the oldest packets until at most `most` bytes are in flight. The stack does not
    /// report the packets of discarded number spaces and lost probes of the MTU.
    pub(crate) fn forget_beyond(&mut self, most: u64) {
        while self.in_flight_bytes > most {
            let Some(&Sent { number, at, .. }) = self.packets.front() else {
                return;
            };
            self.settle(0, number, Some(at));
        }
    }

    /// Returns the sample of an ACK, and records if the application limits the sender.
    pub(crate) fn sample(
        &mut self,
        acked: &Acked,
        is_app_limited: bool,
        min_rtt: Span,
    ) -> RateSample {
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if is_app_limited {
            self.app_limited_until = (self.delivered + u64::from(self.in_flight)).max(1);
        }
        let Some(sent) = acked.newest else {
            return RateSample::default();
        };
        let send_elapsed = sent.at.since(sent.first_sent_at);
        let ack_elapsed = self.delivered_at.since(sent.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        RateSample {
            delivered: self.delivered - sent.delivered,
            // A shorter interval than the round-trip time comes from a packet that was sent twice
            // (Linux `tcp_rate_gen`).
            interval: (interval >= min_rtt && !interval.is_zero()).then_some(interval),
            prior_delivered: sent.delivered,
            is_app_limited: sent.is_app_limited,
            tx_in_flight: sent.in_flight,
            lost: u32::try_from(self.lost - sent.lost).unwrap_or(u32::MAX),
            delivered_ce: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_sample_has_the_rate_of_the_bottleneck() {
        let mut delivery = Delivery::new();
        for number in 0..10 {
            delivery.on_sent(at_ms(0), number, 1200);
        }
        // The round trip takes 20 ms, and the bottleneck passes a packet in 2 ms. So ten packets
        // fill the path, and each ACK lets a packet leave.
        let mut rate = None;
        for number in 0..40 {
            let (mut acked, now) = (Acked::default(), at_ms(20 + 2 * number));
            let sent_at = number.checked_sub(10).map_or(0, |older| 20 + 2 * older);
            delivery.on_acked((now, at_ms(sent_at)), number, None, &mut acked);
            delivery.on_sent(now, 10 + number, 1200);
            let sample = delivery.sample(&acked, false, Span::from_millis(20));
            assert_eq!((acked.packets, delivery.in_flight()), (1, 10));
            rate = sample.segments_per_sec();
        }
        assert_eq!(rate, Some(500.0));
    }

    #[test]
    fn equal_numbers_of_two_spaces_are_two_packets() {
        let mut delivery = Delivery::new();
        delivery.on_sent(at_ms(0), 0, 1200);
        delivery.on_sent(at_ms(5), 0, 100);
        let mut acked = Acked::default();
        delivery.on_acked((at_ms(9), at_ms(5)), 0, None, &mut acked);
        assert_eq!((delivery.in_flight(), delivery.oldest_position()), (1, 0));
        delivery.forget_beyond(0);
        assert_eq!(
            (delivery.in_flight(), delivery.oldest_position()),
            (0, 1300)
        );
    }

    #[test]
    fn a_loss_is_counted_in_the_samples_of_earlier_packets() {
        let mut delivery = Delivery::new();
        delivery.on_sent(at_ms(0), 0, 1200);
        delivery.on_sent(at_ms(1), 1, 1200);
        delivery.on_lost(0);
        let mut acked = Acked::default();
        delivery.on_acked((at_ms(30), at_ms(1)), 1, Some(at_ms(1)), &mut acked);
        assert_eq!((acked.packets, acked.later_packets), (1, 0));
        assert_eq!(delivery.sample(&acked, false, Span::ZERO).lost, 1);
    }
}
