use super::vehicle::LogNormal;
use super::*;
use fadeout_core::registry::Parameters;

fn model(name: &str) -> PathLoss {
    PathLoss::new(name, Parameters::NONE).expect(name)
}

/// Returns ends 10 m apart on the ground, which is less than every breakpoint distance.
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
    // Each entry contains the name, the deviation in LOS and NLOS in dB, three correlation
    // distances in metres, and the scenario. The distances are those of the shadowing in LOS, the
    // shadowing in NLOS, and the LOS state.
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
    // This test covers the models listed above. Each other model has a test in its own file.
    for entry in PATH_LOSS_MODELS {
        let (model, ends) = (model(entry.name), near());
        let sigma_db =
            [Condition::Los, Condition::Nlos].map(|c| model.shadowing_sigma_db(&ends, c));
        assert!(
            sigma_db.iter().all(|db| (0.0..=20.0).contains(db)),
            "{}",
            entry.name
        );
        let Places {
            shadowing_m,
            state_m,
            ..
        } = model.places();
        let distances = [shadowing_m.los, shadowing_m.nlos, state_m];
        assert!(distances.iter().all(|&m| m >= 1.0), "{}", entry.name);
    }
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

/// Returns ends with these heights and this distance on the ground.
fn ends(ground_m: f64, base_m: f64, ue_m: f64, carrier_ghz: f64) -> Ends {
    Ends::new(
        Point::new(0.0, 0.0, base_m),
        Point::new(ground_m, 0.0, ue_m),
        Hertz(carrier_ghz * 1e9),
    )
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() < 1e-9,
        "{what}: {found}, not {expected}"
    );
}

/// The expected values were computed by hand from the formulas of the sources. They cover terms
/// that are small or zero in the reference vectors: tall UEs, low carriers, short distances.
#[test]
fn losses_are_those_of_the_formulas() {
    use Condition::{Los, Nlos};
    for (name, ends, condition, expected) in [
        (
            "free-space",
            ends(100.0, 10.0, 10.0, 2.0),
            Los,
            78.468_383_135_163,
        ),
        (
            "free-space",
            ends(0.5, 10.0, 10.0, 2.0),
            Nlos,
            38.468_383_135_163,
        ),
        (
            "lte-macro",
            ends(500.0, 15.0, 15.0, 0.9),
            Los,
            109.581_272_163_034_31,
        ),
        (
            "lte-macro",
            ends(500.0, 15.0, 15.0, 1.44),
            Nlos,
            109.581_272_163_034_31,
        ),
        (
            "lte-macro",
            ends(500.0, 15.0, 15.0, 2.0),
            Los,
            116.781_272_163_034_3,
        ),
        (
            "hetnet-pico",
            ends(200.0, 5.0, 5.0, 2.0),
            Los,
            89.191_526_909_377_22,
        ),
        (
            "hetnet-pico",
            ends(200.0, 5.0, 5.0, 2.0),
            Nlos,
            119.188_624_837_399_3,
        ),
        ("hetnet-pico", ends(3.0, 5.0, 5.0, 2.0), Los, 62.0),
        (
            "uma",
            ends(5000.0, 25.0, 10.0, 0.5),
            Los,
            113.087_329_482_404_68,
        ),
        (
            "uma",
            ends(500.0, 25.0, 10.0, 2.0),
            Nlos,
            119.943_981_750_674_48,
        ),
        (
            "umi",
            ends(5000.0, 10.0, 5.0, 0.5),
            Los,
            129.112_405_031_268_22,
        ),
        (
            "umi",
            ends(500.0, 10.0, 5.0, 2.0),
            Nlos,
            123.036_346_552_140_88,
        ),
        (
            "3d-uma",
            ends(500.0, 25.0, 10.0, 2.0),
            Los,
            93.402_237_590_421_04,
        ),
        (
            "3d-uma",
            ends(500.0, 25.0, 10.0, 2.0),
            Nlos,
            119.965_915_603_098_28,
        ),
        (
            "3d-umi",
            ends(500.0, 10.0, 10.0, 2.0),
            Nlos,
            127.028_979_046_395_4,
        ),
        (
            "rma",
            ends(2000.0, 35.0, 5.0, 0.7),
            Nlos,
            123.022_229_488_814_59,
        ),
        (
            "inh-open",
            ends(20.0, 3.0, 3.0, 28.0),
            Los,
            83.850_979_551_831_26,
        ),
    ] {
        let found = model(name).loss_db(&ends, condition);
        assert_near(found, expected, &format!("{name} {condition:?}"));
    }
    // The effective environment height is never drawn in 3D-UMi.
    let drawn = Ends {
        environment_height_m: 12.0,
        ..ends(3000.0, 25.0, 20.0, 0.5)
    };
    assert_near(
        model("3d-umi").loss_db(&drawn, Los),
        98.476_080_960_643_69,
        "3d-umi",
    );
}

