//! A scenario divided into several worlds, which are simulated in parallel.

mod gate;
mod windows;

use crate::build::{self, BuildError, ChooseCongestion, Divided, Own};
use crate::division::NodeDivision;
use crate::run::{
    Control, Progress, RunError, RunResults, Whole, end_of, events_between_calls, recorder_config,
    stride,
};
use crate::world::{Parts, World, gathered, probe_of};
use fadeout_core::{NullProbe, Probe, ProbeSettings, Span, Time};
use fadeout_record::{Destination, Merger, PartNumbers, PartRecorder, RadioInfo, Recorder};
use fadeout_scenario::Scenario;
use windows::Windows;

/// Checks that a scenario can be built as one world or as several worlds. The built worlds are
/// discarded.
///
/// # Errors
/// Returns a [`BuildError`] if a layer refuses the scenario.
pub fn check_with_own(scenario: &Scenario, own: Own<'_>) -> Result<(), BuildError> {
    match scenario.worlds {
        fadeout_scenario::Worlds::One => build::parts(scenario, own).map(drop),
        fadeout_scenario::Worlds::ByCarrier => build::divided(scenario, own.congestion).map(drop),
    }
}

/// The worlds into which the scenario's `worlds` key divides a run. `P` is the probe that records
/// each world.
///
/// Cells on one carrier interfere with each other in every slot. So these cells form one world
/// together with their base stations and UEs. All other nodes form one more world. A world contains
/// the links that start in it, with their queues and transmitters. It also contains the ends of
/// flows on its nodes.
///
/// The results are the same bit by bit for any number of threads. Each flow, link and UE has the
/// same results as in a run with one world, with one exception. If two worlds affect a third world
/// at the same nanosecond, the order of these events may differ. The fingerprint combines the
/// trajectories of all worlds, so it differs from that of one world.
#[derive(Debug)]
pub struct Worlds<P> {
    windows: Windows<P>,
    division: NodeDivision,
}

impl Worlds<NullProbe> {
    /// Builds the worlds of `scenario` without recording them.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if a layer refuses the scenario, or if it cannot be divided.
    pub fn unobserved(scenario: &Scenario) -> Result<Worlds<NullProbe>, BuildError> {
        Worlds::unobserved_with(scenario, &mut |_| None)
    }

    /// Builds worlds as [`Worlds::unobserved`] does. `choose` has the meaning of
    /// [`DividedSimulation::with_congestion`].
    ///
    /// # Errors
    /// Returns the errors of [`Worlds::unobserved`].
    pub fn unobserved_with(
        scenario: &Scenario,
        choose: ChooseCongestion<'_>,
    ) -> Result<Worlds<NullProbe>, BuildError> {
        let built = build::divided(scenario, choose)?;
        Ok(Worlds::new(built, scenario, |_| NullProbe))
    }

    /// Simulates to the end on a number of threads.
    pub fn run(&mut self, threads: usize) {
        self.windows.run(threads, &mut |_| Control::Continue);
    }

    /// Merges all worlds into one at the end of the run, for its summary.
    pub fn into_world(self) -> World<NullProbe> {
        self.gathered()
    }
}

impl<P: Probe + Send> Worlds<P> {
    fn new(built: Divided, scenario: &Scenario, mut probe: impl FnMut(&Parts) -> P) -> Worlds<P> {
        let Divided { worlds, division } = built;
        let end = end_of(scenario);
        let worlds = worlds.into_iter().map(|parts| {
            let probe = probe(&parts);
            World::new(parts, end, probe)
        });
        let worlds = worlds.collect();
        Worlds {
            windows: Windows::new(worlds, division.lookahead, end),
            division,
        }
    }

    /// Returns the number of worlds.
    pub fn count(&self) -> usize {
        self.division.count()
    }

    /// Returns the lookahead, which is the length of a time window.
    pub fn lookahead(&self) -> Span {
        self.division.lookahead
    }

