//! Split bearer: packets that wait at PDCP, and their distribution over the legs.
//!
//! ```text
//!           base station with PDCP                      secondary node                   UE
//! take ─► waiting ─► number ─► RLC of leg 0 ─ pull ──────────────────────────────► RLC ─► PDCP
//!            │                                                                            ▲
//!            └─► number ─► Hosting ── link ──► Corresponding ─► RLC of leg 1 ─ pull ─► RLC ┘
//! ```
//!
//! A packet gets its COUNT when PDCP gives it to a leg. In the downlink, the first leg sends
//! waiting packets when its cell grants resources. PDCP gives packets to the secondary node up to
//! its desired buffer size. In the uplink, each leg sends waiting packets when it gets a grant.
//!
//! Standard: TS 37.340 §4.2.2; TS 38.323 §5.2.1; TS 38.425 §5.4.

mod choice;
mod copies;
mod duplication;
mod interface_frame;
mod node;
mod openings;
mod release;
mod work;

pub(crate) use interface_frame::interface_frame;
pub(crate) use node::{
    close_secondary, hold_secondary, last_secondary, leave_secondary, manage_secondary,
    open_secondary,
};
pub(super) use node::{drop_all, record_secondary, wait_again};
pub(super) use release::release;
pub(crate) use work::{
    SplitBearer, carried, leg_numbered, may_use_other_legs, on_late_uplink, split,
};

use super::rlc_leg::RlcLegs;
use crate::config::{BearerConfig, LEG_NUMBERS, LegId, SplitConfig};
use crate::pdcp::Ledger;
use crate::rlc::Sdu;
use crate::user_plane::{Corresponding, DeliveryStatus, Hosting, ServedRate};
use copies::DuplicatedPdus;
use fadeout_core::{Direction, DrbId, FlowId, PacketId, PacketPool, Ring, Span, Time, Wake};
use openings::Openings;

/// Number of the first leg, at the base station with PDCP. Legs on further carriers of that base
/// station have numbers from 2.
const FIRST: u8 = 0;
/// Number of the secondary leg, at the secondary node.
const SECONDARY: u8 = 1;

/// Array with one value for each leg number.
type ByLeg<T> = [T; LEG_NUMBERS];
/// Maximum number of delivery statuses that may be on links at one time.
const STATUSES: usize = 64;

/// Frame that one base station of a split bearer sends to the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub bearer: DrbId,
    pub kind: FrameKind,
    pub number: u64,
    /// Size of the frame in bytes.
    pub size: u32,
    /// Flow of the packet in the frame. A frame without a packet has the flow of the bearer's
    /// latest packet.
    pub flow: FlowId,
}

/// Content of a frame between the base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// DL USER DATA with a PDU, to the secondary node.
    Downlink,
    /// DL USER DATA without a PDU, which polls the secondary node for a status.
    Poll,
    /// DL USER DATA without a PDU. The frame reports the PDUs that need not be sent any more,
    /// because another leg has confirmed them.
    Discard,
    /// DL DATA DELIVERY STATUS, from the secondary node.
    Status,
    /// Uplink PDU that the secondary node has received.
    Uplink,
    /// Message of the secondary node that the node's link to the UE has failed.
    Failure,
    /// Copy of an SDU, from the source of a handover to the target.
    Copy,
}

/// Usual size of a frame without a PDU, in bytes.
const CONTROL_FRAME: u32 = 60;

/// Packet that waits at PDCP and has no COUNT yet.
#[derive(Debug, Clone, Copy, Default)]
struct WaitingPacket {
    entered_at: Time,
    packet: PacketId,
    /// Size of the IP packet in bytes.
    size: u32,
}

/// Next packet that may go to the secondary node.
#[derive(Debug, Clone, Copy)]
struct NextPacket {
    /// Size of the packet in bytes, with the PDCP header.
    size: u32,
    /// Time since which the packet waits at PDCP. `None` while the base station is still processing
    /// the packet.
    waits_since: Option<Time>,
}

