//! Linux kernels for nodes.

use crate::errors::FadeoutError;
use crate::guard::guarded;
use fadeout_guest::{Config, check, installed};
use pyo3::prelude::*;
use serde_json::json;

/// Returns the folder of the kernels.
#[pyfunction]
pub(crate) fn kernel_folder() -> String {
    installed::folder().to_string_lossy().into_owned()
}

/// Returns the available kernels as JSON: release and folder, the newest release first.
#[pyfunction]
pub(crate) fn kernels() -> String {
    let listed = installed::list().into_iter().map(
        |kernel| json!({ "release": kernel.release, "folder": kernel.folder.to_string_lossy() }),
    );
    json!(listed.collect::<Vec<_>>()).to_string()
}

/// Returns the source code of the agent, the first program of a guest.
#[pyfunction]
pub(crate) fn kernel_agent() -> &'static str {
    fadeout_guest::agent::SOURCE
}

/// Returns the code that is inserted in front of `timer_read` in `arch/um/kernel/time.c` of a
/// guest's kernel.
#[pyfunction]
pub(crate) fn kernel_clock() -> &'static str {
    fadeout_guest::agent::CLOCK
}

/// Returns the keys of `tcp` that apply to a kernel. Other keys have no effect on it.
#[pyfunction]
pub(crate) fn kernel_tcp_keys() -> Vec<&'static str> {
    fadeout_sim::kernel_tcp_keys().collect()
}

/// Returns the file name of the agent next to a kernel.
#[pyfunction]
pub(crate) fn kernel_agent_file() -> String {
    fadeout_guest::agent::file_name()
}

/// Starts two guests with a delay of `delay_ns` between them. Returns their release, and the
/// round-trip times of `count` echo requests in ns, as JSON.
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
