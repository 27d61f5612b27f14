//! Tests of blockages that base stations predict from the reports of UEs, and of the senders'
//! reactions.

use crate::common::build;
use crate::common::unobserved;
use crate::common::{end, parse};
use fadeout_core::{
    CellId, Direction, EndpointId, Probe, Span, Time, TransportBlockRow, WholePacket,
};
use fadeout_sim::prediction::{PredictionSettings, Predictor, RegionShape, Report};
use fadeout_sim::summary;
use serde_json::Value;

/// Returns cars that drive past a base station at 20 m/s, one every 5 s. A wall hides each of them
/// for a while. All are on one street.
fn street(prediction: &str, info: &str, tcp: &str, cars: usize) -> String {
    let mut text = format!(
        "duration = \"{} s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
         [cell.base]\nradio = \"nr\"\ncarrier = \"28 GHz\"\nbandwidth = \"50 MHz\"\ntx-power = \"11 dBm\"\nheight = \"5 m\"\n\
         position = [\"0 m\", \"0 m\"]\n\
         channel = {{ path-loss = \"v2x-urban\", line-of-sight = \"geometry\", shadowing = false, \
         fading = \"none\" }}\n\
         [building.wall]\ncorner = [\"-10 m\", \"8 m\"]\nopposite = [\"-4 m\", \"10 m\"]\nheight = \"20 m\"\n\
         [blockage-prediction]\nthreshold = \"0 dB\"\n{prediction}\n",
        5 * cars
    );
    for car in 0..cars {
        let x = -60.0 - 100.0 * car as f64;
        text += &format!(
            "[ue.car-{car}]\nposition = [\"{x} m\", \"30 m\"]\n\
             mobility = {{ model = \"line\", x-speed = 20, y-speed = 0 }}\n\
             [flow.bulk-{car}]\nfrom = \"server\"\nto = \"car-{car}\"\ntcp = {{ {tcp} }}\n\
             link-info = {{ link = \"car-{car}\", {info} }}\n"
        );
    }
    text
}

/// Start and end of the wall's shadow on the street, metres.
const SHADOW: (f64, f64) = (-37.5, -12.0);

fn outcomes(text: &str) -> Value {
    let scenario = parse(text, ".".into(), &[]);
    let mut world = unobserved(&scenario).expect("a world");
    while world.run(end(&scenario), u64::MAX) {}
    summary(&scenario, &world)
}

/// A row: UE, predicted start and duration, actual start and duration.
type Row = (String, Option<f64>, Option<f64>, Option<f64>, Option<f64>);

/// Returns the predictions and blockages by the wall. The cars leave the cell later, which is not
/// counted.
fn rows(summary: &Value) -> Vec<Row> {
    let rows = summary["predictions"].as_array().expect("a table");
    let near_wall = |row: &&Value| {
        let ue = row["ue"].as_str().expect("a UE");
        let car: f64 = ue["car-".len()..].parse().expect("a number");
        let at = row["starts_s"].as_f64().or(row["began_s"].as_f64());
        at.expect("either") < 5.0 * car + 4.0
    };
    rows.iter()
        .filter(near_wall)
        .map(|row| {
            let number = |key: &str| row[key].as_f64();
            let ue = row["ue"].as_str().expect("a UE").to_owned();
            (
                ue,
                number("starts_s"),
                number("lasts_s"),
                number("began_s"),
                number("lasted_s"),
            )
        })
        .collect()
}

/// Returns the time at which a car enters the shadow, and the duration, seconds.
fn truth(car: usize) -> (f64, f64) {
    let begins = (SHADOW.0 + 60.0 + 100.0 * car as f64) / 20.0;
    (begins, (SHADOW.1 - SHADOW.0) / 20.0)
}

#[test]
fn what_will_happen_is_told_to_the_slot() {
    let text = street("knows = \"future\"", "delay = \"10 ms\"", "", 3);
    let summary = outcomes(&text);
    let rows = rows(&summary);
    assert_eq!(rows.len(), 3, "{rows:?}");
    for (car, (_, starts, lasts, began, lasted)) in rows.iter().enumerate() {
        let (begins, length) = truth(car);
        // The radio evaluates its channel every millisecond. Diffraction at the wall's corner makes
        // the edge of the shadow smooth, so the blockage begins some hundredths of a second early
        // or late.
        let (starts, lasts) = (starts.expect("said"), lasts.expect("said"));
        assert!((starts - begins).abs() < 0.06, "{car}: {starts} {begins}");
        assert!((lasts - length).abs() < 0.12, "{car}: {lasts} {length}");
        // Reports come every 40 ms, so the first one within the blockage is up to 40 ms late.
        let (began, lasted) = (began.expect("cut"), lasted.expect("cut"));
        assert!(
            (-1e-9..=0.04).contains(&(began - starts)),
            "{began} {starts}"
        );
        assert!((lasted - lasts).abs() <= 0.04, "{lasted} {lasts}");
    }
    assert_eq!(summary["prediction_scores"][0]["cells"], "serving");
}

