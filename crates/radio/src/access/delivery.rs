//! Packets into a bearer, contents of transport blocks out of it, and losses.

use super::content::ContentId;
use super::track::BlockTimes;
use super::{DirectionCounters, Env, RadioAccess};
use crate::rlc::Mode;
use fadeout_core::{
    BearerId, BearerRow, Direction, Motion, PacketId, PacketPool, Probe, RadioDropCause,
    RadioDropRow, Time, UeId,
};

impl RadioAccess {
    /// PDCP and RLC take a packet. False when it was dropped: the buffer was full, or queue
    /// management chose it. It then takes no COUNT.
    pub(super) fn take_packet(
        &mut self,
        now: Time,
        bearer: BearerId,
        direction: Direction,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) -> bool {
        let loss = |cause| Loss {
            now,
            bearer,
            direction,
            cause,
        };
        let size = pool[packet].segment.wire_len();
        let has_aqm = self.bearers[bearer.index()].sender(direction).aqm.is_some();
        if has_aqm && !self.admits(&loss(RadioDropCause::Aqm), packet, pool, probe) {
            return false;
        }
        let end = self.bearers[bearer.index()].sender(direction);
        match end
            .tx
            .on_packet(now, packet, size, &mut end.rlc, &mut end.ledger)
        {
            Ok(sdu) => {
                if probe.wants_radio_delay(bearer) {
                    self.tracks.number(packet, sdu.serial);
                }
                true
            }
            Err(packet) => {
                loss(RadioDropCause::BufferFull).of(packet, pool, probe);
                self.count(bearer, direction).dropped_packets += 1;
                false
            }
        }
    }

    /// Whether queue management takes a packet, which it may mark. One that it does not is dropped.
    fn admits(
        &mut self,
        loss: &Loss,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) -> bool {
        let state = &mut self.bearers[loss.bearer.index()];
        let size = pool[packet].segment.wire_len() + state.config.pdcp.header();
        let end = state.sender(loss.direction);
        let mut marked = 0;
        let is_taken = end.admits(loss.now, size, &mut pool[packet].ecn, &mut marked);
        let counters = self.count(loss.bearer, loss.direction);
        counters.marked_packets += marked;
        if !is_taken {
            counters.aqm_dropped_packets += 1;
            counters.dropped_packets += 1;
            loss.of(packet, pool, probe);
        }
        is_taken
    }

    /// PDCP takes the packets that the base station has processed by now.
    pub(super) fn drain_inlet(
        &mut self,
        now: Time,
        bearer: BearerId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let mut took_any = false;
        while let Some(&(ready_at, packet)) = self.bearers[bearer.index()].inlet.front() {
            if ready_at > now {
                break;
            }
            self.bearers[bearer.index()].inlet.pop();
            took_any |=
                self.take_packet(ready_at, bearer, Direction::Downlink, packet, pool, probe);
        }
        if took_any {
            self.arm(now, bearer, Direction::Downlink);
        }
    }

    /// Bytes that a UE or the base station for it has to send in a direction.
    pub(super) fn backlog(&self, now: Time, ue: UeId, direction: Direction) -> u64 {
        let bearers = self.ues[ue.index()].bearers.iter();
        let ends = bearers.map(|id| &self.bearers[id.index()].ends[direction.index()]);
        ends.map(|end| end.rlc.backlog(now).total()).sum()
    }

