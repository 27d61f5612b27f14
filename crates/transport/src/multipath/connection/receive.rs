//! Processing of received segments for the connection, and the connection's fields in segments to
//! send.

use super::inbound::BufferRound;
use super::path::{Mapping, Path};
use super::{MultipathConnection, PathManager};
use crate::multipath::{PathId, PathOutbox};
use crate::tcp::endpoint::receiver_of;
use crate::tcp::receiver::shared::{self, ConnectionInfo};
use crate::tcp::sender::subflow;
use crate::tcp::{AppEvent, ConnectionState};
use fadeout_core::{Flags, MptcpOption, Probe, Segment, Time};

/// Reason of a reset that the connection causes (Linux `MPTCP_RST_EUNSPEC`).
///
/// Standard: RFC 8684 §3.6.
const UNSPECIFIED: u8 = 0;

impl MultipathConnection {
    /// Processes the multipath option of a segment before the subflow does.
    pub(super) fn take_option(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        match segment.mptcp {
            MptcpOption::Dss(dss) => {
                if !self.socket.reads_data_ack_last() {
                    self.outbound.on_data_ack(dss.data_ack, segment.window);
                }
                if dss.data_fin {
                    let end = dss.data_seq + u64::from(dss.data_len);
                    self.inbound.on_data_fin(end - 1);
                }
                if segment.len > 0 {
                    let mapping = Mapping {
                        seq: segment.seq,
                        data_seq: dss.data_seq,
                        len: u64::from(segment.len),
                        remaining: u64::from(segment.len),
                    };
                    let path = &mut self.paths[index];
                    let rcv_nxt = path.view().rcv_nxt;
                    let mut info = ConnectionInfo {
                        mapping_end: dss.data_seq + u64::from(dss.data_len)
                            - u64::from(dss.data_fin),
                        ..ConnectionInfo::default()
                    };
                    // The end of the mapping decides into which packet the segment is merged.
                    shared::set_connection_info(receiver_of(&mut path.tcp), info);
                    if path.mappings.hold(mapping, rcv_nxt) {
                        let held = shared::held_with(receiver_of(&mut path.tcp), segment);
                        let mss = path.advertised_mss();
                        let size = shared::size_of_parts(receiver_of(&mut path.tcp), segment);
                        info.grows = self.inbound.grow(index, size, segment.len, mss, held);
                        let (start, end) = (mapping.data_seq, mapping.data_end());
                        info.drains = self.inbound.is_drained_by(start, end);
                        let whole = path.mapped_mss();
                        info.is_old = self.inbound.has_all_of(index, end, whole);
                        let in_order = shared::in_order_with(receiver_of(&mut path.tcp), segment);
                        info.is_crowded =
                            (self.inbound).is_crowded_by(index, (start, end), in_order, whole);
                    }
                    shared::set_connection_info(receiver_of(&mut path.tcp), info);
                }
            }
            MptcpOption::RemoveAddress { path } => {
                if usize::from(path) < self.paths.len() {
                    self.lose_path(usize::from(path));
                }
            }
            MptcpOption::Capable => {
                let is_syn = segment.flags.has(Flags::SYN);
                self.outbound.on_handshake(is_syn, segment.window);
            }
            MptcpOption::Join { backup: true } => self.manager.set_backup(index, true),
            MptcpOption::Priority { backup } => self.manager.set_backup(index, backup),
            MptcpOption::FastClose => self.on_fast_close(now, index, segment, out, probe),
            MptcpOption::Join { backup: false }
            | MptcpOption::AddAddress { .. }
            | MptcpOption::Reset { .. }
            | MptcpOption::None => {}
        }
    }

    /// Passes the in-order data of the subflow of path `index` to the connection.
    pub(super) fn take_arrived(
        &mut self,
        now: Time,
        index: usize,
        arrived: u64,
        out: &mut PathOutbox,
    ) {
        let path = &mut self.paths[index];
        let rcv_nxt = path.view().rcv_nxt;
        let mss = path.mapped_mss();
        while let Some(mapping) = path.mappings.take_in_order(rcv_nxt) {
            (self.inbound).insert(mapping.data_seq, mapping.data_end(), mss);
        }
        if arrived > 0 {
            path.statistics.arrived_bytes += arrived;
            out.arrived.push((PathId(index as u8), arrived));
        }
        let measure = || measure(&self.paths, &self.manager);
        let delivered = self.inbound.deliver(now, mss, measure);
        out.delivered_bytes += delivered.bytes;
        if delivered.fin {
            self.report(AppEvent::PeerClosed, out);
        }
    }

    /// Lets the application read again.
    pub(super) fn resume_reading(&mut self, now: Time, out: &mut PathOutbox) {
        let mss = self.paths[0].mapped_mss();
        let measure = || measure(&self.paths, &self.manager);
        let (bytes, opens_window) = self.inbound.resume(now, mss, measure);
        out.delivered_bytes += bytes;
        if opens_window {
            self.acknowledge_on_best(now, out);
        }
    }

