//! Runs scenarios without recording them. Prints the summary of one scenario, or the fingerprints
//! of many.
//!
//! - `run FILE [KEY=VALUE …]` prints the summary as JSON, and the fingerprint to the error stream.
//! - `run --fingerprints TABLE FOLDER [SEED]` runs each row of a table with the columns scenario,
//!   seed, duration and fingerprint, and prints the rows with the fingerprints of this machine. The
//!   scenarios are in the folder. `SEED` restricts the runs to one seed.

use fadeout::{Destination, Simulation, Span, Time};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["--fingerprints", table, folder, seed @ ..] if seed.len() < 2 => {
            print_fingerprints(table, Path::new(folder), seed.first().copied())
        }
        [file, overrides @ ..] if !file.starts_with('-') => print_summary(file, overrides),
        _ => Err("usage: run FILE [KEY=VALUE …], or run --fingerprints TABLE FOLDER [SEED]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn print_summary(file: &str, overrides: &[&str]) -> Result<(), Box<dyn Error>> {
    let scenario = fadeout::read(Path::new(file), overrides)?;
    let mut simulation = Simulation::new(scenario, Destination::Nowhere)?;
    simulation.advance(Time::NEVER);
    println!("{}", simulation.summary());
    eprintln!("fingerprint {}", simulation.fingerprint());
    Ok(())
}

/// Prints the table with the fingerprints of this machine. A row may last longer than its scenario.
fn print_fingerprints(
    table: &str,
    folder: &Path,
    seed: Option<&str>,
) -> Result<(), Box<dyn Error>> {
    let table = std::fs::read_to_string(table)?;
    println!("scenario,seed,duration_s,fingerprint");
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, of_run, duration, _] = cells[..] else {
            return Err(format!("\"{line}\" has not four columns").into());
        };
        if seed.is_some_and(|seed| seed != of_run) {
            continue;
        }
        let file = folder.join(name).with_extension("toml");
        let mut scenario = fadeout::read(&file, &[&format!("seed={of_run}")])?;
        let length = Span::from_secs_f64(duration.parse()?);
        scenario.duration = scenario.duration.max(length);
        let mut simulation = Simulation::new(scenario, Destination::Nowhere)?;
        simulation.advance(Time::ZERO + length);
        println!("{name},{of_run},{duration},{}", simulation.fingerprint());
    }
    Ok(())
}
