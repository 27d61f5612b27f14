//! Copies of downlink data that the source of a conditional handover sends to the candidates (early
//! data forwarding).
//!
//! ```text
//! set_takers  Candidates are prepared. Each gets all unconfirmed SDUs and all new SDUs.
//! execute     The UE has left for one candidate. The copies there need not be forwarded.
//! arrive      The candidate has RRCReconfigurationComplete and sends the SDUs that the UE lacks.
//! end         The source knows the UE's cell. It forwards other data. Other candidates drop it.
//! ```
//!
//! Only bearers in acknowledged mode use early data forwarding. Their COUNTs continue at the
//! target, and status reports prevent retransmission of SDUs that the UE has.
//!
//! Standard: TS 38.300 §9.2.3.4.2, §9.2.3.2.2; TS 38.423 §8.2.12.

use super::compression::compress_again;
use super::split::{Frame, FrameKind};
use super::{Drb, Storage};
use crate::config::{Env, MOST_CANDIDATES};
use crate::rlc::Sdu;
use fadeout_core::{CellId, Direction, DrbId, Probe, Ring, Span, Time};

/// Candidate cell that gets copies of the bearer's downlink data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyCandidate {
    pub cell: CellId,
    pub station: u32,
    /// One-way delay from the source to the candidate. `None` if simulated links carry the copies.
    pub delay: Option<Span>,
}

/// Source cell of a conditional handover, and its base station.
pub(crate) type SourceCell = (CellId, u32);

/// Copies of a bearer's data at the candidates of a conditional handover.
#[derive(Debug)]
pub(crate) struct Early {
    source: SourceCell,
    candidates: [Option<(CopyCandidate, u16)>; MOST_CANDIDATES],
    /// Number of candidates so far, which is the id of the next one. The number of a frame includes
    /// the candidate's id.
    next_id: u16,
    /// Frame number of the first SDU in `sent`.
    base: u64,
    /// SDUs with a COUNT that the source sends or has sent, oldest first.
    sent: Ring<EarlyCopy>,
    /// Arrival times and numbers of frames under way. Used only if the delay is given. The delay is
    /// then the same for all candidates.
    pending: Ring<(Time, u64)>,
    /// Index of the candidate that the UE has left for. `None` while the UE is in the source.
    target: Option<usize>,
    /// True if the target has received RRCReconfigurationComplete.
    is_complete: bool,
}

/// SDU of the source, and the candidates to which the source sent a copy.
#[derive(Debug, Clone, Copy, Default)]
struct EarlyCopy {
    sdu: Sdu,
    arrived: u8,
}

/// Counts of the copies that were sent during a change of cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EarlyCounts {
    /// Copies that the source sent to candidates.
    pub sent: u64,
    /// Copies that the target of the handover sent to the UE.
    pub used: u64,
}

/// Number of low bits of a frame's number that identify the candidate.
const CANDIDATE_BITS: u32 = 16;

impl Early {
    fn new(source: SourceCell, base: u64) -> Early {
        Early {
            source,
            candidates: [None; MOST_CANDIDATES],
            next_id: 0,
            base,
            sent: Ring::new(),
            pending: Ring::new(),
            target: None,
            is_complete: false,
        }
    }

    fn slot_of_candidate(&self, candidate: u16) -> Option<usize> {
        let is_it = |known: &Option<(CopyCandidate, u16)>| {
            known.is_some_and(|(_, number)| number == candidate)
        };
        self.candidates.iter().position(is_it)
    }

