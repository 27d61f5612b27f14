//! Tests that results have the same bits in another process, in another thread, and with or without
//! optimisation.
//!
//! `fingerprints.csv` has the fingerprint of the trajectory of every example scenario. After an
//! intended change of behaviour, `UPDATE_FINGERPRINTS=1 cargo test -p fadeout-sim --test all
//! determinism` updates the file, and `CHANGELOG.md` describes the change under "Results change".
//! With `--release` the same test checks the optimised build.

use crate::common::build;
use crate::common::{examples, name, read, run_to, world};
use fadeout_core::{
    BlockageRow, DropCause, DropRow, EndpointId, Fingerprint, FlowId, LinkId, Probe, Span, Time,
    WholePacket,
};
use fadeout_sim::RESULTS_VERSION;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Length of the tested runs. It contains several blockages and recoveries, and suits builds
/// without optimisation.
const LENGTH: Span = Span::from_secs(12);
/// Examples with another length: their main event comes later, or they have many vehicles.
const OTHER_LENGTHS: [(&str, Span); 5] = [
    // The second change of cell.
    ("handover", Span::from_secs(24)),
    // The handover at 90 s, and the reaction of TCP.
    ("inter-rat", Span::from_secs(95)),
    // The handover to 3G at 15 s.
    ("to-3g", Span::from_secs(24)),
    // The streets have some hundred vehicles. A simulated second takes a second of a processor.
    ("motorway", Span::from_secs(4)),
    ("street-canyon", Span::from_secs(4)),
];
const SEEDS: [u64; 2] = [1, 2];
/// Seed that this test runs. The Python tests run the other one, with a recorder.
const SEED_OF_RUST: &str = "2";
const HEADER: &str = "scenario,seed,duration_s,fingerprint";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fingerprints.csv")
}

fn length(path: &Path) -> Span {
    let other = OTHER_LENGTHS.iter().find(|(of, _)| name(path) == *of);
    other.map_or(LENGTH, |&(_, length)| length)
}

fn fingerprint(path: &Path, seed: u64) -> String {
    let scenario = read(path, &[&format!("seed={seed}")]);
    let mut world = world(&scenario);
    run_to(&mut world, Time::ZERO + length(path));
    world.fingerprint().to_string()
}

/// Returns the lines of the table for some seeds of each example. Threads share the examples.
fn table(seeds: &[u64]) -> Vec<String> {
    let examples = examples();
    let next = AtomicUsize::new(0);
    let lines_of = |path: &Path| {
        let length_s = length(path).as_secs_f64();
        let line = |&seed: &u64| {
            let print = fingerprint(path, seed);
            format!("{},{seed},{length_s},{print}", name(path))
        };
        seeds.iter().map(line).collect::<Vec<String>>()
    };
    let work = || {
        let mut found = Vec::new();
        while let Some(path) = examples.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(lines_of(path));
        }
        found
    };
    let mut lines: Vec<String> = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let found = workers
            .into_iter()
            .map(|worker| worker.join().expect("runs end"));
        found.flatten().collect()
    });
    lines.sort_unstable();
    lines
}

/// `RESULTS_VERSION`, and the digest of the trajectories in `fingerprints.csv` for this version.
const PINNED: (u32, &str) = (2, "052222c0f60a8f07");

#[test]
fn the_version_of_the_results_is_raised_when_the_pinned_trajectories_change() {
    let pinned = std::fs::read_to_string(file()).expect("fingerprints.csv is beside this test");
    let mut digest = Fingerprint::default();
    for byte in pinned.bytes().filter(|byte| *byte != b'\r') {
        digest.mix(Time::ZERO, byte.into());
    }
    assert_eq!(
        (RESULTS_VERSION, digest.to_string().as_str()),
        PINNED,
        "raise RESULTS_VERSION once for what changed since the last release of it, and write both here"
    );
}

#[test]
fn every_example_takes_the_trajectory_that_is_pinned() {
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some() {
        let lines = table(&SEEDS).join("\n");
        std::fs::write(file(), format!("{HEADER}\n{lines}\n")).expect("the file can be written");
    }
    let pinned = std::fs::read_to_string(file()).expect("fingerprints.csv is beside this test");
    let is_checked = |line: &&str| line.split(',').nth(1) == Some(SEED_OF_RUST);
    let pinned: Vec<&str> = pinned.lines().filter(is_checked).collect();
    let found = table(&[SEED_OF_RUST.parse().expect("a number")]);
    for (pinned, found) in pinned.iter().zip(&found) {
        assert_eq!(
            found,
            pinned,
            "results changed; if that is meant, see the top of {}",
            file!()
        );
    }
    assert_eq!(pinned.len(), found.len());
}

