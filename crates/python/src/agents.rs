//! Episodes of learning agents for Python.

use crate::errors::EngineBug;
use crate::guard::guarded;
use crate::observed::raised;
use crate::simulation::PySimulation;
use fadeout_core::{Span, Time};
use fadeout_sim::agents::{
    Action, AgentConfig, Decider, Decision, Episode, EpisodeConfig, Episodes, FEATURES, History,
    Interval, Reading, Reward, feature_number, limited,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Episodes that are stepped together. `fadeout.gym` is its public interface.
#[pyclass(module = "fadeout._native", name = "Episodes", frozen)]
pub(crate) struct PyEpisodes {
    config: Arc<EpisodeConfig>,
    state: Mutex<State>,
}

/// Episodes, and memory for their values that is used again in each step.
struct State {
    episodes: Episodes,
    actions: Vec<f64>,
    stepped: Vec<u8>,
    observations: Vec<f32>,
    rewards: Vec<f64>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    measured: Vec<f64>,
}

/// Number of measurements of an agent that `read` writes.
const MEASURED: usize = 5;

/// An agent: flow, action with its step, reward, names of the observed values, and the number of
/// intervals in an observation.
type GivenAgent = (String, String, f64, String, Vec<String>, usize);

#[pymethods]
impl PyEpisodes {
    /// Creates empty places for `count` episodes. The interval is a number of round trips, or a
    /// time in seconds.
    #[new]
    #[pyo3(signature = (count, agents, *, round_trips, interval_s, steps, threads))]
    fn new(
        count: usize,
        agents: Vec<GivenAgent>,
        round_trips: Option<f64>,
        interval_s: f64,
        steps: Option<u64>,
        threads: usize,
    ) -> PyResult<PyEpisodes> {
        let agents: PyResult<Vec<AgentConfig>> = agents.into_iter().map(agent).collect();
        let config = EpisodeConfig {
            agents: agents?,
            interval: interval(round_trips, interval_s),
            steps,
        };
        let all = count * config.agents.len();
        let width: usize = config.agents.iter().map(values_of).sum();
        let state = State {
            episodes: Episodes::new(count, config.agents.len(), threads),
            actions: vec![0.0; all],
            stepped: vec![0; count],
            observations: vec![0.0; count * width],
            rewards: vec![0.0; all],
            terminated: vec![0; count],
            truncated: vec![0; count],
            measured: vec![f64::NAN; all * MEASURED],
        };
        Ok(PyEpisodes {
            config: Arc::new(config),
            state: Mutex::new(state),
        })
    }

    /// Raises unless the flows and the observed values of all agents exist in a simulation, which
    /// can no longer be used elsewhere.
    fn check(&self, simulation: &PySimulation) -> PyResult<()> {
        let mut simulation = simulation.take_simulation()?;
        let checked = guarded(|| Episode::check(&mut simulation, &self.config));
        let checked = checked.map_err(EngineBug::new_err)?;
        checked.map_err(|error| raised(&error))
    }

    /// Begins an episode with a simulation, which can no longer be used elsewhere.
    fn begin(&self, py: Python<'_>, place: usize, simulation: &PySimulation) -> PyResult<()> {
        let simulation = simulation.take_simulation()?;
        let config = &self.config;
        let episode = py.detach(|| guarded(|| Episode::new(simulation, config)));
        let episode = episode.map_err(EngineBug::new_err)?;
        let episode = episode.map_err(|error| raised(&error))?;
        self.state().episodes.slot_mut(place).episode = Some(Box::new(episode));
        Ok(())
    }

    /// Steps the episodes whose place in `stepped` is not zero. `actions` has the actions of all
    /// agents, episode by episode.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn step(&self, py: Python<'_>, actions: PyBuffer<f64>, stepped: PyBuffer<u8>) -> PyResult<()> {
        let agents = self.config.agents.len();
        {
            let mut state = self.state();
            let State {
                episodes,
                actions: given,
                stepped: taking_part,
                ..
            } = &mut *state;
            read(py, &actions, given)?;
            read(py, &stepped, taking_part)?;
            let values = given.chunks(agents).zip(taking_part);
            for (slot, (actions, is_stepped)) in episodes.slots_mut().zip(values) {
                slot.actions.copy_from_slice(actions);
                slot.is_stepped = *is_stepped != 0;
            }
        }
        py.detach(|| self.state().episodes.step());
        let mut state = self.state();
        let mut slots = state.episodes.slots_mut();
        match slots.find_map(|slot| slot.panic.take()) {
            Some(panic) => Err(EngineBug::new_err(panic)),
            None => Ok(()),
        }
    }

    /// Writes observations (float32), rewards, and the flags of ends (bytes) of all episodes. Also
    /// writes the measurements of each agent: time, length of the interval, throughput in Mbit/s,
    /// mean round-trip time, and loss ratio.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn read(
        &self,
        py: Python<'_>,
        observations: PyBuffer<f32>,
        rewards: PyBuffer<f64>,
        terminated: PyBuffer<u8>,
        truncated: PyBuffer<u8>,
        measured: PyBuffer<f64>,
    ) -> PyResult<()> {
        let mut state = self.state();
        state.read(self.config.agents.len());
        observations.copy_from_slice(py, &state.observations)?;
        rewards.copy_from_slice(py, &state.rewards)?;
        terminated.copy_from_slice(py, &state.terminated)?;
        truncated.copy_from_slice(py, &state.truncated)?;
        measured.copy_from_slice(py, &state.measured)
    }
}

