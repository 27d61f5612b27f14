//! Socket of a sender. It decides how much written data it accepts, and when the writer waits. It
//! divides the data into sk_buffs, which take memory.
//!
//! The sender asks [`SocketModel`], and does not know the kind of its socket. The files are:
//!
//! - [`unbounded`]: a socket that accepts all data at once
//! - [`linux`]: Linux's socket, with a send buffer of limited memory
//! - [`subflow`]: a subflow of Linux's Multipath TCP, whose connection has the send buffer
//! - [`bursts`]: segmentation offload, which sockets of all kinds use
//! - [`memory`]: memory of sk_buffs
//! - [`stream`]: state of a sender that its socket uses

pub(in crate::tcp) mod bursts;
pub(in crate::tcp) mod linux;
pub(crate) mod memory;
mod stream;
pub(in crate::tcp) mod subflow;
pub(in crate::tcp) mod unbounded;

pub(in crate::tcp) use stream::{Head, Stream};

use super::config::SocketKind;
use bursts::Bursts;
use fadeout_core::MptcpOption;
use linux::LinuxSocket;
use subflow::LinuxSubflow;
use unbounded::Unbounded;

/// Newest segment of a sender.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct Newest {
    /// True if the segment is shorter than a full one.
    pub(in crate::tcp) is_small: bool,
    /// True if the segment ends a record or all written data.
    pub(in crate::tcp) ends_data: bool,
    /// True if the segment is followed by another one of the same burst.
    pub(in crate::tcp) is_followed: bool,
}

/// Socket of a sender.
#[derive(Debug)]
pub(in crate::tcp) enum SocketModel {
    /// A socket that accepts all data at once.
    Unbounded(Unbounded),
    /// Linux's socket.
    Linux(LinuxSocket),
    /// A subflow of Linux's Multipath TCP.
    Subflow(LinuxSubflow),
}

