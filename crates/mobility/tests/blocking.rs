//! Tests of blocking by vehicles, against exact geometry and closed forms.

use fadeout_core::random::Stream;
use fadeout_core::{Motion, NodeId, Point, Span, Time};
use fadeout_mobility::traffic::{
    Body, CarFollowing, Driving, Fleet, GapRule, Mix, Motorway, Population, Streets, TrafficConfig,
};
use fadeout_mobility::{Obstacle, Places, Turn};
use fadeout_testkit::Cases;

const CAR: Body = Body {
    length: 5.0,
    width: 2.0,
    height: 1.6,
    antenna_height: 1.6,
    antenna_ahead: 0.0,
    share: 0.8,
    platoon: 1,
    acceleration: 2.6,
    deceleration: 4.5,
};
const TRUCK: Body = Body {
    length: 13.0,
    width: 2.6,
    height: 3.0,
    antenna_height: 3.0,
    share: 0.2,
    ..CAR
};

/// Clearance in square roots of metres beyond which a vehicle has no effect on a line.
const CLEAR: f64 = 0.8;

/// Node that rides on no vehicle.
const ELSEWHERE: NodeId = NodeId(99);

fn time_at_secs(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

fn motorway(speeds: &[f64], length: f64) -> Motorway {
    Motorway {
        start: (0.0, 0.0),
        heading: 0.0,
        length,
        lanes: speeds.to_vec(),
        opposite: Vec::new(),
        lane_width: 4.0,
        median: 0.0,
    }
}

fn traffic(road: &Motorway, bodies: Vec<Body>, population: Population, seed: u64) -> Fleet {
    let config = TrafficConfig {
        road: road.road().expect("lanes"),
        population,
        mix: Mix::new(bodies).expect("shares"),
        driving: Driving::default(),
        warm_up: Span::ZERO,
        step: Span::from_millis(100),
    };
    Fleet::driven(config, Stream::new(seed, "test", 0)).expect("a good road")
}

/// Returns the lengths of the intervals in which `is_on` is true. `is_on` is sampled once a
/// millisecond.
fn durations(until_ms: u64, mut is_on: impl FnMut(Time) -> bool) -> Vec<f64> {
    let mut found = Vec::new();
    let mut run = 0;
    for ms in 0..until_ms {
        if is_on(Time::ZERO + Span::from_millis(ms)) {
            run += 1;
        } else if run > 0 {
            found.push(f64::from(run) / 1000.0);
            run = 0;
        }
    }
    found
}

/// Checks the reference values `dur_*` of the reference sheet. The base station is at the origin,
/// and a car's antenna at y = 10 m. A thin truck of 13 m drives between them at y = 6 m. The ray is
/// below the truck's roof.
#[test]
fn a_shadow_lasts_as_long_as_the_closed_form_says() {
    for (car, truck, expected) in [
        (20.0, 0.0, 1.083_333),
        (30.0, 22.22, 3.080_569),
        (25.0, 25.0, 1.3),
        (25.0, -25.0, 0.325),
    ] {
        let unit = Point::new(0.0, 0.0, 1.5);
        let is_blocked = |time: Time| {
            let passed = time.since(Time::ZERO).as_secs_f64() - 10.0;
            let thin = Obstacle {
                center: (truck * passed, 6.0),
                size: (13.0, 1e-6),
                turn: Turn::NONE,
                height: 3.0,
                base: 0.0,
            };
            thin.crossing(unit, Point::new(car * passed, 10.0, 1.5))
                .is_some()
        };
        let found = durations(20_000, is_blocked);
        assert_eq!(found.len(), 1);
        // The error is at most two samples of a millisecond.
        assert!(
            (found[0] - expected).abs() < 0.002,
            "{found:?}, not {expected}"
        );
    }
}

/// Checks the reference values `roof_ratio_*` and `roof_min_D_gap10` of the reference sheet. They
/// give the distance from a vehicle's side up to which the vehicle blocks the ray.
#[test]
fn a_vehicle_shades_only_those_whose_ray_is_below_its_roof() {
    let unit = Point::new(0.0, 0.0, 5.0);
    let shades = |across: f64, gap: f64| {
        let far_side = across - gap;
        let truck = Obstacle {
            center: (0.0, far_side - 0.5),
            size: (13.0, 1.0),
            turn: Turn::NONE,
            height: 3.0,
            base: 0.0,
        };
        truck.crossing(unit, Point::new(0.0, across, 1.5)).is_some()
    };
    assert!(shades(23.4, 10.0) && !shades(23.2, 10.0));
    for across in [10.0, 30.0, 80.0] {
        assert!(shades(across, 0.428 * across) && !shades(across, 0.429 * across));
    }
}

/// Trucks pass between the base station and a parked car as a Poisson process of density rho. The
/// ray is blocked for a share 1 - exp(-rho L) of the time. The mean blockage lasts (exp(rho L) - 1)
/// / flow. The length L includes the slant of the ray.
#[test]
fn a_stream_of_trucks_blocks_as_an_infinite_server_is_busy() {
    let truck = Body {
        width: 0.1,
        ..TRUCK
    };
    let speed = 20.0;
    let road = motorway(&[speed], 20_000.0);
    let mut clear = 0.0;
    let (mut blocked, mut spells) = (0.0, 0.0);
    let mut times = 0.0;
    let cases = Cases::new(800).among(100);
    cases.run(|seed| {
        let gaps = Population::Gaps(GapRule::Tr36885);
        let mut places = Places::default();
        places.add(traffic(&road, vec![truck], gaps, seed));
        let unit = Point::new(9000.0, -8.0, 1.5);
        let car = Point::new(9000.0, 6.0, 1.5);
        let mut was = false;
        for tick in 0..80_000_u64 {
            let time = Time::ZERO + Span::from_millis(10 * tick);
            let edges = places.vehicles((ELSEWHERE, time), (unit, car), CLEAR);
            let is = edges.iter().any(|edge| edge.depth > 0.0);
            times += 1.0;
            blocked += f64::from(u8::from(is));
            clear += f64::from(u8::from(!is));
            spells += f64::from(u8::from(is && !was));
            was = is;
        }
    });
    let density = 1.0 / (2.5 * speed);
    let (load, flow) = (density * 13.0, density * speed);
    let expected = 1.0 - fadeout_core::math::exp(-load);
    let share = blocked / times;
    // Each seed has about 400 trucks on the ring, so the relative standard deviation is 5 %. The
    // limit is four standard errors.
    let error = 4.0 * 0.05 / (cases.count() as f64).sqrt();
    assert!(
        (share - expected).abs() < error * expected,
        "{share}, not {expected}"
    );
    let mean = 0.01 * blocked / spells;
    let busy = (fadeout_core::math::exp(load) - 1.0) / flow;
    assert!(
        (mean - busy).abs() < 0.84 * error * busy,
        "{mean}, not {busy}"
    );
    let gap = 0.01 * clear / spells;
    assert!(
        (gap - 1.0 / flow).abs() < 0.84 * error / flow,
        "{gap}, not {}",
        1.0 / flow
    );
}

/// A moving car is blocked for the same share of time at any speed. Its blockages are shorter if
/// its ray moves faster over the trucks' lane. A ray that crosses the lane at the share k of its
/// length passes the trucks at a speed of |u - k v|.
#[test]
fn a_stream_of_trucks_blocks_a_moving_car_for_the_same_share_of_time() {
    // The trucks are so thin that the slant of the ray adds at most a millimetre to the 13 m.
    let truck = Body {
        width: 1e-3,
        ..TRUCK
    };
    let speed = 20.0;
    let road = motorway(&[speed], 20_000.0);
    // The trucks' lane is 100 m from the base station and 50 m from the car, so k is 2/3.
    let (unit, k) = (Point::new(10_000.0, -98.0, 1.5), 2.0 / 3.0);
    let (ticks, tick) = (2500_u64, 0.02);
    let density = 1.0 / (2.5 * speed);
    let load = density * 13.0;
    let expected = 1.0 - fadeout_core::math::exp(-load);
    let cases = Cases::new(4000).among(100);
    for car_speed in [0.5 * speed, 2.0 * speed, -speed] {
        let (mut blocked, mut spells) = (0.0, 0.0);
        cases.run(|seed| {
            let gaps = Population::Gaps(GapRule::Tr36885);
            let mut places = Places::default();
            places.add(traffic(&road, vec![truck], gaps, seed));
            let mut was = true;
            for number in 0..ticks {
                let time = Time::ZERO + Span::from_millis(20 * number);
                let passed = number as f64 * tick - 25.0;
                let car = Point::new(10_000.0 + car_speed * passed, 52.0, 1.5);
                let edges = places.vehicles((ELSEWHERE, time), (unit, car), CLEAR);
                let is = edges.iter().any(|edge| edge.depth > 0.0);
                blocked += f64::from(u8::from(is));
                spells += f64::from(u8::from(is && !was));
                was = is;
            }
        });
        let sweep = (speed - k * car_speed).abs();
        // The limit is four standard errors of the number of trucks observed.
        let times = ticks as f64 * cases.count() as f64;
        let trucks = times * tick * sweep * density;
        let error = 4.0 / trucks.sqrt();
        let share = blocked / times;
        assert!(
            (share - expected).abs() < error * expected,
            "{car_speed} m/s: {share}, not {expected}"
        );
        let mean = tick * blocked / spells;
        let busy = (fadeout_core::math::exp(load) - 1.0) / (density * sweep);
        assert!(
            (mean - busy).abs() < error * busy,
            "{car_speed} m/s: {mean} s, not {busy}"
        );
    }
}

/// The index finds the same vehicles as a search over all vehicles. A depth above zero agrees with
/// the exact crossing of the box.
#[test]
fn the_index_finds_what_a_look_at_all_finds() {
    let streets = Streets {
        corner: (0.0, 0.0),
        blocks: (3, 3),
        pitch: (120.0, 90.0),
        lanes: 2,
        lane_width: 3.5,
        sidewalk: 3.0,
        speed: 14.0,
        turn_speed: 7.0,
        turn_probability: 0.5,
        cycle: 30.0,
    };
    let config = TrafficConfig {
        road: streets.road().expect("a road"),
        population: Population::Number(150),
        mix: Mix::new(vec![CAR, TRUCK]).expect("shares"),
        driving: Driving {
            model: CarFollowing::Idm,
            ..Driving::default()
        },
        warm_up: Span::from_secs(10),
        step: Span::from_millis(100),
    };
    let mut fleet = Fleet::driven(config, Stream::new(3, "test", 0)).expect("room");
    let mut places = Places::default();
    places.add(fleet.clone());
    let mut random = Stream::new(8, "test", 0);
    let (mut met, mut cut) = (0_u64, 0_u64);
    let samples = Cases::new(4000);
    for sample in 0..samples.count() as u32 {
        let time = time_at_secs(0.007 * f64::from(sample));
        fleet.advance(time);
        let mut place = |high: f64| {
            Point::new(
                random.uniform_in(-60.0, 420.0),
                random.uniform_in(-60.0, 330.0),
                high,
            )
        };
        let (unit, car) = (place([1.5, 5.0, 10.0][sample as usize % 3]), place(1.5));
        let near: Vec<Obstacle> = (0..fleet.len())
            .filter_map(|one| fleet.obstacle(one, time))
            .collect();
        let is_inside = |end: Point| near.iter().any(|one| one.crossing(end, end).is_some());
        if is_inside(unit) || is_inside(car) {
            continue;
        }
        let crossed = near
            .iter()
            .filter(|one| one.crossing(unit, car).is_some())
            .count();
        let edges = places.vehicles((ELSEWHERE, time), (unit, car), CLEAR);
        let deep = edges.iter().filter(|edge| edge.depth > 1e-6).count();
        let touched = edges.iter().filter(|edge| edge.depth.abs() <= 1e-6).count();
        assert!(
            deep <= crossed && crossed <= deep + touched,
            "{deep} of {crossed}"
        );
        assert!(edges.windows(2).all(|pair| pair[0].share <= pair[1].share));
        met += edges.len() as u64;
        cut += crossed as u64;
    }
    let samples = samples.count();
    assert!(met > samples && 8 * cut > 3 * samples, "{met} {cut}");
}

/// The depth has no jump while a truck drives through a ray.
#[test]
fn a_passing_truck_comes_and_goes_without_a_step() {
    let road = motorway(&[30.0], 1000.0);
    let mut places = Places::default();
    places.add(traffic(&road, vec![TRUCK], Population::Number(1), 4));
    let (unit, car) = (Point::new(500.0, -14.0, 5.0), Point::new(507.0, 3.0, 1.5));
    // The truck is treated as an edge at 28 GHz. Its diffraction parameter v is the depth divided
    // by the root of the wavelength.
    let parameter = |depth: f64| depth / 0.010_707_f64.sqrt();
    let (mut before, mut deepest) = (-7.7, -7.7_f64);
    for tenth in 0..340_000_u64 {
        let time = Time::ZERO + Span::from_micros(100 * tenth);
        let edges = places.vehicles((ELSEWHERE, time), (unit, car), CLEAR);
        let v = edges
            .first()
            .map_or(-7.7, |edge| parameter(edge.depth).max(-7.7));
        // The truck moves 3 mm between samples. At 4 m from an end, a metre across the line changes
        // the offset by at most 1.4.
        assert!((v - before).abs() < 0.1, "{time:?}: {before} {v}");
        deepest = deepest.max(v);
        before = v;
    }
    assert!(deepest > 3.0, "{deepest}");
}

#[test]
fn a_roof_antenna_sees_over_its_own_vehicle_and_a_bumper_does_not_see_behind() {
    let road = motorway(&[0.0], 1000.0);
    let see = |antenna_height: f64, antenna_ahead: f64, from_behind: bool| {
        let body = Body {
            antenna_height,
            antenna_ahead,
            ..CAR
        };
        let mut places = Places::default();
        places.add(traffic(&road, vec![body], Population::Number(1), 1));
        let own = NodeId(0);
        places.ride(own, 0, 0);
        let antenna = places.kinematics_at(own, Time::ZERO).position;
        let side = if from_behind { -50.0 } else { 50.0 };
        let unit = Point::new(antenna.x + side, antenna.y, 1.0);
        let edges = places.vehicles((own, Time::ZERO), (unit, antenna), CLEAR);
        edges.iter().any(|edge| edge.depth > 0.0)
    };
    assert!(!see(1.6, 0.0, true));
    assert!(see(0.75, 2.6, true) && !see(0.75, 2.6, false));
}
