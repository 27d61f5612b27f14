//! One path: its subflow, and the data that its sequence numbers carry.

use super::manager::PathManager;
use crate::congestion::Window;
use crate::multipath::PathId;
use crate::tcp::sender::subflow;
use crate::tcp::{SubflowView, TcpEndpoint};
use fadeout_core::{MptcpOption, Span};
use std::collections::VecDeque;

/// Range of subflow sequence numbers mapped to data sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    /// First subflow sequence number.
    pub(super) seq: u64,
    /// First data sequence number.
    pub(super) data_seq: u64,
    /// Number of bytes.
    pub(super) len: u64,
    /// Number of bytes from the start of this range to the end of the data that was mapped at once.
    pub(super) remaining: u64,
}

impl Mapping {
    /// Largest number of bytes in a mapping. The 16-bit length also counts the sequence number of a
    /// DATA_FIN.
    ///
    /// Standard: RFC 8684 §3.3.
    const MOST: u64 = u16::MAX as u64 - 1;

    /// Returns the length of a mapping for `bytes` of data whose first segment has `len` bytes.
    /// Data that exceeds the length field is mapped in several parts of whole segments.
    pub(super) fn bytes_mapped(bytes: u64, len: u64) -> u64 {
        if bytes <= Mapping::MOST {
            bytes
        } else {
            (Mapping::MOST / len).max(1) * len
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.seq + self.len
    }
    pub(super) fn data_end(&self) -> u64 {
        self.data_seq + self.len
    }
}

/// The mappings of a path.
///
/// Standard: RFC 8684 §3.3.1.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    /// Mappings sent and not acknowledged on the subflow, in order.
    sent: VecDeque<Mapping>,
    /// Mappings that arrived out of order on the subflow, in order.
    held: VecDeque<Mapping>,
}

impl Mappings {
    /// Records the mapping of data that was just sent.
    pub(super) fn push(&mut self, mapping: Mapping) {
        debug_assert!(
            mapping.len > 0 && mapping.len <= mapping.remaining,
            "a mapping of {} of {} bytes",
            mapping.len,
            mapping.remaining
        );
        debug_assert!(
            (self.sent.back()).is_none_or(|last| last.end() <= mapping.seq),
            "a mapping begins within the one before it"
        );
        self.sent.push_back(mapping);
    }

    /// Returns the mappings sent and not acknowledged, in order of subflow sequence numbers.
    pub(super) fn sent(&self) -> impl Iterator<Item = &Mapping> {
        self.sent.iter()
    }

    /// Returns the data sequence number of a byte sent on the subflow, and the number of bytes from
    /// there on that were mapped at once. `None` if the byte has no mapping.
    pub(super) fn data_seq_of(&self, seq: u64) -> Option<(u64, u64)> {
        let after = self.sent.partition_point(|mapping| mapping.seq <= seq);
        let mapping = self.sent.get(after.checked_sub(1)?)?;
        let inside = seq - mapping.seq;
        (seq < mapping.end()).then(|| (mapping.data_seq + inside, mapping.remaining - inside))
    }

    /// Returns the unacknowledged mapping that carries a data sequence number. `None` if there is
    /// none.
    pub(super) fn mapping_of(&self, data_seq: u64) -> Option<Mapping> {
        let carries =
            |mapping: &&Mapping| mapping.data_seq <= data_seq && data_seq < mapping.data_end();
        self.sent.iter().find(carries).copied()
    }

    /// Removes mappings that the subflow acknowledged.
    pub(super) fn forget_acknowledged(&mut self, snd_una: u64) {
        while self
            .sent
            .front()
            .is_some_and(|front| front.end() <= snd_una)
        {
            self.sent.pop_front();
        }
    }

    /// Stores a received mapping until the subflow has its data in order. Returns true if the
    /// mapping is new.
    pub(super) fn hold(&mut self, mapping: Mapping, rcv_nxt: u64) -> bool {
        let at = self.held.partition_point(|known| known.seq < mapping.seq);
        let known = self.held.get(at);
        let is_new = mapping.end() > rcv_nxt && known.is_none_or(|known| known.seq != mapping.seq);
        if is_new {
            debug_assert!(
                at == 0 || self.held[at - 1].seq < mapping.seq,
                "held mappings are not in order"
            );
            self.held.insert(at, mapping);
        }
        is_new
    }

    /// Removes and returns the first stored mapping that is in order below `rcv_nxt`. `None` if
    /// there is none.
    pub(super) fn take_in_order(&mut self, rcv_nxt: u64) -> Option<Mapping> {
        self.held.pop_front_if(|first| first.seq < rcv_nxt)
    }
}

