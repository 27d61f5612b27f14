//! Episodes of learning agents for Python.

use crate::errors::EngineBug;
use crate::guard::guarded;
use crate::observed::raised;
use crate::simulation::PySimulation;
use fadeout_core::Span;
use fadeout_sim::agents::{
    Action, AgentConfig, Episode, EpisodeConfig, Episodes, FEATURES, Interval, Measured, Reward,
    feature_number,
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
    episodes: Mutex<Episodes>,
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
            interval: match round_trips {
                Some(count) => Interval::RoundTrips(count),
                None => Interval::Fixed(Span::from_secs_f64(interval_s)),
            },
            steps,
        };
        let episodes = Episodes::new(count, config.agents.len(), threads);
        Ok(PyEpisodes {
            config: Arc::new(config),
            episodes: Mutex::new(episodes),
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
        let mut episodes = self.episodes();
        episodes.slots_mut()[place].episode = Some(Box::new(episode));
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
            let mut episodes = self.episodes();
            let count = episodes.slots().len();
            let given = read(py, &actions, count * agents)?;
            let stepped = read(py, &stepped, count)?;
            for (place, slot) in episodes.slots_mut().iter_mut().enumerate() {
                slot.actions
                    .copy_from_slice(&given[place * agents..(place + 1) * agents]);
                slot.is_stepped = stepped[place] != 0;
            }
        }
        py.detach(|| self.episodes().step());
        let mut episodes = self.episodes();
        let mut slots = episodes.slots_mut().iter_mut();
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
        let episodes = self.episodes();
        let (count, agents) = (episodes.slots().len(), self.config.agents.len());
        let width: usize = self.config.agents.iter().map(values_of).sum();
        let mut observed = read(py, &observations, count * width)?;
        let mut rewarded = vec![0.0; count * agents];
        let mut flags = [vec![0; count], vec![0; count]];
        let mut measurements = Vec::with_capacity(count * agents * MEASURED);
        for (place, slot) in episodes.slots().iter().enumerate() {
            let Some(episode) = &slot.episode else {
                measurements.resize(measurements.len() + agents * MEASURED, f64::NAN);
                continue;
            };
            let mut cells = observed[place * width..].iter_mut();
            for agent in 0..agents {
                rewarded[place * agents + agent] = episode.reward(agent);
                let it = episode.measured(agent);
                let values: [f64; MEASURED] = [
                    episode.now().as_secs_f64(),
                    it.interval_s,
                    it.throughput_mbps,
                    it.rtt_s,
                    it.loss_ratio(),
                ];
                measurements.extend(values);
                for (&value, cell) in episode.observation(agent).iter().zip(&mut cells) {
                    *cell = value;
                }
            }
            flags[0][place] = u8::from(episode.is_terminated());
            flags[1][place] = u8::from(episode.is_truncated());
        }
        observations.copy_from_slice(py, &observed)?;
        rewards.copy_from_slice(py, &rewarded)?;
        terminated.copy_from_slice(py, &flags[0])?;
        truncated.copy_from_slice(py, &flags[1])?;
        measured.copy_from_slice(py, &measurements)
    }
}

impl PyEpisodes {
    fn episodes(&self) -> MutexGuard<'_, Episodes> {
        self.episodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn agent(given: GivenAgent) -> PyResult<AgentConfig> {
    let (flow, action, step, reward, observation, history) = given;
    let unknown = |what: &str, name: &str| PyValueError::new_err(format!("no {what} \"{name}\""));
    Ok(AgentConfig {
        flow,
        action: match action.as_str() {
            "rate-factor" => Action::RateFactor { step },
            "window-power" => Action::WindowPower,
            "window" => Action::Window,
            name => return Err(unknown("action", name)),
        },
        reward: match reward.as_str() {
            "aurora" => Reward::Aurora,
            "orca" => Reward::Orca,
            "power" => Reward::Power,
            name => return Err(unknown("reward", name)),
        },
        observation,
        history,
    })
}

/// Returns the number of values in an agent's observation.
fn values_of(agent: &AgentConfig) -> usize {
    agent.observation.len() * agent.history
}

/// Returns the values of a buffer of `count` values.
fn read<T: pyo3::buffer::Element>(
    py: Python<'_>,
    buffer: &PyBuffer<T>,
    count: usize,
) -> PyResult<Vec<T>> {
    let values = buffer.to_vec(py)?;
    if values.len() == count {
        return Ok(values);
    }
    let found = values.len();
    Err(PyValueError::new_err(format!(
        "an array has {found} values; expected {count}"
    )))
}

/// Features of intervals that Python measures.
#[pyclass(module = "fadeout._native", name = "Features", frozen)]
pub(crate) struct PyFeatures(Vec<usize>);

#[pymethods]
impl PyFeatures {
    #[new]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn new(names: Vec<String>) -> PyResult<PyFeatures> {
        let numbers = names.iter().map(|name| {
            feature_number(name).map_err(|expected| {
                PyValueError::new_err(format!("no feature \"{name}\"; expected {expected}"))
            })
        });
        numbers.collect::<PyResult<_>>().map(PyFeatures)
    }

    /// Returns the features of an interval.
    #[pyo3(signature = (
        *, interval_s, sent, acked, lost, rtt_s, min_rtt_s, least_rtt_s, rtt_change_s,
        throughput_mbps, most_throughput_mbps, cwnd, in_flight, pacing_mbps, srtt_s, mss_bytes
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn values(
        &self,
        interval_s: f64,
        sent: f64,
        acked: f64,
        lost: f64,
        rtt_s: f64,
        min_rtt_s: f64,
        least_rtt_s: f64,
        rtt_change_s: f64,
        throughput_mbps: f64,
        most_throughput_mbps: f64,
        cwnd: f64,
        in_flight: f64,
        pacing_mbps: f64,
        srtt_s: f64,
        mss_bytes: f64,
    ) -> Vec<f64> {
        let measured = Measured {
            interval_s,
            sent,
            acked,
            lost,
            rtt_s,
            min_rtt_s,
            least_rtt_s,
            rtt_change_s,
            throughput_mbps,
            most_throughput_mbps,
            cwnd,
            in_flight,
            pacing_mbps,
            srtt_s,
            mss_bytes,
        };
        let features = self.0.iter().map(|&number| &FEATURES[number]);
        features.map(|feature| feature.value(&measured)).collect()
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