impl NextPacket {
    /// Returns true if the base station is still processing the packet.
    fn is_early(&self) -> bool {
        self.waits_since.is_none()
    }
}

/// Packets that wait at the PDCP entity of one end.
#[derive(Debug, Default)]
struct Waiting {
    /// SDUs to be sent again, oldest first. PDCP sends them before packets without a COUNT.
    again: Ring<Sdu>,
    fresh: Ring<WaitingPacket>,
    /// Number of bytes of all waiting packets, with PDCP headers.
    bytes: u64,
}

/// Frame that the secondary node is processing.
#[derive(Debug, Clone, Copy, Default)]
struct PendingFrame {
    ready_at: Time,
    number: u64,
    is_poll: bool,
}

/// Counters of the data that a leg was given in a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// Number of PDUs given to the leg.
    pub packets: u64,
    /// Number of bytes of the PDUs given to the leg, with PDCP headers.
    pub bytes: u64,
    /// Number of PDUs given to the leg that another leg already had.
    pub copies: u64,
    /// Number of PDUs that the leg discarded unsent. Another leg had confirmed the PDU, or the
    /// PDU's discard timer had expired.
    pub discarded: u64,
    /// Number of PDUs that arrived over the leg but were useless. The receiver had received or
    /// given up these PDUs before.
    pub useless: u64,
}

impl Carried {
    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
}

