//! Operation of a split bearer: packets from PDCP to the legs, and frames between base stations.

use super::release::on_late;
use super::{
    ByLeg, CONTROL_FRAME, Carried, FIRST, Frame, FrameKind, NextPacket, PendingFrame, SECONDARY,
    STATUSES, Split, WaitingPacket,
};
use crate::bearer::rlc_leg::RlcLegs;
use crate::bearer::{Anchor, Drb, Storage};
use crate::config::{Env, LegId};
use crate::rlc::Sdu;
use fadeout_core::{Direction, DrbId, FlowId, PacketId, PacketPool, Probe, Ring, Span, Time};

/// Parts of a split bearer that move its packets.
#[derive(Debug)]
pub(crate) struct SplitBearer<'a> {
    pub(super) id: DrbId,
    pub(super) is_acknowledged: bool,
    pub(super) split: &'a mut Split,
    inlet: &'a mut Ring<(Time, PacketId)>,
    pub(super) legs: &'a mut RlcLegs,
    pub(super) anchors: &'a mut [Anchor; 2],
    /// True if the UE is between two cells of the master node.
    is_between_cells: bool,
}

/// Returns the split bearer of `drb`. `None` if the bearer is not split.
#[inline]
pub(crate) fn split(drb: &mut Drb) -> Option<SplitBearer<'_>> {
    let is_acknowledged = drb.config.is_acknowledged();
    let is_between_cells = drb.transfer.is_between_cells();
    Some(SplitBearer {
        id: drb.id,
        is_acknowledged,
        split: drb.split.as_deref_mut()?,
        inlet: &mut drb.inlet,
        legs: &mut drb.legs,
        anchors: &mut drb.anchors,
        is_between_cells,
    })
}

/// Handles an uplink PDU from the former secondary node of a bearer that is no longer split. The
/// PDU is added to the list of received SDUs.
pub(crate) fn on_late_uplink(drb: &mut Drb, number: u64, storage: &mut Storage) {
    if let Some(transfer) = &mut drb.transfer.0 {
        on_late(&mut transfer.late, number, storage);
    }
}

/// Returns the connected leg of a bearer by its number. `None` if the leg is not connected.
#[inline]
pub(crate) fn leg_numbered(drb: &Drb, number: u8) -> Option<LegId> {
    if drb.legs.primary.number == number {
        return drb.legs.primary.leg;
    }
    let mut others = drb.legs.others.iter();
    others.find(|rlc| rlc.number == number)?.leg
}

/// Returns true if uplink data at the UE may use legs other than the first leg.
#[inline]
pub(crate) fn may_use_other_legs(drb: &Drb, now: Time) -> bool {
    let split = drb.split.as_ref();
    split.is_some_and(|split| !split.uses_first_only(now, Direction::Uplink))
}

/// Returns the counts of each leg in a direction. `None` if the bearer is not split.
pub(crate) fn carried(drb: &Drb, direction: Direction) -> Option<&ByLeg<Carried>> {
    drb.split.as_ref().map(|split| split.carried(direction))
}