/// Times at which downlink blocks were sent, with their SINR.
#[derive(Debug, Default)]
struct Received(Vec<(f64, f64)>);

impl Probe for Received {
    fn wants_transport_blocks(&self, _cell: CellId) -> bool {
        true
    }
    fn transport_block(&mut self, row: TransportBlockRow) {
        if row.direction == Direction::Downlink {
            self.0.push((row.time_s.as_secs_f64(), row.sinr_db));
        }
    }
}

/// Returns the number of cars, of three, with a right prediction, and the largest error of the
/// start. No prediction may be wrong.
fn right(knows: &str) -> (usize, f64) {
    let knows = format!("knows = \"{knows}\"\nhorizon = \"3 s\"");
    let rows = rows(&outcomes(&street(&knows, "delay = \"10 ms\"", "", 3)));
    let errors = rows.iter().filter_map(|(_, starts, _, began, _)| {
        let (starts, began) = ((*starts)?, (*began)?);
        Some((starts - began).abs())
    });
    let wrong = rows.iter().filter(|row| row.1.is_some() && row.3.is_none());
    assert_eq!(wrong.count(), 0, "{rows:?}");
    (errors.clone().count(), errors.fold(0.0, f64::max))
}

#[test]
fn buildings_are_known_to_those_who_were_never_there() {
    let (learnt, error_s) = right("reports");
    // The first car fills the map, so only two blockages can be predicted.
    assert_eq!(learnt, 2);
    // The error is at most a region of 5 m at 20 m/s, and a report interval of 40 ms.
    assert!(error_s < 5.0 / 20.0 + 0.04, "{error_s}");
    let (learnt, error_s) = right("reports\"\nregions = \"beams\"\nbeam-width = \"3 deg");
    assert_eq!(learnt, 2);
    // A beam of 3 degrees covers 4.0 m of the street where the shadow begins, 48 m from the mast.
    // The error is at most the time in this beam, and a report interval.
    assert!(error_s < 4.0 / 20.0 + 0.04, "{error_s}");
    let (built, error_s) = right("buildings");
    assert_eq!(built, 3);
    // The signal behind the corner falls below the threshold some hundredths of a second early or
    // late.
    assert!(error_s < 0.08, "{error_s}");
    assert_eq!(right("vehicles"), (built, error_s), "there are none");
}

/// Returns the reports of cars at several speeds that pass a shadow, one after the other.
fn reports(cars: u32) -> Vec<Report> {
    let mut all = Vec::new();
    for car in 0..cars {
        let speed = [10.0, 14.0, 20.0, 12.0, 25.0][car as usize % 5];
        let steps = (80.0 / speed / 0.04) as u64;
        for step in 0..steps {
            let x = step as f64 * 0.04 * speed;
            all.push(Report {
                at: Time::ZERO + Span::from_millis(30_000 * u64::from(car) + 40 * step),
                ue: car,
                cell: 0,
                place: (x, 2.0),
                speed: (speed, 0.0),
                is_cut: (40.0..55.0).contains(&x),
                serves: true,
            });
        }
    }
    all.sort_by_key(|one| one.at);
    all
}

fn with_errors(regions: RegionShape) -> PredictionSettings {
    PredictionSettings {
        regions,
        resolution_m: 5.0,
        learning: 1,
        report_period: Span::from_millis(40),
        horizon: Span::from_secs(5),
        place_error_m: 1.5,
        speed_error: 0.05,
        missed: 0.2,
        false_alarms: 0.01,
        seed: 3,
    }
}

#[test]
fn without_the_future_it_says_the_same() {
    let all = reports(12);
    for regions in [RegionShape::Squares, RegionShape::Beams { width_deg: 5.0 }] {
        let predict = |known: &[Report]| {
            let mut predictor = Predictor::new(with_errors(regions));
            predictor.stand(0, (40.0, -30.0));
            let predictions = known.iter().filter_map(|&one| predictor.report(one));
            predictions.collect::<Vec<_>>()
        };
        let whole = predict(&all);
        assert!(whole.len() > 5, "{}", whole.len());
        for known in (0..all.len()).step_by(97) {
            let past = predict(&all[..known]);
            assert_eq!(past, whole[..past.len()], "after {known} reports");
        }
    }
}

/// Returns the windows of the receiver of the first car's flow, up to a time.
fn heard(text: &str, until: Time) -> Vec<(Time, f64)> {
    let scenario = parse(text, ".".into(), &[]);
    let mut world = build(&scenario, Windows::default()).expect("a world");
    while world.run(until, u64::MAX) {}
    world.into_probe().0
}

/// Windows of the receiver over time.
#[derive(Debug, Default)]
struct Windows(Vec<(Time, f64)>);

impl Probe for Windows {
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        if packet.to == EndpointId(0) {
            self.0.push((now, packet.segment.window as f64));
        }
    }
}

