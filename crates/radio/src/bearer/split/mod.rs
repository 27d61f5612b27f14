//! A split bearer: what waits at PDCP, and which leg takes how much of it.
//!
//! ```text
//!           base station with PDCP                     other base station                UE
//! take ─► waiting ─► number ─► RLC of leg 0 ─ pull ──────────────────────────────► RLC ─► PDCP
//!            │                                                                            ▲
//!            └─► number ─► Hosting ── link ──► Corresponding ─► RLC of leg 1 ─ pull ─► RLC ┘
//! ```
//!
//! A packet gets its COUNT as it is given to a leg. The first leg takes what waits when its cell has a grant for it;
//! the other one gets what its base station has asked for. In the uplink each leg takes what waits as it is granted.
//!
//! Standard: TS 37.340 §4.2.2; TS 38.323 §5.2.1; TS 38.425 §5.4.

mod choice;
mod copies;
mod duplication;
mod node;
mod openings;
mod release;
mod shown;
mod work;

pub(crate) use node::{
    close_secondary, hold_secondary, last_far, leave_secondary, manage_secondary, open_secondary,
};
pub(super) use node::{drop_all, note_far, wait_again};
pub(super) use release::release;
pub(crate) use shown::shown;
pub(crate) use work::{
    SplitBearer, carried, leg_numbered, on_late_uplink, split, uses_further_legs,
};

use super::rlc_leg::RlcLegs;
use crate::config::{BearerConfig, LEG_NUMBERS, LegId, SplitConfig};
use crate::pdcp::Ledger;
use crate::rlc::Sdu;
use crate::user_plane::{Corresponding, DeliveryStatus, Hosting, ServedRate};
use copies::Copies;
use fadeout_core::{Direction, DrbId, FlowId, PacketId, PacketPool, Ring, Span, Time, Wake};
use openings::Openings;

/// Number of the first leg, at the base station with PDCP. Further carriers of that are legs from 2 on.
const NEAR: u8 = 0;
/// Number of the leg at the other base station.
const FAR: u8 = 1;

/// Something for each leg, by its number.
type ByLeg<T> = [T; LEG_NUMBERS];
/// Statuses that may be on their way.
const STATUSES: usize = 64;

/// Something that one base station of a split bearer sends to the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub bearer: DrbId,
    pub kind: FrameKind,
    pub number: u64,
    /// Bytes.
    pub size: u32,
    /// Whose packet is in it, or for whose sake it is sent.
    pub flow: FlowId,
}

/// What is in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// DL USER DATA with a PDU, to the other base station.
    Downlink,
    /// The same without one: it asks for a status.
    Poll,
    /// The same: what need not be sent any more, because it was confirmed on the other leg.
    Discard,
    /// DL DATA DELIVERY STATUS, from it.
    Status,
    /// An uplink PDU that it has received.
    Uplink,
    /// A message of it: its link to the UE has failed.
    Failure,
    /// An SDU that the source of a handover sends, and the target is to have too.
    Copy,
}

/// Bytes of a frame without a PDU: a usual size.
const CONTROL_FRAME: u32 = 60;

/// A packet without a COUNT.
#[derive(Debug, Clone, Copy, Default)]
struct Fresh {
    entered_at: Time,
    packet: PacketId,
    /// Bytes of the IP packet.
    size: u32,
}

/// A packet that may go to the other base station next.
#[derive(Debug, Clone, Copy)]
struct Next {
    /// Bytes with PDCP's header.
    size: u32,
    /// Since when it waits at PDCP; none while the base station is busy with it.
    waits_since: Option<Time>,
}

impl Next {
    /// Whether it does not wait at PDCP yet.
    fn is_early(&self) -> bool {
        self.waits_since.is_none()
    }
}

/// What waits at PDCP of one end.
#[derive(Debug, Default)]
struct Waiting {
    /// To be sent again, oldest first: goes before the others.
    again: Ring<Sdu>,
    fresh: Ring<Fresh>,
    /// Of both, with PDCP's headers.
    bytes: u64,
}

