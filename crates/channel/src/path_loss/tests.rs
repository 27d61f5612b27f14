use super::*;
use fadeout_core::registry::Parameters;

fn model(name: &str) -> PathLoss {
    PathLoss::new(name, Parameters::NONE).expect(name)
}

/// Ends 10 m apart on the ground: before every breakpoint.
fn near() -> Ends {
    Ends::new(
        Point::new(0.0, 0.0, 25.0),
        Point::new(10.0, 0.0, 1.5),
        Hertz(3.5e9),
    )
}

#[test]
fn an_unknown_name_is_none() {
    assert!(PathLoss::new("uma-typo", Parameters::NONE).is_none());
}

#[test]
fn shadowing_has_the_deviation_and_the_distances_of_its_source() {
    // Name, deviation in LOS and NLOS in dB, correlation distance of the shadowing in LOS and NLOS
    // and of the state in metres, scenario of what else differs from place to place.
    let expected = [
        ("free-space", 0.0, 0.0, 10.0, 13.0, 50.0, "UMi"),
        ("close-in", 3.1, 8.2, 10.0, 13.0, 50.0, "UMi"),
        ("uma", 4.0, 6.0, 37.0, 50.0, 50.0, "UMa"),
        ("umi", 4.0, 7.82, 10.0, 13.0, 50.0, "UMi"),
        ("rma", 4.0, 8.0, 37.0, 120.0, 60.0, "RMa"),
        ("inh-mixed", 3.0, 8.03, 10.0, 6.0, 10.0, "InH"),
        ("inh-open", 3.0, 8.03, 10.0, 6.0, 10.0, "InH"),
        ("lte-macro", 8.0, 8.0, 50.0, 50.0, 50.0, "UMa"),
        ("hetnet-macro", 8.0, 8.0, 50.0, 50.0, 50.0, "UMa"),
        ("hetnet-pico", 10.0, 10.0, 10.0, 13.0, 50.0, "UMi"),
        ("3d-uma", 4.0, 6.0, 37.0, 50.0, 50.0, "UMa"),
        ("3d-umi", 3.0, 4.0, 10.0, 13.0, 50.0, "UMi"),
        ("nyu-28", 5.8, 8.7, 10.0, 13.0, 50.0, "UMi"),
        ("nyu-73", 5.8, 7.7, 10.0, 13.0, 50.0, "UMi"),
        ("v2x-urban", 3.0, 4.0, 10.0, 13.0, 50.0, "UMi"),
        ("v2x-highway", 3.0, 4.0, 10.0, 13.0, 50.0, "UMi"),
    ];
    assert_eq!(expected.len(), PATH_LOSS_MODELS.len());
    for (name, los_db, nlos_db, los_m, nlos_m, state_m, scenario) in expected {
        let (model, ends) = (model(name), near());
        let sigma_db =
            [Condition::Los, Condition::Nlos].map(|c| model.shadowing_sigma_db(&ends, c));
        assert_eq!(sigma_db, [los_db, nlos_db], "{name}");
        let shadowing_m = ByCondition {
            los: los_m,
            nlos: nlos_m,
        };
        let places = Places {
            shadowing_m,
            state_m,
            scenario,
        };
        assert_eq!(model.places(), places, "{name}");
    }
}

#[test]
fn rural_shadowing_in_sight_spreads_more_beyond_the_breakpoint() {
    let rural = model("rma");
    let breakpoint_m = RuralMacro::default().breakpoint_m(&near());
    let sigma_db = |ground_m, condition| {
        let ends = Ends { ground_m, ..near() };
        rural.shadowing_sigma_db(&ends, condition)
    };
    assert_eq!(sigma_db(breakpoint_m, Condition::Los), 4.0);
    assert_eq!(sigma_db(breakpoint_m + 1.0, Condition::Los), 6.0);
    assert_eq!(sigma_db(breakpoint_m + 1.0, Condition::Nlos), 8.0);
}

#[test]
fn environment_heights_are_drawn_in_urban_macro_cells_alone() {
    for entry in PATH_LOSS_MODELS {
        let expected = ["uma", "3d-uma"].contains(&entry.name);
        let found = model(entry.name).draws_environment_height();
        assert_eq!(found, expected, "{}", entry.name);
    }
}
