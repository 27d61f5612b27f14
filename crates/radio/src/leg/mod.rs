//! A leg: one UE in one cell, as the cell and the UE know it.
//!
//! HARQ of both directions, what is known of the channel and which scheme follows from it, how the
//! UE gets at the uplink, when it listens, and which bearers fill its blocks. A [`Leg`] knows no
//! other UE, no scheduler and no RLC: it is told of slots, measurements and backlogs, and says what
//! it would send and when it next may have something.

mod adaptation;
mod content;
mod downlink;
mod harq_entity;
mod multiplex;
mod request;
#[cfg(test)]
mod tests;
mod uplink;

pub(crate) use adaptation::UplinkAir;
pub(crate) use content::{Content, ContentId, Contents};
pub(crate) use harq_entity::{Decoding, HarqProcess};
pub(crate) use multiplex::RlcQueues;
pub(crate) use request::Repeat;
pub(crate) use uplink::{Block, status_format};

use crate::config::{Adaptation, LegId, NO_SLOT, Rnti, Shape};
use crate::phy::link_adaptation::OuterLoop;
use crate::plan::CellPlan;
use adaptation::Report;
use fadeout_core::random::Stream;
use fadeout_core::{BearerId, CellId, Direction, Probe, Span, Time, TransportBlockRow, UeId};
use harq_entity::{HarqEntity, Judgement};
use multiplex::Channel;
use request::UplinkRequests;

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

/// One UE in one cell.
#[derive(Debug)]
pub(crate) struct Leg {
    pub config: LegConfig,
    down: LegHalf,
    up: LegHalf,
    requests: UplinkRequests,
    /// The bearers with RLC on it, most urgent first.
    channels: Vec<Channel>,
    /// From a multiple of the DRX cycle to its on-duration.
    drx_offset: Span,
    /// Until when it listens because of its latest new data.
    awake_until: Time,
    /// Until when it is without service, after a radio link failure.
    unserved_until: Time,
}

/// One direction of a leg.
#[derive(Debug)]
pub(crate) struct LegHalf {
    pub(crate) harq: HarqEntity,
    /// Whether data waits for a HARQ process.
    is_stalled: bool,
    /// Slot of its latest block: a UE has one in each slot at most.
    last_slot: u64,
    outer_loop: OuterLoop,
    report: Report,
    draws: Stream,
    counters: BlockCounters,
}

/// What one direction of a leg has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BlockCounters {
    /// Transport blocks sent, retransmissions included.
    pub blocks: u64,
    /// Retransmissions of HARQ among them.
    pub retransmissions: u64,
    /// Transport blocks given up after their last transmission.
    pub lost_blocks: u64,
}

impl LegHalf {
    fn new(processes: u8, draws: Stream) -> LegHalf {
        LegHalf {
            harq: HarqEntity::new(processes),
            is_stalled: false,
            last_slot: NO_SLOT,
            outer_loop: OuterLoop::default(),
            report: Report::UNKNOWN,
            draws,
            counters: BlockCounters::default(),
        }
    }
}

impl Leg {
    /// A UE connects to a cell.
    pub(crate) fn new(config: LegConfig, plan: &CellPlan, seed: u64) -> Leg {
        // A UE's first leg has the UE's own streams.
        let entity = (u64::from(config.number) << 32) + u64::from(config.ue.0);
        let stream = |domain| Stream::new(seed, domain, entity);
        let harq = &plan.config.harq;
        let drx_offset = plan.config.drx.map_or(Span::ZERO, |drx| {
            Span::from_nanos(stream("radio.drx").below(drx.cycle.as_nanos()))
        });
        Leg {
            down: LegHalf::new(harq.downlink_processes, stream("radio.downlink")),
            up: LegHalf::new(harq.uplink_processes, stream("radio.uplink")),
            requests: UplinkRequests::new(config.ue, plan, stream("radio.request")),
            channels: Vec::new(),
            drx_offset,
            awake_until: Time::ZERO,
            unserved_until: Time::ZERO,
            config,
        }
    }

    /// Its offset for occasions of the configured grant, in slots.
    pub(crate) fn occasion(&self) -> u32 {
        self.requests.occasion
    }

    /// The cell keeps its occasions of the configured grant free.
    pub(crate) fn keep_occasions(&mut self) {
        self.requests.has_occasions = true;
    }

