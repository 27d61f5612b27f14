//! A radio access alone under load, at a constant rate in both directions.

use fadeout_core::{
    BearerId, CellId, Decibel, Direction, Hertz, Kinematics, Motion, NodeId, NullProbe, Packet,
    PacketId, PacketPool, Point, Segment, Time, UeId,
};
use fadeout_radio::access::{
    BearerConfig, CellConfig, Counters, FixedSinr, RadioAccess, RadioConfig, Serving, UeConfig,
};

/// A radio access, what feeds it and what it has carried.
#[derive(Debug)]
pub struct RadioLoad {
    access: RadioAccess,
    pool: PacketPool,
    out: Vec<PacketId>,
    bearers: u64,
    /// Between two downlink packets, over all bearers.
    gap_nanos: u64,
    now: u64,
    turn: u64,
    delivered: u64,
}

struct AtRest;

impl Motion for AtRest {
    fn at(&mut self, node: NodeId, _time: Time) -> Kinematics {
        let n = f64::from(node.0);
        Kinematics::at_rest(Point::new(30.0 + n % 37.0, 10.0 + n % 29.0, 1.5))
    }
}

fn ue(node: u32, cell: u32) -> UeConfig {
    UeConfig {
        serving: Serving::Cell(CellId(cell)),
        fixed_sinr: Some(FixedSinr {
            downlink: Decibel(8.0),
            uplink: Decibel(8.0),
        }),
        ..UeConfig::new(NodeId(node))
    }
}

impl RadioLoad {
    /// UEs in a cell of 1 GHz at 28 GHz and 120 kHz; 630 Mbit/s in all.
    pub fn mmwave(ues: u32) -> RadioLoad {
        let site = Point::new(0.0, 0.0, 10.0);
        let cell = CellConfig::nr(site, Hertz(28e9), 3, 694).expect("a numerology");
        let config = RadioConfig {
            cells: vec![cell],
            ues: (0..ues).map(|node| ue(node, 0)).collect(),
            bearers: (0..ues).map(|ue| BearerConfig::nr(UeId(ue))).collect(),
        };
        RadioLoad::new(config, 630_000_000)
    }

    /// A thousand UEs in ten cells of 20 MHz, 14.4 Mbit/s in each cell.
    pub fn lte() -> RadioLoad {
        let site = |cell: u32| Point::new(500.0 * f64::from(cell), 0.0, 25.0);
        let config = RadioConfig {
            cells: (0..10)
                .map(|cell| CellConfig::lte(site(cell), Hertz(2e9), 100))
                .collect(),
            ues: (0..1000).map(|node| ue(node, node % 10)).collect(),
            bearers: (0..1000).map(|ue| BearerConfig::lte(UeId(ue))).collect(),
        };
        RadioLoad::new(config, 144_000_000)
    }

    /// Packets of 1500 bytes down at `bits_per_second`, and an acknowledgment up for every other.
    fn new(config: RadioConfig, bits_per_second: u64) -> RadioLoad {
        RadioLoad {
            bearers: config.bearers.len() as u64,
            access: RadioAccess::new(config, 1).expect("the configuration is valid"),
            pool: PacketPool::new(),
            out: Vec::new(),
            gap_nanos: 12_000_000_000_000 / bits_per_second,
            now: 0,
            turn: 0,
            delivered: 0,
        }
    }

    /// Lets `nanos` nanoseconds pass.
    pub fn run_for(&mut self, nanos: u64) {
        let end = self.now + nanos;
        while self.now < end {
            let at = Time::from_nanos(self.now);
            while self.access.wake_at() <= at {
                let due = self.access.wake_at();
                self.access.on_wake(
                    due,
                    &mut AtRest,
                    &mut self.pool,
                    &mut self.out,
                    &mut NullProbe,
                );
                for packet in self.out.drain(..) {
                    self.delivered += u64::from(self.pool.take(packet).segment.len > 100);
                }
            }
            self.put(at, Direction::Downlink, 1460);
            if (self.turn / self.bearers).is_multiple_of(2) {
                self.put(at, Direction::Uplink, 12);
            }
            self.turn += 1;
            self.now += self.gap_nanos;
        }
    }

    fn put(&mut self, at: Time, direction: Direction, len: u32) {
        let bearer = BearerId((self.turn % self.bearers) as u32);
        let segment = Segment {
            len,
            ..Segment::default()
        };
        let packet = self.pool.insert(Packet {
            segment,
            ..Packet::default()
        });
        self.access.on_packet(
            at,
            bearer,
            direction,
            packet,
            &mut self.pool,
            &mut NullProbe,
        );
    }

    /// Downlink bits delivered so far.
    pub fn delivered_bits(&self) -> u64 {
        self.delivered * 12_000
    }

    /// What the radio access has done so far.
    pub fn counters(&self) -> Counters {
        self.access.counters()
    }
}
