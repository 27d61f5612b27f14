//! A receiver whose buffer is that of a multipath connection: the window is the connection's, and what it
//! says of an arrival decides here when its acknowledgment leaves.

use super::Receiver;
use super::packets::Held;
use crate::tcp::config::{ReceiveWindow, TcpConfig};
use fadeout_core::Segment;

/// What the connection says of the segment that comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OfConnection {
    /// It lets the window grow: quick ACKs go on (Linux `tcp_grow_window`).
    pub(crate) grows: bool,
    /// The application reads it and has nothing left to read, over all paths (`mptcp_cleanup_rbuf`).
    pub(crate) drains: bool,
}

impl OfConnection {
    /// For a receiver of `config`, where its window is a connection's.
    pub(super) fn of(config: &TcpConfig) -> Option<OfConnection> {
        (config.receive_window == ReceiveWindow::Shared).then(OfConnection::default)
    }
}

/// Memory that is taken in `receiver` when `segment` comes: what waits behind a gap, and the segment where it leaves none.
pub(crate) fn held_with(receiver: &Receiver, segment: &Segment) -> Held {
    let alone = match segment.seq <= receiver.reassembly.next() {
        true => receiver.packets.alone(segment.len),
        false => 0,
    };
    Held::Memory(receiver.packets.memory() + alone)
}

/// `receiver` is told what the connection says of the next segment.
pub(crate) fn tell(receiver: &mut Receiver, said: OfConnection) {
    receiver.of_connection = Some(said);
}

/// Less than half of the connection's buffer is free.
pub(crate) fn tell_of_tightness(receiver: &mut Receiver) {
    receiver.policy.forgo_quick_acks();
}
