//! Which legs of a split bearer carry something.

use super::{ByLeg, FAR, LEG_NUMBERS};
use fadeout_core::{Direction, Time};

/// Until when the legs carry nothing, as far as the end that sends knows.
#[derive(Debug)]
pub(super) struct Openings {
    /// By direction and number of the leg.
    down_until: [ByLeg<Time>; 2],
    /// Whether the base station with PDCP gives the further leg nothing more: its UE is about to leave it.
    is_held: bool,
    /// By direction: from when on no leg is closed. Nearly always that is long past, which answers for all legs.
    all_open_from: [Time; 2],
}

impl Openings {
    /// All legs carry something.
    pub(super) fn new() -> Openings {
        Openings {
            down_until: [[Time::ZERO; LEG_NUMBERS]; 2],
            is_held: false,
            all_open_from: [Time::ZERO; 2],
        }
    }

    /// All but the further leg do.
    pub(super) fn without_far() -> Openings {
        let mut openings = Openings::new();
        openings.close_far(Time::NEVER);
        openings
    }

    /// A leg carries nothing before `until`.
    pub(super) fn close(&mut self, (leg, direction): (u8, Direction), until: Time) {
        self.down_until[direction.index()][usize::from(leg)] = until;
        self.note();
    }

    /// The further leg carries nothing before `until`, in either direction.
    pub(super) fn close_far(&mut self, until: Time) {
        for of in &mut self.down_until {
            of[usize::from(FAR)] = until;
        }
        self.note();
    }

    /// Whether the base station with PDCP gives the further leg nothing more.
    pub(super) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
        self.note();
    }

    fn note(&mut self) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let of = &self.down_until[direction.index()];
            let last = of.iter().copied().max().unwrap_or(Time::ZERO);
            let is_held = self.is_held && direction == Direction::Downlink;
            self.all_open_from[direction.index()] = if is_held { Time::NEVER } else { last };
        }
    }

    /// Whether no leg is closed.
    #[inline]
    pub(super) fn are_all_open(&self, now: Time, direction: Direction) -> bool {
        now >= self.all_open_from[direction.index()]
    }

    /// Until when a leg carries nothing.
    #[inline]
    pub(super) fn down_until(&self, (leg, direction): (u8, Direction)) -> Time {
        self.down_until[direction.index()][usize::from(leg)]
    }

    /// Whether a leg has failed and carries nothing yet.
    #[inline]
    pub(super) fn is_down(&self, now: Time, way: (u8, Direction)) -> bool {
        now < self.down_until(way)
    }

    /// Whether a leg is given nothing: it has failed, or its UE is about to leave it.
    #[inline]
    pub(super) fn is_closed(&self, now: Time, (leg, direction): (u8, Direction)) -> bool {
        if self.are_all_open(now, direction) {
            return false;
        }
        let is_held = self.is_held && leg == FAR && direction == Direction::Downlink;
        is_held || self.is_down(now, (leg, direction))
    }
}