#[test]
fn runs_side_by_side_do_not_touch_each_other() {
    let examples = examples();
    let path = examples
        .iter()
        .find(|path| name(path) == "lossy-link")
        .expect("the example exists");
    let alone = fingerprint(path, 1);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| fingerprint(path, 1)))
            .collect();
        for run in runs {
            assert_eq!(run.join().expect("the run ends"), alone);
        }
    });
}

#[test]
fn a_run_in_pieces_is_the_run_in_one() {
    let path = &examples()[0];
    let scenario = read(path, &[]);
    let mut world = world(&scenario);
    let until = Time::ZERO + LENGTH;
    while world.run(until, 777) {}
    assert_eq!(world.fingerprint().to_string(), fingerprint(path, 1));
}

#[test]
fn a_probe_that_looks_at_everything_changes_nothing() {
    for path in examples().iter().take(2) {
        let world = channel(path, &[]);
        assert_eq!(world.fingerprint().to_string(), fingerprint(path, 1));
    }
}

/// Events of the channel that do not depend on the times of packets.
#[derive(Default)]
struct Channel {
    blockages: Vec<(Time, Time)>,
    sent: u64,
    /// Numbers of the first link's packets that were lost at random.
    lost: Vec<u64>,
}

impl Probe for Channel {
    fn wants_congestion(&self, _: Time, _: FlowId) -> bool {
        true
    }
    fn wants_queue(&self, _: Time, _: LinkId) -> bool {
        true
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, _: Time, packet: WholePacket<'_>) {
        self.sent += u64::from(packet.to == EndpointId(1));
    }
    fn dropped(&mut self, row: DropRow) {
        if row.cause == DropCause::Random && row.link == LinkId(0) {
            self.lost.push(self.sent);
        }
    }
    fn blockage(&mut self, row: BlockageRow) {
        self.blockages.push((row.start_s, row.end_s));
    }
}

fn channel(path: &Path, overrides: &[&str]) -> crate::common::Observed<Channel> {
    let scenario = read(path, overrides);
    let mut world = build(&scenario, Channel::default()).expect("a checked scenario");
    while world.run(Time::ZERO + LENGTH, u64::MAX) {}
    world
}

fn example(wanted: &str) -> PathBuf {
    let mut all = examples();
    all.retain(|path| name(path) == wanted);
    all.pop().expect("the example exists")
}

#[test]
fn blockages_do_not_depend_on_the_congestion_control() {
    let path = example("mmwave-vehicle");
    let cubic = channel(&path, &[]);
    let newreno = channel(&path, &["flow.bulk.congestion-control=newreno"]);
    assert!(!cubic.probe().blockages.is_empty());
    assert_eq!(cubic.probe().blockages, newreno.probe().blockages);
    assert_ne!(cubic.fingerprint(), newreno.fingerprint());
}

#[test]
fn the_same_packets_are_lost_whatever_the_congestion_control() {
    let path = example("lossy-link");
    let cubic = channel(&path, &[]);
    let newreno = channel(&path, &["flow.download.congestion-control=newreno"]);
    assert_ne!(cubic.fingerprint(), newreno.fingerprint());
    let common = cubic.probe().sent.min(newreno.probe().sent);
    let lost = |world: &crate::common::Observed<Channel>| -> Vec<u64> {
        let lost = world.probe().lost.iter().copied();
        lost.filter(|&number| number <= common).collect()
    };
    assert!(lost(&cubic).len() > 10);
    assert_eq!(lost(&cubic), lost(&newreno));
}

#[test]
fn the_seed_changes_what_is_random_and_nothing_else() {
    let path = example("mmwave-vehicle");
    let (one, two) = (channel(&path, &["seed=1"]), channel(&path, &["seed=2"]));
    assert_ne!(one.probe().blockages, two.probe().blockages);
    for file in ["lossy-link", "on-off"] {
        let path = example(file);
        assert_ne!(fingerprint(&path, 1), fingerprint(&path, 2), "{file}");
    }
    // These examples have no random events.
    for file in ["clean-link", "competing-flows", "blockage"] {
        let path = example(file);
        assert_eq!(fingerprint(&path, 1), fingerprint(&path, 2), "{file}");
    }
}
