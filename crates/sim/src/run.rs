//! A whole run: build, simulate, record, sum up.

use crate::build::multipath::{PathFlows, path_count, path_flow};
use crate::build::{self, BuildError, ChooseCongestion, direction_names};
use crate::radio::both_directions_of;
use crate::summary::summary;
use crate::world::{Parts, World};
use fadeout_core::{EndpointId, Fingerprint, FlowId, NullProbe, ProbeSettings, Span, Time};
use fadeout_record::{
    Destination, EndpointInfo, FlowInfo, RecordError, Recorded, Recorder, RecorderConfig, RunInfo,
    SubflowInfo, address_of,
};
use fadeout_scenario::Scenario;

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Length of the run.
    pub duration: Span,
    /// Events processed.
    pub events: u64,
    /// Packets that reached an endpoint.
    pub packets: u64,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop here and keep what was recorded.
    Stop,
}

/// What a run produced.
#[derive(Debug)]
pub struct Outcome {
    /// Tables, manifest and summary.
    pub recorded: Recorded,
    /// Digest of the trajectory.
    pub fingerprint: Fingerprint,
    /// Whether the run reached its end.
    pub is_complete: bool,
    /// Events processed.
    pub events: u64,
    /// Packets that reached an endpoint.
    pub packets: u64,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario does not make a world.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Results could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Events between two looks at the outside world: some milliseconds of computing.
const EVENTS_BETWEEN_LOOKS: u64 = 50_000;

/// A run, ready to go.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    world: World<Recorder>,
}

impl Simulation {
    /// Builds the world of `scenario` with a recorder that writes to `destination`.
    ///
    /// # Errors
    /// [`RunError::Build`] for a scenario that a layer refuses, [`RunError::Record`] for a
    /// destination that cannot be written.
    pub fn new(scenario: Scenario, destination: Destination) -> Result<Simulation, RunError> {
        Simulation::with(scenario, destination, &mut |_| None)
    }

    /// Like [`Simulation::new`], with congestion controls of the user's own: `choose` is asked for
    /// each end of each flow.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn with(
        scenario: Scenario,
        destination: Destination,
        choose: ChooseCongestion<'_>,
    ) -> Result<Simulation, RunError> {
        let parts = build::parts(&scenario, choose)?;
        let recorder = Recorder::new(&recorder_config(&scenario, &parts), destination)?;
        let world = World::new(parts, end_of(&scenario), recorder);
        Ok(Simulation { scenario, world })
    }

    /// Simulates to the end, or until `control` says stop; it is asked every few milliseconds of
    /// computing. A recorder that cannot write stops the run too.
    ///
    /// # Errors
    /// [`RunError::Record`] when results could not be written.
    pub fn run(self, control: impl FnMut(Progress) -> Control) -> Result<Outcome, RunError> {
        self.run_unless(|| false, control)
    }

    /// Like [`Simulation::run`]; stops as well right after the event in which `is_halted` became
    /// true, for a congestion control of the user's own that failed.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn run_unless(
        mut self,
        is_halted: impl Fn() -> bool,
        mut control: impl FnMut(Progress) -> Control,
    ) -> Result<Outcome, RunError> {
        let end = end_of(&self.scenario);
        let mut is_complete = true;
        while self.world.run_unless(end, EVENTS_BETWEEN_LOOKS, &is_halted) {
            if is_halted() {
                is_complete = false;
                break;
            }
            let progress = Progress {
                now: self.world.now(),
                duration: self.scenario.duration,
                events: self.world.events(),
                packets: self.world.delivered_packets(),
            };
            if control(progress) == Control::Stop || self.world.probe().error().is_some() {
                is_complete = false;
                break;
            }
        }
        self.finish(is_complete)
    }

    fn finish(self, is_complete: bool) -> Result<Outcome, RunError> {
        let Simulation { scenario, world } = self;
        let (now, events, packets) = (world.now(), world.events(), world.delivered_packets());
        let fingerprint = world.fingerprint();
        let info = RunInfo {
            version: crate::VERSION.to_owned(),
            scenario: scenario.to_json(),
            seed: scenario.seed,
            fingerprint,
            complete: is_complete,
            summary: summary(&scenario, &world),
        };
        let recorded = world.into_probe().finish(now, &info)?;
        Ok(Outcome {
            recorded,
            fingerprint,
            is_complete,
            events,
            packets,
        })
    }
}

