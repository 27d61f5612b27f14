//! PDUs of acknowledged mode that are stored until they are acknowledged, and bytes to retransmit.
//!
//! Standard: TS 38.322 §5.3.2; TS 36.322 §5.2.1.

use super::sequence::{START, SnSpace, Window};
use super::{AmConfig, Nack, Pdu};
use fadeout_core::Ring;

/// Numbered item: an SDU (NR) or a PDU (LTE).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct UnackedItem<T> {
    pub(super) item: T,
    /// Number of bytes that were sent at least once.
    pub(super) len: u32,
    /// Bytes and byte ranges that wait for retransmission.
    pending_bytes: u32,
    pending_pieces: u32,
    /// Number of the last report that requested retransmission.
    reported_by: u32,
    /// RETX_COUNT. `None` before the first retransmission.
    retx_count: Option<u32>,
    is_acked: bool,
}

/// Bytes `start .. end` of item `number` that wait for retransmission.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Piece {
    pub(super) number: u64,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Unacked<T> {
    pub(super) space: SnSpace,
    /// Window from TX_Next_Ack to TX_Next (NR), or from VT(A) to VT(S) (LTE).
    window: Window<UnackedItem<T>>,
    /// Byte ranges in the order of the reports. Ranges of acknowledged items are skipped.
    pieces: Ring<Piece>,
    pub(super) pending_bytes: u64,
    pub(super) pending_pieces: u64,
    reports: u32,
    max_retx_threshold: u32,
    has_failed: bool,
}

