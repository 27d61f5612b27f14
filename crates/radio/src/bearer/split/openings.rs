//! Times at which the legs of a split bearer can carry data.

use super::{ByLeg, LEG_NUMBERS, SECONDARY};
use fadeout_core::{Direction, Time};

/// Times at which legs may not be given data, as far as the sending end knows.
#[derive(Debug)]
pub(super) struct Openings {
    /// End of the outage of each leg, by direction and leg number.
    down_until: [ByLeg<Time>; 2],
    /// True if the base station with PDCP sends no more PDUs to the secondary node, because the UE
    /// is about to leave.
    is_held: bool,
    /// Time from which all legs can carry data, by direction. The time is usually in the past. Then
    /// one comparison suffices for all legs.
    all_open_from: [Time; 2],
}

impl Openings {
    /// Returns the state in which all legs carry data.
    pub(super) fn new() -> Openings {
        Openings {
            down_until: [[Time::ZERO; LEG_NUMBERS]; 2],
            is_held: false,
            all_open_from: [Time::ZERO; 2],
        }
    }

    /// Returns the state in which all legs except the secondary leg carry data.
    pub(super) fn without_secondary() -> Openings {
        let mut openings = Openings::new();
        openings.close_secondary_leg(Time::NEVER);
        openings
    }

    /// Records that a leg carries no data in a direction until the time `until`.
    pub(super) fn close(&mut self, (leg, direction): (u8, Direction), until: Time) {
        self.down_until[direction.index()][usize::from(leg)] = until;
        self.update_all_open();
    }

    /// Records that the secondary leg carries no data in both directions until the time `until`.
    pub(super) fn close_secondary_leg(&mut self, until: Time) {
        for of in &mut self.down_until {
            of[usize::from(SECONDARY)] = until;
        }
        self.update_all_open();
    }

    /// Sets whether the base station with PDCP sends no more PDUs to the secondary node.
    pub(super) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
        self.update_all_open();
    }

    fn update_all_open(&mut self) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let of = &self.down_until[direction.index()];
            let last = of.iter().copied().max().unwrap_or(Time::ZERO);
            let is_held = self.is_held && direction == Direction::Downlink;
            self.all_open_from[direction.index()] = if is_held { Time::NEVER } else { last };
        }
    }

    /// Returns true if all legs may be given data in a direction.
    #[inline]
    pub(super) fn are_all_open(&self, now: Time, direction: Direction) -> bool {
        now >= self.all_open_from[direction.index()]
    }

    /// Returns the time until which a leg carries no data.
    #[inline]
    pub(super) fn down_until(&self, (leg, direction): (u8, Direction)) -> Time {
        self.down_until[direction.index()][usize::from(leg)]
    }

    /// Returns true if a leg has failed and does not carry data yet.
    #[inline]
    pub(super) fn is_down(&self, now: Time, leg: (u8, Direction)) -> bool {
        now < self.down_until(leg)
    }

    /// Returns true if a leg may not be given data. The leg has failed, or the UE is about to leave
    /// the leg's cell.
    #[inline]
    pub(super) fn is_closed(&self, now: Time, (leg, direction): (u8, Direction)) -> bool {
        if self.are_all_open(now, direction) {
            return false;
        }
        let is_held = self.is_held && leg == SECONDARY && direction == Direction::Downlink;
        is_held || self.is_down(now, (leg, direction))
    }
}
