//! Tests of the scenario reader's public functions: accepted values, rejected values and messages.

mod catalog;
mod errors;
mod examples;
mod hostile;
mod link;
mod overrides;
mod own;
mod presets;
mod rab;
mod radio;
mod schema;

use fadeout_scenario::{Override, Scenario, ScenarioError, ScenarioErrors, Source, parse};

/// Scenario with two nodes and a link, to which tests add tables.
const LINK: &str = r#"duration = "10 s"
[link.radio]
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "10 ms"
"#;

/// Table of a flow over the link of [`LINK`].
const FLOW: &str = r#"[flow.bulk]
from = "server"
to = "client"
"#;

fn read(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioErrors> {
    let source = Source {
        name: "my.toml".to_owned(),
        base_dir: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenario").into(),
    };
    let overrides: Vec<Override> = overrides.iter().copied().map(Override::new).collect();
    parse(text, &source, &overrides, &catalog::CATALOG)
}

#[track_caller]
fn accepted(text: &str) -> Scenario {
    read(text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
fn refused(text: &str) -> Vec<ScenarioError> {
    match read(text, &[]) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(errors) => errors.errors,
    }
}
