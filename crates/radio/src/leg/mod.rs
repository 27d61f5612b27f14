//! A leg: one UE in one cell, as the cell and the UE know it.
//!
//! HARQ of both directions, what is known of the channel and which scheme follows from it, how the
//! UE gets at the uplink, when it listens, and which bearers fill its blocks. A [`Leg`] knows no
//! other UE, no scheduler and no RLC: it is told of slots, measurements and backlogs, and says what
//! it would send and when it next may have something.

mod adaptation;
mod aggregation;
mod content;
mod control;
mod downlink;
mod harq_entity;
mod multiplex;
mod request;
#[cfg(test)]
mod tests;
mod uplink;

pub(crate) use adaptation::{UplinkAir, UplinkChoice};
pub(crate) use aggregation::Carriers;
pub(crate) use content::{Content, ContentId, Contents};
pub(crate) use control::DuplicationControl;
pub(crate) use harq_entity::{Decoding, HarqProcess};
pub(crate) use multiplex::{Channels, RlcQueues};
pub(crate) use request::{Repeat, UplinkRequests};
pub(crate) use uplink::Block;

use crate::config::{Adaptation, Gaps, LegId, NO_SLOT, Rnti, Shape};
use crate::mac::DrxConfig;
use crate::phy::link_adaptation::OuterLoop;
use crate::phy::sub_band::BandSet;
use crate::plan::CellPlan;
use adaptation::Report;
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Direction, DrbId, Probe, Span, Time, TransportBlockRow, UeId};
use harq_entity::{HarqEntity, Judgement};

/// Who a leg connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LegConfig {
    pub id: LegId,
    pub ue: UeId,
    /// Its number among the legs of its UE.
    pub number: u8,
    pub cell: CellId,
    pub rnti: Rnti,
}

/// One UE in one cell. What a cell asks in every slot stands first, here and below.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Leg {
    pub config: LegConfig,
    /// Whether the look at its downlink before the next one may have found it out of range.
    was_out_of_range: bool,
    /// From a multiple of the DRX cycle to its on-duration.
    drx_offset: Span,
    /// Until when it listens because of its latest new data.
    awake_until: Time,
    /// When its UE is at other carriers, if it ever is.
    pub gaps: Option<Box<Gaps>>,
    /// The bearers with RLC on it.
    pub channels: Channels,
    /// Control elements for the UE, which go with the next blocks.
    pub controls: Vec<DuplicationControl>,
    /// Other legs that carry the same.
    pub carriers: Carriers,
    down: LegHalf,
    /// Until when it is without service, after a radio link failure.
    unserved_until: Time,
    up: LegHalf,
}

/// Bytes of the control elements that wait for a UE.
#[inline]
pub(crate) fn control_bytes(leg: &Leg) -> u64 {
    if leg.controls.is_empty() {
        return 0;
    }
    let controls = leg.controls.iter();
    controls.map(|control| u64::from(control.size())).sum()
}

/// The leg whose scheduling requests and buffer status reports are for what is sent on this one: the primary one, unless
/// RLC entities are kept to its cell.
#[inline]
pub(crate) fn asks(leg: &Leg) -> LegId {
    leg.carriers.asks().unwrap_or(leg.config.id)
}

/// Number of the RLC entity of a bearer that sends on a leg.
#[inline]
pub(crate) fn rlc_of(leg: &Leg, bearer: DrbId) -> u8 {
    let restricted = leg.channels.restricted(bearer);
    restricted.unwrap_or(leg.config.number)
}

/// One direction of a leg.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LegHalf {
    harq: HarqEntity,
    /// Slot of its latest block: a UE has one in each slot at most.
    last_slot: u64,
    /// Whether data waits for a HARQ process.
    is_stalled: bool,
    /// True if the latest new data had no modulation and coding scheme.
    is_out_of_range: bool,
    outer_loop: OuterLoop,
    report: Report,
    draws: Stream,
    counters: BlockCounters,
}

