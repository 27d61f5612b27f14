//! Which leg of a split bearer a downlink packet takes: the choice of the base station with PDCP.

use super::{FAR, NEAR, Next, Split};
use crate::bearer::rlc_leg::RlcLegs;
use crate::config::LegChoice;
use crate::user_plane::time_for;
use fadeout_core::{Direction, Span, Time};

/// While neither leg has served anything with more behind it, what waits is compared: any rate will do.
pub(super) const UNKNOWN_RATE: u64 = 1_000_000;

impl Split {
    /// Whether a packet goes to the other base station, which has asked for it, rather than wait for a grant here.
    #[inline]
    pub(super) fn prefers_far(&self, now: Time, next: &Next, legs: &RlcLegs) -> bool {
        let size = next.size;
        match self.config.choice {
            LegChoice::Demand => true,
            LegChoice::Turns => {
                let carried = &self.carried[Direction::Downlink.index()];
                let near = carried[usize::from(NEAR)].bytes
                    + self.waiting[Direction::Downlink.index()].bytes;
                let own = if next.is_early() { 0 } else { u64::from(size) };
                let near = near.saturating_sub(own);
                carried[usize::from(FAR)].bytes <= near
            }
            LegChoice::ExpectedDelay => {
                let early = if next.is_early() { size } else { 0 };
                let waits = next.waits_since.map_or(Span::ZERO, |at| now.since(at));
                let near = near_delay(self, waits, early, legs);
                self.hosting
                    .takes_less(size, self.rates[usize::from(FAR)], near)
            }
        }
    }

    /// Something is known of the rate of a leg.
    pub(super) fn note_rates(&mut self) {
        let near = self.near_rate.bytes_per_s();
        let far = self.hosting.served_rate();
        let any = near.or(far).unwrap_or(UNKNOWN_RATE);
        self.rates = [near.unwrap_or(any), far.unwrap_or(any)];
    }

    /// When what waits here has waited for as long as the way over the other base station takes, and is to be looked at
    /// again; never when nothing waits, or it has no choice.
    #[inline]
    pub(super) fn choice_at(&mut self, now: Time, legs: &RlcLegs) -> Time {
        let direction = Direction::Downlink;
        let has_choice = self.config.choice == LegChoice::ExpectedDelay
            && self.waiting[direction.index()].bytes > 0
            && !self.duplicates(direction)
            && self.hosting.has_room(0);
        match has_choice {
            false => Time::NEVER,
            true if self.look_at > now => self.look_at,
            true => next_look_at(self, now, legs),
        }
    }
}

fn next_look_at(split: &mut Split, now: Time, legs: &RlcLegs) -> Time {
    let first_at = first_entered_at(split);
    let may_go = split.may_use(now, FAR, Direction::Downlink, legs);
    let Some(first_at) = first_at.filter(|_| may_go) else {
        return Time::NEVER;
    };
    let late_at = first_at.saturating_add(far_delay(split, 0) + Span::from_nanos(1));
    split.look_at = late_at.max(now + LOOK_AGAIN);
    split.look_at
}

/// Least time between two looks at what waits.
const LOOK_AGAIN: Span = Span::from_millis(1);

/// Until a further packet has gone over the other base station's cell.
#[inline]
fn far_delay(split: &Split, size: u32) -> Span {
    let [_, rate] = split.rates;
    split.hosting.expected_delay(size, rate)
}

/// Until what waits here, and `early` bytes more, have gone over this base station's cell: no less than the oldest of
/// it `waits` already.
#[inline]
fn near_delay(split: &Split, waits: Span, early: u32, legs: &RlcLegs) -> Span {
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