#[test]
fn ends_that_are_too_close_have_the_loss_at_the_models_shortest_distance() {
    for (name, least_m) in [
        ("uma", 10.0),
        ("umi", 10.0),
        ("3d-uma", 10.0),
        ("3d-umi", 10.0),
    ] {
        // The first breakpoint is far away. The second is below the shortest distance of the model.
        for (base_m, carrier_ghz) in [(25.0, 3.5), (2.0, 0.5)] {
            let loss_db = |ground_m| {
                let ends = ends(ground_m, base_m, 1.5, carrier_ghz);
                [Condition::Los, Condition::Nlos].map(|it| model(name).loss_db(&ends, it))
            };
            assert_eq!(loss_db(2.0), loss_db(least_m), "{name}");
            assert!(loss_db(least_m)[0] < loss_db(least_m + 1.0)[0], "{name}");
        }
    }
}

#[test]
fn probabilities_of_sight_are_those_of_the_formulas() {
    for (name, ground_m, expected) in [
        ("hetnet-pico", 50.0, 0.779_214_157_901_535_6),
        ("hetnet-pico", 60.0, 0.628_632_108_928_330_7),
        ("hetnet-pico", 80.0, 0.347_417_256_114_007_6),
        ("hetnet-pico", 200.0, 0.006_363_169_006_699_039),
        ("inh-mixed", 1.2, 1.0),
        ("inh-mixed", 3.0, 0.681_827_406_097_749_4),
        ("inh-mixed", 6.5, 0.32),
        ("inh-open", 5.0, 1.0),
        ("inh-open", 20.0, 0.809_074_395_131_938_5),
        ("v2x-urban", 10.0, 0.910_063_941_645_487_4),
        ("v2x-urban", 50.0, 0.867_002_239_588_188_6),
        ("v2x-urban", 200.0, 0.240_416_511_813_777_02),
        ("v2x-highway", 100.0, 0.9277),
        ("v2x-highway", 400.0, 0.8002),
    ] {
        let found = model(name).state_probabilities(&ends(ground_m, 3.0, 1.5, 6.0));
        assert_near(found.los, expected, &format!("{name} at {ground_m} m"));
        assert_eq!(found.outage, 0.0);
    }
}

/// TR 38.901 Table 7.4.1-1 note 1 applies to a UE at a height of 22.5 m and a distance of 200 m.
/// The term C of the note is 0.95^1.5 * 1.25 * 8 * exp(-4/3). The environment height is 12, 15, 18
/// or 21 m.
#[test]
fn the_environment_of_a_tall_ue_is_one_metre_or_a_multiple_of_three() {
    let c = 2.440765740339483;
    let one = 1.0 / (1.0 + c);
    let height = |ue_m, uniform| tr38901::uma_environment_height_m(200.0, ue_m, uniform);
    assert_eq!(height(22.5, 0.0), 1.0);
    assert_eq!(height(22.5, one - 1e-9), 1.0);
    for (part, expected) in [12.0, 15.0, 18.0, 21.0].into_iter().enumerate() {
        let draw_at = |share: f64| one + (1.0 - one) * (part as f64 + share) / 4.0;
        assert_eq!(height(22.5, draw_at(1e-9)), expected);
        assert_eq!(height(22.5, draw_at(1.0 - 1e-9)), expected);
    }
    // At a UE height of 13.5 m one environment height other than 1 m can be drawn. At 13.4 m there
    // is none, so the environment height is 1 m.
    assert_eq!(height(13.5, 1.0 - 1e-9), 12.0);
    assert_eq!(height(13.4, 1.0 - 1e-9), 1.0);
}

#[test]
fn a_ue_above_the_range_draws_the_environment_of_the_highest() {
    for ue_m in [22.6, 24.9, 26.0, 60.0, 1e4] {
        for step in 0..100 {
            let uniform = f64::from(step) / 100.0;
            let height = |ue_m| tr38901::uma_environment_height_m(200.0, ue_m, uniform);
            assert_eq!(height(ue_m), height(22.5), "{ue_m} m, {uniform}");
        }
    }
}

