//! PDCP duplication: each PDU is given to all legs for which duplication is activated. After one
//! leg has confirmed the PDU, the other legs discard it.
//!
//! In the downlink, a frame lists the PDUs that the secondary node need not send any more.
//!
//! Standard: TS 38.323 §5.11.

use super::{CONTROL_FRAME, Frame, FrameKind, LEG_NUMBERS, SECONDARY, Split, SplitBearer};
use crate::bearer::Storage;
use crate::bearer::rlc_leg::RlcLegs;
use crate::config::Env;
use crate::rlc::{Entity, Sdu};
use fadeout_core::{Direction, PacketId, Probe, Time};

/// Legs that may be given copies of a PDU. The leg with the least waiting data comes first.
#[derive(Debug, Clone, Copy, Default)]
struct CopyLegs {
    /// Number of waiting bytes on a leg, and the leg's number.
    legs: [(u64, u8); LEG_NUMBERS],
    count: usize,
}

impl CopyLegs {
    fn add(&mut self, queued: u64, leg: u8) {
        let mut place = self.count;
        while place > 0 && self.legs[place - 1].0 > queued {
            self.legs[place] = self.legs[place - 1];
            place -= 1;
        }
        self.legs[place] = (queued, leg);
        self.count += 1;
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u8)> + use<> {
        self.legs.into_iter().take(self.count)
    }
}

impl Split {
    /// Returns the number of bytes that were given to a leg and wait to be sent.
    fn queued(&self, leg: u8, direction: Direction, legs: &RlcLegs) -> u64 {
        match self.goes_to_node((leg, direction)) {
            true => self.pending_bytes,
            false => legs.get(leg).ends[direction.index()].rlc.queued().0,
        }
    }

    /// Returns the legs that may be given copies now.
    fn copy_legs(&self, (now, direction): (Time, Direction), legs: &RlcLegs) -> CopyLegs {
        let mut copy_legs = CopyLegs::default();
        for leg in self.numbers() {
            if self.may_copy(now, (leg, direction)) {
                copy_legs.add(self.queued(leg, direction, legs), leg);
            }
        }
        copy_legs
    }

    /// Returns true if at least one leg has space for `bytes` more in its buffer. The leg with the
    /// least waiting data decides, so a stalled leg does not block the bearer.
    pub(super) fn has_room_on_a_leg(
        &self,
        bytes: u64,
        now: (Time, Direction),
        legs: &RlcLegs,
    ) -> bool {
        let first = self.copy_legs(now, legs).iter().next();
        let least = first.map_or(0, |(queued, _)| queued);
        least + self.waiting[now.1.index()].bytes + bytes <= self.most
    }

    /// Returns the time at which the discard timer of the oldest copy in RLC expires.
    pub(super) fn copies_discarded_at(&self, direction: Direction, legs: &RlcLegs) -> Time {
        let Some(timer) = self.discard_timer else {
            return Time::NEVER;
        };
        let heads =
            legs.iter()
                .filter_map(|leg| match self.goes_to_node((leg.number, direction)) {
                    true => self.pending.front(),
                    false => leg.ends[direction.index()].rlc.head(),
                });
        let entered_at = heads.map(|sdu| sdu.entered_at).min();
        entered_at.map_or(Time::NEVER, |at| at.saturating_add(timer))
    }
}