/// Counters of a path.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathStatistics {
    /// Bytes of new data sent.
    pub sent_bytes: u64,
    /// Number of bytes sent that another path had sent before.
    pub reinjected_bytes: u64,
    /// Number of bytes that the receiver got in subflow order.
    pub arrived_bytes: u64,
    /// Number of times the path's window was halved because it blocked the other paths.
    pub penalties: u64,
}

#[derive(Debug)]
pub(super) struct Path {
    pub(super) id: PathId,
    pub(super) tcp: TcpEndpoint,
    pub(super) mappings: Mappings,
    pub(super) statistics: PathStatistics,
    /// True if segments have no MPTCP option, because the connection continues as plain TCP.
    pub(super) is_plain: bool,
}

impl Path {
    pub(super) fn new(id: PathId, tcp: TcpEndpoint) -> Path {
        Path {
            id,
            tcp,
            mappings: Mappings::default(),
            statistics: PathStatistics::default(),
            is_plain: false,
        }
    }

    #[inline(always)]
    pub(super) fn view(&self) -> SubflowView {
        self.tcp.subflow_view()
    }

    /// Returns the payload of a full segment with a mapping and a DATA_ACK of 32 bits.
    pub(super) fn mapped_mss(&self) -> u32 {
        self.tcp.window().mss + subflow::long_ack_len(self.tcp.sender())
    }

    /// Returns the payload of a full segment without the MPTCP option (Linux `advmss`).
    pub(super) fn advertised_mss(&self) -> u32 {
        let option = match self.is_plain {
            true => 0,
            false => MptcpOption::MAPPING_LEN,
        };
        self.mapped_mss() + option
    }
}

/// Returns the retransmission timeout of a path by its number.
pub(super) fn rto_of(paths: &[Path]) -> impl Fn(usize) -> Span {
    move |index| paths[index].view().rto
}

/// Access to the paths of a connection for the allocator and the send queues. Paths are indexed by
/// their numbers.
pub(super) trait Paths {
    /// Returns the number of paths.
    fn count(&self) -> usize;
    /// Returns true if this end opened the connection.
    fn is_opener(&self) -> bool;
    /// Returns true if a path carries data.
    fn is_usable(&self, index: usize) -> bool;
    /// Returns true if a path carries data, or is the first path while it opens.
    fn may_carry(&self, index: usize) -> bool;
    /// Returns true if a path was given up, reset or removed.
    fn is_gone(&self, index: usize) -> bool;
    fn is_backup(&self, index: usize) -> bool;
    fn view(&self, index: usize) -> SubflowView;
    fn window(&self, index: usize) -> Window;
    /// Returns the target size of a path's send buffer in bytes of memory. Each sk_buff counts
    /// `header` bytes for headers.
    fn wanted_buffer(&self, index: usize, header: u64) -> u64;
    fn mappings(&self, index: usize) -> &Mappings;
}

/// Read access to the paths of a connection, for the allocator and the send queues.
pub(super) struct PathsView<'a> {
    pub(super) paths: &'a [Path],
    pub(super) manager: &'a PathManager,
}

