//! A complete run: building, simulation, recording and summary.

pub mod agents;
mod observed;
mod ports;

pub use ports::PortAddress;

use crate::advice::remarks;
use crate::build::{self, BuildError, ChooseCongestion, Own};
use crate::directory::{Directory, both_directions_of};
use crate::kernels::{KernelError, Kernels};
use crate::summary::{resolved, sum_up, summary};
use crate::world::World;
use fadeout_core::{Fingerprint, NullProbe, Probe, ProbeSettings, Span, Time};
use fadeout_record::{
    Destination, RadioInfo, RecordError, Recorded, Recorder, RecorderConfig, RunInfo, Summary,
};
use fadeout_scenario::Scenario;

/// Progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Simulated length of the run.
    pub duration: Span,
    /// Number of events processed.
    pub events: u64,
    /// Number of packets that reached an endpoint.
    pub packets: u64,
}

/// Decision of the caller to continue or to stop a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The run continues.
    Continue,
    /// Stop the run and keep the recorded results.
    Stop,
}

/// The results of a run.
#[derive(Debug)]
pub struct RunResults {
    /// Tables, manifest and summary.
    pub recorded: Recorded,
    /// Digest of the trajectory.
    pub fingerprint: Fingerprint,
    /// True if the run reached its end.
    pub is_complete: bool,
    /// Number of events processed.
    pub events: u64,
    /// Number of packets that reached an endpoint.
    pub packets: u64,
    /// One sentence for each unlikely outcome, such as a UE that never attached. Empty if the run
    /// was stopped early.
    pub remarks: Vec<String>,
}

/// Reasons why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Results could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The Linux kernel of a node failed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Maximum number of events between two calls of `control`. They take a few milliseconds of
/// computing.
const EVENTS_BETWEEN_CALLS: u64 = 50_000;
/// The same number with QUIC connections. Packets with encryption and a handshake cost about 100
/// times as much as those of TCP.
const QUIC_EVENTS_BETWEEN_CALLS: u64 = 500;
/// Maximum number of throughput rows between two calls of `control`. These rows are written even if
/// no events occur.
const ROWS_BETWEEN_CALLS: u64 = 50_000;

/// Test of the world that is true after an event at which a run stops.
type IsHalted<'a> = &'a dyn Fn(&World<Recorder>) -> bool;

/// A run that is built and ready to start.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    world: World<Recorder>,
    /// Commit of the compiled code, for the manifest. `None` if it is unknown.
    commit: Option<String>,
    /// Maximum simulated time between two calls of `control`.
    stride: Span,
    /// Maximum number of events between two calls of `control`.
    events_between_calls: u64,
}

impl Simulation {
    /// Builds the simulation of `scenario` with a recorder that writes to `destination`.
    ///
    /// # Errors
    /// - [`RunError::Build`] if a layer refuses the scenario.
    /// - [`RunError::Record`] if the destination cannot be written.
    /// - [`RunError::Kernel`] if a Linux kernel does not start.
    pub fn new(scenario: Scenario, destination: Destination) -> Result<Simulation, RunError> {
        Simulation::with_congestion(scenario, destination, &mut |_| None)
    }

    /// Builds a simulation as [`Simulation::new`] does, with congestion controls of the caller.
    /// `choose` is called for each end of each flow.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::new`].
    pub fn with_congestion(
        scenario: Scenario,
        destination: Destination,
        choose: ChooseCongestion<'_>,
    ) -> Result<Simulation, RunError> {
        let policy = &mut |_: &Scenario| None;
        let congestion = choose;
        Simulation::with_own(scenario, destination, Own { congestion, policy })
    }

    /// Builds a simulation as [`Simulation::with_congestion`] does. The caller may also supply the
    /// handover policy.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::new`].
    pub fn with_own(
        scenario: Scenario,
        destination: Destination,
        own: Own<'_>,
    ) -> Result<Simulation, RunError> {
        let parts = build::parts(&scenario, own)?;
        let (info, has_radio) = (build::radio_info(&scenario, &parts), parts.radio.is_some());
        let logs = match &destination {
            Destination::Folder(folder) => Some(folder.path("")),
            Destination::Nowhere | Destination::Memory => None,
        };
        let config = recorder_config(&scenario, &parts.directory, has_radio.then_some(info));
        let recorder = Recorder::new(&config, destination)?;
        let mut world = World::new(parts, end_of(&scenario), recorder);
        world.boot_kernels(logs.as_deref())?;
        Ok(Simulation {
            stride: stride(&config),
            events_between_calls: events_between_calls(&scenario),
            scenario,
            world,
            commit: None,
        })
    }

