//! A leg: one UE in one cell, as the cell and the UE know it.
//!
//! A leg contains HARQ of both directions, the latest channel reports with the MCS chosen from
//! them, and uplink access. It also contains the times at which the UE listens, and the bearers
//! that fill transport blocks. A [`Leg`] knows no other UE, no scheduler and no RLC. The caller
//! passes slots, measurements and backlogs to the leg. The leg returns its next transport block,
//! and the next slot in which it may have a transport block.

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
pub(crate) use multiplex::{LogicalChannels, RlcQueues};
pub(crate) use request::{Repeat, UplinkRequests};
pub(crate) use uplink::Block;

use crate::config::{Adaptation, Gaps, HighestModulation, LegId, NO_SLOT, Rnti, Shape};
use crate::mac::DrxConfig;
use crate::phy::link_adaptation::OuterLoop;
use crate::phy::sub_band::BandSet;
use crate::plan::CellPlan;
use adaptation::ChannelReport;
use fadeout_core::random::Stream;
use fadeout_core::{
    CellId, Direction, DrbId, Probe, Span, Time, TransportBlockRow, UeId, prefetch_first,
};
use harq_entity::{HarqEntity, Judgement};

/// Number of bytes of a leg that a cell reads in every slot.
const PREFETCHED_BYTES: usize = 384;

/// Identifiers of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LegConfig {
    pub id: LegId,
    pub ue: UeId,
    /// Number of the leg among the legs of its UE.
    pub number: u8,
    pub cell: CellId,
    pub rnti: Rnti,
    pub modulation: HighestModulation,
}

/// State of one UE in one cell. Fields that a cell reads in every slot come first. The same order
/// holds in the structs below.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Leg {
    pub config: LegConfig,
    /// True if the UE was out of range at the latest evaluation of its downlink, or was not
    /// evaluated yet.
    was_out_of_range: bool,
    /// Time from a multiple of the DRX cycle to the UE's on-duration.
    drx_offset: Span,
    /// Time until which the UE listens because of its latest new data.
    awake_until: Time,
    /// Measurement gaps, in which the UE receives other carriers. `None` if the UE has no gaps.
    pub gaps: Option<Box<Gaps>>,
    /// Logical channels of the bearers with RLC on this leg.
    pub channels: LogicalChannels,
    /// MAC control elements for the UE, which are sent with the next transport blocks.
    pub controls: Vec<DuplicationControl>,
    /// Other legs that carry the same bearers.
    pub carriers: Carriers,
    down: LegHalf,
    /// Time until which the UE is without service after a radio link failure.
    unserved_until: Time,
    up: LegHalf,
}

/// Returns the bytes of the MAC control elements that wait for a UE.
#[inline]
pub(crate) fn control_bytes(leg: &Leg) -> u64 {
    if leg.controls.is_empty() {
        return 0;
    }
    let controls = leg.controls.iter();
    controls.map(|control| u64::from(control.size())).sum()
}

/// Returns the leg on which the UE requests grants and reports buffer status for this leg. Usually
/// this is the primary leg. If RLC entities are restricted to this leg's cell, it is this leg.
#[inline]
pub(crate) fn requesting_leg(leg: &Leg) -> LegId {
    leg.carriers.requesting_leg().unwrap_or(leg.config.id)
}

/// Returns the number of the RLC entity of a bearer that sends on a leg.
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
    /// Slot of the latest transport block. A UE has at most one transport block in each slot.
    last_slot: u64,
    /// True if data waits for a free HARQ process.
    is_stalled: bool,
    /// True if the UE was out of range for the latest new data, so that no MCS was possible.
    is_out_of_range: bool,
    outer_loop: OuterLoop,
    report: ChannelReport,
    draws: Stream,
    counters: BlockCounters,
}

