//! Progress reports to Python during a run.

use fadeout_sim::Progress;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::{Duration, Instant};

/// Wall time between two reports.
const EVERY: Duration = Duration::from_millis(100);

/// Calls Python from time to time, to handle signals such as Ctrl-C and to call the caller's
/// callback.
#[derive(Debug)]
pub(crate) struct Reporter {
    callback: Option<Py<PyAny>>,
    started: Instant,
    reported: Instant,
}

/// Result of a call to Python.
#[derive(Debug)]
pub(crate) enum Answer {
    GoOn,
    /// The callback returned False.
    Stop,
    /// A signal arrived, or the callback raised an exception.
    Raised(PyErr),
}

impl Reporter {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        let now = wall_clock();
        Reporter {
            callback,
            started: now,
            reported: now,
        }
    }

    /// Calls Python if enough wall time has passed since the last call.
    pub(crate) fn report(&mut self, progress: &Progress) -> Answer {
        let now = wall_clock();
        if now - self.reported < EVERY {
            return Answer::GoOn;
        }
        let answer = self.call(progress, now - self.started);
        // The time spent in Python does not count towards the interval.
        self.reported = wall_clock();
        answer
    }

    fn call(&self, progress: &Progress, wall: Duration) -> Answer {
        Python::attach(|py| {
            let ask = || -> PyResult<bool> {
                py.check_signals()?;
                let Some(callback) = &self.callback else {
                    return Ok(true);
                };
                let state = PyDict::new(py);
                state.set_item("time_s", progress.now.as_secs_f64())?;
                state.set_item("duration_s", progress.duration.as_secs_f64())?;
                state.set_item("events", progress.events)?;
                state.set_item("packets", progress.packets)?;
                state.set_item("wall_s", wall.as_secs_f64())?;
                let answer = callback.bind(py).call1((state,))?;
                // Only False stops a run. A callback without a result lets it continue.
                Ok(!answer.is(pyo3::types::PyBool::new(py, false)))
            };
            match ask() {
                Ok(true) => Answer::GoOn,
                Ok(false) => Answer::Stop,
                Err(error) => Answer::Raised(error),
            }
        })
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "progress is about wall time; nothing simulated is"
)]
fn wall_clock() -> Instant {
    Instant::now()
}