    /// Sets the commit of the compiled code in the manifest.
    #[must_use]
    pub fn built_from(mut self, commit: Option<String>) -> Simulation {
        self.commit = commit;
        self
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Returns the time of the next event. `None` if no event is left.
    pub fn next_at(&self) -> Option<Time> {
        self.world.next_at()
    }

    /// Returns the summary of the run so far. Each table is a list under the table's name.
    pub fn summary(&self) -> serde_json::Value {
        summary(&self.scenario, &self.world)
    }

    /// Returns the digest of the trajectory so far.
    pub fn fingerprint(&self) -> Fingerprint {
        self.world.fingerprint()
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Progress {
        Progress {
            now: self.world.now(),
            duration: self.scenario.duration,
            events: self.world.events(),
            packets: self.world.delivered_packets(),
        }
    }

    /// Simulates up to and including `until`, or to the end of the run if that is earlier. Does
    /// nothing if `until` has passed. A run in several steps has the same results as a run in one.
    /// The run stops if the recorder cannot write, and [`finish`](Simulation::finish) returns the
    /// error.
    pub fn advance(&mut self, until: Time) {
        self.advance_while(until, None, &mut |_| Control::Continue);
    }

    /// Simulates as [`Simulation::advance`] does, and stops if `control` returns [`Control::Stop`].
    /// `control` is called every few milliseconds of computing. The simulation also stops right
    /// after an event that made `is_halted` true. It may be continued afterwards.
    pub fn advance_unless(
        &mut self,
        until: Time,
        is_halted: impl Fn() -> bool,
        mut control: impl FnMut(Progress) -> Control,
    ) {
        let is_halted = |_: &World<Recorder>| is_halted();
        self.advance_while(until, Some(&is_halted), &mut control);
    }

    /// Simulates as [`Simulation::advance_unless`] does. This function is not generic, so that the
    /// event loop is compiled here and not once for each caller.
    fn advance_while(
        &mut self,
        until: Time,
        is_halted: Option<IsHalted<'_>>,
        control: &mut dyn FnMut(Progress) -> Control,
    ) {
        let until = until.min(end_of(&self.scenario));
        let events = self.events_between_calls;
        loop {
            let step = until.min(self.now().saturating_add(self.stride));
            let is_left = match is_halted {
                None => self.world.run(step, events),
                Some(is_halted) => self.world.run_unless(step, events, is_halted),
            };
            let now = self.now();
            self.world.probe_mut().catch_up(now);
            if (!is_left && step == until)
                || is_halted.is_some_and(|is_halted| is_halted(&self.world))
                || control(self.progress()) == Control::Stop
                || self.world.probe().error().is_some()
                || self.world.kernels().is_some_and(|it| it.has_failed())
            {
                return;
            }
        }
    }

    /// Simulates to the end, or until `control` returns [`Control::Stop`]. `control` is called
    /// every few milliseconds of computing. The run also stops if the recorder cannot write.
    ///
    /// # Errors
    /// Returns [`RunError::Record`] if results could not be written.
    pub fn run(
        mut self,
        mut control: impl FnMut(Progress) -> Control,
    ) -> Result<RunResults, RunError> {
        self.advance_while(Time::NEVER, None, &mut control);
        self.finish()
    }

    /// Runs as [`Simulation::run`] does, and stops right after an event that made `is_halted` true.
    /// This is for congestion controls of the caller, which may fail.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::run`].
    pub fn run_unless(
        mut self,
        is_halted: impl Fn() -> bool,
        control: impl FnMut(Progress) -> Control,
    ) -> Result<RunResults, RunError> {
        self.advance_unless(Time::NEVER, is_halted, control);
        self.finish()
    }

    /// Ends the run at the current time and writes its summary.
    ///
    /// # Errors
    /// - [`RunError::Record`] if results could not be written.
    /// - [`RunError::Kernel`] if a Linux kernel failed. The results until then and the kernel's log
    ///   are still written.
    pub fn finish(mut self) -> Result<RunResults, RunError> {
        let failure = self.world.kernels().and_then(Kernels::take_failure);
        let end = end_of(&self.scenario);
        let is_complete =
            failure.is_none() && self.now() >= end && self.next_at().is_none_or(|at| at > end);
        let Simulation {
            scenario,
            world,
            commit,
            ..
        } = self;
        let whole = Whole {
            scenario: &scenario,
            world: &world,
            commit,
            is_complete,
        };
        let results = whole.results();
        let results = results.finish(world.into_probe())?;
        match failure {
            Some(failure) => Err(failure.into()),
            None => Ok(results),
        }
    }
}

/// A run at its end, with everything that its summary needs.
pub(crate) struct Whole<'a, P> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) world: &'a World<P>,
    pub(crate) commit: Option<String>,
    pub(crate) is_complete: bool,
}

/// Final results of a run, which are written after the recorded tables.
pub(crate) struct Results {
    now: Time,
    events: u64,
    packets: u64,
    remarks: Vec<String>,
    info: RunInfo,
}

impl<P: Probe> Whole<'_, P> {
    /// Computes the final results of the run.
    pub(crate) fn results(self) -> Results {
        let Whole {
            scenario,
            world,
            commit,
            is_complete,
        } = self;
        let mut rows = Summary::default();
        sum_up(scenario, world, &mut rows);
        Results {
            now: world.now(),
            events: world.events(),
            packets: world.delivered_packets(),
            remarks: match is_complete {
                true => remarks(scenario, world),
                false => Vec::new(),
            },
            info: RunInfo {
                version: crate::VERSION.to_owned(),
                commit,
                scenario: resolved(scenario),
                seed: scenario.seed,
                fingerprint: world.fingerprint(),
                complete: is_complete,
                summary: rows,
            },
        }
    }
}