/// State of a bearer with several legs.
#[derive(Debug)]
pub(crate) struct Split {
    config: SplitConfig,
    /// Maximum number of bytes that may wait at PDCP.
    most: u64,
    header: u32,
    discard_timer: Option<Span>,
    /// Maximum number of unconfirmed COUNT values: half of the SN space.
    sn_window: u32,
    /// Packets that wait at PDCP, by direction.
    waiting: [Waiting; 2],
    /// Legs that have each PDU, by direction. `None` in a direction without duplication.
    copies: [Option<Box<DuplicatedPdus>>; 2],
    /// Copies that wait until the secondary node's desired buffer size allows them, and the bytes
    /// of these copies.
    pending: Ring<Sdu>,
    pending_bytes: u64,
    /// Serial number in the latest discard frame, and the time of that frame. The secondary node
    /// need not send PDUs below this number.
    discards_reported: u64,
    discards_reported_at: Time,
    /// Counts of the data given to each leg, by direction and leg number.
    carried: [ByLeg<Carried>; 2],
    hosting: Hosting,
    corresponding: Corresponding,
    /// Rate at which the cell of the base station with PDCP serves the bearer's downlink.
    first_leg_rate: ServedRate,
    /// Measured or assumed rates of the bearer on the first two legs, in bytes per second.
    rates: [u64; 2],
    /// Time of the next comparison of the legs' delays.
    compare_at: Time,
    arrivals: Ring<PendingFrame>,
    /// Delivery statuses and uplink PDUs on links between the base stations.
    statuses: Ring<DeliveryStatus>,
    uplink: Ring<Sdu>,
    /// Uplink PDUs on links from former secondary nodes.
    late: Vec<Ring<Sdu>>,
    /// True if the network adds and releases the secondary leg during the run.
    pub(super) is_managed: bool,
    /// Secondary leg that was connected last. `None` if there was none.
    last_secondary: Option<LegId>,
    openings: Openings,
    /// True if the leg has failed and its RLC waits for the master node's reaction, by leg number.
    is_suspended: ByLeg<bool>,
    /// True if duplication is activated, by direction and leg number.
    is_active: [ByLeg<bool>; 2],
    /// Flow of the bearer's latest packet.
    flow: FlowId,
    /// Number of further COUNT values that surely fit into half of the SN space, by direction.
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
                duplicates.then(|| Box::new(DuplicatedPdus::new(bearer.is_acknowledged())))
            }),
            pending: Ring::new(),
            pending_bytes: 0,
            discards_reported: 0,
            discards_reported_at: Time::ZERO,
            carried: Default::default(),
            hosting: Hosting::new(&config.flow_control),
            corresponding: Corresponding::new(&config.flow_control),
            first_leg_rate: ServedRate::default(),
            rates: [choice::UNKNOWN_RATE; 2],
            compare_at: Time::ZERO,
            arrivals: Ring::new(),
            statuses: Ring::new(),
            uplink: Ring::new(),
            late: Vec::new(),
            is_managed: false,
            last_secondary: None,
            openings: Openings::new(),
            is_suspended: [false; LEG_NUMBERS],
            is_active: [[true; LEG_NUMBERS]; 2],
            flow: FlowId::default(),
            open: [0; 2],
            wake: Wake::default(),
        }
    }

    /// Adds a packet to the packets that wait at PDCP. Returns false if the buffer is full.
    #[inline(always)]
    pub(super) fn queue_packet(
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
                // With a single leg, unsent data in RLC also counts towards the buffer, as on a
                // bearer that is not split.
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
            waiting.fresh.push(WaitingPacket {
                entered_at: at,
                packet,
                size,
            });
            waiting.assert_conserved(self.header);
        }
        has_room
    }

    /// Returns true if a leg is at the secondary node.
    #[inline]
    pub(super) fn is_secondary(&self, leg: u8) -> bool {
        self.config.leg == Some(leg)
    }

    /// Returns true if data of a leg and direction is sent over the link between the base stations.
    #[inline]
    fn goes_to_node(&self, (leg, direction): (u8, Direction)) -> bool {
        direction == Direction::Downlink && self.is_secondary(leg)
    }

    /// Returns the numbers of the bearer's legs.
    fn numbers(&self) -> impl Iterator<Item = u8> + use<> {
        let secondary = self.config.leg.into_iter();
        std::iter::once(FIRST).chain(secondary.chain(self.config.carriers.numbers()))
    }

    /// Returns true if PDCP gives each PDU of a direction to several legs.
    #[inline]
    pub(super) fn duplicates(&self, direction: Direction) -> bool {
        self.copies[direction.index()].is_some()
    }

    /// Returns true if there is no secondary leg, as far as the base station with PDCP knows.
    #[inline]
    fn is_alone(&self) -> bool {
        let secondary = (SECONDARY, Direction::Downlink);
        self.openings.down_until(secondary).is_never()
    }

    /// Returns true if RLC of a leg sends nothing until it is re-established.
    #[inline]
    pub(super) fn is_suspended(&self, leg: u8) -> bool {
        self.is_suspended[usize::from(leg)]
    }

    /// Sets whether RLC of a leg sends nothing until it is re-established.
    pub(super) fn suspend(&mut self, leg: u8, is_suspended: bool) {
        self.is_suspended[usize::from(leg)] = is_suspended;
    }

    /// Returns the counts of the data given to the legs in a direction, by leg number.
    pub(super) fn carried(&self, direction: Direction) -> &ByLeg<Carried> {
        &self.carried[direction.index()]
    }

    /// Records that a downlink transport block of a leg has taken `bytes` from RLC.
    pub(super) fn on_block(&mut self, now: Time, leg: u8, bytes: u32, legs: &RlcLegs) {
        let queued = legs.get(leg).ends[Direction::Downlink.index()]
            .rlc
            .queued()
            .0;
        if leg == SECONDARY {
            self.corresponding.on_block(now, bytes, queued > 0);
        } else if leg == FIRST {
            let waiting = self.waiting[Direction::Downlink.index()].bytes;
            self.first_leg_rate
                .on_block(now, bytes, queued + waiting > 0);
            self.update_rates();
        }
    }

    /// Records useless PDUs that arrived over a leg.
    pub(super) fn record_useless(&mut self, (leg, direction): (u8, Direction), count: u64) {
        self.carried[direction.index()][usize::from(leg)].useless += count;
    }

    /// Returns the leg of primaryPath. While that leg has failed, returns another leg.
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

    /// Returns true if a leg may be given copies in a direction with duplication. Duplication must
    /// be activated for the leg. The leg of primaryPath is always given copies.
    ///
    /// Standard: TS 38.323 §5.11.1; TS 38.321 §5.10.
    fn may_copy(&self, now: Time, (leg, direction): (u8, Direction)) -> bool {
        let is_active = self.is_active[direction.index()][usize::from(leg)];
        let is_open = !self.openings.is_closed(now, (leg, direction));
        is_open && (is_active || leg == self.primary(now, direction))
    }

    /// Returns true if only the first leg may be given data, for any amount of waiting data. The
    /// first leg is then the primary leg.
    #[inline]
    pub(super) fn uses_first_only(&self, now: Time, direction: Direction) -> bool {
        self.config.thresholds[direction.index()].is_none()
            && self.config.primary == FIRST
            && self.openings.are_all_open(now, direction)
            && !self.duplicates(direction)
    }

    /// Returns true if a leg may be given waiting data. The primary leg may always be given data.
    /// Another leg may if the waiting data reaches the threshold.
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

    /// Returns true if the waiting data reaches the threshold for legs other than the primary leg.
    #[inline]
    fn has_enough(&self, now: Time, leg: u8, direction: Direction, legs: &RlcLegs) -> bool {
        // Without duplication, legs on secondary carriers carry no data. The leg of
        // splitSecondaryPath is the leg at the secondary node.
        if leg > SECONDARY {
            return false;
        }
        let Some(threshold) = self.config.thresholds[direction.index()] else {
            return false;
        };
        if threshold.0 == 0 {
            return true;
        }
        let pending = match direction {
            // The base station with PDCP does not know how much data waits at the secondary node,
            // so only the first leg's data counts.
            Direction::Downlink => legs.primary.ends[direction.index()].rlc.backlog(now).new,
            Direction::Uplink => legs
                .iter()
                .map(|leg| leg.ends[direction.index()].rlc.backlog(now).new)
                .sum(),
        };
        self.waiting[direction.index()].bytes + pending >= threshold.0
    }

    /// Returns the number of bytes that wait at PDCP and that a leg may send, including the RLC
    /// headers that will be added.
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
        if self.goes_to_node((leg, direction)) || !self.may_use(now, leg, direction, legs) {
            return 0;
        }
        let rlc = &legs.get(leg).ends[direction.index()].rlc;
        waiting.bytes + u64::from(rlc.headers()) * waiting.len() as u64
    }

    /// Returns the number of bytes that wait at PDCP, and the number of waiting packets without a
    /// COUNT.
    pub(super) fn waiting(&self, direction: Direction) -> (u64, u32) {
        let waiting = &self.waiting[direction.index()];
        let pending = match direction {
            Direction::Downlink => self.pending_bytes,
            Direction::Uplink => 0,
        };
        (waiting.bytes + pending, waiting.fresh.len() as u32)
    }

    /// Returns the time at which the discard timer of a packet at PDCP expires.
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

    /// Moves packets whose discard timer has expired into `lost`.
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

    /// Returns the time at which the secondary node has processed the next frame. `None` if the
    /// node is processing no frame.
    #[inline]
    pub(super) fn arrival_at(&self) -> Option<Time> {
        self.arrivals.front().map(|arrival| arrival.ready_at)
    }

    /// Returns true if no packet with a COUNT waits at PDCP or is on a link between the base
    /// stations.
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

    /// Asserts that `bytes` is the sum of the sizes of the waiting PDUs. Long lists are not
    /// checked, to save time.
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

    /// Removes SDUs that need not be sent again, because the receiver's status report lists them as
    /// received.
    #[cold]
    fn forget_delivered(&mut self, ledger: &Ledger) {
        while let Some(&sdu) = self.again.front()
            && !ledger.holds(sdu.serial)
        {
            self.again.pop();
            self.bytes -= u64::from(sdu.size);
        }
    }

    /// Returns the next packet to be sent. `None` if nothing waits.
    #[inline]
    fn next_packet(&mut self, header: u32, ledger: &Ledger) -> Option<NextPacket> {
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
        Some(NextPacket {
            size,
            waits_since: Some(waits_since),
        })
    }

    /// Removes and returns the next SDU that is to be sent again. `None` if no SDU is to be sent
    /// again.
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
