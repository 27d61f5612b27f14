#![doc = include_str!("../README.md")]
//!
//! # Contents
//!
//! - [`parse`] and [`read`] check a scenario, and report every mistake with its line.
//! - [`run`] simulates a scenario to its end.
//! - [`Simulation`] simulates in steps. Its ports ([`Simulation::port`]) send and receive the
//!   datagrams of a program.
//! - [`congestion`] has the trait of congestion controls and the built-in ones.
//! - [`policy`] has the types for handover policies.
//! - [`observe`] has the values that a program reads and sets between two steps.
//! - [`transport`] has the endpoints of TCP and Multipath TCP, for programs without a scenario.
//!
//! The keys of scenarios are the same as those of the Python package, whose documentation lists
//! them. The Python package converts tables of measurements (`[measurement.NAME]`) before it reads
//! a scenario. This crate refuses them.

pub use fadeout_congestion as congestion;
pub use fadeout_transport as transport;

pub use fadeout_core::{Bytes, Ecn, Fingerprint, FlowId, Rate, Span, Time};
pub use fadeout_record::{Destination, RecordError, Recorded, RunFolder};
pub use fadeout_scenario::{Flow, Override, Scenario, ScenarioError, ScenarioErrors, Source};
pub use fadeout_sim::{
    Arrival, BuildError, ChooseCongestion, Control, Own, PortAddress, PortEnd, PortError, Progress,
    RESULTS_VERSION, RunError, RunResults, Simulation, VERSION, catalog, observe, policy,
};

use std::path::{Path, PathBuf};

/// Reasons why a scenario file has no scenario.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The text has mistakes.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
}

/// Reads the scenario in `text` after the overrides, which have the form `key=value`. Files that
/// the scenario names are relative to the working directory.
///
/// # Errors
/// Returns every mistake with its place.
///
/// ```
/// let errors = fadeout::parse("[link.radio]\nrate = \"8 Mbit\"\n", &[]).unwrap_err();
/// assert!(errors.to_string().contains("2:8"), "{errors}");
/// ```
pub fn parse(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioErrors> {
    let source = Source {
        name: "scenario".to_owned(),
        base_dir: PathBuf::from("."),
    };
    parse_from(text, &source, overrides)
}

/// Reads the scenario in a file after the overrides, which have the form `key=value`. Files that
/// the scenario names are relative to the folder of the file.
///
/// # Errors
/// - [`ReadError::File`] if the file cannot be read as UTF-8.
/// - [`ReadError::Scenario`] with every mistake and its place.
pub fn read(path: impl AsRef<Path>, overrides: &[&str]) -> Result<Scenario, ReadError> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|source| ReadError::File {
        path: path.to_owned(),
        source,
    })?;
    let source = Source {
        name: path.display().to_string(),
        base_dir: path.parent().unwrap_or(Path::new(".")).to_owned(),
    };
    Ok(parse_from(&text, &source, overrides)?)
}

fn parse_from(text: &str, source: &Source, overrides: &[&str]) -> Result<Scenario, ScenarioErrors> {
    let overrides: Vec<Override> = overrides.iter().map(|one| Override::new(*one)).collect();
    fadeout_scenario::parse(text, source, &overrides, catalog())
}

/// Simulates a scenario to its end. The tables of the results are in memory, as Arrow IPC streams.
/// [`Simulation`] has other destinations, and runs in steps.
///
/// # Errors
/// Returns a [`RunError`] if a layer refuses the scenario, or if a Linux kernel of the scenario
/// fails.
pub fn run(scenario: Scenario) -> Result<RunResults, RunError> {
    Simulation::new(scenario, Destination::Memory)?.run(|_| Control::Continue)
}
