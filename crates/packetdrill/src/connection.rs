//! Connection of the host: its endpoint, its subflows, and the state of its socket.

use crate::buffer::{Limit, Limits, Progress, SendBuffer};
use crate::endpoint::Endpoint;
use crate::fast_open::Cookie;
use fadeout_core::{Segment, Time};
use std::net::IpAddr;

/// Subflow of a connection, with the numbers that the script gives it. A plain TCP connection has
/// one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    /// Initial sequence number of this end in the script.
    pub(crate) local_isn: u32,
    /// Initial sequence number of the peer in the script.
    pub(crate) remote_isn: u32,
    /// Window scale that this end offered. Both scales apply only if both ends offered one.
    pub(crate) own_scale: Option<u8>,
    /// Window scale that the peer offered.
    pub(crate) peer_scale: Option<u8>,
    /// Address of this end. `None` if the path has no address yet.
    pub(crate) local: Option<IpAddr>,
    /// Address of the peer. `None` if the path has no address yet.
    pub(crate) remote: Option<IpAddr>,
    /// True if the script contains the SYN of the subflow.
    pub(crate) is_known: bool,
}

impl Flow {
    /// Returns true if both ends scale their windows.
    pub(crate) fn is_scaled(&self) -> bool {
        self.own_scale.is_some() && self.peer_scale.is_some()
    }
    /// Returns the scale of the window fields in received segments.
    pub(crate) fn scale_in(&self) -> u8 {
        self.peer_scale.filter(|_| self.is_scaled()).unwrap_or(0)
    }
    /// Returns the scale of the window fields in sent segments.
    pub(crate) fn scale_out(&self) -> u8 {
        self.own_scale.filter(|_| self.is_scaled()).unwrap_or(0)
    }
}

/// Connection of the host.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) endpoint: Endpoint,
    /// Subflows by the numbers of their paths.
    pub(crate) flows: Vec<Flow>,
    /// Number of the path of the newest subflow in the script.
    pub(crate) newest: usize,
    /// True if a segment with a data sequence signal has arrived. The peer then knows both keys.
    pub(crate) is_confirmed: bool,
    /// Number of in-order bytes that the application has not read yet.
    pub(crate) unread: u64,
    /// Number of bytes that the application has read.
    pub(crate) read: u64,
    /// Number of bytes that the application has written.
    pub(crate) written: u64,
    pub(crate) peer_closed: bool,
    pub(crate) is_established: bool,
    /// True if the peer opened the connection by Fast Open. The application can use such a
    /// connection before the handshake is complete.
    pub(crate) is_early: bool,
    /// True if the application closed the socket. Arriving data is then answered with a reset.
    pub(crate) is_released: bool,
    /// Error that broke the connection. `None` after the application has read the error.
    pub(crate) error: Option<&'static str>,
    pub(crate) is_passive: bool,
    /// Fast Open option of the next SYN. `None` if the next SYN carries no such option.
    pub(crate) cookie: Option<Cookie>,
    /// Fast Open option of the first SYN.
    pub(crate) asked: Option<Cookie>,
    /// True if the connection was opened with Fast Open.
    pub(crate) is_fast: bool,
    /// Number of SYNs sent.
    pub(crate) syns: u32,
    /// MSS that this end advertised, in bytes.
    pub(crate) advertised_mss: u32,
    pub(crate) buffer: SendBuffer,
    pub(crate) limits: Limits,
    /// Time of the latest received data.
    pub(crate) received_at: Time,
    /// Time of the latest sent data.
    pub(crate) sent_at: Time,
}

impl Connection {
    /// Returns the first subflow.
    pub(crate) fn first_flow(&self) -> &Flow {
        &self.flows[0]
    }
    /// Returns the send state of the endpoint, from which the send buffer is updated.
    pub(crate) fn progress(&self) -> Progress {
        let info = self.endpoint.info();
        let una = 1 + self.endpoint.acked_bytes();
        let timestamps = if info.timestamps { 12 } else { 0 };
        let left = info.sacked + info.lost;
        Progress {
            una,
            next: (1 + self.written).saturating_sub(self.unsent()),
            cwnd: info.snd_cwnd as u64,
            in_flight: u64::from((info.unacked + info.retrans).saturating_sub(left)),
            window: info.snd_wnd,
            mss: u64::from(info.snd_mss.max(1)),
            largest_mss: u64::from(info.snd_mss + timestamps),
        }
    }
    /// Returns the number of written bytes that were not sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.endpoint.unsent_bytes(self.written)
    }
    /// Updates the send buffer and the limits of `tcp_info` after a step of the endpoint.
    /// `last_burst` is the number of segments in the latest burst.
    pub(crate) fn follow(&mut self, now: Time, last_burst: u64) {
        let progress = self.progress();
        self.buffer.follow(&progress, last_burst);
        let unsent = (1 + self.written).saturating_sub(progress.next);
        let next = unsent.min(progress.mss);
        // As in Linux, a full congestion window takes precedence over the other limits.
        let may_send = progress.in_flight < progress.cwnd;
        let fits = progress.next + next <= progress.una + progress.window;
        let limit = if unsent > 0 && may_send && !fits {
            Limit::Window
        } else if unsent == 0 && may_send && self.buffer.lacks_room() {
            Limit::Buffer
        } else if unsent > 0 || 1 + self.written > progress.una {
            Limit::Busy
        } else {
            Limit::Nothing
        };
        self.limits.set(now, limit);
    }
    /// Returns true if the peer may not know both keys yet when `segment` is sent. Linux then maps
    /// the first data by MP_CAPABLE, whose length equals that of a data sequence signal.
    ///
    /// Standard: RFC 8684 §3.1.
    pub(crate) fn maps_by_capable(&self, path: usize, segment: &Segment) -> bool {
        let is_opener = self.endpoint.is_multipath() && !self.is_passive;
        is_opener && !self.is_confirmed && path == 0 && segment.seq == 1
    }
    /// Returns the offset after the latest in-order byte (RCV.NXT). SYN and FIN are not counted.
    pub(crate) fn received(&self) -> u64 {
        1 + self.read + self.unread
    }
}
