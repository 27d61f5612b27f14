//! A run in steps, as a page needs it.

use fadeout::observe::Observation;
use fadeout::{Destination, Simulation, Span, Time};
use serde::Deserialize;
use serde_json::json;

/// Request of a page.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    /// Text of the scenario.
    text: String,
    /// Overrides, in the form `key=value`.
    set: Vec<String>,
    /// Names of the values to observe.
    observe: Vec<String>,
}

impl Request {
    pub(crate) fn read(bytes: &[u8]) -> Result<Request, String> {
        serde_json::from_slice(bytes).map_err(|error| format!("the request: {error}"))
    }
}

/// A run with the values that a page observes.
#[derive(Debug)]
pub(crate) struct Run {
    simulation: Simulation,
    observations: Vec<Observation>,
}

impl Run {
    pub(crate) fn build(request: &Request) -> Result<Run, String> {
        let overrides: Vec<&str> = request.set.iter().map(String::as_str).collect();
        let scenario = fadeout::parse(&request.text, &overrides);
        let scenario = scenario.map_err(|errors| errors.to_string())?;
        let mut simulation =
            Simulation::new(scenario, Destination::Nowhere).map_err(|error| error.to_string())?;
        let observations = request.observe.iter().map(|name| {
            let found = simulation.observation(name);
            found.map_err(|error| error.to_string())
        });
        let observations = observations.collect::<Result<_, String>>()?;
        Ok(Run {
            simulation,
            observations,
        })
    }

    pub(crate) fn duration_s(&self) -> f64 {
        self.simulation.progress().duration.as_secs_f64()
    }

    pub(crate) fn advance(&mut self, until_s: f64) -> f64 {
        let until = Time::ZERO.saturating_add(Span::from_secs_f64(until_s.max(0.0)));
        self.simulation.advance(until);
        self.simulation.now().since(Time::ZERO).as_secs_f64()
    }

    pub(crate) fn observe(&mut self) -> Vec<f64> {
        let simulation = &mut self.simulation;
        let observations = self.observations.iter();
        observations.map(|&one| simulation.observe(one)).collect()
    }

    /// Simulates the rest of the run, and returns its results as JSON.
    pub(crate) fn finish(mut self) -> Result<String, String> {
        self.simulation.advance(Time::NEVER);
        // The recorder writes the rows of flows to tables only.
        let summary = self.simulation.summary();
        let results = self
            .simulation
            .finish()
            .map_err(|error| error.to_string())?;
        let results = json!({
            "fingerprint": results.fingerprint.to_string(),
            "events": results.events,
            "packets": results.packets,
            "remarks": results.remarks,
            "summary": summary,
        });
        Ok(results.to_string())
    }
}
