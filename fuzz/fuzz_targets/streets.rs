//! Checks that arbitrary text is read as a table of streets or rejected. A vehicle on the streets
//! always has a finite position.

#![no_main]

use fadeout_core::random::Stream;
use fadeout_core::{Span, Time};
use fadeout_mobility::import::streets;
use fadeout_mobility::traffic::{
    Body, CarFollowing, Driving, Fleet, Mix, Population, StreetMap, TrafficConfig,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match streets(text) {
    Ok((streets, lights)) => drive(StreetMap {
        streets,
        lights,
        lane_width: 3.5,
        turn_speed: 7.0,
        cycle: 60.0,
    }),
    Err(error) => assert!(error.line >= 1 && error.line <= text.lines().count() + 1),
});

/// Drives three cars for five seconds on the streets of a map.
fn drive(map: StreetMap) {
    let Ok(road) = map.road() else { return };
    let car = Body {
        length: 5.0,
        width: 2.0,
        height: 1.6,
        antenna_height: 1.6,
        antenna_ahead: 0.0,
        share: 1.0,
        platoon: 1,
        acceleration: 2.6,
        deceleration: 4.5,
    };
    let config = TrafficConfig {
        road,
        population: Population::Number(3),
        mix: Mix::new(vec![car]).expect("a share"),
        driving: Driving {
            model: CarFollowing::Krauss,
            ..Driving::default()
        },
        warm_up: Span::from_secs(1),
        step: Span::from_millis(100),
    };
    let Ok(mut fleet) = Fleet::driven(config, Stream::new(1, "fuzz", 0)) else {
        return;
    };
    for tenth in 0..50 {
        let time = Time::ZERO + Span::from_millis(100 * tenth);
        fleet.advance(time);
        for car in 0..fleet.len() {
            let (pose, _) = fleet.pose(car, time);
            let known = [pose.front.0, pose.front.1, pose.heading];
            assert!(known.iter().all(|value| value.is_finite()), "{pose:?}");
        }
    }
}
