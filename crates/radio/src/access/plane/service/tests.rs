//! Tests of new data and of the wake-ups that new data causes. No slot is scheduled, and the SINR
//! of each leg is given.

use super::*;
use crate::access::{Event, RadioAccess};
use crate::config::technology::{Carrier, Radio};
use crate::config::{
    Aggregation, BearerConfig, CellConfig, ConfiguredGrant, FixedSinr, RadioConfig, Serving,
    StatesConfig, UeConfig,
};
use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{
    CellId, Decibel, Hertz, Kinematics, NodeId, NullProbe, Packet, Point, Segment, Span,
};

const UP: Direction = Direction::Uplink;
const DOWN: Direction = Direction::Downlink;
const UE: UeId = UeId(0);
const BEARER: DrbId = DrbId(0);
const LEG: LegId = LegId(0);

fn lte(carrier: f64) -> CellConfig {
    let mut cell = CellConfig::lte(Point::default(), Hertz(carrier), 50);
    cell.requests.offset = Some(0);
    cell
}

fn ue() -> UeConfig {
    UeConfig {
        serving: Serving::Cell(CellId(0)),
        fixed_sinr: Some(FixedSinr {
            downlink: Decibel(20.0),
            uplink: Decibel(20.0),
        }),
        ..UeConfig::new(NodeId(0))
    }
}

/// Returns a UE with one secondary cell. The secondary cell has an uplink if `has_uplink`.
fn aggregated(has_uplink: bool) -> UeConfig {
    let mut aggregation = Aggregation::new(&[CellId(1)]).expect("one");
    aggregation.has_uplink = has_uplink;
    UeConfig {
        aggregation,
        ..ue()
    }
}

/// Slots for which cells wake up, and legs that repeat a request, each with its time.
type Due = (Vec<(u32, Time)>, Vec<(LegId, Time)>);

struct Nowhere;

impl fadeout_core::Motion for Nowhere {
    fn kinematics_at(&mut self, _: NodeId, _: Time) -> Kinematics {
        Kinematics::at_rest(Point::default())
    }
}

struct Rig {
    service: Service,
    pool: PacketPool,
    out: Vec<PacketId>,
}

impl Rig {
    fn new(cells: Vec<CellConfig>, ue: UeConfig) -> Rig {
        let config = RadioConfig {
            cells,
            ues: vec![ue],
            bearers: vec![BearerConfig::lte(UE)],
        };
        let access = RadioAccess::new(config, 1).unwrap_or_else(|error| panic!("{error}"));
        Rig {
            service: access.service,
            pool: PacketPool::new(),
            out: Vec::new(),
        }
    }

    /// Sends a packet of 1,000 bytes into the bearer.
    fn send_packet(&mut self, now: Time, direction: Direction) {
        let packet = self.pool.insert(Packet {
            segment: Segment {
                len: 1000,
                ..Segment::default()
            },
            ..Packet::default()
        });
        let entering = (BEARER, direction, packet);
        self.service
            .on_packet(now, entering, &mut self.pool, &mut NullProbe);
    }

