//! The sending half of a subflow, under the control of its multipath connection.

use super::Sender;
use crate::congestion::coupling::PathState;
use crate::congestion::{Congestion, RecoveryState};
use fadeout_core::{MptcpOption, Span, Time};

impl Sender {
    /// Returns the time at which MP_JOIN's third packet, sent now, is repeated if it is not
    /// answered. The wait is two round trips (Linux `schedule_3rdack_retransmission`).
    ///
    /// Standard: RFC 8684 §3.2.
    pub(crate) fn join_repeats_at(&self, now: Time) -> Time {
        let rtt = self.rtt();
        let wait = Some(rtt.srtt() * 2).filter(|wait| !wait.is_zero());
        self.clock.fires_at(now, wait.unwrap_or(rtt.rto()))
    }

    /// Lets this subflow send up to `bytes` of new data in this step. `holds_back`: true if the
    /// connection has more data. An offer of zero withdraws unsent data.
    #[inline]
    pub(crate) fn offer(&mut self, bytes: u64, holds_back: bool) {
        self.write_end = self.snd_nxt.saturating_add(bytes);
        self.holds_back = holds_back;
    }

    /// Lets the connection bind more data after an acknowledgment and before new data is sent
    /// (Linux `mptcp_incoming_options`, which comes between `tcp_ack` and `tcp_data_snd_check`).
    #[inline]
    pub(crate) fn bind_first(&mut self, binds_first: bool) {
        if let Some(subflow) = self.socket.subflow() {
            subflow.binds_first = binds_first;
        }
    }

    /// Returns true if the congestion window allows another segment.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight() < self.window.cwnd as u32
    }

    /// Returns true if an sk_buff was sent and the window had space left, since the last call
    /// (Linux `tcp_event_new_data_sent`).
    pub(crate) fn take_had_room(&mut self) -> bool {
        let subflow = self.socket.subflow();
        subflow.is_some_and(|subflow| std::mem::take(&mut subflow.had_room))
    }

    /// Records that an sk_buff was sent, and if the congestion window then had space left.
    #[inline]
    pub(super) fn report_room(&mut self) {
        let has_room = self.has_room();
        if let Some(subflow) = self.socket.subflow() {
            subflow.had_room |= has_room;
        }
    }

    /// Halves the window, and the threshold after slow start, because the subflow blocks the
    /// connection's window (Raiciu et al., NSDI 2012, section 4.2).
    pub(crate) fn penalise(&mut self) {
        let prior = self.window.cwnd;
        self.set_cwnd((prior / 2.0).floor());
        if prior >= self.window.ssthresh {
            self.window.ssthresh = (self.window.ssthresh / 2.0).floor().max(2.0);
        }
    }

    /// Returns the state of this subflow for the coupled congestion controls of the other subflows.
    pub(crate) fn coupled_state(&self, srtt: Span) -> PathState {
        let window = &self.window;
        let repairs = matches!(self.state, RecoveryState::Recovery | RecoveryState::Loss);
        let cwnd = if repairs {
            window.ssthresh.min(window.cwnd.max(2.0))
        } else {
            window.cwnd
        };
        match &self.congestion {
            Congestion::Coupled(coupled) => coupled.state(cwnd, srtt.as_secs_f64()),
            _ => PathState::default(),
        }
    }

    /// Passes the state of all subflows to a coupled congestion control.
    pub(crate) fn see_paths(&mut self, on: usize, paths: &[PathState]) {
        if let Congestion::Coupled(coupled) = &mut self.congestion {
            coupled.set_paths(on, paths);
        }
    }
}

/// Restarts the measurement of window use after the send buffer has grown (Linux `tcp_new_space`).
pub(crate) fn stamp_usage(sender: &mut Sender, now: Time) {
    sender.usage.stamp(now);
}

/// Records the properties of the next offer. `begins`: true if the offer begins a mapping.
/// `writer_waits`: true if the connection's writer waits for free space.
pub(crate) fn record_offer(sender: &mut Sender, begins: bool, writer_waits: bool) {
    let next = sender.snd_nxt;
    if let Some(subflow) = sender.socket.subflow() {
        subflow.begins_at = begins.then_some(next);
        subflow.writer_waits = writer_waits;
    }
}

