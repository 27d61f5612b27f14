//! Split bearer whose secondary leg is added and released while the first leg stays in use.
//!
//! ```text
//! open_secondary   The UE is in a cell of a secondary node. RLC is set up there at both ends.
//! hold_secondary   The base station with PDCP sends no more PDUs to the secondary node.
//! leave_secondary  The UE has left the cell and resends unconfirmed PDUs over the other leg.
//! close_secondary  The base station with PDCP learns of it and resends its unconfirmed PDUs too.
//! ```
//!
//! Standard: TS 37.340 §10.2, §10.4, §10.5; TS 38.323 §5.5.

use super::openings::Openings;
use super::{SECONDARY, Split, split};
use crate::bearer::{Drb, Storage, fail_leg};
use crate::config::{Env, LegId};
use crate::rlc::Sdu;
use crate::wire::BearerFormat;
use fadeout_core::{Direction, Probe, RadioDropCause, Time};

/// Maximum number of former secondary nodes whose uplink PDUs may still be on links.
const MOST_FORMER_NODES: usize = 8;

/// Returns the number of packets that one end must send again, because the secondary leg was
/// closed.
fn unconfirmed(drb: &Drb, direction: Direction) -> u32 {
    let waiting = drb.split.as_ref();
    waiting.map_or(0, |split| {
        split.waiting[direction.index()].again.len() as u32
    })
}

/// Allows the network to add and release the bearer's secondary leg. The bearer begins without a
/// secondary leg, unless that leg is already connected.
pub(crate) fn manage_secondary(drb: &mut Drb) {
    let is_there = drb
        .legs
        .others
        .iter()
        .any(|secondary| secondary.leg.is_some());
    if let Some(split) = &mut drb.split {
        split.is_managed = true;
        if !is_there {
            split.openings.close_secondary_leg(Time::NEVER);
        }
    }
}

/// Opens the secondary leg after the UE has entered a cell of a secondary node. Both ends set up
/// RLC. The secondary node is given no PDUs before it has reported its desired buffer size. If
/// `is_confirmed` is false, the PDUs at the former secondary node must still be taken back.
pub(crate) fn open_secondary(drb: &mut Drb, now: Time, is_confirmed: bool) {
    let pdcp = drb.config.pdcp;
    let Some(split) = &mut drb.split else { return };
    let rlc = split.config.of_leg(split.config.rlc);
    for secondary in &mut drb.legs.others {
        for end in &mut secondary.ends {
            let is_anew = end.set_up_anew(&rlc);
            debug_assert!(is_anew.is_ok(), "RLC had these parameters before");
        }
        secondary.format = BearerFormat::new(&rlc, &pdcp, drb.nth);
    }
    split.openings.close_secondary_leg(Time::ZERO);
    split.suspend(SECONDARY, false);
    if !is_confirmed {
        // PDUs that were given to the former secondary node must be taken back first.
        let secondary = (SECONDARY, Direction::Downlink);
        split.openings.close(secondary, Time::NEVER);
    }
    split.openings.hold(false);
    split.corresponding.restart(split.hosting.next_number());
    split.hosting.on_poll_sent(now);
    forget_frames(split);
}

/// Returns the secondary leg of a split bearer that was connected last. `None` if there was none.
pub(crate) fn last_secondary(drb: &Drb) -> Option<LegId> {
    drb.split.as_ref()?.last_secondary
}

/// Stops the sending of PDUs to the secondary node, because the UE is about to leave the node's
/// cell.
pub(crate) fn hold_secondary(drb: &mut Drb) {
    if let Some(split) = &mut drb.split {
        split.openings.hold(true);
    }
}

/// Closes the secondary leg at the UE, which has left the leg's cell. Returns the number of uplink
/// packets that were given to that leg and not confirmed.
pub(crate) fn leave_secondary(
    drb: &mut Drb,
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) -> u32 {
    let before = unconfirmed(drb, Direction::Uplink);
    fail_leg(
        (drb, SECONDARY, Time::NEVER),
        &[Direction::Uplink],
        env,
        storage,
    );
    // The UE's receiver also delivers the PDUs that it stored for reordering.
    if let Some(mut split) = split(drb) {
        split.hand_up((SECONDARY, Direction::Downlink), env, storage);
    }
    drb.deliver_in_order(Direction::Downlink, env, storage);
    for secondary in &mut drb.legs.others {
        secondary.leg = None;
    }
    if let Some(split) = &mut drb.split {
        split.openings.hold(true);
        retire_uplink(split);
    }
    unconfirmed(drb, Direction::Uplink).saturating_sub(before)
}