impl SplitBearer<'_> {
    /// Returns true if a leg is at the secondary node.
    pub(crate) fn is_secondary(&self, leg: u8) -> bool {
        self.split.is_secondary(leg)
    }

    /// Suspends a failed leg. Its RLC sends nothing until it is re-established.
    pub(crate) fn suspend(&mut self, leg: u8) {
        self.split.suspend(leg, true);
    }

    /// Assigns a COUNT to the next packet, so that a leg can send it. `None` if no packet waits, or
    /// if unconfirmed PDUs use half of the SN space.
    ///
    /// Standard: TS 38.323 §5.2.1.
    #[inline(always)]
    pub(super) fn number(
        &mut self,
        direction: Direction,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> Option<Sdu> {
        let anchor = &self.anchors[direction.index()];
        let waiting = &mut self.split.waiting[direction.index()];
        if let Some(sdu) = waiting.pop_again(&anchor.ledger) {
            return Some(sdu);
        }
        if waiting.fresh.is_empty() || !self.may_number(direction) {
            return None;
        }
        let waiting = &mut self.split.waiting[direction.index()];
        let fresh = waiting.fresh.pop()?;
        waiting.bytes -= u64::from(fresh.size + self.split.header);
        Some(self.give_count(fresh, direction, env, storage))
    }

    /// Assigns a COUNT to the next packet that the base station is still processing. If no COUNT
    /// may be assigned, the packet waits at PDCP.
    #[inline]
    fn number_early(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) -> Option<Sdu> {
        let (now, direction) = (env.now, Direction::Downlink);
        if !self.may_number(direction) {
            self.queue_early(env);
            return None;
        }
        let (_, packet) = self.inlet.pop()?;
        let entering = &env.pool[packet];
        self.split.flow = entering.flow;
        let fresh = WaitingPacket {
            entered_at: now,
            packet,
            size: entering.wire_len(),
        };
        Some(self.give_count(fresh, direction, env, storage))
    }

    #[cold]
    fn queue_early(&mut self, env: &Env<'_, impl Probe>) {
        if let Some((_, packet)) = self.inlet.pop() {
            let split = &mut *self.split;
            split.queue_packet(env.now, Direction::Downlink, packet, (env.pool, self.legs));
        }
    }

    #[inline]
    fn give_count(
        &mut self,
        fresh: WaitingPacket,
        direction: Direction,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) -> Sdu {
        let Anchor { tx, ledger, .. } = &mut self.anchors[direction.index()];
        let sdu = tx.number(fresh.entered_at, fresh.packet, fresh.size, ledger);
        let open = &mut self.split.open[direction.index()];
        *open = open.saturating_sub(1);
        if let Some(copies) = &mut self.split.copies[direction.index()] {
            copies.enter(sdu.serial);
            copies.trim(ledger);
        }
        if env.probe.wants_radio_delay(self.id) {
            storage.tracks.number(sdu.packet, sdu.serial);
        }
        sdu
    }

    /// Returns true if a further COUNT fits into half of the SN space.
    #[inline]
    fn may_number(&mut self, direction: Direction) -> bool {
        self.split.open[direction.index()] > 0 || self.is_open(direction)
    }

    /// Returns true if a further COUNT fits into half of the SN space, counted from the oldest
    /// COUNT of any leg. Stores how many COUNT values fit. The stored number stays valid, because
    /// legs get no older SDUs except those to be sent again.
    #[inline(never)]
    fn is_open(&mut self, direction: Direction) -> bool {
        let split = &mut *self.split;
        let next = self.anchors[direction.index()].tx.tx_next();
        let oldest =
            self.legs
                .iter()
                .filter_map(|leg| match split.goes_to_node((leg.number, direction)) {
                    true => split.hosting.oldest().or(split.pending.front()),
                    false => leg.ends[direction.index()].rlc.oldest_unconfirmed(),
                });
        let behind = |sdu: &Sdu| next.wrapping_sub(sdu.count);
        let on_legs = oldest.map(behind).max().unwrap_or(0);
        let again = split.waiting[direction.index()].again.front();
        let all = on_legs.max(again.map_or(0, behind));
        split.open[direction.index()] = split.sn_window.saturating_sub(all);
        on_legs < split.sn_window
    }

    /// Moves waiting packets into RLC of a leg, up to the leg's grant.
    pub(crate) fn top_up(
        &mut self,
        (leg, direction): (u8, Direction),
        grant: u32,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        if self.split.duplicates(direction) {
            self.submit(direction, env, storage);
            return;
        }
        let is_secondary = self.split.goes_to_node((leg, direction));
        if is_secondary || !self.split.may_use(env.now, leg, direction, self.legs) {
            return;
        }
        let rlc = &self.legs.get(leg).ends[direction.index()].rlc;
        let backlog = rlc.backlog(env.now);
        // While RLC's transmit window is stalled, PDCP hands it no more SDUs.
        let headers = rlc.headers();
        let is_stalled = backlog.new == 0 && rlc.head().is_some();
        let mut has = backlog.total();
        while !is_stalled && has < u64::from(grant) {
            let Some(sdu) = self.number(direction, env, storage) else {
                return;
            };
            has += u64::from(sdu.size + headers);
            self.split.carried[direction.index()][usize::from(leg)].add(sdu.size);
            let end = self.legs.get_mut(leg).sender(direction);
            end.rlc.push_again(sdu);
        }
    }

    /// Sends downlink PDUs to the secondary node, as far as its desired buffer size allows.
    #[inline(always)]
    pub(crate) fn feed(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let (now, direction) = (env.now, Direction::Downlink);
        if self.split.duplicates(direction) {
            self.feed_copies(env, storage);
            return;
        }
        let openings = &self.split.openings;
        if self.split.config.leg.is_none() || openings.is_closed(now, (SECONDARY, direction)) {
            return;
        }
        let is_first_open = !openings.is_closed(now, (FIRST, direction));
        let primary = self.split.primary(now, direction);
        while let Some(next) = self.next_packet(env.pool) {
            let split = &*self.split;
            let has_turn = |leg| leg == primary || split.has_enough(now, leg, direction, self.legs);
            if !split.hosting.has_room(next.size) || !has_turn(SECONDARY) {
                return;
            }
            // The first leg is an alternative only if PDCP may give data to that leg.
            let has_choice = is_first_open && has_turn(FIRST);
            if has_choice && !split.prefers_secondary(now, &next, self.legs) {
                return;
            }
            let numbered = match next.is_early() {
                true => self.number_early(env, storage),
                false => self.number(direction, env, storage),
            };
            let Some(sdu) = numbered else { return };
            self.send_down(sdu, env.pool[sdu.packet].flow, now, storage);
        }
    }

    /// Returns the next packet that may go to the secondary node. If no packet waits at PDCP, this
    /// is the next packet that the base station is processing. `None` if neither exists.
    #[inline(always)]
    fn next_packet(&mut self, pool: &PacketPool) -> Option<NextPacket> {
        let ledger = &self.anchors[Direction::Downlink.index()].ledger;
        let waiting = &mut self.split.waiting[Direction::Downlink.index()];
        let next = waiting.next_packet(self.split.header, ledger);
        if next.is_some() {
            return next;
        }
        // While the UE is between cells, a forwarded packet in `inlet` may not have arrived yet.
        let &(_, packet) = self.inlet.front().filter(|_| !self.is_between_cells)?;
        let size = pool[packet].wire_len() + self.split.header;
        (u64::from(size) <= self.split.most).then_some(NextPacket {
            size,
            waits_since: None,
        })
    }

    #[inline]
    pub(super) fn send_down(&mut self, sdu: Sdu, flow: FlowId, now: Time, storage: &mut Storage) {
        self.split.carried[Direction::Downlink.index()][usize::from(SECONDARY)].add(sdu.size);
        self.send_to_node(sdu, flow, now, storage);
    }

    /// Sends a PDU to the secondary node. The leg's counters must already include the PDU.
    #[inline]
    pub(super) fn send_to_node(
        &mut self,
        sdu: Sdu,
        flow: FlowId,
        now: Time,
        storage: &mut Storage,
    ) {
        let number = self.split.hosting.send(now, sdu);
        storage.frames.push(Frame {
            bearer: self.id,
            kind: FrameKind::Downlink,
            number,
            size: sdu.size,
            flow,
        });
    }

    /// Handles a downlink frame at the secondary node, which has processed the frame at `ready_at`.
    #[inline]
    pub(crate) fn on_frame(&mut self, ready_at: Time, number: u64, is_poll: bool) {
        self.split.arrivals.push(PendingFrame {
            ready_at,
            number,
            is_poll,
        });
    }

    /// Hands the PDUs that the secondary node has processed by now to RLC of that node. Returns
    /// true if RLC was handed at least one PDU.
    #[inline]
    pub(crate) fn drain(&mut self, now: Time) -> bool {
        let is_due = self.split.arrival_at().is_some_and(|at| at <= now);
        is_due && self.drain_due(now)
    }

    fn drain_due(&mut self, now: Time) -> bool {
        let mut took_any = false;
        let split = &mut *self.split;
        let secondary = self.legs.get_mut(SECONDARY).sender(Direction::Downlink);
        while let Some(&arrival) = split.arrivals.front() {
            if arrival.ready_at > now {
                break;
            }
            split.arrivals.pop();
            if arrival.is_poll {
                split.corresponding.on_poll(arrival.number);
            } else if let Some(sdu) = split.hosting.pdu(arrival.number)
                && split.corresponding.on_data(arrival.number, &sdu)
            {
                secondary.rlc.push_again(sdu);
                took_any = true;
            }
        }
        took_any
    }

    /// Handles a delivery status at the base station with PDCP.
    pub(crate) fn on_status(&mut self, now: Time, number: u64, storage: &mut Storage) {
        let split = &mut *self.split;
        if !split.statuses.contains(number) {
            return;
        }
        let status = split.statuses[number];
        while split.statuses.first() <= number {
            split.statuses.pop();
        }
        let mut copies = split.copies[Direction::Downlink.index()].as_deref_mut();
        let is_acknowledged = self.is_acknowledged;
        let delivered = |sdu: &Sdu| {
            if is_acknowledged && let Some(copies) = &mut copies {
                copies.confirm(sdu.serial);
            }
        };
        (split.hosting).on_status(now, &status, &mut storage.again, delivered);
        split.update_rates();
        if let Some(copies) = &mut split.copies[Direction::Downlink.index()] {
            for sdu in &storage.again {
                copies.lose_pdu(sdu.serial, SECONDARY);
            }
            self.discard_elsewhere((SECONDARY, Direction::Downlink), now);
        }
        self.send_again(Direction::Downlink, storage);
    }

    /// Moves the SDUs of `storage.again` to the front of the packets that wait at PDCP.
    pub(super) fn send_again(&mut self, direction: Direction, storage: &mut Storage) {
        if storage.again.is_empty() {
            return;
        }
        let waiting = &mut self.split.waiting[direction.index()];
        while let Some(sdu) = waiting.again.pop() {
            waiting.bytes -= u64::from(sdu.size);
            storage.again.push(sdu);
        }
        let ledger = &self.anchors[direction.index()].ledger;
        storage.again.sort_unstable_by_key(|sdu| sdu.serial);
        storage.again.dedup_by_key(|sdu| sdu.serial);
        for sdu in storage.again.drain(..) {
            if ledger.holds(sdu.serial) {
                waiting.bytes += u64::from(sdu.size);
                waiting.again.push(sdu);
            }
        }
    }

    /// Sends the uplink PDUs of `storage.sdus` from the secondary node to PDCP over links.
    pub(crate) fn send_up(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        for sdu in storage.sdus.drain(..) {
            let number = self.split.uplink.push(sdu);
            // A copy may arrive after its packet has left the pool. Its flow is then not known.
            let is_here = self.anchors[Direction::Uplink.index()]
                .ledger
                .holds(sdu.serial);
            storage.frames.push(Frame {
                bearer: self.id,
                kind: FrameKind::Uplink,
                number,
                size: sdu.size,
                flow: match is_here {
                    true => env.pool[sdu.packet].flow,
                    false => self.split.flow,
                },
            });
        }
    }

    /// Handles an uplink PDU from the secondary node. The PDU is added to the list of received
    /// SDUs. Links keep the order, so earlier PDUs that have not arrived are lost.
    pub(crate) fn on_uplink(&mut self, number: u64, storage: &mut Storage) {
        let late = self.split.late.iter_mut();
        for ring in std::iter::once(&mut self.split.uplink).chain(late) {
            on_late(ring, number, storage);
        }
    }

    /// Handles a timer of the end that sends in `direction`. Packets whose discard timer has
    /// expired are added to the list of lost packets. SDUs that LTE's RLC stored for reordering are
    /// added to the list of received SDUs.
    pub(crate) fn on_timer(
        &mut self,
        direction: Direction,
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        self.split.discard(env.now, direction, &mut storage.lost);
        if self.split.duplicates(direction)
            && let Some(timer) = self.split.discard_timer
        {
            self.discard_old_copies((env.now, timer), direction, &mut storage.lost);
        }
        let mut others = self.legs.others.iter_mut();
        if let Some(leg) = others.find(|leg| leg.number == SECONDARY) {
            leg.sender(direction)
                .rlc
                .on_wake(env.now, &mut storage.sdus);
        }
        if direction == Direction::Downlink {
            self.send_up(env, storage);
        }
        for leg in self.legs.iter_mut().filter(|leg| leg.number != SECONDARY) {
            leg.sender(direction)
                .rlc
                .on_wake(env.now, &mut storage.sdus);
        }
    }

    /// Sends a status, a poll or a discard frame if one is due.
    pub(crate) fn on_wake(&mut self, now: Time, storage: &mut Storage) {
        if self.split.config.leg.is_none() {
            return;
        }
        self.drain(now);
        let split = &mut *self.split;
        let control = |kind, number| Frame {
            bearer: self.id,
            kind,
            number,
            size: CONTROL_FRAME,
            flow: split.flow,
        };
        let downlink = (SECONDARY, Direction::Downlink);
        let is_up = !split.openings.is_down(now, downlink);
        if is_up && split.corresponding.status_at() <= now {
            let rlc = &self.legs.get_mut(SECONDARY).sender(Direction::Downlink).rlc;
            split.corresponding.on_sent(rlc.head());
            if let Some(status) = split.corresponding.status(now, rlc.oldest_unconfirmed()) {
                let number = split.statuses.push(status);
                storage.frames.push(control(FrameKind::Status, number));
                if split.statuses.len() > STATUSES {
                    split.statuses.pop();
                }
            }
        }
        if split.poll_at() <= now {
            split.hosting.on_poll_sent(now);
            let number = split.hosting.next_number();
            storage.frames.push(control(FrameKind::Poll, number));
        }
        let discards = self.discard_frame(now);
        storage.frames.extend(discards);
    }

    /// Returns the time to call [`SplitBearer::on_wake`] and the generation of that wake-up. `None`
    /// if an earlier wake-up is pending.
    #[inline(always)]
    pub(crate) fn arm(&mut self, now: Time) -> Option<(Time, u32)> {
        let split = &mut *self.split;
        split.config.leg?;
        let down_until = split.openings.down_until((SECONDARY, Direction::Downlink));
        let status_at = split.corresponding.status_at().max(down_until);
        let at = status_at.min(split.poll_at());
        let at = at.min(split.discard_frame_at());
        let at = at.min(split.choice_at(now, self.legs));
        if at.is_never() {
            return None;
        }
        let at = at.max(now);
        split.wake.arm(at).map(|generation| (at, generation))
    }

    /// Sends the secondary node's message that the link of that node has failed. Returns the time
    /// after which the message must be repeated.
    pub(crate) fn send_failure(&mut self, number: u64, storage: &mut Storage) -> Span {
        storage.frames.push(Frame {
            bearer: self.id,
            kind: FrameKind::Failure,
            number,
            size: CONTROL_FRAME,
            flow: self.split.flow,
        });
        self.split.config.flow_control.poll_after
    }

    /// Returns the number of unconfirmed bytes at the secondary node, and that node's desired
    /// buffer size.
    #[cfg(test)]
    pub(crate) fn window(&self) -> (u64, u64) {
        let hosting = &self.split.hosting;
        (hosting.outstanding(), hosting.desired())
    }

    /// Returns true if `generation` belongs to the wake-up that was armed last.
    pub(crate) fn fire(&mut self, generation: u32) -> bool {
        self.split.wake.fire(generation)
    }

    /// Delivers the SDUs that the receiver of a failed leg has stored behind missing PDUs.
    ///
    /// Standard: TS 36.322 §5.4.
    pub(crate) fn hand_up(
        &mut self,
        (leg, direction): (u8, Direction),
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let end = self.legs.get_mut(leg).receiver(direction);
        end.rlc.hand_up(&mut storage.sdus);
        if direction == Direction::Uplink && self.split.is_secondary(leg) {
            self.send_up(env, storage);
            return;
        }
        let rx = &mut self.anchors[direction.opposite().index()].rx;
        for sdu in storage.sdus.drain(..) {
            rx.on_held(env.now, sdu, &mut storage.ordered);
        }
    }

    /// Handles the failure of a leg, which carries no data before `until`. RLC at the end that
    /// sends in `direction` is re-established, and the unconfirmed data is taken back.
    pub(crate) fn fail(
        &mut self,
        (leg, direction): (u8, Direction),
        until: Time,
        storage: &mut Storage,
    ) {
        let end = self.legs.get_mut(leg).sender(direction);
        end.rlc.reestablish(&mut storage.again);
        self.take_back((leg, direction), until, storage);
    }

    /// Takes back the data of a leg, which carries no data before `until`. In acknowledged mode,
    /// unconfirmed data is sent again on either leg (data recovery), unless the receiver's status
    /// report lists it as received. In other modes the data is added to the list of lost packets.
    ///
    /// Standard: TS 38.323 §5.4, §5.5; TS 37.340 §7.7.
    pub(super) fn take_back(
        &mut self,
        (leg, direction): (u8, Direction),
        until: Time,
        storage: &mut Storage,
    ) {
        self.split.openings.close((leg, direction), until);
        if self.split.goes_to_node((leg, direction)) {
            // `storage.again` contains the data of the secondary node's RLC, which the base station
            // with PDCP does not know. It has its own record of unconfirmed PDUs.
            storage.again.clear();
            let split = &mut *self.split;
            split.hosting.flush(&mut storage.again);
            split.corresponding.restart(split.hosting.next_number());
            while split.arrivals.pop().is_some() {}
            while split.statuses.pop().is_some() {}
            split.take_all_pending(&mut storage.again);
        }
        if let Some(copies) = &mut self.split.copies[direction.index()] {
            copies.restart(leg);
            storage.again.retain(|sdu| copies.lose_pdu(sdu.serial, leg));
        }
        if self.is_acknowledged {
            self.send_again(direction, storage);
        } else {
            let ledger = &mut self.anchors[direction.index()].ledger;
            let lost = storage
                .again
                .drain(..)
                .filter(|sdu| ledger.leave(sdu.serial));
            storage.lost.extend(lost.map(|sdu| sdu.packet));
        }
    }
}
