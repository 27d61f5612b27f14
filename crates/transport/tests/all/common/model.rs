//! Model of a sender and a receiver, built only from the segments that are sent and received. It
//! shares no code with the endpoint.

use fadeout_core::{Flags, Segment, Span};
use std::collections::BTreeMap;

/// Received sequence ranges. They are disjoint, and each has a start and an end.
#[derive(Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds the range `start..end`.
    pub(crate) fn insert(&mut self, mut start: u64, mut end: u64) {
        while let Some((&from, &to)) = self.0.range(..=end).next_back() {
            if to < start {
                break;
            }
            start = start.min(from);
            end = end.max(to);
            self.0.remove(&from);
        }
        self.0.insert(start, end);
    }
    /// Returns the first number behind the range that contains 0.
    pub(crate) fn contiguous(&self) -> u64 {
        self.0.get(&0).copied().unwrap_or(0)
    }
    /// Returns true if the ranges contain all of `start..end`.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        self.0
            .range(..=start)
            .next_back()
            .is_some_and(|(_, &to)| to >= end)
    }
}

/// A segment in the network, as its sender must remember it.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    end: u64,
    is_resent: bool,
    is_sacked: bool,
}

/// One direction of a connection, with its sender and its receiver.
#[derive(Debug, Default)]
pub(crate) struct Direction {
    /// Ranges that reached the receiver, with SYN and FIN.
    arrived: Ranges,
    /// Highest acknowledgment that reached the sender.
    acked: u64,
    /// Right edge of the window that reached the sender.
    right_edge: u64,
    /// First sequence number that was never sent.
    next: u64,
    outstanding: BTreeMap<u64, Outstanding>,
    fin_at: Option<u64>,
    /// Highest acknowledgment that the receiver has sent.
    acknowledged: u64,
    /// Right edge of the window that the receiver has sent.
    offered: u64,
    has_offered: bool,
    /// True if the receiver echoes marks as DCTCP does. An ACK may then be sent for data that
    /// arrived before the newest segment.
    pub(crate) ends_runs: bool,
    before_newest: u64,
    last_stamp: [u32; 2],
    /// Newest timestamp that the receiver accepted (RFC 7323 TS.Recent).
    recent: u32,
    /// Window that the sender knows, and the sequence number of the segment that carried it (RFC
    /// 9293 SND.WL1).
    window: (u64, u64),
}

