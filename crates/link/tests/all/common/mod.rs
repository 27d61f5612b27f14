//! Link under test with its packet pool, and a probe that stores its rows.
#![allow(dead_code, reason = "each test file uses its own part")]

use fadeout_core::{
    DropCause, DropRow, FlowId, LinkId, Packet, PacketId, PacketPool, Probe, QueueRow, Rate,
    Segment, Span, Time,
};
use fadeout_link::{Link, LinkConfig};

/// Probe that stores drops and queue rows.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) drops: Vec<DropRow>,
    pub(crate) queues: Vec<QueueRow>,
}

impl Probe for Log {
    fn dropped(&mut self, row: DropRow) {
        self.drops.push(row);
    }
    fn wants_queue(&self, _now: Time, _link: LinkId) -> bool {
        true
    }
    fn queue(&mut self, row: QueueRow) {
        self.queues.push(row);
    }
}

/// Link that a test controls. The flow id identifies packets: the n-th packet sent is flow n.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) link: Link,
    pub(crate) pool: PacketPool,
    pub(crate) log: Log,
    pub(crate) arrived: Vec<(Time, u32)>,
    sent: u32,
    out: Vec<PacketId>,
}

impl Bench {
    pub(crate) fn new(config: LinkConfig) -> Bench {
        Bench::seeded(config, 1)
    }

    pub(crate) fn seeded(config: LinkConfig, seed: u64) -> Bench {
        Bench {
            link: Link::new(LinkId(0), config, seed).expect("a valid link"),
            pool: PacketPool::new(),
            log: Log::default(),
            arrived: Vec::new(),
            sent: 0,
            out: Vec::new(),
        }
    }

    /// Sends a packet of `size` bytes at `now`, after all earlier events and those at `now`.
    pub(crate) fn send(&mut self, now: Time, size: u32) {
        self.run_until(now);
        let segment = Segment {
            len: size - 40,
            ..Segment::default()
        };
        let packet = Packet {
            flow: FlowId(self.sent),
            segment,
            ..Packet::default()
        };
        self.insert(now, packet);
    }

    /// Inserts a packet as [`send`](Self::send) does, but before other events due at `now`.
    pub(crate) fn insert(&mut self, now: Time, packet: Packet) {
        self.sent += 1;
        let packet = self.pool.insert(packet);
        self.link
            .on_packet(now, packet, &mut self.pool, &mut self.log);
    }

    /// Delivers everything due by `until`.
    pub(crate) fn run_until(&mut self, until: Time) {
        while !self.link.wake_at().is_never() && self.link.wake_at() <= until {
            let now = self.link.wake_at();
            self.link
                .on_wake(now, &mut self.pool, &mut self.out, &mut self.log);
            for id in self.out.drain(..) {
                self.arrived.push((now, self.pool.remove(id).flow.0));
            }
        }
    }

    /// Delivers all packets that ever arrive.
    pub(crate) fn drain(&mut self) {
        self.run_until(Time::from_nanos(u64::MAX - 1));
    }

    /// Asserts that each packet that entered has left, was dropped or is inside, and that the pool
    /// has no others.
    pub(crate) fn assert_conserved(&self) {
        let stats = self.link.stats();
        let inside = self.link.packets_inside() as u64;
        assert_eq!(
            stats.packets_in,
            stats.packets_out + stats.dropped_total() + inside
        );
        assert_eq!(self.pool.len() as u64, inside);
    }

    pub(crate) fn dropped(&self, cause: DropCause) -> Vec<u32> {
        self.log
            .drops
            .iter()
            .filter(|row| row.cause == cause)
            .map(|row| row.flow.0)
            .collect()
    }
}

pub(crate) fn mbps(n: u64) -> Rate {
    Rate::from_bits_per_sec(n * 1_000_000)
}

pub(crate) fn us(n: u64) -> Time {
    Time::ZERO + Span::from_micros(n)
}

pub(crate) fn ms(n: u64) -> Time {
    us(n * 1000)
}
