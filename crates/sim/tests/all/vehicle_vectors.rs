//! Comparison with every reference value of vehicles. Each is compared here, compared in a named
//! test, or left out with a reason.

use fadeout_core::math::{atan2, exp, log10, pow, sin};
use fadeout_core::{Decibel, Edge, Hertz, Meters, Point, Span, Time};
use fadeout_mobility::traffic::{Body, Pose};
use fadeout_mobility::{Obstacle, Rectangle, SpeedLaw, SpeedRange, Speeds, Turn};
use fadeout_radio::antenna::array::{row_gain, row_hpbw_deg};
use fadeout_radio::antenna::beam::{Beam, BeamParameters};
use fadeout_radio::antenna::management::{exhaustive_search, pair_sweep, staleness_seconds};
use fadeout_radio::channel::blockage::{Deafness, nlosv};
use fadeout_radio::channel::knife_edges::cascaded_loss;
use fadeout_radio::channel::path_loss::vehicle::{
    LogNormal, blocking_vehicle, foliage_db_per_m, highway_building_free_probability,
    urban_building_free_probability,
};
use fadeout_radio::channel::path_loss::{
    Condition, Ends, PathLoss, VehicleHighway, VehicleUrban, free_space,
};
use fadeout_radio::channel::{knife_edge, noise, shadowing};
use fadeout_radio::phy::mcs::McsTable;
use fadeout_sim::prediction::{Cut, Prediction, SentPrediction, match_up, score};
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../vehicle_vectors.csv");

/// Returns the rows of the table: name, expected values, and the test that compares them.
fn rows() -> impl Iterator<Item = (&'static str, Vec<f64>, &'static str)> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| {
        let fields: Vec<&str> = line.splitn(3, ',').collect();
        let [name, expected, how] = fields[..] else {
            panic!("three fields: {line}");
        };
        let parse = |text: &str| text.parse().expect("a number");
        (name, expected.split(' ').map(parse).collect(), how)
    })
}

#[test]
fn every_value_of_the_reference_is_ours_or_said_not_to_be() {
    let (mut here, mut elsewhere, mut none) = (0, 0, 0);
    let mut off = Vec::new();
    for (name, expected, how) in rows() {
        if let Some(reason) = how.strip_prefix("none: ") {
            assert!(!reason.is_empty());
            none += 1;
        } else if let Some((path, test)) = how.split_once("::") {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join(path);
            let text = fs::read_to_string(&path).expect("a source file");
            assert!(text.contains(&format!("fn {test}(")), "{name}: {how}");
            elsewhere += 1;
        } else {
            assert_eq!(how, "code");
            let found = ours(name);
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.into_iter().zip(expected) {
                // Values have seven digits. Results of a search or a sum are accurate to a hundred
                // thousandth.
                let most = 1e-5 * expected.abs().max(1e-3);
                if (found - expected).abs() > most {
                    off.push(format!("{name}: {found}, not {expected}"));
                }
            }
            here += 1;
        }
    }
    assert!(off.is_empty(), "{off:#?}");
    assert_eq!(here + elsewhere + none, 197);
    assert!(
        here >= 110 && none <= 48,
        "{here} here, {elsewhere} elsewhere, {none} not"
    );
}

/// Returns the wavelength of a carrier in GHz with the exact speed of light. The function
/// `wavelength` has 3GPP's 3e8 m/s.
fn wave(ghz: f64) -> Meters {
    Meters(299_792_458.0 / (ghz * 1e9))
}