    /// Writes the connection's fields into a segment that is sent on path `index`.
    pub(super) fn stamp(&mut self, index: usize, segment: &mut Segment) {
        if segment.flags.has(Flags::SYN) {
            let (window, scale) = self.inbound.syn_window();
            if !self.has_fallen_back {
                segment.mptcp = self.manager.handshake(index);
            }
            segment.window = window;
            segment.window_scale = Some(scale);
            return;
        }
        let path = &mut self.paths[index];
        let next = self.inbound.next();
        let mss = path.mapped_mss();
        segment.window = self.inbound.advertise(index, mss);
        if self.inbound.is_tight(mss) {
            shared::end_quick_acks(receiver_of(&mut path.tcp));
        }
        if self.has_fallen_back {
            self.outbound.on_plain_sent(segment.flags.has(Flags::FIN));
            return;
        }
        if segment.flags.has(Flags::RST) {
            segment.mptcp = match self.is_aborting {
                true => MptcpOption::FastClose,
                false => MptcpOption::Reset {
                    reason: UNSPECIFIED,
                },
            };
            return;
        }
        if segment.len == 0
            && let Some(option) = self.manager.signal(index)
        {
            segment.mptcp = option;
            return;
        }
        let data = (segment.len > 0).then(|| {
            let data_seq = path.mappings.data_seq_of(segment.seq);
            let (data_seq, remaining) = data_seq.expect("a segment that leaves has a mapping");
            (data_seq, segment.len, remaining)
        });
        let mut dss = self.outbound.signal(next, data);
        // A segment that was cut before room was reserved keeps the short DATA_ACK.
        dss.has_long_ack = self.inbound.has_received() && segment.len <= path.tcp.window().mss;
        segment.mptcp = MptcpOption::Dss(dss);
    }

    /// Reserves room for a DATA_ACK of 64 bits in data segments, if this end has received data and
    /// sends data itself (Linux `use_64bit_ack`).
    pub(super) fn reserve_long_acks(&mut self) {
        if self.has_fallen_back || !self.inbound.has_received() || self.outbound.is_unused() {
            return;
        }
        for path in &mut self.paths {
            if path.tcp.state() == ConnectionState::Established {
                subflow::reserve_long_acks(path.tcp.sender_mut());
            }
        }
    }
}

/// Processes the DATA_ACK of a segment after the subflow of path `index` has processed the segment.
/// The window is the present window of the subflow. For a duplicate ACK with a new DATA_ACK, this
/// is the window of the ACK before it, counted from the new DATA_ACK (Linux `ack_update_msk`).
pub(super) fn take_data_ack(connection: &mut MultipathConnection, index: usize, segment: &Segment) {
    if connection.socket.reads_data_ack_last()
        && let MptcpOption::Dss(dss) = segment.mptcp
    {
        let window = subflow::offered_window(connection.paths[index].tcp.sender());
        connection.outbound.on_data_ack(dss.data_ack, window);
    }
}

/// Returns true if the application's read causes the ACK that is sent on path `index` (Linux
/// `mptcp_cleanup_rbuf`).
pub(super) fn has_read_first(connection: &mut MultipathConnection, index: usize) -> bool {
    let receiver = receiver_of(&mut connection.paths[index].tcp);
    shared::take_has_read_first(receiver)
}

/// Lets the application read the data just acknowledged on path `index`. After the read, other
/// paths send acknowledgments that are due for more than a segment. If no data is left, they also
/// acknowledge the ends of bursts.
pub(super) fn read(
    connection: &mut MultipathConnection,
    now: Time,
    index: usize,
    out: &mut PathOutbox,
) {
    let mss = connection.paths[index].mapped_mss();
    let measure = || measure(&connection.paths, &connection.manager);
    let Some(has_read) = connection.inbound.read_fresh(now, mss, measure) else {
        return;
    };
    for other in (0..connection.paths.len()).filter(|&other| other != index) {
        let receiver = receiver_of(&mut connection.paths[other].tcp);
        if shared::answers_reading(receiver, has_read.leaves_nothing, has_read.makes_room) {
            connection.acknowledge(now, other, out);
        }
    }
}

/// Returns the round-trip times of the subflows that carry data. A subflow exists for Linux from
/// its SYN on, and has carried no data then.
pub(super) fn measure(paths: &[Path], manager: &PathManager) -> BufferRound {
    let usable = paths
        .iter()
        .filter(|path| manager.is_usable(path.id.index()));
    let there = paths
        .iter()
        .filter(|path| manager.is_there(path.id.index()));
    BufferRound {
        slowest: usable.filter_map(|path| path.view().receiver_rtt).max(),
        all_carried: (there.clone()).all(|path| path.statistics.arrived_bytes > 0),
        present: there.fold(0, |present, path| present | 1 << path.id.index()),
    }
}