/// Returns the peer's window on this subflow as last accepted. A duplicate ACK does not reduce it.
pub(crate) fn offered_window(sender: &Sender) -> u64 {
    sender.snd_wnd
}

/// Raises the window to the connection's window for the data bound to this subflow (Linux
/// `mptcp_check_allowed_size`).
pub(crate) fn raise_window(sender: &mut Sender, to: u64) {
    sender.snd_wnd = sender.snd_wnd.max(to);
}

/// Reserves room in each data segment for a DATA_ACK of 64 bits. Must be called after the
/// handshake.
pub(crate) fn reserve_long_acks(sender: &mut Sender) {
    if sender.long_ack_len == 0 {
        sender.long_ack_len = MptcpOption::LONG_ACK_LEN;
        sender.window.mss -= MptcpOption::LONG_ACK_LEN;
    }
}

/// Returns the bytes that each data segment reserves for a DATA_ACK of 64 bits instead of 32.
pub(crate) fn long_ack_len(sender: &Sender) -> u32 {
    sender.long_ack_len
}

/// Begins an sk_buff of data bound to `sender`. Without segments in flight, the subflow may have
/// been idle, so its window is reduced as after idle time (Linux `tcp_skb_entail`).
pub(crate) fn begin(sender: &mut Sender, now: Time) {
    if sender.board.is_empty() {
        sender.restart_after_idle(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::coupling::Coupled;
    use crate::tcp::config::TcpConfig;
    use fadeout_core::FlowId;
    use fadeout_core::registry::Parameters;
    use std::sync::Arc;

    fn coupled() -> Sender {
        let lia = Coupled::new("lia", &Parameters::default()).expect("it is a coupling");
        let lia = Congestion::Coupled(Box::new(lia));
        Sender::new(&Arc::new(TcpConfig::linux()), FlowId(0), lia)
    }

    #[test]
    fn a_subflow_shows_its_window_and_the_threshold_while_it_repairs() {
        let mut sender = coupled();
        sender.window.cwnd = 20.0;
        sender.window.ssthresh = 14.0;
        for (state, cwnd) in [
            (RecoveryState::Open, 20.0),
            (RecoveryState::Recovery, 14.0),
            (RecoveryState::Loss, 14.0),
        ] {
            sender.state = state;
            let shown = sender.coupled_state(Span::from_millis(250));
            assert_eq!((shown.cwnd, shown.srtt_s), (cwnd, 0.25), "{state:?}");
        }
    }

    #[test]
    fn a_subflow_sees_the_others() {
        let mut sender = coupled();
        let before = format!("{:?}", sender.congestion);
        let path = |cwnd, srtt_s| PathState {
            cwnd,
            srtt_s,
            ..PathState::default()
        };
        let paths = [path(1.0, 0.0), path(7.0, 0.1)];
        sender.see_paths(1, &paths);
        let Congestion::Coupled(mut expected) = coupled().congestion else {
            unreachable!("it is coupled");
        };
        expected.set_paths(1, &paths);
        let expected = format!("{:?}", Congestion::Coupled(expected));
        assert_ne!(before, expected);
        assert_eq!(format!("{:?}", sender.congestion), expected);
    }

    #[test]
    fn room_for_long_acks_is_reserved_once_and_counts_in_rates() {
        let mut sender = coupled();
        sender.window.mss = 1424;
        for _ in 0..2 {
            reserve_long_acks(&mut sender);
            assert_eq!((sender.window.mss, long_ack_len(&sender)), (1420, 4));
        }
    }

    #[test]
    fn the_window_of_a_subflow_is_raised_and_not_narrowed_to_the_connections() {
        let mut sender = coupled();
        sender.snd_wnd = 5_000;
        for (to, window) in [(4_000, 5_000), (7_000, 7_000), (0, 7_000)] {
            raise_window(&mut sender, to);
            assert_eq!(offered_window(&sender), window, "{to}");
        }
    }
}
