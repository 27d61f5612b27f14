//! Bearer of a UE that the source continues to serve while the UE enters the target. This is a
//! handover with a dual active protocol stack (DAPS).
//!
//! ```text
//! begin    The source goes on sending. It copies each SDU with a COUNT to the target.
//! switch   Random access is done. Uplink data goes to the target. The source keeps its RLC entity.
//! arrive   The target has RRCReconfigurationComplete and sends the copies that the UE lacks.
//! hand     The source stops assigning COUNTs. It forwards packets without a COUNT to the target.
//! release  The RLC entities of the source are released.
//! ```
//!
//! PDCP at the UE and at the base station stays in use. PDCP reorders the packets of both cells and
//! drops duplicates.
//!
//! Standard: TS 38.300 §9.2.3.2.2; TS 38.323 §5.1.4, §5.13.

use super::rlc_leg::{RlcEnd, RlcLeg};
use super::split::{Frame, FrameKind};
use super::transfer::{CellChange, FreshPacket};
use super::{Drb, Storage};
use crate::config::{Env, Fate};
use crate::rlc::{ParameterError, Sdu};
use fadeout_core::{CellId, Direction, DrbId, PacketId, Probe, RadioDropCause, Ring, Span, Time};

/// Number of the leg to the source cell while the UE also has a leg to the target cell.
pub(crate) const SOURCE_LEG: u8 = 1;

/// Source and target of a DAPS handover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// Source cell and target cell.
    pub cells: [CellId; 2],
    /// Base stations of the source cell and of the target cell.
    pub stations: [u32; 2],
    /// One-way delay between the two base stations. `None` if simulated links carry the copies.
    pub delay: Option<Span>,
}

/// State of a bearer that the source and the target of a DAPS handover serve.
#[derive(Debug)]
pub(crate) struct DapsState {
    ends: Ends,
    /// Frame number of the first SDU in `sent`.
    base: u64,
    /// SDUs with a COUNT that the source sends or has sent, oldest first.
    sent: Ring<DapsCopy>,
    /// Frames that are being sent to the target, with their arrival times. Used only if the delay
    /// between the base stations is given.
    pending: Ring<(Time, u64)>,
    /// True if uplink data goes to the target.
    is_switched: bool,
    /// True if the source assigns COUNTs to new downlink packets.
    assigns: bool,
    /// True if the target has received the UE's RRCReconfigurationComplete.
    is_complete: bool,
    /// Number of duplicate downlink PDUs before the handover.
    useless: u64,
}

/// SDU that the source copies to the target.
#[derive(Debug, Clone, Copy, Default)]
struct DapsCopy {
    sdu: Sdu,
    has_come: bool,
}

/// Operations on a bearer during a DAPS handover.
#[derive(Debug)]
pub(crate) struct DapsBearer<'a>(&'a mut Drb);

/// Returns the DAPS operations of a bearer.
pub(crate) fn daps(drb: &mut Drb) -> DapsBearer<'_> {
    DapsBearer(drb)
}

/// Returns the source and the target cell of a DAPS handover. `None` if only one cell serves the
/// bearer.
pub(crate) fn daps_cells(drb: &Drb) -> Option<[CellId; 2]> {
    let transfer = drb.transfers().0.as_ref()?;
    Some(transfer.dual.as_ref()?.ends.cells)
}

impl DapsState {
    fn new(ends: Ends, base: u64, useless: u64) -> DapsState {
        DapsState {
            ends,
            base,
            sent: Ring::new(),
            pending: Ring::new(),
            is_switched: false,
            assigns: true,
            is_complete: false,
            useless,
        }
    }

    /// Returns true if the source assigns COUNTs to packets that arrive at `station`.
    pub(super) fn numbers_packets_at(&self, station: u32) -> bool {
        self.assigns && station == self.ends.stations[0]
    }

    /// Sends a copy of an SDU from the source to the target.
    fn send(&mut self, bearer: DrbId, sdu: Sdu, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let number = self.sent.push(DapsCopy {
            sdu,
            has_come: false,
        });
        match self.ends.delay {
            Some(delay) => {
                self.pending.push((env.now.saturating_add(delay), number));
            }
            None => storage.frames.push(Frame {
                bearer,
                kind: FrameKind::Copy,
                number: self.base + number,
                size: sdu.size,
                flow: env.pool[sdu.packet].flow,
            }),
        }
    }
}

