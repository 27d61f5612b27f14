//! Runs whose windows or rates an agent decides, interval by interval.
//!
//! An [`Episode`] is one run with one or more agents. [`Episodes`] steps many runs in threads.

mod episodes;
mod features;

pub use episodes::{Episodes, Slot};
pub use features::{FEATURES, Feature, Measured, feature_number};

use super::{Simulation, end_of};
use crate::observe::{Observation, ObserveError, Split};
use fadeout_core::{EndpointId, FlowId, Rate, Span, Time};
use fadeout_transport::tcp::Steering;
use features::{Meter, ratio};
use std::sync::Arc;

/// Meaning of an agent's action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Relative change of the pacing rate. An action a ≥ 0 multiplies the rate by 1 + step · a, and
    /// a < 0 divides it by 1 − step · a. The window then limits nothing. Source: Jay et al., "A
    /// deep reinforcement learning perspective on internet congestion control", ICML 2019, section
    /// 3.1.
    RateFactor {
        /// Largest relative change for an action of 1.
        step: f64,
    },
    /// The action a multiplies the window of the flow's congestion control by 4^a, once. Source:
    /// Abbasloo et al., "Classic meets modern: a pragmatic learning-based congestion control",
    /// SIGCOMM 2020, section 4.
    WindowPower,
    /// The action a holds a congestion window of 10^(4 · a) segments until the next decision.
    Window,
}

/// Reward of an agent for an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reward {
    /// 10 · throughput − 1000 · latency − 2000 · loss, in thousandths. The throughput is in
    /// segments per second, the latency in seconds (Jay et al., ICML 2019, section 4.2).
    Aurora,
    /// (throughput − 5 · lost rate) divided by the largest throughput, times the delay factor
    /// (Abbasloo et al., SIGCOMM 2020, section 4).
    Orca,
    /// Throughput in Mbit/s times the smallest round-trip time, divided by the round-trip time.
    Power,
}

impl Reward {
    fn of(self, it: &Measured) -> f64 {
        match self {
            Reward::Aurora => {
                let per_s = ratio(it.acked, it.interval_s, 0.0);
                1e-3 * (10.0 * per_s - 1e3 * it.rtt_s - 2e3 * it.loss_ratio())
            }
            Reward::Orca => {
                let useful = it.throughput_mbps - 5.0 * it.lost_mbps();
                ratio(useful, it.most_throughput_mbps, 0.0) * it.delay_factor()
            }
            Reward::Power => ratio(it.throughput_mbps * it.min_rtt_s, it.rtt_s, 0.0),
        }
    }
}

/// Length of the decision intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interval {
    /// Number of round-trip times: the mean of the previous interval. With several agents, the
    /// longest one counts.
    RoundTrips(f64),
    /// Fixed time.
    Fixed(Span),
}

/// An agent of an episode.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// Name of its flow.
    pub flow: String,
    /// Meaning of its actions.
    pub action: Action,
    /// Its reward.
    pub reward: Reward,
    /// Names of features, or of values as in [`Simulation::observation`].
    pub observation: Vec<String>,
    /// Number of intervals that an observation covers, the latest last.
    pub history: usize,
}

/// The agents of an episode, and its intervals.
#[derive(Debug, Clone)]
pub struct EpisodeConfig {
    /// Agents, with one flow each.
    pub agents: Vec<AgentConfig>,
    /// Length of the intervals.
    pub interval: Interval,
    /// Number of decisions after which the episode is truncated. `None` for the end of the run.
    pub steps: Option<u64>,
}

/// Shortest and longest interval of a number of round-trip times.
const INTERVALS: [f64; 2] = [1e-4, 1.0];
/// Lowest and highest rate of [`Action::RateFactor`], Mbit/s.
const RATES: [f64; 2] = [0.01, 1e5];
/// Largest absolute value of an observation.
const LARGEST: f64 = 1e9;

/// A run whose senders are decided by agents.
#[derive(Debug)]
pub struct Episode {
    simulation: Simulation,
    config: Arc<EpisodeConfig>,
    agents: Vec<Agent>,
    steps: u64,
}

/// State of an agent.
#[derive(Debug)]
struct Agent {
    flow: FlowId,
    sender: EndpointId,
    sources: Vec<Source>,
    /// Observed values of the latest intervals, the oldest first.
    history: Vec<f32>,
    meter: Meter,
    /// Rate of [`Action::RateFactor`], Mbit/s.
    rate_mbps: f64,
    reward: f64,
}

/// Source of an observed value.
#[derive(Debug, Clone, Copy)]
enum Source {
    Feature(usize),
    Run(Observation),
}

