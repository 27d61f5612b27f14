//! Blockages: intervals during which an object obstructs the link.

use crate::{Limit, LinkError};
use fadeout_core::{Rate, Time};
use std::collections::BTreeSet;

/// Blockages of a link and their effect on its packets.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockageConfig {
    /// Effect on packets while the link is fully blocked.
    pub effect: BlockageEffect,
    /// Blockages in any order. Where they overlap, the lowest rate applies.
    pub intervals: Vec<BlockageInterval>,
}

/// Blockage in the interval `start..end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockageInterval {
    /// Start of the blockage.
    pub start: Time,
    /// End of the blockage. [`Time::NEVER`] for a link that never recovers.
    pub end: Time,
    /// Largest rate of the link during the blockage. Zero is a total blockage. A positive rate
    /// slows the link down with any effect, because link adaptation finds a rate that works.
    pub rate: Rate,
    /// Additional path loss in dB, which is reported and not used. Zero without geometry.
    pub loss_db: f64,
}

/// Effect of a total blockage on packets. A partial blockage always slows the link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BlockageEffect {
    /// Packets wait for the end of the blockage, as with an acknowledged link layer (RLC AM, TS
    /// 38.322 5.2.3).
    Held {
        /// Limit of packets or bytes that the link holds while blocked, counted like the queue's
        /// limit. An arrival beyond it is dropped (`hold-full`). `None` if only the queue's own
        /// limit applies.
        limit: Option<Limit>,
    },
    /// The transmitter continues at its clear rate. Packets sent during the blockage are lost
    /// (`blocked`), as without link-layer retransmission. A packet is lost if any part of its
    /// transmission was blocked. The loss is counted at the time at which the packet would have
    /// reached the far end.
    Lost,
    /// A packet that arrives at the link during the blockage is dropped (`blocked`). Packets
    /// already inside continue. A netem link with full loss behaves in this way.
    DroppedOnArrival,
}

/// Disjoint blockages in order, and the two queries that a link needs. Each query has a cursor of
/// its own, because its times seldom go back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blockages {
    all: Vec<BlockageInterval>,
    total: Vec<BlockageInterval>,
    arrivals: usize,
    transmissions: usize,
}

impl Blockages {
    pub(crate) fn new(intervals: &[BlockageInterval]) -> Result<Self, LinkError> {
        let all = merge(intervals)?;
        let total = all
            .iter()
            .copied()
            .filter(|blockage| blockage.rate.is_zero())
            .collect();
        Ok(Blockages {
            all,
            total,
            arrivals: 0,
            transmissions: 0,
        })
    }

    /// Returns all blockages, disjoint and in order.
    pub(crate) fn all(&self) -> &[BlockageInterval] {
        &self.all
    }

    /// Returns true if the link is fully blocked at `now`.
    #[inline]
    pub(crate) fn is_blocked_at(&mut self, now: Time) -> bool {
        overlaps(&self.total, &mut self.arrivals, now, now)
    }

    /// Returns true if a transmission from `first` to `last` inclusive overlaps a total blockage.
    #[inline]
    pub(crate) fn hits(&mut self, first: Time, last: Time) -> bool {
        overlaps(&self.total, &mut self.transmissions, first, last)
    }
}

#[inline]
fn overlaps(list: &[BlockageInterval], cursor: &mut usize, first: Time, last: Time) -> bool {
    while *cursor > 0 && list[*cursor - 1].end > first {
        *cursor -= 1;
    }
    while list
        .get(*cursor)
        .is_some_and(|blockage| blockage.end <= first)
    {
        *cursor += 1;
    }
    list.get(*cursor)
        .is_some_and(|blockage| blockage.start <= last)
}

/// Splits overlapping blockages into disjoint ones. The lowest rate applies, then the largest loss.
fn merge(intervals: &[BlockageInterval]) -> Result<Vec<BlockageInterval>, LinkError> {
    let mut edges = Vec::with_capacity(intervals.len() * 2);
    for (index, &BlockageInterval { start, end, .. }) in intervals.iter().enumerate() {
        if start >= end {
            return Err(LinkError::Interval { start, end });
        }
        edges.push((start, index, true));
        edges.push((end, index, false));
    }
    edges.sort_unstable();

    // The ranking begins with the strongest blockage: by rate, then by loss, then by the given
    // order.
    let mut ranking: Vec<usize> = (0..intervals.len()).collect();
    ranking.sort_by(|&a, &b| {
        let (a, b) = (&intervals[a], &intervals[b]);
        a.rate.cmp(&b.rate).then(b.loss_db.total_cmp(&a.loss_db))
    });
    let mut rank = vec![0; intervals.len()];
    for (place, &index) in ranking.iter().enumerate() {
        rank[index] = place;
    }

    let mut merged: Vec<BlockageInterval> = Vec::with_capacity(intervals.len());
    let mut active = BTreeSet::new();
    let mut since = Time::ZERO;
    for (at, index, begins) in edges {
        if let Some(&strongest) = active.first()
            && since < at
        {
            let BlockageInterval { rate, loss_db, .. } = intervals[ranking[strongest]];
            match merged.last_mut() {
                Some(last) if last.end == since && (last.rate, last.loss_db) == (rate, loss_db) => {
                    last.end = at;
                }
                _ => merged.push(BlockageInterval {
                    start: since,
                    end: at,
                    rate,
                    loss_db,
                }),
            }
        }
        since = at;
        if begins {
            active.insert(rank[index]);
        } else {
            active.remove(&rank[index]);
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start: u64, end: u64, mbps: u64, loss_db: f64) -> BlockageInterval {
        BlockageInterval {
            start: Time::from_nanos(start),
            end: Time::from_nanos(end),
            rate: Rate::from_bits_per_sec(mbps * 1_000_000),
            loss_db,
        }
    }

    #[test]
    fn the_lowest_rate_wins_where_blockages_overlap() {
        let merged = merge(&[interval(10, 30, 5, 10.0), interval(20, 25, 0, 30.0)]);
        let expected = [
            interval(10, 20, 5, 10.0),
            interval(20, 25, 0, 30.0),
            interval(25, 30, 5, 10.0),
        ];
        assert_eq!(merged.expect("valid intervals"), expected);
    }

    #[test]
    fn touching_blockages_of_one_depth_become_one() {
        let merged = merge(&[interval(20, 30, 0, 0.0), interval(10, 20, 0, 0.0)]);
        assert_eq!(merged.expect("valid intervals"), [interval(10, 30, 0, 0.0)]);
    }

    #[test]
    fn a_blockage_without_length_is_an_error() {
        assert!(merge(&[interval(10, 10, 0, 0.0)]).is_err());
    }

    #[test]
    fn a_transmission_is_hit_when_any_part_of_it_is_blocked() {
        let mut blockages = Blockages::new(&[interval(10, 20, 0, 0.0)]).expect("valid");
        let t = Time::from_nanos;
        assert!(!blockages.hits(t(0), t(9)));
        assert!(blockages.hits(t(9), t(10)));
        assert!(blockages.hits(t(19), t(40)));
        assert!(!blockages.hits(t(20), t(40)));
    }
}