impl Results {
    /// Writes the final results after the recorded tables.
    pub(crate) fn finish(self, recorder: Recorder) -> Result<RunResults, RecordError> {
        let (fingerprint, is_complete) = (self.info.fingerprint, self.info.complete);
        Ok(RunResults {
            recorded: recorder.finish(self.now, self.info)?,
            fingerprint,
            is_complete,
            events: self.events,
            packets: self.packets,
            remarks: self.remarks,
        })
    }
}

/// Returns the maximum number of events between two calls of `control`.
pub(crate) fn events_between_calls(scenario: &Scenario) -> u64 {
    if scenario.flows.iter().any(fadeout_scenario::Flow::is_quic) {
        QUIC_EVENTS_BETWEEN_CALLS
    } else {
        EVENTS_BETWEEN_CALLS
    }
}

/// Returns the longest simulated time between two calls of `control`. Throughput rows are written
/// even if no events occur. Without a limit, such a run could fill the disk before the next call.
pub(crate) fn stride(config: &RecorderConfig) -> Span {
    let width = config.probes.throughput.filter(|width| !width.is_zero());
    let width = width.unwrap_or(Span::MAX);
    let bins = ROWS_BETWEEN_CALLS / (config.flows.len() as u64).max(1);
    width.saturating_mul(bins.max(1))
}

pub(crate) fn end_of(scenario: &Scenario) -> Time {
    Time::ZERO.saturating_add(scenario.duration)
}

/// A simulation without a recorder, for benchmarks and tests.
impl World<NullProbe> {
    /// Builds the simulation of `scenario` without recording it.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if a layer refuses the scenario.
    pub fn unobserved(scenario: &Scenario) -> Result<World<NullProbe>, BuildError> {
        build::build(scenario, NullProbe)
    }

    /// Processes all events up to and including `until`.
    pub fn run_to(&mut self, until: Time) {
        while self.run(until, u64::MAX) {}
    }
}

/// Returns the settings of the recorder for a scenario. `radio` contains the names and numbers for
/// captures of the radio. `None` if no UE is served.
pub(crate) fn recorder_config(
    scenario: &Scenario,
    directory: &Directory,
    radio: Option<RadioInfo>,
) -> RecorderConfig {
    let has_radio = radio.is_some();
    let bearers = directory.bearer_names();
    let links = directory.link_names().map(str::to_owned);
    RecorderConfig {
        flows: directory.flow_infos().collect(),
        links: links.chain(bearers.flat_map(both_directions_of)).collect(),
        nodes: scenario
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect(),
        endpoints: directory.endpoints().to_vec(),
        captured_links: scenario
            .probe
            .link_capture
            .iter()
            .map(|&link| (scenario.links[link].name.clone(), directory.link(link)))
            .collect(),
        radio: radio.unwrap_or_default(),
        cells: scenario
            .cells
            .iter()
            .map(|cell| cell.name.clone())
            .collect(),
        ues: scenario.ues.iter().map(|ue| ue.name.clone()).collect(),
        bearers: directory.bearer_names().map(str::to_owned).collect(),
        has_rrc: has_radio
            && (scenario.mobility.is_some()
                || scenario.bearers().any(|bearer| bearer.split().is_some())
                || (scenario.ues.iter()).any(|ue| ue.rrc_states.is_some() || ue.pscell.is_some())),
        has_datagrams: scenario.flows.iter().any(build::is_datagrams),
        has_bbr: scenario.flows.iter().any(build::has_bbr),
        has_quic: scenario.flows.iter().any(fadeout_scenario::Flow::is_quic),
        has_link_handovers: !scenario.handovers.is_empty(),
        has_secondary_changes: (scenario.mobility.as_ref())
            .is_some_and(|mobility| mobility.secondary_node.is_some())
            && has_radio,
        has_mobility: scenario.mobility.is_some() && has_radio,
        probes: ProbeSettings {
            // Cells without UEs send nothing, so there is nothing to capture.
            radio_capture: match has_radio {
                true => scenario.probe.radio_capture.clone(),
                false => Vec::new(),
            },
            ..scenario.probe.clone()
        },
    }
}