/// A frame that the other base station is busy with.
#[derive(Debug, Clone, Copy, Default)]
struct Arrival {
    ready_at: Time,
    number: u64,
    is_poll: bool,
}

/// What a leg was given in a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// PDUs.
    pub packets: u64,
    /// Their bytes, with PDCP's headers.
    pub bytes: u64,
    /// Those that another leg had too, and first.
    pub copies: u64,
    /// PDUs that it discarded unsent: another leg had confirmed them, or they were too old.
    pub discarded: u64,
    /// PDUs that arrived over it and were of no use: they were there, or given up.
    pub useless: u64,
}

impl Carried {
    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
}

/// The part of a bearer that only those on several legs have.
#[derive(Debug)]
pub(crate) struct Split {
    config: SplitConfig,
    /// Bytes that may wait at PDCP.
    most: u64,
    header: u32,
    discard_timer: Option<Span>,
    /// COUNTs that may be under way: half of the SN space.
    sn_window: u32,
    /// By direction.
    waiting: [Waiting; 2],
    /// By direction: where the PDUs are that go to several legs.
    copies: [Option<Box<Copies>>; 2],
    /// Copies for the other base station that it has not asked for, and their bytes.
    pending: Ring<Sdu>,
    pending_bytes: u64,
    /// What the other base station was told last that it need not send, and when.
    discards_told: u64,
    discards_told_at: Time,
    /// By direction and number of the leg.
    carried: [ByLeg<Carried>; 2],
    hosting: Hosting,
    corresponding: Corresponding,
    /// Of the downlink, at the base station with PDCP.
    near_rate: ServedRate,
    /// Bytes in a second that the cells of both legs serve the bearer with, as far as is known.
    rates: [u64; 2],
    /// When what waits here is looked at again.
    look_at: Time,
    arrivals: Ring<Arrival>,
    /// Statuses and uplink PDUs on links.
    statuses: Ring<DeliveryStatus>,
    uplink: Ring<Sdu>,
    /// The same of base stations that were secondary ones before.
    late: Vec<Ring<Sdu>>,
    /// The further leg comes and goes, as the network says.
    pub(super) stays: bool,
    /// The further leg that was connected last.
    last_far: Option<LegId>,
    openings: Openings,
    /// By number of the leg: it has failed, and its RLC waits for what the master's base station does.
    is_suspended: ByLeg<bool>,
    /// By direction and number of the leg: duplication is activated for it.
    is_active: [ByLeg<bool>; 2],
    /// The flow that spoke last.
    flow: FlowId,
    /// By direction: so many further COUNTs stay within half of the SN space, whatever becomes of what legs have.
    open: [u32; 2],
    wake: Wake,
}

impl Split {
    pub(super) fn new(bearer: &BearerConfig, config: SplitConfig) -> Split {
        Split {
            config,
            most: bearer.rlc.buffer.0,
            header: bearer.pdcp.header(),
            discard_timer: bearer.pdcp.discard_timer,
            sn_window: 1 << (bearer.pdcp.sn_bits - 1),
            waiting: Default::default(),
            copies: config.duplicates.map(|duplicates| {
                duplicates.then(|| Box::new(Copies::new(bearer.is_acknowledged())))
            }),
            pending: Ring::new(),
            pending_bytes: 0,
            discards_told: 0,
            discards_told_at: Time::ZERO,
            carried: Default::default(),
            hosting: Hosting::new(&config.flow_control),
            corresponding: Corresponding::new(&config.flow_control),
            near_rate: ServedRate::default(),
            rates: [choice::UNKNOWN_RATE; 2],
            look_at: Time::ZERO,
            arrivals: Ring::new(),
            statuses: Ring::new(),
            uplink: Ring::new(),
            late: Vec::new(),
            stays: false,
            last_far: None,
            openings: Openings::new(),
            is_suspended: [false; LEG_NUMBERS],
            is_active: [[true; LEG_NUMBERS]; 2],
            flow: FlowId::default(),
            open: [0; 2],
            wake: Wake::default(),
        }
    }

