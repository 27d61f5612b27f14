//! Copies of what the source of a conditional handover sends, for the candidates (early data forwarding).
//!
//! ```text
//! set_takers  candidates are prepared: all that the UE has not confirmed, and what gets a COUNT from now on, goes to each
//! execute     the UE has left for one of them: what has come there is there
//! arrive      that one has the UE's last message: it sends what the UE's status report lacks
//! end         the source knows: it forwards the rest, and the others drop what they have
//! ```
//!
//! Bearers in acknowledged mode alone: their COUNTs go on, and status reports keep what came before from being sent again.
//!
//! Standard: TS 38.300 §9.2.3.4.2, §9.2.3.2.2; TS 38.423 §8.2.12.

use super::compression::anew;
use super::split::{Frame, FrameKind};
use super::{Drb, Storage};
use crate::config::{Env, MOST_CANDIDATES};
use crate::rlc::Sdu;
use fadeout_core::{CellId, Direction, DrbId, Probe, Ring, Span, Time};

/// A candidate that gets copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taker {
    pub cell: CellId,
    pub station: u32,
    /// One way from the source, where no links carry copies.
    pub given: Option<Span>,
}

/// The source of a conditional handover, and its base station.
pub(crate) type Source = (CellId, u32);

/// What candidates have of a bearer.
#[derive(Debug)]
pub(crate) struct Early {
    source: Source,
    takers: [Option<(Taker, u16)>; MOST_CANDIDATES],
    /// Takers ever, by whose number their frames are told apart.
    ever: u16,
    /// Number of the first SDU.
    base: u64,
    /// What the source has sent, or sends, with a COUNT, the oldest first.
    sent: Ring<Copied>,
    /// Frames on their way, where that takes a given time, one for all of them.
    pending: Ring<(Time, u64)>,
    /// The candidate that the UE has left for.
    target: Option<usize>,
    /// Whether that has the UE's last message.
    is_there: bool,
}

/// An SDU, and the takers that have it.
#[derive(Debug, Clone, Copy, Default)]
struct Copied {
    sdu: Sdu,
    come: u8,
}

/// Counts of copies of a change of cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EarlyCounts {
    /// Sent to candidates.
    pub sent: u64,
    /// Sent by the one that the UE came to.
    pub used: u64,
}

/// Bits of a frame's number that say to whom it goes.
const TAKER_BITS: u32 = 16;

impl Early {
    fn new(source: Source, base: u64) -> Early {
        Early {
            source,
            takers: [None; MOST_CANDIDATES],
            ever: 0,
            base,
            sent: Ring::new(),
            pending: Ring::new(),
            target: None,
            is_there: false,
        }
    }

    fn slot_of(&self, taker: u16) -> Option<usize> {
        let is_it = |known: &Option<(Taker, u16)>| known.is_some_and(|(_, number)| number == taker);
        self.takers.iter().position(is_it)
    }

    /// A copy sets out.
    fn send(
        &mut self,
        (bearer, number, slot): (DrbId, u64, usize),
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let Some((taker, id)) = self.takers[slot] else {
            return;
        };
        let sdu = self.sent[number].sdu;
        let frame = ((self.base + number) << TAKER_BITS) | u64::from(id);
        match taker.given {
            Some(delay) => {
                self.pending.push((env.now.saturating_add(delay), frame));
            }
            None => storage.frames.push(Frame {
                bearer,
                kind: FrameKind::Copy,
                number: frame,
                size: sdu.size,
                flow: env.pool[sdu.packet].flow,
            }),
        }
    }

    /// The SDU and the taker of a frame, while both are known.
    fn meant(&self, frame: u64) -> Option<(u64, usize)> {
        let number = (frame >> TAKER_BITS).checked_sub(self.base)?;
        let slot = self.slot_of(frame as u16)?;
        self.sent.contains(number).then_some((number, slot))
    }

    /// Whether a taker has an SDU.
    fn has(&self, slot: usize, serial: u32) -> bool {
        let (mut least, mut end) = (self.sent.first(), self.sent.end());
        // They are in the order of COUNT.
        while least < end {
            let middle = least + (end - least) / 2;
            match self.sent[middle].sdu.serial < serial {
                true => least = middle + 1,
                false => end = middle,
            }
        }
        self.sent.contains(least) && {
            let copied = &self.sent[least];
            copied.sdu.serial == serial && copied.come & (1 << slot) != 0
        }
    }

