//! PDCP duplication: each PDU goes to both legs, and what one has confirmed the other discards.
//!
//! In the downlink the other base station learns by a frame what need not be sent any more.
//!
//! Standard: TS 38.323 §5.11.

use super::{CONTROL_FRAME, Frame, FrameKind, NEAR, Split, SplitBearer};
use crate::bearer::Storage;
use crate::bearer::rlc_leg::RlcLegs;
use crate::config::Env;
use crate::rlc::{Entity, Sdu};
use fadeout_core::{Direction, PacketId, Probe, Time};

const FAR: u8 = 1;

impl Split {
    /// Bytes that wait to be sent on a leg, of those that it was given.
    fn queued(&self, leg: u8, direction: Direction, legs: &RlcLegs) -> u64 {
        match direction == Direction::Downlink && leg != NEAR {
            true => self.pending_bytes,
            false => legs.get(leg).ends[direction.index()].rlc.queued().0,
        }
    }

    /// Whether there is room for `bytes` more on the leg that has least, so that a leg that has stalled stops nobody.
    pub(super) fn has_room_on_a_leg(
        &self,
        bytes: u64,
        (now, direction): (Time, Direction),
        legs: &RlcLegs,
    ) -> bool {
        let queued = [NEAR, FAR].map(|leg| match self.is_down(now, (leg, direction)) {
            true => None,
            false => Some(self.queued(leg, direction, legs)),
        });
        let least = queued.into_iter().flatten().min().unwrap_or(0);
        least + self.waiting[direction.index()].bytes + bytes <= self.most
    }

    /// When what waits at RLC of a leg has waited long enough.
    pub(super) fn copies_discarded_at(&self, direction: Direction, legs: &RlcLegs) -> Time {
        let Some(timer) = self.discard_timer else {
            return Time::NEVER;
        };
        let heads = [NEAR, FAR].map(
            |leg| match direction == Direction::Downlink && leg != NEAR {
                true => self.pending.front(),
                false => legs.get(leg).ends[direction.index()].rlc.head(),
            },
        );
        let entered_at = heads.into_iter().flatten().map(|sdu| sdu.entered_at).min();
        entered_at.map_or(Time::NEVER, |at| at.saturating_add(timer))
    }
}