impl PyEpisodes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Reads the values of all episodes after a step. An empty place keeps its values.
    fn read(&mut self, agents: usize) {
        let width = self.observations.len() / self.stepped.len().max(1);
        for (place, slot) in self.episodes.slots().enumerate() {
            let Some(episode) = &slot.episode else {
                continue;
            };
            let observations = &mut self.observations[place * width..][..width];
            let mut cells = observations.iter_mut();
            for agent in 0..agents {
                let row = place * agents + agent;
                self.rewards[row] = episode.reward(agent);
                let it = episode.measured(agent);
                self.measured[row * MEASURED..][..MEASURED].copy_from_slice(&[
                    episode.now().as_secs_f64(),
                    it.interval_s,
                    it.throughput_mbps,
                    it.rtt_s,
                    it.loss_ratio(),
                ]);
                for (&value, cell) in episode.observation(agent).iter().zip(&mut cells) {
                    *cell = value;
                }
            }
            self.terminated[place] = u8::from(episode.is_terminated());
            self.truncated[place] = u8::from(episode.is_truncated());
        }
    }
}

fn agent(given: GivenAgent) -> PyResult<AgentConfig> {
    let (flow, action, step, reward, observation, history) = given;
    Ok(AgentConfig {
        flow,
        action: action_of(&action, step)?,
        reward: match reward.as_str() {
            "aurora" => Reward::Aurora,
            "orca" => Reward::Orca,
            "power" => Reward::Power,
            name => return Err(PyValueError::new_err(format!("no reward \"{name}\""))),
        },
        observation,
        history,
    })
}

fn action_of(name: &str, step: f64) -> PyResult<Action> {
    match name {
        "rate-factor" => Ok(Action::RateFactor { step }),
        "window-power" => Ok(Action::WindowPower),
        "window" => Ok(Action::Window),
        _ => Err(PyValueError::new_err(format!("no action \"{name}\""))),
    }
}

/// Returns the interval of a number of round trips, or of a time in seconds.
fn interval(round_trips: Option<f64>, interval_s: f64) -> Interval {
    match round_trips {
        Some(count) => Interval::RoundTrips(count),
        None => Interval::Fixed(Span::from_secs_f64(interval_s)),
    }
}

/// Returns the number of values in an agent's observation.
fn values_of(agent: &AgentConfig) -> usize {
    agent.observation.len() * agent.history
}

/// Copies the values of a buffer with as many values as `into`.
fn read<T: pyo3::buffer::Element>(
    py: Python<'_>,
    buffer: &PyBuffer<T>,
    into: &mut [T],
) -> PyResult<()> {
    if buffer.item_count() == into.len() {
        return buffer.copy_to_slice(py, into);
    }
    let (found, count) = (buffer.item_count(), into.len());
    Err(PyValueError::new_err(format!(
        "an array has {found} values; expected {count}"
    )))
}

