//! A UE's radio interface as its cell and itself know it.

use super::cell::Cell;
use super::harq::Harq;
use super::link::Link;
use super::report::Report;
use super::{CellConfig, DirectionCounters, UeConfig};
use crate::phy::link_adaptation::OuterLoop;
use fadeout_core::math::from_db;
use fadeout_core::random::Stream;
use fadeout_core::{BearerId, CellId, Direction, Span, Time, Wake};

/// No slot: something has to happen first.
pub(super) const NO_SLOT: u64 = u64::MAX;

/// One direction of a UE.
#[derive(Debug)]
pub(super) struct UeHalf {
    pub harq: Harq,
    /// Whether it is in its cell's list of active UEs.
    pub is_active: bool,
    /// Whether data waits for a HARQ process.
    pub is_stalled: bool,
    /// First slot that it may have something for.
    pub ready: u64,
    /// Slot of its latest block: a UE has one in each slot at most.
    pub last_slot: u64,
    pub outer_loop: OuterLoop,
    pub report: Report,
    pub draws: Stream,
    pub counters: DirectionCounters,
}

#[derive(Debug)]
pub(super) struct Ue {
    pub config: UeConfig,
    /// Serving cell; none before it was found.
    pub cell: Option<CellId>,
    pub link: Link,
    /// Noise of its receiver over thermal noise.
    pub noise_factor: f64,
    pub down: UeHalf,
    pub up: UeHalf,
    pub access: UplinkAccess,
    /// Its bearers, most urgent first.
    pub bearers: Vec<BearerId>,
    /// From a multiple of the DRX cycle to its on-duration.
    pub drx_offset: Span,
    /// Until when it listens because of its latest new data.
    pub awake_until: Time,
    /// Until when it is without service, after a radio link failure.
    pub unserved_until: Time,
}

/// How the UE gets at uplink slots: what it did, and what the base station knows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UplinkAccess {
    /// Slots from a multiple of the period to its opportunities for scheduling requests.
    pub offset: u32,
    /// The same for its configured grant, if it has one.
    pub occasion: u32,
    pub has_occasions: bool,
    /// A scheduling request is under way or waits for its opportunity, since `requested_at`, and
    /// no grant has followed.
    pub is_requested: bool,
    /// When the latest one is or was sent; zero before the first.
    pub requested_at: Time,
    /// Slots granted and not yet used.
    pub outstanding: u32,
    /// What the UE last reported to have left.
    pub reported: u64,
    /// When it asks again unless a grant comes (retxBSR-Timer).
    pub repeat_at: Time,
    pub repeat: Wake,
    /// Base station: a request was heard and not answered.
    pub is_asked: bool,
    /// Base station: bytes that wait, as far as reports told, less what was granted since.
    pub known: u64,
    /// Base station: all bytes granted so far.
    pub granted: u64,
    /// Base station: `granted` as of the latest block with a report.
    pub reported_granted: u64,
}

impl UeHalf {
    fn new(processes: u8, draws: Stream) -> UeHalf {
        UeHalf {
            harq: Harq::new(processes),
            is_active: false,
            is_stalled: false,
            ready: NO_SLOT,
            last_slot: NO_SLOT,
            outer_loop: OuterLoop::default(),
            report: Report::UNKNOWN,
            draws,
            counters: DirectionCounters::default(),
        }
    }

    /// The block of a process goes out.
    pub(super) fn count_block(&mut self, process: u8) {
        self.counters.blocks += 1;
        self.counters.retransmissions += u64::from(self.harq.process(process).round() > 0);
    }
}

impl UplinkAccess {
    /// Nothing is under way any more, and nothing known.
    pub(super) fn reset(&mut self) {
        *self = UplinkAccess {
            offset: self.offset,
            occasion: self.occasion,
            has_occasions: self.has_occasions,
            requested_at: self.requested_at,
            repeat_at: self.repeat_at,
            repeat: self.repeat,
            granted: self.granted,
            reported_granted: self.granted,
            ..UplinkAccess::default()
        };
    }
}

impl Ue {
    pub(super) fn new(index: usize, config: UeConfig, link: Link, seed: u64) -> Ue {
        let draws = |domain| Stream::new(seed, domain, index as u64);
        Ue {
            noise_factor: from_db(config.noise_figure.0),
            config,
            cell: None,
            link,
            down: UeHalf::new(0, draws("radio.downlink")),
            up: UeHalf::new(0, draws("radio.uplink")),
            access: UplinkAccess::default(),
            bearers: Vec::new(),
            drx_offset: Span::ZERO,
            awake_until: Time::ZERO,
            unserved_until: Time::ZERO,
        }
    }

    /// The UE connects to a cell.
    pub(super) fn attach(&mut self, index: usize, id: CellId, cell: &CellConfig, seed: u64) {
        self.cell = Some(id);
        self.down.harq = Harq::new(cell.harq.downlink_processes);
        self.up.harq = Harq::new(cell.harq.uplink_processes);
        let mut offsets = Stream::new(seed, "radio.request", index as u64);
        let drawn = offsets.below(u64::from(cell.requests.period)) as u32;
        self.access.offset = cell.requests.offset.unwrap_or(drawn);
        if let Some(drx) = &cell.drx {
            let mut draws = Stream::new(seed, "radio.drx", index as u64);
            self.drx_offset = Span::from_nanos(draws.below(drx.cycle.as_nanos()));
        }
        if let Some(grant) = cell.configured_grant {
            self.access.occasion = index as u32 % grant.period;
        }
    }

    /// The first slot from `slot` on in which the UE listens for new data.
    pub(super) fn listens_from(&self, cell: &Cell, slot: u64) -> u64 {
        let Some(drx) = &cell.config.drx else {
            return slot;
        };
        let start = cell.frame.start_of(slot);
        let awake = drx.awake_from(start, self.drx_offset, self.awake_until);
        cell.frame.slot_from(awake)
    }

    /// New data in either direction: the UE listens on for a while.
    pub(super) fn stay_awake(&mut self, cell: &CellConfig, now: Time) {
        if let Some(drx) = &cell.drx {
            self.awake_until = now.saturating_add(drx.inactivity);
        }
    }

    pub(super) fn half(&self, direction: Direction) -> &UeHalf {
        match direction {
            Direction::Downlink => &self.down,
            Direction::Uplink => &self.up,
        }
    }
    pub(super) fn half_mut(&mut self, direction: Direction) -> &mut UeHalf {
        match direction {
            Direction::Downlink => &mut self.down,
            Direction::Uplink => &mut self.up,
        }
    }
}