impl SplitBearer<'_> {
    /// Gives all that waits at PDCP to both legs.
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
        let is_up = |leg| !self.split.is_down(env.now, (leg, direction));
        let up = [is_up(NEAR), is_up(FAR)];
        if up == [false; 2] {
            return;
        }
        while let Some(sdu) = self.number(direction, env, storage) {
            self.give(sdu, direction, up);
        }
    }

    fn give(&mut self, sdu: Sdu, direction: Direction, up: [bool; 2]) {
        let split = &mut *self.split;
        let queued = [NEAR, FAR].map(|leg| split.queued(leg, direction, self.legs));
        let (least, most) = match (up, queued[0] <= queued[1]) {
            ([true, true], true) | ([true, false], _) => (NEAR, FAR),
            _ => (FAR, NEAR),
        };
        let Some(copies) = &mut split.copies[direction.index()] else {
            return;
        };
        for leg in [least, most] {
            let index = usize::from(leg);
            let is_second = copies.is_on(sdu.serial, 1 - leg);
            // A leg that is far behind gets no copies.
            let is_full = is_second && queued[index] + u64::from(sdu.size) > split.most;
            if !up[index] || is_full || !copies.give(sdu.serial, leg) {
                continue;
            }
            if direction == Direction::Downlink && leg != NEAR {
                split.pending_bytes += u64::from(sdu.size);
                split.pending.push(sdu);
            } else {
                copies.on_pushed(sdu.serial, leg);
                split.carried[direction.index()][index].add(sdu.size);
                self.legs.get_mut(leg).sender(direction).rlc.push_again(sdu);
            }
            split.carried[direction.index()][index].copies += u64::from(is_second);
        }
    }

    /// Sends the other base station as many copies as it wants of those that nobody has confirmed.
    pub(super) fn feed_copies(&mut self, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        self.submit(Direction::Downlink, env, storage);
        while let Some(&sdu) = self.split.pending.front() {
            let split = &mut *self.split;
            let copies = &split.copies[Direction::Downlink.index()];
            let is_confirmed = (copies.as_ref()).is_some_and(|it| it.is_confirmed(sdu.serial));
            let may_go = split.hosting.has_room(sdu.size)
                && !split.is_down(env.now, (FAR, Direction::Downlink));
            if !is_confirmed && !may_go {
                return;
            }
            split.take_pending();
            if is_confirmed {
                split.on_discarded(sdu.serial, FAR, Direction::Downlink);
            } else {
                self.send_down(sdu, env, storage);
            }
        }
    }

    /// RLC that sends in a direction on a leg may have got confirmations: what it has delivered the other leg
    /// discards.
    ///
    /// Standard: TS 38.323 §5.11.2; TS 38.322 §5.4.
    pub(crate) fn confirm(&mut self, (leg, direction): (u8, Direction), now: Time) {
        let is_far = direction == Direction::Downlink && leg != NEAR;
        let Some(copies) = &mut self.split.copies[direction.index()] else {
            return;
        };
        // The other base station tells by its status.
        if is_far || !self.is_acknowledged {
            return;
        }
        let rlc = &self.legs.get(leg).ends[direction.index()].rlc;
        copies.confirm_before(leg, rlc.oldest_unconfirmed().map(|sdu| sdu.serial));
        self.discard_confirmed((1 - leg, direction), now);
    }

    /// A leg discards what is next in its buffer and was confirmed on the other one.
    pub(super) fn discard_confirmed(&mut self, (leg, direction): (u8, Direction), now: Time) {
        let split = &mut *self.split;
        let Some(copies) = &mut split.copies[direction.index()] else {
            return;
        };
        copies.trim(&self.anchors[direction.index()].ledger);
        if direction == Direction::Downlink && leg != NEAR {
            return;
        }
        let rlc = &mut self.legs.get_mut(leg).sender(direction).rlc;
        while let Some(head) = rlc.head()
            && copies.is_confirmed(head.serial)
        {
            let serial = head.serial;
            copies.lose(serial, leg);
            split.carried[direction.index()][usize::from(leg)].discarded += 1;
            rlc.drop_head(now);
        }
    }

    /// Packets of which no leg has begun to send anything for too long go to `lost`; a copy is discarded without a
    /// word.
    pub(super) fn discard_old_copies(
        &mut self,
        (now, timer): (Time, fadeout_core::Span),
        direction: Direction,
        lost: &mut Vec<PacketId>,
    ) {
        for leg in [NEAR, FAR] {
            let is_far = direction == Direction::Downlink && leg != NEAR;
            loop {
                let rlc = &mut self.legs.get_mut(leg).sender(direction).rlc;
                let head = match is_far {
                    true => self.split.pending.front(),
                    false => rlc.head(),
                };
                let Some(&sdu) = head else { break };
                if sdu.entered_at.saturating_add(timer) > now {
                    break;
                }
                match is_far {
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

    /// What the other base station need not send any more, in a frame, if there is news of it.
    pub(super) fn discard_frame(&mut self, now: Time) -> Option<Frame> {
        if self.split.discard_frame_at() > now {
            return None;
        }
        self.split.discards_told_at = now;
        let number = u64::from(self.split.confirmed_below());
        self.split.discards_told = number;
        Some(Frame {
            bearer: self.id,
            kind: FrameKind::Discard,
            number,
            size: CONTROL_FRAME,
            flow: self.split.flow,
        })
    }

    /// The other base station hears that what is below this number need not be sent: RLC discards that of which it has
    /// sent nothing.
    ///
    /// Standard: TS 38.425 §5.4.1, §5.5.2.1.
    pub(crate) fn on_discard(&mut self, now: Time, number: u64) {
        let split = &mut *self.split;
        let leg = self.legs.get_mut(FAR);
        let rlc: &mut Entity = &mut leg.sender(Direction::Downlink).rlc;
        let mut bytes = 0;
        while let Some(head) = rlc.head()
            && u64::from(head.serial) < number
        {
            bytes += u64::from(head.size);
            split.carried[Direction::Downlink.index()][usize::from(FAR)].discarded += 1;
            rlc.drop_head(now);
        }
        split.corresponding.on_discarded(bytes);
    }
}

impl Split {
    /// What is first of the copies for the other base station is taken out.
    fn take_pending(&mut self) {
        let size = self.pending.pop().map_or(0, |sdu| sdu.size);
        self.pending_bytes -= u64::from(size);
    }

    /// A leg has discarded a copy of which nothing was sent. Whether no leg has or had it any more.
    fn on_discarded(&mut self, serial: u32, leg: u8, direction: Direction) -> bool {
        let index = direction.index();
        self.carried[index][usize::from(leg)].discarded += 1;
        (self.copies[index].as_mut()).is_none_or(|copies| copies.lose(serial, leg))
    }

    /// Whether a leg that has lost a PDU was the last one with it.
    pub(crate) fn is_lost(&mut self, serial: u32, (leg, direction): (u8, Direction)) -> bool {
        (self.copies[direction.index()].as_mut()).is_none_or(|copies| copies.lose(serial, leg))
    }

    /// Serial number below which no downlink PDU need be sent.
    fn confirmed_below(&self) -> u32 {
        (self.copies[Direction::Downlink.index()].as_ref()).map_or(0, |it| it.confirmed_below())
    }

    /// When the other base station is to be told what it need not send; never while it has nothing of that.
    pub(super) fn discard_frame_at(&self) -> Time {
        let below = u64::from(self.confirmed_below());
        let is_there = self
            .hosting
            .oldest()
            .is_some_and(|sdu| u64::from(sdu.serial) < below);
        match is_there && below > self.discards_told {
            true => (self.discards_told_at).saturating_add(self.config.flow_control.status_period),
            false => Time::NEVER,
        }
    }
}
