//! A split bearer whose secondary leg comes and goes while the other one carries on.
//!
//! ```text
//! open_secondary   the UE is in a cell of a secondary node: both ends set up RLC there
//! hold_secondary   the base station with PDCP gives the node nothing more
//! leave_secondary  the UE has left the cell: its end sends what was not confirmed over the other leg
//! close_secondary  the base station with PDCP knows: so does it
//! ```
//!
//! Standard: TS 37.340 §10.2, §10.4, §10.5; TS 38.323 §5.5.

use super::openings::Openings;
use super::{FAR, Split, split};
use crate::bearer::{Drb, Storage, fail_leg};
use crate::config::{Env, LegId};
use crate::rlc::Sdu;
use crate::wire::BearerFormat;
use fadeout_core::{Direction, Probe, RadioDropCause, Time};

/// Changes of the secondary node of which uplink PDUs may still be on links.
const LATE: usize = 8;

/// What one end had given a leg that it left and that had not confirmed it.
fn unconfirmed(drb: &Drb, direction: Direction) -> u32 {
    let waiting = drb.split.as_ref();
    waiting.map_or(0, |split| {
        split.waiting[direction.index()].again.len() as u32
    })
}

/// The secondary leg of a bearer comes and goes from now on; there is none yet unless it is connected.
pub(crate) fn manage_secondary(drb: &mut Drb) {
    let is_there = drb.legs.others.iter().any(|far| far.leg.is_some());
    if let Some(split) = &mut drb.split {
        split.stays = true;
        if !is_there {
            split.openings.close_far(Time::NEVER);
        }
    }
}

/// The UE is in a cell of a secondary node, whose RLC has these parameters: both ends set it up. Until the node has told
/// how much it wants it gets nothing.
pub(crate) fn open_secondary(drb: &mut Drb, now: Time, is_confirmed: bool) {
    let pdcp = drb.config.pdcp;
    let Some(split) = &mut drb.split else { return };
    let rlc = split.config.of_leg(split.config.rlc);
    for far in &mut drb.legs.others {
        for end in &mut far.ends {
            let is_anew = end.set_up_anew(&rlc);
            debug_assert!(is_anew.is_ok(), "RLC had these parameters before");
        }
        far.format = BearerFormat::new(&rlc, &pdcp, drb.nth);
    }
    split.openings.close_far(Time::ZERO);
    split.suspend(FAR, false);
    if !is_confirmed {
        // What the node before was given it has to take back first.
        let far = (FAR, Direction::Downlink);
        split.openings.close(far, Time::NEVER);
    }
    split.openings.hold(false);
    split.corresponding.restart(split.hosting.next_number());
    split.hosting.on_poll_sent(now);
    forget_frames(split);
}

/// The further leg of a split bearer that was connected last.
pub(crate) fn last_far(drb: &Drb) -> Option<LegId> {
    drb.split.as_ref()?.last_far
}

/// The base station with PDCP gives the secondary node nothing more, as its UE is about to leave it.
pub(crate) fn hold_secondary(drb: &mut Drb) {
    if let Some(split) = &mut drb.split {
        split.openings.hold(true);
    }
}

/// The UE has left the cell of the secondary node. How many packets its end had given the leg.
pub(crate) fn leave_secondary(
    drb: &mut Drb,
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) -> u32 {
    let before = unconfirmed(drb, Direction::Uplink);
    fail_leg((drb, FAR, Time::NEVER), &[Direction::Uplink], env, storage);
    // What its receiver holds back goes up, too.
    if let Some(mut split) = split(drb) {
        split.hand_up((FAR, Direction::Downlink), env, storage);
    }
    drb.hand_over(Direction::Downlink, env, storage);
    for far in &mut drb.legs.others {
        far.leg = None;
    }
    if let Some(split) = &mut drb.split {
        split.openings.hold(true);
        retire_uplink(split);
    }
    unconfirmed(drb, Direction::Uplink).saturating_sub(before)
}