impl SplitBearer<'_> {
    /// Gives each packet that waits at PDCP to all legs that may be given copies.
    ///
    /// Standard: TS 38.323 §5.2.1, §5.11.1.
    pub(crate) fn submit(
        &mut self,
        direction: Direction,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.split.copies[direction.index()].is_none() {
            return;
        }
        let mut legs = self.split.numbers();
        if legs.all(|leg| self.split.openings.is_closed(env.now, (leg, direction))) {
            return;
        }
        while let Some(sdu) = self.number(direction, env, storage) {
            self.give(sdu, (env.now, direction));
        }
    }

    fn give(&mut self, sdu: Sdu, (now, direction): (Time, Direction)) {
        let split = &mut *self.split;
        let copy_legs = split.copy_legs((now, direction), self.legs);
        let Some(copies) = &mut split.copies[direction.index()] else {
            return;
        };
        for (queued, leg) in copy_legs.iter() {
            let index = usize::from(leg);
            let is_copy = copies.is_anywhere(sdu.serial) && !copies.is_on(sdu.serial, leg);
            // A leg whose buffer has no space for a PDU gets no copy if another leg already has the
            // PDU.
            let is_full = is_copy && queued + u64::from(sdu.size) > split.most;
            if is_full || !copies.give(sdu.serial, leg) {
                continue;
            }
            split.carried[direction.index()][index].add(sdu.size);
            if direction == Direction::Downlink && leg == SECONDARY {
                split.pending_bytes += u64::from(sdu.size);
                split.pending.push(sdu);
            } else {
                copies.on_pushed(sdu.serial, leg);
                self.legs.get_mut(leg).sender(direction).rlc.push_again(sdu);
            }
            split.carried[direction.index()][index].copies += u64::from(is_copy);
        }
    }

    /// Activates or deactivates duplication for a leg in a direction. A leg without duplication
    /// discards the PDUs that it has not begun to send, except PDUs that no other leg has.
    ///
    /// Standard: TS 38.321 §5.10; TS 38.323 §5.11.1.
    pub(crate) fn activate(
        &mut self,
        (leg, direction): (u8, Direction),
        is_active: bool,
        now: Time,
    ) {
        let split = &mut *self.split;
        if !split.numbers().any(|number| number == leg) {
            return;
        }
        let before = &mut split.is_active[direction.index()][usize::from(leg)];
        if std::mem::replace(before, is_active) == is_active
            || is_active
            || leg == split.primary(now, direction)
        {
            return;
        }
        let Some(copies) = &mut split.copies[direction.index()] else {
            return;
        };
        let index = direction.index();
        if direction == Direction::Downlink && leg == SECONDARY {
            // Only PDUs that wait at the base station with PDCP are discarded. The secondary node
            // still sends the PDUs that it has received.
            for _ in 0..split.pending.len() {
                let Some(sdu) = split.pending.pop() else {
                    break;
                };
                match copies.is_elsewhere(sdu.serial, leg) {
                    true => {
                        copies.lose_pdu(sdu.serial, leg);
                        split.pending_bytes -= u64::from(sdu.size);
                        split.carried[index][usize::from(leg)].discarded += 1;
                    }
                    false => drop(split.pending.push(sdu)),
                }
            }
            return;
        }
        let rlc = &mut self.legs.get_mut(leg).sender(direction).rlc;
        while let Some(head) = rlc.head()
            && copies.is_elsewhere(head.serial, leg)
        {
            copies.lose_pdu(head.serial, leg);
            split.carried[index][usize::from(leg)].discarded += 1;
            rlc.drop_head(now);
        }
    }

    /// Sends copies to the secondary node, up to its desired buffer size. PDUs that the other leg
    /// has confirmed are omitted.
    pub(super) fn feed_copies(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        self.submit(Direction::Downlink, env, storage);
        while let Some(&sdu) = self.split.pending.front() {
            let split = &mut *self.split;
            let copies = &split.copies[Direction::Downlink.index()];
            let is_confirmed = (copies.as_ref()).is_some_and(|it| it.is_confirmed(sdu.serial));
            let may_go = split.hosting.has_room(sdu.size)
                && !split
                    .openings
                    .is_closed(env.now, (SECONDARY, Direction::Downlink));
            if !is_confirmed && !may_go {
                return;
            }
            split.take_pending();
            if is_confirmed {
                split.on_discarded(sdu.serial, SECONDARY, Direction::Downlink);
            } else {
                // If the packet is no longer in the pool, the copy is assigned the flow of the
                // latest packet.
                let ledger = &self.anchors[Direction::Downlink.index()].ledger;
                let flow = match ledger.holds(sdu.serial) {
                    true => env.pool[sdu.packet].flow,
                    false => split.flow,
                };
                self.send_to_node(sdu, flow, env.now, storage);
            }
        }
    }

    /// Processes new confirmations of a leg's RLC. The other legs discard the confirmed PDUs.
    ///
    /// Standard: TS 38.323 §5.11.2; TS 38.322 §5.4.
    pub(crate) fn confirm(&mut self, (leg, direction): (u8, Direction), now: Time) {
        let is_secondary = self.split.goes_to_node((leg, direction));
        let Some(copies) = &mut self.split.copies[direction.index()] else {
            return;
        };
        // The confirmations of the secondary node arrive in delivery statuses, so its RLC is not
        // read here.
        if is_secondary || !self.is_acknowledged {
            return;
        }
        let rlc = &self.legs.get(leg).ends[direction.index()].rlc;
        copies.confirm_before(leg, rlc.oldest_unconfirmed().map(|sdu| sdu.serial));
        self.discard_elsewhere((leg, direction), now);
    }

    /// Discards confirmed PDUs at the head of each leg's buffer, except for `leg`.
    pub(super) fn discard_elsewhere(&mut self, (leg, direction): (u8, Direction), now: Time) {
        let split = &mut *self.split;
        let Some(copies) = &mut split.copies[direction.index()] else {
            return;
        };
        copies.trim(&self.anchors[direction.index()].ledger);
        let secondary = match direction {
            Direction::Downlink => split.config.leg,
            Direction::Uplink => None,
        };
        let is_elsewhere = |number: u8| number != leg && Some(number) != secondary;
        for other in self.legs.iter_mut().filter(|it| is_elsewhere(it.number)) {
            let number = other.number;
            let rlc = &mut other.sender(direction).rlc;
            while let Some(head) = rlc.head()
                && copies.is_confirmed(head.serial)
            {
                let serial = head.serial;
                copies.lose_pdu(serial, number);
                split.carried[direction.index()][usize::from(number)].discarded += 1;
                rlc.drop_head(now);
            }
        }
    }

    /// Discards PDUs whose discard timer has expired, unless a leg has begun to send them. If no
    /// other leg has a copy, the packet is added to `lost`. Otherwise the discard is not reported.
    pub(super) fn discard_old_copies(
        &mut self,
        (now, timer): (Time, fadeout_core::Span),
        direction: Direction,
        lost: &mut Vec<PacketId>,
    ) {
        for leg in self.split.numbers() {
            let is_secondary = self.split.goes_to_node((leg, direction));
            loop {
                let rlc = &mut self.legs.get_mut(leg).sender(direction).rlc;
                let head = match is_secondary {
                    true => self.split.pending.front(),
                    false => rlc.head(),
                };
                let Some(&sdu) = head else { break };
                if sdu.entered_at.saturating_add(timer) > now {
                    break;
                }
                match is_secondary {
                    true => self.split.take_pending(),
                    false => drop(rlc.drop_head(now)),
                }
                let ledger = &mut self.anchors[direction.index()].ledger;
                if self.split.on_discarded(sdu.serial, leg, direction) && ledger.leave(sdu.serial) {
                    lost.push(sdu.packet);
                }
            }
        }
    }

    /// Returns a frame that lists the PDUs that the secondary node need not send any more. `None`
    /// if no such frame is due.
    pub(super) fn discard_frame(&mut self, now: Time) -> Option<Frame> {
        if self.split.discard_frame_at() > now {
            return None;
        }
        self.split.discards_reported_at = now;
        let number = u64::from(self.split.confirmed_below());
        self.split.discards_reported = number;
        Some(Frame {
            bearer: self.id,
            kind: FrameKind::Discard,
            number,
            size: CONTROL_FRAME,
            flow: self.split.flow,
        })
    }

    /// Handles a discard frame at the secondary node. PDUs with serial numbers below `number` need
    /// not be sent. The RLC entity of the secondary node discards those of them that it has not
    /// begun to send.
    ///
    /// Standard: TS 38.425 §5.4.1, §5.5.2.1.
    pub(crate) fn on_discard(&mut self, now: Time, number: u64) {
        let split = &mut *self.split;
        let leg = self.legs.get_mut(SECONDARY);
        let rlc: &mut Entity = &mut leg.sender(Direction::Downlink).rlc;
        let mut bytes = 0;
        while let Some(head) = rlc.head()
            && u64::from(head.serial) < number
        {
            bytes += u64::from(head.size);
            split.carried[Direction::Downlink.index()][usize::from(SECONDARY)].discarded += 1;
            rlc.drop_head(now);
        }
        split.corresponding.on_discarded(bytes);
    }
}

