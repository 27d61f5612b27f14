//! A run in steps.

use crate::errors::EngineBug;
use crate::guard::guarded;
use crate::observed::{PyObservations, PySetting, raised};
use crate::own::{Own, Raised};
use crate::port::{PyArrival, PyPortEnd, ends_of, send};
use crate::progress::{Answer, Reporter};
use crate::run::{Failure, Reading, Request, as_dict, prepared};
use fadeout_core::{Span, Time};
use fadeout_sim::{Control, Progress, Simulation};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A run that advances step by step. `fadeout.Simulation` is its public interface.
#[pyclass(module = "fadeout._native", name = "Simulation", frozen)]
pub(crate) struct PySimulation {
    state: Mutex<State>,
    /// Line of Python that repeats the run.
    replay: String,
}

enum State {
    Ready(Box<Running>),
    /// A call is in progress, in this thread or in another.
    Busy,
    Finished,
}

struct Running {
    simulation: Simulation,
    own: Own,
}

#[pymethods]
impl PySimulation {
    /// Builds the world of the scenario `text` without simulating any event. The arguments are
    /// those of `run`.
    #[new]
    #[pyo3(signature = (
        text, *, source_name = "<string>", base_dir = None, overrides = Vec::new(), seed = None,
        out = None, force = false, congestion_controls = None,
        handover_policies = None, allow_programs = false, tables = true
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        text: &str,
        source_name: &str,
        base_dir: Option<PathBuf>,
        mut overrides: Vec<String>,
        seed: Option<Bound<'_, PyInt>>,
        out: Option<PathBuf>,
        force: bool,
        congestion_controls: Option<&Bound<'_, PyDict>>,
        handover_policies: Option<&Bound<'_, PyDict>>,
        allow_programs: bool,
        tables: bool,
    ) -> PyResult<PySimulation> {
        overrides.extend(seed.map(|seed| format!("seed={seed}")));
        let reading = Reading::new(text, source_name, base_dir, overrides);
        let request = Request {
            reading,
            out,
            force,
            tables,
            allow_programs,
            threads: None,
        };
        let mut own = Own::new(congestion_controls, handover_policies)?;
        let replay = request.replay();
        let simulation = py
            .detach(|| guarded(|| prepared(&request, &mut own)))
            .unwrap_or_else(|panic| Err(Failure::Bug(format!("{panic}\n{replay}"))))
            .map_err(|failure| failure.raise(py, Some(&request.reading)))?;
        let running = Box::new(Running { simulation, own });
        Ok(PySimulation {
            state: Mutex::new(State::Ready(running)),
            replay,
        })
    }

    /// Returns the simulated time, seconds.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        self.read_state(|simulation| simulation.now().as_secs_f64())
    }

    /// Returns true if the simulation is finished.
    #[getter]
    fn is_finished(&self) -> bool {
        matches!(*self.state(), State::Finished)
    }

    /// Returns the length of the run, seconds.
    #[getter]
    fn duration_s(&self) -> PyResult<f64> {
        self.read_state(|simulation| simulation.progress().duration.as_secs_f64())
    }

    /// Returns the time of the next event, seconds. `None` if no event is left before the end of
    /// the run.
    #[getter]
    fn next_s(&self) -> PyResult<Option<f64>> {
        self.read_state(|simulation| {
            let end = Time::ZERO.saturating_add(simulation.progress().duration);
            let next = simulation.next_at().filter(|&at| at <= end);
            next.map(Time::as_secs_f64)
        })
    }

    /// Simulates up to and including `until_s`. Returns `None`, or the exception of a user's own
    /// class.
    fn advance(&self, py: Python<'_>, until_s: f64) -> PyResult<Option<OwnException>> {
        let (_, raised) = self.step(py, until_s, Until::Time)?;
        Ok(raised)
    }

    /// Simulates up to and including `until_s`, or to the first arrival at a port. Returns the time
    /// of the arrival, seconds, and the exception of a user's own class. Each is `None` if there is
    /// none.
    fn advance_to_arrival(
        &self,
        py: Python<'_>,
        until_s: f64,
    ) -> PyResult<(Option<f64>, Option<OwnException>)> {
        self.step(py, until_s, Until::Arrival)
    }

    /// Looks up the names of values to observe.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn observations(&self, names: Vec<String>) -> PyResult<PyObservations> {
        self.change_state(|simulation| PyObservations::new(simulation, &names))
    }

    /// Writes the present values to `out`, a buffer of as many floats.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn observe(&self, py: Python<'_>, what: &PyObservations, out: PyBuffer<f64>) -> PyResult<()> {
        self.change_state(|simulation| what.write(py, simulation, &out))
    }

    /// Looks up the name of a value that can be set.
    fn setting(&self, name: &str) -> PyResult<PySetting> {
        self.read_state(|simulation| PySetting::new(simulation, name))?
    }

    /// Sets a value at the present time.
    fn set(&self, setting: &PySetting, value: f64) -> PyResult<()> {
        self.change_state(|simulation| setting.apply(simulation, value))
    }

    /// Returns the names of the UEs and of the cells, in the order of their numbers.
    fn radio_names(&self) -> PyResult<[Vec<String>; 2]> {
        self.read_state(Simulation::radio_names)
    }

    /// Returns the number of a cell. `name` is the name of the value to set.
    fn cell_number(&self, name: &str, cell: &str) -> PyResult<u32> {
        let number = self.read_state(|simulation| simulation.cell_number(name, cell))?;
        number.map_err(|error| raised(&error))
    }

    /// Returns the names of the flows with a port.
    fn ports(&self) -> PyResult<Vec<String>> {
        self.read_state(|simulation| simulation.ports().map(str::to_owned).collect())
    }

    /// Returns the two ends of a flow with a port, first the one at its node `from`.
    fn port(&self, flow: &str) -> PyResult<(PyPortEnd, PyPortEnd)> {
        self.read_state(|simulation| ends_of(simulation, flow))?
    }

    /// Sends a datagram from an end, now. `ecn` is the ECN field of its IP header.
    fn send(&self, end: &PyPortEnd, payload: &[u8], ecn: u8) -> PyResult<()> {
        self.change_state(|simulation| send(simulation, end, payload, ecn))
    }

    /// Returns the datagrams that have arrived at an end since the last call, in order.
    fn receive(&self, py: Python<'_>, end: &PyPortEnd) -> PyResult<Vec<PyArrival>> {
        self.change_state(|simulation| {
            let arrivals = std::iter::from_fn(|| simulation.take_arrival(end.end));
            Ok(arrivals.map(|it| PyArrival::new(py, &it)).collect())
        })
    }

    /// Ends the run at the current time. Returns the result of `run`.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let simulation = self.take_simulation()?;
        let results = py
            .detach(|| guarded(|| simulation.finish().map_err(Failure::from)))
            .unwrap_or_else(|panic| Err(Failure::Bug(format!("{panic}\n{}", self.replay))))
            .map_err(|failure| failure.raise(py, None))?;
        as_dict(py, results, None)
    }
}

