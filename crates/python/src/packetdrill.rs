//! Scripts in the packetdrill language.

use crate::errors::EngineBug;
use crate::guard::guarded;
use pyo3::prelude::*;

/// Runs the packetdrill script `text`, called `name`. Returns its report as JSON: outcome
/// (passed, failed, invalid or unsupported), line, source, message, expected, actual,
/// output, checks, and all of that as text.
#[pyfunction]
pub(crate) fn packetdrill(py: Python<'_>, text: &str, name: &str) -> PyResult<String> {
    py.detach(|| guarded(|| fadeout_packetdrill::run(text, name).to_json()))
        .map_err(|panic| EngineBug::new_err(format!("{panic}\nIt happens again with: {name}")))
}