impl<T: Copy + Default> Unacked<T> {
    pub(super) fn new(am: &AmConfig) -> Self {
        Unacked {
            space: SnSpace::new(am.sn_bits),
            window: Window::new(START),
            pieces: Ring::new(),
            pending_bytes: 0,
            pending_pieces: 0,
            reports: 0,
            max_retx_threshold: am.max_retx_threshold,
            has_failed: false,
        }
    }
    /// Returns true if an item reached maxRetxThreshold.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }
    /// Returns the number of items that may be sent before the window stalls.
    #[inline]
    pub(super) fn window_left(&self) -> u64 {
        self.space.window - (self.window.end() - self.window.first())
    }
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.window.is_empty()
    }
    /// Returns the highest number sent. Valid only if there is one.
    #[inline]
    pub(super) fn highest(&self) -> u64 {
        self.window.end() - 1
    }
    #[inline]
    pub(super) fn push(&mut self, item: T, len: u32) {
        debug_assert!(
            self.window_left() > 0,
            "a PDU leaves beyond the transmitting window"
        );
        debug_assert!(len > 0, "a PDU of no bytes is kept");
        self.window.push(UnackedItem {
            item,
            len,
            ..UnackedItem::default()
        });
    }
    #[inline]
    pub(super) fn item(&self, number: u64) -> &UnackedItem<T> {
        &self.window[number]
    }
    /// Records that more bytes of the newest item were sent.
    #[inline]
    pub(super) fn grow(&mut self, bytes: u32) {
        let number = self.highest();
        self.window[number].len += bytes;
    }
    /// Returns the oldest item that is not acknowledged. `None` if there is none.
    pub(super) fn oldest(&self) -> Option<&UnackedItem<T>> {
        (!self.window.is_empty()).then(|| &self.window[self.window.first()])
    }
    /// Returns the items that are not acknowledged.
    pub(super) fn unacknowledged(&self) -> impl Iterator<Item = &UnackedItem<T>> {
        (self.window.first()..self.window.end())
            .map(|number| &self.window[number])
            .filter(|sent| !sent.is_acked)
    }

    /// Returns the byte range to retransmit next. `None` if there is none.
    #[inline]
    pub(super) fn front(&mut self) -> Option<Piece> {
        while let Some(&piece) = self.pieces.front() {
            if self.window.contains(piece.number) && !self.window[piece.number].is_acked {
                return Some(piece);
            }
            self.pieces.pop();
        }
        None
    }
    /// Records that the first `len` bytes of the range that [`Unacked::front`] returns were
    /// retransmitted.
    pub(super) fn on_retransmitted(&mut self, len: u32) {
        let first = self.pieces.first();
        let piece = &mut self.pieces[first];
        debug_assert!(
            len > 0 && len <= piece.end - piece.start,
            "{len} bytes of a piece from {} to {} are sent again",
            piece.start,
            piece.end
        );
        let sent = &mut self.window[piece.number];
        piece.start += len;
        sent.pending_bytes -= len;
        self.pending_bytes -= u64::from(len);
        if piece.start == piece.end {
            sent.pending_pieces -= 1;
            self.pending_pieces -= 1;
            self.pieces.pop();
        }
        self.assert_invariants();
    }

    /// Asserts that the items in the window agree with the list of bytes to retransmit. If the
    /// window is short, all its items are checked.
    fn assert_invariants(&self) {
        let (first, end) = (self.window.first(), self.window.end());
        debug_assert!(
            end - first <= self.space.window,
            "{} PDUs are outstanding, more than the window",
            end - first
        );
        debug_assert!(
            (self.pending_bytes == 0) == (self.pending_pieces == 0),
            "{} bytes in {} pieces are to be sent again",
            self.pending_bytes,
            self.pending_pieces
        );
        let pending = |number| u64::from(self.window[number].pending_bytes);
        debug_assert!(
            end - first > 16 || (first..end).map(pending).sum::<u64>() == self.pending_bytes,
            "the bytes to be sent again are not those of the PDUs"
        );
        debug_assert!(
            self.pending_pieces <= self.pieces.len() as u64,
            "pieces are to be sent again that do not wait"
        );
        debug_assert!(
            first == end || !self.window[first].is_acked,
            "the window begins with an acknowledged PDU"
        );
    }

    /// Processes a STATUS PDU. Returns the number of ACK_SN. `None` if the PDU is older than the
    /// window.
    pub(super) fn on_status(&mut self, pdu: &Pdu, nacks: &[Nack]) -> Option<u64> {
        let oldest = self.window.first();
        let ack = self.space.extend(pdu.sn, oldest);
        if ack > self.window.end() {
            return None;
        }
        self.reports = self.reports.wrapping_add(1);
        let mut next = oldest;
        for nack in nacks {
            let number = self.space.extend(nack.sn, oldest);
            if number >= ack {
                continue; // A STATUS PDU that overtook this one has acknowledged the number.
            }
            self.acknowledge(next, number);
            let end = (number + u64::from(nack.range)).min(ack);
            let (first, last) = nack.segment.unwrap_or((0, Nack::TO_THE_END));
            for number in number..end {
                self.retransmit(number, first, last.saturating_add(1));
            }
            next = next.max(end);
        }
        self.acknowledge(next, ack);
        let mut first = oldest;
        while first < ack && self.window[first].is_acked {
            first += 1;
        }
        self.window.advance_to(first);
        self.assert_invariants();
        Some(ack)
    }

    /// Retransmits the highest number, or the oldest if that one is acknowledged. Called if
    /// t-PollRetransmit expired and nothing else can be sent.
    pub(super) fn retransmit_one(&mut self) {
        self.reports = self.reports.wrapping_add(1);
        let mut number = self.highest();
        if self.window[number].is_acked {
            number = self.window.first();
        }
        self.retransmit(number, 0, u32::MAX);
    }

    /// Records that all items from `first` to before `end` were received.
    #[inline]
    fn acknowledge(&mut self, first: u64, end: u64) {
        for number in first..end {
            let sent = &mut self.window[number];
            sent.is_acked = true;
            self.pending_bytes -= u64::from(sent.pending_bytes);
            self.pending_pieces -= u64::from(sent.pending_pieces);
            sent.pending_bytes = 0;
            sent.pending_pieces = 0;
        }
    }

    /// Requests retransmission of bytes `start .. end` of an item.
    fn retransmit(&mut self, number: u64, start: u32, end: u32) {
        let sent = &mut self.window[number];
        let end = end.min(sent.len);
        let is_of_this_report = sent.reported_by == self.reports;
        // Items that already wait for retransmission are not counted or queued again.
        let is_pending = sent.pending_pieces > 0 && !is_of_this_report;
        if sent.is_acked || start >= end || is_pending {
            return;
        }
        if !is_of_this_report {
            sent.reported_by = self.reports;
            let count = sent.retx_count.map_or(0, |count| count + 1);
            sent.retx_count = Some(count);
            self.has_failed |= count >= self.max_retx_threshold;
        }
        sent.pending_bytes += end - start;
        sent.pending_pieces += 1;
        self.pending_bytes += u64::from(end - start);
        self.pending_pieces += 1;
        self.pieces.push(Piece { number, start, end });
        debug_assert!(
            self.window[number].pending_bytes <= self.window[number].len,
            "more of PDU {number} is to be sent again than it has"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlc::{Mode, RlcConfig};

    /// Returns a window with `items` items of 300 bytes each.
    fn sent(items: u32) -> Unacked<u32> {
        let Mode::Am(am) = RlcConfig::NR_AM.mode else {
            unreachable!("acknowledged mode");
        };
        let mut unacked = Unacked::new(&am);
        for item in 0..items {
            unacked.push(item, 300);
        }
        unacked
    }

    fn report(unacked: &mut Unacked<u32>, ack: u32, missing: &[(u32, (u32, u32))]) {
        let nack = |&(sn, (first, last))| Nack {
            sn,
            range: 1,
            segment: Some((first, last)),
        };
        let nacks: Vec<_> = missing.iter().map(nack).collect();
        let pdu = Pdu {
            sn: ack,
            ..Pdu::default()
        };
        assert!(unacked.on_status(&pdu, &nacks).is_some());
    }

    fn pending(unacked: &Unacked<u32>) -> (u64, u64) {
        (unacked.pending_bytes, unacked.pending_pieces)
    }

    #[test]
    fn what_waits_already_is_not_queued_or_counted_again_by_the_next_report() {
        let mut unacked = sent(1);
        for _ in 0..3 {
            report(&mut unacked, 1, &[(0, (100, 199))]);
            assert_eq!(pending(&unacked), (100, 1));
            assert_eq!(unacked.item(START).retx_count, Some(0));
        }
        unacked.on_retransmitted(100);
        report(&mut unacked, 1, &[(0, (100, 199))]);
        assert_eq!(pending(&unacked), (100, 1));
        assert_eq!(unacked.item(START).retx_count, Some(1));
    }

    #[test]
    fn one_report_may_name_several_gaps_and_counts_once() {
        let mut unacked = sent(1);
        report(
            &mut unacked,
            1,
            &[(0, (0, 49)), (0, (100, Nack::TO_THE_END))],
        );
        assert_eq!(pending(&unacked), (50 + 200, 2));
        assert_eq!(unacked.item(START).retx_count, Some(0));
    }

    /// The unsent end of an SDU is missing at the receiver too.
    #[test]
    fn bytes_that_were_never_sent_are_not_sent_again() {
        let mut unacked = sent(1);
        report(&mut unacked, 1, &[(0, (300, Nack::TO_THE_END))]);
        assert_eq!(pending(&unacked), (0, 0));
        assert_eq!(unacked.item(START).retx_count, None);
    }

    #[test]
    fn what_was_acknowledged_is_not_sent_again() {
        let mut unacked = sent(3);
        report(&mut unacked, 3, &[(0, (0, 299))]);
        report(&mut unacked, 3, &[(0, (0, 299)), (1, (0, 299))]);
        assert_eq!(pending(&unacked), (300, 1));
        assert_eq!(unacked.oldest().map(|sent| sent.item), Some(0));
        report(&mut unacked, 3, &[]);
        assert_eq!(pending(&unacked), (0, 0));
        assert!(unacked.oldest().is_none() && unacked.is_empty());
    }

    #[test]
    fn the_oldest_is_the_first_that_is_not_acknowledged() {
        let mut unacked = sent(3);
        report(&mut unacked, 1, &[]);
        assert_eq!(unacked.oldest().map(|sent| sent.item), Some(1));
    }
}
