//! Segments sent and not yet cumulatively acknowledged, with the state of each.
//!
//! Each segment has a slot in a ring, found by binary search on its sequence number. The ring is in
//! the order of sequence numbers. A linked list through the slots is in the order of
//! (re)transmission, in which RACK searches for losses.
//!
//! Standard: RFC 8985 §6.

use fadeout_core::{Ring, Time};

/// Tags of a segment: SACKed, lost, retransmitted and others (Linux `TCPCB_*`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tags(u16);

impl Tags {
    /// The segment was acknowledged by a SACK block.
    pub(super) const SACKED: Tags = Tags(1);
    /// The segment is believed to be lost.
    pub(super) const LOST: Tags = Tags(2);
    /// A retransmission of the segment is believed to be in the network.
    pub(super) const RETRANSMITTED: Tags = Tags(4);
    /// The segment was retransmitted at least once.
    pub(super) const EVER_RETRANSMITTED: Tags = Tags(8);
    /// The segment carries the FIN.
    pub(super) const FIN: Tags = Tags(16);
    /// The application limited the sender when the segment was sent.
    pub(super) const APP_LIMITED: Tags = Tags(32);
    /// The segment ended the written data when it was sent.
    pub(super) const PUSHED: Tags = Tags(128);
    /// The segment was sent in the same `sk_buff` as the segment before it.
    pub(super) const JOINED: Tags = Tags(256);
    /// The segment begins a mapping of a multipath connection. It is never merged with the segment
    /// before it.
    pub(super) const BEGINS: Tags = Tags(512);
    /// The segment is still in the list of segments by transmission time.
    const LISTED: Tags = Tags(64);

    #[inline]
    pub(super) fn has(self, other: Tags) -> bool {
        self.0 & other.0 != 0
    }
    #[inline]
    pub(super) fn set(&mut self, other: Tags) {
        self.0 |= other.0;
    }
    #[inline]
    pub(super) fn clear(&mut self, other: Tags) {
        self.0 &= !other.0;
    }
}

/// Segment that was sent and not yet acknowledged cumulatively.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SentSegment {
    /// First sequence number.
    pub(super) seq: u64,
    /// Time of the last transmission.
    pub(super) sent_at: Time,
    /// Snapshots of the rate sampler at that time (draft-ietf-ccwg-bbr section 4.1.2).
    pub(super) first_sent_at: Time,
    /// Time of the last delivery before the segment was sent. See [`super::rate::RateSampler`].
    pub(super) delivered_at: Time,
    /// Segments delivered when this segment was sent.
    pub(super) delivered: u64,
    /// Segments lost when this segment was sent (low 32 bits).
    pub(super) lost: u32,
    /// Segments in flight when this segment was sent, including itself.
    pub(super) tx_in_flight: u32,
    /// Number of sequence numbers that the segment occupies.
    pub(super) len: u32,
    /// Links to the neighbours in order of transmission.
    pub(super) earlier: u32,
    pub(super) later: u32,
    /// Number of retransmissions.
    pub(super) retries: u16,
    /// Tags of the segment.
    pub(super) tags: Tags,
}