impl SocketModel {
    pub(in crate::tcp) fn new(kind: SocketKind) -> SocketModel {
        match kind {
            SocketKind::Unbounded => SocketModel::Unbounded(Unbounded::default()),
            SocketKind::Linux(config) => SocketModel::Linux(LinuxSocket::new(config)),
            SocketKind::LinuxSubflow => SocketModel::Subflow(LinuxSubflow::default()),
        }
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(in crate::tcp) fn assert_invariants(&self) {
        if let SocketModel::Linux(socket) = self {
            socket.assert_invariants();
        }
    }

    /// Records that the application writes `bytes`. Returns true if the socket accepts them at
    /// once.
    pub(in crate::tcp) fn accepts_at_once(&mut self, bytes: u64) -> bool {
        match self {
            SocketModel::Linux(socket) => {
                socket.add(bytes);
                false
            }
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => true,
        }
    }

    /// Returns the number of written bytes that the socket has not accepted.
    #[inline]
    pub(in crate::tcp) fn backlog(&self) -> u64 {
        match self {
            SocketModel::Linux(socket) => socket.backlog(),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => 0,
        }
    }

    /// Returns true if the application has data to write and does not wait.
    #[inline]
    pub(in crate::tcp) fn is_writing(&self) -> bool {
        match self {
            SocketModel::Linux(socket) => socket.is_writing(),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => false,
        }
    }

    /// Returns true if the writer waits for free memory in this socket.
    #[inline]
    pub(in crate::tcp) fn makes_wait(&self) -> bool {
        match self {
            SocketModel::Linux(socket) => socket.waits,
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => false,
        }
    }

    /// Returns true if a writer waits for free memory in this socket or in its connection's.
    pub(in crate::tcp) fn has_waiting_writer(&self) -> bool {
        match self {
            SocketModel::Unbounded(_) => false,
            SocketModel::Linux(socket) => socket.waits,
            SocketModel::Subflow(subflow) => subflow.writer_waits,
        }
    }

    /// Closes the writer. Returns true if the socket has accepted all data.
    pub(in crate::tcp) fn close(&mut self) -> bool {
        match self {
            SocketModel::Linux(socket) => socket.close(),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => true,
        }
    }

    /// Returns true if the application closes once the socket has accepted all data.
    pub(in crate::tcp) fn is_closing(&self) -> bool {
        match self {
            SocketModel::Linux(socket) => socket.is_closing(),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => false,
        }
    }

    /// Removes `bytes` of the backlog, which the SYN carried. Returns the number of bytes that the
    /// socket had not accepted.
    pub(in crate::tcp) fn skip(&mut self, bytes: u64) -> u64 {
        match self {
            SocketModel::Linux(socket) => {
                socket.skip(bytes);
                bytes
            }
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => 0,
        }
    }

    /// Returns the socket into whose memory the application writes. `None` if data needs no memory.
    #[inline]
    pub(in crate::tcp) fn writer(&mut self) -> Option<&mut LinuxSocket> {
        match self {
            SocketModel::Linux(socket) => Some(socket),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => None,
        }
    }

    /// Returns the bytes that each sk_buff counts for headers when the send buffer grows. `None` if
    /// the socket has no send buffer.
    pub(in crate::tcp) fn header_memory(&self) -> Option<u64> {
        match self {
            SocketModel::Linux(socket) => Some(socket.header()),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => None,
        }
    }

    /// Returns the memory of `bytes` of unacknowledged data, which contain `sent` sent sk_buffs.
    #[inline]
    pub(in crate::tcp) fn memory(&self, bytes: u64, sent: u32) -> u64 {
        match self {
            SocketModel::Linux(socket) => socket.memory(bytes, sent),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => 0,
        }
    }

    /// Returns true if `memory` bytes reach the limit of the send buffer.
    pub(in crate::tcp) fn is_full(&self, memory: u64) -> bool {
        match self {
            SocketModel::Linux(socket) => memory >= socket.limit,
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => false,
        }
    }

    /// Extends the first sk_buff by newly written data that still fits.
    pub(in crate::tcp) fn extend_piece(&mut self, stream: &Stream) {
        if let SocketModel::Unbounded(socket) = self {
            socket.extend(stream);
        }
    }

    /// Moves the end of a full sk_buff forward while the application writes and the first segments
    /// are sent.
    #[inline]
    pub(in crate::tcp) fn grow_piece(&mut self, stream: &Stream, bursts: &mut Bursts) {
        if let SocketModel::Unbounded(socket) = self {
            socket.grow(stream, bursts);
        }
    }

    /// Fixes the end of a growing sk_buff if no more data can be sent now.
    #[inline]
    pub(in crate::tcp) fn settle_piece(&mut self, stream: &Stream) {
        if let SocketModel::Unbounded(socket) = self {
            socket.settle(stream);
        }
    }

    /// Returns true if newly written data extends the sk_buff that is sent next.
    #[inline]
    pub(in crate::tcp) fn is_growing(&self) -> bool {
        matches!(self, SocketModel::Unbounded(Unbounded { grows: true, .. }))
    }

    /// Extends the first sk_buff up to `bytes`, with data of the sk_buff after it (Linux
    /// `tcp_grow_skb`).
    #[inline]
    pub(in crate::tcp) fn grow_head(&mut self, next: u64, bytes: u64) {
        if let SocketModel::Linux(socket) = self {
            socket.grow_head(next, bytes);
        }
    }

    /// Returns the data from which one burst is cut.
    #[inline]
    pub(in crate::tcp) fn burst_source(&self, stream: &Stream) -> Head {
        match self {
            SocketModel::Linux(socket) => socket.head(stream.next),
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => Head {
                bytes: stream.unsent(),
                is_last: true,
            },
        }
    }

    /// Returns the first sk_buff, whose rest may wait for a larger burst. `None` if the rest never
    /// waits, because it fits into one segment.
    pub(in crate::tcp) fn gathered(&self, stream: &Stream) -> Option<Head> {
        match self {
            SocketModel::Unbounded(socket) => Some(socket.head(stream)),
            SocketModel::Linux(socket) => {
                Some(socket.head(stream.next)).filter(|head| head.bytes > stream.mss)
            }
            SocketModel::Subflow(_) => Some(Head {
                bytes: stream.unsent(),
                is_last: !stream.holds_back,
            }),
        }
    }

    /// Returns true if the newest segment ends all data that the application has written. Linux's
    /// socket marks the end of each write in its sk_buffs instead.
    #[inline]
    pub(in crate::tcp) fn ends_data(&self, stream: &Stream) -> bool {
        match self {
            SocketModel::Linux(_) => false,
            SocketModel::Unbounded(_) | SocketModel::Subflow(_) => stream.unsent() == 0,
        }
    }

    /// Returns true if the newest segment carries the PSH of its sk_buff. Removes the data that was
    /// sent.
    #[inline]
    pub(in crate::tcp) fn pushes(
        &mut self,
        newest: Newest,
        stream: &Stream,
        bursts: &mut Bursts,
    ) -> bool {
        let is_pushed = match self {
            SocketModel::Unbounded(socket) => socket.leave(stream, bursts),
            SocketModel::Linux(socket) => socket.leave(stream.next),
            // The segment ends the connection's written data, unless the sk_buff had become full.
            SocketModel::Subflow(_) => {
                return newest.ends_data && (!stream.holds_back || newest.is_small);
            }
        };
        // An sk_buff that ends within a burst was filled up from the next sk_buff. So the end of
        // the burst carries its PSH.
        is_pushed && !newest.is_followed || newest.ends_data
    }

    /// Returns true if rate samples may be marked as application-limited. `tcp_sendmsg` sets this
    /// mark in Linux, and writes to subflows bypass it.
    #[inline]
    pub(in crate::tcp) fn marks_app_limit(&self) -> bool {
        !matches!(self, SocketModel::Subflow(_))
    }

    /// Returns the bytes of the MPTCP option that rates and windows count with each segment.
    /// Linux's segment size of a subflow ignores the option (`mss_cache`). `long_ack_len` bytes are
    /// reserved for a long DATA_ACK.
    #[inline]
    pub(in crate::tcp) fn counted_option(&self, long_ack_len: u32) -> u32 {
        match self {
            SocketModel::Subflow(_) => MptcpOption::MAPPING_LEN + long_ack_len,
            SocketModel::Unbounded(_) | SocketModel::Linux(_) => 0,
        }
    }

    /// Returns true if a mapping of the connection begins at sequence number `seq`.
    #[inline]
    pub(in crate::tcp) fn begins_mapping(&self, seq: u64) -> bool {
        match self {
            SocketModel::Subflow(subflow) => subflow.begins_at == Some(seq),
            SocketModel::Unbounded(_) | SocketModel::Linux(_) => false,
        }
    }

    /// Returns true if new data may be sent right after an acknowledgment. Returns false if a
    /// connection binds more data first (Linux `mptcp_incoming_options`, which comes between
    /// `tcp_ack` and `tcp_data_snd_check`).
    #[inline]
    pub(in crate::tcp) fn sends_after_ack(&self) -> bool {
        match self {
            SocketModel::Subflow(subflow) => !subflow.binds_first,
            SocketModel::Unbounded(_) | SocketModel::Linux(_) => true,
        }
    }

    /// Returns the state that a multipath connection changes. `None` if the connection does not use
    /// Linux's stack.
    #[inline]
    pub(in crate::tcp) fn subflow(&mut self) -> Option<&mut LinuxSubflow> {
        match self {
            SocketModel::Subflow(subflow) => Some(subflow),
            SocketModel::Unbounded(_) | SocketModel::Linux(_) => None,
        }
    }
}
