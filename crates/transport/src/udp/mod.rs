//! UDP, sans-IO: datagrams go out as they are written, and what comes in is measured.
//!
//! Standard: RFC 768.

mod delays;
mod reception;

pub use delays::Delays;
pub use reception::Reception;

use fadeout_core::{Datagram, FlowEnd, FlowId, Probe, Time};

/// One end of a flow of datagrams.
#[derive(Debug)]
pub struct UdpEndpoint {
    flow: FlowId,
    end: FlowEnd,
    sent: u64,
    last_sent_at: Time,
    reception: Reception,
}

impl UdpEndpoint {
    /// This end of `flow`.
    pub fn new(flow: FlowId, end: FlowEnd) -> UdpEndpoint {
        UdpEndpoint {
            flow,
            end,
            sent: 0,
            last_sent_at: Time::ZERO,
            reception: Reception::default(),
        }
    }

    /// The next datagram, with `len` bytes of payload, as it leaves now. What the receiver of the flow's
    /// data sends answers the datagram that came last, which gives a round-trip time.
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

    /// A datagram arrived, which the other end sent at `sent_at`. Returns how many datagrams that
    /// settles: it and those before it that are now held lost; none for one that comes late.
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

    /// Datagrams sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// When the last one was.
    pub fn last_sent_at(&self) -> Time {
        self.last_sent_at
    }

    /// Measurements of what arrived.
    pub fn reception(&self) -> &Reception {
        &self.reception
    }
}
