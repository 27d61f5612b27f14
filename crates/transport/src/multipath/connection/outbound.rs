//! Sending half of a connection. It stores the sequence numbers written, sent and acknowledged, the
//! peer's window, the DATA_FIN and the connection's timer.
//!
//! Standard: RFC 8684 §3.3.

use crate::tcp::TcpConfig;
use fadeout_core::{Dss, Span, Time};

/// Number of bytes that stands for an endless write.
pub(super) const ENDLESS: u64 = u64::MAX / 4;

/// Result of an expiry of the connection's timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Data was acknowledged since the timer was set.
    Progress,
    /// Only the DATA_FIN was not acknowledged.
    FinOutstanding,
    /// No data was acknowledged since the timer was set.
    Stalled,
}

/// Sending half of a connection, independent of the paths that carry its data.
#[derive(Debug)]
pub(super) struct Outbound {
    /// First data sequence number not acknowledged (DATA_ACK received).
    una: u64,
    /// Next data sequence number to be sent for the first time.
    nxt: u64,
    /// End of the data that the application has written.
    end: u64,
    /// First data sequence number beyond the peer's window.
    window_end: u64,
    /// True if the application has closed.
    fin_queued: bool,
    /// True if segments carry the DATA_FIN (Linux `snd_data_fin_enable`).
    fin_enabled: bool,
    fin_sent: bool,
    /// True if data counts as handed over once it is bound to a path, and not only once it is sent
    /// (Linux). Acknowledgments then carry the DATA_FIN although data waits on a path.
    binds_ahead: bool,
    /// Number of repeats of DATA_FIN, and its limit.
    fin_repeats: u32,
    most_repeats: u32,
    /// Shortest and longest time between two repeats.
    waits: (Span, Span),
    /// Time of the next check for unacknowledged data.
    timer_at: Time,
    /// First unacknowledged data sequence number when the timer was set.
    una_then: u64,
}

impl Outbound {
    pub(super) fn new(config: &TcpConfig, binds_ahead: bool) -> Outbound {
        Outbound {
            una: 1,
            nxt: 1,
            end: 1,
            window_end: 1,
            fin_queued: false,
            fin_enabled: false,
            fin_sent: false,
            binds_ahead,
            fin_repeats: 0,
            most_repeats: config.timers.maximum_retries,
            waits: (
                config.timers.minimum_rto,
                config.timers.maximum_rto.max(config.timers.minimum_rto),
            ),
            timer_at: Time::NEVER,
            una_then: 1,
        }
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        let Outbound { una, nxt, end, .. } = *self;
        debug_assert!(
            una <= nxt + 1,
            "DATA_ACK {una} is of more than was sent, {nxt}"
        );
        debug_assert!(nxt <= end, "up to {nxt} was sent, and written up to {end}");
        debug_assert!(
            self.una_then <= una,
            "the timer was set at a later acknowledgment"
        );
        debug_assert!(
            !self.fin_sent || self.fin_enabled,
            "a DATA_FIN left before its time"
        );
        debug_assert!(
            !self.fin_enabled || self.fin_queued,
            "a DATA_FIN is enabled without a close"
        );
        debug_assert!(
            self.fin_repeats <= self.most_repeats,
            "the DATA_FIN was repeated too often"
        );
        debug_assert!(
            self.fin_repeats == 0 || self.fin_sent,
            "a DATA_FIN was repeated that never left"
        );
    }

    /// Records that the application wrote `bytes` more.
    pub(super) fn write(&mut self, bytes: u64) {
        self.end = self.end.saturating_add(bytes);
    }

    /// Queues the DATA_FIN, because the application writes no more.
    pub(super) fn finish(&mut self) {
        self.fin_queued = true;
    }

    /// Returns true if the application has closed.
    pub(super) fn is_finishing(&self) -> bool {
        self.fin_queued
    }