/// Closes the secondary leg at the base station with PDCP, which has learnt that the UE has left.
/// Returns the number of downlink packets that were given to that leg and not confirmed.
pub(crate) fn close_secondary(
    drb: &mut Drb,
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) -> u32 {
    let before = unconfirmed(drb, Direction::Downlink);
    let direction = Direction::Downlink;
    if drb
        .legs
        .others
        .iter()
        .any(|secondary| secondary.leg.is_some())
    {
        // The UE is already in another secondary cell. RLC was set up for that cell and stays in
        // use.
        if let Some(mut split) = split(drb) {
            split.take_back((SECONDARY, direction), Time::ZERO, storage);
        }
        drb.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
    } else {
        fail_leg((drb, SECONDARY, Time::NEVER), &[direction], env, storage);
    }
    if let Some(split) = &mut drb.split {
        split.openings.hold(false);
    }
    unconfirmed(drb, Direction::Downlink).saturating_sub(before)
}

/// Drops all data of the bearer at both ends, because the UE has lost its connection.
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
        // The ledger lists every packet in the bearer, so these lists are not needed.
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
        drb.deliver_in_order(direction, env, storage);
        let ledger = &mut drb.anchors[direction.index()].ledger;
        ledger.pass_all(&mut storage.lost);
        drb.drop_lost(direction, RadioDropCause::LinkFailure, env, storage);
    }
}

/// Adds an SDU with a COUNT to the SDUs at PDCP that are to be sent again on either leg. Returns
/// false if the network does not manage a secondary leg of the bearer.
pub(in crate::bearer) fn wait_again(drb: &mut Drb, direction: Direction, sdu: Sdu) -> bool {
    let Some(split) = drb.split.as_mut().filter(|split| split.is_managed) else {
        return false;
    };
    // The SDU may be older than all SDUs of the legs, so the stored number of open COUNTs is
    // invalid.
    split.open = [0; 2];
    let waiting = &mut split.waiting[direction.index()];
    waiting.bytes += u64::from(sdu.size);
    // SDUs usually arrive in the order of COUNT. An SDU that was forwarded over another path may
    // arrive late, so each SDU is inserted in order.
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

/// Clears the data of all legs, because the UE has left the cells of both base stations.
pub(super) fn close(split: &mut Split) {
    forget_frames(split);
    retire_uplink(split);
    let next = split.hosting.next_number();
    split.corresponding.restart(next);
    for copies in split.copies.iter_mut().flatten() {
        copies.restart_all();
    }
    split.openings = Openings::without_secondary();
    split.is_suspended = Default::default();
    split.open = [0; 2];
}

/// Records `leg` as the connected secondary leg if `number` is the number of the secondary leg.
pub(in crate::bearer) fn record_secondary(split: &mut Option<Box<Split>>, number: u8, leg: LegId) {
    if let Some(split) = split
        && number == SECONDARY
    {
        split.last_secondary = Some(leg);
    }
}

/// Removes the frames and statuses between the two base stations, which are obsolete.
fn forget_frames(split: &mut Split) {
    while split.arrivals.pop().is_some() {}
    while split.statuses.pop().is_some() {}
}

/// Stores the uplink PDUs that are still on links from a former secondary node.
fn retire_uplink(split: &mut Split) {
    split.late.retain(|ring| !ring.is_empty());
    if !split.uplink.is_empty() {
        split.late.push(split.uplink.take_all());
    }
    if split.late.len() > MOST_FORMER_NODES {
        split.late.remove(0);
    }
}

impl Split {
    /// Returns the time at which the base station with PDCP polls for a status. [`Time::NEVER`]
    /// without a secondary leg.
    #[inline]
    pub(super) fn poll_at(&self) -> Time {
        match self.is_alone() {
            true => Time::NEVER,
            false => self.hosting.poll_at(),
        }
    }
}