#[test]
fn a_run_in_which_the_future_is_another_has_the_same_past() {
    // This run ends at 9 s, so later reports do not exist and cannot be used.
    let text = street(
        "knows = \"reports\"",
        "delay = \"10 ms\"",
        "outage-response = \"freeze\"",
        3,
    );
    let other = text.replace("duration = \"15 s\"", "duration = \"9 s\"");
    let until = Time::ZERO + Span::from_secs(8);
    assert_ne!(text, other);
    let (one, two) = (heard(&text, until), heard(&other, until));
    assert!(one.len() > 1_000);
    assert_eq!(one, two);
}

#[test]
fn freeze_tcp_shuts_its_window_for_a_predicted_blockage_and_opens_it_after_a_wrong_one() {
    let shut = |prediction: &str| {
        let text = street(
            prediction,
            "delay = \"10 ms\"",
            "outage-response = \"freeze\"",
            1,
        );
        let windows = heard(&text, Time::ZERO + Span::from_secs(5));
        let shut = windows.iter().position(|&(_, window)| window == 0.0);
        let at = shut.map(|shut| windows[shut].0.as_secs_f64());
        let opens = windows[shut.unwrap_or(0)..].iter();
        (at, opens.clone().any(|&(_, window)| window > 0.0))
    };
    let (first, opens) = shut("knows = \"buildings\"\nhorizon = \"800 ms\"");
    let (begins, _) = truth(0);
    let first = first.expect("it shuts");
    assert!(first < begins && begins - first < 0.2, "{first} {begins}");
    assert!(opens);
    // No blockage is known, but one report in five causes a false alarm.
    let (first, opens) =
        shut("knows = \"reports\"\nlearning = 1000\nfalse-alarms = 0.2\nhorizon = \"500 ms\"");
    assert!(first.is_some());
    assert!(opens, "what was wrong is taken back");
}

/// A slot at 120 kHz.
const SLOT: Span = Span::from_micros(125);

/// Time from a block's last symbol until the UE has decoded it: 20 to 24 symbols at 120 kHz.
///
/// Standard: TS 38.214 Table 5.3-1.
const DECODING: (Span, Span) = (Span::from_nanos(178_571), Span::from_nanos(214_286));

/// The channel's gain is constant within each gain period. A block has the gain at the instant of
/// its decoding. So the prediction is right in every slot, with the resolution of the gain period.
#[test]
fn what_is_told_of_the_future_is_what_the_radio_then_meets_to_the_slot() {
    for (radio, period) in [
        ("\"nr\"", Span::from_millis(1)),
        ("{ kind = \"nr\", gain-period = \"125 us\" }", SLOT),
    ] {
        let text = street("knows = \"future\"", "delay = \"10 ms\"", "", 1);
        let text = text.replace("radio = \"nr\"", &format!("radio = {radio}"));
        let rows = rows(&outcomes(&text));
        let [(_, Some(starts), Some(lasts), ..)] = rows[..] else {
            panic!("one: {rows:?}");
        };
        let scenario = parse(&text, ".".into(), &[]);
        let mut world = build(&scenario, Received::default()).expect("a world");
        while world.run(end(&scenario), u64::MAX) {}
        // The table has the nanoseconds of the clock as seconds.
        let time = |seconds: f64| Time::from_nanos((seconds * 1e9).round() as u64);
        let (starts, ends) = (time(starts), time(starts + lasts));
        let (mut inside, mut outside, mut unknown) = (0, 0, 0);
        for (begins, sinr_db) in world.into_probe().0 {
            // Blocks more than a second after the blockage are ignored, because the car leaves the
            // cell.
            if time(begins) > ends.saturating_add(Span::from_secs(1)) {
                break;
            }
            let cut_by = |decoded: Span| {
                let nanos = time(begins).saturating_add(decoded).as_nanos();
                let gain_of = Time::from_nanos(nanos - nanos % period.as_nanos());
                (starts..ends).contains(&gain_of)
            };
            let is_cut = cut_by(DECODING.0);
            // The end of a block within its slot is not recorded, so such a block is skipped.
            if cut_by(SLOT + DECODING.1) != is_cut {
                unknown += 1;
                continue;
            }
            assert_eq!(sinr_db < 0.0, is_cut, "{sinr_db} dB at {begins} s");
            inside += u32::from(is_cut);
            outside += u32::from(!is_cut);
        }
        assert!(inside > 100 && outside > 1000, "{inside} {outside}");
        // Two slots are unknown at each edge, with the blocks sent in them.
        assert!(unknown <= 4, "{unknown}");
    }
}

#[test]
fn without_cells_nobody_predicts() {
    let text = "duration = \"1 s\"\n[blockage-prediction]\n[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\n\
                delay = \"1 ms\"\n[flow.f]\nfrom = \"x\"\nto = \"y\"\n";
    let source = fadeout_scenario::Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let errors = fadeout_scenario::parse(text, &source, &[], fadeout_sim::catalog());
    let message = errors.expect_err("no cells").to_string();
    assert!(
        message.contains("prediction of blockages without a cell"),
        "{message}"
    );
}
