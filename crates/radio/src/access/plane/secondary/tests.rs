//! Tests of the times at which each base station and the UE learn of a secondary leg's failure. The
//! UE is in two LTE cells, and the test carries the frames between them.

use super::*;
use crate::access::{Backhaul, Move, RadioAccess};
use crate::config::{
    CarrierLegs, CellConfig, FixedSinr, LegChoice, RadioConfig, Serving, SplitConfig, UeConfig,
};
use crate::pdcp::{Delivery, PdcpConfig};
use crate::rlc::RlcConfig;
use crate::user_plane::FlowControlConfig;
use fadeout_core::{
    CellId, Decibel, Hertz, Kinematics, NodeId, PacketId, PacketPool, Point, RrcRow, Segment,
};

const UE: UeId = UeId(0);
const SECOND: LegId = LegId(1);

struct Nowhere;

impl fadeout_core::Motion for Nowhere {
    fn kinematics_at(&mut self, _: NodeId, _: Time) -> Kinematics {
        Kinematics::at_rest(Point::default())
    }
}

#[derive(Default)]
struct RecordedEvents(Vec<(RrcEvent, Time)>);

impl Probe for RecordedEvents {
    fn rrc(&mut self, row: RrcRow) {
        self.0.push((row.event, row.time_s));
    }
}

struct Pair {
    access: RadioAccess,
    pool: PacketPool,
    out: Vec<PacketId>,
    put: Vec<PacketId>,
    recorded: RecordedEvents,
    now: Time,
    delay: Span,
    frames: Vec<(Time, Backhaul, u64)>,
    /// Number of further failure messages that links will lose.
    losses: u32,
}

fn cell(carrier: f64) -> CellConfig {
    CellConfig::lte(Point::default(), Hertz(carrier), 50)
}

impl Pair {
    fn new(direction: Direction) -> Pair {
        let ue = UeConfig {
            serving: Serving::Cell(CellId(0)),
            pscell: Some(CellId(1)),
            fixed_sinr: Some(FixedSinr {
                downlink: Decibel(20.0),
                uplink: Decibel(20.0),
            }),
            ..UeConfig::new(NodeId(0))
        };
        let mut bearer = BearerConfig::lte(UE);
        bearer.pdcp = PdcpConfig {
            delivery: Delivery::InOrder(None),
            ..PdcpConfig::NR
        };
        bearer.split = Some(SplitConfig {
            leg: Some(1),
            carriers: CarrierLegs::NONE,
            choice: LegChoice::Demand,
            rlc: RlcConfig::LTE_AM,
            pdcp_sn_bits: bearer.pdcp.sn_bits,
            primary: 1,
            thresholds: [None, None],
            duplicates: [false; 2],
            flow_control: FlowControlConfig::USUAL,
        });
        let config = RadioConfig {
            cells: vec![cell(2e9), cell(2.6e9)],
            ues: vec![ue],
            bearers: vec![bearer],
        };
        let access = RadioAccess::new(config, 1).unwrap_or_else(|error| panic!("{error}"));
        let mut pair = Pair {
            access,
            pool: PacketPool::new(),
            out: Vec::new(),
            put: Vec::new(),
            recorded: RecordedEvents::default(),
            now: Time::ZERO,
            delay: Span::from_millis(7),
            frames: Vec::new(),
            losses: 0,
        };
        pair.go(direction, 100);
        pair
    }

    /// Runs for `span` milliseconds, and sends one packet in each millisecond.
    fn go(&mut self, direction: Direction, span: u64) {
        for _ in 0..span {
            let packet = self.pool.insert(Packet {
                segment: Segment {
                    len: 600,
                    ..Segment::default()
                },
                ..Packet::default()
            });
            self.put.push(packet);
            let now = self.now;
            let probe = &mut self.recorded;
            self.access
                .on_packet(now, DrbId(0), direction, packet, &mut self.pool, probe);
            self.wait(1);
        }
    }

    fn wait(&mut self, span: u64) {
        for _ in 0..10 * span {
            self.now += Span::from_micros(100);
            let (now, pool, probe) = (self.now, &mut self.pool, &mut self.recorded);
            self.access
                .on_wake(now, &mut Nowhere, pool, &mut self.out, probe);
            while self.frames.first().is_some_and(|&(at, ..)| at <= now) {
                let (_, what, number) = self.frames.remove(0);
                let packet = self.pool.insert(Packet::message(number, 60));
                let places = (&mut self.pool, &mut self.out);
                self.access
                    .on_backhaul(now, (what, packet), places, &mut self.recorded);
            }
            let mut moves = Vec::new();
            self.access.service.stack.take_frames(&mut moves);
            for carried in moves {
                let Move::Frame { what, number, .. } = carried else {
                    panic!("nobody moves");
                };
                if matches!(what, Backhaul::LegFailure { .. }) && self.losses > 0 {
                    self.losses -= 1;
                    continue;
                }
                self.frames.push((now + self.delay, what, number));
            }
        }
    }