/// Counters of one direction of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BlockCounters {
    /// Transport blocks sent, including retransmissions.
    pub blocks: u64,
    /// HARQ retransmissions among the transport blocks.
    pub retransmissions: u64,
    /// Transport blocks given up after their last transmission.
    pub lost_blocks: u64,
    /// Units of the band that the transport blocks occupied, summed over slots.
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
            report: ChannelReport::UNKNOWN,
            draws,
            counters: BlockCounters::default(),
        }
    }

    /// Records whether the UE was out of range when it could send new data.
    #[inline]
    pub(crate) fn record_range(&mut self, is_out_of_range: bool) {
        self.is_out_of_range = is_out_of_range;
    }

    /// Returns true if the UE was out of range for the latest new data.
    pub(crate) fn is_out_of_range(&self) -> bool {
        self.is_out_of_range
    }

    /// Returns the counters so far.
    pub(crate) fn counters(&self) -> &BlockCounters {
        &self.counters
    }

    /// Returns a HARQ process with its transport block.
    pub(crate) fn block(&self, process: u8) -> &HarqProcess {
        self.harq.process(process)
    }

    /// Returns the process that retransmits first in `slot`, and the resources of its block. `None`
    /// if no retransmission is due, or if slot `target` is already in use.
    pub(crate) fn repetition(&self, slot: u64, target: u64) -> Option<(u8, Shape)> {
        let process = self.harq.waiting(slot)?;
        (self.last_slot != target).then(|| (process, self.harq.process(process).shape))
    }

    /// Assigns slot `target` to a transport block that waited for its retransmission.
    pub(crate) fn resume(&mut self, process: u8, target: u64) {
        self.harq.resume(process);
        self.last_slot = target;
    }

    /// Sets the sub-bands of a transport block for this transmission.
    pub(crate) fn set_bands(&mut self, process: u8, bands: BandSet) {
        self.harq.process_mut(process).shape.bands = bands;
    }

    /// Records that a transport block is sent in `slot`. Its process is not used again before slot
    /// `again_from`.
    pub(crate) fn sent(&mut self, process: u8, slot: u64, again_from: u64) {
        self.harq.sent(process, slot, again_from);
        self.counters.blocks += 1;
        let sent = self.harq.process(process);
        self.counters.retransmissions += u64::from(sent.round() > 0);
        self.counters.units += u64::from(sent.shape.units);
    }

    /// Removes and returns the content of a transport block that was delivered or given up. `None`
    /// if the content was removed before.
    pub(crate) fn take_content(&mut self, process: u8) -> Option<ContentId> {
        self.harq.process_mut(process).content.take()
    }

    /// Returns the bytes of each new transport block that is granted and not sent yet.
    pub(crate) fn unused(&self) -> impl Iterator<Item = u32> + '_ {
        self.harq.unused()
    }

    /// Returns true if no transport block was sent without result or waits for its retransmission.
    pub(crate) fn is_idle(&self) -> bool {
        self.harq.is_idle()
    }
}

/// Returns a random stream for leg number `nth` of a UE, counted over the whole run. The first leg
/// uses the UE's own stream.
fn stream(seed: u64, domain: &'static str, ue: UeId, nth: u64) -> Stream {
    Stream::new(seed, domain, (nth << 32) + u64::from(ue.0))
}