    /// Merges all worlds into one, as they are at the end of the run.
    fn gathered(self) -> World<P> {
        let Worlds { windows, division } = self;
        gathered(windows.into_worlds(), |node| division.world_of(node))
    }
}

/// A run of a divided scenario that is built and ready to start.
#[derive(Debug)]
pub struct DividedSimulation {
    scenario: Scenario,
    worlds: Worlds<PartRecorder>,
    merger: Merger,
    recorder: Recorder,
    commit: Option<String>,
    /// Maximum simulated time between two calls of `control`.
    stride: Span,
}

impl DividedSimulation {
    /// Builds the worlds of `scenario` with a recorder that writes to `destination`. `choose` has
    /// the type of [`Simulation::with_congestion`](crate::Simulation::with_congestion), but must
    /// always return `None`.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::with_congestion`](crate::Simulation::with_congestion),
    /// and [`BuildError::Undivided`] if the scenario cannot be divided.
    pub fn with_congestion(
        scenario: Scenario,
        destination: Destination,
        choose: ChooseCongestion<'_>,
    ) -> Result<DividedSimulation, RunError> {
        let built = build::divided(&scenario, choose)?;
        let directory = &built.worlds[0].directory;
        let mut config = recorder_config(&scenario, directory, Some(RadioInfo::default()));
        if matches!(destination, Destination::Nowhere) {
            config.probes = ProbeSettings::NOTHING;
        }
        let recorder = Recorder::new(&config, destination)?;
        let worlds = Worlds::new(built, &scenario, |parts| {
            let numbers = parts
                .radio
                .as_ref()
                .and_then(|radio| radio.numbers.as_ref());
            let numbers = numbers.map(|numbers| PartNumbers {
                ues: numbers.ues.clone(),
                bearers: numbers.bearers.clone(),
            });
            PartRecorder::new(&config, numbers.unwrap_or_default())
        });
        Ok(DividedSimulation {
            merger: Merger::new(&config),
            stride: stride(&config),
            scenario,
            worlds,
            recorder,
            commit: None,
        })
    }

    /// Sets the commit of this build in the manifest.
    #[must_use]
    pub fn built_from(mut self, commit: Option<String>) -> DividedSimulation {
        self.commit = commit;
        self
    }

    /// Simulates to the end on a number of threads, or until `control` returns [`Control::Stop`].
    /// `control` is called on this thread, between two windows, every few milliseconds of
    /// computing. The run also stops if the recorder cannot write.
    ///
    /// # Errors
    /// Returns [`RunError::Record`] if results could not be written.
    pub fn run(
        self,
        threads: usize,
        mut control: impl FnMut(Progress) -> Control,
    ) -> Result<RunResults, RunError> {
        self.run_on(threads, &mut control)
    }

