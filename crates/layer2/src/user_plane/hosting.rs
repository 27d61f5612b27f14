//! Hosting node, which has PDCP, and its frames to the corresponding node.

use super::rate::takes_less;
use super::{DeliveryStatus, FlowControlConfig, time_for};
use crate::rlc::Sdu;
use fadeout_core::{Ring, Span, Time};

/// Divisor for the slow rise of the stored shortest time to a status. Each status raises the time
/// by 1/128.
const RISES: u64 = 128;

/// Sent PDU, stored until it is reported as delivered.
#[derive(Clone, Copy, Default, Debug)]
struct Kept {
    sdu: Sdu,
    sent_at: Time,
    /// True if the PDU was lost between the nodes or given up. The PDU then no longer belongs to
    /// this node.
    is_gone: bool,
}

/// Hosting node of a bearer's downlink, the sender of DL USER DATA.
///
/// Standard: TS 38.425 §5.4.1, §5.4.2.
#[derive(Clone, Debug)]
pub struct Hosting {
    poll_after: Span,
    /// Sent PDUs by NR-U sequence number.
    kept: Ring<Kept>,
    /// Bytes of the stored PDUs that were neither lost nor given up.
    outstanding: u64,
    desired: u64,
    /// Time of the latest status, or of the first frame after a pause.
    heard_at: Time,
    /// Rate in bytes per second at which the other node's cell serves the bearer, as last reported.
    /// `None` before the first report.
    rate: Option<u64>,
    /// Shortest recent time from the sending of a frame to the status that reports that RLC has
    /// begun to send the PDU. `None` before the first such status.
    shortest: Option<Span>,
    /// First frame that RLC may not have begun to send, and the bytes from that frame on.
    unsent_from: u64,
    unsent: u64,
}

impl Hosting {
    /// Returns a node that must not send before the first status.
    pub fn new(config: &FlowControlConfig) -> Hosting {
        Hosting {
            poll_after: config.poll_after,
            kept: Ring::new(),
            outstanding: 0,
            desired: 0,
            heard_at: Time::ZERO,
            rate: None,
            shortest: None,
            unsent_from: 0,
            unsent: 0,
        }
    }

    /// Returns the bytes that were sent and are not known to be delivered or lost.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Returns the last reported desired buffer size in bytes.
    pub fn desired(&self) -> u64 {
        self.desired
    }

    /// Returns the rate in bytes per second at which the other node's cell serves the bearer.
    /// `None` before the first report.
    pub fn served_rate(&self) -> Option<u64> {
        self.rate
    }

    /// Returns the time from now until a PDU of `size` bytes, sent now, has been transmitted to the
    /// UE. The PDUs before it leave at the given rate. Half of the shortest time to a status is the
    /// delay of the frame. The other half is the delay of the status.
    #[inline]
    pub fn expected_delay(&self, size: u32, bytes_per_s: u64) -> Span {
        let one_way_delay = self.shortest.map_or(Span::ZERO, |it| it / 2);
        let report_after = time_for(self.unsent + u64::from(size), bytes_per_s);
        report_after
            .saturating_sub(one_way_delay)
            .max(one_way_delay)
    }

    /// Returns true if [`Hosting::expected_delay`] is below a time, without a division.
    #[inline]
    pub fn takes_less(&self, size: u32, bytes_per_s: u64, than: Span) -> bool {
        let one_way_delay = self.shortest.map_or(Span::ZERO, |it| it / 2);
        let report_before = than.saturating_add(one_way_delay);
        one_way_delay < than
            && takes_less(self.unsent + u64::from(size), bytes_per_s, report_before)
    }

    /// Returns true if a PDU of `size` bytes may be sent. The outstanding bytes must stay within
    /// the desired buffer size, or be zero before.
    #[inline]
    pub fn has_room(&self, size: u32) -> bool {
        let with_it = self.outstanding + u64::from(size);
        with_it <= self.desired || (self.outstanding == 0 && self.desired > 0)
    }

    /// Sends a PDU. Returns its NR-U sequence number.
    #[inline]
    pub fn send(&mut self, now: Time, sdu: Sdu) -> u64 {
        if self.outstanding == 0 {
            self.heard_at = now;
        }
        debug_assert!(sdu.size > 0, "a PDU of no bytes is sent to the node");
        self.outstanding += u64::from(sdu.size);
        self.unsent += u64::from(sdu.size);
        self.kept.push(Kept {
            sdu,
            sent_at: now,
            is_gone: false,
        })
    }

