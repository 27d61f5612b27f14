//! Classes of the user's own in a run: congestion controls and a policy of handover.
//!
//! The Python package makes the instances and checks them; here they become the engine's. Python's
//! lock is held during a call alone. The first exception is kept, and nothing is called after it:
//! the run is to stop there.

use crate::congestion::OwnControls;
use crate::policy::OwnPolicies;
use crate::warning::warn;
use fadeout_core::Time;
use fadeout_scenario::{OwnNames, Scenario};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a run ended early: most often an exception of a user's method.
#[derive(Debug)]
pub(crate) struct Raised {
    /// Who raised it, and when; empty where that is nobody's method.
    pub(crate) message: String,
    pub(crate) error: PyErr,
    /// The kind of class that raised, as the catalog names it.
    pub(crate) kind: &'static str,
}

impl Raised {
    /// An exception that ended a run without being the fault of a user's method.
    pub(crate) fn unnamed(error: PyErr) -> Raised {
        Raised {
            message: String::new(),
            error,
            kind: "",
        }
    }

    /// The exception of `method` of an instance; `whose` says of which thing of the scenario.
    pub(crate) fn in_method(
        (kind, whose): (&'static str, &str),
        method: &str,
        now: Time,
        error: PyErr,
    ) -> Raised {
        let (raised, what) = Python::attach(|py| {
            let raised = error.get_type(py).qualname();
            let raised = raised.map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
            // What an exception says of itself may raise in turn.
            let what = error.value(py).str().map(|what| what.to_string());
            (raised, what.unwrap_or_default())
        });
        let colon = if what.is_empty() { "" } else { ": " };
        let at_s = now.as_secs_f64();
        Raised {
            message: format!("{whose}{method} raised {raised} at {at_s:.6} s{colon}{what}"),
            error,
            kind,
        }
    }

    /// Whether it is an `Exception`, and not one that asks the program to end.
    pub(crate) fn is_exception(&self) -> bool {
        Python::attach(|py| self.error.is_instance_of::<PyException>(py))
    }
}

/// Where the first exception of any instance is kept.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    has_raised: AtomicBool,
    raised: Mutex<Option<Raised>>,
}

impl Failure {
    #[inline]
    pub(crate) fn has_raised(&self) -> bool {
        // Set and read by the thread that simulates.
        self.has_raised.load(Ordering::Relaxed)
    }

    /// The exception, once.
    fn take(&self) -> Option<Raised> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }

    pub(crate) fn keep(&self, raised: Raised) {
        let mut kept = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(raised);
        self.has_raised.store(true, Ordering::Relaxed);
    }
}

/// Constructors of the user's classes of one kind, by name. Each is a callable of the package's that takes
/// the scenario's parameters and returns the methods of a new instance.
#[derive(Debug, Default)]
pub(crate) struct Makers {
    makers: Vec<(String, Py<PyAny>)>,
    /// Why an instance could not be made.
    pub(crate) refused: Option<PyErr>,
}

impl Makers {
    fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Makers> {
        let mut makers = Vec::new();
        for (name, maker) in given.into_iter().flatten() {
            makers.push((name.extract()?, maker.unbind()));
        }
        Ok(Makers {
            makers,
            refused: None,
        })
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.makers.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The maker called `name`, unless an instance was refused before.
    pub(crate) fn find(&self, name: &str) -> Option<&Py<PyAny>> {
        let mut makers = self.makers.iter();
        let (_, maker) = makers.find(|(of, _)| *of == name)?;
        self.refused.is_none().then_some(maker)
    }
}

/// The classes of the user's own.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) controls: OwnControls,
    pub(crate) policies: OwnPolicies,
    failure: Arc<Failure>,
}

impl Own {
    pub(crate) fn new(
        controls: Option<&Bound<'_, PyDict>>,
        policies: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Own> {
        let failure = Arc::new(Failure::default());
        Ok(Own {
            controls: OwnControls::new(Makers::new(controls)?, Arc::clone(&failure)),
            policies: OwnPolicies::new(Makers::new(policies)?, Arc::clone(&failure)),
            failure,
        })
    }

    /// Lets `read` have the names that a scenario may use beside those of the catalog.
    pub(crate) fn with_names<T>(&self, read: impl FnOnce(&[OwnNames<'_>]) -> T) -> T {
        let (controls, policies) = (self.controls.names(), self.policies.names());
        read(&[
            OwnNames {
                kind: "congestion-control",
                names: &controls,
            },
            OwnNames {
                kind: "handover-policy",
                names: &policies,
            },
        ])
    }

    /// Warns of each name that the scenario does not use.
    pub(crate) fn warn_of_unused(&self, scenario: &Scenario) -> PyResult<()> {
        let mut unused = self.controls.unused(&scenario.flows);
        unused.extend(self.policies.unused(scenario));
        unused.iter().try_for_each(|message| warn(message))
    }

    /// Why an instance could not be made, if one could not.
    pub(crate) fn refusal(&mut self) -> PyResult<()> {
        let refused = self.controls.take_refusal();
        let refused = refused.or_else(|| self.policies.take_refusal());
        refused.map_or(Ok(()), Err)
    }

    /// Whether a method has raised, so that the run is to stop.
    #[inline]
    pub(crate) fn has_raised(&self) -> bool {
        self.failure.has_raised()
    }

    /// The exception that a method raised.
    pub(crate) fn take_raised(&self) -> Option<Raised> {
        self.failure.take()
    }
}
