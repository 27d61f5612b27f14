//! Socket options and `tcp_info`.

use super::TcpEndpoint;
use crate::congestion::Congestion;
use crate::tcp::info::TcpInfo;
use fadeout_core::{Bytes, Span, Time};

/// Socket options, by Linux's names.
#[derive(Debug)]
pub enum SocketOption {
    /// Whether small segments leave without waiting for outstanding data (`TCP_NODELAY`).
    NoDelay(bool),
    /// Whether small segments wait for more to be written (`TCP_CORK`).
    Cork(bool),
    /// Whether more follows what is written next, so that its end is not pushed (`MSG_MORE`).
    More(bool),
    /// A record ends after the next so many bytes that are written: no segment reaches beyond its
    /// end (`MSG_EOR`).
    EndRecordAfter(Bytes),
    /// How many SYNs are sent, each after twice the time of the one before (`TCP_SYNCNT`).
    SynCount(u32),
    /// How long data may stay unacknowledged (`TCP_USER_TIMEOUT`).
    UserTimeout(Option<Span>),
    /// Whether data is acknowledged quickly (`TCP_QUICKACK`).
    QuickAck(bool),
    /// Another congestion control takes over (`TCP_CONGESTION`).
    Congestion(Box<Congestion>),
    /// Opens by Fast Open: the first SYN carries up to so many bytes of what is written by then, or,
    /// where the peer opens, the data on its SYN is taken and this end may send before the handshake
    /// is complete. Cookies are the caller's business (`TCP_FASTOPEN`).
    ///
    /// Standard: RFC 7413 §4.2.
    FastOpen(u32),
}

impl TcpEndpoint {
    /// Sets an option from now on.
    pub fn set(&mut self, now: Time, option: SocketOption) {
        match option {
            SocketOption::NoDelay(is_on) => self.sender.set_nagle(!is_on),
            SocketOption::Cork(is_on) => self.sender.set_cork(is_on),
            SocketOption::More(follows) => self.sender.set_more(follows),
            SocketOption::EndRecordAfter(bytes) => self.sender.end_record_after(bytes.0),
            SocketOption::SynCount(syns) => self.opening.limit_syns(syns),
            SocketOption::UserTimeout(limit) => self.sender.set_user_timeout(limit),
            SocketOption::QuickAck(is_on) => self.receiver.set_quick_acks(is_on),
            SocketOption::Congestion(congestion) => {
                self.sender.set_congestion(now, *congestion);
            }
            SocketOption::FastOpen(room) => self.opening.open_fast(room),
        }
    }

    /// A snapshot of the connection's state.
    pub fn info(&self) -> TcpInfo {
        let accurate = self.accurate.as_ref();
        TcpInfo {
            rcv_mss: self.receiver.peer_mss(),
            has_taken_syn_data: self.opening.has_taken_early(),
            accurate_ecn: accurate.map(|accurate| (accurate.received(), accurate.delivered())),
            ..self.sender.info()
        }
    }
}
