//! What an application sets and asks beside its data: socket options and `tcp_info`.

use super::TcpEndpoint;
use crate::congestion::Congestion;
use crate::tcp::accurate::AccurateCounters;
use crate::tcp::info::TcpInfo;
use fadeout_core::{Bytes, Span, Time};

impl TcpEndpoint {
    /// Whether small segments wait for outstanding data from now on (`TCP_NODELAY` unset).
    pub fn set_nagle(&mut self, is_on: bool) {
        self.sender.set_nagle(is_on);
    }

    /// Whether small segments wait for more to be written from now on (`TCP_CORK`).
    pub fn set_cork(&mut self, is_on: bool) {
        self.sender.set_cork(is_on);
    }

    /// Whether more follows what is written next, so that its end is not pushed (`MSG_MORE`).
    pub fn set_more(&mut self, follows: bool) {
        self.sender.set_more(follows);
    }

    /// How many SYNs are sent, each after twice the time of the one before (`TCP_SYNCNT`).
    pub fn limit_syns(&mut self, syns: u32) {
        self.config.maximum_syns = syns;
        self.config.linear_syn_timeouts = 0;
    }

    /// How long data may stay unacknowledged (`TCP_USER_TIMEOUT`).
    pub fn set_user_timeout(&mut self, limit: Option<Span>) {
        self.config.user_timeout = limit;
        self.sender.set_user_timeout(limit);
    }

    /// A record ends after the next `bytes` that are written: no segment reaches beyond its end
    /// (`MSG_EOR`).
    pub fn end_record_after(&mut self, bytes: Bytes) {
        self.sender.end_record_after(bytes.0);
    }

    /// Whether data is acknowledged quickly from now on (`TCP_QUICKACK`).
    pub fn set_quick_acks(&mut self, is_on: bool) {
        self.receiver.set_quick_acks(is_on);
    }

    /// Another congestion control takes over.
    pub fn set_congestion(&mut self, now: Time, congestion: Congestion) {
        self.sender.set_congestion(now, congestion);
    }

    /// Counters of accurate ECN: what came, and what the peer says came there.
    pub fn accurate_counters(&self) -> Option<(AccurateCounters, AccurateCounters)> {
        let accurate = self.accurate.as_ref()?;
        Some((accurate.received(), accurate.delivered()))
    }

    /// Payload of what this end takes for the peer's full segments (Linux `tcpi_rcv_mss`), bytes.
    pub fn peer_mss(&self) -> u32 {
        self.receiver.peer_mss()
    }

    /// A snapshot of the connection's state.
    pub fn info(&self) -> TcpInfo {
        self.sender.info()
    }
}
