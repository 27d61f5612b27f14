//! Tests of UEs on vehicles, and of vehicles that block UEs.

use crate::common::parse;
use fadeout_core::{SightRow, Span, TrackRow};
use fadeout_scenario::Scenario;
use fadeout_sim::Tracks;

const CELL: &str = "duration = \"10 s\"\n\
    [cell.unit]\nheight = \"5 m\"\nposition = [\"500 m\", \"12 m\"]\nradio = \"nr\"\n\
    carrier = \"28 GHz\"\nbandwidth = \"100 MHz\"\nchannel = { path-loss = \"v2x-highway\" }\n\
    [link.backhaul]\nfrom = \"server\"\nto = \"unit\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";

fn scenario(text: &str) -> Scenario {
    parse(text, ".".into(), &[])
}

fn found(text: &str) -> Tracks {
    let scenario = scenario(&format!("{CELL}{text}"));
    let found = fadeout_sim::tracks(&scenario, Span::from_millis(20));
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn rows_of<'a>(tracks: &'a Tracks, ue: &str) -> Vec<(&'a TrackRow, &'a SightRow)> {
    let own = tracks
        .tracks
        .iter()
        .filter(|row| row.ue.as_deref() == Some(ue));
    own.zip(tracks.sights.iter().filter(|row| row.ue == ue))
        .collect()
}

#[test]
fn a_car_between_trucks_is_blocked_where_the_closed_form_says_and_a_car_s_roof_never_is() {
    // A row of trucks is on the lane next to the base station, at y = 2 m. Cars pass behind it at y
    // = -2 m.
    let trucks = "[vehicles.trucks]\nroad = { length = \"1 km\", start = [\"0 m\", \"4 m\"], lanes = [\"0 m/s\"] }\n\
        number = 20\ntypes = [{ length = \"13 m\", width = \"2.6 m\", height = \"3 m\" }]\n\
        [vehicles.cars]\nroad = { length = \"1 km\", lanes = [\"30 m/s\"] }\nnumber = 10\n\
        [ue.car]\ncount = 3\nvehicles = \"cars\"\n";
    let with_trucks = found(trucks);
    let cars = found(&trucks.replace("height = \"3 m\"", "height = \"1.6 m\""));
    let mut blocked = 0;
    for name in ["car-0", "car-1", "car-2"] {
        for (track, sight) in rows_of(&with_trucks, name) {
            assert_eq!(track.y_m, -2.0);
            // The antenna is 5 m high, the trucks 3 m and the car 1.6 m. The shadow covers 0.41 of
            // the distance from the car.
            let far = sight.vehicles_db;
            assert!((0.0..60.0).contains(&far));
            blocked += u32::from(far > 6.03);
        }
        // The roofs of cars are as high as the UE's antenna, and the base station is higher. So the
        // path at most grazes a roof, which costs 6.03 dB.
        assert!(
            rows_of(&cars, name)
                .iter()
                .all(|(_, sight)| sight.vehicles_db < 6.04)
        );
    }
    assert!(blocked > 50, "{blocked}");
}

#[test]
fn buildings_along_streets_cut_lines_of_sight() {
    let town = "[vehicles.town]\nroad = { pitch = [\"100 m\", \"100 m\"], corner = [\"500 m\", \"12 m\"], roof = \"20 m\" }\n\
        number = 40\nfollowing = \"idm\"\n[ue.car]\ncount = 12\nvehicles = \"town\"\n";
    let found = found(town);
    let hidden = found
        .sights
        .iter()
        .filter(|row| row.behind_building)
        .count();
    assert!(
        hidden > found.sights.len() / 4,
        "{hidden} of {}",
        found.sights.len()
    );
    assert!(
        hidden < found.sights.len(),
        "some drive on the unit's street"
    );
}

#[test]
fn a_ue_beyond_the_last_vehicle_and_too_many_rows_are_refused() {
    let cars = "[vehicles.cars]\nroad = { length = \"1 km\", lanes = [\"30 m/s\"] }\nnumber = 2\n\
        [ue.car]\ncount = 3\nvehicles = \"cars\"\n";
    let beyond = scenario(&format!("{CELL}{cars}"));
    let error = fadeout_sim::tracks(&beyond, Span::from_millis(20)).expect_err("too few vehicles");
    assert!(error.to_string().contains("which has 2"), "{error}");
    let fits = scenario(&format!("{CELL}{}", cars.replace("count = 3", "count = 2")));
    let many = fadeout_sim::tracks(&fits, Span::from_nanos(1)).expect("vehicles");
    assert!(
        many.expect_err("too many rows")
            .contains("steps of at least")
    );
}