fn ours(name: &str) -> Vec<f64> {
    let parts: Vec<&str> = name.split('_').collect();
    let number = |n: usize| parts[n].parse::<f64>().expect("a number");
    match parts[0] {
        "pl" if parts[1] == "ns3" => path_loss(&parts[2..]),
        "pl" => path_loss(&parts[1..]),
        "plos" => sight(&parts),
        "nlosv" => vec_of_nlosv(name, &parts),
        "boban" if parts[1] == "urban" => vec![urban_building_free_probability(number(3))],
        "boban" => vec![highway_building_free_probability(number(3))],
        "shadow" if parts[1] == "ar1" => {
            let correlation = shadowing::correlation(5.0, 10.0);
            vec![correlation, shadowing::next_db(0.0, 1.0, correlation, 1.0)]
        }
        "ke" | "mke" => edges(name),
        "fresnel" => fresnel(&parts),
        "roof" | "shadow" | "dur" => shadows(name),
        "foliage" => vec![foliage_db_per_m(number(4))],
        "omega" | "dwell" | "gauss" | "ula" | "stale" | "t" | "p1" => beams(name),
        "deaf" => deafness(name),
        "sumo" => sumo(name),
        "mean" | "time" | "manhattan" => speeds(name),
        "hardcore" => {
            use fadeout_mobility::traffic::{GapRule, mean_spacing};
            let length = 0.2 * 13.0 + 0.8 * 5.0;
            vec![0.2 * 13.0 / mean_spacing(GapRule::Tr37885, 80.0 / 3.6, length)]
        }
        "hsdpa" | "nr" | "rate" | "shannon" | "fspl" | "snr" => rates(name),
        "f1" => marks(),
        _ => panic!("{name}: nothing of ours"),
    }
}

fn path_loss(parts: &[&str]) -> Vec<f64> {
    let (kind, of) = match parts {
        ["urban", "los", d, f] => ("ul", [d, f]),
        ["urban", "nlos", d, f] => ("n", [d, f]),
        [kind, d, f] => (*kind, [d, f]),
        _ => panic!("{parts:?}"),
    };
    let [d, f] = of.map(|text| text.parse::<f64>().expect("a number"));
    let ends = Ends {
        ground_m: d,
        slant_m: d,
        base_height_m: 1.6,
        ue_height_m: 1.6,
        carrier_ghz: f,
        environment_height_m: 1.0,
    };
    let urban = PathLoss::VehicleUrban(VehicleUrban);
    vec![match kind {
        "ul" => urban.loss_db(&ends, Condition::Los),
        "n" => urban.loss_db(&ends, Condition::Nlos),
        _ => PathLoss::VehicleHighway(VehicleHighway).loss_db(&ends, Condition::Los),
    }]
}

fn sight(parts: &[&str]) -> Vec<f64> {
    use nlosv::Surrounding::{Highway, Urban};
    if parts[2] == "unity" {
        return vec![edge(0.0, 100.0, |d| Urban.line_of_sight(d) < 1.0)];
    }
    let d = parts[2].parse().expect("a number");
    let road = if parts[1] == "urban" { Urban } else { Highway };
    vec![road.line_of_sight(d)]
}

