//! Runs whose windows or rates an agent decides, interval by interval.
//!
//! An [`Episode`] is one run with one or more agents. [`Episodes`] steps many runs in threads.

mod decider;
mod episodes;
mod features;
mod meter;

pub use decider::{Action, Decider, Decision, History, Interval, limited};
pub use episodes::{Episodes, Slot};
pub use features::{FEATURES, Feature, Measured, feature_number};
pub use meter::Reading;

use super::{Simulation, end_of};
use crate::observe::{Observation, ObserveError, Split};
use fadeout_core::{EndpointId, FlowId, Span, Time};
use fadeout_transport::tcp::Steering;
use features::ratio;
use std::sync::Arc;

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
    history: History,
    decider: Decider,
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
        let agents = known.into_iter().zip(&config.agents);
        let agents = agents.map(|(known, config)| Agent::new(&mut simulation, known, config));
        Ok(Episode {
            agents: agents.collect(),
            config: Arc::clone(config),
            simulation,
            steps: 0,
        })
    }

    /// Carries out one decision of each agent, and simulates one interval.
    pub fn step(&mut self, actions: &[f64]) {
        debug_assert_eq!(
            actions.len(),
            self.agents.len(),
            "one action for each agent"
        );
        for (agent, &action) in self.agents.iter_mut().zip(actions) {
            agent.act(&mut self.simulation, action);
        }
        let longest = self.agents.iter().map(|it| it.decider.measured().rtt_s);
        let length = self.config.interval.length(longest.fold(0.0, f64::max));
        let until = self.simulation.now().saturating_add(length);
        self.simulation.advance(until);
        self.steps += 1;
        for (agent, config) in self.agents.iter_mut().zip(&self.config.agents) {
            agent.measure(&mut self.simulation);
            agent.reward = config.reward.of(agent.decider.measured());
        }
    }

    /// Returns the observation of an agent.
    pub fn observation(&self, agent: usize) -> &[f32] {
        self.agents[agent].history.values()
    }

    /// Returns the reward of an agent for the latest interval.
    pub fn reward(&self, agent: usize) -> f64 {
        self.agents[agent].reward
    }

    /// Returns the measurements of an agent's flow in the latest interval.
    pub fn measured(&self, agent: usize) -> &Measured {
        self.agents[agent].decider.measured()
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
    /// Returns an agent that takes over the window or rate of its flow.
    fn new(simulation: &mut Simulation, known: Known, config: &AgentConfig) -> Agent {
        let (flow, sender, sources) = known;
        let decider = Decider::new(config.action, reading(simulation, flow, sender));
        let first = sources.iter().map(|it| it.value(&decider, simulation));
        let first: Vec<f32> = first.collect();
        let agent = Agent {
            history: History::new(&first, config.history),
            reward: 0.0,
            flow,
            sender,
            sources,
            decider,
        };
        let decision = agent.decider.first_decision();
        if let Decision::Pace { window, .. } = decision {
            // The data of the first round trip leave before pacing begins.
            let _ = simulation.world.steer(sender, Steering::HeldWindow(window));
        }
        agent.carry_out(simulation, decision);
        agent
    }

    /// Ends an interval.
    fn measure(&mut self, simulation: &mut Simulation) {
        let now = reading(simulation, self.flow, self.sender);
        self.decider.measure(now);
        let decider = &self.decider;
        let values = self.sources.iter();
        self.history
            .push(values.map(|it| it.value(decider, simulation)));
    }

    fn act(&mut self, simulation: &mut Simulation, action: f64) {
        let decision = self.decider.decide(action);
        self.carry_out(simulation, decision);
    }

    fn carry_out(&self, simulation: &mut Simulation, decision: Decision) {
        let mut steer = |steering| {
            // A connection that is closed cannot be steered, and the episode is over.
            let _ = simulation.world.steer(self.sender, steering);
        };
        match decision {
            Decision::Keep => {}
            Decision::Pace { rate_mbps, window } => {
                steer(Steering::Pacing(Some(decider::pacing(rate_mbps))));
                steer(Steering::HeldWindow(window));
            }
            Decision::Hold(window) => steer(Steering::HeldWindow(window)),
            Decision::Continue(window) => steer(Steering::Window(window)),
        }
    }
}

impl Source {
    fn value(self, decider: &Decider, simulation: &mut Simulation) -> f32 {
        limited(match self {
            Source::Feature(feature) => decider.feature(feature),
            Source::Run(observation) => simulation.observe(observation),
        })
    }
}

/// Returns the counters and the state of a flow now.
fn reading(simulation: &Simulation, flow: FlowId, sender: EndpointId) -> Reading {
    let counts = simulation.world.flow_counts(flow, sender);
    let row = simulation.world.congestion_row(flow, sender);
    Reading {
        at: simulation.now(),
        sent_segments: counts.sent_segments,
        delivered_segments: counts.delivered_segments,
        lost_segments: counts.lost_segments,
        rtt_sum_s: counts.rtt_sum_s,
        rtt_samples: counts.rtt_samples,
        min_rtt_s: counts.min_rtt_s,
        mss_bytes: f64::from(counts.mss_bytes),
        cwnd: row.cwnd_segments,
        in_flight: f64::from(row.in_flight_segments),
        pacing_mbps: row.pacing_rate_mbps,
        srtt_s: row.srtt_s.as_secs_f64(),
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