impl Paths for PathsView<'_> {
    fn count(&self) -> usize {
        self.paths.len()
    }
    fn is_opener(&self) -> bool {
        self.manager.is_opener()
    }
    #[inline]
    fn is_usable(&self, index: usize) -> bool {
        self.manager.is_usable(index)
    }
    fn may_carry(&self, index: usize) -> bool {
        self.manager.may_carry(index)
    }
    fn is_gone(&self, index: usize) -> bool {
        self.manager.is_gone(index)
    }
    fn is_backup(&self, index: usize) -> bool {
        self.manager.is_backup(index)
    }
    #[inline(always)]
    fn view(&self, index: usize) -> SubflowView {
        self.paths[index].view()
    }
    #[inline]
    fn window(&self, index: usize) -> Window {
        *self.paths[index].tcp.window()
    }
    fn wanted_buffer(&self, index: usize, header: u64) -> u64 {
        self.paths[index].tcp.sender().wanted_buffer(header)
    }
    fn mappings(&self, index: usize) -> &Mappings {
        &self.paths[index].mappings
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::congestion::RecoveryState;
    use crate::tcp::socket::memory::memory_of_windows;
    use fadeout_core::Rate;

    /// Path without a subflow for tests. Its window is ten segments of 1,000 bytes.
    pub(in crate::multipath::connection) struct FakePath {
        pub(in crate::multipath::connection) is_accepted: bool,
        pub(in crate::multipath::connection) is_usable: bool,
        pub(in crate::multipath::connection) is_gone: bool,
        pub(in crate::multipath::connection) is_backup: bool,
        pub(in crate::multipath::connection) view: SubflowView,
        pub(in crate::multipath::connection) window: Window,
        pub(in crate::multipath::connection) mappings: Mappings,
    }

    /// Returns a path with this round-trip time.
    pub(in crate::multipath::connection) fn path(rtt_ms: u64) -> FakePath {
        FakePath {
            is_accepted: false,
            is_usable: true,
            is_gone: false,
            is_backup: false,
            view: SubflowView {
                srtt: Span::from_millis(rtt_ms),
                variance: Span::ZERO,
                rto: Span::from_millis(200 + rtt_ms),
                timer_at: None,
                pacing_rate: Rate::from_bits_per_sec(8_000_000),
                in_flight: 0,
                pieces: 0,
                piece: 1_000_000,
                snd_una: 1,
                snd_nxt: 1,
                rcv_nxt: 1,
                receiver_rtt: None,
                recovery_state: RecoveryState::Open,
                timeouts_in_a_row: 0,
                may_send: true,
            },
            window: Window {
                cwnd: 10.0,
                ssthresh: f64::INFINITY,
                mss: 1_000,
            },
            mappings: Mappings::default(),
        }
    }

    impl Paths for Vec<FakePath> {
        fn count(&self) -> usize {
            self.len()
        }
        fn is_opener(&self) -> bool {
            self.iter().all(|path| !path.is_accepted)
        }
        fn is_usable(&self, index: usize) -> bool {
            self[index].is_usable
        }
        fn may_carry(&self, index: usize) -> bool {
            self[index].is_usable
        }
        fn is_gone(&self, index: usize) -> bool {
            self[index].is_gone
        }
        fn is_backup(&self, index: usize) -> bool {
            self[index].is_backup
        }
        fn view(&self, index: usize) -> SubflowView {
            self[index].view
        }
        fn window(&self, index: usize) -> Window {
            self[index].window
        }
        fn wanted_buffer(&self, index: usize, header: u64) -> u64 {
            memory_of_windows(2, self[index].window.cwnd as u64, 1_460, header)
        }
        fn mappings(&self, index: usize) -> &Mappings {
            &self[index].mappings
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(seq: u64, data_seq: u64, len: u64) -> Mapping {
        Mapping {
            seq,
            data_seq,
            len,
            remaining: len,
        }
    }

    #[test]
    fn a_run_longer_than_the_field_is_mapped_in_parts_of_whole_segments() {
        for (bytes, mapped) in [
            (1_400, 1_400),
            (65_534, 65_534),
            (65_535, 46 * 1_400),
            (186_544, 46 * 1_400),
        ] {
            assert_eq!(Mapping::bytes_mapped(bytes, 1_400), mapped, "{bytes}");
        }
    }

    #[test]
    fn bytes_of_the_subflow_are_found_in_the_data_and_the_other_way_round() {
        let mut mappings = Mappings::default();
        mappings.push(mapping(1, 501, 100));
        mappings.push(mapping(101, 901, 50));
        for (seq, data_seq) in [
            (0, None),
            (1, Some(501)),
            (100, Some(600)),
            (101, Some(901)),
            (150, Some(950)),
            (151, None),
        ] {
            let found = mappings.data_seq_of(seq).map(|(data_seq, _)| data_seq);
            assert_eq!(found, data_seq, "{seq}");
        }
        for (data_seq, seq) in [
            (500, None),
            (501, Some(1)),
            (600, Some(1)),
            (601, None),
            (950, Some(101)),
            (951, None),
        ] {
            let found = mappings.mapping_of(data_seq).map(|mapping| mapping.seq);
            assert_eq!(found, seq, "{data_seq}");
        }
        mappings.forget_acknowledged(100);
        assert_eq!(mappings.sent().count(), 2);
        mappings.forget_acknowledged(101);
        assert_eq!(mappings.sent().count(), 1);
        assert_eq!(mappings.data_seq_of(100), None);
    }

    #[test]
    fn what_arrives_is_held_once_until_the_subflow_has_it_in_order() {
        let mut mappings = Mappings::default();
        mappings.hold(mapping(201, 901, 100), 101);
        mappings.hold(mapping(101, 501, 100), 101);
        mappings.hold(mapping(101, 777, 100), 101);
        mappings.hold(mapping(1, 1, 100), 101);
        assert_eq!(mappings.take_in_order(101), None);
        assert_eq!(mappings.take_in_order(102), Some(mapping(101, 501, 100)));
        assert_eq!(mappings.take_in_order(201), None);
        assert_eq!(mappings.take_in_order(301), Some(mapping(201, 901, 100)));
        assert_eq!(mappings.take_in_order(301), None);
    }
}