impl Leg {
    /// Asks the processor for the fields that a cell reads in every slot.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_first(self, PREFETCHED_BYTES);
    }

    /// Creates the leg of a UE that connects to a cell. `nth` counts the UE's legs over the whole
    /// run. The random draws are those of UE `drawn_as`.
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
            channels: LogicalChannels::default(),
            carriers: Carriers::default(),
            drx_offset,
            awake_until: Time::ZERO,
            gaps: None,
            unserved_until: Time::ZERO,
            was_out_of_range: true,
            config,
        }
    }

    /// Resets the leg when the UE leaves the cell or comes back to it (MAC reset). Afterwards no
    /// transport block is under way, and the channel is unknown. The contents of the blocks are
    /// moved to `unsent`, by direction.
    ///
    /// Standard: TS 38.321 §5.12; TS 36.321 §5.9.
    pub(crate) fn reset(&mut self, unsent: &mut [Vec<ContentId>; 2]) {
        self.fail(Time::ZERO, unsent);
        self.channels = LogicalChannels::default();
        self.carriers.clear();
        self.awake_until = Time::ZERO;
        self.was_out_of_range = true;
        for half in [&mut self.down, &mut self.up] {
            half.is_stalled = false;
            half.is_out_of_range = false;
            half.outer_loop = OuterLoop::default();
            half.report = ChannelReport::UNKNOWN;
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

    /// Returns the leg of the UE's primary cell, which may be this leg.
    #[inline]
    pub(crate) fn primary(&self) -> LegId {
        self.carriers.primary().unwrap_or(self.config.id)
    }

    /// Records whether the UE is out of range at an evaluation of its downlink. Returns true if the
    /// UE was also out of range at the previous evaluation.
    #[inline]
    pub(crate) fn on_evaluation(&mut self, is_out_of_range: bool) -> bool {
        std::mem::replace(&mut self.was_out_of_range, is_out_of_range)
    }

    /// Returns the first slot in which the UE can be served, if it has data to send in `slot`. The
    /// leg is no longer marked as waiting for a free HARQ process.
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

    /// Returns the first slot, not before `slot`, that is outside all measurement gaps.
    #[inline]
    fn clear_from(&self, slot: u64, direction: Direction) -> u64 {
        match &self.gaps {
            Some(gaps) if slot != NO_SLOT => gaps.clear_from(slot, direction),
            _ => slot,
        }
    }

    /// Returns true if the UE can receive a grant or assignment in `slot`, and can send or receive
    /// the data in slot `target`.
    #[inline]
    pub(crate) fn is_reachable(&self, direction: Direction, slot: u64, target: u64) -> bool {
        self.gaps.is_none()
            || self.clear_from(slot, Direction::Downlink) == slot
                && self.clear_from(target, direction) == target
    }

    /// Returns the first slot in which a process is free again. The process waits for feedback at
    /// `decoded_at`, or after a measurement gap that covers this time.
    #[inline]
    pub(crate) fn answered_from(&self, decoded_at: Time, again_from: u64) -> u64 {
        let gaps = self.gaps.as_ref();
        let behind = gaps.and_then(|gaps| gaps.slot_after_gap(decoded_at));
        behind.map_or(again_from, |slot| again_from.max(slot))
    }

    /// Returns the first slot, not before `slot`, in which the UE listens for new data.
    fn listens_from(&self, plan: &CellPlan, slot: u64) -> u64 {
        let Some(drx) = &plan.config.drx else {
            return self.clear_from(slot, Direction::Downlink);
        };
        let start = plan.frame.start_of(slot);
        let awake = drx.awake_from(start, self.drx_offset, self.awake_until);
        self.clear_from(plan.frame.slot_from(awake), Direction::Downlink)
    }

    /// Returns the DRX cycle of a UE that sleeps between its on-durations. `None` if the UE does
    /// not use DRX, or while the UE still listens after data.
    pub(crate) fn sleeps(&self, drx: Option<&DrxConfig>, now: Time) -> Option<Span> {
        drx.filter(|_| now >= self.awake_until).map(|drx| drx.cycle)
    }

    /// Returns the time from a multiple of the DRX cycle to the on-duration, and the time until
    /// which the UE listens because of data.
    pub(crate) fn listening(&self) -> (Span, Time) {
        (self.drx_offset, self.awake_until)
    }

    /// Makes the UE listen at the same times as on another of its carriers.
    ///
    /// Standard: TS 38.321 §5.7; TS 36.321 §5.7.
    pub(crate) fn listen_as(&mut self, (offset, until): (Span, Time)) {
        self.drx_offset = offset;
        self.awake_until = self.awake_until.max(until);
    }

    /// Extends the time in which the UE listens, after new data in either direction.
    fn stay_awake(&mut self, plan: &CellPlan, now: Time) {
        self.carriers.on_block(now);
        if let Some(drx) = &plan.config.drx {
            self.awake_until = now.saturating_add(drx.inactivity);
        }
    }

    /// Decides whether the receiver decodes a transport block that arrived with this SINR in dB.
    /// `None` if the block was given up meanwhile.
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

    /// Handles a radio link failure. Afterwards no transport block is under way, and the UE has no
    /// service until `until`. The contents of the blocks are moved to `lost`, by direction.
    pub(crate) fn fail(&mut self, until: Time, lost: &mut [Vec<ContentId>; 2]) {
        self.unserved_until = until;
        self.down.harq.clear(&mut lost[Direction::Downlink.index()]);
        self.up.harq.clear(&mut lost[Direction::Uplink.index()]);
    }
}
