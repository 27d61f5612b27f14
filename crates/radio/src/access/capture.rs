//! Transport blocks and scheduling requests as a capture shows them.

use super::content::Content;
use super::harq::Outcome;
use super::uplink::status_format;
use super::{AirInterface, Env, RadioAccess};
use crate::phy::frame::Duplex;
use crate::wire::{Encoder, Load, Run};
use fadeout_core::{
    CellId, Direction, MacPdu, Motion, Probe, Reception, SchedulingRequest, Span, UeId,
};

const MILLISECOND: Span = Span::from_millis(1);
/// Milliseconds of a radio frame, subframes of LTE.
const FRAME: u64 = 10;
/// System frame numbers.
const FRAMES: u64 = 1024;

impl RadioAccess {
    /// Shows the probe what the receiver has made of a block.
    pub(super) fn show_mac_pdu<M: Motion, P: Probe>(
        &mut self,
        (id, ue, process): (CellId, UeId, u8),
        direction: Direction,
        outcome: Outcome,
        env: &mut Env<'_, M, P>,
    ) {
        let reception = match (outcome.is_ok, outcome.is_new) {
            (true, true) => Reception::Decoded,
            (true, false) => Reception::Repeated,
            (false, _) => Reception::Failed,
        };
        let is_decoded = reception == Reception::Decoded;
        let mut encoder = std::mem::take(&mut self.scratch.encoder);
        if is_decoded {
            self.encode((id, ue, process), direction, &mut encoder);
        }
        let cell = &self.cells[id.index()];
        let resources = &cell.half(direction).resources;
        let block = self.ues[ue.index()].half(direction).harq.process(process);
        let shape = block.shape;
        let scheme = resources.scheme(usize::from(shape.scheme));
        let (frame, slot) = self.frame_and_slot(id, block.slot);
        env.probe.mac_pdu(&MacPdu {
            received_at: env.now,
            cell: id,
            ue,
            direction,
            is_nr: is_nr(cell.config.air),
            is_tdd: !matches!(cell.config.duplex, Duplex::Fdd),
            frame,
            slot,
            process,
            round: block.round(),
            mcs: scheme.index,
            modulation_bits: scheme.modulation.bits(),
            n_prb: resources
                .occupied(shape.symbols, shape.units)
                .resource_blocks,
            size: shape.bytes,
            reception,
            bytes: if is_decoded { encoder.bytes() } else { &[] },
            packets: if is_decoded { encoder.packets() } else { &[] },
            pool: env.pool,
        });
        self.scratch.encoder = encoder;
    }

    /// Writes the MAC PDU of a block.
    fn encode(
        &self,
        (id, ue, process): (CellId, UeId, u8),
        direction: Direction,
        encoder: &mut Encoder,
    ) {
        let air = self.cells[id.index()].config.air;
        let harq = &self.ues[ue.index()].half(direction).harq;
        let block = harq.process(process);
        // An uplink block may carry a report alone.
        let nothing = Content::default();
        let content = block
            .content
            .map_or(&nothing, |id| self.contents.content(id));
        let firsts = content.bearers.iter().map(|&(_, end)| end);
        let firsts = std::iter::once(0).chain(firsts);
        let runs = content.bearers.iter().zip(firsts);
        let runs = runs.map(|(&(bearer, end), first)| {
            let bearer = &self.bearers[bearer.index()];
            Run {
                format: &bearer.format,
                ledger: &bearer.ends[direction.index()].ledger,
                pdus: &content.block.pdus[first as usize..end as usize],
            }
        });
        let has_report = direction == Direction::Uplink;
        let load = Load {
            is_nr: is_nr(air),
            direction,
            size: block.shape.bytes,
            block: &content.block,
            status: has_report.then(|| status_format(air).index(block.status)),
        };
        encoder.write(&load, runs);
    }

    /// Shows the probe that a UE asks in `slot`.
    pub(super) fn show_request(&self, id: CellId, ue: UeId, slot: u64, probe: &mut impl Probe) {
        let cell = &self.cells[id.index()];
        let (frame, in_frame) = self.frame_and_slot(id, slot);
        probe.scheduling_request(SchedulingRequest {
            sent_at: cell.frame.start_of(slot),
            cell: id,
            ue,
            is_nr: is_nr(cell.config.air),
            is_tdd: !matches!(cell.config.duplex, Duplex::Fdd),
            frame,
            slot: in_frame,
        });
    }

    /// System frame number, and the slot (NR) or subframe (LTE) in it. LTE's short intervals share
    /// the number of their subframe.
    fn frame_and_slot(&self, id: CellId, slot: u64) -> (u16, u16) {
        let cell = &self.cells[id.index()];
        let start = cell.frame.start_of(slot).as_nanos();
        let subframe = start / MILLISECOND.as_nanos();
        let in_frame = match cell.config.air {
            AirInterface::Lte { .. } => subframe % FRAME,
            AirInterface::Nr { mu } => slot % (FRAME << mu),
        };
        ((subframe / FRAME % FRAMES) as u16, in_frame as u16)
    }
}

fn is_nr(air: AirInterface) -> bool {
    matches!(air, AirInterface::Nr { .. })
}
