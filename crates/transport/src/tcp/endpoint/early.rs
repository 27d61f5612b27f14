//! Fast Open: data on the SYN, and before the handshake is complete.
//!
//! Standard: RFC 7413.

use super::{ConnectionState, TcpEndpoint, push_ack};
use crate::tcp::outbox::Outbox;
use crate::tcp::sender::Step;
use fadeout_core::{Flags, Probe, Segment, Time};

/// Data on the SYN.
///
/// Standard: RFC 7413 §2.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Early {
    pub(super) is_on: bool,
    /// Bytes that the SYN has room for, and how many it carried.
    pub(super) room: u32,
    pub(super) sent: u32,
    /// The data was taken: the peer's by this end, or this end's by the peer.
    pub(super) is_taken: bool,
}

impl TcpEndpoint {
    /// Opens by Fast Open: the first SYN carries up to `room` bytes of what is written by then, or,
    /// where the peer opens, the data on its SYN is taken and this end may send before the handshake
    /// is complete. Cookies are the caller's business.
    ///
    /// Standard: RFC 7413 §4.2.
    pub fn open_fast(&mut self, room: u32) {
        self.early.is_on = true;
        self.early.room = room;
    }

    /// Whether data on the SYN was taken: the peer's here, or all of this end's there.
    pub fn has_taken_early_data(&self) -> bool {
        self.early.is_taken
    }

    /// Takes the data on the peer's SYN or SYN-ACK, which acknowledges it or is acknowledged at once.
    pub(super) fn take_early(&mut self, now: Time, segment: &Segment, out: &mut Outbox) {
        let data = Segment {
            seq: 1,
            flags: Flags(segment.flags.0 & !Flags::SYN.0),
            ..*segment
        };
        if data.seq_len() == 0 {
            return;
        }
        let received = self.receiver.on_early_segment(now, &data);
        out.delivered_bytes += received.bytes;
        self.receiver.on_acknowledged();
        self.early.is_taken |= self.state == ConnectionState::SynReceived;
        self.follow_close(received.fin, out);
    }

    /// The peer answered a SYN that may have carried data: what it did not take leaves again, with
    /// the acknowledgment of the answer.
    ///
    /// Standard: RFC 7413 §4.2.2.
    pub(super) fn on_early_answer(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let end = 1 + u64::from(self.early.sent);
        let is_complete = segment.ack == end;
        self.early.is_taken = end > 1 && is_complete;
        let from = out.segments.len();
        let mut cx = Step { now, out, probe };
        self.sender
            .on_early_answer(&mut cx, (segment.ack, end), self.first_syn_at);
        if is_complete {
            self.take_early(now, segment, out);
        }
        self.sender.transmit(&mut Step { now, out, probe });
        if out.segments.len() == from {
            push_ack(&self.sender, out);
        } else if is_complete {
            // A write waited for the answer: the two ends take turns.
            self.receiver.expect_reply();
        }
    }
}