    /// Lets segments carry the DATA_FIN from now on. Returns true if no segment could before.
    pub(super) fn enable_fin(&mut self) -> bool {
        !std::mem::replace(&mut self.fin_enabled, true)
    }

    #[inline]
    pub(super) fn una(&self) -> u64 {
        self.una
    }
    #[inline]
    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.end
    }
    /// Returns true if the application has written nothing so far, as at an end that only receives.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.end == 1
    }
    #[inline]
    pub(super) fn window_end(&self) -> u64 {
        self.window_end
    }
    /// Returns the number of bytes that were never sent.
    #[inline]
    pub(super) fn unsent(&self) -> u64 {
        self.end - self.nxt
    }

    /// Processes a DATA_ACK up to `data_ack`, with a window of `window` bytes from there.
    pub(super) fn on_data_ack(&mut self, data_ack: u64, window: u64) {
        if data_ack > self.una && data_ack <= self.nxt + 1 {
            self.una = data_ack;
        }
        self.window_end = self.window_end.max(data_ack + window);
    }

    /// Processes the window of a handshake segment. The window of a SYN begins at the first number,
    /// and that of another segment at the first unacknowledged one.
    pub(super) fn on_handshake(&mut self, is_syn: bool, window: u64) {
        let from = if is_syn { 1 } else { self.una };
        self.window_end = self.window_end.max(from + window);
    }

    /// Records that data up to `end` was sent.
    pub(super) fn on_sent(&mut self, end: u64) {
        debug_assert!(
            end <= self.end,
            "data up to {end} left, and {} is written",
            self.end
        );
        self.nxt = self.nxt.max(end);
    }

    /// Returns true if the DATA_FIN needs a segment of its own, because all data was sent without
    /// it.
    pub(super) fn owes_fin(&self) -> bool {
        self.fin_enabled && !self.fin_sent && self.nxt == self.end
    }

    /// Returns true if the DATA_FIN was acknowledged.
    pub(super) fn is_fin_acknowledged(&self) -> bool {
        self.fin_sent && self.una > self.end
    }

    /// Returns the data sequence signal of a segment that acknowledges `data_ack`. `data` is the
    /// first data sequence number, the length, and the length to the end of the mapping. `None` for
    /// a segment without data.
    pub(super) fn signal(&mut self, data_ack: u64, data: Option<(u64, u32, u64)>) -> Dss {
        let mut dss = Dss {
            data_ack,
            ..Dss::default()
        };
        let ends_at_fin = |end: u64| self.fin_enabled && end == self.end;
        if let Some((data_seq, len, remaining)) = data {
            dss.data_seq = data_seq;
            dss.data_fin = ends_at_fin(data_seq + u64::from(len));
            debug_assert!(
                remaining.max(len.into()) + u64::from(dss.data_fin) <= u16::MAX.into(),
                "a mapping of {remaining} bytes does not fit its field"
            );
            dss.data_len = remaining.max(len.into()) as u16 + u16::from(dss.data_fin);
        } else if self.fin_enabled
            && (self.binds_ahead || self.nxt == self.end)
            && self.una <= self.end
        {
            dss.data_seq = self.end;
            dss.data_len = 1;
            dss.data_fin = true;
        }
        self.fin_sent |= dss.data_fin;
        dss
    }

    /// Records a segment of plain TCP after a fallback. The FIN is the DATA_FIN.
    pub(super) fn on_plain_sent(&mut self, has_fin: bool) {
        self.fin_sent |= has_fin && self.fin_enabled;
    }

    pub(super) fn wake_at(&self) -> Time {
        self.timer_at
    }

    /// Starts the timer if data is unacknowledged. The timer expires at the time that `fires_at`
    /// returns. `None` leaves the timer off.
    pub(super) fn arm(&mut self, fires_at: impl FnOnce() -> Option<Time>) {
        let sent = self.nxt + u64::from(self.fin_sent);
        if self.una >= sent {
            self.timer_at = Time::NEVER;
        } else if self.timer_at.is_never() || self.una != self.una_then {
            self.una_then = self.una;
            self.timer_at = fires_at().unwrap_or(Time::NEVER);
        }
    }

    /// Sets the timer to expire at `at`.
    pub(super) fn set_timer(&mut self, at: Time) {
        self.timer_at = at;
    }

    /// Schedules the next repeat of DATA_FIN, after twice the time of the last one (Linux
    /// `mptcp_set_datafin_timeout`). Returns false if DATA_FIN was repeated too often and the
    /// connection is given up.
    pub(super) fn repeat_fin(&mut self, now: Time) -> bool {
        if self.fin_repeats >= self.most_repeats {
            return false;
        }
        self.fin_repeats += 1;
        let (shortest, longest) = self.waits;
        let wait = (1..self.fin_repeats).fold(shortest, |wait, _| (wait * 2).min(longest));
        self.timer_at = now.saturating_add(wait);
        true
    }

    /// Handles an expiry of the timer.
    pub(super) fn on_timer(&mut self) -> Expiry {
        self.timer_at = Time::NEVER;
        if self.una != self.una_then {
            Expiry::Progress
        } else if self.fin_sent && self.una == self.end {
            Expiry::FinOutstanding
        } else {
            Expiry::Stalled
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Returns a sending half with 1,000 bytes written and `sent` bytes sent.
    fn outbound(sent: u64) -> Outbound {
        let mut outbound = Outbound::new(&TcpConfig::linux(), false);
        outbound.write(1_000);
        outbound.on_sent(1 + sent);
        outbound
    }

    /// Returns a sending half that has sent all data and the DATA_FIN.
    fn outbound_closed() -> Outbound {
        let mut outbound = outbound(1_000);
        outbound.finish();
        outbound.enable_fin();
        outbound.signal(0, None);
        outbound
    }

    #[test]
    fn acknowledgments_move_forward_to_what_was_sent_and_its_fin() {
        let mut outbound = outbound(500);
        for (ack, una) in [
            (0, 1),
            (503, 1),
            (201, 201),
            (101, 201),
            (501, 501),
            (502, 502),
        ] {
            outbound.on_data_ack(ack, 0);
            assert_eq!(outbound.una(), una, "{ack}");
        }
        assert_eq!((outbound.unsent(), outbound.end()), (500, 1_001));
    }

    #[test]
    fn the_window_never_shrinks() {
        let mut outbound = outbound(500);
        outbound.on_handshake(true, 100);
        assert_eq!(outbound.window_end(), 101);
        outbound.on_data_ack(401, 1_000);
        assert_eq!(outbound.window_end(), 1_401);
        outbound.on_data_ack(401, 900);
        outbound.on_handshake(true, 1_200);
        assert_eq!(outbound.window_end(), 1_401);
        outbound.on_handshake(false, 1_200);
        assert_eq!(outbound.window_end(), 1_601);
    }

    #[test]
    fn a_fin_rides_on_the_last_data_or_leaves_by_itself() {
        let mut outbound = outbound(500);
        assert!(
            !outbound.signal(7, Some((901, 100, 0))).data_fin,
            "not closed"
        );
        outbound.finish();
        assert!(!outbound.signal(7, Some((901, 100, 0))).data_fin, "not yet");
        assert!(outbound.enable_fin() && !outbound.enable_fin());
        assert!(!outbound.owes_fin());
        let part = outbound.signal(7, Some((501, 400, 0)));
        assert_eq!((part.data_seq, part.data_len, part.data_ack), (501, 400, 7));
        assert!(!part.data_fin);
        assert!(!outbound.signal(7, None).data_fin);
        outbound.on_sent(1_001);
        assert!(outbound.owes_fin());
        let last = outbound.signal(7, Some((901, 100, 0)));
        assert_eq!((last.data_len, last.data_fin), (101, true));
        assert!(!outbound.owes_fin() && !outbound.is_fin_acknowledged());
        let alone = outbound.signal(8, None);
        assert_eq!((alone.data_seq, alone.data_len), (1_001, 1));
        assert!(alone.data_fin);
        outbound.on_data_ack(1_001, 0);
        assert!(outbound.signal(8, None).data_fin && !outbound.is_fin_acknowledged());
        outbound.on_data_ack(1_002, 0);
        assert!(outbound.is_fin_acknowledged());
        assert!(!outbound.signal(8, None).data_fin);
    }

    #[test]
    fn acknowledgments_carry_the_fin_before_the_data_is_sent_if_data_is_bound_ahead() {
        for binds_ahead in [false, true] {
            let mut outbound = Outbound::new(&TcpConfig::linux(), binds_ahead);
            outbound.write(1_000);
            outbound.on_sent(501);
            outbound.finish();
            assert!(!outbound.signal(7, None).data_fin);
            outbound.enable_fin();
            let dss = outbound.signal(7, None);
            assert_eq!(dss.data_fin, binds_ahead);
            assert_eq!(dss.data_seq, if binds_ahead { 1_001 } else { 0 });
        }
    }

    #[test]
    fn the_timer_runs_from_the_last_progress_while_anything_is_outstanding() {
        let mut outbound = outbound(0);
        outbound.arm(|| Some(ms(300)));
        assert!(outbound.wake_at().is_never());
        outbound.on_sent(501);
        outbound.arm(|| None);
        assert!(outbound.wake_at().is_never(), "no path to wait for");
        outbound.arm(|| Some(ms(310)));
        assert_eq!(outbound.wake_at(), ms(310));
        outbound.arm(|| Some(ms(320)));
        assert_eq!(outbound.wake_at(), ms(310));
        outbound.on_data_ack(101, 0);
        outbound.arm(|| Some(ms(330)));
        assert_eq!(outbound.wake_at(), ms(330));
        outbound.set_timer(ms(400));
        outbound.arm(|| Some(ms(340)));
        assert_eq!(outbound.wake_at(), ms(400));
        outbound.on_data_ack(501, 0);
        outbound.arm(|| Some(ms(350)));
        assert!(outbound.wake_at().is_never());
    }

    #[test]
    fn an_expiry_tells_progress_from_a_fin_and_from_data_that_is_stuck() {
        let mut outbound = outbound(1_000);
        outbound.arm(|| Some(ms(300)));
        assert_eq!(outbound.on_timer(), Expiry::Stalled);
        assert!(outbound.wake_at().is_never());
        outbound.arm(|| Some(ms(300)));
        outbound.on_data_ack(11, 0);
        assert_eq!(outbound.on_timer(), Expiry::Progress);
        let mut closed = outbound_closed();
        closed.arm(|| Some(ms(300)));
        assert_eq!(closed.on_timer(), Expiry::Stalled);
        outbound.on_data_ack(1_001, 0);
        outbound.finish();
        outbound.enable_fin();
        outbound.signal(0, None);
        outbound.arm(|| Some(ms(300)));
        assert_eq!(outbound.wake_at(), ms(300), "the fin is outstanding");
        assert_eq!(outbound.on_timer(), Expiry::FinOutstanding);
    }

    #[test]
    fn a_fin_is_repeated_ever_more_seldom_and_not_for_ever() {
        let config = TcpConfig::linux().changed(|tcp| {
            tcp.timers.maximum_retries = 4;
            tcp.timers.minimum_rto = Span::from_millis(200);
            tcp.timers.maximum_rto = Span::from_millis(500);
        });
        let mut outbound = Outbound::new(&config, false);
        for wait in [200, 400, 500, 500] {
            assert!(outbound.repeat_fin(ms(1_000)));
            assert_eq!(outbound.wake_at(), ms(1_000 + wait));
        }
        assert!(!outbound.repeat_fin(ms(1_000)));
    }
}
