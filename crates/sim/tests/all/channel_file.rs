//! Tests of channels from files: a file computed from a closed form must give the results of this
//! closed form.

use crate::common::unobserved;
use crate::common::{end, parse, run_to, world};
use fadeout_core::math;
use std::fmt::Write as _;
use std::path::PathBuf;

const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Returns a phone that drives away from an LTE cell, at 30 m/s from 1 km on. Its SINR falls from
/// 10 dB by two or three MCS.
fn drive(line: &str) -> String {
    format!(
        "duration = \"10 s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
         [cell.base]\nradio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
         tx-power = \"16 dBm\"\nheight = \"10 m\"\n\
         channel = {{ path-loss = \"free-space\", shadowing = false, fading = \"none\", \
         line-of-sight = \"clear\" }}\n\
         [ue.phone]\nposition = [\"1 km\", \"0 m\"]\nheight = \"1.5 m\"\n\
         mobility = {{ model = \"line\", x-speed = 30 }}\nrlc = {{ mode = \"am\", buffer = \"1 MB\" }}\n\
         [flow.down]\nfrom = \"server\"\nto = \"phone\"\n\
         [flow.up]\nfrom = \"phone\"\nto = \"server\"\n{line}\n"
    )
}

fn folder() -> PathBuf {
    env!("CARGO_TARGET_TMPDIR").into()
}

/// Returns the path loss of Friis at the phone's position after some seconds.
fn friis_db(seconds: f64) -> f64 {
    let across = 1000.0 + 30.0 * seconds;
    let distance = (across * across + 8.5 * 8.5).sqrt();
    -20.0 * math::log10(4.0 * std::f64::consts::PI * distance * 2e9 / SPEED_OF_LIGHT)
}

fn file(name: &str, header: &str, value: impl Fn(f64) -> String) {
    let mut text = format!("{header}\n");
    for row in 0..=100 {
        let seconds = f64::from(row) / 10.0;
        writeln!(text, "{seconds},phone,base,{}", value(seconds)).expect("text grows");
    }
    std::fs::write(folder().join(name), text).expect("a file");
}

/// Returns the goodput of both flows, Mbit/s.
fn rates(text: &str) -> [f64; 2] {
    let scenario = parse(text, folder(), &[]);
    let mut world = world(&scenario);
    run_to(&mut world, end(&scenario));
    let summary = fadeout_sim::summary(&scenario, &world);
    [0, 1].map(|flow| {
        let rate = &summary["flows"][flow]["goodput_mbps"];
        rate.as_f64().expect("a rate")
    })
}

#[test]
fn a_gain_from_a_closed_form_gives_the_rates_of_the_model() {
    file("friis.csv", "time_s,ue,cell,gain_db", |t| {
        friis_db(t).to_string()
    });
    let modelled = rates(&drive(""));
    let read = rates(&drive("[channel-file.friis]\nfile = \"friis.csv\""));
    assert!(modelled[0] > 5.0 && modelled[1] > 1.0, "{modelled:?}");
    for (read, modelled) in read.into_iter().zip(modelled) {
        // Linear interpolation over 0.1 s deviates from Friis by 10^-5 dB, which changes single
        // transport blocks.
        assert!(
            (read / modelled - 1.0).abs() < 0.002,
            "{read} beside {modelled}"
        );
    }
}

#[test]
fn a_sinr_that_stays_gives_the_rates_of_a_given_one() {
    file("sinr.csv", "time_s,ue,cell,sinr_db,uplink_sinr_db", |_| {
        "12,5".to_owned()
    });
    let given = drive("").replace(
        "[ue.phone]",
        "[ue.phone]\ndownlink-sinr = \"12 dB\"\nuplink-sinr = \"5 dB\"",
    );
    let read = rates(&drive("[channel-file.sinr]\nfile = \"sinr.csv\""));
    assert_eq!(read, rates(&given));
}

#[test]
fn the_rate_follows_the_file() {
    // The SINR is 20 dB for five seconds, then so low that nearly nothing is decoded.
    let value = |t: f64| {
        if t < 5.0 {
            "20".to_owned()
        } else {
            "-30".to_owned()
        }
    };
    file("step.csv", "time_s,ue,cell,sinr_db", value);
    let table = "[channel-file.step]\nfile = \"step.csv\"\ninterpolation = \"step\"";
    let both = rates(&drive(table));
    let given = drive("").replace(
        "[ue.phone]",
        "[ue.phone]\ndownlink-sinr = \"20 dB\"\nuplink-sinr = \"20 dB\"",
    );
    for (found, whole) in both.into_iter().zip(rates(&given)) {
        let share = found / whole;
        assert!((0.42..0.51).contains(&share), "{share}");
    }
}

#[test]
fn a_file_that_does_not_fit_the_scenario_is_refused_with_its_line() {
    file("gap.csv", "time_s,ue,cell,gain_db", |_| "-100".to_owned());
    let text = drive("[channel-file.gap]\nfile = \"gap.csv\"\nmaximum-gap = \"50 ms\"");
    let scenario = parse(&text, folder(), &[]);
    let refused = unobserved(&scenario)
        .err()
        .unwrap_or_else(|| panic!("accepted"))
        .to_string();
    assert_eq!(
        refused,
        "channel-file \"gap\": gap.csv: line 3: UE `phone` and cell `base` have no row between 0 s and \
         0.1 s; expected at least one every 50 ms during the run, which covers 0 s to 10 s of the file"
    );
}