    fn run<T>(
        &mut self,
        now: Time,
        act: impl FnOnce(&mut Service, &mut Env<'_, NullProbe>) -> T,
    ) -> T {
        let env = &mut Env {
            now,
            pool: &mut self.pool,
            out: &mut self.out,
            probe: &mut NullProbe,
        };
        act(&mut self.service, env)
    }

    /// Returns the wake-ups of cells and the request repetitions, with their times. A wake-up is
    /// omitted if a later wake-up replaced it. No event is armed after the call.
    fn events(&mut self) -> Due {
        let (mut slots, mut repeats) = (Vec::new(), Vec::new());
        for (at, event) in self.service.stack.events.drain() {
            match event {
                Event::Slot(cell, generation) => {
                    if self.service.cells[cell.index()].fire(generation) {
                        slots.push((cell.0, at));
                    }
                }
                Event::RepeatRequest(leg, generation) => {
                    if self.service.stack.requests[leg.index()].fire_repeat(generation) {
                        repeats.push((leg, at));
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        (slots, repeats)
    }

    fn sent(&self) -> u64 {
        self.service.stack.requests[0].sent()
    }

    fn waits(&self, now: Time, direction: Direction) -> u64 {
        self.service.stack.backlog(now, LEG, direction)
    }
}

fn micros(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn millis(millis: u64) -> Time {
    micros(1000 * millis)
}

#[test]
fn a_downlink_packet_waits_until_the_base_station_is_ready_and_wakes_its_cell_for_that_slot() {
    let mut rig = Rig::new(vec![lte(2e9)], ue());
    let takes = rig.service.cells[0].plan.config.timing.base_preparation;
    let ready_at = micros(10_300) + takes;
    rig.send_packet(micros(10_300), DOWN);
    let waiting = rig.service.stack.downlink_waiting(micros(10_300), LEG);
    assert_eq!(waiting, (0, Some(ready_at)), "not in RLC yet");
    let frame = &rig.service.cells[0].plan.frame;
    let slot_at = frame.start_of(frame.slot_from(ready_at));
    assert!(slot_at >= ready_at && slot_at < ready_at + Span::from_millis(1));
    assert_eq!(rig.events(), (vec![(0, slot_at)], vec![]));

    rig.run(ready_at, |service, env| {
        service.on_downlink_data(BEARER, env);
    });
    let (bytes, next) = rig.service.stack.downlink_waiting(ready_at, LEG);
    assert!(bytes > 1000 && next.is_none(), "in RLC: {bytes}");
}

#[test]
fn a_ue_asks_once_for_all_that_waits() {
    let mut rig = Rig::new(vec![lte(2e9)], ue());
    rig.send_packet(micros(300), UP);
    rig.send_packet(micros(400), UP);
    assert_eq!(rig.sent(), 1);
    let requests = lte(2e9).requests;
    let (slots, repeats) = rig.events();
    // Slot 0 of the period has an opportunity, so the UE sends its first request at the opportunity
    // of the next period.
    let period = Span::from_millis(u64::from(requests.period));
    let asked_at = Time::ZERO + period;
    assert_eq!(repeats, [(LEG, asked_at + requests.repeat_after)]);
    // The cell must consider the UE from the reception of the request on, and not before.
    let [(0, woken_at)] = slots[..] else {
        panic!("{slots:?}")
    };
    assert!(woken_at > asked_at, "{woken_at:?}");
}

#[test]
fn a_ue_without_an_answer_asks_again_and_gives_up_in_the_end() {
    let mut cell = lte(2e9);
    cell.requests.most = 2;
    let repeat_after = cell.requests.repeat_after;
    let mut rig = Rig::new(vec![cell], ue());
    rig.send_packet(micros(300), UP);
    let again = |rig: &mut Rig, now| rig.run(now, |service, env| service.on_repeat(LEG, env));
    assert!(!again(&mut rig, millis(11)), "too early");
    assert_eq!(rig.sent(), 1);
    let now = millis(10) + repeat_after;
    assert!(!again(&mut rig, now));
    assert_eq!(rig.sent(), 2);
    let now = now + repeat_after + repeat_after;
    assert!(again(&mut rig, now), "twice is enough");
    assert_eq!(rig.sent(), 2);
}

#[test]
fn who_has_nothing_asks_for_nothing_and_wakes_nobody() {
    let mut rig = Rig::new(vec![lte(2e9)], ue());
    rig.run(millis(3), |service, env| {
        service.on_uplink_data(Some(LEG), env);
        service.on_uplink_data(None, env);
        service.on_backlog(Some(LEG), DOWN, env);
        service.on_backlog(Some(LEG), UP, env);
        service.on_downlink_data(BEARER, env);
        service.on_received_block(LEG, env.now);
        assert!(!service.on_repeat(LEG, env));
    });
    assert_eq!(rig.sent(), 0);
    assert_eq!(rig.events(), (vec![], vec![]));
}

#[test]
fn a_ue_with_an_occasion_of_its_own_uses_it_and_does_not_ask() {
    let mut cell = lte(2e9);
    cell.configured_grant = Some(ConfiguredGrant {
        period: 5,
        units: 2,
        scheme: 10,
    });
    let mut rig = Rig::new(vec![cell], ue());
    rig.send_packet(micros(6_300), UP);
    // UE 0 has configured grants in every fifth slot, beginning with the first slot. So the cell
    // wakes up at 10 ms, and the UE sends no request.
    assert_eq!(rig.events(), (vec![(0, millis(10))], vec![]));
    assert_eq!(rig.sent(), 0);

    // After the UE has left the cell, it has no configured grants and sends scheduling requests.
    rig.run(millis(7), |service, _| service.leave_leg(LEG));
    assert!(!rig.service.stack.requests[0].has_occasions());
}

#[test]
fn an_occasion_of_a_ue_that_leaves_is_free_again() {
    let mut cell = lte(2e9);
    let units = cell.resource_blocks / 3;
    cell.configured_grant = Some(ConfiguredGrant {
        period: 5,
        units: 6,
        scheme: 10,
    });
    assert!(
        units > 6,
        "one fits into half of a slot and a second does not"
    );
    let mut rig = Rig::new(vec![cell], ue());
    assert!(rig.service.stack.requests[0].has_occasions());
    assert!(!rig.service.cells[0].reserve_occasion(0));
    rig.service.leave_leg(LEG);
    assert!(rig.service.cells[0].reserve_occasion(0));
}

#[test]
fn secondary_cells_are_woken_for_what_they_carry() {
    let cells = || vec![lte(2e9), lte(2.6e9)];
    for has_uplink in [false, true] {
        let mut rig = Rig::new(cells(), aggregated(has_uplink));
        rig.send_packet(Time::ZERO, DOWN);
        let (slots, _) = rig.events();
        let slot_of = |cell| slots.iter().find(|slot| slot.0 == cell).map(|slot| slot.1);
        let (first, second) = (
            slot_of(0).expect("the primary"),
            slot_of(1).expect("the secondary"),
        );
        assert_eq!(second, millis(24), "it is activated first");
        assert!(first < second);

        // A UE sends requests in its primary cell only, even if other cells carry its uplink.
        rig.send_packet(millis(30), UP);
        assert_eq!(rig.sent(), 1);
        let (slots, repeats) = rig.events();
        assert!(slots.iter().all(|slot| slot.0 == 0), "{slots:?}");
        assert_eq!(repeats.len(), 1);
    }
}

#[test]
fn a_failed_link_is_not_served_for_a_while_and_then_asks_anew() {
    let mut rig = Rig::new(vec![lte(2e9)], ue());
    rig.send_packet(micros(300), UP);
    let _ = rig.events();
    let until = millis(50) + lte(2e9).reestablish_after;
    rig.run(millis(50), |service, env| {
        service.fail_link((LEG, Finder::Ue), env);
    });
    assert_eq!(rig.waits(millis(50), UP), 0, "RLC starts afresh");
    let (slots, _) = rig.events();
    assert!(
        !slots.is_empty() && slots.iter().all(|&(_, at)| at >= until),
        "{slots:?}"
    );
    // The failure has cleared the earlier request, so new data causes a new one.
    rig.send_packet(millis(51), UP);
    assert_eq!(rig.sent(), 2);
    let (_, repeats) = rig.events();
    assert!(
        !repeats.is_empty() && repeats.iter().all(|&(_, at)| at > until),
        "{repeats:?}"
    );
    assert_eq!(rig.service.stack.ues[0].failures(), 1);
}

#[test]
fn a_packet_of_an_idle_ue_waits_until_it_is_back() {
    let states = StatesConfig {
        inactivity: Span::from_millis(100),
        ..StatesConfig::default()
    };
    let mut rig = Rig::new(
        vec![lte(2e9)],
        UeConfig {
            states: Some(states),
            ..ue()
        },
    );
    let Some((at, Event::InactivityCheck(UE, generation))) =
        rig.service.stack.events.drain().next()
    else {
        panic!("nothing would release it");
    };
    assert_eq!(at, millis(100));
    let Service { states, stack, .. } = &mut rig.service;
    states.on_inactivity_check(at, (UE, generation), stack, &mut NullProbe);
    rig.send_packet(millis(200), UP);
    assert_eq!(rig.waits(millis(200), UP), 0);
    let Some((at, Event::Connected(UE))) = rig.service.stack.events.drain().next() else {
        panic!("nothing would bring it back");
    };
    rig.run(at, |service, env| service.on_reconnected(UE, env));
    assert!(rig.waits(at, UP) > 1000);
    assert_eq!(rig.sent(), 1);
}

#[test]
fn a_ue_that_names_no_cell_connects_to_the_one_that_it_measures_best() {
    let near = lte(2e9);
    let mut far = lte(2.6e9);
    far.site = Point::new(5000.0, 0.0, 0.0);
    let ue = UeConfig {
        serving: Serving::Strongest,
        ..ue()
    };
    let mut rig = Rig::new(vec![far, near], ue);
    // Packets that arrive before the cell selection wait in the bearer.
    rig.send_packet(Time::ZERO, UP);
    assert_eq!(rig.service.stack.serving_cell(UE), None);
    rig.service.stack.events.drain().for_each(drop);
    rig.run(millis(1), |service, env| {
        service.on_cell_selection(UE, &mut Nowhere, env);
    });
    assert_eq!(rig.service.stack.serving_cell(UE), Some(CellId(1)));
    assert_eq!(rig.sent(), 1);
    let (slots, _) = rig.events();
    assert!(!slots.is_empty() && slots.iter().all(|slot| slot.0 == 1));
}

#[test]
fn a_ue_sleeps_by_the_cycle_of_its_cell_while_nothing_comes() {
    let span = |name: &str, millis| (name.to_owned(), Value::Span(Span::from_millis(millis)));
    let given = Parameters(vec![span("drx-cycle", 160), span("drx-inactivity", 100)]);
    let carrier = Carrier {
        site: Point::default(),
        carrier: Hertz(2e9),
        bandwidth: Hertz(10e6),
    };
    let cell = Radio::new("lte", &given).expect("its name").cell(&carrier);
    let mut rig = Rig::new(vec![cell.expect("a cell")], ue());
    let sleeping = Some(Span::from_millis(160));
    let cycle = |rig: &Rig, now| rig.service.sleep(UE, now).map(|sleep| sleep.cycle);
    assert_eq!(cycle(&rig, Time::ZERO), sleeping);
    // The pending request keeps the UE awake from its opportunity on.
    rig.send_packet(micros(300), UP);
    assert_eq!(cycle(&rig, millis(60)), None);
    assert_eq!(cycle(&rig, millis(200)), sleeping);
    let always = Rig::new(vec![lte(2e9)], ue());
    assert_eq!(always.service.sleep(UE, Time::ZERO), None);
}
