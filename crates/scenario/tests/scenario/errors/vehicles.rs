//! Tests of mistakes in groups of vehicles and in UEs on them.

use super::*;

const ROAD: &str = "[vehicles.cars]\nroad = { length = \"1 km\", lanes = [\"80 km/h\"] }\n";

#[test]
fn roads_and_vehicles_make_sense() {
    for (table, expected) in [
        (
            "[vehicles.cars]\nroad = { length = \"1 km\" }\n",
            "missing key `lanes`",
        ),
        (
            "[vehicles.cars]\nroad = { length = \"1 km\", lanes = [] }\n",
            "expected a list",
        ),
        (
            "[vehicles.cars]\nroad = { pitch = [\"20 m\", \"250 m\"] }\nfollowing = \"idm\"\n",
            "streets of 20 m, but a pitch of 20 m",
        ),
        (
            "[vehicles.cars]\nroad = { pitch = [\"433 m\", \"250 m\"] }\n",
            "vehicles on streets with crossings, but no car-following model",
        ),
        (
            &format!("{ROAD}types = [{{ length = \"-5 m\" }}]\n"),
            "-5 m",
        ),
        (
            &format!("{ROAD}types = [{{ share = 0 }}]\n"),
            "vehicle types whose shares are all zero",
        ),
        (&format!("{ROAD}number = 1000000\n"), "1000000"),
        (
            &format!("{ROAD}gaps = \"tr-36.885\"\nfollowing = \"idm\"\n"),
            "a car-following model, but at the start vehicles may overlap",
        ),
    ] {
        let (found, _) = only(&format!("{LINK}{table}\n"));
        assert!(found.contains(expected), "{found}");
    }
}