    /// Sends a copy of an SDU to a candidate.
    fn send(
        &mut self,
        (bearer, number, slot): (DrbId, u64, usize),
        env: &Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let Some((candidate, id)) = self.candidates[slot] else {
            return;
        };
        let sdu = self.sent[number].sdu;
        let frame = ((self.base + number) << CANDIDATE_BITS) | u64::from(id);
        match candidate.delay {
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

    /// Returns the SDU and the candidate that a frame number identifies. `None` if the SDU or the
    /// candidate is no longer known.
    fn find_copy(&self, frame: u64) -> Option<(u64, usize)> {
        let number = (frame >> CANDIDATE_BITS).checked_sub(self.base)?;
        let slot = self.slot_of_candidate(frame as u16)?;
        self.sent.contains(number).then_some((number, slot))
    }

    /// Returns true if a candidate has a copy of an SDU.
    fn has_copy(&self, slot: usize, serial: u32) -> bool {
        let (mut least, mut end) = (self.sent.first(), self.sent.end());
        // The SDUs are in the order of COUNT, so the search is binary.
        while least < end {
            let middle = least + (end - least) / 2;
            match self.sent[middle].sdu.serial < serial {
                true => least = middle + 1,
                false => end = middle,
            }
        }
        self.sent.contains(least) && {
            let copied = &self.sent[least];
            copied.sdu.serial == serial && copied.arrived & (1 << slot) != 0
        }
    }

    /// Records the copies that have arrived at their candidates by now.
    fn drain(&mut self, now: Time) {
        while let Some(&(at, frame)) = self.pending.front()
            && at <= now
        {
            self.pending.pop();
            if let Some((number, slot)) = self.find_copy(frame) {
                self.sent[number].arrived |= 1 << slot;
            }
        }
    }
}

/// Operations on the copies of a bearer's data for handover candidates.
#[derive(Debug)]
pub(crate) struct EarlyCopies<'a>(&'a mut Drb);

/// Returns the operations on a bearer's copies for candidates.
pub(crate) fn early(drb: &mut Drb) -> EarlyCopies<'_> {
    EarlyCopies(drb)
}

/// Returns the source cell and the candidate cell of a copy. `None` if the frame number is no
/// longer known.
pub(crate) fn early_copy_cells(drb: &Drb, frame: u64) -> Option<[CellId; 2]> {
    let early = drb.transfers().0.as_ref()?.early.as_ref()?;
    let (candidate, _) = early.candidates[early.slot_of_candidate(frame as u16)?]?;
    Some([early.source.0, candidate.cell])
}