    /// Returns the NR-U sequence number of the next frame. A poll without data carries this number.
    pub fn next_number(&self) -> u64 {
        self.kept.end()
    }

    /// Returns the PDU of a frame. `None` if it is known to be delivered or lost.
    #[inline]
    pub fn pdu(&self, number: u64) -> Option<Sdu> {
        let kept = self.kept.contains(number).then(|| self.kept[number])?;
        (!kept.is_gone).then_some(kept.sdu)
    }

    /// Returns the oldest PDU that is not known to be delivered. `None` if there is none.
    pub fn oldest(&self) -> Option<&Sdu> {
        self.kept.front().map(|kept| &kept.sdu)
    }

    /// Processes a status. PDUs lost between the nodes go to `lost`. `on_delivered` is called for
    /// PDUs that the status reports as delivered.
    pub fn on_status(
        &mut self,
        now: Time,
        status: &DeliveryStatus,
        lost: &mut Vec<Sdu>,
        mut on_delivered: impl FnMut(&Sdu),
    ) {
        self.heard_at = now;
        self.desired = status.desired;
        self.rate = status.rate.or(self.rate);
        self.on_transmitted(status.transmitted);
        let last = status.transmitted.checked_sub(1);
        if let Some(last) = last.filter(|&last| self.pdu(last).is_some()) {
            let took = now.since(self.kept[last].sent_at);
            // The shortest time rises slowly while no frame is as fast.
            let before = self.shortest.map(|it| it + it / RISES);
            self.shortest = Some(before.map_or(took, |before| took.min(before)));
        }
        for &(first, end) in status.lost() {
            for number in first.max(self.kept.first())..end.min(self.kept.end()) {
                lost.extend(self.give_up(number));
            }
        }
        while self.kept.first() < status.through.min(self.kept.end()) {
            let first = self.kept.first();
            if let Some(sdu) = self.give_up(first) {
                on_delivered(&sdu);
            }
            self.kept.pop();
        }
        self.assert_invariants();
    }

    /// Asserts that the outstanding bytes are those of the stored PDUs. If the list is short, all
    /// its PDUs are checked.
    fn assert_invariants(&self) {
        let numbers = self.kept.first()..self.kept.end();
        let here = |number| self.pdu(number).map_or(0, |sdu| u64::from(sdu.size));
        debug_assert!(
            self.kept.len() > 16 || numbers.map(here).sum::<u64>() == self.outstanding,
            "{} bytes are outstanding, and the PDUs kept have others",
            self.outstanding
        );
        debug_assert!(
            !self.kept.is_empty() || self.outstanding == 0,
            "bytes are outstanding in no PDU"
        );
        debug_assert!(
            self.unsent_from <= self.kept.end(),
            "PDUs were sent on that are still to come"
        );
    }

    /// Records that the other node's RLC has begun to send each frame below this number.
    fn on_transmitted(&mut self, number: u64) {
        let end = number.min(self.kept.end());
        for number in self.unsent_from.max(self.kept.first())..end {
            let size = u64::from(self.kept[number].sdu.size);
            self.unsent = self.unsent.saturating_sub(size);
        }
        self.unsent_from = self.unsent_from.max(end);
    }

    /// Removes the PDU of a frame from this node. `None` if it was removed before.
    fn give_up(&mut self, number: u64) -> Option<Sdu> {
        let sdu = self.pdu(number)?;
        self.kept[number].is_gone = true;
        debug_assert!(
            u64::from(sdu.size) <= self.outstanding,
            "a PDU is given up that is not outstanding"
        );
        self.outstanding -= u64::from(sdu.size);
        Some(sdu)
    }

    /// Returns the time at which a poll is due. Never while nothing is outstanding and more may be
    /// sent.
    #[inline]
    pub fn poll_at(&self) -> Time {
        match (self.outstanding, self.desired) {
            (0, 1..) => Time::NEVER,
            _ => self.heard_at.saturating_add(self.poll_after),
        }
    }

    /// Records that a poll was sent.
    pub fn on_poll_sent(&mut self, now: Time) {
        self.heard_at = now;
    }

    /// Empties the bearer when the corresponding node no longer has data of the bearer. PDUs not
    /// known to be delivered go to `out`, oldest first. Nothing may be sent before the next status.
    pub fn flush(&mut self, out: &mut Vec<Sdu>) {
        while let Some(Kept { sdu, is_gone, .. }) = self.kept.pop() {
            if !is_gone {
                out.push(sdu);
            }
        }
        self.outstanding = 0;
        self.unsent = 0;
        self.unsent_from = self.kept.end();
        self.desired = 0;
    }
}
