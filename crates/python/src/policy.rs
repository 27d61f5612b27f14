//! Users' handover policies that are written in Python.

use crate::congestion::parameters;
use crate::own::{FirstException, Makers, Raised};
use fadeout_core::{CellId, HandoverRow, Time};
use fadeout_scenario::{Named, Scenario};
use fadeout_sim::policy::{CustomPolicy, HandoverPolicy, Policy, Report, ReportedCell};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

const KIND: &str = "handover-policy";

/// The users' policies by name.
#[derive(Debug)]
pub(crate) struct OwnPolicies {
    makers: Makers,
    failure: Arc<FirstException>,
}

impl OwnPolicies {
    pub(crate) fn new(makers: Makers, failure: Arc<FirstException>) -> OwnPolicies {
        OwnPolicies { makers, failure }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.makers.names()
    }

    pub(crate) fn take_refusal(&mut self) -> Option<PyErr> {
        self.makers.refused.take()
    }

    fn named(scenario: &Scenario) -> Option<&Named> {
        scenario.mobility.as_ref().map(|mobility| &mobility.policy)
    }

    /// Returns a sentence for each name that `scenario` does not use.
    pub(crate) fn unused(&self, scenario: &Scenario) -> Vec<String> {
        let used = OwnPolicies::named(scenario).map(|named| named.name.as_str());
        let names = self.names().into_iter();
        let unused = names.filter(|&name| used != Some(name)).map(|name| {
            format!(
                "the scenario does not use the handover policy '{name}'; expected [mobility-management] \
                 with policy = \"{name}\""
            )
        });
        unused.collect()
    }

    /// Returns the instance for a scenario. `None` if the scenario uses a built-in policy, or if
    /// the instance could not be created.
    pub(crate) fn choose(&mut self, scenario: &Scenario) -> Option<Policy> {
        let named = OwnPolicies::named(scenario)?;
        let maker = self.makers.find(&named.name)?;
        let cells = scenario.cells.iter().map(|cell| cell.name.clone());
        let ues = scenario.ues.iter().map(|ue| ue.name.clone());
        let names = Arc::new(Names {
            cells: cells.collect(),
            ues: ues.collect(),
        });
        let made = Python::attach(|py| {
            let parameters = parameters(py, &named.parameters)?;
            let methods = maker.bind(py).call1((parameters,))?.cast_into::<PyDict>()?;
            let class: String = methods.as_any().get_item("class")?.extract()?;
            let method = |name: &str| methods.get_item(name).map(|found| found.map(Bound::unbind));
            PyResult::Ok(Adapter {
                whose: format!("handover policy \"{}\": {class}.", named.name),
                on_report: method("on_report")?,
                on_handover: method("on_handover")?,
                names,
                failure: Arc::clone(&self.failure),
            })
        });
        match made {
            Ok(adapter) => Some(Policy::Custom(CustomPolicy(Box::new(adapter)))),
            Err(error) => {
                self.makers.refused = Some(error);
                None
            }
        }
    }
}

/// Names of cells and UEs.
#[derive(Debug)]
struct Names {
    cells: Vec<String>,
    ues: Vec<String>,
}

impl Names {
    fn cell(&self, cell: CellId) -> &str {
        &self.cells[cell.index()]
    }
}

/// An instance of a user's class.
#[derive(Debug)]
struct Adapter {
    whose: String,
    on_report: Option<Py<PyAny>>,
    on_handover: Option<Py<PyAny>>,
    names: Arc<Names>,
    failure: Arc<FirstException>,
}

impl Adapter {
    #[cold]
    fn fail(&self, method: &str, now: Time, error: PyErr) {
        let whose = (KIND, self.whose.as_str());
        self.failure
            .keep(Raised::in_method(whose, method, now, error));
    }

    /// Returns the cell that a method's result names. `None` if the result is None.
    fn cell(&self, answer: &Bound<'_, PyAny>, report: &Report<'_>) -> PyResult<Option<CellId>> {
        if answer.is_none() {
            return Ok(None);
        }
        let Ok(name) = answer.extract::<String>() else {
            let kind = answer.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!(
                "on_report returned {kind}; expected the name of a cell, or None"
            )));
        };
        let mut measured = report.measured.iter().copied();
        let found = measured.find(|&cell| self.names.cell(cell) == name);
        found.map(Some).ok_or_else(|| {
            let measured = report.measured.iter().map(|&cell| self.names.cell(cell));
            let measured: Vec<&str> = measured.collect();
            PyValueError::new_err(format!(
                "on_report returned '{name}', which is not a cell that the UE measures; expected \
                 one of {}, or None",
                measured.join(", ")
            ))
        })
    }
}

