//! A receiver whose buffer and window belong to a multipath connection. The connection's
//! information about a received segment decides when the acknowledgment is sent.

use super::Receiver;
use super::coalesced::Parts;
use super::packets::Held;
use crate::tcp::config::{AckRule, ReceiveWindow, TcpConfig};
use fadeout_core::Segment;

/// Information about the next segment from its multipath connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConnectionInfo {
    /// Data sequence number at which the segment's mapping ends.
    pub(crate) mapping_end: u64,
    /// True if the segment lets the window grow. Quick ACKs then continue (Linux
    /// `tcp_grow_window`).
    pub(crate) grows: bool,
    /// True if the connection already has all data of the segment and its window would shrink. An
    /// acknowledgment of more than a segment then waits, because Linux requests it only for new
    /// data (`subflow_data_ready`).
    pub(crate) is_old: bool,
    /// True if the window would shrink while the segment is unread. An acknowledgment of more than
    /// a segment then waits for the read (Linux `__tcp_ack_snd_check`).
    pub(crate) is_crowded: bool,
    /// True if the application reads the segment and then has nothing left to read on any path
    /// (`mptcp_cleanup_rbuf`).
    pub(crate) drains: bool,
}

impl ConnectionInfo {
    /// Returns default information if the multipath connection owns the window under `config`.
    /// `None` for a plain TCP receiver.
    pub(super) fn from_config(config: &TcpConfig) -> Option<ConnectionInfo> {
        (config.buffers.receive_window == ReceiveWindow::Shared).then(ConnectionInfo::default)
    }
}

impl Receiver {
    /// Returns true if the current segment has no new data for the connection.
    pub(super) fn brings_nothing(&self) -> bool {
        self.of_connection.is_some_and(|info| info.is_old)
    }
}

/// Returns true if the connection delays an acknowledgment of more than a segment.
pub(super) fn is_held_up(receiver: &Receiver) -> bool {
    let info = receiver.of_connection;
    info.is_some_and(|info| info.is_old || info.is_crowded)
}

/// Returns the memory that `receiver` uses when `segment` arrives. Counts the data behind a gap.
/// Counts the segment too if it leaves no gap or is merged with that data. A short segment uses as
/// much memory as a full one.
pub(crate) fn held_with(receiver: &Receiver, segment: &Segment) -> Held {
    let packets = &receiver.packets;
    let own = match segment.seq <= receiver.reassembly.next() {
        true => packets.alone(segment.len.max(receiver.peer_mss)),
        false => {
            let kind = receiver.kinds()(segment.len);
            packets.joined(segment.seq, segment.end_seq(), kind)
        }
    };
    Held::Memory(packets.memory() + own)
}

/// Returns the number of bytes in `receiver` that become in order with `segment`.
pub(crate) fn in_order_with(receiver: &Receiver, segment: &Segment) -> u64 {
    let next = receiver.reassembly.next();
    if segment.seq > next {
        return 0;
    }
    receiver.reassembly.next_with(segment.end_seq()) - next
}

/// Passes the connection's information about the next segment to `receiver`.
pub(crate) fn set_connection_info(receiver: &mut Receiver, info: ConnectionInfo) {
    receiver.of_connection = Some(info);
}

/// Returns true if a read that emptied the buffer causes the next ACK of `receiver`. Resets this
/// flag.
pub(crate) fn take_has_read_first(receiver: &mut Receiver) -> bool {
    std::mem::take(&mut receiver.has_read_first)
}

/// Reserves no room for an MPTCP option beside the SACK blocks of `receiver`.
pub(crate) fn leave_multipath(receiver: &mut Receiver) {
    receiver.multipath_len = 0;
}

/// Records which packets were merged into the next segment of `receiver`. `None` for a single
/// packet.
pub(crate) fn set_parts(receiver: &mut Receiver, parts: Option<Parts>) {
    receiver.parts = parts;
}

/// Returns the payload of the full packets that were merged into a segment, bytes. The payload of
/// a single packet is that of its segment.
pub(crate) fn size_of_parts(receiver: &Receiver, segment: &Segment) -> u32 {
    receiver.parts.map_or(segment.len, |parts| parts.size)
}

/// Ends quick ACKs because less than half of the connection's buffer is free.
pub(crate) fn end_quick_acks(receiver: &mut Receiver) {
    receiver.policy.forgo_quick_acks();
}

/// Returns true if `receiver` has not acknowledged the end of a burst.
pub(super) fn ends_burst(receiver: &Receiver) -> bool {
    receiver.pushes > 1 || (receiver.pushes > 0 && !receiver.policy.is_interactive())
}

/// Returns true if `receiver` sends an acknowledgment after the application read data of any path.
/// This is so if more than a segment is unacknowledged, or if a burst has ended. The end of a burst
/// counts only if this receiver has no gap. Also, the read must empty the buffer or free twice the
/// window last offered (Linux `mptcp_cleanup_rbuf`).
pub(crate) fn answers_reading(receiver: &Receiver, leaves_nothing: bool, makes_room: bool) -> bool {
    let is_drained = receiver.packets.unread() == 0 && receiver.reassembly.buffered() == 0;
    receiver.policy.rule() == AckRule::Linux
        && receiver.policy.is_pending()
        && (receiver.is_more_than_a_segment_unacknowledged()
            || ((leaves_nothing || makes_room) && ends_burst(receiver) && is_drained))
}