impl DapsBearer<'_> {
    fn dual(&mut self) -> Option<&mut DapsState> {
        self.0.transfer.0.as_mut()?.dual.as_deref_mut()
    }

    /// Begins DAPS. The source sends copies of all SDUs that the UE has not confirmed to the
    /// target. A later SDU is copied when PDCP assigns its COUNT.
    pub(crate) fn begin(&mut self, ends: Ends, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let drb = &mut *self.0;
        let end = drb.legs.primary.sender(Direction::Downlink);
        end.catch_up(env.now);
        let anchor = &mut drb.anchors[Direction::Downlink.index()];
        anchor.tx.close_gaps(end.rlc.settle_counts());
        end.rlc.list_unconfirmed(&mut storage.unconfirmed);
        let useless = drb.anchors[Direction::Uplink.index()].rx.useless();
        let ledger = &drb.anchors[Direction::Downlink.index()].ledger;
        let Some(transfer) = &mut drb.transfer.0 else {
            storage.unconfirmed.clear();
            return;
        };
        transfer.begin_counts();
        let mut dual = Box::new(DapsState::new(ends, transfer.copied, useless));
        let mut unconfirmed = std::mem::take(&mut storage.unconfirmed);
        for sdu in unconfirmed.drain(..) {
            if ledger.holds(sdu.serial) {
                dual.send(drb.id, sdu, env, storage);
                transfer.copied += 1;
                transfer.counts.numbered += 1;
            }
        }
        storage.unconfirmed = unconfirmed;
        transfer.dual = Some(dual);
        drb.is_dual = true;
    }

    /// Copies an SDU to the target, after the source's PDCP assigned its COUNT.
    pub(super) fn copy_sdu(&mut self, sdu: Sdu, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let bearer = self.0.id;
        let ledger = &self.0.anchors[Direction::Downlink.index()].ledger;
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let Some(dual) = transfer.dual.as_mut().filter(|dual| dual.assigns) else {
            return;
        };
        while let Some(first) = dual.sent.front()
            && !ledger.holds(first.sdu.serial)
        {
            dual.sent.pop();
        }
        dual.send(bearer, sdu, env, storage);
        transfer.copied += 1;
        transfer.counts.numbered += 1;
    }

    /// Returns true if the UE's uplink data goes to the target while the source still assigns
    /// COUNTs to downlink packets.
    pub(super) fn uses_source_leg(&self) -> bool {
        let dual = (self.0.transfer.0.as_ref()).and_then(|transfer| transfer.dual.as_ref());
        dual.is_some_and(|dual| dual.is_switched && dual.assigns)
    }

    /// Hands a downlink packet to PDCP and to the source's RLC, after the target's leg has become
    /// the primary leg. Returns false if the packet was dropped.
    pub(super) fn accept_on_source_leg(
        &mut self,
        at: Time,
        packet: PacketId,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> bool {
        let drb = &mut *self.0;
        let size = env.pool[packet].wire_len();
        let direction = Direction::Downlink;
        let Some(source) = drb.legs.others.first_mut() else {
            return false;
        };
        let anchor = &mut drb.anchors[direction.index()];
        let rlc = &mut source.sender(direction).rlc;
        let taken = anchor
            .tx
            .on_packet(at, packet, size, rlc, &mut anchor.ledger);
        match taken {
            Ok(sdu) => {
                if drb.wants_delay(env.probe) {
                    storage.tracks.number(packet, sdu.serial);
                }
                self.copy_sdu(sdu, env, storage);
                true
            }
            Err(packet) => {
                drb.refuse(direction, packet, RadioDropCause::BufferFull, env);
                false
            }
        }
    }

    /// Records that a copy of an SDU has arrived at the target.
    pub(crate) fn on_copy(&mut self, number: u64) {
        let Some(dual) = self.dual() else { return };
        let number = number.checked_sub(dual.base);
        if let Some(number) = number.filter(|&number| dual.sent.contains(number)) {
            self.record_copy(number);
        }
    }

    fn record_copy(&mut self, number: u64) {
        let Some(dual) = self.dual() else { return };
        dual.sent[number].has_come = true;
        if dual.is_complete {
            let sdu = dual.sent[number].sdu;
            self.send_copy(sdu);
        }
    }

    /// Hands the copy of an SDU to the target's RLC, unless the UE has received the SDU.
    fn send_copy(&mut self, sdu: Sdu) {
        let [downlink, uplink] = &self.0.anchors;
        if downlink.ledger.holds(sdu.serial) && !uplink.rx.has(sdu.count) {
            let end = self.0.legs.primary.sender(Direction::Downlink);
            end.rlc.push_again(sdu);
        }
    }

    /// Returns the arrival time of the next copy at the target. `None` if links carry the copies,
    /// or if the target has not received RRCReconfigurationComplete yet.
    pub(super) fn pending_at(drb: &Drb) -> Option<Time> {
        let dual = drb.transfer.0.as_ref()?.dual.as_ref()?;
        let is_awaited = |_: &&(Time, u64)| dual.is_complete;
        dual.pending.front().filter(is_awaited).map(|&(at, _)| at)
    }

    /// Processes the copies that have arrived at the target by now.
    pub(super) fn drain(&mut self, now: Time) {
        while let Some(dual) = self.dual()
            && let Some(&(at, number)) = dual.pending.front()
            && at <= now
        {
            dual.pending.pop();
            if dual.sent.contains(number) {
                self.record_copy(number);
            }
        }
    }

    /// Switches the UE's data to the target, after random access. Uplink data that the source has
    /// not confirmed is sent to the target first. The source's RLC still transmits the data that it
    /// already has.
    ///
    /// Standard: TS 38.323 §5.13; TS 38.300 §9.2.3.2.2.
    ///
    /// # Errors
    /// Never fails, because RLC was set up with the same parameters before.
    pub(crate) fn switch(
        &mut self,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> Result<(), ParameterError> {
        let drb = &mut *self.0;
        let config = *drb.legs.primary.ends[0].rlc.config();
        let mut anew = |direction: Direction| {
            let before = &mut drb.legs.primary.ends[direction.index()];
            RlcEnd::after(before, &config)
        };
        let ends = [anew(Direction::Downlink)?, anew(Direction::Uplink)?];
        let target = RlcLeg {
            number: drb.config.leg,
            leg: None,
            rooms: drb.legs.primary.rooms,
            format: drb.legs.primary.format,
            ends,
        };
        let mut source = std::mem::replace(&mut drb.legs.primary, target);
        source.number = SOURCE_LEG;
        let direction = Direction::Uplink;
        let is_acknowledged = drb.config.is_acknowledged();
        let from = &mut source.sender(direction).rlc;
        let anchor = &mut drb.anchors[direction.index()];
        anchor.tx.close_gaps(from.settle_counts());
        if is_acknowledged {
            from.list_unconfirmed(&mut storage.unconfirmed);
            while from.take_head(env.now).is_some() {}
        } else {
            while let Some(sdu) = from.take_head(env.now) {
                storage.unconfirmed.push(sdu);
            }
        }
        let rx = &drb.anchors[Direction::Downlink.index()].rx;
        let [_, up] = &mut drb.legs.primary.ends;
        for sdu in storage.unconfirmed.drain(..) {
            if !is_acknowledged || !rx.has(sdu.count) {
                up.rlc.push_again(sdu);
            }
        }
        for end in &mut drb.legs.primary.ends {
            end.rlc.settle_counts();
        }
        drb.legs.others.push(source);
        if let Some(transfer) = &mut drb.transfer.0 {
            transfer.open_gaps();
            if let Some(dual) = &mut transfer.dual {
                dual.is_switched = true;
                let mut change = CellChange::new(dual.ends.stations[0]);
                change.has_left = true;
                transfer.change = Some(change);
            }
        }
        Ok(())
    }

    /// Handles RRCReconfigurationComplete at the target, which then sends the copies that it has
    /// received.
    pub(crate) fn on_complete(&mut self, now: Time) {
        self.drain(now);
        let Some(dual) = self.dual() else { return };
        dual.is_complete = true;
        for number in dual.sent.first()..dual.sent.end() {
            let Some(dual) = self.dual() else { return };
            let DapsCopy { sdu, has_come } = dual.sent[number];
            if has_come {
                self.send_copy(sdu);
            }
        }
    }

    /// Ends the assignment of COUNTs at the source, because the source knows that the UE is in the
    /// target. The source sends no new SDUs. `fate` says whether its packets without a COUNT are
    /// kept, forwarded or dropped.
    pub(crate) fn end_numbering(
        &mut self,
        fate: Fate,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if let Some(dual) = self.dual() {
            dual.assigns = false;
        }
        let drb = &mut *self.0;
        if let Some(source) = drb.legs.others.first_mut() {
            let rlc = &mut source.sender(Direction::Downlink).rlc;
            while rlc.take_head(env.now).is_some() {}
        }
        let mut mobile = drb.mobile();
        let source = mobile.change().map_or(0, |change| change.source);
        while let Some((_, packet)) = mobile.drb.inlet.pop() {
            if let Some(change) = mobile.change() {
                change.fresh.push_back(FreshPacket {
                    at: Time::NEVER,
                    packet,
                    station: source,
                });
            }
        }
        mobile.redirect(fate, env, storage);
    }

    /// Releases the source's leg, after the UE has left the source. Copies that have not arrived at
    /// the target are lost.
    pub(crate) fn release(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        self.drain(env.now);
        let useless = self.0.anchors[Direction::Uplink.index()].rx.useless();
        let drb = &mut *self.0;
        drb.is_dual = false;
        drb.legs.others.clear();
        let Some(transfer) = &mut drb.transfer.0 else {
            return;
        };
        let Some(dual) = transfer.dual.take() else {
            return;
        };
        transfer.received_twice += useless - dual.useless;
        let ledger = &mut drb.anchors[Direction::Downlink.index()].ledger;
        for number in dual.sent.first()..dual.sent.end() {
            let DapsCopy { sdu, has_come } = dual.sent[number];
            if !has_come && ledger.leave(sdu.serial) {
                storage.lost.push(sdu.packet);
            }
        }
        drb.mobile()
            .lose_at_source(Direction::Downlink, env, storage);
    }

    /// Ends DAPS while the UE stays in the source. The source sends no more copies.
    pub(crate) fn end(&mut self) {
        self.0.is_dual = false;
        if let Some(transfer) = &mut self.0.transfer.0 {
            transfer.dual = None;
        }
    }

    /// Handles a failure of the link to the target after random access. The bearer then waits for a
    /// cell, as after any link failure. The source keeps the data that the target does not have.
    pub(crate) fn on_target_failed(&mut self, now: Time) {
        self.drain(now);
        let drb = &mut *self.0;
        let [downlink, uplink] = &drb.anchors;
        let Some(transfer) = &mut drb.transfer.0 else {
            return;
        };
        let is_switched = |dual: &mut Box<DapsState>| dual.is_switched;
        let Some(dual) = transfer.dual.take_if(is_switched) else {
            return;
        };
        drb.is_dual = false;
        drb.legs.others.clear();
        transfer.received_twice += uplink.rx.useless() - dual.useless;
        let Some(change) = &mut transfer.change else {
            return;
        };
        let [source, target] = dual.ends.stations;
        for number in dual.sent.first()..dual.sent.end() {
            let DapsCopy { sdu, has_come } = dual.sent[number];
            let is_wanted = downlink.ledger.holds(sdu.serial) && !uplink.rx.has(sdu.count);
            match has_come {
                false if is_wanted => change.numbered.push_back((source, sdu)),
                true if is_wanted && !dual.is_complete => change.numbered.push_back((target, sdu)),
                _ => {}
            }
        }
    }

    /// Handles a failure of the link to the source, after the UE has left the source. The UE may
    /// still reach the target, which has copies of the data.
    pub(crate) fn on_source_failed(&mut self, now: Time) {
        self.drain(now);
        self.0.is_dual = false;
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let Some(change) = &mut transfer.change else {
            return;
        };
        if let Some(dual) = transfer.dual.take() {
            let mut numbers = dual.sent.first()..dual.sent.end();
            for (station, sdu) in &mut change.numbered {
                let is_it = |number: &u64| dual.sent[*number].sdu.serial == sdu.serial;
                // The SDUs and the copies are both in the order of COUNT.
                if let Some(number) = numbers.clone().find(is_it) {
                    numbers.start = number;
                    if dual.sent[number].has_come {
                        *station = dual.ends.stations[1];
                    }
                }
            }
        }
        change.put_in_order();
    }
}
