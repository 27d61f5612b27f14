//! Choice of the leg of a split bearer for a downlink packet, made by the base station with PDCP.

use super::{FIRST, NextPacket, SECONDARY, Split};
use crate::bearer::rlc_leg::RlcLegs;
use crate::config::LegChoice;
use crate::user_plane::time_for;
use fadeout_core::{Direction, Span, Time};

/// Assumed rate in bytes per second of each leg while no rate is known. Only the ratio of the two
/// legs' rates matters, so the value may be arbitrary.
pub(super) const UNKNOWN_RATE: u64 = 1_000_000;

impl Split {
    /// Returns true if the next packet should be sent to the secondary node, whose desired buffer
    /// size allows the packet. If false, the packet waits for a grant of the first leg.
    #[inline]
    pub(super) fn prefers_secondary(&self, now: Time, next: &NextPacket, legs: &RlcLegs) -> bool {
        let size = next.size;
        match self.config.choice {
            LegChoice::Demand => true,
            LegChoice::Turns => {
                let carried = &self.carried[Direction::Downlink.index()];
                let first = carried[usize::from(FIRST)].bytes
                    + self.waiting[Direction::Downlink.index()].bytes;
                let own = if next.is_early() { 0 } else { u64::from(size) };
                let first = first.saturating_sub(own);
                carried[usize::from(SECONDARY)].bytes <= first
            }
            LegChoice::ExpectedDelay => {
                let early = if next.is_early() { size } else { 0 };
                let waits = next.waits_since.map_or(Span::ZERO, |at| now.since(at));
                let first = first_leg_delay(self, waits, early, legs);
                self.hosting
                    .takes_less(size, self.rates[usize::from(SECONDARY)], first)
            }
        }
    }

    /// Updates the rates of both legs. A leg without a measured rate is assumed to have the rate of
    /// the other leg.
    pub(super) fn update_rates(&mut self) {
        let first = self.first_leg_rate.bytes_per_s();
        let secondary = self.hosting.served_rate();
        let any = first.or(secondary).unwrap_or(UNKNOWN_RATE);
        self.rates = [first.unwrap_or(any), secondary.unwrap_or(any)];
    }

    /// Returns the next time at which to compare the expected delays of the two legs. At that time
    /// the oldest packet has waited longer than the secondary leg's expected delay. Returns
    /// [`Time::NEVER`] if nothing waits or only one leg can carry the data.
    #[inline]
    pub(super) fn choice_at(&mut self, now: Time, legs: &RlcLegs) -> Time {
        let direction = Direction::Downlink;
        let has_choice = self.config.choice == LegChoice::ExpectedDelay
            && self.waiting[direction.index()].bytes > 0
            && !self.duplicates(direction)
            && self.hosting.has_room(0);
        match has_choice {
            false => Time::NEVER,
            true if self.compare_at > now => self.compare_at,
            true => next_comparison_at(self, now, legs),
        }
    }
}

fn next_comparison_at(split: &mut Split, now: Time, legs: &RlcLegs) -> Time {
    let first_at = first_entered_at(split);
    let may_go = split.may_use(now, SECONDARY, Direction::Downlink, legs);
    let Some(first_at) = first_at.filter(|_| may_go) else {
        return Time::NEVER;
    };
    let late_at = first_at.saturating_add(secondary_delay(split, 0) + Span::from_nanos(1));
    split.compare_at = late_at.max(now + COMPARISON_INTERVAL);
    split.compare_at
}

/// Minimum time between two comparisons of the legs' delays.
const COMPARISON_INTERVAL: Span = Span::from_millis(1);

/// Returns the expected delay of a further packet of `size` bytes over the secondary leg.
#[inline]
fn secondary_delay(split: &Split, size: u32) -> Span {
    let [_, rate] = split.rates;
    split.hosting.expected_delay(size, rate)
}

/// Returns the expected time until the first leg has sent the waiting data and `early` more bytes.
/// The time is at least `waits`, for which the oldest packet has already waited.
#[inline]
fn first_leg_delay(split: &Split, waits: Span, early: u32, legs: &RlcLegs) -> Span {
    let [rate, _] = split.rates;
    let rlc = &legs.primary.ends[Direction::Downlink.index()].rlc;
    let waiting = split.waiting[Direction::Downlink.index()].bytes;
    let bytes = waiting + rlc.queued().0 + u64::from(early);
    time_for(bytes, rate).max(waits)
}

fn first_entered_at(split: &Split) -> Option<Time> {
    let waiting = &split.waiting[Direction::Downlink.index()];
    let again = waiting.again.front().map(|sdu| sdu.entered_at);
    again.or_else(|| waiting.fresh.front().map(|fresh| fresh.entered_at))
}
