//! A receiver whose buffer is that of a multipath connection: the window is the connection's, and what it
//! says of an arrival decides here when its acknowledgment leaves.

use super::Receiver;
use super::packets::Held;
use crate::tcp::config::{AckRule, ReceiveWindow, TcpConfig};
use fadeout_core::Segment;

/// What the connection says of the segment that comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OfConnection {
    /// Data sequence number at which its mapping ends.
    pub(crate) mapping_end: u64,
    /// It lets the window grow: quick ACKs go on (Linux `tcp_grow_window`).
    pub(crate) grows: bool,
    /// It is data that the connection has already, all of it, and less can be offered than was: an acknowledgment of more than a
    /// segment waits (Linux `subflow_data_ready`, which asks for it where there is something new).
    pub(crate) is_old: bool,
    /// Less can be offered than was while it is not read: an acknowledgment of more than a segment waits, where there is something
    /// to read (Linux `__tcp_ack_snd_check`).
    pub(crate) is_crowded: bool,
    /// The application reads it and has nothing left to read, over all paths (`mptcp_cleanup_rbuf`).
    pub(crate) drains: bool,
}

impl OfConnection {
    /// For a receiver of `config`, where its window is a connection's.
    pub(super) fn of(config: &TcpConfig) -> Option<OfConnection> {
        (config.receive_window == ReceiveWindow::Shared).then(OfConnection::default)
    }
}

impl Receiver {
    /// Whether the segment under way is nothing new to the connection.
    pub(super) fn brings_nothing(&self) -> bool {
        self.of_connection.is_some_and(|said| said.is_old)
    }
}

/// Whether an acknowledgment of more than a segment waits, by what the connection says.
pub(super) fn is_held_up(receiver: &Receiver) -> bool {
    let said = receiver.of_connection;
    said.is_some_and(|said| said.is_old || said.is_crowded)
}

/// Memory that is taken in `receiver` when `segment` comes: what waits behind a gap, and the segment where it leaves none, or is
/// joined to what does. A short one takes as much as a whole one.
pub(crate) fn held_with(receiver: &Receiver, segment: &Segment) -> Held {
    let packets = &receiver.packets;
    let own = match segment.seq <= receiver.reassembly.next() {
        true => packets.alone(segment.len.max(receiver.peer_mss)),
        false => packets.joined(segment.seq, segment.end_seq(), receiver.kind_of(segment)),
    };
    Held::Memory(packets.memory() + own)
}

/// Bytes that `segment` puts in order in `receiver`.
pub(crate) fn in_order_with(receiver: &Receiver, segment: &Segment) -> u64 {
    let next = receiver.reassembly.next();
    if segment.seq > next {
        return 0;
    }
    receiver.reassembly.next_with(segment.end_seq()) - next
}

/// `receiver` is told what the connection says of the next segment.
pub(crate) fn tell(receiver: &mut Receiver, said: OfConnection) {
    receiver.of_connection = Some(said);
}

/// Whether the ACK that leaves `receiver` is one that reading asks for: the buffer is empty of what came.
pub(crate) fn take_has_read_first(receiver: &mut Receiver) -> bool {
    std::mem::take(&mut receiver.has_read_first)
}

/// Less than half of the connection's buffer is free.
pub(crate) fn tell_of_tightness(receiver: &mut Receiver) {
    receiver.policy.forgo_quick_acks();
}

/// Whether `receiver` owes an acknowledgment of the end of a burst.
pub(super) fn ends_burst(receiver: &Receiver) -> bool {
    receiver.pushes > 1 || (receiver.pushes > 0 && !receiver.policy.is_interactive())
}

/// Whether `receiver` owes an acknowledgment that leaves when the application has read something, on whatever path that came: of more than
/// a segment, or of the end of a burst, where that leaves nothing to read or makes room for twice what was offered, and nothing is
/// behind a gap of its own (Linux `mptcp_cleanup_rbuf`).
pub(crate) fn answers_reading(receiver: &Receiver, leaves_nothing: bool, makes_room: bool) -> bool {
    let is_drained = receiver.packets.unread() == 0 && receiver.reassembly.buffered() == 0;
    receiver.policy.rule() == AckRule::Linux
        && receiver.policy.is_pending()
        && (receiver.is_more_than_a_segment_unacknowledged()
            || ((leaves_nothing || makes_room) && ends_burst(receiver) && is_drained))
}