impl EarlyCopies<'_> {
    fn early(&mut self) -> Option<&mut Early> {
        self.0.transfer.0.as_mut()?.early.as_deref_mut()
    }

    fn counts(&mut self) -> Option<&mut EarlyCounts> {
        Some(&mut self.0.transfer.0.as_mut()?.early_counts)
    }

    /// Sets the list of prepared candidates, which belong to other base stations. The source sends
    /// copies to all of them from now on. An earlier candidate that is not in the list drops its
    /// copies.
    pub(crate) fn set_candidates(
        &mut self,
        source: SourceCell,
        candidates: &[CopyCandidate],
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
        if is_new && candidates.is_empty() {
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
                    early.sent.push(EarlyCopy { sdu, arrived: 0 });
                    transfer.copied += 1;
                }
            }
        }
        for (slot, known) in early.candidates.iter_mut().enumerate() {
            if known.is_some_and(|(candidate, _)| !candidates.contains(&candidate)) {
                *known = None;
                for number in early.sent.first()..early.sent.end() {
                    early.sent[number].arrived &= !(1 << slot);
                }
            }
        }
        for &candidate in candidates {
            let is_it =
                |known: &Option<(CopyCandidate, u16)>| known.is_some_and(|(it, _)| it == candidate);
            if early.candidates.iter().any(is_it) {
                continue;
            }
            let Some(slot) = early.candidates.iter().position(Option::is_none) else {
                break;
            };
            early.candidates[slot] = Some((candidate, early.next_id));
            early.next_id = early.next_id.wrapping_add(1);
            let ledger = &drb.anchors[Direction::Downlink.index()].ledger;
            for number in early.sent.first()..early.sent.end() {
                if ledger.holds(early.sent[number].sdu.serial) {
                    early.send((drb.id, number, slot), env, storage);
                    transfer.early_counts.sent += 1;
                }
            }
        }
        drb.has_candidates = early.candidates.iter().any(Option::is_some);
        transfer.early = Some(early);
    }

    /// Copies an SDU to all candidates, after the source's PDCP assigned its COUNT.
    pub(super) fn copy_sdu(&mut self, sdu: Sdu, env: &Env<'_, impl Probe>, storage: &mut Storage) {
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
        let number = early.sent.push(EarlyCopy { sdu, arrived: 0 });
        transfer.copied += 1;
        for slot in 0..MOST_CANDIDATES {
            if early.candidates[slot].is_some() {
                early.send((bearer, number, slot), env, storage);
                transfer.early_counts.sent += 1;
            }
        }
    }

    /// Records that a copy has arrived at a candidate.
    pub(crate) fn on_copy(&mut self, frame: u64, env: &Env<'_, impl Probe>) {
        let Some(early) = self.early() else { return };
        let Some((number, slot)) = early.find_copy(frame) else {
            return;
        };
        early.sent[number].arrived |= 1 << slot;
        if early.target == Some(slot) {
            let (serial, is_complete) = (early.sent[number].sdu.serial, early.is_complete);
            self.record_at_target(serial);
            if is_complete {
                self.send_all(env);
            }
        }
    }

    /// Handles the UE's departure for the candidate `target`, while downlink data waits at the
    /// source. If the candidate has a copy of an SDU, the SDU is recorded as waiting at the
    /// candidate.
    pub(crate) fn execute(&mut self, target: CellId, now: Time) {
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let (Some(early), Some(change)) = (&mut transfer.early, &mut transfer.change) else {
            return;
        };
        let is_it =
            |known: &Option<(CopyCandidate, u16)>| known.is_some_and(|(it, _)| it.cell == target);
        early.drain(now);
        early.target = early.candidates.iter().position(is_it);
        for (station, sdu) in &mut change.numbered {
            let slot = early
                .target
                .filter(|&slot| early.has_copy(slot, sdu.serial));
            let candidate = slot.and_then(|slot| early.candidates[slot]);
            *station = candidate.map_or(early.source.1, |(candidate, _)| candidate.station);
        }
        self.0.has_candidates = false;
    }

    /// Records that the target has a copy of an SDU that waits at the source.
    fn record_at_target(&mut self, serial: u32) {
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let (Some(early), Some(change)) = (&transfer.early, &mut transfer.change) else {
            return;
        };
        let Some((candidate, _)) = early.target.and_then(|slot| early.candidates[slot]) else {
            return;
        };
        let waiting = change.numbered.iter_mut();
        for (station, _) in waiting.filter(|(_, sdu)| sdu.serial == serial) {
            *station = candidate.station;
        }
    }

    /// Handles RRCReconfigurationComplete at the target, which then sends the SDUs whose copies it
    /// has.
    pub(crate) fn on_complete(&mut self, env: &Env<'_, impl Probe>) {
        let target = self
            .early()
            .and_then(|early| early.candidates[early.target?]);
        if let Some((candidate, _)) = target {
            self.execute(candidate.cell, env.now);
            if let Some(early) = self.early() {
                early.is_complete = true;
            }
            self.send_all(env);
        }
    }

    /// Sends all SDUs that the target has and the UE lacks.
    fn send_all(&mut self, env: &Env<'_, impl Probe>) {
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let (Some(early), Some(change)) = (&transfer.early, &mut transfer.change) else {
            return;
        };
        let Some((candidate, _)) = early.target.and_then(|slot| early.candidates[slot]) else {
            return;
        };
        let there = |(station, _): &(u32, Sdu)| *station == candidate.station;
        let sdus: Vec<Sdu> = (change.numbered.iter().filter(|it| there(it)))
            .map(|&(_, sdu)| sdu)
            .collect();
        change.numbered.retain(|it| !there(it));
        let [downlink, uplink] = &mut self.0.anchors;
        let rlc = &mut self.0.legs.primary.ends[Direction::Downlink.index()].rlc;
        let pdcp = &self.0.config.pdcp;
        let mut used = 0;
        for sdu in sdus {
            if downlink.ledger.holds(sdu.serial) && !uplink.rx.has(sdu.count) {
                rlc.push_again(compress_again((&mut *downlink, pdcp), sdu, env));
                used += 1;
            }
        }
        if let Some(counts) = self.counts() {
            counts.used += used;
        }
    }

    /// Ends the copying, because the source knows the UE's cell or knows that the UE is lost. If
    /// the UE did not reach its candidate (`is_there` is false), all waiting SDUs are at the
    /// source.
    pub(crate) fn end(&mut self, is_there: bool) {
        self.0.has_candidates = false;
        let Some(transfer) = &mut self.0.transfer.0 else {
            return;
        };
        let Some(early) = transfer.early.take() else {
            return;
        };
        if !is_there && let Some(change) = &mut transfer.change {
            for (station, _) in &mut change.numbered {
                *station = early.source.1;
            }
        }
    }
}
