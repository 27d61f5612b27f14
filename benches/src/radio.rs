//! Radio access alone under load, at a constant rate in both directions.

use fadeout_core::{
    CellId, Dbm, Direction, DrbId, Ecn, Hertz, Kinematics, Motion, NodeId, NullProbe, PacketId,
    PacketPool, Point, Segment, Span, Time, UeId,
};
use fadeout_radio::access::{
    BearerConfig, CellConfig, Counters, DirectionCounters, RadioAccess, RadioConfig, Serving,
    UeConfig,
};

use fadeout_radio::antenna::{Antenna, Isotropic};
use fadeout_radio::channel::fading::Fading;
use fadeout_radio::channel::{ChannelConfig, LineOfSight};

/// Radio access with a source of packets and a count of delivered packets.
#[derive(Debug)]
pub struct RadioLoad {
    access: RadioAccess,
    motion: AtRest,
    pool: PacketPool,
    out: Vec<PacketId>,
    bearers: u64,
    /// Time between two downlink packets, over all bearers.
    gap_nanos: u64,
    now: u64,
    turn: u64,
    delivered: u64,
}

/// UEs at rest around sites that are `sites_apart_m` metres apart.
#[derive(Debug, Clone, Copy)]
struct AtRest {
    sites_apart_m: f64,
}

impl Motion for AtRest {
    fn kinematics_at(&mut self, node: NodeId, _time: Time) -> Kinematics {
        let n = f64::from(node.0);
        Kinematics::at_rest(Point::new(
            30.0 + n % 37.0 + self.sites_apart_m * (n % 10.0),
            10.0 + n % 29.0,
            1.5,
        ))
    }
}

fn ue(node: u32, cell: u32) -> UeConfig {
    UeConfig {
        serving: Serving::Cell(CellId(cell)),
        power: Dbm(30.0),
        ..UeConfig::new(NodeId(node))
    }
}

/// Returns the channel with flat fading, so that most of the cost is that of the layers above.
fn flat(channel: ChannelConfig) -> ChannelConfig {
    ChannelConfig {
        los_fading: Fading::Rician { k_db: 9.0 },
        nlos_fading: Fading::Rayleigh,
        draws_k_factor: false,
        draws_delay_spread: false,
        ..channel
    }
}

/// Returns a channel with line of sight and Rician fading. Its SNR at the UEs is about 20 dB.
fn street() -> ChannelConfig {
    flat(ChannelConfig {
        line_of_sight: LineOfSight::Clear,
        base_antenna: Antenna::Isotropic(Isotropic { gain_dbi: 10.0 }),
        ..ChannelConfig::default()
    })
}

impl RadioLoad {
    /// Creates UEs in a cell with 1 GHz of bandwidth at 28 GHz and 120 kHz, with 630 Mbit/s in
    /// total. The channel is evaluated in every slot.
    pub fn mmwave(ues: u32) -> RadioLoad {
        let site = Point::new(0.0, 0.0, 10.0);
        let cell = CellConfig {
            channel: street(),
            gain_period: Span::from_micros(125),
            ..CellConfig::nr(site, Hertz(28e9), 3, 694).expect("a numerology")
        };
        let config = RadioConfig {
            cells: vec![cell],
            ues: (0..ues).map(|node| ue(node, 0)).collect(),
            bearers: (0..ues).map(|ue| BearerConfig::nr(UeId(ue))).collect(),
        };
        RadioLoad::new(config, 630_000_000, 0.0)
    }

    /// Creates a thousand UEs in ten cells of 20 MHz, with 14.4 Mbit/s in each cell.
    pub fn lte() -> RadioLoad {
        let site = |cell: u32| Point::new(500.0 * f64::from(cell), 0.0, 25.0);
        let cell = |number| {
            let cell = CellConfig::lte(site(number), Hertz(2e9), 100);
            CellConfig {
                channel: flat(cell.channel.clone()),
                ..cell
            }
        };
        let config = RadioConfig {
            cells: (0..10).map(cell).collect(),
            ues: (0..1000).map(|node| ue(node, node % 10)).collect(),
            bearers: (0..1000).map(|ue| BearerConfig::lte(UeId(ue))).collect(),
        };
        RadioLoad::new(config, 144_000_000, 500.0)
    }

    /// Creates a load with downlink packets of 1500 bytes at `bits_per_second`. Every second packet
    /// is answered by an acknowledgment in the uplink.
    fn new(config: RadioConfig, bits_per_second: u64, sites_apart_m: f64) -> RadioLoad {
        RadioLoad {
            bearers: config.bearers.len() as u64,
            access: RadioAccess::new(config, 1).expect("the configuration is valid"),
            motion: AtRest { sites_apart_m },
            pool: PacketPool::new(),
            out: Vec::new(),
            gap_nanos: 12_000_000_000_000 / bits_per_second,
            now: 0,
            turn: 0,
            delivered: 0,
        }
    }

    /// Runs the load for `nanos` nanoseconds.
    pub fn run_for(&mut self, nanos: u64) {
        let end = self.now + nanos;
        while self.now < end {
            let at = Time::from_nanos(self.now);
            while self.access.wake_at() <= at {
                let due = self.access.wake_at();
                self.access.on_wake(
                    due,
                    &mut self.motion,
                    &mut self.pool,
                    &mut self.out,
                    &mut NullProbe,
                );
                for packet in self.out.drain(..) {
                    self.delivered += u64::from(self.pool.remove(packet).segment.len > 100);
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
        let bearer = DrbId((self.turn % self.bearers) as u32);
        let segment = Segment {
            len,
            ..Segment::default()
        };
        let packet = self
            .pool
            .send(Default::default(), at, Ecn::NotEct, &segment);
        self.access.on_packet(
            at,
            bearer,
            direction,
            packet,
            &mut self.pool,
            &mut NullProbe,
        );
    }

    /// Returns the number of downlink bits delivered so far.
    pub fn delivered_bits(&self) -> u64 {
        self.delivered * 12_000
    }

    /// Returns the numbers of transport blocks sent and lost so far in each direction. Each UE has
    /// one bearer.
    pub fn blocks(&self) -> ([u64; 2], [u64; 2]) {
        let sum = |of: fn(DirectionCounters) -> u64| {
            [Direction::Downlink, Direction::Uplink].map(|direction| {
                let ues = (0..self.bearers as u32).map(UeId);
                ues.map(|ue| of(self.access.counters_of(ue, direction)))
                    .sum()
            })
        };
        (sum(|of| of.blocks), sum(|of| of.lost_blocks))
    }

    /// Returns the counters of the radio access so far.
    pub fn counters(&self) -> Counters {
        self.access.counters()
    }
}