    pub(crate) fn half(&self, direction: Direction) -> &LegHalf {
        match direction {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }
    fn half_mut(&mut self, direction: Direction) -> &mut LegHalf {
        match direction {
            Direction::Downlink => &mut self.down,
            Direction::Uplink => &mut self.up,
        }
    }

    pub(crate) fn counters(&self, direction: Direction) -> &BlockCounters {
        &self.half(direction).counters
    }

    /// The block of a HARQ process.
    pub(crate) fn block(&self, direction: Direction, process: u8) -> &HarqProcess {
        self.half(direction).harq.process(process)
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
        let served_from = plan.frame.slot_from(now.max(self.unserved_until));
        slot.max(served_from)
    }

    /// The first slot from `slot` on in which the UE listens for new data.
    fn listens_from(&self, plan: &CellPlan, slot: u64) -> u64 {
        let Some(drx) = &plan.config.drx else {
            return slot;
        };
        let start = plan.frame.start_of(slot);
        let awake = drx.awake_from(start, self.drx_offset, self.awake_until);
        plan.frame.slot_from(awake)
    }

    /// New data in either direction: the UE listens on for a while.
    fn stay_awake(&mut self, plan: &CellPlan, now: Time) {
        if let Some(drx) = &plan.config.drx {
            self.awake_until = now.saturating_add(drx.inactivity);
        }
    }

    /// The block to be sent again first of those that may be, and its resources; none when
    /// slot `target` is taken already.
    pub(crate) fn repetition(
        &self,
        direction: Direction,
        slot: u64,
        target: u64,
    ) -> Option<(u8, Shape)> {
        let half = self.half(direction);
        let process = half.harq.waiting(slot)?;
        (half.last_slot != target).then(|| (process, half.harq.process(process).shape))
    }

    /// A block that waited gets slot `target`.
    pub(crate) fn resume(&mut self, direction: Direction, process: u8, target: u64) {
        let half = self.half_mut(direction);
        half.harq.resume(process);
        half.last_slot = target;
    }

    /// A block goes out in `slot`; whatever becomes of it, its process is not used before slot
    /// `again_from`.
    pub(crate) fn sent(&mut self, direction: Direction, process: u8, slot: u64, again_from: u64) {
        let half = self.half_mut(direction);
        half.harq.sent(process, slot, again_from);
        half.counters.blocks += 1;
        half.counters.retransmissions += u64::from(half.harq.process(process).round() > 0);
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
        half.counters.lost_blocks += u64::from(decoding.is_lost);
        if probe.wants_transport_blocks(cell) {
            let block = half.harq.process(process);
            let occupied = resources.occupied(shape.symbols, shape.units);
            probe.transport_block(TransportBlockRow {
                time_s: plan.frame.start_of(block.slot),
                cell,
                ue,
                direction,
                sinr_db,
                cqi: u32::from(block.cqi),
                mcs: resources.scheme(usize::from(shape.scheme)).index,
                size_bytes: shape.bytes,
                n_prb: occupied.resource_blocks,
                symbols: u32::from(occupied.symbols),
                process: u32::from(process),
                round: block.round(),
                is_ok: decoding.is_ok,
            });
        }
        Some(decoding)
    }

    /// Takes the content of a block that was delivered or given up.
    pub(crate) fn take_content(&mut self, direction: Direction, process: u8) -> Option<ContentId> {
        self.half_mut(direction)
            .harq
            .process_mut(process)
            .content
            .take()
    }

    /// Whether no block of a direction is under way or waits.
    pub(crate) fn is_idle(&self, direction: Direction) -> bool {
        self.half(direction).harq.is_idle()
    }

    /// Radio link failure: nothing is under way any more, and the UE is without service until
    /// `until`. The contents of blocks go to `lost`, by direction.
    pub(crate) fn fail(&mut self, until: Time, lost: &mut [Vec<ContentId>; 2]) {
        self.unserved_until = until;
        self.requests.reset();
        self.down.harq.clear(&mut lost[Direction::Downlink.index()]);
        self.up.harq.clear(&mut lost[Direction::Uplink.index()]);
    }

    /// Its bearers, most urgent first.
    pub(crate) fn bearers(&self) -> impl Iterator<Item = BearerId> + '_ {
        self.channels.iter().map(|channel| channel.bearer)
    }

    /// Its bearer at a position of that order.
    pub(crate) fn bearer(&self, position: usize) -> Option<BearerId> {
        self.channels.get(position).map(|channel| channel.bearer)
    }
}
