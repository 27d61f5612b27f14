//! Test bench: a radio access without a core or transport, to which the test sends packets.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of the rig"
)]

use fadeout_core::{
    CellId, Direction, DrbId, Edge, FlowId, HandoverRow, Kinematics, MeasurementRow, Motion,
    NodeId, Packet, PacketId, PacketPool, Point, Probe, RadioDelayRow, RadioDropRow, RrcRow,
    SecondaryChangeRow, Segment, Span, Time, TransportBlockRow, UeId,
};
use fadeout_radio::access::{RadioAccess, RadioConfig};

/// Positions of nodes at rest. Node n is at the n-th position.
pub struct AtRest(pub Vec<Point>);

impl Motion for AtRest {
    fn kinematics_at(&mut self, node: NodeId, _time: Time) -> Kinematics {
        Kinematics::at_rest(self.0.get(node.index()).copied().unwrap_or_default())
    }
}

/// Motion of any type. The radio access is compiled once for each type of motion. All tests use
/// this type, so the radio access is compiled once.
pub struct AnyMotion<'a>(pub &'a mut dyn Motion);

impl Motion for AnyMotion<'_> {
    fn kinematics_at(&mut self, node: NodeId, time: Time) -> Kinematics {
        self.0.kinematics_at(node, time)
    }
    fn orderless_until(&mut self, node: NodeId, time: Time) -> Time {
        self.0.orderless_until(node, time)
    }
    fn obstruction(&mut self, ends: (Point, Point), clear: f64) -> f64 {
        self.0.obstruction(ends, clear)
    }
    fn foliage_m(&mut self, from: Point, to: Point) -> f64 {
        self.0.foliage_m(from, to)
    }
    fn has_vehicles(&self) -> bool {
        self.0.has_vehicles()
    }
    fn vehicles(&mut self, at: (NodeId, Time), ends: (Point, Point), clear: f64) -> &[Edge] {
        self.0.vehicles(at, ends, clear)
    }
}

/// Probe that keeps rows. The radio access is compiled once for each type of probe, so all tests
/// use this type. By default it keeps no rows of single transport blocks, packets or measurements.
#[derive(Default)]
pub struct Rows {
    pub drops: Vec<RadioDropRow>,
    pub handovers: Vec<HandoverRow>,
    pub changes: Vec<SecondaryChangeRow>,
    pub steps: Vec<RrcRow>,
    pub blocks: Vec<TransportBlockRow>,
    pub keeps_blocks: bool,
    pub delays: Vec<RadioDelayRow>,
    pub keeps_delays: bool,
    pub measured: Vec<MeasurementRow>,
    pub keeps_measured: bool,
}

impl Probe for Rows {
    fn radio_dropped(&mut self, row: RadioDropRow) {
        self.drops.push(row);
    }
    fn handover(&mut self, row: HandoverRow) {
        self.handovers.push(row);
    }
    fn secondary_change(&mut self, row: SecondaryChangeRow) {
        self.changes.push(row);
    }
    fn rrc(&mut self, row: RrcRow) {
        self.steps.push(row);
    }
    fn wants_transport_blocks(&self, _cell: CellId) -> bool {
        self.keeps_blocks
    }
    fn transport_block(&mut self, row: TransportBlockRow) {
        self.blocks.push(row);
    }
    fn wants_radio_delay(&self, _bearer: DrbId) -> bool {
        self.keeps_delays
    }
    fn radio_delay(&mut self, row: RadioDelayRow) {
        self.delays.push(row);
    }
    fn wants_measurements(&self, _ue: UeId) -> bool {
        self.keeps_measured
    }
    fn measurement(&mut self, row: MeasurementRow) {
        self.measured.push(row);
    }
}

/// Packet that left a bearer at its far end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    pub at: Time,
    /// Number of the packet, as passed to [`Rig::send_packet`].
    pub number: u32,
}

pub struct Rig {
    pub access: RadioAccess,
    pub pool: PacketPool,
    pub motion: AtRest,
    pub rows: Rows,
    pub now: Time,
    pub arrivals: Vec<Arrival>,
    out: Vec<PacketId>,
}

impl Rig {
    pub fn new(config: RadioConfig, seed: u64) -> Rig {
        Rig::with_places(config, seed, Vec::new())
    }

    pub fn with_places(config: RadioConfig, seed: u64, places: Vec<Point>) -> Rig {
        Rig {
            access: RadioAccess::new(config, seed).unwrap_or_else(|error| panic!("{error}")),
            pool: PacketPool::new(),
            motion: AtRest(places),
            rows: Rows {
                keeps_blocks: true,
                keeps_delays: true,
                ..Rows::default()
            },
            now: Time::ZERO,
            arrivals: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Puts a packet of `size` bytes, including headers, into a bearer. `number` becomes the flow
    /// number of the packet.
    pub fn send_packet(&mut self, bearer: u32, direction: Direction, size: u32, number: u32) {
        let segment = Segment {
            len: size - Segment::default().wire_len(),
            ..Segment::default()
        };
        let packet = self.pool.insert(Packet {
            flow: FlowId(number),
            segment,
            ..Packet::default()
        });
        assert_eq!(self.pool[packet].size().0, u64::from(size));
        let (pool, rows) = (&mut self.pool, &mut self.rows);
        let bearer = DrbId(bearer);
        self.access
            .on_packet(self.now, bearer, direction, packet, pool, rows);
    }

    /// Runs all events until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let at = self.access.wake_at();
            if at > end {
                break;
            }
            assert!(at >= self.now, "time never goes back");
            self.now = at;
            self.access.on_wake(
                at,
                &mut AnyMotion(&mut self.motion),
                &mut self.pool,
                &mut self.out,
                &mut self.rows,
            );
            for packet in self.out.drain(..) {
                let number = self.pool.remove(packet).flow.0;
                self.arrivals.push(Arrival { at, number });
            }
        }
        self.now = end;
    }

    pub fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }
}
