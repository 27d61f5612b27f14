//! An endpoint as a subflow of a multipath connection.

use super::{TcpEndpoint, push_ack};
use crate::congestion::RecoveryState;
use crate::tcp::Outbox;
use crate::tcp::receiver::Receiver;
use fadeout_core::{Flags, Rate, Segment, Span, Time};

/// State of a subflow that the multipath connection reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubflowView {
    pub(crate) srtt: Span,
    pub(crate) variance: Span,
    pub(crate) rto: Span,
    /// Expiry of the sender's timer: retransmission, loss probe or reordering. `None` if no timer
    /// runs.
    pub(crate) timer_at: Option<Time>,
    pub(crate) pacing_rate: Rate,
    pub(crate) in_flight: u32,
    /// Number of sk_buffs with unacknowledged data.
    pub(crate) pieces: u32,
    /// Largest size of an sk_buff, in bytes.
    pub(crate) piece: u64,
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
    pub(crate) rcv_nxt: u64,
    pub(crate) receiver_rtt: Option<Span>,
    pub(crate) recovery_state: RecoveryState,
    pub(crate) timeouts_in_a_row: u32,
    pub(crate) may_send: bool,
}

impl TcpEndpoint {
    /// Puts an acknowledgment without data into the outbox.
    pub(crate) fn acknowledge(&mut self, now: Time, out: &mut Outbox) {
        let from = out.segments.len();
        push_ack(&self.sender, out);
        self.stamp(now, out, from);
    }

    /// Returns the state of this subflow for its multipath connection. The function is inlined,
    /// because callers mostly need one or two fields.
    #[inline(always)]
    pub(crate) fn subflow_view(&self) -> SubflowView {
        let rtt = self.sender.rtt();
        SubflowView {
            srtt: rtt.srtt(),
            variance: rtt.variance(),
            rto: rtt.rto(),
            timer_at: self.sender.timer_at(),
            pacing_rate: self.sender.pacing_rate(),
            in_flight: self.sender.segments_in_flight(),
            pieces: self.sender.pieces_in_flight(),
            piece: self.sender.piece(),
            snd_una: self.sender.snd_una(),
            snd_nxt: self.sender.snd_nxt(),
            rcv_nxt: self.receiver.rcv_nxt(),
            receiver_rtt: self.receiver.rtt(),
            recovery_state: self.sender.recovery_state(),
            timeouts_in_a_row: self.sender.timeouts_in_a_row(),
            may_send: self.may_send(),
        }
    }

    /// Answers a segment of the handshake with a reset, and ends the subflow.
    pub(crate) fn refuse(&mut self, segment: &Segment, out: &mut Outbox) {
        out.push(Segment {
            seq: segment.ack,
            ack: segment.end_seq(),
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        });
        self.vanish();
    }
}

/// Returns the receiving half of a subflow. Its window belongs to the connection.
pub(crate) fn receiver_of(subflow: &mut TcpEndpoint) -> &mut Receiver {
    &mut subflow.receiver
}