fn end_of(scenario: &Scenario) -> Time {
    Time::ZERO.saturating_add(scenario.duration)
}

/// A world without a recorder, for benchmarks and tests.
impl World<NullProbe> {
    /// Builds the world of `scenario`; nothing looks at it.
    ///
    /// # Errors
    /// [`BuildError`] for a scenario that a layer refuses.
    pub fn unobserved(scenario: &Scenario) -> Result<World<NullProbe>, BuildError> {
        build::build(scenario, NullProbe)
    }
}

fn recorder_config(scenario: &Scenario, parts: &Parts) -> RecorderConfig {
    let bearers = scenario.bearers();
    let bearers = bearers.flat_map(|bearer| both_directions_of(&bearer.name()));
    let links = direction_names(scenario).chain(bearers).collect();
    let info = |name, start| FlowInfo { name, start };
    let whole = scenario
        .flows
        .iter()
        .map(|flow| info(flow.name.clone(), flow.start));
    // The paths of multipath connections have rows of their own, after all flows.
    let paths = scenario.flows.iter().flat_map(|flow| {
        (0..path_count(flow)).map(move |path| info(format!("{}/{path}", flow.name), flow.start))
    });
    let flows = whole.chain(paths).collect();
    RecorderConfig {
        flows,
        links,
        nodes: scenario
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect(),
        endpoints: endpoints(scenario),
        radio: build::radio_info(scenario, parts),
        cells: scenario
            .cells
            .iter()
            .map(|cell| cell.name.clone())
            .collect(),
        ues: scenario.ues.iter().map(|ue| ue.name.clone()).collect(),
        bearers: scenario.bearers().map(|bearer| bearer.name()).collect(),
        probes: ProbeSettings {
            // Cells that serve nobody send nothing.
            radio_capture: match parts.radio {
                Some(_) => scenario.probe.radio_capture.clone(),
                None => Vec::new(),
            },
            ..scenario.probe.clone()
        },
    }
}

/// First port of the sending ends; the receiving ends all listen on [`SERVICE_PORT`].
const FIRST_PORT: u16 = 40_000;
/// Port of the receiving ends (iperf3's).
const SERVICE_PORT: u16 = 5201;

fn endpoints(scenario: &Scenario) -> Vec<EndpointInfo> {
    let mut endpoints = Vec::with_capacity(2 * scenario.flows.len());
    let mut path_flows = PathFlows::new(scenario);
    for (index, flow) in scenario.flows.iter().enumerate() {
        let paths = path_count(flow);
        let first_path = path_flows.take(flow);
        // Ports repeat after 20,000 flows; a capture then shows several flows as one.
        let port = FIRST_PORT + (index % 20_000) as u16;
        for path in 0..paths.max(1) {
            let id = if paths == 0 {
                FlowId(index as u32)
            } else {
                path_flow(first_path, path)
            };
            let sender = EndpointId(endpoints.len() as u32);
            let receiver = EndpointId(sender.0 + 1);
            for (node, peer, port) in [(flow.from, receiver, port), (flow.to, sender, SERVICE_PORT)]
            {
                endpoints.push(EndpointInfo {
                    flow: id,
                    node,
                    peer,
                    address: address_of(node, path as u8),
                    port,
                    subflow: (paths > 0).then(|| SubflowInfo {
                        // Two endpoints a path lie between.
                        first: EndpointId(endpoints.len() as u32 - 2 * path as u32),
                        path: path as u8,
                    }),
                });
            }
        }
    }
    endpoints
}