    /// Simulates as [`DividedSimulation::run`] does. This function is not generic, so that the
    /// event loop is compiled here and not once for each caller.
    fn run_on(
        self,
        threads: usize,
        control: &mut dyn FnMut(Progress) -> Control,
    ) -> Result<RunResults, RunError> {
        let DividedSimulation {
            scenario,
            mut worlds,
            mut merger,
            mut recorder,
            commit,
            stride,
        } = self;
        let events_between_calls = events_between_calls(&scenario);
        let (mut checked_at, mut filled) = (0, Time::ZERO);
        let lookahead = worlds.lookahead();
        let is_complete = worlds.windows.run(threads, &mut |windows| {
            windows.each(|world| merger.collect_rows(probe_of(world)));
            let progress = || {
                let (events, packets) = windows.progress();
                Progress {
                    now: windows.now(),
                    duration: scenario.duration,
                    events,
                    packets,
                }
            };
            // The current window began after `begin`. Rows before `begin` are complete and can be
            // written.
            let begin = windows.now().saturating_sub(lookahead);
            while filled < begin {
                filled = begin.min(filled.saturating_add(stride));
                recorder.catch_up(filled);
                if filled < begin && control(progress()) == Control::Stop {
                    return Control::Stop;
                }
            }
            merger.report_rows(windows.now(), &mut recorder);
            if recorder.error().is_some() {
                return Control::Stop;
            }
            let progress = progress();
            if progress.events - checked_at < events_between_calls {
                return Control::Continue;
            }
            checked_at = progress.events;
            control(progress)
        });
        worlds
            .windows
            .each(|world| merger.collect_rows(probe_of(world)));
        let world = worlds.gathered();
        merger.report_rows(Time::NEVER, &mut recorder);
        let whole = Whole {
            scenario: &scenario,
            world: &world,
            commit,
            is_complete,
        };
        Ok(whole.results().finish(recorder)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::tests::Seen;
    use fadeout_core::FlowId;
    use fadeout_scenario::Source;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Returns a scenario with two carriers, with a UE and a flow on each.
    fn scenario() -> Scenario {
        let mut text = "duration = \"1 s\"\nworlds = \"by-carrier\"\n".to_owned();
        for n in 1..=2 {
            text += &format!(
                "[link.l{n}]\nfrom = \"server\"\nto = \"c{n}\"\nrate = \"100 Mbit/s\"\ndelay = \"{n}0 ms\"\n\
                 [cell.c{n}]\nradio = \"lte\"\ncarrier = \"{n} GHz\"\nbandwidth = \"5 MHz\"\n\
                 channel = {{ path-loss = \"free-space\" }}\n[ue.u{n}]\ncell = \"c{n}\"\n\
                 position = [\"50 m\", \"0 m\"]\n[flow.f{n}]\nfrom = \"server\"\nto = \"u{n}\"\n"
            );
        }
        let source = Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        fadeout_scenario::parse(&text, &source, &[], crate::catalog())
            .unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn built(scenario: &Scenario) -> Divided {
        let built = build::divided(scenario, &mut |_| None);
        built.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_failure_in_one_world_ends_the_run_and_is_the_callers() {
        let scenario = scenario();
        for threads in [1, 2, 3] {
            let probe = |_: &Parts| Seen::failing_in(FlowId(1));
            let mut worlds = Worlds::new(built(&scenario), &scenario, probe);
            let failed = catch_unwind(AssertUnwindSafe(|| {
                worlds.windows.run(threads, &mut |_| Control::Continue)
            }));
            let failed = failed.expect_err("a world failed");
            let message = failed.downcast_ref::<&str>().copied();
            assert_eq!(message, Some("a hundred packets"), "{threads} threads");
        }
    }

    #[test]
    fn a_flow_in_another_world_takes_some_hundred_bytes() {
        use crate::world::{Endpoint, Flow};
        let bytes = size_of::<Flow>() + 2 * size_of::<Endpoint>();
        assert!(bytes <= 600, "{bytes}");
    }

    #[test]
    fn nodes_ues_and_the_ends_of_flows_are_in_one_world_each_and_the_lookahead_is_the_shortest_delay()
     {
        let scenario = scenario();
        let Divided { worlds, division } = built(&scenario);
        let world_of = |name: &str| division.world_of(scenario.node(name).expect("a node"));
        let found = ["c1", "u1", "c2", "u2", "server"].map(world_of);
        assert_eq!(found, [0, 0, 1, 1, 2]);
        assert_eq!(division.lookahead, Span::from_millis(10));
        let here = |parts: &Parts| -> Vec<usize> {
            let ends = parts.endpoints.iter().enumerate();
            let ends = ends
                .filter(|(_, end)| !matches!(end.transport, crate::world::Transport::Elsewhere));
            ends.map(|(index, _)| index).collect()
        };
        let ends: Vec<Vec<usize>> = worlds.iter().map(here).collect();
        assert_eq!(ends, [vec![1], vec![3], vec![0, 2]]);
        let outgoing_links = worlds.iter().map(|parts| parts.outgoing_links.len());
        assert!(outgoing_links.eq([1, 1, 2]));
    }
}
