//! The Python module `fadeout._native`: bindings and error mapping, no logic.
//!
//! Every long call releases Python's lock. A panic of the engine becomes an `EngineBug`.

mod agents;
mod capture;
mod catalog;
mod congestion;
mod errors;
mod guard;
mod kernel;
mod observed;
mod own;
mod packetdrill;
mod policy;
mod port;
mod prediction;
mod progress;
mod run;
mod simulation;
mod warning;

use pyo3::prelude::*;

/// The compiled part of fadeout for its Python package.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyResult};

    #[pymodule_export]
    use crate::agents::{PyDecider, PyEpisodes, feature_list};
    #[pymodule_export]
    use crate::capture::read_capture;
    #[pymodule_export]
    use crate::catalog::{build_info, catalog, schema, tables};
    #[pymodule_export]
    use crate::congestion::{PyAck, PyEvent, PyLinkInfo, PyRateSample, PySent, PyWindow};
    #[pymodule_export]
    use crate::errors::{
        EngineBug, FadeoutError, PortError, ResultError, ScenarioError, SettingError,
    };
    #[pymodule_export]
    use crate::kernel::{
        check_kernel, kernel_agent, kernel_agent_file, kernel_clock, kernel_folder,
        kernel_tcp_keys, kernels,
    };
    #[pymodule_export]
    use crate::observed::{PyObservations, PySetting, observation_list};
    #[pymodule_export]
    use crate::packetdrill::packetdrill;
    #[pymodule_export]
    use crate::policy::{PyHandover, PyReport};
    #[pymodule_export]
    use crate::port::{PyArrival, PyPortEnd};
    #[pymodule_export]
    use crate::prediction::{PyPredictor, score_predictions};
    #[pymodule_export]
    use crate::run::{PyRows, check, geometry, mistake_of_file, resolve, run, save, tracks};
    #[pymodule_export]
    use crate::simulation::PySimulation;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::guard::install();
        crate::errors::set_defaults(module.py())
    }
}