impl SentSegment {
    #[inline]
    pub(super) fn end_seq(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

const NONE: u32 = u32::MAX;
const LINK_MASK: u32 = u32::MAX >> 1;

/// Scoreboard of a sender: its retransmission queue.
#[derive(Debug, Clone)]
pub(super) struct Scoreboard {
    ring: Ring<SentSegment>,
    oldest: u32,
    newest: u32,
    /// Number of segments with the tag `SACKED`.
    pub(super) sacked_out: u32,
    /// Number of segments with the tag `LOST`.
    pub(super) lost_out: u32,
    /// Number of segments with a retransmission in the network.
    pub(super) retrans_out: u32,
    /// Number of sk_buffs that contain the segments.
    pub(super) pieces: u32,
    /// Number of a segment below which all segments are known to be SACKed or lost.
    settled: u64,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Scoreboard {
            ring: Ring::new(),
            oldest: NONE,
            newest: NONE,
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            pieces: 0,
            settled: 0,
        }
    }
}

impl Scoreboard {
    /// Returns the number of segments sent and not cumulatively acknowledged.
    #[inline]
    pub(super) fn packets_out(&self) -> u32 {
        self.ring.len() as u32
    }
    /// Returns the number of segments believed to be in the network, the pipe, as Linux counts it.
    ///
    /// Standard: RFC 6675 §2.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        debug_assert!(
            self.left_out() <= self.packets_out() + self.retrans_out,
            "the pipe holds fewer than no segments"
        );
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }
    /// Returns the number of segments that left the network without a cumulative acknowledgment.
    #[inline]
    pub(super) fn left_out(&self) -> u32 {
        self.sacked_out + self.lost_out
    }
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
    /// Releases the memory of a queue that stays empty from now on.
    pub(super) fn release(&mut self) {
        self.ring.release();
    }
    /// Returns the number of the oldest segment.
    #[inline]
    pub(super) fn first(&self) -> u64 {
        self.ring.first()
    }
    /// Returns the number after the newest segment.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.ring.end()
    }
    /// Returns true if segment `number` is outstanding.
    pub(super) fn contains(&self, number: u64) -> bool {
        self.ring.contains(number)
    }
    #[inline]
    pub(super) fn head(&self) -> Option<&SentSegment> {
        self.ring.front()
    }
    #[inline]
    pub(super) fn get(&self, number: u64) -> &SentSegment {
        &self.ring[number]
    }
    #[inline]
    pub(super) fn get_mut(&mut self, number: u64) -> &mut SentSegment {
        &mut self.ring[number]
    }

    /// Appends a segment just sent for the first time.
    pub(super) fn push(&mut self, segment: SentSegment) {
        self.assert_follows(&segment);
        self.pieces += u32::from(!segment.tags.has(Tags::JOINED));
        let number = self.ring.push(segment);
        self.list_append(number);
    }

    /// Removes and returns the oldest segment, which was acknowledged, and updates the counts.
    #[inline]
    pub(super) fn pop(&mut self) -> SentSegment {
        let number = self.ring.first();
        self.unlist(number);
        let segment = self
            .ring
            .pop()
            .expect("an acknowledged segment is in the queue");
        if segment.tags.has(Tags::SACKED) {
            self.sacked_out -= 1;
        }
        if segment.tags.has(Tags::LOST) {
            self.lost_out -= 1;
        }
        if segment.tags.has(Tags::RETRANSMITTED) {
            self.retrans_out -= 1;
        }
        self.pieces -= u32::from(!segment.tags.has(Tags::JOINED));
        segment
    }

    /// Makes segment `number`, if it exists, the first of an sk_buff.
    #[inline]
    pub(super) fn split_before(&mut self, number: u64) {
        if number < self.ring.end() && self.ring[number].tags.has(Tags::JOINED) {
            self.ring[number].tags.clear(Tags::JOINED);
            self.pieces += 1;
        }
    }

    /// Begins a new sk_buff with the oldest segment, because the segments before it in its sk_buff
    /// were acknowledged.
    #[inline]
    pub(super) fn settle_head(&mut self) {
        self.split_before(self.ring.first());
    }

    /// Regroups segment `number` after a SACK block up to `end` covered the segment. The covered
    /// part of its sk_buff is split off. Then this part is merged with the SACKed sk_buff before it
    /// (Linux `tcp_shift_skb_data`). Both need the same mapping (`mptcp_skb_can_collapse`) and
    /// segments of equal length.
    pub(super) fn regroup_sacked(&mut self, number: u64, end: u64) {
        let has = |at: u64, tag| self.ring[at].tags.has(tag);
        let goes_on = |at: u64| has(at, Tags::SACKED) && !has(at, Tags::BEGINS);
        let len = |at: u64| self.ring[at].len;
        let next = number + 1;
        let has_next = next < self.ring.end();
        let follows = number > self.ring.first() && has(number - 1, Tags::SACKED);
        let joins = follows
            && (has(number, Tags::JOINED)
                || !has(number, Tags::BEGINS) && self.whole_len(number - 1) == len(number));
        let stays = has_next
            && has(next, Tags::JOINED)
            && !has(next, Tags::SACKED)
            && self.ring[next].end_seq() <= end;
        let fills_hole = joins
            && has_next
            && goes_on(next)
            && len(next) == self.whole_len(number - 1).max(len(number));
        self.set_joined(number, joins);
        if has_next && !stays {
            self.set_joined(next, fills_hole);
        }
    }

    /// Returns the length of the full segments in the sk_buff whose last segment is `number`. The
    /// last segment may be shorter.
    fn whole_len(&self, number: u64) -> u32 {
        let segment = &self.ring[number];
        match segment.tags.has(Tags::JOINED) {
            true => segment.len.max(self.ring[number - 1].len),
            false => segment.len,
        }
    }

    fn set_joined(&mut self, number: u64, joined: bool) {
        let tags = &mut self.ring[number].tags;
        if tags.has(Tags::JOINED) == joined {
            return;
        }
        if joined {
            tags.set(Tags::JOINED);
            self.pieces -= 1;
        } else {
            tags.clear(Tags::JOINED);
            self.pieces += 1;
        }
    }

    /// Removes acknowledged bytes from the front of the oldest segment.
    pub(super) fn trim_head(&mut self, una: u64) {
        let first = self.ring.first();
        let head = &mut self.ring[first];
        debug_assert!(
            head.seq <= una && una < head.end_seq(),
            "{una} is not within the oldest segment"
        );
        head.len -= (una - head.seq) as u32;
        head.seq = una;
    }

    /// Returns the number of the first segment that begins at or after `seq`.
    pub(super) fn at_or_after(&self, seq: u64) -> u64 {
        let (mut low, mut high) = (self.ring.first(), self.ring.end());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ring[middle].seq < seq {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the number of a segment below which all are SACKed or lost.
    pub(super) fn settled(&self) -> u64 {
        self.settled.max(self.ring.first())
    }

    /// Records that all segments below `number` are SACKed or lost.
    pub(super) fn advance_settled(&mut self, number: u64) {
        debug_assert!(
            (self.settled()..number).all(|each| {
                let tags = self.ring[each].tags;
                tags.has(Tags::SACKED) || tags.has(Tags::LOST)
            }),
            "one below {number} is neither SACKed nor lost"
        );
        self.settled = self.settled.max(number);
    }

    /// Tags a segment as SACKed. Removes its tags as lost or retransmitted.
    pub(super) fn mark_sacked(&mut self, number: u64) {
        self.unlist(number);
        let tags = &mut self.ring[number].tags;
        debug_assert!(
            !tags.has(Tags::SACKED),
            "segment {number} is SACKed a second time"
        );
        if tags.has(Tags::LOST) {
            // Either the lost segment or its retransmission has arrived. So the retransmission no
            // longer counts as in the network.
            if tags.has(Tags::RETRANSMITTED) {
                tags.clear(Tags::RETRANSMITTED);
                self.retrans_out -= 1;
            }
            tags.clear(Tags::LOST);
            self.lost_out -= 1;
        }
        tags.set(Tags::SACKED);
        self.sacked_out += 1;
    }

    /// Tags a segment or its retransmission as lost. Returns true if a copy newly counts as lost.
    pub(super) fn mark_lost(&mut self, number: u64) -> bool {
        self.unlist(number);
        let tags = &mut self.ring[number].tags;
        if tags.has(Tags::SACKED) {
            return false;
        }
        if !tags.has(Tags::LOST) {
            tags.set(Tags::LOST);
            self.lost_out += 1;
            return true;
        }
        if tags.has(Tags::RETRANSMITTED) {
            tags.clear(Tags::RETRANSMITTED);
            self.retrans_out -= 1;
            return true;
        }
        false
    }

    /// Removes every loss mark after a spurious reduction.
    pub(super) fn unmark_losses(&mut self) {
        for number in self.ring.first()..self.ring.end() {
            if self.ring[number].tags.has(Tags::LOST) {
                self.ring[number].tags.clear(Tags::LOST);
                if !self.ring[number].tags.has(Tags::LISTED) {
                    self.list_append(number);
                }
            }
        }
        self.lost_out = 0;
        self.settled = 0;
    }

    /// Removes every SACK mark after the receiver reneged.
    ///
    /// Standard: RFC 2018 §8.
    pub(super) fn forget_sacks(&mut self) {
        for number in self.ring.first()..self.ring.end() {
            self.ring[number].tags.clear(Tags::SACKED);
        }
        self.sacked_out = 0;
        self.settled = 0;
    }

    /// Records that a lost segment was retransmitted.
    pub(super) fn mark_retransmitted(&mut self, number: u64) {
        let tags = &mut self.ring[number].tags;
        if !tags.has(Tags::RETRANSMITTED) {
            tags.set(Tags::RETRANSMITTED);
            self.retrans_out += 1;
        }
    }

    /// Removes the tag of a retransmission in the network after a DSACK reported its arrival.
    pub(super) fn clear_retransmitted(&mut self, number: u64) {
        let tags = &mut self.ring[number].tags;
        if tags.has(Tags::RETRANSMITTED) {
            tags.clear(Tags::RETRANSMITTED);
            self.retrans_out -= 1;
        }
    }

    /// Moves a segment that was just retransmitted to the end of the transmission order.
    pub(super) fn list_again(&mut self, number: u64) {
        self.unlist(number);
        self.list_append(number);
    }

    /// Returns the segment whose transmission is the oldest in the list. SACKed segments and
    /// segments already marked lost are not in the list. `None` if there is none.
    #[inline]
    pub(super) fn oldest_sent(&self) -> Option<u64> {
        self.number(self.oldest)
    }

    /// Returns the segment that was sent next after `number`. `None` if there is none.
    #[inline]
    pub(super) fn sent_after(&self, number: u64) -> Option<u64> {
        self.number(self.ring[number].later)
    }

    #[inline]
    fn number(&self, link: u32) -> Option<u64> {
        let first = self.ring.first();
        (link != NONE).then(|| first + u64::from(link.wrapping_sub(first as u32) & LINK_MASK))
    }

    fn list_append(&mut self, number: u64) {
        let link = link(number);
        let newest = self.newest;
        let segment = &mut self.ring[number];
        segment.earlier = newest;
        segment.later = NONE;
        segment.tags.set(Tags::LISTED);
        match self.number(newest) {
            Some(before) => self.ring[before].later = link,
            None => self.oldest = link,
        }
        self.newest = link;
    }

    fn unlist(&mut self, number: u64) {
        let SentSegment {
            earlier,
            later,
            tags,
            ..
        } = self.ring[number];
        if !tags.has(Tags::LISTED) {
            return;
        }
        self.ring[number].tags.clear(Tags::LISTED);
        match self.number(earlier) {
            Some(before) => self.ring[before].later = later,
            None => self.oldest = later,
        }
        match self.number(later) {
            Some(after) => self.ring[after].earlier = earlier,
            None => self.newest = earlier,
        }
    }

    /// Returns true if the counts agree with the tags. Used in assertions.
    pub(super) fn counts_agree(&self) -> bool {
        let count = |tag| {
            (self.ring.first()..self.ring.end())
                .filter(|&n| self.ring[n].tags.has(tag))
                .count() as u32
        };
        self.sacked_out == count(Tags::SACKED)
            && self.lost_out == count(Tags::LOST)
            && self.retrans_out == count(Tags::RETRANSMITTED)
            && self.pieces == self.packets_out() - count(Tags::JOINED)
    }
}

/// Returns the low 31 bits of a segment's number, as a link of the list. Fewer segments than 2^31
/// are outstanding.
#[inline]
fn link(number: u64) -> u32 {
    number as u32 & LINK_MASK
}

mod invariants;
#[cfg(test)]
mod tests;