/// Counters of one direction of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BlockCounters {
    /// Transport blocks sent, retransmissions included.
    pub blocks: u64,
    /// Retransmissions of HARQ among them.
    pub retransmissions: u64,
    /// Transport blocks given up after their last transmission.
    pub lost_blocks: u64,
    /// Units of the band that they took, slot by slot.
    pub units: u64,
}

impl LegHalf {
    fn new(processes: u8, draws: Stream) -> LegHalf {
        LegHalf {
            harq: HarqEntity::new(processes),
            is_stalled: false,
            is_out_of_range: false,
            last_slot: NO_SLOT,
            outer_loop: OuterLoop::default(),
            report: Report::UNKNOWN,
            draws,
            counters: BlockCounters::default(),
        }
    }

    /// Records whether a UE that could send new data had a modulation and coding scheme for it.
    #[inline]
    pub(crate) fn record_range(&mut self, is_out_of_range: bool) {
        self.is_out_of_range = is_out_of_range;
    }

    /// Returns true if the latest new data had no modulation and coding scheme.
    pub(crate) fn is_out_of_range(&self) -> bool {
        self.is_out_of_range
    }

    /// Its counters so far.
    pub(crate) fn counters(&self) -> &BlockCounters {
        &self.counters
    }

    /// The block of a HARQ process.
    pub(crate) fn block(&self, process: u8) -> &HarqProcess {
        self.harq.process(process)
    }

    /// The block to be sent again first of those that may be in `slot`, and its resources; none
    /// when slot `target` is taken already.
    pub(crate) fn repetition(&self, slot: u64, target: u64) -> Option<(u8, Shape)> {
        let process = self.harq.waiting(slot)?;
        (self.last_slot != target).then(|| (process, self.harq.process(process).shape))
    }

    /// A block that waited gets slot `target`.
    pub(crate) fn resume(&mut self, process: u8, target: u64) {
        self.harq.resume(process);
        self.last_slot = target;
    }

    /// The block of a process lies in these sub-bands this time.
    pub(crate) fn lie_in(&mut self, process: u8, bands: BandSet) {
        self.harq.process_mut(process).shape.bands = bands;
    }

    /// A block goes out in `slot`; whatever becomes of it, its process is not used before slot
    /// `again_from`.
    pub(crate) fn sent(&mut self, process: u8, slot: u64, again_from: u64) {
        self.harq.sent(process, slot, again_from);
        self.counters.blocks += 1;
        let sent = self.harq.process(process);
        self.counters.retransmissions += u64::from(sent.round() > 0);
        self.counters.units += u64::from(sent.shape.units);
    }

    /// Takes the content of a block that was delivered or given up.
    pub(crate) fn take_content(&mut self, process: u8) -> Option<ContentId> {
        self.harq.process_mut(process).content.take()
    }

    /// As [`HarqEntity::unused`].
    pub(crate) fn unused(&self) -> impl Iterator<Item = u32> + '_ {
        self.harq.unused()
    }

    /// Whether no block is under way or waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.harq.is_idle()
    }
}

/// A stream of the `nth` leg that a UE ever had; its first has the UE's own.
fn stream(seed: u64, domain: &'static str, ue: UeId, nth: u64) -> Stream {
    Stream::new(seed, domain, (nth << 32) + u64::from(ue.0))
}

impl Leg {
    /// A UE connects to a cell, on the `nth` leg that it ever had, with the random draws of UE `drawn_as`.
    pub(crate) fn new(
        config: LegConfig,
        (drawn_as, nth): (UeId, u64),
        plan: &CellPlan,
        seed: u64,
    ) -> Leg {
        let stream = |domain| stream(seed, domain, drawn_as, nth);
        let harq = &plan.config.harq;
        let drx_offset = plan.config.drx.map_or(Span::ZERO, |drx| {
            Span::from_nanos(stream("radio.drx").below(drx.cycle.as_nanos()))
        });
        Leg {
            down: LegHalf::new(harq.downlink_processes, stream("radio.downlink")),
            up: LegHalf::new(harq.uplink_processes, stream("radio.uplink")),
            controls: Vec::new(),
            channels: Channels::default(),
            carriers: Carriers::default(),
            drx_offset,
            awake_until: Time::ZERO,
            gaps: None,
            unserved_until: Time::ZERO,
            was_out_of_range: true,
            config,
        }
    }

