//! Transport blocks and scheduling requests, in the format of packet captures.

use super::stack::Stack;
use crate::config::{AirInterface, Env, LegId};
use crate::leg::{Content, Decoding, Leg, LegConfig, requesting_leg, rlc_of};
use crate::phy::frame::Duplex;
use crate::plan::CellPlan;
use crate::wire::{Load, Run};
use fadeout_core::{Direction, MacPdu, Probe, Reception, SchedulingRequest, Span};

const MILLISECOND: Span = Span::from_millis(1);
/// Duration of a radio frame in ms. LTE has as many subframes in a frame.
const FRAME_MS: u64 = 10;
/// Number of different system frame numbers.
const FRAME_NUMBERS: u64 = 1024;

/// Reports a received transport block and its decoding result to the probe.
pub(crate) fn report_mac_pdu<P: Probe>(
    stack: &mut Stack,
    plan: &CellPlan,
    (leg, direction, process): (LegId, Direction, u8),
    decoding: Decoding,
    env: &mut Env<'_, P>,
) {
    let reception = match (decoding.is_ok, decoding.is_new) {
        (true, true) => Reception::Decoded,
        (true, false) => Reception::Repeated,
        (false, _) => Reception::Failed,
    };
    let is_decoded = reception == Reception::Decoded;
    if is_decoded {
        encode(stack, plan, (leg, direction, process));
    }
    let (encoder, leg) = (&stack.encoder, &stack.legs[leg.index()]);
    let resources = plan.resources(direction);
    let block = leg.half(direction).block(process);
    let shape = block.shape;
    let scheme = resources.scheme(usize::from(shape.scheme)).mcs;
    let (frame, slot) = frame_and_slot(plan, block.slot);
    env.probe.mac_pdu(&MacPdu {
        received_at: env.now,
        cell: plan.id,
        ue: leg.config.ue,
        direction,
        is_nr: plan.config.is_nr(),
        is_tdd: !matches!(plan.config.duplex, Duplex::Fdd),
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
}

/// Encodes the MAC PDU of a block.
fn encode(stack: &mut Stack, plan: &CellPlan, (leg, direction, process): (LegId, Direction, u8)) {
    let Stack {
        legs,
        requests,
        bearers,
        contents,
        encoder,
        ..
    } = stack;
    let leg = &legs[leg.index()];
    let block = leg.half(direction).block(process);
    // An uplink block may carry a buffer status report and no data.
    let nothing = Content::default();
    let content = block.content.map_or(&nothing, |id| contents.content(id));
    let runs = content.runs().map(|(bearer, pdus)| {
        let number = rlc_of(leg, bearer);
        let bearer = &bearers[bearer.index()];
        Run {
            format: bearer.format(number),
            ledger: bearer.ledger(direction),
            pdus: &content.block.pdus[pdus],
        }
    });
    let has_report = direction == Direction::Uplink;
    let format = requests[requesting_leg(leg).index()].status();
    let load = Load {
        is_nr: plan.config.is_nr(),
        direction,
        size: block.shape.bytes,
        block: &content.block,
        status: has_report.then(|| format.index(block.status)),
    };
    encoder.write(&load, runs);
}

/// Reports a UE's scheduling request in `slot` to the probe.
pub(crate) fn report_request(plan: &CellPlan, leg: &Leg, slot: u64, probe: &mut impl Probe) {
    let LegConfig { ue, cell, .. } = leg.config;
    let (frame, in_frame) = frame_and_slot(plan, slot);
    probe.scheduling_request(SchedulingRequest {
        sent_at: plan.frame.start_of(slot),
        cell,
        ue,
        is_nr: plan.config.is_nr(),
        is_tdd: !matches!(plan.config.duplex, Duplex::Fdd),
        frame,
        slot: in_frame,
    });
}

/// Returns the system frame number, and the number of the slot (NR) or subframe (LTE) within that
/// frame. A short TTI of LTE has the number of its subframe.
fn frame_and_slot(plan: &CellPlan, slot: u64) -> (u16, u16) {
    let start = plan.frame.start_of(slot).as_nanos();
    let subframe = start / MILLISECOND.as_nanos();
    let in_frame = match plan.config.air {
        AirInterface::Lte { .. } => subframe % FRAME_MS,
        AirInterface::Nr { mu } => slot % (FRAME_MS << mu),
    };
    (
        (subframe / FRAME_MS % FRAME_NUMBERS) as u16,
        in_frame as u16,
    )
}