/// Exception of a user's own class: a message, the exception and the kind of class.
type OwnException = (String, Py<PyAny>, &'static str);

/// Event that ends a step before its time.
#[derive(Clone, Copy)]
enum Until {
    /// None: the step lasts until its time.
    Time,
    /// An arrival at a port.
    Arrival,
}

impl PySimulation {
    /// Carries out a step. Returns the time of an arrival at a port, and the exception of a user's
    /// own class. Each is `None` if there is none.
    fn step(
        &self,
        py: Python<'_>,
        until_s: f64,
        until_event: Until,
    ) -> PyResult<(Option<f64>, Option<OwnException>)> {
        let now = self.read_state(Simulation::now)?;
        let until = Time::ZERO.saturating_add(Span::from_secs_f64(until_s));
        if until_s.is_nan() || until_s < 0.0 || until < now {
            let now_s = now.as_secs_f64();
            return Err(PyValueError::new_err(format!(
                "until_s is {until_s}; expected at least {now_s} s, the present simulated time"
            )));
        }
        let mut running = self.take_run()?;
        let stepped = py.detach(|| guarded(|| running.simulate(until, until_event)));
        let (arrived_at, interrupted) = match stepped {
            Ok(stepped) => stepped,
            Err(panic) => {
                *self.state() = State::Finished;
                return Err(EngineBug::new_err(format!("{panic}\n{}", self.replay)));
            }
        };
        let arrived_s = arrived_at.map(Time::as_secs_f64);
        let raised = running.own.take_raised();
        *self.state() = State::Ready(running);
        match (interrupted, raised) {
            (Some(error), _) => Err(error),
            // KeyboardInterrupt and similar exceptions are not failures of the class, so they are
            // passed on.
            (None, Some(raised)) if !raised.is_exception() => Err(raised.error),
            (
                None,
                Some(Raised {
                    message,
                    error,
                    kind,
                }),
            ) => Ok((
                arrived_s,
                Some((message, error.into_value(py).into_any(), kind)),
            )),
            (None, None) => Ok((arrived_s, None)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_state<T>(&self, what: impl FnOnce(&Simulation) -> T) -> PyResult<T> {
        match &*self.state() {
            State::Ready(running) => Ok(what(&running.simulation)),
            state => Err(state.refusal()),
        }
    }

    /// Removes the simulation, which is then finished for other callers.
    pub(crate) fn take_simulation(&self) -> PyResult<Simulation> {
        let Running { simulation, .. } = *self.take_run()?;
        *self.state() = State::Finished;
        Ok(simulation)
    }

    /// Applies a short change to the run. A panic finishes the run.
    fn change_state<T>(&self, change: impl FnOnce(&mut Simulation) -> PyResult<T>) -> PyResult<T> {
        let mut running = self.take_run()?;
        match guarded(|| change(&mut running.simulation)) {
            Ok(changed) => {
                *self.state() = State::Ready(running);
                changed
            }
            Err(panic) => {
                *self.state() = State::Finished;
                Err(EngineBug::new_err(format!("{panic}\n{}", self.replay)))
            }
        }
    }

    /// Removes the run from its field for a long call. A second call then fails at once instead of
    /// waiting.
    fn take_run(&self) -> PyResult<Box<Running>> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Busy) {
            State::Ready(running) => Ok(running),
            other => {
                let refusal = other.refusal();
                *state = other;
                Err(refusal)
            }
        }
    }
}

impl State {
    fn refusal(&self) -> PyErr {
        PyRuntimeError::new_err(match self {
            State::Finished => "the simulation is finished; expected a new one",
            _ => "the simulation is in the middle of a step, in another thread or around this call",
        })
    }
}

impl Running {
    /// Simulates up to `until`. Returns the time of an arrival at a port that ended the step, and
    /// the exception that interrupted the step. Each is `None` if there is none.
    fn simulate(&mut self, until: Time, until_event: Until) -> (Option<Time>, Option<PyErr>) {
        let mut reporter = Reporter::new(None);
        let mut interrupted = None;
        let control = |progress: Progress| match reporter.report(&progress) {
            Answer::GoOn => Control::Continue,
            Answer::Stop => Control::Stop,
            Answer::Raised(error) => {
                interrupted = Some(error);
                Control::Stop
            }
        };
        let own = &self.own;
        let simulation = &mut self.simulation;
        let is_halted = || own.has_raised();
        let arrived_at = match until_event {
            Until::Time => {
                simulation.advance_unless(until, is_halted, control);
                None
            }
            Until::Arrival => simulation.advance_to_arrival_unless(until, is_halted, control),
        };
        (arrived_at, interrupted)
    }
}