    /// PDCP takes a packet, which waits. False when there is no room for it.
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        at: Time,
        direction: Direction,
        packet: PacketId,
        (pool, legs): (&PacketPool, &RlcLegs),
    ) -> bool {
        let size = pool[packet].wire_len();
        let bytes = u64::from(size + self.header);
        let has_room = match self.duplicates(direction) {
            true => self.has_room_on_a_leg(bytes, (at, direction), legs),
            false => {
                // With one leg what RLC has and has not sent counts as it does without a split.
                let queued = match self.is_alone() {
                    true => legs.primary.ends[direction.index()].rlc.queued().0,
                    false => 0,
                };
                self.waiting[direction.index()].bytes + queued + bytes <= self.most
            }
        };
        let waiting = &mut self.waiting[direction.index()];
        if has_room {
            self.flow = pool[packet].flow;
            waiting.bytes += bytes;
            waiting.fresh.push(Fresh {
                entered_at: at,
                packet,
                size,
            });
            waiting.assert_conserved(self.header);
        }
        has_room
    }

    /// Whether a leg is at the other base station.
    #[inline]
    pub(super) fn is_far(&self, leg: u8) -> bool {
        self.config.leg == Some(leg)
    }

    /// Whether what the base station with PDCP sends on a leg goes to the other one first.
    #[inline]
    fn goes_far(&self, (leg, direction): (u8, Direction)) -> bool {
        direction == Direction::Downlink && self.is_far(leg)
    }

    /// The numbers of its legs.
    fn numbers(&self) -> impl Iterator<Item = u8> + use<> {
        let beside = self.config.leg.into_iter();
        std::iter::once(NEAR).chain(beside.chain(self.config.carriers.numbers()))
    }

    /// Whether each PDU of a direction goes to several legs.
    #[inline]
    pub(super) fn duplicates(&self, direction: Direction) -> bool {
        self.copies[direction.index()].is_some()
    }

    /// Whether there is no further leg, as far as the base station with PDCP knows.
    #[inline]
    fn is_alone(&self) -> bool {
        let far = (FAR, Direction::Downlink);
        self.openings.down_until(far).is_never()
    }

    /// Whether RLC of a leg sends nothing until it starts afresh.
    #[inline]
    pub(super) fn is_suspended(&self, leg: u8) -> bool {
        self.is_suspended[usize::from(leg)]
    }

    /// RLC of a leg sends nothing until it starts afresh.
    pub(super) fn suspend(&mut self, leg: u8, is_suspended: bool) {
        self.is_suspended[usize::from(leg)] = is_suspended;
    }

    /// What the legs were given, by their number.
    pub(super) fn carried(&self, direction: Direction) -> &ByLeg<Carried> {
        &self.carried[direction.index()]
    }

    /// A block of a leg has taken so many bytes of the downlink.
    pub(super) fn on_block(&mut self, now: Time, leg: u8, bytes: u32, legs: &RlcLegs) {
        let queued = legs.get(leg).ends[Direction::Downlink.index()]
            .rlc
            .queued()
            .0;
        if leg == FAR {
            self.corresponding.on_block(now, bytes, queued > 0);
        } else if leg == NEAR {
            let waiting = self.waiting[Direction::Downlink.index()].bytes;
            self.near_rate.on_block(now, bytes, queued + waiting > 0);
            self.note_rates();
        }
    }

    /// A PDU that came over a leg was of no use.
    pub(super) fn note_useless(&mut self, (leg, direction): (u8, Direction), count: u64) {
        self.carried[direction.index()][usize::from(leg)].useless += count;
    }

    /// The leg of primaryPath; another one while that one has failed.
    #[inline]
    fn primary(&self, now: Time, direction: Direction) -> u8 {
        match self.openings.are_all_open(now, direction) {
            true => self.config.primary,
            false => self.open_primary(now, direction),
        }
    }

    #[cold]
    fn open_primary(&self, now: Time, direction: Direction) -> u8 {
        let primary = self.config.primary;
        let mut legs = std::iter::once(primary).chain(self.numbers());
        let up = legs.find(|&leg| !self.openings.is_closed(now, (leg, direction)));
        up.unwrap_or(primary)
    }

    /// Whether a leg may have copies in a direction, which is duplicated: duplication is activated for it. The leg of
    /// primaryPath always has them.
    ///
    /// Standard: TS 38.323 §5.11.1; TS 38.321 §5.10.
    fn may_copy(&self, now: Time, (leg, direction): (u8, Direction)) -> bool {
        let is_active = self.is_active[direction.index()][usize::from(leg)];
        let is_open = !self.openings.is_closed(now, (leg, direction));
        is_open && (is_active || leg == self.primary(now, direction))
    }

    /// Whether no leg but the primary one may be given what waits, however much that is: it is the first one.
    #[inline]
    pub(super) fn uses_first_only(&self, now: Time, direction: Direction) -> bool {
        self.config.thresholds[direction.index()].is_none()
            && self.config.primary == NEAR
            && self.openings.are_all_open(now, direction)
            && !self.duplicates(direction)
    }

    /// Whether a leg may be given what waits: the primary one always, another one when enough waits.
    ///
    /// Standard: TS 38.323 §5.2.1.
    #[inline]
    fn may_use(&self, now: Time, leg: u8, direction: Direction, legs: &RlcLegs) -> bool {
        if self.openings.is_closed(now, (leg, direction)) {
            return false;
        }
        if leg == self.primary(now, direction) {
            return true;
        }
        match self.duplicates(direction) {
            true => self.may_copy(now, (leg, direction)),
            false => self.has_enough(now, leg, direction, legs),
        }
    }

    /// Whether as much waits as it takes for a leg that is not the primary one.
    #[inline]
    fn has_enough(&self, now: Time, leg: u8, direction: Direction, legs: &RlcLegs) -> bool {
        // Without duplication legs over further carriers have nothing to do (splitSecondaryPath is the other one).
        if leg > FAR {
            return false;
        }
        let Some(threshold) = self.config.thresholds[direction.index()] else {
            return false;
        };
        if threshold.0 == 0 {
            return true;
        }
        let pending = match direction {
            // What the other base station has is not known here.
            Direction::Downlink => legs.primary.ends[direction.index()].rlc.backlog(now).new,
            Direction::Uplink => legs
                .iter()
                .map(|leg| leg.ends[direction.index()].rlc.backlog(now).new)
                .sum(),
        };
        self.waiting[direction.index()].bytes + pending >= threshold.0
    }

    /// The bytes that wait at PDCP and that a leg may send, with the headers they will have there.
    ///
    /// Standard: TS 38.323 §5.6.
    #[inline]
    pub(super) fn backlog(&self, now: Time, leg: u8, direction: Direction, legs: &RlcLegs) -> u64 {
        match self.waiting[direction.index()].bytes {
            0 => 0,
            _ => self.open_backlog(now, leg, direction, legs),
        }
    }

    #[inline(never)]
    fn open_backlog(&self, now: Time, leg: u8, direction: Direction, legs: &RlcLegs) -> u64 {
        let waiting = &self.waiting[direction.index()];
        if self.goes_far((leg, direction)) || !self.may_use(now, leg, direction, legs) {
            return 0;
        }
        let rlc = &legs.get(leg).ends[direction.index()].rlc;
        waiting.bytes + u64::from(rlc.headers()) * waiting.len() as u64
    }

    /// What waits at PDCP: bytes, and packets without a COUNT.
    pub(super) fn waiting(&self, direction: Direction) -> (u64, u32) {
        let waiting = &self.waiting[direction.index()];
        let pending = match direction {
            Direction::Downlink => self.pending_bytes,
            Direction::Uplink => 0,
        };
        (waiting.bytes + pending, waiting.fresh.len() as u32)
    }

    /// When a packet has waited long enough at PDCP.
    pub(super) fn discard_at(&self, direction: Direction, legs: &RlcLegs) -> Time {
        let fresh = self.fresh_discarded_at(direction);
        match self.duplicates(direction) {
            true => fresh.min(self.copies_discarded_at(direction, legs)),
            false => fresh,
        }
    }

    fn fresh_discarded_at(&self, direction: Direction) -> Time {
        let first = self.waiting[direction.index()].fresh.front();
        match (self.discard_timer, first) {
            (Some(timer), Some(first)) => first.entered_at.saturating_add(timer),
            _ => Time::NEVER,
        }
    }

    /// Packets that have waited too long go to `lost`.
    pub(super) fn discard(&mut self, now: Time, direction: Direction, lost: &mut Vec<PacketId>) {
        while self.fresh_discarded_at(direction) <= now {
            let waiting = &mut self.waiting[direction.index()];
            let Some(first) = waiting.fresh.pop() else {
                return;
            };
            waiting.bytes -= u64::from(first.size + self.header);
            lost.push(first.packet);
        }
        self.waiting[direction.index()].assert_conserved(self.header);
    }

    /// When the other base station is ready with the next frame.
    #[inline]
    pub(super) fn arrival_at(&self) -> Option<Time> {
        self.arrivals.front().map(|arrival| arrival.ready_at)
    }

    /// Whether nothing that has a COUNT waits, or is between the base stations.
    pub(super) fn is_settled(&self, direction: Direction) -> bool {
        let is_clear = match direction {
            Direction::Downlink => self.hosting.oldest().is_none() && self.pending.is_empty(),
            Direction::Uplink => self.uplink.is_empty(),
        };
        is_clear && self.waiting[direction.index()].again.is_empty()
    }
}

