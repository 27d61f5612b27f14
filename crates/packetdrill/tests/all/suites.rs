//! Runs public suites of scripts from the folders in `FADEOUT_PACKETDRILL_GOOGLE`,
//! `FADEOUT_PACKETDRILL_KERNEL` and `FADEOUT_PACKETDRILL_MPTCP`.
//!
//! The versions of the suites are in `suites/*.txt`. Without these
//! variables the tests do nothing. With `--nocapture` they print the share of scripts that pass,
//! and the scripts that fail.

use fadeout_packetdrill::{Outcome, run_with};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Symbols with which the suites of TCP run their scripts over IPv4.
const SYMBOLS: [(&str, &str); 5] = [
    ("TFO_COOKIE", "3021b9d889017eeb"),
    ("TFO_COOKIE_ZERO", "b7c12350a90dc8f5"),
    ("CODE", "host_unreachable"),
    ("CMSG_LEVEL_IP", "SOL_IP"),
    ("CMSG_TYPE_RECVERR", "IP_RECVERR"),
];

/// Returns the excluded path patterns, each with its reason.
fn exclusions(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(" : ").expect("a pattern and a reason"))
        .collect()
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => pattern == path,
    }
}

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder of a suite can be read") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
}

/// Runs the suite in the folder that the environment variable `variable` names. At least `floor`
/// scripts must pass.
fn check(variable: &str, excluded: &str, floor: usize) {
    let Some(folder) = std::env::var_os(variable).map(PathBuf::from) else {
        return;
    };
    let excluded = exclusions(excluded);
    let symbols = SYMBOLS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut paths = Vec::new();
    scripts(&folder, &mut paths);
    paths.sort();
    let mut uses: BTreeMap<&str, usize> =
        excluded.iter().map(|(pattern, _)| (*pattern, 0)).collect();
    let (mut passed, mut total) = (0, 0_u32);
    for path in &paths {
        let name = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy();
        if let Some((pattern, _)) = excluded.iter().find(|(one, _)| matches(one, &name)) {
            *uses.entry(pattern).or_default() += 1;
            continue;
        }
        total += 1;
        let text = std::fs::read_to_string(path).expect("a script can be read");
        let report = run_with(&text, &name, &symbols);
        if report.outcome == Outcome::Passed {
            passed += 1;
        } else {
            println!("{}", report.render());
        }
    }
    let left_out: usize = uses.values().sum();
    let share = 100.0 * passed as f64 / f64::from(total.max(1));
    println!("{variable}: {passed} of {total} pass ({share:.1} %), {left_out} are left out");
    for (pattern, reason) in &excluded {
        assert!(uses[pattern] > 0, "nothing is left out by `{pattern}`");
        println!("  {:3} {pattern}: {reason}", uses[pattern]);
    }
    assert!(passed >= floor, "{floor} passed once, {passed} do now");
}

#[test]
fn scripts_of_googles_suite_that_passed_pass() {
    let excluded = include_str!("../suites/google.txt");
    check("FADEOUT_PACKETDRILL_GOOGLE", excluded, 126);
}

#[test]
fn scripts_of_the_kernels_suite_that_passed_pass() {
    let excluded = include_str!("../suites/kernel.txt");
    check("FADEOUT_PACKETDRILL_KERNEL", excluded, 130);
}

#[test]
fn scripts_of_the_suite_of_multipath_tcp_that_passed_pass() {
    let excluded = include_str!("../suites/mptcp.txt");
    check("FADEOUT_PACKETDRILL_MPTCP", excluded, 35);
}