impl HandoverPolicy for Adapter {
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        let called = self.on_report.as_ref();
        let called = called.filter(|_| !self.failure.has_raised())?;
        let shown = PyReport {
            now: report.now,
            ue: report.ue.index(),
            event: report.event.name(),
            serving: report.serving,
            cells: report.cells.to_vec(),
            loads: report
                .measured
                .iter()
                .map(|&cell| (cell, report.loads[cell.index()]))
                .collect(),
            most_ues: report.most_ues,
            names: Arc::clone(&self.names),
        };
        let outcome = Python::attach(|py| {
            let answer = called.call1(py, (shown,))?;
            self.cell(answer.bind(py), report)
        });
        outcome.unwrap_or_else(|error| {
            self.fail("on_report", report.now, error);
            None
        })
    }

    fn on_handover(&mut self, row: &HandoverRow) {
        let called = self.on_handover.as_ref();
        let Some(called) = called.filter(|_| !self.failure.has_raised()) else {
            return;
        };
        let shown = PyHandover {
            row: *row,
            names: Arc::clone(&self.names),
        };
        let outcome = Python::attach(|py| called.call1(py, (shown,)).map(|_| ()));
        if let Err(error) = outcome {
            self.fail("on_handover", row.time_s, error);
        }
    }
}

/// A measurement report, as received by the base station of the serving cell.
#[pyclass(name = "MeasurementReport", module = "fadeout.handover_policy", frozen)]
#[derive(Debug)]
pub(crate) struct PyReport {
    now: Time,
    ue: usize,
    event: &'static str,
    serving: ReportedCell,
    cells: Vec<ReportedCell>,
    loads: Vec<(CellId, u32)>,
    most_ues: Option<u32>,
    names: Arc<Names>,
}

#[pymethods]
impl PyReport {
    #[getter]
    fn time_s(&self) -> f64 {
        self.now.as_secs_f64()
    }

    #[getter]
    fn ue(&self) -> &str {
        &self.names.ues[self.ue]
    }

    #[getter]
    fn event(&self) -> &str {
        self.event
    }

    #[getter]
    fn serving(&self) -> &str {
        self.names.cell(self.serving.cell)
    }

    #[getter]
    fn serving_dbm(&self) -> f64 {
        self.serving.rsrp_dbm
    }

    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cells = PyDict::new(py);
        for reported in &self.cells {
            cells.set_item(self.names.cell(reported.cell), reported.rsrp_dbm)?;
        }
        Ok(cells)
    }

    #[getter]
    fn loads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loads = PyDict::new(py);
        for &(cell, load) in &self.loads {
            loads.set_item(self.names.cell(cell), load)?;
        }
        Ok(loads)
    }

    #[getter]
    fn max_ues(&self) -> Option<u32> {
        self.most_ues
    }

    fn __repr__(&self) -> String {
        format!(
            "<MeasurementReport of {} in {}, event {}, at {} s>",
            self.ue(),
            self.serving(),
            self.event,
            self.time_s()
        )
    }
}

/// A completed change of cell.
#[pyclass(name = "HandoverEnd", module = "fadeout.handover_policy", frozen)]
#[derive(Debug)]
pub(crate) struct PyHandover {
    row: HandoverRow,
    names: Arc<Names>,
}

#[pymethods]
impl PyHandover {
    #[getter]
    fn time_s(&self) -> f64 {
        self.row.time_s.as_secs_f64()
    }

    #[getter]
    fn ue(&self) -> &str {
        &self.names.ues[self.row.ue.index()]
    }

    #[getter]
    fn source(&self) -> &str {
        self.names.cell(self.row.source)
    }

    #[getter]
    fn target(&self) -> &str {
        self.names.cell(self.row.target)
    }

    #[getter]
    fn procedure(&self) -> &str {
        self.row.procedure.name()
    }

    #[getter]
    fn outcome(&self) -> &str {
        self.row.outcome.name()
    }

    fn __repr__(&self) -> String {
        format!(
            "<HandoverEnd of {} from {} to {}: {}, at {} s>",
            self.ue(),
            self.source(),
            self.target(),
            self.outcome(),
            self.time_s()
        )
    }
}
