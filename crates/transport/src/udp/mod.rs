//! UDP, sans-IO: datagrams leave as they are written, and received datagrams are measured.
//!
//! Standard: RFC 768.

mod delays;
mod reception;

pub use delays::Delays;
pub use reception::Reception;

use fadeout_core::{Datagram, FlowEnd, FlowId, Probe, Time};

/// Endpoint of a flow of datagrams.
#[derive(Debug)]
pub struct UdpEndpoint {
    flow: FlowId,
    end: FlowEnd,
    sent: u64,
    last_sent_at: Time,
    reception: Reception,
}

impl UdpEndpoint {
    /// Returns the endpoint at `end` of `flow`.
    pub fn new(flow: FlowId, end: FlowEnd) -> UdpEndpoint {
        UdpEndpoint {
            flow,
            end,
            sent: 0,
            last_sent_at: Time::ZERO,
            reception: Reception::default(),
        }
    }

    /// Returns the next datagram, with `len` bytes of payload, as it is sent now. A datagram from
    /// the receiver of the flow's data answers the last one received, which gives a round-trip
    /// time.
    pub fn send(&mut self, now: Time, len: u32) -> Datagram {
        let number = self.sent;
        self.sent += 1;
        self.last_sent_at = now;
        let answers = match self.end {
            FlowEnd::Sender => None,
            FlowEnd::Receiver => self.reception.last(),
        };
        Datagram {
            number,
            len,
            answers,
        }
    }

    /// Processes a datagram that the other end sent at `sent_at`. Returns the number of datagrams
    /// whose fate is now known: this one, and earlier ones that count as lost. Zero for a late
    /// datagram.
    pub fn on_datagram(
        &mut self,
        now: Time,
        datagram: Datagram,
        sent_at: Time,
        probe: &mut impl Probe,
    ) -> u64 {
        let (mut row, settled) = self.reception.on_datagram(now, datagram, sent_at);
        if probe.wants_datagram(now, self.flow, self.end) {
            row.flow = self.flow;
            row.end = self.end;
            probe.datagram(row);
        }
        settled
    }

    /// Returns the number of datagrams sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the time at which the last datagram was sent.
    pub fn last_sent_at(&self) -> Time {
        self.last_sent_at
    }

    /// Returns the measurements of received datagrams.
    pub fn reception(&self) -> &Reception {
        &self.reception
    }
}