/// Flow of an agent, the flow's data sender, and the sources of the observed values.
type Known = (FlowId, EndpointId, Vec<Source>);

impl Episode {
    /// Checks that the flows and the observed values of all agents exist. Simulates nothing.
    ///
    /// # Errors
    /// Returns an [`ObserveError`] if a flow or an observed value does not exist.
    pub fn check(simulation: &mut Simulation, config: &EpisodeConfig) -> Result<(), ObserveError> {
        look_up(simulation, config).map(|_| ())
    }

    /// Begins an episode: simulates until each agent's flow has a round-trip time sample, and takes
    /// over its window or rate.
    ///
    /// # Errors
    /// Returns an [`ObserveError`] if a flow or an observed value does not exist.
    pub fn new(
        mut simulation: Simulation,
        config: &Arc<EpisodeConfig>,
    ) -> Result<Episode, ObserveError> {
        let known = look_up(&mut simulation, config)?;
        let step = Span::from_millis(1);
        let has_sample = |simulation: &Simulation, &(flow, sender, _): &Known| {
            simulation.world.flow_counts(flow, sender).rtt_samples > 0
        };
        while !known.iter().all(|agent| has_sample(&simulation, agent))
            && simulation.now() < end_of(&simulation.scenario)
        {
            simulation.advance(simulation.now().saturating_add(step));
        }
        let agents = known.into_iter().map(|(flow, sender, sources)| Agent {
            flow,
            sender,
            sources,
            history: Vec::new(),
            meter: Meter::new(&simulation, flow, sender),
            rate_mbps: 0.0,
            reward: 0.0,
        });
        let mut episode = Episode {
            agents: agents.collect(),
            config: Arc::clone(config),
            simulation,
            steps: 0,
        };
        episode.begin();
        Ok(episode)
    }

    /// Fills the history with the first values, and takes over windows and rates.
    fn begin(&mut self) {
        for (agent, config) in self.agents.iter_mut().zip(&self.config.agents) {
            let now: Vec<f32> = agent.values(&mut self.simulation).collect();
            agent.history = now.repeat(config.history);
            let it = agent.meter.measured;
            let world = &mut self.simulation.world;
            // A connection that is closed already cannot be steered, and the episode is over.
            match config.action {
                Action::RateFactor { .. } if it.srtt_s > 0.0 => {
                    let rate = it.cwnd * it.mss_bytes * 8e-6 / it.srtt_s;
                    agent.rate_mbps = rate.clamp(RATES[0], RATES[1]);
                    let _ = world.steer(agent.sender, Steering::HeldWindow(agent.window()));
                    let _ = world.steer(agent.sender, agent.pacing());
                }
                Action::Window if it.cwnd >= 1.0 => {
                    let _ = world.steer(agent.sender, Steering::HeldWindow(it.cwnd));
                }
                _ => {}
            }
        }
    }

    /// Carries out one decision of each agent, and simulates one interval.
    pub fn step(&mut self, actions: &[f64]) {
        debug_assert_eq!(
            actions.len(),
            self.agents.len(),
            "one action for each agent"
        );
        for ((agent, config), &action) in
            self.agents.iter_mut().zip(&self.config.agents).zip(actions)
        {
            agent.act(&mut self.simulation, config.action, action);
        }
        let until = self.simulation.now().saturating_add(self.interval());
        self.simulation.advance(until);
        self.steps += 1;
        for (agent, config) in self.agents.iter_mut().zip(&self.config.agents) {
            agent.meter.measure(&self.simulation);
            agent.reward = config.reward.of(&agent.meter.measured);
            let width = agent.sources.len();
            agent.history.rotate_left(width);
            let first = agent.history.len() - width;
            for source in 0..width {
                agent.history[first + source] = agent.value(&mut self.simulation, source);
            }
        }
    }

    /// Returns the length of the next interval.
    fn interval(&self) -> Span {
        match self.config.interval {
            Interval::Fixed(span) => span,
            Interval::RoundTrips(count) => {
                let agents = self.agents.iter();
                let longest = agents.map(|agent| agent.meter.measured.rtt_s);
                let longest = longest.fold(0.0, f64::max);
                let [least, most] = INTERVALS;
                Span::from_secs_f64((count * longest).clamp(least, most))
            }
        }
    }

    /// Returns the observation of an agent.
    pub fn observation(&self, agent: usize) -> &[f32] {
        &self.agents[agent].history
    }

    /// Returns the reward of an agent for the latest interval.
    pub fn reward(&self, agent: usize) -> f64 {
        self.agents[agent].reward
    }