/// Measurements and decisions of an agent whose flow Python reads. `fadeout.gym.controller` is its
/// public interface.
#[pyclass(module = "fadeout._native", name = "Decider")]
pub(crate) struct PyDecider {
    features: Vec<usize>,
    intervals: usize,
    action: Action,
    interval: Interval,
    /// State since the first reading. `None` before.
    begun: Option<(Decider, History)>,
}

#[pymethods]
impl PyDecider {
    /// Creates a decider that observes features over a number of intervals. An interval is a number
    /// of round trips, or a time in seconds.
    #[new]
    #[pyo3(signature = (observation, history, *, action, step_size, round_trips, interval_s))]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn new(
        observation: Vec<String>,
        history: usize,
        action: &str,
        step_size: f64,
        round_trips: Option<f64>,
        interval_s: f64,
    ) -> PyResult<PyDecider> {
        let numbers = observation.iter().map(|name| {
            feature_number(name).map_err(|expected| {
                PyValueError::new_err(format!("no feature \"{name}\"; expected {expected}"))
            })
        });
        Ok(PyDecider {
            features: numbers.collect::<PyResult<_>>()?,
            intervals: history,
            action: action_of(action, step_size)?,
            interval: interval(round_trips, interval_s),
            begun: None,
        })
    }

    /// Ends an interval with the counters and the state of the flow. The first reading begins the
    /// first interval.
    #[pyo3(signature = (
        *, time_s, sent_segments, delivered_segments, lost_segments, rtt_sum_s, rtt_samples,
        min_rtt_s, mss_bytes, cwnd, in_flight, pacing_mbps, srtt_s
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn read(
        &mut self,
        time_s: f64,
        sent_segments: u64,
        delivered_segments: u64,
        lost_segments: u64,
        rtt_sum_s: f64,
        rtt_samples: u64,
        min_rtt_s: f64,
        mss_bytes: f64,
        cwnd: f64,
        in_flight: f64,
        pacing_mbps: f64,
        srtt_s: f64,
    ) {
        let now = Reading {
            at: Time::ZERO + Span::from_secs_f64(time_s),
            sent_segments,
            delivered_segments,
            lost_segments,
            rtt_sum_s,
            rtt_samples,
            min_rtt_s,
            mss_bytes,
            cwnd,
            in_flight,
            pacing_mbps,
            srtt_s,
        };
        let features = self.features.iter();
        match &mut self.begun {
            None => {
                let decider = Decider::new(self.action, now);
                let first: Vec<f32> = features.map(|&it| limited(decider.feature(it))).collect();
                self.begun = Some((decider, History::new(&first, self.intervals)));
            }
            Some((decider, history)) => {
                decider.measure(now);
                history.push(features.map(|&it| limited(decider.feature(it))));
            }
        }
    }

    /// Returns the observation. Empty before the first reading.
    fn observation(&self) -> Vec<f32> {
        let begun = self.begun.as_ref();
        begun.map_or_else(Vec::new, |(_, history)| history.values().to_vec())
    }

    /// Returns the pacing rate in Mbit/s and the congestion window in segments of an action.
    /// Without an action, they are those before the first action. None leaves a value as it is.
    #[pyo3(signature = (action=None))]
    fn decide(&mut self, action: Option<f64>) -> (Option<f64>, Option<f64>) {
        let decision = match (&mut self.begun, action) {
            (None, _) => Decision::Keep,
            (Some((decider, _)), None) => decider.first_decision(),
            (Some((decider, _)), Some(action)) => decider.decide(action),
        };
        match decision {
            Decision::Keep => (None, None),
            Decision::Pace { rate_mbps, window } => (Some(rate_mbps), Some(window)),
            Decision::Hold(window) | Decision::Continue(window) => (None, Some(window)),
        }
    }

    /// Length of the next interval in seconds.
    #[getter]
    fn interval_s(&self) -> f64 {
        let begun = self.begun.as_ref();
        let rtt_s = begun.map_or(0.0, |(decider, _)| decider.measured().rtt_s);
        self.interval.length(rtt_s).as_secs_f64()
    }
}

/// Returns the features that agents may observe, as JSON.
#[pyfunction]
pub(crate) fn feature_list() -> String {
    let features = FEATURES.iter().map(|feature| {
        json!({
            "name": feature.name,
            "unit": feature.unit,
            "doc": feature.doc,
        })
    });
    json!(features.collect::<Vec<_>>()).to_string()
}
