//! Python's exceptions, and their conversion from Rust's errors.

use fadeout_record::RecordError;
use fadeout_scenario::ScenarioErrors;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

create_exception!(
    fadeout,
    FadeoutError,
    PyException,
    "Base of fadeout's own exceptions."
);
create_exception!(
    fadeout,
    ScenarioError,
    FadeoutError,
    "A mistake in a scenario. `errors` lists every mistake with file, line, column, message, the \
     expected values, the nearest valid name, and the rendered text."
);
create_exception!(
    fadeout,
    ResultError,
    FadeoutError,
    "Results cannot be written or read. `path` is the file or folder, if there is one."
);
create_exception!(
    fadeout,
    PortError,
    FadeoutError,
    "A port cannot send: the run has ended, or too many bytes are in flight or not fetched."
);
create_exception!(
    fadeout,
    SettingError,
    FadeoutError,
    "A simulation cannot change a value now: the flow has not started, a link has no constant rate, \
     or a UE is not connected."
);
create_exception!(
    fadeout,
    EngineBug,
    FadeoutError,
    "The engine broke one of its own invariants: a bug in fadeout, not in the scenario."
);

/// Sets the default attributes of the exceptions, so that exceptions raised in Python have them
/// too.
pub(crate) fn set_defaults(py: Python<'_>) -> PyResult<()> {
    py.get_type::<ScenarioError>()
        .setattr("errors", PyTuple::empty(py))?;
    py.get_type::<ResultError>().setattr("path", py.None())
}

/// Returns a `ScenarioError` with all mistakes.
pub(crate) fn scenario_error(py: Python<'_>, errors: &ScenarioErrors) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let list = PyList::empty(py);
        for one in &errors.errors {
            let entry = PyDict::new(py);
            entry.set_item("file", &one.file)?;
            entry.set_item("line", one.line)?;
            entry.set_item("column", one.column)?;
            entry.set_item("message", &one.message)?;
            entry.set_item("expected", one.expected.as_deref())?;
            entry.set_item("suggestion", one.suggestion.as_deref())?;
            entry.set_item("rendered", one.render())?;
            list.append(entry)?;
        }
        let error = ScenarioError::new_err(errors.to_string());
        error.value(py).setattr("errors", list)?;
        Ok(error)
    };
    build().unwrap_or_else(|error| error)
}

/// Returns a `ResultError` with its path.
pub(crate) fn result_error(py: Python<'_>, error: &RecordError) -> PyErr {
    let raised = ResultError::new_err(error.to_string());
    let path = error.path().to_string_lossy();
    match raised.value(py).setattr("path", path) {
        Ok(()) => raised,
        Err(error) => error,
    }
}
