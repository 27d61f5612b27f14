//! Tests of a bearer without cells. The tests hand transport blocks to the receiver or lose them.

mod choice;
mod compression;
mod duplication;
mod generation;
mod split;
mod transfer;

use super::{BlockTimes, Drb, Storage};
use crate::config::{BearerConfig, Env, LegId};
use crate::pdcp::PdcpConfig;
use crate::rlc::{RlcConfig, TransportBlock};
use fadeout_core::{
    Bytes, Direction, DrbId, Packet, PacketId, PacketPool, Probe, RadioDropCause, RadioDropRow,
    Segment, Span, Time, UeId,
};

#[derive(Default)]
struct Drops(Vec<RadioDropRow>);

impl Probe for Drops {
    fn radio_dropped(&mut self, row: RadioDropRow) {
        self.0.push(row);
    }
}

struct Rig {
    drb: Drb,
    storage: Storage,
    pool: PacketPool,
    out: Vec<PacketId>,
    drops: Drops,
    now: Time,
}

const TIMES: BlockTimes = BlockTimes {
    first_at: Time::ZERO,
    last_at: Time::ZERO,
    decoded_at: Time::ZERO,
};

fn millis(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

impl Rig {
    fn new(config: BearerConfig) -> Rig {
        Rig {
            drb: Drb::new((DrbId(0), DrbId(0), 0), config, 1).expect("parameters are allowed"),
            storage: Storage::new(),
            pool: PacketPool::new(),
            out: Vec::new(),
            drops: Drops::default(),
            now: Time::ZERO,
        }
    }

    fn with_drb<T>(
        &mut self,
        act: impl FnOnce(&mut Drb, &mut Env<'_, Drops>, &mut Storage) -> T,
    ) -> T {
        let mut env = Env {
            now: self.now,
            pool: &mut self.pool,
            out: &mut self.out,
            probe: &mut self.drops,
        };
        act(&mut self.drb, &mut env, &mut self.storage)
    }

    fn put(&mut self, direction: Direction, len: u32) -> (PacketId, bool) {
        let packet = self.pool.insert(Packet {
            segment: Segment {
                len,
                ..Segment::default()
            },
            ..Packet::default()
        });
        let now = self.now;
        let is_taken = self.with_drb(|drb, env, storage| {
            drb.enter(direction, packet, env, storage);
            drb.accept_packet(now, direction, packet, env, storage)
        });
        (packet, is_taken)
    }

    fn block(&mut self, leg: u8, direction: Direction, bytes: u32) -> TransportBlock {
        let mut block = TransportBlock::default();
        self.with_drb(|drb, env, storage| {
            drb.pull((leg, direction), bytes, &mut block, env, storage)
        });
        block
    }

    fn arrive(&mut self, leg: u8, direction: Direction, block: &TransportBlock) {
        let pdus = (block, 0..block.pdus.len());
        self.with_drb(|drb, env, storage| {
            drb.on_pdus((leg, direction), pdus, &TIMES, env, storage);
        });
    }

    fn causes(&self) -> Vec<RadioDropCause> {
        self.drops.0.iter().map(|row| row.cause).collect()
    }
}

fn unacknowledged() -> BearerConfig {
    BearerConfig {
        rlc: RlcConfig::NR_UM,
        ..BearerConfig::nr(UeId(0))
    }
}

const DOWN: Direction = Direction::Downlink;
const UP: Direction = Direction::Uplink;
/// Payload of the largest transport block by direction: unlimited.
const ROOMS: [u32; 2] = [u32::MAX; 2];

#[test]
fn what_a_block_carries_leaves_at_the_far_end_and_is_counted() {
    let mut rig = Rig::new(unacknowledged());
    let (first, _) = rig.put(DOWN, 1000);
    let (second, _) = rig.put(DOWN, 1000);
    assert!(rig.drb.backlog(rig.now, 0, DOWN).total() > 2000);
    let block = rig.block(0, DOWN, 3000);
    rig.arrive(0, DOWN, &block);
    assert_eq!(rig.out, [first, second]);
    let bytes = u64::from(rig.pool[first].wire_len());
    let counters = rig.drb.counters(DOWN);
    assert_eq!(
        (counters.delivered_packets, counters.delivered_bytes),
        (2, 2 * bytes)
    );
    assert_eq!(rig.drb.counters(Direction::Uplink).delivered_packets, 0);
    assert!(rig.drb.ledger(DOWN).is_empty());
}

#[test]
fn the_discard_timer_wakes_the_bearer_and_drops_what_waited_for_it() {
    let config = BearerConfig {
        pdcp: PdcpConfig {
            discard_timer: Some(Span::from_millis(50)),
            ..PdcpConfig::NR
        },
        ..BearerConfig::nr(UeId(0))
    };
    let mut rig = Rig::new(config);
    rig.put(DOWN, 100);
    rig.now = millis(20);
    rig.put(DOWN, 100);
    // The test schedules no slot, so only the discard timer wakes the bearer, 50 ms after the first
    // packet.
    let (at, generation) = rig.drb.arm(rig.now, DOWN).expect("a timer runs");
    assert_eq!(at, millis(50));
    assert!(rig.drb.fire(DOWN, generation));
    rig.now = at;
    rig.with_drb(|drb, env, storage| drb.on_timer(DOWN, env, storage));
    assert_eq!(rig.causes(), [RadioDropCause::DiscardTimer]);
    let (next, _) = rig.drb.arm(rig.now, DOWN).expect("the second one's runs");
    assert_eq!(next, millis(70));
    rig.now = next;
    rig.with_drb(|drb, env, storage| drb.on_timer(DOWN, env, storage));
    assert_eq!(rig.drb.counters(DOWN).dropped_packets, 2);
    assert!(rig.pool.is_empty() && rig.drb.ledger(DOWN).is_empty());
}

#[test]
fn without_a_discard_timer_and_nothing_under_way_nothing_wakes_it() {
    let mut rig = Rig::new(BearerConfig::nr(UeId(0)));
    rig.put(DOWN, 100);
    assert_eq!(rig.drb.arm(rig.now, DOWN), None);
}

#[test]
fn a_full_buffer_drops_the_arrival() {
    let config = BearerConfig {
        rlc: RlcConfig {
            buffer: Bytes(1500),
            ..RlcConfig::NR_UM
        },
        ..unacknowledged()
    };
    let mut rig = Rig::new(config);
    assert!(rig.put(DOWN, 1000).1);
    assert!(!rig.put(DOWN, 1000).1);
    assert_eq!(rig.causes(), [RadioDropCause::BufferFull]);
    assert_eq!(rig.drb.counters(DOWN).dropped_packets, 1);
}

#[test]
fn a_packet_that_no_block_carries_is_refused_at_the_door() {
    let transparent = BearerConfig {
        rlc: RlcConfig::TM,
        ..BearerConfig::nr(UeId(0))
    };
    let packet = Segment {
        len: 500,
        ..Segment::default()
    };
    // In transparent mode RLC does not segment. So a transport block must carry the whole packet,
    // the PDCP header and the MAC subheader of 3 bytes.
    let needs = packet.wire_len() + PdcpConfig::NR.header() + 3;
    for (config, room, is_taken) in [
        (transparent, needs - 1, false),
        (transparent, needs, true),
        // In unacknowledged and acknowledged mode RLC segments SDUs. A transport block of 8 bytes
        // can carry a part, so the packet is accepted.
        (unacknowledged(), 8, true),
        (BearerConfig::nr(UeId(0)), 8, true),
        // No transport block can carry data, so the UE is out of range, and the packet is dropped.
        (unacknowledged(), 0, false),
        (BearerConfig::nr(UeId(0)), 0, false),
    ] {
        let mut rig = Rig::new(config);
        // The uplink limit does not apply to the downlink, so the downlink packet is accepted.
        assert!(rig.drb.on_connected(0, LegId(0), [u32::MAX, room]));
        assert!(rig.put(DOWN, 500).1);
        assert_eq!(rig.put(UP, 500).1, is_taken, "{room} bytes");
        let refused = vec![RadioDropCause::NoBlock; usize::from(!is_taken)];
        assert_eq!(rig.causes(), refused);
        assert_eq!(rig.drb.counters(UP).dropped_packets, refused.len() as u64);
        assert_eq!(rig.drb.backlog(rig.now, 0, UP).is_empty(), !is_taken);
    }
}

#[test]
fn pdcp_takes_a_packet_when_the_base_station_is_ready_with_it() {
    let mut rig = Rig::new(unacknowledged());
    let packet = rig.pool.insert(Packet::default());
    rig.drb.hold(millis(3), packet);
    assert_eq!(rig.drb.inlet_at(0), Some(millis(3)));
    rig.now = millis(2);
    assert!(!rig.with_drb(Drb::drain_inlet));
    assert!(rig.drb.backlog(rig.now, 0, DOWN).is_empty());
    rig.now = millis(3);
    assert!(rig.with_drb(Drb::drain_inlet));
    assert_eq!(rig.drb.inlet_at(0), None);
    assert!(!rig.drb.backlog(rig.now, 0, DOWN).is_empty());
}

#[test]
fn a_block_that_harq_gave_up_loses_its_packets_unless_rlc_repeats_them() {
    for (config, lost) in [(unacknowledged(), 1), (BearerConfig::nr(UeId(0)), 0)] {
        let mut rig = Rig::new(config);
        rig.put(DOWN, 500);
        let block = rig.block(0, DOWN, 1000);
        rig.with_drb(|drb, env, storage| {
            drb.on_harq_failure((0, DOWN), (&block, 0..block.pdus.len()), env, storage);
        });
        assert_eq!(rig.causes(), vec![RadioDropCause::HarqFailure; lost]);
        assert_eq!(rig.drb.counters(DOWN).dropped_packets, lost as u64);
    }
}

#[test]
fn books_close_only_when_nothing_is_in_buffers_or_harq() {
    let mut rig = Rig::new(unacknowledged());
    rig.put(DOWN, 500);
    let close = |rig: &mut Rig, is_idle: bool| {
        rig.with_drb(|drb, env, storage| drb.drop_undelivered(DOWN, |_| is_idle, env, storage));
        rig.drops.0.len()
    };
    assert_eq!(close(&mut rig, true), 0, "it waits to be sent");
    rig.block(0, DOWN, 1000);
    assert_eq!(close(&mut rig, false), 0, "HARQ has it");
    assert_eq!(close(&mut rig, true), 1, "nobody has it");
    assert!(rig.pool.is_empty());
}

#[test]
fn reestablishment_loses_what_was_not_delivered() {
    let mut rig = Rig::new(BearerConfig::nr(UeId(0)));
    let (first, _) = rig.put(DOWN, 500);
    let block = rig.block(0, DOWN, 600);
    rig.arrive(0, DOWN, &block);
    rig.put(DOWN, 500);
    rig.put(Direction::Uplink, 40);
    let now = rig.now;
    rig.with_drb(|drb, env, storage| drb.reestablish((0, now), env, storage));
    assert_eq!(rig.out, [first]);
    assert_eq!(rig.causes(), [RadioDropCause::LinkFailure; 2]);
    for direction in [DOWN, Direction::Uplink] {
        assert!(rig.drb.backlog(rig.now, 0, direction).is_empty());
        assert_eq!(rig.drb.counters(direction).dropped_packets, 1);
    }
    // The next packet is delivered at once and does not wait for the lost packet.
    rig.out.clear();
    let (next, _) = rig.put(DOWN, 500);
    let block = rig.block(0, DOWN, 600);
    rig.arrive(0, DOWN, &block);
    assert_eq!(rig.out, [next]);
}