impl Direction {
    /// Returns the number of bytes of the stream that arrived in order.
    pub(crate) fn readable(&self) -> u64 {
        let next = self.arrived.contiguous();
        let fin = self.fin_at.is_some_and(|at| at < next);
        next.saturating_sub(1) - u64::from(fin)
    }
    /// Returns the number of bytes of the stream that were sent at least once.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.next.saturating_sub(1) - u64::from(self.fin_at.is_some())
    }
    /// Returns true if the FIN and all data before it have arrived.
    pub(crate) fn has_ended(&self) -> bool {
        self.fin_at.is_some_and(|at| at < self.arrived.contiguous())
    }

    /// Records the sequence numbers of a segment that is sent.
    pub(crate) fn on_data_sent(&mut self, segment: &Segment) {
        if segment.has_timestamps {
            assert!(segment.ts_value >= self.last_stamp[0], "timestamps go back");
            self.last_stamp[0] = segment.ts_value;
        }
        let (start, end) = (segment.seq, segment.end_seq());
        if start == end {
            let is_probe = start + 1 == self.acked;
            assert!(
                start == self.next || is_probe,
                "a segment without data stands at SND.NXT {} or probes below {}",
                self.next,
                self.acked
            );
            return;
        }
        let fin = segment.flags.has(Flags::FIN);
        if start == self.next {
            assert!(self.fin_at.is_none(), "nothing follows a FIN");
            self.next = end;
            self.fin_at = fin.then(|| end - 1);
            self.outstanding.insert(
                start,
                Outstanding {
                    end,
                    is_resent: false,
                    is_sacked: false,
                },
            );
        } else {
            assert!(end <= self.next, "new data leaves no hole and no overlap");
            assert!(end > self.acked, "nothing acknowledged is sent again");
            let known = self
                .outstanding
                .get_mut(&start)
                .expect("a segment is sent again as it was");
            assert_eq!(known.end, end, "a segment is sent again as it was");
            assert!(!known.is_sacked, "nothing SACKed is sent again");
            known.is_resent = true;
            assert_eq!(fin, self.fin_at == Some(end - 1), "a FIN stays where it is");
        }
        if !segment.flags.has(Flags::SYN) {
            let payload_end = start + u64::from(segment.len);
            assert!(
                payload_end <= self.right_edge,
                "{payload_end} lies beyond the peer's window, which ends at {}",
                self.right_edge
            );
        }
    }

    /// Returns true if the receiver drops `segment` for its timestamp (RFC 7323 section 5.3), which
    /// goes back by more than a millisecond. An acknowledgment less than a timeout old is accepted
    /// if it would not change the state of `reverse`, the direction that it acknowledges.
    pub(crate) fn drops_as_old(&mut self, segment: &Segment, reverse: &Self, rto: Span) -> bool {
        if !segment.has_timestamps {
            return false;
        }
        let age = i64::from(self.recent.wrapping_sub(segment.ts_value) as i32);
        if segment.flags.has(Flags::SYN) {
            // A late copy of the SYN does not change the newest timestamp.
            if self.acknowledged == 0 || age <= 0 {
                self.recent = segment.ts_value;
            }
            return false;
        }
        let changes_nothing = segment.seq_len() == 0
            && segment.seq == self.arrived.contiguous()
            && segment.ack == reverse.acked.max(1)
            && !reverse.updates_window(segment);
        if age > 1 && !(changes_nothing && age <= rto.as_millis() as i64) {
            return true;
        }
        if segment.seq <= self.acknowledged && age <= 0 {
            self.recent = segment.ts_value;
        }
        false
    }

    fn updates_window(&self, segment: &Segment) -> bool {
        let (known, from) = self.window;
        let is_same = segment.seq == from && (segment.window > known || segment.window == 0);
        segment.ack > self.acked || segment.seq > from || is_same
    }

    /// Records the sequence numbers of a segment that reaches the receiver.
    pub(crate) fn on_data_arrived(&mut self, segment: &Segment) {
        self.before_newest = self.arrived.contiguous();
        if segment.seq_len() > 0 {
            self.arrived.insert(segment.seq, segment.end_seq());
        }
    }

    /// Records the acknowledgment of a segment that the receiver sends.
    pub(crate) fn on_ack_sent(&mut self, segment: &Segment) {
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let is_syn = segment.flags.has(Flags::SYN);
        assert!(
            segment.ack >= self.acknowledged,
            "acknowledgments do not go back"
        );
        if !is_syn {
            let is_of_run = self.ends_runs && segment.ack == self.before_newest;
            assert!(
                segment.ack == self.arrived.contiguous() || is_of_run,
                "an acknowledgment says what has arrived in order"
            );
        }
        self.acknowledged = segment.ack;
        let edge = segment.ack + segment.window;
        // A window is rounded to a unit of its scale, which is at most 2^14 (RFC 7323 section 2.4).
        let slack = if self.has_offered { 1 << 14 } else { 1 << 30 };
        assert!(edge + slack > self.offered, "the window does not shrink");
        self.has_offered = !is_syn;
        self.offered = self.offered.max(edge);
        for (n, block) in segment.sack.as_slice().iter().enumerate() {
            assert!(block.start < block.end, "an empty SACK block");
            assert!(
                self.arrived.covers(block.start, block.end),
                "{block:?} is SACKed and did not arrive"
            );
            assert!(
                n == 0 || block.start > segment.ack,
                "only the first block can lie below the acknowledgment"
            );
        }
    }

    /// Records the acknowledgment of a segment that reaches the sender.
    pub(crate) fn on_ack_arrived(&mut self, segment: &Segment) {
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.window.0 = segment.window;
        } else if segment.ack >= self.acked && self.updates_window(segment) {
            self.window = (segment.window, segment.seq);
        }
        self.acked = self.acked.max(segment.ack);
        self.right_edge = self.right_edge.max(segment.ack + segment.window);
        let acked = self.acked;
        self.outstanding.retain(|_, known| known.end > acked);
        for block in segment.sack.as_slice() {
            for (_, known) in self.outstanding.range_mut(block.start..block.end) {
                known.is_sacked |= known.end <= block.end;
            }
        }
    }

    /// Counts the outstanding segments, the SACKed ones, and those that were sent more than once.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for known in self.outstanding.values() {
            counts.packets += 1;
            counts.sacked += u32::from(known.is_sacked);
            counts.resent += u32::from(known.is_resent);
        }
        counts
    }
}

/// Counts of outstanding segments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u32,
    pub(crate) sacked: u32,
    pub(crate) resent: u32,
}
