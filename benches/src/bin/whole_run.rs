//! Runs one scenario and prints its results as a line of JSON, for `tools/bench.py`. The tool
//! reads the CPU time and the memory of this process from the operating system.
//!
//! See `USAGE`.

use fadeout_core::table::{FieldSink, SummaryRow, SummarySink};
use fadeout_core::{FlowRow, Time};
use fadeout_record::{Destination, RunFolder};
use fadeout_scenario::{self as scenario, Override, Scenario, Source};
use fadeout_sim::{Control, DividedSimulation, Simulation, World, Worlds, catalog};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: whole_run [--threads N] null|memory|folder=PATH FILE [KEY=VALUE …]
       whole_run congestion-controls";

/// Probe of a run, and number of threads if the scenario is divided.
struct Place<'a> {
    probe: &'a str,
    threads: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [word] if word == "congestion-controls" => Ok(congestion_controls()),
        [word, threads, probe, file, overrides @ ..] if word == "--threads" => {
            let threads = threads.parse().map_err(|_| USAGE.to_owned());
            threads.and_then(|threads| {
                read(file, overrides).and_then(|scenario| run(&Place { probe, threads }, scenario))
            })
        }
        [probe, file, overrides @ ..] => {
            let place = Place { probe, threads: 1 };
            read(file, overrides).and_then(|scenario| run(&place, scenario))
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn congestion_controls() -> Value {
    let entries = catalog().entries("congestion-control");
    entries.iter().map(|entry| entry.name).collect()
}

fn read(file: &str, overrides: &[String]) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let overrides: Vec<Override> = overrides.iter().cloned().map(Override::new).collect();
    let base_dir = Path::new(file).parent().unwrap_or(Path::new("."));
    let source = Source {
        name: file.to_owned(),
        base_dir: base_dir.to_owned(),
    };
    fadeout_scenario::parse(&text, &source, &overrides, catalog())
        .map_err(|errors| errors.to_string())
}

fn run(place: &Place<'_>, scenario: Scenario) -> Result<Value, String> {
    let threads = place.threads;
    match place.probe {
        "null" => unobserved(&scenario, threads),
        "memory" => recorded(scenario, Destination::Memory, threads),
        _ => {
            let path = place.probe.strip_prefix("folder=").ok_or(USAGE)?;
            let folder =
                RunFolder::create(Path::new(path), true).map_err(|error| error.to_string())?;
            recorded(scenario, Destination::Folder(folder), threads)
        }
    }
}

/// Number of sent segments, the only result of a run without a probe.
#[derive(Default)]
struct Sent {
    segments: u64,
}

impl SummarySink for Sent {
    fn add<R: SummaryRow>(&mut self, row: &R) {
        if R::TABLE.name == FlowRow::TABLE.name {
            row.write(self);
        }
    }
}

impl FieldSink for Sent {
    fn u64(&mut self, column: &'static str, value: u64) {
        if column == "sent_segments" {
            self.segments += value;
        }
    }
    fn f64(&mut self, _: &'static str, _: f64) {}
    fn bool(&mut self, _: &'static str, _: bool) {}
    fn text(&mut self, _: &'static str, _: &str) {}
    fn none(&mut self, _: &'static str) {}
}

fn unobserved(scenario: &Scenario, threads: usize) -> Result<Value, String> {
    let started = wall_clock();
    let (world, built) = if scenario.worlds == scenario::Worlds::One {
        let mut world = World::unobserved(scenario).map_err(|error| error.to_string())?;
        let built = started.elapsed();
        let end = Time::ZERO.saturating_add(scenario.duration);
        while world.run(end, u64::MAX) {}
        (world, built)
    } else {
        let mut worlds = Worlds::unobserved(scenario).map_err(|error| error.to_string())?;
        let built = started.elapsed();
        worlds.run(threads);
        (worlds.into_world(), built)
    };
    let took = started.elapsed().saturating_sub(built);
    let mut sent = Sent::default();
    fadeout_sim::sum_up(scenario, &world, &mut sent);
    Ok(json!({
        "data_packets": sent.segments,
        "events": world.events(),
        "simulated_s": world.now().as_secs_f64(),
        "fingerprint": world.fingerprint().to_string(),
        "build_wall_s": built.as_secs_f64(),
        "run_wall_s": took.as_secs_f64(),
    }))
}

#[allow(
    clippy::disallowed_methods,
    reason = "a measurement is about wall time; nothing simulated is"
)]
fn wall_clock() -> Instant {
    Instant::now()
}

/// Runs a scenario with the default probes. The number of packets is null if the scenario is
/// divided and recorded in memory.
fn recorded(scenario: Scenario, destination: Destination, threads: usize) -> Result<Value, String> {
    let (packets, outcome) = if scenario.worlds == scenario::Worlds::One {
        let mut simulation =
            Simulation::new(scenario, destination).map_err(|error| error.to_string())?;
        simulation.advance(Time::NEVER);
        let flows = &simulation.summary()["flows"];
        let sent = flows.as_array().into_iter().flatten();
        let sent = sent.filter_map(|flow| flow["sent_segments"].as_u64());
        (Some(sent.sum::<u64>()), simulation.finish())
    } else {
        let outcome = DividedSimulation::with_congestion(scenario, destination, &mut |_| None)
            .and_then(|simulation| simulation.run(threads, |_| Control::Continue));
        let rows = outcome
            .as_ref()
            .ok()
            .and_then(|it| it.recorded.rows.as_ref());
        let columns = rows.and_then(|rows| rows.columns("flows", ["sent_segments"]));
        let sent = columns.map(|columns| {
            let values = columns["sent_segments"].as_array();
            values.into_iter().flatten().filter_map(Value::as_u64).sum()
        });
        (sent, outcome)
    };
    let outcome = outcome.map_err(|error| error.to_string())?;
    let summary: Value =
        serde_json::from_str(&outcome.recorded.summary).map_err(|error| error.to_string())?;
    Ok(json!({
        "data_packets": packets,
        "events": outcome.events,
        "simulated_s": summary["duration_s"],
        "fingerprint": summary["fingerprint"],
    }))
}
