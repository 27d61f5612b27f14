//! Data on the SYN (Fast Open) at the sender.
//!
//! Standard: RFC 7413 §4.2.

use super::{Sender, SenderContext};
use crate::congestion::RecoveryState;
use crate::tcp::scoreboard::{SentSegment, Tags};
use fadeout_core::{Probe, Span, Time};

impl Sender {
    /// Counts the data on a SYN as a sent segment.
    pub(in crate::tcp) fn on_early_sent(&mut self) {
        self.statistics.sent_segments += 1;
    }

    /// Completes the handshake of a connection whose peer sent data on the SYN.
    pub(in crate::tcp) fn on_early_established(&mut self, now: Time, handshake_rtt: Option<Span>) {
        if let Some(rtt) = handshake_rtt {
            self.take_rtt_sample(now, rtt, rtt);
        }
        self.update_pacing_rate();
    }

    /// Processes the answer to the SYN that was sent at `sent_at` with data up to `end`. The answer
    /// acknowledged the data up to `ack`. Other data of the SYN is lost for a reason other than
    /// congestion, and is retransmitted at once (Linux `tcp_non_congestion_loss_retransmit`).
    pub(in crate::tcp) fn on_early_answer<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        (ack, end): (u64, u64),
        sent_at: Time,
    ) {
        self.snd_una = ack;
        self.snd_nxt = ack;
        self.fack = ack;
        self.write_end += self.socket.skip(end.saturating_sub(self.write_end));
        // No write follows that would queue the FIN.
        self.fin_queued |= self.socket.is_closing() && self.backlog() == 0;
        let mss = u64::from(self.window.mss);
        while self.snd_nxt < end {
            let len = mss.min(end - self.snd_nxt);
            let mut sent = SentSegment {
                seq: self.snd_nxt,
                len: len as u32,
                sent_at,
                ..SentSegment::default()
            };
            self.snd_nxt += len;
            if self.snd_nxt == end {
                sent.tags.set(Tags::PUSHED);
            }
            let (is_first, in_flight) = (self.board.is_empty(), self.in_flight());
            if !is_first {
                sent.tags.set(Tags::JOINED);
            }
            self.rate.on_send(sent_at, is_first, in_flight, &mut sent);
            self.board.push(sent);
        }
        self.high_seq = end;
        self.bursts.pushed_end = end;
        if ack < end {
            self.window.ssthresh = self.current_ssthresh();
            self.undo.prior_ssthresh = None;
            self.undo.marker = None;
            self.state = RecoveryState::Loss;
            self.lose_everything();
            self.retransmit_lost(cx);
        }
    }
}
