//! Captures of TCP, as columns for numpy.

use crate::guard::guarded;
use fadeout_capture::{Columns, read};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::path::PathBuf;

/// Returns the TCP segments of the pcap or pcapng file at `path`. The dict has `endpoints`,
/// `packets`, `others` and `is_cut`, and the columns as bytes of little-endian numbers.
///
/// # Errors
/// Raises `OSError` if the file cannot be read, and `ValueError` if it is no capture.
#[pyfunction]
#[allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands over what it took from Python"
)]
pub(crate) fn read_capture(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let file = File::open(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
    let capture = py
        .detach(|| guarded(|| read(file)))
        .map_err(crate::errors::EngineBug::new_err)?
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let found = PyDict::new(py);
    let Columns {
        endpoints,
        time_ns,
        source,
        destination,
        sequence,
        acknowledgment,
        flags,
        window,
        scale,
        payload,
        length,
    } = &capture.columns;
    let put = |name: &str, bytes: Vec<u8>| found.set_item(name, PyBytes::new(py, &bytes));
    put(
        "time_ns",
        time_ns.iter().flat_map(|one| one.to_le_bytes()).collect(),
    )?;
    for (name, column) in [
        ("source", source),
        ("destination", destination),
        ("sequence", sequence),
        ("acknowledgment", acknowledgment),
        ("payload", payload),
        ("length", length),
    ] {
        put(
            name,
            column.iter().flat_map(|one| one.to_le_bytes()).collect(),
        )?;
    }
    put(
        "window",
        window.iter().flat_map(|one| one.to_le_bytes()).collect(),
    )?;
    put("flags", flags.clone())?;
    put("scale", scale.clone())?;
    found.set_item("endpoints", endpoints)?;
    found.set_item("packets", capture.packets)?;
    found.set_item("others", capture.others)?;
    found.set_item("is_cut", capture.is_cut)?;
    Ok(found)
}
