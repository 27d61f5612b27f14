//! Tests of deployments and dropped UEs: the cells that a table creates, and the positions of its
//! UEs.

use fadeout_core::GeometryRow;
use fadeout_core::math::{hypot, log10, pow};
use fadeout_scenario::{Penetration, Scenario, Source, parse, toml_from_json};

fn read(text: &str) -> Result<Scenario, String> {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let text = format!("duration = \"1 s\"\n{text}");
    parse(&text, &source, &[], fadeout_sim::catalog()).map_err(|errors| errors.to_string())
}

fn scenario(text: &str) -> Scenario {
    read(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn geometry(text: &str) -> Vec<GeometryRow> {
    let found = fadeout_sim::geometry(&scenario(text));
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Channel settings without random parts.
const PLAIN: &str = "cell = { channel = { path-loss = \"free-space\", shadowing = false, \
                     line-of-sight = \"clear\", fading = \"none\" } }\n";

#[test]
fn a_deployment_becomes_cells_that_a_file_can_change_and_that_read_the_same_again() {
    let one = scenario(
        "[deployment.city]\nlayout = { kind = \"uma\", sites = \"7\" }\nnodes = \"site\"\n\
         cell = { bandwidth = \"10 MHz\" }\n[cell.city-3-1]\ntx-power = \"40 dBm\"\n\
         [ue.phone]\ncount = 20\ndrop = { deployment = \"city\" }\nindoor = { share = 0.5 }\n\
         speed = \"10 m/s\"\n",
    );
    assert_eq!(one.cells.len(), 21);
    let names: Vec<&str> = one.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert!(
        names.contains(&"city-0-0") && names.contains(&"city-6-2"),
        "{names:?}"
    );
    let changed = one.cells.iter().find(|cell| cell.name == "city-3-1");
    let changed = changed.expect("it is there");
    assert_eq!((changed.tx_power.0, changed.bandwidth.0), (40.0, 10e6));
    assert_eq!(one.nodes[changed.node.index()].name, "city-3");
    assert!(changed.repeats.is_some());
    let text = toml_from_json(&one.to_json());
    let source = Source {
        name: "again".to_owned(),
        base_dir: ".".into(),
    };
    let again = parse(&text, &source, &[], fadeout_sim::catalog());
    assert_eq!(
        again.unwrap_or_else(|errors| panic!("{errors}\n{text}")),
        one
    );
}

#[test]
fn every_layout_has_the_sites_of_its_case() {
    for (layout, cells) in [
        ("uma", 57),
        ("umi", 57),
        ("rma", 57),
        ("macro-500", 57),
        ("macro-1732", 57),
        ("3d-uma", 57),
        ("3d-umi", 57),
        ("inh", 36),
        ("hetnet", 57 + 57 * 4),
        ("manhattan", 13),
    ] {
        let one = scenario(&format!("[deployment.x]\nlayout = \"{layout}\"\n"));
        assert_eq!(one.cells.len(), cells, "{layout}");
        let none = geometry(&format!(
            "[deployment.x]\nlayout = \"{layout}\"\n[ue.phone]\ncount = 3\ndrop = {{ deployment = \"x\" }}\n"
        ));
        assert!(
            none.iter().all(|row| row.coupling_loss_db.is_some()),
            "{layout}"
        );
    }
}

#[test]
fn picos_keep_their_distances() {
    let one = scenario("[deployment.x]\nlayout = \"hetnet\"\n");
    let place = |name: &str| {
        let of = one
            .cells
            .iter()
            .filter(|cell| cell.name.contains("pico") == (name == "pico"));
        of.map(|cell| (cell.position.x, cell.position.y))
            .collect::<Vec<_>>()
    };
    let (picos, macros) = (place("pico"), place("macro"));
    for (n, a) in picos.iter().enumerate() {
        let apart = |b: &(f64, f64)| hypot(a.0 - b.0, a.1 - b.1);
        // Positions are rounded to a micrometre, so distances have a small tolerance.
        assert!(macros.iter().all(|b| apart(b) >= 75.0 - 1e-5));
        assert!(picos[n + 1..].iter().all(|b| apart(b) >= 40.0 - 1e-5));
    }
}

/// With wrap-around, a position at a site on the rim has the same interference as that at the
/// central site. Without it, the rim has less interference.
#[test]
fn a_network_that_repeats_itself_has_no_edge() {
    let geometry_at = |wrap: bool, site: usize, offset: (f64, f64)| {
        let text = format!(
            "[deployment.x]\nlayout = \"uma\"\nwrap-around = {wrap}\n{}",
            PLAIN
                .replace("free-space", "uma")
                .replace("clear", "obstructed")
        );
        let cells = scenario(&text).cells;
        let site = cells[3 * site].position;
        let (x, y) = (site.x + offset.0, site.y + offset.1);
        let rows = geometry(&format!(
            "{text}[ue.phone]\nposition = [\"{x} m\", \"{y} m\"]\n"
        ));
        (rows[0].coupling_loss_db.unwrap(), rows[0].sir_db.unwrap())
    };
    for offset in [(90.0, 20.0), (-130.0, 60.0), (10.0, -240.0)] {
        let (loss, sir) = geometry_at(true, 0, offset);
        for rim in 7..19 {
            let (its_loss, its_sir) = geometry_at(true, rim, offset);
            // Positions are rounded to a micrometre, so losses have a small tolerance.
            assert!((loss - its_loss).abs() < 1e-4 && (sir - its_sir).abs() < 1e-4);
        }
        let open = (7..19).map(|rim| geometry_at(false, rim, offset).1);
        assert!(open.fold(f64::NEG_INFINITY, f64::max) > sir + 0.3);
    }
}

/// With random shadowing, too, the distributions of the geometry at two sites differ no more than
/// two samples of one distribution. The bound is the 0.1 % point of the Kolmogorov-Smirnov
/// statistic for independent samples. Shadowing correlates neighbours, so the test counts an eighth
/// of the positions.
#[test]
fn the_rim_has_the_geometry_of_the_centre() {
    let sirs_of = |site: usize| {
        let text = format!(
            "[deployment.x]\nlayout = \"uma\"\ncell = {{ channel = {{ fading = \"none\" }} }}\n\
             [ue.a]\ncount = 400\ndrop = {{ cell = \"x-{site}-0\" }}\n\
             [ue.b]\ncount = 400\ndrop = {{ cell = \"x-{site}-1\" }}\n"
        );
        let mut sir: Vec<f64> = geometry(&text)
            .iter()
            .filter_map(|row| row.sir_db)
            .collect();
        sir.sort_by(f64::total_cmp);
        sir
    };
    let (centre, rim) = (sirs_of(0), sirs_of(13));
    let share = |sample: &[f64], at: f64| {
        sample.partition_point(|&one| one <= at) as f64 / sample.len() as f64
    };
    let off = centre.iter().chain(&rim);
    let off = off.map(|&at| (share(&centre, at) - share(&rim, at)).abs());
    let most = 1.95 * (2.0 / (centre.len() as f64 / 8.0)).sqrt();
    let off = off.fold(0.0, f64::max);
    assert!(off < most, "{off} beside {most}");
}

/// In free space the interference must equal the sum over the nearest images of all cells, which a
/// search finds.
#[test]
fn interference_is_that_of_the_nearest_images() {
    let text = format!(
        "[deployment.x]\nlayout = {{ kind = \"uma\", sites = \"7\", sectors = \"1\" }}\n{PLAIN}\
         [ue.phone]\ncount = 30\ndrop = {{ radius = \"900 m\", min-distance = \"10 m\" }}\n"
    );
    let described = scenario(&text);
    let [a, b] = described.cells[0].repeats.expect("it repeats").shifts();
    for (ue, row) in described.ues.iter().zip(geometry(&text)) {
        let mut received: Vec<f64> = Vec::new();
        for cell in &described.cells {
            let mut least = f64::INFINITY;
            for i in -3..=3 {
                for j in -3..=3 {
                    let (i, j) = (f64::from(i), f64::from(j));
                    let x = cell.position.x + i * a.0 + j * b.0 - ue.position.x;
                    let y = cell.position.y + i * a.1 + j * b.1 - ue.position.y;
                    let ground = hypot(x, y);
                    least = least.min(hypot(ground, cell.position.z - ue.position.z));
                }
            }
            let wavelength = 299_792_458.0 / cell.carrier.0;
            let loss = 20.0 * log10(4.0 * std::f64::consts::PI * least / wavelength);
            received.push(pow(10.0, -loss / 10.0));
        }
        let best = received.iter().copied().fold(0.0, f64::max);
        let others = received.iter().sum::<f64>() - best;
        let expected = 10.0 * log10(best / others);
        let found = row.sir_db.expect("others are heard");
        assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        assert!((row.coupling_loss_db.unwrap() + 10.0 * log10(best)).abs() < 1e-6);
    }
}

#[test]
fn a_group_moves_no_other() {
    let city = "[deployment.x]\nlayout = { kind = \"uma\", sites = \"7\" }\n";
    let first =
        "[ue.first]\ncount = 25\ndrop = { deployment = \"x\" }\nindoor = {}\nspeed = \"3 km/h\"\n";
    let other = "[ue.other]\ncount = 40\ndrop = { deployment = \"x\" }\nindoor = {}\n";
    let alone = geometry(&format!("{city}{first}"));
    let with = geometry(&format!("{city}{first}{other}"));
    assert_eq!(format!("{:?}", &with[..25]), format!("{alone:?}"));
    // A UE group in front changes no positions. Only the channels depend on the number of the UE.
    let behind = scenario(&format!("{city}{other}{first}"));
    for (row, ue) in alone.iter().zip(&behind.ues[40..]) {
        assert_eq!(
            (row.x_m, row.y_m, row.height_m),
            (ue.position.x, ue.position.y, ue.position.z)
        );
    }
}

/// Shares and floors must be within five standard deviations. The losses are those of Table 7.4.3-2
/// of TR 38.901 at 2 GHz.
#[test]
fn indoors_the_walls_cost_what_they_should() {
    const COUNT: usize = 4000;
    let text = format!(
        "[deployment.x]\nlayout = {{ kind = \"macro-500\", sites = \"1\", sectors = \"1\" }}\n{PLAIN}\
         [ue.phone]\ncount = {COUNT}\ndrop = {{ radius = \"1 m\", center = [\"200 m\", \"0 m\"] }}\n\
         indoor = {{ share = 0.8, high-loss-share = 0.25 }}\n"
    );
    let described = scenario(&text);
    let share = |is: &dyn Fn(&Penetration) -> bool| {
        let count = described
            .ues
            .iter()
            .filter(|ue| is(&ue.penetration))
            .count();
        count as f64 / COUNT as f64
    };
    let near = |found: f64, expected: f64| {
        let spread = (expected * (1.0 - expected) / COUNT as f64).sqrt();
        assert!(
            (found - expected).abs() < 5.0 * spread,
            "{found}, not {expected}"
        );
    };
    near(share(&|it| *it == Penetration::None), 0.2);
    near(share(&|it| *it == Penetration::LowLoss), 0.6);
    near(share(&|it| *it == Penetration::HighLoss), 0.2);
    // A building has 4, 5, 6, 7 or 8 floors, one of which is the ground floor.
    let ground = (1.0 / 4.0 + 1.0 / 5.0 + 1.0 / 6.0 + 1.0 / 7.0 + 1.0 / 8.0) / 5.0;
    let is_low = described
        .ues
        .iter()
        .filter(|ue| ue.position.z == 1.5)
        .count();
    near(is_low as f64 / COUNT as f64, 0.2 + 0.8 * ground);
    let highest = described.ues.iter().map(|ue| ue.position.z);
    assert_eq!(highest.fold(0.0, f64::max), 22.5);
    // The loss in addition to the known free-space path loss is that of the walls and of the path
    // inside. A low-loss wall costs 11.47 dB at 2 GHz, and the path inside 25/6 dB in the mean.
    // Their standard deviations are 4.4 dB and 25/√72 dB.
    let mut walls = Vec::new();
    for (ue, row) in described.ues.iter().zip(geometry(&text)) {
        let up = described.cells[0].position.z - ue.position.z;
        let distance = hypot(row.distance_m.unwrap(), up);
        let free = 20.0 * log10(4.0 * std::f64::consts::PI * distance * 2e9 / 299_792_458.0);
        let lost = row.coupling_loss_db.unwrap() - free;
        match ue.penetration {
            Penetration::LowLoss => walls.push(lost),
            Penetration::None => assert!(lost.abs() < 1e-6),
            _ => assert!(lost > 0.0),
        }
    }
    let wall = fadeout_radio::channel::penetration::low_loss_wall_db(2.0);
    let mean = walls.iter().sum::<f64>() / walls.len() as f64;
    let spread = (4.4_f64 * 4.4 + 625.0 / 72.0).sqrt() / (walls.len() as f64).sqrt();
    // Negative losses count as zero, which raises the mean a little.
    assert!(
        (mean - wall - 25.0 / 6.0).abs() < 5.0 * spread + 0.02,
        "{mean}"
    );
}

#[test]
fn manhattan_has_its_ues_in_the_streets_and_on_their_way_along_a_road() {
    let one = scenario(
        "[deployment.x]\nlayout = { kind = \"manhattan\", columns = 2, rows = 2 }\n\
         [ue.walker]\ncount = 200\ndrop = { deployment = \"x\" }\n\
         [ue.car]\ncount = 20\nspeed = \"50 km/h\"\n\
         drop = { road = [[\"-200 m\", \"0 m\"], [\"200 m\", \"0 m\"]] }\n",
    );
    assert_eq!(one.buildings.len(), 4);
    for ue in &one.ues[..200] {
        let is_in = |b: &fadeout_scenario::Building| {
            b.low.0 < ue.position.x
                && ue.position.x < b.high.0
                && b.low.1 < ue.position.y
                && ue.position.y < b.high.1
        };
        assert!(!one.buildings.iter().any(is_in));
    }
    for ue in &one.ues[200..] {
        assert_eq!(ue.position.y, 0.0);
        let fadeout_scenario::Movement::Model(model) = &ue.movement else {
            panic!("they go on");
        };
        assert!((model.parameters.number("x-speed", 0.0).abs() - 50.0 / 3.6).abs() < 1e-9);
    }
}

#[test]
fn a_density_is_a_number_of_ues() {
    let built_with = |density: &str| {
        read(&format!(
            "[deployment.x]\nlayout = \"uma\"\n[ue.phone]\ndensity = {density}\n\
             drop = {{ corner = [\"0 m\", \"0 m\"], opposite = [\"2 km\", \"-1 km\"] }}\n"
        ))
    };
    assert_eq!(built_with("50").expect("it is right").ues.len(), 100);
    let many = built_with("5e7").expect_err("they are too many");
    assert!(
        many.contains("1.000e8 UEs") && many.contains("at most 20000 UEs in 2.0000 km²"),
        "{many}"
    );
    let none = built_with("0.1").expect_err("it is none");
    assert!(none.contains("no UE"), "{none}");
}

#[test]
fn what_is_wrong_is_said() {
    let city = "[deployment.x]\nlayout = \"uma\"\n";
    for (text, expected) in [
        ("[deployment.x]\nlayout = \"umma\"\n", "did you mean `uma`"),
        (
            "[deployment.x]\nlayout = { kind = \"uma\", inter-site-distance = 0 }\n",
            "a number of m from 1 to 100000",
        ),
        ("[deployment.x]\n", "missing key `layout`"),
        ("[deployment]\nx = 3\n", "expected a table of keys"),
        ("deployment = 3\n", "deployment"),
        (
            "[deployment.x]\nlayout = \"uma\"\ncell = { tx-powr = \"3 dBm\" }\n",
            "did you mean `tx-power`",
        ),
        (
            "[deployment.x]\nlayout = \"uma\"\ncell = { channel = { line-of-sight = \"geometry\" } }\n",
            "a network that repeats itself, where buildings do not",
        ),
        (
            &format!("{city}[deployment.y]\nlayout = \"umi\"\n"),
            "`y-0` and `x-0` have the same position and carrier",
        ),
        (
            &format!("{city}[ue.a]\ndensity = 1e8\ndrop = {{ deployment = \"x\" }}\n"),
            "this density means",
        ),
        (
            &format!("{city}[ue.a]\ndrop = {{ deployment = \"y\" }}\n"),
            "there is no deployment `y`",
        ),
        (
            &format!("{city}[ue.a]\ndrop = {{ cell = \"x-0-3\" }}\n"),
            "there is no cell `x-0-3`",
        ),
        (
            &format!("{city}[ue.a]\ndrop = {{ radius = \"5 m\", min-distance = \"30 m\" }}\n"),
            "found no place for a UE",
        ),
        (
            &format!(
                "{city}[ue.a]\ndrop = {{ polygon = [[\"0 m\", \"0 m\"], [\"1 m\", \"1 m\"]] }}\n"
            ),
            "an area without extent",
        ),
        (
            &format!("{city}[ue.a]\ndrop = {{ road = [[\"0 m\", \"0 m\"]] }}\n"),
            "a road without length",
        ),
        (
            &format!("{city}[ue.a]\ncount = 3\ndensity = 3\ndrop = {{ radius = \"1 km\" }}\n"),
            "both `count` and `density`",
        ),
        (
            &format!("{city}[ue.a]\nindoor = {{}}\n"),
            "`indoor` of UEs without a `drop`",
        ),
        (
            &format!(
                "{city}[ue.a]\nindoor = {{ floors = [8, 4] }}\ndrop = {{ radius = \"1 km\" }}\n"
            ),
            "from 8 to 4 floors",
        ),
        (
            &format!(
                "{city}[cell.own]\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
                      channel = {{ path-loss = \"uma\" }}\n[ue.a]\ndrop = {{ cell = \"own\" }}\n"
            ),
            "the cell has no known area",
        ),
        (
            "[cell.own]\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\nchannel = { path-loss = \"uma\" }\n\
             repeats = [[\"1 m\", \"1 m\"], [\"2 m\", \"2 m\"]]\n",
            "two shifts along one line",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

/// A UE far from all cells still receives one cell best.
#[test]
fn a_ue_outside_all_cells_stands_there() {
    let rows = geometry(&format!(
        "[deployment.x]\nlayout = \"uma\"\nwrap-around = false\n{PLAIN}\
         [ue.phone]\nposition = [\"90 km\", \"0 m\"]\n"
    ));
    assert!(rows[0].distance_m.unwrap() > 88e3 && rows[0].cell.is_some());
}
