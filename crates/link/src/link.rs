//! One direction of a link.

mod as_arrived;
mod parting;
mod plain;
mod sending;
mod steering;
mod yielding;

use crate::blockage::Blockages;
use crate::delay::Delay;
use crate::jitter::Jitter;
use crate::loss::Loss;
use crate::managed::WaitingPackets;
use crate::queue::{Discipline, DropTail, Queued};
use crate::streams::Streams;
use crate::transit::{Carried, Transit};
use crate::transmission::Transmission;
use crate::transmitter::Transmitter;
use crate::{
    BlockConfig, BlockageConfig, BlockageEffect, BlockageInterval, Changes, DelayConfig, Limit,
    LinkError, LinkStats, LossConfig, QueueConfig, RateConfig,
};
use fadeout_core::{
    BlockageRow, Bytes, DropCause, DropRow, LinkId, PacketId, PacketPool, Probe, QueueRow, Rate,
    Span, Time, UnderWay,
};
use sending::{check_for_arrivals, slowing, transmitter};

/// Parameters of one direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// Sending rate over time.
    pub rate: RateConfig,
    /// Transport blocks at that rate. `None` to send bit by bit. A trace has its own blocks.
    pub blocks: Option<BlockConfig>,
    /// Delay from the end of a packet's transmission to its arrival at the far end.
    pub delay: DelayConfig,
    /// Largest extra delay. The extra delay of each packet is random, uniform from zero to this
    /// value.
    pub jitter: Span,
    /// True if packets keep their order. With jitter or a shorter delay a packet could overtake the
    /// one ahead. Such a packet then arrives together with the one ahead.
    pub keeps_order: bool,
    /// Time at which a change of rate or delay takes effect.
    pub changes: Changes,
    /// Framing bytes of each packet on the link, for example the 14 bytes of an Ethernet header.
    pub framing: Bytes,
    /// Queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Loss on arrival.
    pub loss: LossConfig,
    /// Intervals during which the link is blocked. `None` without blockages.
    pub blockage: Option<BlockageConfig>,
    /// True if the link can be closed and its waiting packets removed ([`Link::close`]).
    pub yields: bool,
}

impl Default for LinkConfig {
    /// Returns a link that forwards everything at once.
    fn default() -> Self {
        LinkConfig {
            rate: RateConfig::Constant(Rate::UNLIMITED),
            blocks: None,
            delay: DelayConfig::Constant(Span::ZERO),
            jitter: Span::ZERO,
            keeps_order: true,
            changes: Changes::AtOnce,
            framing: Bytes(0),
            queue: QueueConfig::default(),
            loss: LossConfig::None,
            blockage: None,
            yields: false,
        }
    }
}

/// One direction of a link. Packets enter at one end and leave later at the other, or are lost.
/// They leave in order unless they may overtake.
///
/// Arriving packets may be dropped for these causes, in this order: blockage that drops on arrival,
/// random loss, hold limit of a blockage, queue limit. A drop-tail queue gives an admitted packet
/// its departure from the transmitter at once. Other disciplines keep the packet until the
/// transmitter can begin it, in [`on_wake`](Self::on_wake).
///
/// After the transmitter, delay and jitter give the packet its arrival. It waits in the delay line,
/// whose head arrives next. The link has one wake-up for both events, at the earlier time.
#[derive(Debug)]
pub struct Link {
    id: LinkId,
    pub(crate) transmitter: Transmitter,
    queue: DropTail,
    /// Queue whose packets wait until the transmitter takes them. `None` for drop-tail on a link
    /// that does not yield.
    managed: Option<Box<WaitingPackets>>,
    /// Time at which the transmitter can begin the next packet of the managed queue.
    serve_at: Time,
    counts_delay_line: bool,
    delay: Delay,
    jitter: Jitter,
    keeps_order: bool,
    changes: Changes,
    /// Delay of the previous packet, if packets keep rate and delay of their arrival.
    delay_before: Span,
    framing: u32,
    loss: Loss,
    blockages: Blockages,
    effect: Option<BlockageEffect>,
    /// Delay of a plain link. `None` for other links.
    plain_delay: Option<Span>,
    transit: Transit,
    stats: LinkStats,
}

