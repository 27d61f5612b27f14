//! Users' own classes in a run: congestion controls and a handover policy.
//!
//! The Python package creates and checks the instances. This module passes them to the engine.
//! Python's lock is held only during a call. The first exception is stored, and no method is called
//! after it, because the run is to stop.

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

/// Reason why a run ended early, in most cases an exception of a user's method.
#[derive(Debug)]
pub(crate) struct Raised {
    /// The method that raised the exception, and the time. Empty if no user's method did.
    pub(crate) message: String,
    pub(crate) error: PyErr,
    /// Kind of the class that raised the exception, as in the catalog.
    pub(crate) kind: &'static str,
}

impl Raised {
    /// Creates the reason from an exception that no user's method raised.
    pub(crate) fn unnamed(error: PyErr) -> Raised {
        Raised {
            message: String::new(),
            error,
            kind: "",
        }
    }

    /// Creates the reason from an exception of an instance's `method`. `whose` names the instance's
    /// position in the scenario.
    pub(crate) fn in_method(
        (kind, whose): (&'static str, &str),
        method: &str,
        now: Time,
        error: PyErr,
    ) -> Raised {
        let (raised, what) = Python::attach(|py| {
            let raised = error.get_type(py).qualname();
            let raised = raised.map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
            // The conversion of the exception to text may raise another exception.
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

    /// Returns true for an `Exception`, and false for exceptions such as `KeyboardInterrupt` that
    /// end the program.
    pub(crate) fn is_exception(&self) -> bool {
        Python::attach(|py| self.error.is_instance_of::<PyException>(py))
    }
}

/// The first exception of any instance.
#[derive(Debug, Default)]
pub(crate) struct FirstException {
    has_raised: AtomicBool,
    raised: Mutex<Option<Raised>>,
}

impl FirstException {
    #[inline]
    pub(crate) fn has_raised(&self) -> bool {
        // The same thread writes and reads the flag.
        self.has_raised.load(Ordering::Relaxed)
    }

    /// Removes and returns the stored exception. `None` if there is none.
    fn take_exception(&self) -> Option<Raised> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take()
    }

    pub(crate) fn keep(&self, raised: Raised) {
        let mut kept = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(raised);
        self.has_raised.store(true, Ordering::Relaxed);
    }
}

/// Constructors of the users' classes of one kind, by name. Each is a function of the Python
/// package. It takes the scenario's parameters and returns the methods of a new instance.
#[derive(Debug, Default)]
pub(crate) struct Makers {
    makers: Vec<(String, Py<PyAny>)>,
    /// Reason why an instance could not be created. `None` if all could.
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

    /// Returns the constructor called `name`. `None` if there is none, or if an instance could not
    /// be created before.
    pub(crate) fn find(&self, name: &str) -> Option<&Py<PyAny>> {
        let mut makers = self.makers.iter();
        let (_, maker) = makers.find(|(of, _)| *of == name)?;
        self.refused.is_none().then_some(maker)
    }
}

/// The users' own classes of a run.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) controls: OwnControls,
    pub(crate) policies: OwnPolicies,
    failure: Arc<FirstException>,
}

impl Own {
    pub(crate) fn new(
        controls: Option<&Bound<'_, PyDict>>,
        policies: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Own> {
        let failure = Arc::new(FirstException::default());
        Ok(Own {
            controls: OwnControls::new(Makers::new(controls)?, Arc::clone(&failure)),
            policies: OwnPolicies::new(Makers::new(policies)?, Arc::clone(&failure)),
            failure,
        })
    }

    /// Calls `read` with the names that a scenario may use in addition to the catalog.
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

    /// Returns the reason as an error if an instance could not be created.
    pub(crate) fn refusal(&mut self) -> PyResult<()> {
        let refused = self.controls.take_refusal();
        let refused = refused.or_else(|| self.policies.take_refusal());
        refused.map_or(Ok(()), Err)
    }

    /// True if a method has raised an exception, so that the run has to stop.
    #[inline]
    pub(crate) fn has_raised(&self) -> bool {
        self.failure.has_raised()
    }

    /// Removes and returns the exception that a method raised. `None` if there is none.
    pub(crate) fn take_raised(&self) -> Option<Raised> {
        self.failure.take_exception()
    }
}
