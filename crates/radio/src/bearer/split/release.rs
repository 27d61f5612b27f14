//! Release of the secondary leg of a split bearer. The bearer continues on the first leg alone.
//!
//! Standard: TS 37.340 §10.4, §10.7; TS 38.331 §5.3.5.4.

use super::node::close;
use super::{FIRST, SECONDARY, split};
use crate::bearer::transfer::{FreshPacket, MobileBearer};
use crate::bearer::{Drb, Storage};
use crate::config::{Env, Fate, Route};
use crate::rlc::Sdu;
use fadeout_core::{Direction, Probe, Ring, Time};
use std::collections::BTreeSet;

impl MobileBearer<'_> {
    /// Stops the downlink at the base station with PDCP. Packets that wait at PDCP are added to the
    /// packets that were taken out of RLC.
    pub(in crate::bearer) fn stop_split(&mut self, station: u32) {
        let direction = Direction::Downlink.index();
        let Drb {
            split, transfer, ..
        } = &mut *self.drb;
        let (Some(split), Some(transfer)) = (split, &mut transfer.0) else {
            return;
        };
        let Some(change) = &mut transfer.change else {
            return;
        };
        if let Some(copies) = &mut split.copies[direction] {
            // SDUs that the secondary leg has are not moved here. The secondary leg delivers them,
            // or they are taken back when the UE leaves.
            (change.numbered).retain(|(_, sdu)| copies.lose_pdu(sdu.serial, FIRST));
            while let Some(sdu) = split.pending.pop() {
                if copies.lose_pdu(sdu.serial, SECONDARY) {
                    change.numbered.push_back((station, sdu));
                }
            }
            split.pending_bytes = 0;
        }
        let waiting = &mut split.waiting[direction];
        while let Some(sdu) = waiting.again.pop() {
            change.numbered.push_back((station, sdu));
        }
        while let Some(fresh) = waiting.fresh.pop() {
            change.fresh.push_back(FreshPacket {
                at: Time::NEVER,
                packet: fresh.packet,
                station,
            });
        }
        waiting.bytes = 0;
        change.put_in_order();
    }

    /// Merges the SDUs of the released leg with those of the first leg, in the order of COUNT. SDUs
    /// that have arrived are omitted.
    pub(in crate::bearer) fn merge_released(
        &mut self,
        released: ReleasedData,
        station: u32,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let [mut down, up] = released.sdus;
        let [downlink, uplink] = &mut self.drb.anchors;
        down.retain(|sdu| downlink.ledger.holds(sdu.serial) && !uplink.rx.has(sdu.count));
        let up = up.into_iter();
        let is_wanted = |sdu: &Sdu| uplink.ledger.holds(sdu.serial) && !downlink.rx.has(sdu.count);
        storage.again.extend(up.filter(is_wanted));
        storage.again.sort_unstable_by_key(|sdu| sdu.serial);
        storage.again.dedup_by_key(|sdu| sdu.serial);
        let rlc = match self.drb.config.split {
            Some(split) => split.of_leg(self.drb.config.rlc),
            None => self.drb.config.rlc,
        };
        for end in &mut self.drb.legs.primary.ends {
            let is_anew = end.set_up_anew(&rlc);
            debug_assert!(is_anew.is_ok(), "RLC had these parameters before");
        }
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        if self.drb.split.is_none() {
            transfer.late = released.uplink;
        }
        if let Some(change) = &mut transfer.change {
            let known: BTreeSet<u32> = change.numbered.iter().map(|(_, sdu)| sdu.serial).collect();
            down.retain(|sdu| !known.contains(&sdu.serial));
            let is_given = matches!(change.fate, Fate::Forwarded(Route::FixedDelay(_)));
            match change.fate {
                Fate::Dropped => {
                    let ledger = &mut downlink.ledger;
                    let lost = down.into_iter().filter(|sdu| ledger.leave(sdu.serial));
                    storage.lost.extend(lost.map(|sdu| sdu.packet));
                }
                _ => {
                    transfer.counts.numbered += if is_given { down.len() as u64 } else { 0 };
                    let down = down.into_iter().map(|sdu| (station, sdu));
                    change.numbered.extend(down);
                    change.put_in_order();
                }
            }
        }
        self.lose_at_source(Direction::Downlink, env, storage);
    }
}

/// Handles an uplink PDU from a former secondary node. The PDU is added to the list of received
/// SDUs. Older PDUs from that node that have not arrived are lost.
pub(in crate::bearer) fn on_late(late: &mut Ring<Sdu>, number: u64, storage: &mut Storage) {
    while late.contains(number) {
        let first = late.first();
        let sdu = late.pop();
        if first == number {
            storage.sdus.extend(sdu);
        }
    }
}

/// Data of a bearer's legs when the secondary leg is released.
#[derive(Debug, Default)]
pub(in crate::bearer) struct ReleasedData {
    /// SDUs by direction that were given to the secondary leg without known delivery, or that wait
    /// to be sent again.
    pub sdus: [Vec<Sdu>; 2],
    /// Uplink PDUs on links between the base stations.
    pub uplink: Ring<Sdu>,
}

/// Releases the secondary leg of a bearer. RLC of the secondary node delivers the SDUs that wait
/// for reordering. Returns the data of the legs. `None` if the bearer is not split.
pub(in crate::bearer) fn release(
    drb: &mut Drb,
    env: &mut Env<'_, impl Probe>,
    storage: &mut Storage,
) -> Option<ReleasedData> {
    drb.split.as_ref()?;
    for direction in [Direction::Downlink, Direction::Uplink] {
        split(drb)?.hand_up((SECONDARY, direction), env, storage);
        drb.deliver_in_order(direction, env, storage);
    }
    let is_managed = drb.split.as_ref().is_some_and(|split| split.is_managed);
    let mut released = ReleasedData::default();
    let Drb {
        split,
        legs,
        anchors,
        ..
    } = &mut *drb;
    let inner = split.as_deref_mut()?;
    let [downlink, uplink] = &mut released.sdus;
    inner.hosting.flush(downlink);
    inner.take_all_pending(downlink);
    for secondary in &mut legs.others {
        secondary.sender(Direction::Uplink).rlc.reestablish(uplink);
    }
    let tx = &mut anchors[Direction::Uplink.index()];
    for (waiting, sdus) in inner.waiting.iter_mut().zip(&mut released.sdus) {
        while let Some(sdu) = waiting.again.pop() {
            waiting.bytes -= u64::from(sdu.size);
            sdus.push(sdu);
        }
    }
    // Only the uplink queue is emptied here. The downlink queue was emptied when the base station
    // stopped, or is moved later with the unsent data.
    let waiting = &mut inner.waiting[Direction::Uplink.index()];
    while let Some(fresh) = waiting.fresh.pop() {
        waiting.bytes -= u64::from(fresh.size + inner.header);
        let (at, packet, size) = (fresh.entered_at, fresh.packet, fresh.size);
        let sdu = tx.tx.number(at, packet, size, &mut tx.ledger);
        if let Some(copies) = &mut inner.copies[Direction::Uplink.index()] {
            copies.enter(sdu.serial);
        }
        released.sdus[Direction::Uplink.index()].push(sdu);
    }
    if is_managed {
        close(inner);
        for secondary in &mut legs.others {
            secondary.leg = None;
        }
    } else {
        released.uplink = std::mem::replace(&mut inner.uplink, Ring::new());
        legs.others.clear();
        drb.config.split = None;
        drb.split = None;
    }
    Some(released)
}