    fn fail(&mut self, failed: (LegId, Finder)) {
        let env = &mut Env {
            now: self.now,
            pool: &mut self.pool,
            out: &mut self.out,
            probe: &mut self.recorded,
        };
        self.access.on_link_failure(failed, env);
    }

    fn time_of(&self, event: RrcEvent) -> Option<Time> {
        let mut events = self.recorded.0.iter();
        events.find(|it| it.0 == event).map(|it| it.1)
    }

    fn blocks(&self, leg: LegId, direction: Direction) -> u64 {
        let leg = &self.access.service.stack.legs[leg.index()];
        leg.half(direction).counters().blocks
    }

    /// Checks that all packets have left in the order of their arrival.
    fn check_order(&mut self) {
        self.wait(1000);
        assert!(self.out == self.put);
    }
}

#[test]
fn the_network_acts_when_the_report_of_the_ue_has_come_over_the_masters_leg() {
    for direction in [Direction::Downlink, Direction::Uplink] {
        let mut pair = Pair::new(direction);
        assert!(pair.blocks(SECOND, direction) > 10);
        let (failed_at, blocks) = (pair.now, pair.blocks(SECOND, direction));
        let master = pair.blocks(LegId(0), Direction::Uplink);
        pair.fail((SECOND, Finder::Ue));
        pair.go(direction, 30);
        assert_eq!(pair.time_of(RrcEvent::SecondaryFailed), Some(failed_at));
        let known_at = pair
            .time_of(RrcEvent::SecondaryFailureKnown)
            .expect("it has come");
        // The report takes at least a request, a grant and a block. Request occasions are 10 ms
        // apart, so the report takes between 5 and 30 ms.
        let took = known_at.since(failed_at);
        assert!(
            took > Span::from_millis(5) && took < Span::from_millis(30),
            "{took}"
        );
        assert!(pair.blocks(LegId(0), Direction::Uplink) > master);
        // The leg must carry data again only after re-establishment is over.
        let again_at = known_at + cell(2e9).reestablish_after;
        while pair.now < again_at {
            assert_eq!(
                pair.blocks(SECOND, direction),
                blocks,
                "{direction:?} {} {known_at} {again_at} {failed_at}",
                pair.now
            );
            pair.go(direction, 1);
        }
        pair.go(direction, 100);
        assert!(pair.blocks(SECOND, direction) > blocks + 10);
        pair.check_order();
    }
}

#[test]
fn until_then_the_other_base_station_gets_more_and_the_first_leg_nothing() {
    let mut pair = Pair::new(Direction::Downlink);
    let first = pair.blocks(LegId(0), Direction::Downlink);
    pair.fail((SECOND, Finder::Station));
    pair.go(Direction::Downlink, 6);
    assert_eq!(pair.blocks(LegId(0), Direction::Downlink), first);
    pair.go(Direction::Downlink, 6);
    assert!(pair.blocks(LegId(0), Direction::Downlink) > first);
    pair.check_order();
}

#[test]
fn what_the_secondary_cell_finds_comes_over_links_and_again_when_they_lose_it() {
    for (losses, took) in [(0, 7), (1, 107), (3, 307)] {
        let mut pair = Pair::new(Direction::Downlink);
        let failed_at = pair.now;
        pair.losses = losses;
        pair.fail((SECOND, Finder::Station));
        pair.go(Direction::Downlink, 400);
        let known_at = pair
            .time_of(RrcEvent::SecondaryFailureKnown)
            .expect("it has come");
        let late = known_at.since(failed_at + Span::from_millis(took));
        assert!(late <= Span::from_micros(100), "{losses}: {late}");
        pair.check_order();
    }
}

#[test]
fn a_report_that_is_lost_with_the_masters_link_is_known_when_that_is_re_established() {
    let mut pair = Pair::new(Direction::Downlink);
    let until = pair.now + cell(2e9).reestablish_after;
    pair.fail((SECOND, Finder::Ue));
    pair.fail((LegId(0), Finder::Ue));
    pair.go(Direction::Downlink, 400);
    let known_at = pair.time_of(RrcEvent::SecondaryFailureKnown);
    assert_eq!(known_at, Some(until));
    pair.check_order();
}

#[test]
fn a_failure_is_told_once() {
    let mut pair = Pair::new(Direction::Uplink);
    pair.fail((SECOND, Finder::Ue));
    pair.fail((SECOND, Finder::Station));
    pair.go(Direction::Uplink, 100);
    let known = pair
        .recorded
        .0
        .iter()
        .filter(|it| it.0 == RrcEvent::SecondaryFailureKnown);
    assert_eq!(known.count(), 1);
    assert_eq!(pair.access.counters().link_failures, 1);
    // A second failure of the leg is reported and handled in the same way as the first failure.
    pair.go(Direction::Uplink, 400);
    pair.fail((SECOND, Finder::Ue));
    pair.go(Direction::Uplink, 100);
    assert_eq!(pair.access.counters().link_failures, 2);
    pair.check_order();
}