impl Waiting {
    fn len(&self) -> usize {
        self.again.len() + self.fresh.len()
    }

    /// Asserts that the count of bytes is the sum over the PDUs that wait. Looks at the whole
    /// of a short list.
    fn assert_conserved(&self, header: u32) {
        let again = (self.again.first()..self.again.end()).map(|n| self.again[n].size);
        let fresh = (self.fresh.first()..self.fresh.end()).map(|n| self.fresh[n].size + header);
        debug_assert!(
            self.len() > 16 || again.chain(fresh).map(u64::from).sum::<u64>() == self.bytes,
            "{} bytes wait, and what waits has others",
            self.bytes
        );
        debug_assert!(
            self.len() > 0 || self.bytes == 0,
            "{} bytes wait in no packet",
            self.bytes
        );
    }

    /// Forgets what need not be sent again by now: the receiver's status report says that it is there.
    #[cold]
    fn forget_delivered(&mut self, ledger: &Ledger) {
        while let Some(&sdu) = self.again.front()
            && !ledger.holds(sdu.serial)
        {
            self.again.pop();
            self.bytes -= u64::from(sdu.size);
        }
    }

    /// The one that goes next.
    #[inline]
    fn next(&mut self, header: u32, ledger: &Ledger) -> Option<Next> {
        if !self.again.is_empty() {
            self.forget_delivered(ledger);
        }
        let (size, waits_since) = match self.again.front() {
            Some(sdu) => (sdu.size, sdu.entered_at),
            None => {
                let fresh = self.fresh.front()?;
                (fresh.size + header, fresh.entered_at)
            }
        };
        Some(Next {
            size,
            waits_since: Some(waits_since),
        })
    }

    /// Takes what has a COUNT and is to be sent again.
    #[inline]
    fn pop_again(&mut self, ledger: &Ledger) -> Option<Sdu> {
        if self.again.is_empty() {
            return None;
        }
        self.forget_delivered(ledger);
        let sdu = self.again.pop()?;
        self.bytes -= u64::from(sdu.size);
        Some(sdu)
    }
}
