//! Tests that a radio access in steady state allocates no memory.

use crate::common::{AnyMotion, AtRest, Rows};
use fadeout_core::aqm::{CoDelConfig, EcnStepConfig, PieConfig};
use fadeout_core::{
    CellId, Decibel, Direction, DrbId, Hertz, NodeId, Packet, PacketId, PacketPool, Point, Segment,
    Span, Time, UeId,
};
use fadeout_radio::access::{
    BearerConfig, CellConfig, FixedSinr, RadioAccess, RadioConfig, Serving, UeConfig,
};
use fadeout_radio::rlc::{AqmConfig, RlcConfig};
use fadeout_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Returns the allocations in the last of `seconds` seconds. Asserts that the cell carries all
/// offered packets.
fn allocations_of_last_second(config: RadioConfig, seconds: u64) -> u64 {
    // Each bearer gets 10,000 downlink packets per second. Up to 4,000 packets may arrive after the
    // end of the run, because retransmissions delay them.
    let offered = seconds * 10_000 * config.bearers.len() as u64;
    let (allocations, carried) = feed(config, seconds);
    assert!(carried + 4000 > offered, "{carried} of {offered}");
    allocations
}

/// Feeds every bearer at a constant rate in both directions. Returns the allocations in the last of
/// `seconds` seconds and the number of downlink packets carried.
fn feed(config: RadioConfig, seconds: u64) -> (u64, u64) {
    let bearers = config.bearers.len() as u32;
    let mut access = RadioAccess::new(config, 1).unwrap_or_else(|error| panic!("{error}"));
    let mut pool = PacketPool::new();
    let mut out: Vec<PacketId> = Vec::new();
    let mut places = AtRest(Vec::new());
    let mut motion = AnyMotion(&mut places);
    let mut rows = Rows::default();
    let segment = |len| Segment {
        len,
        ..Segment::default()
    };
    let step = Span::from_micros(100);
    let mut now = Time::ZERO;
    let mut before = 0;
    let mut carried = 0;
    for tick in 0..seconds * 10_000 {
        if tick == (seconds - 1) * 10_000 {
            before = allocations();
        }
        for bearer in 0..bearers {
            // 12 packets of 1500 bytes in each millisecond, and half as many acknowledgments.
            for (direction, len, modulus) in
                [(Direction::Downlink, 1460, 1), (Direction::Uplink, 12, 2)]
            {
                if tick % modulus == 0 {
                    let packet = pool.insert(Packet {
                        segment: segment(len),
                        ..Packet::default()
                    });
                    let id = DrbId(bearer);
                    access.on_packet(now, id, direction, packet, &mut pool, &mut rows);
                }
            }
        }
        now += step;
        while access.wake_at() <= now {
            let at = access.wake_at();
            access.on_wake(at, &mut motion, &mut pool, &mut out, &mut rows);
            rows.drops.clear();
            for packet in out.drain(..) {
                carried += u64::from(pool.remove(packet).segment.len > 100);
            }
        }
    }
    (allocations() - before, carried)
}

#[test]
fn the_steady_state_of_a_busy_cell_allocates_nothing() {
    let ues = 3;
    let config = RadioConfig {
        cells: vec![CellConfig::nr(Point::default(), Hertz(28e9), 3, 264).expect("a cell")],
        ues: (0..ues)
            .map(|ue| UeConfig {
                serving: Serving::Cell(CellId(0)),
                // UE 0 is near the base station and uses the channel model. The others have a given
                // SINR.
                fixed_sinr: (ue > 0).then_some(FixedSinr {
                    downlink: Decibel(18.0),
                    uplink: Decibel(18.0),
                }),
                ..UeConfig::new(NodeId(ue))
            })
            .collect(),
        bearers: (0..ues).map(|ue| BearerConfig::nr(UeId(ue))).collect(),
    };
    assert_eq!(allocations_of_last_second(config, 5), 0);
}

#[test]
fn queue_management_that_drops_allocates_nothing() {
    // The source without congestion control offers more than the cell carries, so queue management
    // drops or marks packets.
    let laws = [
        AqmConfig::CoDel(CoDelConfig::default()),
        AqmConfig::Pie(PieConfig::default()),
        AqmConfig::EcnStep(EcnStepConfig::default()),
    ];
    let config = RadioConfig {
        cells: vec![CellConfig::lte(Point::default(), Hertz(2e9), 100)],
        ues: vec![UeConfig {
            serving: Serving::Cell(CellId(0)),
            fixed_sinr: Some(FixedSinr {
                downlink: Decibel(18.0),
                uplink: Decibel(18.0),
            }),
            ..UeConfig::new(NodeId(0))
        }],
        bearers: Vec::new(),
    };
    for aqm in laws {
        let bearer = BearerConfig::lte(UeId(0));
        let config = RadioConfig {
            bearers: vec![BearerConfig {
                rlc: RlcConfig { aqm, ..bearer.rlc },
                ..bearer
            }],
            ..config.clone()
        };
        let (allocations, carried) = feed(config, 8);
        assert!(carried < 70_000, "{carried} of 80,000 packets");
        assert_eq!(allocations, 0, "{aqm:?}");
    }
}