impl Split {
    /// Moves the copies that were not sent to the secondary node yet into `out`.
    pub(super) fn take_all_pending(&mut self, out: &mut Vec<Sdu>) {
        while let Some(sdu) = self.pending.pop() {
            out.push(sdu);
        }
        self.pending_bytes = 0;
    }

    /// Removes the first of the copies that wait to be sent to the secondary node.
    fn take_pending(&mut self) {
        let size = self.pending.pop().map_or(0, |sdu| sdu.size);
        self.pending_bytes -= u64::from(size);
    }

    /// Records that a leg has discarded a copy without having sent any part. Returns true if no
    /// other leg has the PDU and no leg has delivered it.
    fn on_discarded(&mut self, serial: u32, leg: u8, direction: Direction) -> bool {
        let index = direction.index();
        self.carried[index][usize::from(leg)].discarded += 1;
        (self.copies[index].as_mut()).is_none_or(|copies| copies.lose_pdu(serial, leg))
    }

    /// Records that a leg has lost a PDU. Returns true if no other leg has the PDU and no leg has
    /// delivered it.
    pub(crate) fn is_lost(&mut self, serial: u32, (leg, direction): (u8, Direction)) -> bool {
        (self.copies[direction.index()].as_mut()).is_none_or(|copies| copies.lose_pdu(serial, leg))
    }

    /// Returns the serial number below which no downlink PDU need be sent.
    fn confirmed_below(&self) -> u32 {
        (self.copies[Direction::Downlink.index()].as_ref()).map_or(0, |it| it.confirmed_below())
    }

    /// Returns the time at which a discard frame is due. [`Time::NEVER`] while the secondary node
    /// need not discard any PDU.
    #[inline]
    pub(super) fn discard_frame_at(&self) -> Time {
        if !self.duplicates(Direction::Downlink) {
            return Time::NEVER;
        }
        let below = u64::from(self.confirmed_below());
        let is_there = self
            .hosting
            .oldest()
            .is_some_and(|sdu| u64::from(sdu.serial) < below);
        match is_there && below > self.discards_reported {
            true => {
                (self.discards_reported_at).saturating_add(self.config.flow_control.status_period)
            }
            false => Time::NEVER,
        }
    }
}
