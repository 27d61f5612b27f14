//! Both ends open at the same time, and their SYNs cross.
//!
//! Standard: RFC 9293 §3.5.

use super::{ConnectionState, TcpEndpoint};
use crate::tcp::outbox::Outbox;
use crate::tcp::sender::Step;
use fadeout_core::{Ecn, Flags, Probe, Segment, Time};

impl TcpEndpoint {
    /// The peer's SYN came instead of the answer to our own. What it carries is not taken: its end
    /// sends it again.
    pub(super) fn on_crossed_syn(&mut self, now: Time, segment: &Segment, out: &mut Outbox) {
        self.take_offer(segment);
        self.state = ConnectionState::SynReceived;
        self.is_crossed = true;
        self.early.is_on = false;
        // The answer repeats the SYN: neither its timer nor its number move.
        let (syns, at) = (self.syns, self.syn_at);
        self.send_syn(now, out);
        (self.syns, self.syn_at) = (syns, at);
    }

    /// First sequence number beyond what may be acknowledged: before the handshake is complete data
    /// on the SYN counts.
    pub(super) fn most_acknowledged(&self) -> u64 {
        let sent = 1 + u64::from(self.early.sent);
        self.sender.snd_nxt().max(sent)
    }

    /// Whether the peer answers our SYN after both crossed.
    pub(super) fn completes_crossing(&self, segment: &Segment) -> bool {
        self.is_crossed
            && self.state == ConnectionState::SynReceived
            && segment.flags.has(Flags::ACK)
            && segment.len == 0
            && self.receiver.next() == 1
            && segment.ack == self.most_acknowledged()
    }

    pub(super) fn on_crossed_answer(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        self.establish(now, segment, out, probe);
        self.resolve_crossing(now, segment, out, probe);
        self.sender.transmit(&mut Step { now, out, probe });
        // The SYN came before, which its ACK says (RFC 2883).
        let repeated = Segment {
            seq: 0,
            len: 1,
            flags: Flags::ACK,
            ..*segment
        };
        let rtt = self.sender.rtt();
        let times = (rtt.rto(), rtt.srtt());
        self.receiver
            .on_segment(now, &repeated, Ecn::NotEct, times, false);
        if out.segments.len() == from {
            super::push_ack(&self.sender, out);
        }
    }

    /// The handshake is complete at this end: what of the data on the SYN is acknowledged.
    pub(super) fn resolve_crossing(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if self.is_crossed {
            let range = (segment.ack, self.most_acknowledged());
            let mut cx = Step { now, out, probe };
            self.sender
                .on_early_answer(&mut cx, range, self.first_syn_at);
        }
    }
}