/// A scenario may have heights of 0 to 10 km, positions within 1,000 km, and carriers of 100 kHz to
/// 300 GHz. Every model has a loss in this range.
#[test]
fn every_model_has_a_loss_over_the_whole_range_of_a_scenario() {
    let heights = [
        0.0, 0.1, 1.0, 1.5, 10.0, 13.0, 13.5, 22.5, 22.6, 24.0, 26.0, 60.0, 150.0, 1e3, 1e4,
    ];
    let distances = [
        0.0, 1e-3, 1.0, 9.9, 18.0, 35.0, 200.0, 5e3, 2e4, 1e5, 1e6, 2.9e6,
    ];
    let carriers = [1e5, 4.5e8, 1.4e9, 3.5e9, 2.8e10, 1e11, 3e11];
    for entry in PATH_LOSS_MODELS {
        for (base_m, ue_m) in heights
            .iter()
            .flat_map(|a| heights.iter().map(move |b| (*a, *b)))
        {
            for ground_m in distances {
                for carrier in carriers {
                    check_ends(
                        &model(entry.name),
                        entry.name,
                        &Ends::new(
                            Point::new(0.0, 0.0, base_m),
                            Point::new(ground_m, 0.0, ue_m),
                            Hertz(carrier),
                        ),
                    );
                }
            }
        }
    }
}

/// Checks that losses are finite, probabilities are between 0 and 1, and deviations are not
/// negative. All environment heights that may be drawn are checked.
fn check_ends(model: &PathLoss, name: &str, ends: &Ends) {
    let draws: &[f64] = match model.draws_environment_height() {
        true => &[0.0, 0.5, 0.9, 1.0 - 1e-12],
        false => &[0.0],
    };
    for &uniform in draws {
        let ends = Ends {
            environment_height_m: tr38901::uma_environment_height_m(
                ends.ground_m,
                ends.ue_height_m,
                uniform,
            ),
            ..*ends
        };
        let StateProbabilities { los, outage } = model.state_probabilities(&ends);
        assert!((0.0..=1.0).contains(&los), "{name}: LOS {los} at {ends:?}");
        assert!(
            (0.0..=1.0).contains(&outage),
            "{name}: outage {outage} at {ends:?}"
        );
        for condition in [Condition::Los, Condition::Nlos] {
            let loss_db = model.loss_db(&ends, condition);
            assert!(loss_db.is_finite(), "{name}: {loss_db} dB at {ends:?}");
            let sigma_db = model.shadowing_sigma_db(&ends, condition);
            assert!(
                sigma_db.is_finite() && sigma_db >= 0.0,
                "{name}: {sigma_db} at {ends:?}"
            );
        }
    }
}

#[test]
fn a_parameter_out_of_range_is_refused() {
    let rural = |building_height_m| {
        PathLoss::RuralMacro(RuralMacro {
            building_height_m,
            ..RuralMacro::default()
        })
    };
    assert!(rural(50.0).check().is_ok() && rural(50.1).check().is_err());
    let close_in = CloseIn::default();
    for (changed, is_allowed) in [
        (close_in, true),
        (
            CloseIn {
                los_exponent: 10.1,
                ..close_in
            },
            false,
        ),
        (
            CloseIn {
                nlos_sigma_db: -0.1,
                ..close_in
            },
            false,
        ),
    ] {
        assert_eq!(PathLoss::CloseIn(changed).check().is_ok(), is_allowed);
    }
}

#[test]
fn a_blocking_vehicle_costs_by_how_many_antennas_it_is_above() {
    let law = |low, high| vehicle::blocking_vehicle(10.0, (low, high), 1.6);
    assert_eq!(law(1.7, 2.0), None);
    assert_eq!(law(1.7, 1.7), None);
    let above_both = LogNormal::from_moments(9.0, 4.5);
    let above_one = Some(LogNormal::from_moments(5.0, 4.0));
    assert_eq!(law(1.5, 1.5), Some(above_both));
    for (low, high) in [(1.5, 2.0), (2.0, 1.5), (1.6, 1.6), (1.5, 1.6), (1.6, 2.0)] {
        assert_eq!(law(low, high), above_one, "{low} {high}");
    }
    assert_near(
        above_both.value_for_draw(0.0),
        8.049_844_718_999_24,
        "the median",
    );
    assert_near(
        above_both.value_for_draw(1.0),
        12.910_404_397_856_832,
        "above it",
    );
    assert_near(
        above_both.value_for_draw(-2.0),
        3.129_556_644_905_831,
        "below it",
    );
}
