//! Observations and settings of a run for Python.

use crate::errors::SettingError;
use fadeout_sim::Simulation;
use fadeout_sim::observe::{Observation, ObserveError, SETTABLES, Setting, observables};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use std::sync::{Mutex, PoisonError};

/// Values to observe, with their names already looked up.
#[pyclass(module = "fadeout._native", name = "Observations", frozen)]
pub(crate) struct PyObservations {
    what: Vec<Observation>,
    /// Values of the latest observation, whose memory is used again.
    values: Mutex<Vec<f64>>,
}

/// Value that can be set, with its name already looked up.
#[pyclass(module = "fadeout._native", name = "Setting", frozen)]
pub(crate) struct PySetting {
    setting: Setting,
    name: String,
}

impl PyObservations {
    pub(crate) fn new(simulation: &mut Simulation, names: &[String]) -> PyResult<PyObservations> {
        let found = names.iter().map(|name| simulation.observation(name));
        let found: Result<Vec<_>, _> = found.collect();
        let what = found.map_err(|error| raised(&error))?;
        let values = Mutex::new(Vec::with_capacity(what.len()));
        Ok(PyObservations { what, values })
    }

    /// Writes the present values to a buffer of as many floats.
    pub(crate) fn write(
        &self,
        py: Python<'_>,
        simulation: &mut Simulation,
        out: &PyBuffer<f64>,
    ) -> PyResult<()> {
        if out.item_count() != self.what.len() || out.readonly() {
            return Err(PyValueError::new_err(format!(
                "out has {} values; expected a writable array of {} float64",
                out.item_count(),
                self.what.len()
            )));
        }
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.clear();
        values.extend(self.what.iter().map(|&it| simulation.observe(it)));
        out.copy_from_slice(py, &values)
    }
}

impl PySetting {
    pub(crate) fn new(simulation: &Simulation, name: &str) -> PyResult<PySetting> {
        let setting = simulation.setting(name).map_err(|error| raised(&error))?;
        let name = name.to_owned();
        Ok(PySetting { setting, name })
    }

    pub(crate) fn apply(&self, simulation: &mut Simulation, value: f64) -> PyResult<()> {
        let set = simulation.set(self.setting, &self.name, value);
        set.map_err(|error| raised(&error))
    }
}

/// Returns the exception for a refusal. A mistake of the caller is a `ValueError`.
pub(crate) fn raised(error: &ObserveError) -> PyErr {
    match error {
        ObserveError::Refused { .. } => SettingError::new_err(error.to_string()),
        ObserveError::Unknown { .. }
        | ObserveError::Absent { .. }
        | ObserveError::OutOfRange { .. } => PyValueError::new_err(error.to_string()),
    }
}

/// Returns the values that a simulation can observe and set, as JSON.
#[pyfunction]
pub(crate) fn observation_list() -> String {
    let observed = observables().map(|it| {
        json!({
            "kind": it.kind,
            "name": it.column.name,
            "unit": it.column.unit,
            "doc": it.column.doc,
            "table": it.table,
        })
    });
    let settable = SETTABLES.iter().map(|it| {
        json!({
            "kind": it.kind,
            "name": it.name,
            "unit": it.unit,
            "doc": it.doc,
            "range": it.range,
            "may_be_infinite": it.may_be_infinite,
        })
    });
    let (observed, settable): (Vec<_>, Vec<_>) = (observed.collect(), settable.collect());
    json!({ "observations": observed, "settings": settable }).to_string()
}