/// The base station with PDCP knows that the UE has left the cell of the secondary node. How many packets it had given
/// that.
pub(crate) fn close_secondary(
    drb: &mut Drb,
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) -> u32 {
    let before = unconfirmed(drb, Direction::Downlink);
    let direction = Direction::Downlink;
    if drb.legs.others.iter().any(|far| far.leg.is_some()) {
        // It is in another one by now, whose RLC has been set up and goes on.
        if let Some(mut split) = split(drb) {
            split.take_back((FAR, direction), Time::ZERO, storage);
        }
        drb.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
    } else {
        fail_leg((drb, FAR, Time::NEVER), &[direction], env, storage);
    }
    if let Some(split) = &mut drb.split {
        split.openings.hold(false);
    }
    unconfirmed(drb, Direction::Downlink).saturating_sub(before)
}

/// The UE has lost its connection: nothing of the bearer is left at either end.
pub(in crate::bearer) fn drop_all(
    drb: &mut Drb,
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) {
    for direction in [Direction::Downlink, Direction::Uplink] {
        for leg in drb.legs.iter_mut() {
            leg.sender(direction)
                .rlc
                .reestablish(&mut storage.unconfirmed);
        }
        // The ledger knows all of them.
        storage.unconfirmed.clear();
        if let Some(split) = &mut drb.split {
            let waiting = &mut split.waiting[direction.index()];
            while waiting.again.pop().is_some() {}
            while let Some(fresh) = waiting.fresh.pop() {
                storage.lost.push(fresh.packet);
            }
            waiting.bytes = 0;
            split.open = [0; 2];
            forget_frames(split);
            split.hosting.flush(&mut storage.again);
            split.take_all_pending(&mut storage.again);
            if let Some(copies) = &mut split.copies[direction.index()] {
                copies.restart_all();
            }
            while split.uplink.pop().is_some() {}
            split.late.clear();
        }
        storage.again.clear();
        drb.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
    }
    for direction in [Direction::Downlink, Direction::Uplink] {
        let receiver = &mut drb.anchors[direction.opposite().index()];
        receiver.rx.flush(&mut storage.ordered);
        drb.hand_over(direction, env, storage);
        let ledger = &mut drb.anchors[direction.index()].ledger;
        ledger.pass_all(&mut storage.lost);
        drb.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
    }
}

/// An SDU with a COUNT waits at PDCP again, for either leg. Whether the bearer is one with a leg that comes and goes.
pub(in crate::bearer) fn wait_again(drb: &mut Drb, direction: Direction, sdu: Sdu) -> bool {
    let Some(split) = drb.split.as_mut().filter(|split| split.stays) else {
        return false;
    };
    // It may be older than what legs had.
    split.open = [0; 2];
    let waiting = &mut split.waiting[direction.index()];
    waiting.bytes += u64::from(sdu.size);
    // They come in the order of COUNT, but for some that went another way.
    let mut behind = Vec::new();
    while let Some(&last) = waiting.again.back()
        && last.serial > sdu.serial
    {
        waiting.again.pop_back();
        behind.push(last);
    }
    waiting.again.push(sdu);
    while let Some(last) = behind.pop() {
        waiting.again.push(last);
    }
    true
}

/// The UE has left both cells: no leg has anything.
pub(super) fn close(split: &mut Split) {
    forget_frames(split);
    retire_uplink(split);
    let next = split.hosting.next_number();
    split.corresponding.restart(next);
    for copies in split.copies.iter_mut().flatten() {
        copies.restart_all();
    }
    split.openings = Openings::without_far();
    split.is_suspended = Default::default();
    split.open = [0; 2];
}

/// A leg of a bearer is connected.
pub(in crate::bearer) fn note_far(split: &mut Option<Box<Split>>, number: u8, leg: LegId) {
    if let Some(split) = split
        && number == FAR
    {
        split.last_far = Some(leg);
    }
}

/// Frames and statuses between the two base stations mean nothing any more.
fn forget_frames(split: &mut Split) {
    while split.arrivals.pop().is_some() {}
    while split.statuses.pop().is_some() {}
}

/// Uplink PDUs that are on links from a base station that is the secondary one no more still come.
fn retire_uplink(split: &mut Split) {
    split.late.retain(|ring| !ring.is_empty());
    if !split.uplink.is_empty() {
        split.late.push(split.uplink.take_all());
    }
    if split.late.len() > LATE {
        split.late.remove(0);
    }
}

impl Split {
    /// When the base station with PDCP asks for a status; never where nobody would answer.
    #[inline]
    pub(super) fn poll_at(&self) -> Time {
        match self.is_alone() {
            true => Time::NEVER,
            false => self.hosting.poll_at(),
        }
    }
}