    /// Returns the measurements of an agent's flow in the latest interval.
    pub fn measured(&self, agent: usize) -> &Measured {
        &self.agents[agent].meter.measured
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// True if the flow of every agent has completed or was given up.
    pub fn is_terminated(&self) -> bool {
        let mut agents = self.agents.iter();
        agents.all(|agent| self.simulation.world.has_ended(agent.flow))
    }

    /// True at the end of the run, or after the last decision.
    pub fn is_truncated(&self) -> bool {
        self.simulation.now() >= end_of(&self.simulation.scenario)
            || self.config.steps.is_some_and(|most| self.steps >= most)
    }
}

impl Agent {
    /// Returns the value of a source, limited to a range that 32 bits represent. A value that does
    /// not exist yet is zero.
    fn value(&self, simulation: &mut Simulation, source: usize) -> f32 {
        let value = match self.sources[source] {
            Source::Feature(feature) => FEATURES[feature].value(&self.meter.measured),
            Source::Run(observation) => simulation.observe(observation),
        };
        if value.is_nan() {
            return 0.0;
        }
        value.clamp(-LARGEST, LARGEST) as f32
    }

    fn values<'a>(&'a self, simulation: &'a mut Simulation) -> impl Iterator<Item = f32> + 'a {
        (0..self.sources.len()).map(move |source| self.value(simulation, source))
    }

    fn act(&mut self, simulation: &mut Simulation, kind: Action, action: f64) {
        let world = &mut simulation.world;
        // A connection that is closed cannot be steered, and the episode is over.
        match kind {
            Action::RateFactor { step } => {
                let factor = if action >= 0.0 {
                    1.0 + step * action
                } else {
                    1.0 / (1.0 - step * action)
                };
                self.rate_mbps = (self.rate_mbps * factor).clamp(RATES[0], RATES[1]);
                let _ = world.steer(self.sender, self.pacing());
                let _ = world.steer(self.sender, Steering::HeldWindow(self.window()));
            }
            Action::WindowPower => {
                let cwnd = world.congestion_row(self.flow, self.sender).cwnd_segments;
                let cwnd = (cwnd * fadeout_core::math::pow(4.0, action)).clamp(2.0, 1e6);
                let _ = world.steer(self.sender, Steering::Window(cwnd));
            }
            Action::Window => {
                let cwnd = fadeout_core::math::pow(1e4, action).clamp(1.0, 1e6);
                let _ = world.steer(self.sender, Steering::HeldWindow(cwnd));
            }
        }
    }

    /// Returns the window that does not limit a paced sender: twice the rate times the round-trip
    /// time.
    fn window(&self) -> f64 {
        let it = &self.meter.measured;
        let bits = self.rate_mbps * 1e6 * it.srtt_s.max(it.rtt_s);
        (2.0 * bits / (8.0 * it.mss_bytes.max(1.0))).clamp(10.0, 1e6)
    }

    fn pacing(&self) -> Steering {
        Steering::Pacing(Some(Rate::from_bits_per_sec((self.rate_mbps * 1e6) as u64)))
    }
}

/// Returns the flow, the data sender and the sources of each agent.
fn look_up(
    simulation: &mut Simulation,
    config: &EpisodeConfig,
) -> Result<Vec<Known>, ObserveError> {
    let mut known = Vec::new();
    for agent in &config.agents {
        let (flow, sender) = sender_of(simulation, &agent.flow)?;
        let mut sources = Vec::new();
        for name in &agent.observation {
            sources.push(source_of(simulation, name)?);
        }
        known.push((flow, sender, sources));
    }
    Ok(known)
}

/// Returns the flow of an agent, and its data sender.
fn sender_of(simulation: &Simulation, flow: &str) -> Result<(FlowId, EndpointId), ObserveError> {
    // The names of windows exist for flows with a single TCP connection.
    let name = format!("flow.{flow}.cwnd_segments");
    simulation.setting(&name)?;
    simulation.flow(&Split::new(&name)?)
}

/// Returns the source of an observed value. A name without points is that of a feature.
fn source_of(simulation: &mut Simulation, name: &str) -> Result<Source, ObserveError> {
    if name.contains('.') {
        return simulation.observation(name).map(Source::Run);
    }
    let found = feature_number(name).map(Source::Feature);
    found.map_err(|expected| ObserveError::Unknown {
        name: name.to_owned(),
        what: "feature",
        given: name.to_owned(),
        expected: expected + ", or a name KIND.NAME.COLUMN",
    })
}
