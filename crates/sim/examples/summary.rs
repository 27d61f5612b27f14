//! Runs a scenario without a recorder and prints its summary: `summary FILE [KEY=VALUE …]`.

use fadeout_core::Time;
use fadeout_scenario::{Override, Source};
use fadeout_sim::{World, catalog};
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("usage: summary FILE [KEY=VALUE …]");
    let text = std::fs::read_to_string(&path).expect("a readable scenario");
    let overrides: Vec<Override> = arguments.map(Override::new).collect();
    let base_dir = Path::new(&path)
        .parent()
        .unwrap_or(Path::new("."))
        .to_owned();
    let source = Source {
        name: path.clone(),
        base_dir,
    };
    let scenario = match fadeout_scenario::parse(&text, &source, &overrides, catalog()) {
        Ok(scenario) => scenario,
        Err(errors) => {
            eprintln!("{errors}");
            std::process::exit(2);
        }
    };
    let mut world = World::unobserved(&scenario).expect("a scenario that makes a world");
    world.run_to(Time::ZERO + scenario.duration);
    println!("{}", fadeout_sim::summary(&scenario, &world));
}