impl Link {
    /// Builds a link. Its random streams are functions of `seed` and `id` alone.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range. The message has the expected range.
    pub fn new(id: LinkId, config: LinkConfig, seed: u64) -> Result<Link, LinkError> {
        Link::of_entity(u64::from(id.0), id, config, seed)
    }

    /// Builds a link as [`new`](Self::new) does, with random streams of `entity` instead of `id`.
    /// So the draws of a link do not depend on the number of links before it.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn of_entity(
        entity: u64,
        id: LinkId,
        config: LinkConfig,
        seed: u64,
    ) -> Result<Link, LinkError> {
        let streams = Streams { seed, entity };
        let LinkConfig {
            rate,
            blocks,
            delay,
            jitter,
            keeps_order,
            changes,
            framing,
            queue,
            loss,
            blockage,
            yields,
        } = config;
        let QueueConfig {
            limit,
            counts_delay_line,
            discipline,
        } = queue;
        check_limit("the queue limit", limit)?;
        let effect = blockage.as_ref().map(|blockage| blockage.effect);
        if let Some(BlockageEffect::Held { limit }) = effect {
            check_limit("the hold limit", limit)?;
        }
        let blockages =
            Blockages::new(blockage.map(|b| b.intervals).unwrap_or_default().as_slice())?;
        let slowing = slowing(&blockages, effect);
        if changes == Changes::ForArrivals {
            check_for_arrivals(&rate, blocks, &slowing)?;
        }
        let transmitter = transmitter((&rate, blocks), slowing, streams, &blockages)?;
        let discipline = Discipline::new(discipline, limit, streams.stream("link.aqm"))?;
        let managed =
            (yields || discipline.is_some()).then(|| Box::new(WaitingPackets::new(discipline)));
        if changes == Changes::ForArrivals && managed.is_some() {
            let found = "a queue that decides after a packet's arrival";
            return Err(LinkError::ForArrivals(found, "drop-tail"));
        }
        let mut link = Link {
            id,
            transmitter,
            queue: DropTail::new(limit),
            managed,
            serve_at: Time::NEVER,
            counts_delay_line,
            delay: Delay::new(&delay)?,
            jitter: Jitter::new(jitter, streams),
            keeps_order,
            changes,
            delay_before: Span::ZERO,
            // Framing is limited to the largest length of a packet.
            framing: framing.0.min(65_535) as u32,
            loss: Loss::new(loss, streams)?,
            blockages,
            effect,
            plain_delay: None,
            transit: Transit::new(keeps_order),
            stats: LinkStats::default(),
        };
        link.plain_delay = link.constant_delay();
        Ok(link)
    }

    /// Processes a packet that arrives at the near end. It is queued or dropped. If it is dropped,
    /// its slot is freed and the drop is reported to the probe.
    pub fn on_packet(
        &mut self,
        now: Time,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let size = self.count_in(&pool[packet]);
        match self.plain_delay {
            Some(delay) => self.admit_plainly(now, (packet, size), delay, pool, probe),
            None => self.admit(now, (packet, size), pool, probe),
        }
        self.assert_conserved();
        self.report_queue(now, probe);
    }

    /// Queues or drops an arrival.
    #[inline(never)]
    fn admit(
        &mut self,
        now: Time,
        (packet, size): (PacketId, u32),
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        if self.managed.is_some() {
            let arrival = Queued {
                arrived_at: now,
                packet,
                size,
            };
            return self.enqueue(arrival, pool, probe);
        }
        self.transit.leave_queue(now);
        let inside = self.transit.queued();
        match self.drop_cause(now, inside, size) {
            Some(cause) => self.drop_packet(now, packet, cause, pool, probe),
            None => self.carry(now, packet, size),
        }
    }

    /// Pushes the packets that reach the far end by `now` to `out`, in order, and drops those that
    /// were lost in transit.
    pub fn on_wake(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        out: &mut Vec<PacketId>,
        probe: &mut impl Probe,
    ) {
        self.serve(now, pool, probe);
        while let Some(carried) = self.transit.pop_arrived(now) {
            if carried.is_lost {
                self.drop_packet(now, carried.packet, DropCause::Blocked, pool, probe);
            } else {
                self.stats.count_out(carried.size);
                out.push(carried.packet);
            }
        }
        self.assert_conserved();
        debug_assert!(self.wake_at() > now, "what is due at {now} was left undone");
    }

    /// Returns the time of the next [`on_wake`](Self::on_wake). [`Time::NEVER`] if the link is
    /// idle.
    #[inline]
    pub fn wake_at(&self) -> Time {
        self.transit.next_arrival_at().min(self.serve_at)
    }

    /// Returns the packet that reaches the far end after `ahead` others. `None` if there is no such
    /// packet, or if packets may overtake each other.
    #[inline]
    pub fn upcoming(&self, ahead: u64) -> Option<PacketId> {
        self.transit.upcoming(ahead)
    }

    /// Delays all data that is not yet in a block until `at`, as a phone without a radio connection
    /// does. Only a link that sends in [`blocks`](LinkConfig::blocks) can wait.
    pub fn open_at(&mut self, at: Time) {
        if let Transmitter::Blocks(blocks) = &mut self.transmitter {
            blocks.open_at(at);
        }
    }

    /// Returns the time at which the transmitter has sent everything admitted so far.
    pub fn busy_until(&self) -> Time {
        self.transmitter.free_at()
    }

    /// Returns the link's id.
    pub fn id(&self) -> LinkId {
        self.id
    }

    /// Returns the packets that count against the queue's limit at `now`. They wait, are in
    /// transmission, or are in the delay line if the limit counts those.
    pub fn queued_packets(&mut self, now: Time) -> u64 {
        self.transit.leave_queue(now);
        self.inside().0
    }

    /// Returns the bytes that count against the queue's limit at `now`.
    pub fn queued_bytes(&mut self, now: Time) -> Bytes {
        self.transit.leave_queue(now);
        Bytes(self.inside().1)
    }

    /// Returns the time until the transmitter has sent everything queued, if the discipline drops
    /// nothing.
    pub fn queue_delay(&self, now: Time) -> Span {
        let backlog = self.managed.as_ref().map_or(0, |managed| managed.bytes());
        if backlog == 0 {
            return self.transmitter.free_at().since(now);
        }
        let size = u32::try_from(backlog).unwrap_or(u32::MAX);
        self.transmitter.free_after(now, size).since(now)
    }

    /// Returns the number of packets inside the link: queued or in the delay line.
    pub fn packets_inside(&self) -> usize {
        let waiting = self.managed.as_ref().map_or(0, |managed| managed.packets());
        self.transit.packets() + waiting as usize
    }

    /// Returns the totals of packets and bytes that the link has carried and lost.
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// Returns the blockages, disjoint and in order.
    pub fn blockages(&self) -> &[BlockageInterval] {
        self.blockages.all()
    }

    /// Reports every blockage that begins before `until` to the probe. An end after `until` is cut.
    pub fn report_blockages(&self, until: Time, probe: &mut impl Probe) {
        for blockage in self
            .blockages
            .all()
            .iter()
            .take_while(|blockage| blockage.start < until)
        {
            probe.blockage(BlockageRow {
                start_s: blockage.start,
                end_s: blockage.end.min(until),
                link: self.id,
                rate_mbps: blockage.rate.as_mbps(),
                loss_db: blockage.loss_db,
            });
        }
    }

    /// Asserts that all packets that entered have left, were lost or removed, or are inside. The
    /// far end of a parted link counts no entering packets.
    #[inline]
    fn assert_conserved(&self) {
        debug_assert!(
            self.stats.packets_in == 0
                || self.stats.packets_in
                    == self.stats.packets_gone() + self.packets_inside() as u64,
            "packets are not conserved: {:?} and {} inside",
            self.stats,
            self.packets_inside()
        );
        debug_assert!(
            self.managed
                .as_ref()
                .is_none_or(|managed| managed.dropped.is_empty()),
            "a packet that was dropped was not seen to"
        );
        debug_assert!(
            self.managed.is_some() || self.serve_at.is_never(),
            "a packet waits for the transmitter in no queue"
        );
    }

    /// Counts a packet that enters. Returns its size on the link.
    #[inline(always)]
    fn count_in(&mut self, packet: &UnderWay) -> u32 {
        let size = packet.wire_len() + self.framing;
        self.stats.count_in(size);
        size
    }

    /// Reports the queue after an arrival to the probe.
    #[inline(always)]
    fn report_queue(&self, now: Time, probe: &mut impl Probe) {
        if probe.wants_queue(now, self.id) {
            probe.queue(self.row_of_queue(now));
        }
    }

    fn row_of_queue(&self, now: Time) -> QueueRow {
        let (packets, bytes) = self.inside();
        QueueRow {
            time_s: now,
            link: self.id,
            queued_packets: u32::try_from(packets).unwrap_or(u32::MAX),
            queued_bytes: bytes,
            delay_s: self.queue_delay(now),
        }
    }

    /// Returns a row of the queue table for `now`.
    pub fn queue_row(&mut self, now: Time) -> QueueRow {
        self.transit.leave_queue(now);
        self.row_of_queue(now)
    }

    /// Returns packets and bytes that count against the limit.
    #[inline]
    fn inside(&self) -> (u64, u64) {
        let (packets, bytes) = self.transit.queued();
        self.managed.as_ref().map_or((packets, bytes), |managed| {
            (packets + managed.packets(), bytes + managed.bytes())
        })
    }

    /// Adds an arrival to the managed queue, or drops it.
    #[inline(never)]
    fn enqueue(&mut self, arrival: Queued, pool: &mut PacketPool, probe: &mut impl Probe) {
        let Queued {
            arrived_at: now,
            packet,
            size,
        } = arrival;
        self.serve(now, pool, probe);
        self.transit.leave_queue(now);
        let mut cause = self.drop_cause(now, self.inside(), size);
        let Some(mut managed) = self.managed.take() else {
            return;
        };
        let makes_room = cause == Some(DropCause::QueueFull) && managed.makes_room();
        if makes_room {
            cause = None;
        }
        if cause.is_none() && !managed.enqueue(arrival, pool, &mut self.stats.packets_marked) {
            cause = Some(DropCause::Aqm);
        }
        if let Some(cause) = cause {
            self.drop_packet(now, packet, cause, pool, probe);
        }
        if makes_room {
            let (packets, bytes) = self.transit.queued();
            while !self
                .queue
                .holds(packets + managed.packets(), bytes + managed.bytes())
                && managed.make_room()
            {}
            for packet in managed.dropped.drain(..) {
                self.drop_packet(now, packet, DropCause::QueueFull, pool, probe);
            }
        }
        if self.serve_at.is_never() {
            self.serve_at = managed.serve_at(now, &mut self.transmitter);
        }
        self.managed = Some(managed);
        self.serve(now, pool, probe);
    }

    /// Passes the packets that can begin by `now` to the transmitter.
    #[inline]
    fn serve(&mut self, now: Time, pool: &mut PacketPool, probe: &mut impl Probe) {
        if self.serve_at <= now {
            self.serve_managed(now, pool, probe);
        }
    }

    #[inline(never)]
    fn serve_managed(&mut self, now: Time, pool: &mut PacketPool, probe: &mut impl Probe) {
        let Some(mut managed) = self.managed.take() else {
            return;
        };
        while self.serve_at <= now {
            let at = self.serve_at;
            let next = managed.dequeue(at, pool, &mut self.stats.packets_marked);
            for packet in managed.dropped.drain(..) {
                self.drop_packet(at, packet, DropCause::Aqm, pool, probe);
            }
            let mut since = at;
            if let Some(queued) = next {
                since = queued.arrived_at;
                self.carry(queued.arrived_at, queued.packet, queued.size);
            }
            self.serve_at = managed.serve_at(since, &mut self.transmitter);
        }
        self.managed = Some(managed);
    }

    /// Returns the cause for which an arrival is dropped. `None` if it is admitted.
    #[inline(always)]
    fn drop_cause(
        &mut self,
        now: Time,
        (packets, bytes): (u64, u64),
        size: u32,
    ) -> Option<DropCause> {
        // Loss is drawn for every arrival, so that the loss of the n-th packet does not depend on
        // blockages and queue.
        let is_lost = self.loss.is_lost(now);
        let mut may_hold = true;
        match self.effect {
            Some(BlockageEffect::DroppedOnArrival) if self.blockages.is_blocked_at(now) => {
                return Some(DropCause::Blocked);
            }
            Some(BlockageEffect::Held { limit: Some(limit) })
                if self.blockages.is_blocked_at(now) =>
            {
                may_hold = limit.admits(packets, bytes, size);
            }
            _ => {}
        }
        if is_lost {
            Some(DropCause::Random)
        } else if !may_hold {
            Some(DropCause::HoldFull)
        } else if !self.queue.admits(packets, bytes, size) {
            Some(DropCause::QueueFull)
        } else {
            None
        }
    }

    #[inline(always)]
    fn carry(&mut self, now: Time, packet: PacketId, size: u32) {
        // The fields are copied one by one. A copy of the whole struct would be slower, because it
        // would wait for the fields just written.
        let (first, last, departs_at, delay) = match self.changes {
            Changes::AtOnce => {
                let Transmission {
                    first,
                    last,
                    departs_at,
                } = self.transmitter.transmit(now, size);
                let delay = self.delay.delay_at(departs_at);
                let delay = delay.saturating_add(self.jitter.draw());
                (first, last, departs_at, delay)
            }
            Changes::ForArrivals => {
                let (on_air, delay) = self.transmit_as_arrived(now, size);
                (on_air.first, on_air.last, on_air.departs_at, delay)
            }
        };
        let is_lost = self.effect == Some(BlockageEffect::Lost)
            && !departs_at.is_never()
            && self.blockages.hits(first, last);
        debug_assert!(
            departs_at >= now,
            "a packet departs before it arrives, at {now}"
        );
        debug_assert!(
            first <= last && last <= departs_at || departs_at.is_never(),
            "a packet is on the air from {first} to {last} and departs at {departs_at}"
        );
        let arrives_at = departs_at.saturating_add(delay);
        let leaves_queue_at = if self.counts_delay_line {
            arrives_at
        } else {
            departs_at
        };
        self.transit.push(Carried {
            leaves_queue_at,
            arrives_at,
            packet,
            size,
            is_lost,
        });
    }

    #[cold]
    fn drop_packet(
        &mut self,
        now: Time,
        packet: PacketId,
        cause: DropCause,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let lost = pool.remove(packet);
        self.stats.count_drop(cause);
        probe.dropped(DropRow {
            time_s: now,
            link: self.id,
            flow: lost.flow,
            size_bytes: lost.wire_len(),
            cause,
        });
    }
}

fn check_limit(name: &'static str, limit: Option<Limit>) -> Result<(), LinkError> {
    limit.map_or(Ok(()), |limit| limit.check(name))
}
