//! Measurements of a receiver of datagrams: delay, jitter, loss, interruptions.

use super::Delays;
use fadeout_core::{Datagram, DatagramRow, FlowEnd, FlowId, Span, Time};

/// Weight of a new sample in the jitter.
///
/// Standard: RFC 3550 §6.4.1.
const JITTER_GAIN: f64 = 1.0 / 16.0;

/// Measurements of one direction of a datagram flow.
#[derive(Debug, Default)]
pub struct Reception {
    received: u64,
    bytes: u64,
    reordered: u64,
    /// Largest received number plus one.
    expected: u64,
    /// Number of the last datagram received, with the times of its sending and arrival. `None`
    /// before the first.
    last: Option<(u64, Time, Time)>,
    jitter_s: f64,
    longest_gap: Option<(Time, Span)>,
    delays: Delays,
    round_trips: Option<Delays>,
}

impl Reception {
    /// Processes a datagram that was sent at `sent_at`. Returns its row, still without a flow, and
    /// the number of datagrams whose fate is now known.
    pub(super) fn on_datagram(
        &mut self,
        now: Time,
        datagram: Datagram,
        sent_at: Time,
    ) -> (DatagramRow, u64) {
        let delay = now.since(sent_at);
        let mut gap = Span::ZERO;
        if let Some((_, last_sent_at, last_at)) = self.last {
            gap = now.since(last_at);
            let before = last_at.since(last_sent_at).as_secs_f64();
            let change = (delay.as_secs_f64() - before).abs();
            self.jitter_s += (change - self.jitter_s) * JITTER_GAIN;
            if self.longest_gap.is_none_or(|(_, longest)| gap > longest) {
                self.longest_gap = Some((last_at, gap));
            }
        }
        let next = datagram.number.saturating_add(1);
        let settled = next.saturating_sub(self.expected);
        self.reordered += u64::from(settled == 0);
        self.expected = self.expected.max(next);
        self.received += 1;
        self.bytes += u64::from(datagram.len);
        self.last = Some((datagram.number, sent_at, now));
        self.delays.add(delay);
        let round_trip = datagram.answers.map(|(_, asked_at)| now.since(asked_at));
        if let Some(time) = round_trip {
            self.round_trips.get_or_insert_default().add(time);
        }
        let row = DatagramRow {
            time_s: now,
            flow: FlowId::default(),
            end: FlowEnd::Receiver,
            number: datagram.number,
            payload_bytes: datagram.len,
            delay_s: delay,
            jitter_s: self.jitter_s,
            gap_s: gap,
            missing_datagrams: self.lost(),
            round_trip_s: round_trip.unwrap_or(Span::ZERO),
        };
        (row, settled)
    }

    /// Returns number and sending time of the datagram that came last. `None` before the first.
    pub(super) fn last(&self) -> Option<(u64, Time)> {
        self.last.map(|(number, sent_at, _)| (number, sent_at))
    }

    /// Returns the number of datagrams received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the number of payload bytes received.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of datagrams that arrived after a datagram with a larger number.
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Returns the number of expected datagrams that have not arrived. A datagram is expected if
    /// its number is below the largest received.
    ///
    /// Standard: RFC 3550 §6.4.1.
    pub fn lost(&self) -> u64 {
        self.expected.saturating_sub(self.received)
    }

    /// Returns the present interarrival jitter, seconds.
    ///
    /// Standard: RFC 3550 §6.4.1, §A.8.
    pub fn jitter_s(&self) -> f64 {
        self.jitter_s
    }

    /// Returns the longest time without an arrival, and its beginning. The gap lies between two
    /// arrivals, or from the last arrival to `last_sent_at`, when the other end sent its last
    /// datagram. `None` before the first arrival.
    pub fn longest_gap(&self, last_sent_at: Time) -> Option<(Time, Span)> {
        let (.., last_at) = self.last?;
        let at_the_end = (last_at, last_sent_at.since(last_at));
        match self.longest_gap {
            Some(longest) if longest.1 >= at_the_end.1 => Some(longest),
            _ => Some(at_the_end),
        }
    }

    /// Returns the delays from the sending of a datagram to its arrival.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// Returns the times from the sending of a request to the arrival of its answer. `None` without
    /// an answer.
    pub fn round_trips(&self) -> Option<&Delays> {
        self.round_trips.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at_ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn receive_datagram(
        reception: &mut Reception,
        number: u64,
        sent: u64,
        came: u64,
    ) -> (DatagramRow, u64) {
        let datagram = Datagram {
            number,
            len: 100,
            answers: None,
        };
        reception.on_datagram(time_at_ms(came), datagram, time_at_ms(sent))
    }

    #[test]
    fn jitter_follows_the_code_of_rfc_3550() {
        let mut reception = Reception::default();
        let (mut jitter, mut before) = (0.0, None);
        for (number, delay) in [20, 25, 22, 40, 40, 21].into_iter().enumerate() {
            let sent = 20 * number as u64;
            let (row, _) = receive_datagram(&mut reception, number as u64, sent, sent + delay);
            // A.8: transit; d = |transit - s->transit|; s->jitter += (1./16.) * (d - s->jitter)
            let transit = delay as f64 / 1e3;
            if let Some(before) = before {
                let d: f64 = transit - before;
                jitter += (1.0 / 16.0) * (d.abs() - jitter);
            }
            before = Some(transit);
            assert!((row.jitter_s - jitter).abs() < 1e-12, "{number}");
        }
        assert!(jitter > 1e-3);
    }

    #[test]
    fn what_is_missing_is_lost_until_it_comes_late() {
        let mut reception = Reception::default();
        assert_eq!(receive_datagram(&mut reception, 0, 0, 10).1, 1);
        let (row, settled) = receive_datagram(&mut reception, 3, 30, 40);
        assert_eq!((row.missing_datagrams, settled), (2, 3));
        let (row, settled) = receive_datagram(&mut reception, 2, 20, 41);
        assert_eq!((row.missing_datagrams, settled), (1, 0));
        assert_eq!((reception.lost(), reception.reordered()), (1, 1));
        assert_eq!((reception.received(), reception.bytes()), (3, 300));
    }

    #[test]
    fn an_interruption_is_the_longest_gap_also_the_one_at_the_end() {
        let mut reception = Reception::default();
        assert_eq!(reception.longest_gap(time_at_ms(0)), None);
        for (number, came) in [10, 30, 90, 110].into_iter().enumerate() {
            receive_datagram(&mut reception, number as u64, 20 * number as u64, came);
        }
        let between = Some((time_at_ms(30), Span::from_millis(60)));
        assert_eq!(reception.longest_gap(time_at_ms(100)), between);
        assert_eq!(reception.longest_gap(time_at_ms(170)), between);
        let at_the_end = Some((time_at_ms(110), Span::from_millis(90)));
        assert_eq!(reception.longest_gap(time_at_ms(200)), at_the_end);
    }
}
