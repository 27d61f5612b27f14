//! Execution of scripts in the packetdrill language.

use crate::errors::EngineBug;
use crate::guard::guarded;
use pyo3::prelude::*;

/// Runs the packetdrill script `text`, called `name`. `symbols` has words and their values. Returns
/// the report as JSON: outcome (passed, failed, invalid or unsupported), line, source, message,
/// expected, actual, output, checks, and the whole report as text.
#[pyfunction]
#[allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands over what it took from a list of Python's"
)]
#[pyo3(signature = (text, name, symbols = Vec::new()))]
pub(crate) fn packetdrill(
    py: Python<'_>,
    text: &str,
    name: &str,
    symbols: Vec<(String, String)>,
) -> PyResult<String> {
    py.detach(|| guarded(|| fadeout_packetdrill::run_with(text, name, &symbols).to_json()))
        .map_err(|panic| EngineBug::new_err(format!("{panic}\nIt happens again with: {name}")))
}
