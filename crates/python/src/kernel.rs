//! Kernels that nodes can run.

use crate::errors::FadeoutError;
use crate::guard::guarded;
use fadeout_guest::{Config, check, installed};
use pyo3::prelude::*;
use serde_json::json;

/// Where kernels are kept.
#[pyfunction]
pub(crate) fn kernel_folder() -> String {
    installed::folder().to_string_lossy().into_owned()
}

/// The kernels there are, as JSON: release and folder, the newest release first.
#[pyfunction]
pub(crate) fn kernels() -> String {
    let listed = installed::list().into_iter().map(
        |kernel| json!({ "release": kernel.release, "folder": kernel.folder.to_string_lossy() }),
    );
    json!(listed.collect::<Vec<_>>()).to_string()
}

/// The source of the program that is the first in a guest.
#[pyfunction]
pub(crate) fn kernel_agent() -> &'static str {
    fadeout_guest::agent::SOURCE
}

/// What is put into a guest's kernel in front of `timer_read` of `arch/um/kernel/time.c`.
#[pyfunction]
pub(crate) fn kernel_clock() -> &'static str {
    fadeout_guest::agent::CLOCK
}

/// The name of that program's file beside a kernel.
#[pyfunction]
pub(crate) fn kernel_agent_file() -> String {
    fadeout_guest::agent::file_name()
}

/// Starts two guests with `delay_ns` between them; as JSON their release, and the round-trip times of
/// `count` echo requests in ns.
#[pyfunction]
pub(crate) fn check_kernel(
    py: Python<'_>,
    kernel: &str,
    agent: &str,
    delay_ns: u64,
    count: u32,
) -> PyResult<String> {
    let config = Config::new("test", kernel.into(), agent.into());
    let checked = py
        .detach(|| guarded(|| check(&config, delay_ns, count)))
        .map_err(crate::errors::EngineBug::new_err)?
        .map_err(|error| FadeoutError::new_err(error.to_string()))?;
    Ok(json!({ "release": checked.release, "echoes": checked.echoes }).to_string())
}
