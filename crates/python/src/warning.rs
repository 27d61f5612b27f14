//! Warnings in Python's way.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;

/// Warns whoever called `fadeout.run` or `fadeout.check`.
///
/// # Errors
/// The exception that the warning became, where the user has made warnings exceptions.
pub(crate) fn warn(message: &str) -> PyResult<()> {
    let message = CString::new(message)?;
    // Two levels up, past the package's own function.
    Python::attach(|py| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2))
}
