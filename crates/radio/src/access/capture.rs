//! Transport blocks and scheduling requests as a capture shows them.

use super::harq::Outcome;
use super::uplink::status_format;
use super::{AirInterface, Env, RadioAccess};
use crate::phy::frame::Duplex;
use crate::wire::{Load, Run};
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
        let mut encoder = std::mem::take(&mut self.scratch.encoder);
        let cell = &self.cells[id.index()];
        let resources = &cell.half(direction).resources;
        let block = self.ues[ue.index()].half(direction).harq.process(process);
        let shape = block.shape;
        let is_nr = matches!(cell.config.air, AirInterface::Nr { .. });
        let reception = match (outcome.is_ok, outcome.is_new) {
            (true, true) => Reception::Decoded,
            (true, false) => Reception::Repeated,
            (false, _) => Reception::Failed,
        };
        let is_decoded = reception == Reception::Decoded;
        if is_decoded {
            let status = status_format(cell.config.air).index(block.status);
            // An uplink block may carry a report alone.
            let content = block.content.map(|id| self.contents.content(id));
            let bearers = content.map_or(&[][..], |content| &content.bearers);
            let firsts = std::iter::once(0).chain(bearers.iter().map(|&(_, end)| end));
            let runs = bearers.iter().zip(firsts).map(|(&(bearer, end), first)| {
                let bearer = &self.bearers[bearer.index()];
                let pdus = content.map_or(&[][..], |content| &content.block.pdus);
                Run {
                    format: &bearer.format,
                    ledger: &bearer.ends[direction.index()].ledger,
                    pdus: &pdus[first as usize..end as usize],
                }
            });
            let nothing = crate::rlc::TransportBlock::new();
            let load = Load {
                is_nr,
                direction,
                size: shape.bytes,
                block: content.map_or(&nothing, |content| &content.block),
                status: (direction == Direction::Uplink).then_some(status),
            };
            encoder.write(&load, runs);
        }
        let scheme = resources.scheme(usize::from(shape.scheme));
        let (frame, slot) = self.frame_and_slot(id, block.slot);
        env.probe.mac_pdu(&MacPdu {
            received_at: env.now,
            cell: id,
            ue,
            direction,
            is_nr,
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

    /// Shows the probe that a UE asks in `slot`.
    pub(super) fn show_request(&self, id: CellId, ue: UeId, slot: u64, probe: &mut impl Probe) {
        let cell = &self.cells[id.index()];
        let (frame, in_frame) = self.frame_and_slot(id, slot);
        probe.scheduling_request(SchedulingRequest {
            sent_at: cell.frame.start_of(slot),
            cell: id,
            ue,
            is_nr: matches!(cell.config.air, AirInterface::Nr { .. }),
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