    /// Fills a transport block of `bytes` bytes: STATUS PDUs of all bearers, then each bearer up to
    /// its prioritised rate, then by priority (TS 38.321 clause 5.4.3.1.3). None when there was
    /// nothing that fits.
    pub(super) fn fill<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        direction: Direction,
        bytes: u32,
        env: &mut Env<'_, M, P>,
    ) -> Option<ContentId> {
        let id = self.contents.claim();
        let content = self.contents.content_mut(id);
        let now = env.now;
        let mut left = bytes;
        let (mut marked, mut chosen) = (0, 0);
        let bearers = &self.ues[ue.index()].bearers;
        let mut pull = |bearer: BearerId, left: u32, turn: Turn| {
            let end = self.bearers[bearer.index()].sender(direction);
            let grant = match turn {
                Turn::Status => end.rlc.backlog(now).status.min(u64::from(left)) as u32,
                Turn::Prioritised => end.bucket.allowance(now).min(left),
                // One without a limit has had its turn.
                Turn::Rest if end.bucket.is_unlimited() => 0,
                Turn::Rest | Turn::Only => left,
            };
            if grant == 0 {
                return 0;
            }
            let marks = (&mut *env.pool, &mut marked);
            let dropped = &mut self.scratch.dropped;
            let used = end.pull(now, grant, &mut content.block, marks, dropped);
            for sdu in dropped.drain(..) {
                if end.ledger.leave(sdu.serial) {
                    chosen += 1;
                    let loss = Loss {
                        now,
                        bearer,
                        direction,
                        cause: RadioDropCause::Aqm,
                    };
                    loss.of(sdu.packet, env.pool, env.probe);
                }
            }
            if turn == Turn::Prioritised {
                end.bucket.on_served(used);
            }
            if used > 0 {
                let end = content.block.pdus.len() as u32;
                content.bearers.push((bearer, end));
            }
            used
        };
        let turns: &[Turn] = if bearers.len() > 1 {
            &[Turn::Status, Turn::Prioritised, Turn::Rest]
        } else {
            &[Turn::Only]
        };
        for &turn in turns {
            for &bearer in bearers {
                left -= pull(bearer, left, turn);
            }
        }
        if marked + chosen > 0 {
            let counters = &mut self.ues[ue.index()].half_mut(direction).counters;
            counters.marked_packets += marked;
            counters.aqm_dropped_packets += chosen;
            counters.dropped_packets += chosen;
        }
        if self.contents.content(id).bearers.is_empty() {
            self.contents.free(id);
            return None;
        }
        // Sending a poll starts a timer.
        for index in 0..self.contents.content(id).bearers.len() {
            let (bearer, _) = self.contents.content(id).bearers[index];
            self.arm(env.now, bearer, direction);
        }
        Some(id)
    }

    /// A transport block was decoded.
    pub(super) fn deliver<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        direction: Direction,
        id: ContentId,
        times: &BlockTimes,
        env: &mut Env<'_, M, P>,
    ) {
        let content = self.contents.take(id);
        let mut first = 0;
        for &(bearer, end) in &content.bearers {
            if env.probe.wants_radio_delay(bearer) {
                for pdu in &content.block.pdus[first as usize..end as usize] {
                    for part in content.block.data_parts(pdu) {
                        let key = (part.sdu.packet, part.sdu.serial, bearer, direction);
                        self.tracks.decoded(key, times);
                    }
                }
            }
            let receiver = self.bearers[bearer.index()].receiver(direction);
            let pdus = first as usize..end as usize;
            receiver
                .rlc
                .on_pdus(env.now, &content.block, pdus, &mut self.scratch.sdus);
            self.on_sdus(bearer, direction, env);
            let has_failed = self.check_failure(bearer, env);
            self.arm(env.now, bearer, direction.opposite());
            if has_failed {
                // What follows was numbered by entities that are gone.
                break;
            }
            first = end;
        }
        self.contents.put(id, content);
        // Status reports, and room in a window, are for the way back.
        self.on_backlog(env.now, ue, direction.opposite(), env.probe);
    }

    /// SDUs in `scratch` go up through PDCP.
    fn on_sdus<M: Motion, P: Probe>(
        &mut self,
        bearer: BearerId,
        direction: Direction,
        env: &mut Env<'_, M, P>,
    ) {
        let receiver = self.bearers[bearer.index()].receiver(direction);
        for sdu in self.scratch.sdus.drain(..) {
            receiver.rx.on_sdu(env.now, sdu, &mut self.scratch.ordered);
        }
        self.hand_over(bearer, direction, env);
    }

    /// SDUs in `ordered` leave the bearer; what PDCP has passed over is lost.
    pub(super) fn hand_over<M: Motion, P: Probe>(
        &mut self,
        bearer: BearerId,
        direction: Direction,
        env: &mut Env<'_, M, P>,
    ) {
        let state = &mut self.bearers[bearer.index()];
        let (mut packets, mut bytes) = (0, 0);
        for sdu in self.scratch.ordered.drain(..) {
            if !state.sender(direction).ledger.leave(sdu.serial) {
                continue;
            }
            if env.probe.wants_radio_delay(bearer) {
                let key = (sdu.packet, sdu.serial, bearer, direction);
                if let Some(mut row) = self.tracks.row(key, env.now) {
                    row.flow = env.pool[sdu.packet].flow;
                    row.size_bytes = env.pool[sdu.packet].segment.wire_len();
                    env.probe.radio_delay(row);
                }
            }
            packets += 1;
            bytes += u64::from(env.pool[sdu.packet].segment.wire_len());
            env.out.push(sdu.packet);
        }
        let passed = state.receiver(direction).rx.passed();
        let ledger = &mut state.sender(direction).ledger;
        ledger.pass(passed, &mut self.scratch.lost);
        let counters = self.count(bearer, direction);
        counters.delivered_packets += packets;
        counters.delivered_bytes += bytes;
        self.drop_lost(bearer, direction, RadioDropCause::Reordering, env);
    }

    /// The counters of a direction of a bearer's UE.
    fn count(&mut self, bearer: BearerId, direction: Direction) -> &mut DirectionCounters {
        let ue = self.bearers[bearer.index()].config.ue;
        &mut self.ues[ue.index()].half_mut(direction).counters
    }

    /// Packets in `lost` are dropped.
    pub(super) fn drop_lost<M: Motion, P: Probe>(
        &mut self,
        bearer: BearerId,
        direction: Direction,
        cause: RadioDropCause,
        env: &mut Env<'_, M, P>,
    ) {
        let loss = Loss {
            now: env.now,
            bearer,
            direction,
            cause,
        };
        self.count(bearer, direction).dropped_packets += self.scratch.lost.len() as u64;
        for packet in self.scratch.lost.drain(..) {
            loss.of(packet, env.pool, env.probe);
        }
    }

    /// HARQ has given up a content. Modes that do not repeat lose its packets.
    pub(super) fn lose<M: Motion, P: Probe>(
        &mut self,
        direction: Direction,
        id: ContentId,
        env: &mut Env<'_, M, P>,
    ) {
        let content = self.contents.take(id);
        let mut first = 0;
        for &(bearer, end) in &content.bearers {
            let state = &mut self.bearers[bearer.index()];
            if !matches!(state.config.rlc.mode, Mode::Am(_)) {
                let ledger = &mut state.sender(direction).ledger;
                for pdu in &content.block.pdus[first as usize..end as usize] {
                    for part in content.block.data_parts(pdu) {
                        if ledger.leave(part.sdu.serial) {
                            self.scratch.lost.push(part.sdu.packet);
                        }
                    }
                }
                self.drop_lost(bearer, direction, RadioDropCause::HarqFailure, env);
            }
            first = end;
        }
        self.contents.put(id, content);
    }

    /// Without acknowledgments, what the receiver discards vanishes without a word. When nothing
    /// of a bearer is under way any more, what has not left it is lost.
    pub(super) fn close_books<M: Motion, P: Probe>(
        &mut self,
        bearer: BearerId,
        direction: Direction,
        env: &mut Env<'_, M, P>,
    ) {
        let state = &mut self.bearers[bearer.index()];
        if matches!(state.config.rlc.mode, Mode::Am(_)) || state.sender(direction).ledger.is_empty()
        {
            return;
        }
        let receiver = state.receiver(direction);
        if !receiver.rlc.wake_at().is_never() || receiver.rx.is_holding() {
            return;
        }
        let half = self.ues[state.config.ue.index()].half(direction);
        let sender = state.sender(direction);
        let is_sent = sender.rlc.backlog(env.now).is_empty();
        if is_sent && half.harq.is_idle() {
            sender.ledger.pass_all(&mut self.scratch.lost);
            self.drop_lost(bearer, direction, RadioDropCause::Reordering, env);
        }
    }

    /// A timer of the end of a bearer that sends in `direction`.
    pub(super) fn on_timer<M: Motion, P: Probe>(
        &mut self,
        bearer: BearerId,
        direction: Direction,
        env: &mut Env<'_, M, P>,
    ) {
        let end = self.bearers[bearer.index()].sender(direction);
        end.catch_up(env.now);
        end.tx
            .on_wake(env.now, &mut end.rlc, &mut self.scratch.sdus);
        for sdu in self.scratch.sdus.drain(..) {
            if end.ledger.leave(sdu.serial) {
                self.scratch.lost.push(sdu.packet);
            }
        }
        // LTE's RLC hands up what it has held back, in this end's receiving direction.
        end.rlc.on_wake(env.now, &mut self.scratch.sdus);
        self.drop_lost(bearer, direction, RadioDropCause::DiscardTimer, env);
        let receiving = direction.opposite();
        self.on_sdus(bearer, receiving, env);
        let end = self.bearers[bearer.index()].sender(direction);
        end.rx.on_wake(env.now, &mut self.scratch.ordered);
        self.hand_over(bearer, receiving, env);
        self.close_books(bearer, receiving, env);
        self.close_books(bearer, direction, env);
        self.check_failure(bearer, env);
        let ue = self.bearers[bearer.index()].config.ue;
        self.arm(env.now, bearer, direction);
        self.on_backlog(env.now, ue, direction, env.probe);
    }

    /// A direction of a UE may have something to send that it did not have before.
    fn on_backlog(&mut self, now: Time, ue: UeId, direction: Direction, probe: &mut impl Probe) {
        if self.backlog(now, ue, direction) == 0 {
            return;
        }
        match direction {
            Direction::Uplink => self.on_uplink_data(now, ue, probe),
            Direction::Downlink => self.activate(now, ue, direction, 0),
        }
    }

    /// A row of what waits in the bearers of a UE.
    pub(super) fn sample<M: Motion, P: Probe>(
        &self,
        ue: UeId,
        direction: Direction,
        env: &mut Env<'_, M, P>,
    ) {
        for &bearer in &self.ues[ue.index()].bearers {
            if !env.probe.wants_bearer(env.now, bearer) {
                continue;
            }
            let ends = &self.bearers[bearer.index()].ends;
            let end = &ends[direction.index()];
            let receiver = &ends[direction.opposite().index()];
            let backlog = end.rlc.backlog(env.now);
            env.probe.bearer(BearerRow {
                time_s: env.now,
                bearer,
                direction,
                rlc_new_bytes: backlog.new,
                rlc_retransmission_bytes: backlog.retransmission,
                rlc_status_bytes: backlog.status,
                packets: end.ledger.len() as u32,
                pdcp_held_packets: receiver.rx.held(),
            });
        }
    }
}

/// What a bearer is asked for as a block is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Its STATUS PDU.
    Status,
    /// What its prioritised rate allows.
    Prioritised,
    /// More, where there is room.
    Rest,
    /// Everything: there is no other.
    Only,
}

/// A packet is dropped.
struct Loss {
    now: Time,
    bearer: BearerId,
    direction: Direction,
    cause: RadioDropCause,
}

impl Loss {
    /// Frees the packet and tells the probe.
    fn of(&self, packet: PacketId, pool: &mut PacketPool, probe: &mut impl Probe) {
        let packet = pool.take(packet);
        probe.radio_dropped(RadioDropRow {
            time_s: self.now,
            bearer: self.bearer,
            direction: self.direction,
            flow: packet.flow,
            size_bytes: packet.segment.wire_len(),
            cause: self.cause,
        });
    }
}