    /// The UE leaves the cell, or comes back to it: nothing is under way any more, nothing known of the
    /// channel (MAC reset). The contents of blocks go to `unsent`, by direction.
    ///
    /// Standard: TS 38.321 §5.12; TS 36.321 §5.9.
    pub(crate) fn reset(&mut self, unsent: &mut [Vec<ContentId>; 2]) {
        self.fail(Time::ZERO, unsent);
        self.channels = Channels::default();
        self.carriers.clear();
        self.awake_until = Time::ZERO;
        self.was_out_of_range = true;
        for half in [&mut self.down, &mut self.up] {
            half.is_stalled = false;
            half.is_out_of_range = false;
            half.outer_loop = OuterLoop::default();
            half.report = Report::UNKNOWN;
        }
    }

    pub(crate) fn half(&self, direction: Direction) -> &LegHalf {
        match direction {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }
    pub(crate) fn half_mut(&mut self, direction: Direction) -> &mut LegHalf {
        match direction {
            Direction::Downlink => &mut self.down,
            Direction::Uplink => &mut self.up,
        }
    }

    /// The leg of the primary cell beside it, which may be itself.
    #[inline]
    pub(crate) fn primary(&self) -> LegId {
        self.carriers.primary().unwrap_or(self.config.id)
    }

    /// A look at its downlink. Whether the one before may have found it out of range.
    #[inline]
    pub(crate) fn on_look(&mut self, is_out_of_range: bool) -> bool {
        std::mem::replace(&mut self.was_out_of_range, is_out_of_range)
    }

    /// The first slot from which on it can be served, when it may have something for `slot`.
    /// Whatever it waited for has happened.
    pub(crate) fn awaken(
        &mut self,
        plan: &CellPlan,
        now: Time,
        direction: Direction,
        slot: u64,
    ) -> u64 {
        self.half_mut(direction).is_stalled = false;
        if let Some(active_from) = self.carriers.on_data(now) {
            self.unserved_until = self.unserved_until.max(active_from);
        }
        let served_from = plan.frame.slot_from(now.max(self.unserved_until));
        slot.max(served_from)
    }

    /// The first slot from `slot` on that no measurement gap takes.
    #[inline]
    fn clear_from(&self, slot: u64, direction: Direction) -> u64 {
        match &self.gaps {
            Some(gaps) if slot != NO_SLOT => gaps.clear_from(slot, direction),
            _ => slot,
        }
    }

    /// Whether the UE can be told of something in `slot`, and receive or send it in `target`.
    #[inline]
    pub(crate) fn is_there(&self, direction: Direction, slot: u64, target: u64) -> bool {
        self.gaps.is_none()
            || self.clear_from(slot, Direction::Downlink) == slot
                && self.clear_from(target, direction) == target
    }

    /// The first slot in which a process is free again whose feedback is due when the block is decoded: what would
    /// be sent in a gap comes behind it.
    #[inline]
    pub(crate) fn answered_from(&self, decoded_at: Time, again_from: u64) -> u64 {
        let gaps = self.gaps.as_ref();
        let behind = gaps.and_then(|gaps| gaps.behind(decoded_at));
        behind.map_or(again_from, |slot| again_from.max(slot))
    }

    /// The first slot from `slot` on in which the UE listens for new data.
    fn listens_from(&self, plan: &CellPlan, slot: u64) -> u64 {
        let Some(drx) = &plan.config.drx else {
            return self.clear_from(slot, Direction::Downlink);
        };
        let start = plan.frame.start_of(slot);
        let awake = drx.awake_from(start, self.drx_offset, self.awake_until);
        self.clear_from(plan.frame.slot_from(awake), Direction::Downlink)
    }

    /// The DRX cycle of a UE that sleeps between its on-durations now; none while it listens for more after
    /// data.
    pub(crate) fn sleeps(&self, drx: Option<&DrxConfig>, now: Time) -> Option<Span> {
        drx.filter(|_| now >= self.awake_until).map(|drx| drx.cycle)
    }

    /// When it listens: from a multiple of the DRX cycle to its on-duration, and until when because of data.
    pub(crate) fn listening(&self) -> (Span, Time) {
        (self.drx_offset, self.awake_until)
    }

    /// It listens as another carrier of the same UE does.
    ///
    /// Standard: TS 38.321 §5.7; TS 36.321 §5.7.
    pub(crate) fn listen_as(&mut self, (offset, until): (Span, Time)) {
        self.drx_offset = offset;
        self.awake_until = self.awake_until.max(until);
    }

    /// New data in either direction: the UE listens on for a while.
    fn stay_awake(&mut self, plan: &CellPlan, now: Time) {
        self.carriers.on_block(now);
        if let Some(drx) = &plan.config.drx {
            self.awake_until = now.saturating_add(drx.inactivity);
        }
    }

    /// The receiver has tried to decode a block that arrived with this SINR. None when it was
    /// given up meanwhile.
    pub(crate) fn decode(
        &mut self,
        plan: &CellPlan,
        (direction, process): (Direction, u8),
        sinr_db: f64,
        probe: &mut impl Probe,
    ) -> Option<Decoding> {
        let LegConfig { ue, cell, .. } = self.config;
        let resources = plan.resources(direction);
        let half = self.half_mut(direction);
        let shape = half.harq.process(process).shape;
        let judgement = Judgement {
            harq: &plan.config.harq,
            fixed: plan.config.fixed_errors,
            sinr_db,
        };
        let code = || resources.code(usize::from(shape.scheme), shape.symbols, shape.units);
        let decoding = half
            .harq
            .decode(process, &judgement, code, &mut half.draws)?;
        if decoding.is_first
            && let Adaptation::Reports(reports) = &plan.config.adaptation
        {
            half.outer_loop
                .on_feedback(&reports.outer_loop, decoding.is_ok);
        }
        debug_assert!(
            !(decoding.is_ok && decoding.is_lost) && (!decoding.is_new || decoding.is_ok),
            "a block is decoded and lost: {decoding:?}"
        );
        half.counters.lost_blocks += u64::from(decoding.is_lost);
        debug_assert!(
            half.counters.lost_blocks + half.counters.retransmissions <= half.counters.blocks,
            "more blocks were lost or repeated than sent: {:?}",
            half.counters
        );
        if probe.wants_transport_blocks(cell) {
            let block = half.harq.process(process);
            let occupied = resources.occupied(shape.symbols, shape.units);
            let scheme = resources.scheme(usize::from(shape.scheme));
            probe.transport_block(TransportBlockRow {
                time_s: plan.frame.start_of(block.slot),
                cell,
                ue,
                direction,
                sinr_db,
                cqi: u32::from(block.cqi),
                mcs: scheme.mcs.index,
                size_bytes: shape.bytes,
                n_prb: occupied.resource_blocks,
                symbols: u32::from(occupied.symbols),
                layers: scheme.layers,
                process: u32::from(process),
                round: block.round(),
                is_ok: decoding.is_ok,
            });
        }
        Some(decoding)
    }

    /// Radio link failure: nothing is under way any more, and the UE is without service until
    /// `until`. The contents of blocks go to `lost`, by direction.
    pub(crate) fn fail(&mut self, until: Time, lost: &mut [Vec<ContentId>; 2]) {
        self.unserved_until = until;
        self.down.harq.clear(&mut lost[Direction::Downlink.index()]);
        self.up.harq.clear(&mut lost[Direction::Uplink.index()]);
    }
}