/// Returns the value at which a condition begins to hold, by bisection.
fn edge(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let rises = holds(high);
    assert_ne!(holds(low), rises, "it changes once");
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if holds(middle) == rises {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

fn density(x: f64) -> f64 {
    exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt()
}

/// Returns the mean of the positive part of a normal variable, by numerical integration.
fn realised((mean, deviation): (f64, f64)) -> f64 {
    let steps = 200_000;
    let width = 20.0 / f64::from(steps);
    let term_of = |step: u32| {
        let x = -10.0 + width * (f64::from(step) + 0.5);
        (mean + deviation * x).max(0.0) * density(x) * width
    };
    (0..steps).map(term_of).sum()
}

fn vec_of_nlosv(name: &str, parts: &[&str]) -> Vec<f64> {
    if name == "nlosv_distance_term_onset" {
        let law = |d| nlosv::law(d, (0.75, 0.75), 1.6).expect("both below");
        return vec![edge(100.0, 1000.0, |d| law(d).0 > 9.0)];
    }
    if parts[1] == "case" {
        let [a, b, h] = [2, 3, 4].map(|n: usize| parts[n].parse::<f64>().expect("a height"));
        let case = match nlosv::law(100.0, (a, b), h) {
            None => 1.0,
            Some((mean, _)) if mean > 8.0 => 2.0,
            Some(_) => 3.0,
        };
        return vec![case];
    }
    let heights = match parts[1] {
        "case2" => (0.75, 0.75),
        _ => (0.75, 1.6),
    };
    if parts[2] == "lognormal" {
        let LogNormal { mu, sigma } = blocking_vehicle(100.0, heights, 1.6).expect("a loss");
        return vec![mu, sigma];
    }
    if parts[2] == "P0" {
        let (mean, deviation) = nlosv::law(100.0, heights, 1.6).expect("a loss");
        // The mean of the positive part has two terms: the mean times the share above zero, and the
        // deviation times the density at zero.
        let at_zero = mean / deviation;
        let from_zero = realised((mean, deviation)) - deviation * density(at_zero);
        return vec![1.0 - from_zero / mean];
    }
    let d = parts[2].parse().expect("a distance");
    let law = nlosv::law(d, heights, 1.6).expect("a loss");
    vec![match parts[3] {
        "mean" => law.0,
        _ => realised(law),
    }]
}

/// Returns the loss over edges at these distances and heights over the ground. The antennas have
/// the heights of the first and the last edge.
fn over(profile: &[(f64, f64)], ghz: f64) -> f64 {
    let ((_, from), (length, to)) = (profile[0], profile[profile.len() - 1]);
    let between = profile[1..profile.len() - 1].iter();
    let found: Vec<Edge> = between
        .map(|&(at, height)| {
            let share = at / length;
            let above = height - (from + (to - from) * share);
            let scale = (2.0 / (length * share * (1.0 - share))).sqrt();
            Edge {
                share,
                depth: above * scale,
            }
        })
        .collect();
    cascaded_loss(&found, length, wave(ghz).0).0
}

fn edges(name: &str) -> Vec<f64> {
    let truck = [(0.0, 1.6), (50.0, 3.0), (100.0, 1.6)];
    let long = [(0.0, 1.6), (43.5, 3.0), (56.5, 3.0), (100.0, 1.6)];
    let two = |second| [(0.0, 1.6), (30.0, 3.0), (60.0, second), (100.0, 1.6)];
    let ghz = if name.ends_with("5.9") { 5.9 } else { 28.0 };
    vec![match name {
        "ke_veins" => over(&[(0.0, 10.0), (3.0, 9.0), (7.0, 8.0)], 5.89),
        "mke_3_4_3" => over(&[(0.0, 5.0), (3.0, 5.0), (7.0, 5.0), (10.0, 5.0)], 28.0),
        _ if name.starts_with("mke_two_trucks") => over(&two(3.0), ghz),
        "mke_truck_car_28" => over(&two(1.6), ghz),
        _ if name.starts_with("mke_truck13_one") => over(&truck, ghz),
        _ if name.starts_with("mke_truck13_two") => over(&long, ghz),
        _ if name.starts_with("ke_rsu") => {
            let above = Meters(3.0 - (5.0 - 3.5 * 26.0 / 30.0));
            let v = knife_edge::diffraction_parameter(above, Meters(26.0), Meters(4.0), wave(ghz));
            return vec![v, knife_edge::loss(v).0];
        }
        _ => {
            let v = name.rsplit('_').next().expect("a parameter");
            knife_edge::loss(v.parse().expect("a number")).0
        }
    }]
}

fn fresnel(parts: &[&str]) -> Vec<f64> {
    let from = if parts[1] == "time" { 2 } else { 1 };
    let [ghz, one, other] = [0, 1, 2].map(|n| parts[from + n].parse::<f64>().expect("a number"));
    let v = knife_edge::diffraction_parameter(Meters(1.0), Meters(one), Meters(other), wave(ghz));
    let radius = 2.0_f64.sqrt() / v;
    vec![match parts[1] {
        "time" => 1e3 * radius / parts[5].parse::<f64>().expect("a speed"),
        _ => radius,
    }]
}

/// Returns a long box along the road, between two distances from the mast.
fn row((near, far): (f64, f64), height: f64) -> Obstacle {
    let (low, high) = ((-1e3, near), (1e3, far));
    Obstacle::building(Rectangle { low, high }, height)
}

fn shadows(name: &str) -> Vec<f64> {
    // Returns the largest distance of a roof's far side from a UE 30 m away at which the roof
    // begins to block it.
    let reach = |(mast, roof, ue): (f64, f64, f64)| {
        edge(0.0, 30.0, |gap| {
            let wall = row((30.0 - gap - 1e-9, 30.0 - gap), roof);
            let (from, to) = (Point::new(0.0, 0.0, mast), Point::new(0.0, 30.0, ue));
            wall.crossing(from, to).is_none()
        })
    };
    // Returns the start and end of a building's shadow on the road.
    let shadow = |from: f64, to: f64| {
        let (low, high) = ((from, 5.0), (to, 20.0));
        let house = Obstacle::building(Rectangle { low, high }, 20.0);
        let mast = Point::new(0.0, 0.0, 5.0);
        let is_cut = |x| house.crossing(mast, Point::new(x, 25.0, 1.5)).is_some();
        let inside = f64::midpoint(from, to) * 3.0;
        edge(inside, 500.0, |x| !is_cut(x)) - edge(-500.0, inside, is_cut)
    };
    vec![match name {
        "roof_ratio_5_3_1.5" => reach((5.0, 3.0, 1.5)) / 30.0,
        "roof_ratio_10m_mast" => reach((10.0, 3.0, 1.6)) / 30.0,
        "roof_ystar" => 30.0 - reach((5.0, 3.0, 1.5)),
        "roof_min_D_gap10" => edge(11.0, 100.0, |d| {
            let wall = row((d - 10.0 - 1e-9, d - 10.0), 3.0);
            let (from, to) = (Point::new(0.0, 0.0, 5.0), Point::new(0.0, d, 1.5));
            wall.crossing(from, to).is_some()
        }),
        "shadow_building_ahead" => shadow(20.0, 35.0),
        "shadow_building_abreast" => shadow(-7.5, 7.5),
        "dur_v2v_adjacent" => {
            let is_cut = |x: f64| {
                let truck = Obstacle {
                    center: (x, 4.0),
                    size: (13.0, 2.6),
                    turn: Turn::NONE,
                    height: 3.0,
                    base: 0.0,
                };
                let (from, to) = (Point::new(0.0, 0.0, 1.6), Point::new(60.0, 8.0, 1.6));
                truck.crossing(from, to).is_some()
            };
            (edge(30.0, 200.0, |x| !is_cut(x)) - edge(-200.0, 30.0, is_cut)) / 5.0
        }
        "dur_comoving_speed" => {
            // True if a car is still in the shadow of a thin truck after ten million seconds.
            let is_in_shadow = |car: f64| {
                let at = 1e7;
                let truck = Obstacle {
                    center: (22.22 * at, 6.0),
                    size: (13.0, 0.0),
                    turn: Turn::NONE,
                    height: 3.0,
                    base: 0.0,
                };
                let to = Point::new(car * at, 10.0, 1.5);
                truck.crossing(Point::new(0.0, 0.0, 1.5), to).is_some()
            };
            edge(30.0, 22.22 * 10.0 / 6.0, is_in_shadow)
        }
        _ => panic!("{name}"),
    }]
}

fn beam(width_deg: f64) -> Beam {
    Beam::new(&BeamParameters {
        width_deg,
        height_deg: 60.0,
        ..BeamParameters::default()
    })
}

/// Returns the loss of a beam of this width at an angle, dB.
fn lost(width_deg: f64, off_deg: f64) -> f64 {
    let beam = beam(width_deg);
    beam.gain(0.0, 0.0).0 - beam.gain(off_deg, 0.0).0
}

fn beams(name: &str) -> Vec<f64> {
    let parts: Vec<&str> = name.split('_').collect();
    let number = |n: usize| parts[n].parse::<f64>().expect("a number");
    let omega = {
        let angle_at = |seconds: f64| atan2(10.0, -30.0 * seconds);
        (angle_at(1e-6) - angle_at(-1e-6)) / 2e-6
    };
    let omega_deg = omega.to_degrees();
    vec![match name {
        "omega_max_30_10" => return vec![omega, omega_deg],
        "dwell_exact_30_10_30" => staleness_seconds(30.0, 10.0, 30.0),
        "dwell_small_30_10_30" => 30.0_f64.to_radians() / (2.0 * omega),
        "dwell_5_10_30" => staleness_seconds(30.0, 10.0, 5.0),
        "gauss_loss_15_30" => lost(30.0, 15.0),
        "gauss_loss_two_ends" => 2.0 * lost(30.0, 10.0),
        "ula_first_null_4" => edge(10.0, 30.0 + 1e-9, |off| {
            // The first angle at which the row of elements radiates nothing, searched from below.
            off >= 30.0 || row_gain(4, 0.5, sin(off.to_radians()), 0.0) < 1e-20
        }),
        _ if name.starts_with("ula_hpbw") => row_hpbw_deg(number(2) as u32, 0.5, 0.0),
        _ if name.starts_with("ula_loss") => {
            let s = sin(number(3).to_radians());
            let elements = number(2);
            10.0 * (log10(elements) - log10(row_gain(elements as u32, 0.5, s, 0.0)))
        }
        "stale_max_20_5_5deg" => lost(5.0, omega_deg * 0.025),
        "stale_max_20_5_30deg" => lost(30.0, omega_deg * 0.025),
        "stale_mean_20_5_5deg" => {
            let steps = 20_000;
            let age = |step: u32| 0.005 + 0.02 * (f64::from(step) + 0.5) / f64::from(steps);
            let sum: f64 = (0..steps)
                .map(|step| lost(5.0, omega_deg * age(step)))
                .sum();
            sum / f64::from(steps)
        }
        "t_fail_10dB_30deg" => edge(0.0, 0.2, |age| lost(30.0, omega_deg * age) > 10.0),
        "p1_time_8rx" => exhaustive_search(8, Span::from_millis(20)).as_secs_f64() * 1e3,
        "p1_exhaustive_pairs" => {
            // A beam pair takes four symbols at 120 kHz, and a millisecond has 112 symbols. The
            // result is exact to the nanosecond.
            let four = Span::from_secs_f64(4.0 / 112_000.0);
            pair_sweep(64, 8, four, 1).as_secs_f64() * 1e3
        }
        _ => panic!("{name}"),
    }]
}

fn deafness(name: &str) -> Vec<f64> {
    let deafness_with = |slot: u64, min_window| Deafness {
        slot: Span::from_micros(slot),
        min_window,
        ..Deafness::default()
    };
    let ms = |span: Span| span.as_secs_f64() * 1e3;
    vec![match name {
        "deaf_backoff_7_15_9us" => ms(deafness_with(9, 15).mean_backoff()),
        "deaf_backoff_7_15_5us" => ms(deafness_with(5, 15).mean_backoff()),
        "deaf_backoff_7_31_20us" => ms(deafness_with(20, 31).mean_backoff()),
        _ => {
            let circular = Deafness {
                request: Span::from_micros(30),
                sectors: 12,
                ..Deafness::default()
            };
            1e3 * ms(circular.request_time())
        }
    }]
}

fn sumo(name: &str) -> Vec<f64> {
    let (angle_deg, length) = match name {
        "sumo_box_rear" => (90.0_f64, 5.0),
        _ => (30.0, 13.0),
    };
    let body = Body {
        length,
        width: 2.0,
        height: 1.6,
        antenna_height: 1.6,
        antenna_ahead: 0.0,
        share: 1.0,
        platoon: 1,
        acceleration: 2.6,
        deceleration: 4.5,
    };
    let pose = Pose {
        front: (100.0, 50.0),
        heading: (90.0 - angle_deg).to_radians(),
        velocity: (0.0, 0.0),
    };
    let (x, y) = pose.obstacle(&body).center;
    // The middle of the vehicle is halfway to its rear.
    vec![2.0 * x - 100.0, 2.0 * y - 50.0]
}

fn speeds(name: &str) -> Vec<f64> {
    let uniform = Speeds {
        speed_law: SpeedLaw::Uniform,
        range: SpeedRange {
            min_speed: 5.0,
            max_speed: 30.0,
        },
        ..Speeds::default()
    };
    let normal = |mean_speed: f64, speed_deviation: f64, min_speed: f64| Speeds {
        speed_law: SpeedLaw::Normal,
        range: SpeedRange {
            min_speed,
            max_speed: 1e3,
        },
        mean_speed,
        speed_deviation,
    };
    vec![match name {
        "mean_inv_speed" => uniform.mean_pace(),
        "time_mean_speed" => 1.0 / uniform.mean_pace(),
        "manhattan_3kmh_time_mean" => 1.0 / normal(3.0, 0.3, 0.01).mean_pace(),
        _ => 1.0 / normal(1.0, 0.2, 0.5).mean_pace(),
    }]
}

fn rates(name: &str) -> Vec<f64> {
    let loss = |d| free_space(Meters(d), Hertz(28e9)).0;
    let noise_dbm = noise::power(Hertz(1e9), Decibel(7.0)).0;
    let best = McsTable::Qam64.rows().last().expect("rows");
    // The block size of HS-DSCH category 14 in 2 ms, bits.
    let categories = include_str!("../../../link/data/hsdpa_categories.csv");
    let bits = categories.lines().find_map(|line| line.strip_prefix("14,"));
    let bits: f64 = bits
        .and_then(|rest| rest.split(',').next()?.parse().ok())
        .expect("a size");
    vec![match name {
        "hsdpa_64qam_carrier" => bits / 2e3,
        "hsdpa_168" => 8.0 * bits / 2e3,
        "nr_eff_mcs28_t1" | "rate_1GHz_64qam" => {
            let bits = f64::from(best.modulation.bits());
            bits * (best.code_rate * 1024.0).round() / 1024.0
        }
        "shannon_snr_5.6" => 10.0 * log10(pow(2.0, 5.6) - 1.0),
        "fspl_28_50" => loss(50.0),
        "snr_28_50" => 30.0 + 12.0 - loss(50.0) - noise_dbm,
        // The distance from a corner of the square to its middle.
        _ => 30.0 + 12.0 - loss(50.0 * 2.0_f64.sqrt()) - noise_dbm,
    }]
}

/// Returns the scores of forty right predictions, ten wrong ones, and twenty blockages without a
/// prediction.
fn marks() -> Vec<f64> {
    let time_at_secs = |s: u64| Time::ZERO + Span::from_secs(s);
    let sent = (0..50).map(|n| SentPrediction {
        prediction: Prediction {
            made: time_at_secs(10 * n),
            ue: 0,
            cell: 0,
            starts: time_at_secs(10 * n + 2),
            lasts: Span::from_secs(1),
        },
        received_at: time_at_secs(10 * n + 1),
        serves: true,
    });
    let cut = |began| Cut {
        ue: 0,
        cell: 0,
        began,
        ended: Some(began + Span::from_secs(1)),
        serves: true,
    };
    let right = (0..40).map(|n| cut(time_at_secs(10 * n + 2)));
    let unforeseen = (50..70).map(|n| cut(time_at_secs(10 * n)));
    let (sent, cuts): (Vec<_>, Vec<_>) = (sent.collect(), right.chain(unforeseen).collect());
    let found = score(&match_up(&sent, &cuts, Time::NEVER).iter());
    let (precision, recall) = (found.precision.expect("some"), found.recall.expect("some"));
    vec![
        precision,
        recall,
        2.0 * precision * recall / (precision + recall),
    ]
}
