//! Socket options, changes by the caller of a simulation, and `tcp_info`.

use super::TcpEndpoint;
use crate::congestion::Congestion;
use crate::tcp::Outbox;
use crate::tcp::info::TcpInfo;
use crate::tcp::sender::{HostQueue, Steering};
use fadeout_core::{Bytes, Probe, Span, Time};

/// Socket options, by Linux's names.
#[derive(Debug)]
pub enum SocketOption {
    /// True if small segments are sent without waiting for outstanding data (`TCP_NODELAY`).
    NoDelay(bool),
    /// True if small segments wait for more data to be written (`TCP_CORK`).
    Cork(bool),
    /// True if more data follows the next write, so that its end is not pushed (`MSG_MORE`).
    More(bool),
    /// Number of bytes to be written after which a record ends. No segment crosses its end
    /// (`MSG_EOR`).
    EndRecordAfter(Bytes),
    /// Largest number of SYNs (`TCP_SYNCNT`). The timeout doubles with each SYN.
    SynCount(u32),
    /// Longest time that data may stay unacknowledged (`TCP_USER_TIMEOUT`). `None` for no limit.
    UserTimeout(Option<Span>),
    /// True if data is acknowledged quickly (`TCP_QUICKACK`).
    QuickAck(bool),
    /// New congestion control of the connection (`TCP_CONGESTION`).
    Congestion(Box<Congestion>),
    /// Opens the connection by Fast Open (`TCP_FASTOPEN`). The first SYN carries up to this many
    /// bytes of written data. If the peer opens the connection, the data on its SYN is accepted.
    /// This end may then send before the handshake is complete. The caller handles the cookies.
    ///
    /// Standard: RFC 7413 §4.2.
    FastOpen(u32),
}

impl TcpEndpoint {
    /// Sets a socket option at `now`.
    pub fn set(&mut self, now: Time, option: SocketOption) {
        self.is_predicting = false;
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

    /// True if this end opens the connection by Fast Open once it connects.
    pub fn opens_fast(&self) -> bool {
        self.opening.is_early() && !self.opening.has_begun()
    }

    /// Records the state of the queue in front of the host's network device. The caller does so
    /// before each step of an endpoint whose host has such a queue.
    pub fn set_host_queue(&mut self, queue: HostQueue) {
        self.sender.set_host_queue(queue);
    }

    /// Sends the data that waited for the host's queue, after packets have left the queue.
    pub fn on_host_queue(
        &mut self,
        now: Time,
        queue: HostQueue,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        self.sender.set_host_queue(queue);
        if self.sender.take_host_wait() {
            self.push(now, out, probe);
        }
    }

    /// Applies a change by the caller of a simulation, and sends the data that the change allows.
    pub fn steer(
        &mut self,
        now: Time,
        steering: Steering,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        self.sender.steer(now, steering);
        self.push(now, out, probe);
    }

    /// Returns a snapshot of the connection's state.
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