    /// Copies that have come by now are with their takers.
    fn drain(&mut self, now: Time) {
        while let Some(&(at, frame)) = self.pending.front()
            && at <= now
        {
            self.pending.pop();
            if let Some((number, slot)) = self.meant(frame) {
                self.sent[number].come |= 1 << slot;
            }
        }
    }
}

/// The part of a bearer that has to do with copies for candidates.
#[derive(Debug)]
pub(crate) struct EarlyCopies<'a>(&'a mut Drb);

/// A bearer, whose copies go to candidates.
pub(crate) fn early(drb: &mut Drb) -> EarlyCopies<'_> {
    EarlyCopies(drb)
}

/// The cells between which a copy goes, if they are known.
pub(crate) fn copied_early(drb: &Drb, frame: u64) -> Option<[CellId; 2]> {
    let early = drb.transfers().0.as_ref()?.early.as_ref()?;
    let (taker, _) = early.takers[early.slot_of(frame as u16)?]?;
    Some([early.source.0, taker.cell])
}

impl EarlyCopies<'_> {
    fn early(&mut self) -> Option<&mut Early> {
        self.0.transfer.0.as_mut()?.early.as_deref_mut()
    }

    fn counts(&mut self) -> Option<&mut EarlyCounts> {
        Some(&mut self.0.transfer.0.as_mut()?.early_counts)
    }

    /// These candidates, of other base stations, are prepared, and get copies from now on; others drop what they have.
    pub(crate) fn set_takers(
        &mut self,
        source: Source,
        takers: &[Taker],
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let drb = &mut *self.0;
        if !drb.config.is_acknowledged() || drb.split.is_some() {
            return;
        }
        let Some(transfer) = &mut drb.transfer.0 else {
            return;
        };
        let is_other = |early: &mut Box<Early>| early.source != source || early.target.is_some();
        transfer.early.take_if(is_other);
        let is_new = transfer.early.is_none();
        if is_new && takers.is_empty() {
            return;
        }
        let base = transfer.copied;
        let mut early =
            (transfer.early.take()).unwrap_or_else(|| Box::new(Early::new(source, base)));
        if is_new {
            transfer.early_counts = EarlyCounts::default();
            let end = drb.legs.primary.sender(Direction::Downlink);
            end.catch_up(env.now);
            let anchor = &mut drb.anchors[Direction::Downlink.index()];
            anchor.tx.close_gaps(end.rlc.settle_counts());
            end.rlc.list_unconfirmed(&mut storage.unconfirmed);
            for sdu in storage.unconfirmed.drain(..) {
                if anchor.ledger.holds(sdu.serial) {
                    early.sent.push(Copied { sdu, come: 0 });
                    transfer.copied += 1;
                }
            }
        }
        for (slot, known) in early.takers.iter_mut().enumerate() {
            if known.is_some_and(|(taker, _)| !takers.contains(&taker)) {
                *known = None;
                for number in early.sent.first()..early.sent.end() {
                    early.sent[number].come &= !(1 << slot);
                }
            }
        }
        for &taker in takers {
            let is_it = |known: &Option<(Taker, u16)>| known.is_some_and(|(it, _)| it == taker);
            if early.takers.iter().any(is_it) {
                continue;
            }
            let Some(slot) = early.takers.iter().position(Option::is_none) else {
                break;
            };
            early.takers[slot] = Some((taker, early.ever));
            early.ever = early.ever.wrapping_add(1);
            let ledger = &drb.anchors[Direction::Downlink.index()].ledger;
            for number in early.sent.first()..early.sent.end() {
                if ledger.holds(early.sent[number].sdu.serial) {
                    early.send((drb.id, number, slot), env, storage);
                    transfer.early_counts.sent += 1;
                }
            }
        }
        drb.has_takers = early.takers.iter().any(Option::is_some);
        transfer.early = Some(early);
    }

    /// PDCP of the source has given an SDU its COUNT.
    pub(super) fn copy(&mut self, sdu: Sdu, env: &Env<'_, impl Probe>, storage: &mut Storage) {
        let bearer = self.0.id;
        let ledger = &self.0.anchors[Direction::Downlink.index()].ledger;
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let Some(early) = transfer.early.as_mut().filter(|it| it.target.is_none()) else {
            return;
        };
        early.drain(env.now);
        while let Some(first) = early.sent.front()
            && !ledger.holds(first.sdu.serial)
        {
            early.sent.pop();
        }
        let number = early.sent.push(Copied { sdu, come: 0 });
        transfer.copied += 1;
        for slot in 0..MOST_CANDIDATES {
            if early.takers[slot].is_some() {
                early.send((bearer, number, slot), env, storage);
                transfer.early_counts.sent += 1;
            }
        }
    }

    /// A copy has come to a candidate.
    pub(crate) fn on_copy(&mut self, frame: u64, env: &Env<'_, impl Probe>) {
        let Some(early) = self.early() else { return };
        let Some((number, slot)) = early.meant(frame) else {
            return;
        };
        early.sent[number].come |= 1 << slot;
        if early.target == Some(slot) {
            let (serial, is_there) = (early.sent[number].sdu.serial, early.is_there);
            self.bring(serial);
            if is_there {
                self.send_all(env);
            }
        }
    }

    /// The UE has left for a candidate, and downlink data waits at the source: what has come to the candidate is there.
    pub(crate) fn execute(&mut self, target: CellId, now: Time) {
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let (Some(early), Some(journey)) = (&mut transfer.early, &mut transfer.journey) else {
            return;
        };
        let is_it = |known: &Option<(Taker, u16)>| known.is_some_and(|(it, _)| it.cell == target);
        early.drain(now);
        early.target = early.takers.iter().position(is_it);
        for (station, sdu) in &mut journey.numbered {
            let slot = early.target.filter(|&slot| early.has(slot, sdu.serial));
            let taker = slot.and_then(|slot| early.takers[slot]);
            *station = taker.map_or(early.source.1, |(taker, _)| taker.station);
        }
        self.0.has_takers = false;
    }

    /// An SDU that waits at the source is at the target too.
    fn bring(&mut self, serial: u32) {
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let (Some(early), Some(journey)) = (&transfer.early, &mut transfer.journey) else {
            return;
        };
        let Some((taker, _)) = early.target.and_then(|slot| early.takers[slot]) else {
            return;
        };
        let waiting = journey.numbered.iter_mut();
        for (station, _) in waiting.filter(|(_, sdu)| sdu.serial == serial) {
            *station = taker.station;
        }
    }

    /// The target has the UE's last message: it sends what it has.
    pub(crate) fn arrive(&mut self, env: &Env<'_, impl Probe>) {
        let target = self.early().and_then(|early| early.takers[early.target?]);
        if let Some((taker, _)) = target {
            self.execute(taker.cell, env.now);
            if let Some(early) = self.early() {
                early.is_there = true;
            }
            self.send_all(env);
        }
    }

    /// The target sends what it has.
    fn send_all(&mut self, env: &Env<'_, impl Probe>) {
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let (Some(early), Some(journey)) = (&transfer.early, &mut transfer.journey) else {
            return;
        };
        let Some((taker, _)) = early.target.and_then(|slot| early.takers[slot]) else {
            return;
        };
        let there = |(station, _): &(u32, Sdu)| *station == taker.station;
        let sdus: Vec<Sdu> = (journey.numbered.iter().filter(|it| there(it)))
            .map(|&(_, sdu)| sdu)
            .collect();
        journey.numbered.retain(|it| !there(it));
        let [downlink, uplink] = &mut self.0.anchors;
        let rlc = &mut self.0.legs.primary.ends[Direction::Downlink.index()].rlc;
        let pdcp = &self.0.config.pdcp;
        let mut used = 0;
        for sdu in sdus {
            if downlink.ledger.holds(sdu.serial) && !uplink.rx.has(sdu.count) {
                rlc.push_again(anew((&mut *downlink, pdcp), sdu, env));
                used += 1;
            }
        }
        if let Some(counts) = self.counts() {
            counts.used += used;
        }
    }

    /// The source knows where the UE is, or that it is lost: nothing is copied any more. If the UE is not in the candidate
    /// that it left for, what waits does so at the source.
    pub(crate) fn end(&mut self, is_there: bool) {
        self.0.has_takers = false;
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let Some(early) = transfer.early.take() else {
            return;
        };
        if !is_there && let Some(journey) = &mut transfer.journey {
            for (station, _) in &mut journey.numbered {
                *station = early.source.1;
            }
        }
    }
}
