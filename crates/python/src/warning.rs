//! Warnings through Python's `warnings` module.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;

/// Warns the caller of `fadeout.run` or `fadeout.check`.
///
/// # Errors
/// Returns the exception that Python makes of the warning, if the user's warning filter asks for
/// one.
pub(crate) fn warn(message: &str) -> PyResult<()> {
    let message = CString::new(message)?;
    // The stack level of 2 skips the package's own function.
    Python::attach(|py| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2))
}
