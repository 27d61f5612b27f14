//! Checking and running scenarios.

use crate::errors::{EngineBug, FadeoutError, ScenarioError, result_error, scenario_error};
use crate::guard::guarded;
use crate::own::{Own, Raised};
use crate::progress::{Answer, Reporter};
use crate::warning::warn;
use fadeout_core::Span;
use fadeout_record::{Destination, RecordError, RunFolder, Saved, SummedUp};
use fadeout_scenario::{Finding, Override, Scenario, ScenarioErrors, Source, Worlds};
use fadeout_sim::{
    BuildError, Control, DividedSimulation, Progress, RunError, RunResults, Simulation,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt};
use serde_json::json;
use std::num::NonZero;
use std::path::PathBuf;

/// Runs the scenario `text`. Returns a dictionary:
///
/// - the summary and the manifest as JSON,
/// - the fingerprint,
/// - true if the run is complete,
/// - the folder of the results with the summary rows, or the tables as Arrow IPC streams and the
///   captures as pcapng files,
/// - `raised`: `None`, or the message, the exception and the kind of class that ended the run
///   early. The message is empty unless a user's own class raised the exception.
///
/// With `advice`, the function warns of unlikely settings and results. A divided scenario uses up
/// to `threads` threads, or one for each processor core without `threads`.
#[pyfunction]
#[pyo3(signature = (
    text, *, source_name = "<string>", base_dir = None, overrides = Vec::new(), seed = None,
    out = None, force = false, progress = None, tables = true, advice = true,
    congestion_controls = None, handover_policies = None, allow_programs = false, threads = None
))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn run<'py>(
    py: Python<'py>,
    text: &str,
    source_name: &str,
    base_dir: Option<PathBuf>,
    mut overrides: Vec<String>,
    seed: Option<Bound<'py, PyInt>>,
    out: Option<PathBuf>,
    force: bool,
    progress: Option<Py<PyAny>>,
    tables: bool,
    advice: bool,
    congestion_controls: Option<&Bound<'py, PyDict>>,
    handover_policies: Option<&Bound<'py, PyDict>>,
    allow_programs: bool,
    threads: Option<NonZero<usize>>,
) -> PyResult<Bound<'py, PyDict>> {
    // As an override, a seed out of range is reported like any other mistake.
    overrides.extend(seed.map(|seed| format!("seed={seed}")));
    let request = Request {
        reading: Reading {
            with_advice: advice,
            ..Reading::new(text, source_name, base_dir, overrides)
        },
        out,
        force,
        tables,
        allow_programs,
        threads,
    };
    let mut reporter = Reporter::new(progress);
    let mut own = Own::new(congestion_controls, handover_policies)?;
    let (outcome, raised) = py
        .detach(|| guarded(|| simulate(&request, &mut own, &mut reporter)))
        .unwrap_or_else(|panic| Err(Failure::Bug(format!("{panic}\n{}", request.replay()))))
        .map_err(|failure| failure.raise(py, Some(&request.reading)))?;

    as_dict(py, outcome, raised)
}

/// Returns the result of `run`, with the exception that a user's own class raised.
pub(crate) fn as_dict<'py>(
    py: Python<'py>,
    outcome: RunResults,
    raised: Option<Raised>,
) -> PyResult<Bound<'py, PyDict>> {
    let RunResults {
        recorded,
        fingerprint,
        is_complete,
        remarks,
        ..
    } = outcome;
    let (streams, captures) = (PyDict::new(py), PyDict::new(py));
    for (name, stream) in recorded.tables {
        streams.set_item(name, PyBytes::new(py, &stream))?;
    }
    for (name, capture) in recorded.captures {
        captures.set_item(name, PyBytes::new(py, &capture))?;
    }
    let result = PyDict::new(py);
    result.set_item("summary", recorded.summary)?;
    result.set_item("manifest", recorded.manifest)?;
    result.set_item("fingerprint", fingerprint.to_string())?;
    result.set_item("complete", is_complete)?;
    result.set_item("remarks", remarks)?;
    result.set_item("tables", streams)?;
    result.set_item("captures", captures)?;
    result.set_item("rows", recorded.rows.map(PyRows))?;
    let raised = raised.map(|raised| (raised.message, raised.error.into_value(py), raised.kind));
    result.set_item("raised", raised)?;
    result.set_item(
        "out",
        recorded
            .folder
            .map(|path| path.to_string_lossy().into_owned()),
    )?;
    Ok(result)
}

/// Summary rows of a run in a folder. They give access to a few columns without reading files.
#[pyclass(module = "fadeout._native", name = "Rows", frozen)]
pub(crate) struct PyRows(SummedUp);

#[pymethods]
impl PyRows {
    /// Returns columns of a table as JSON, each a list under its name. The lists are empty if the
    /// table has no row.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands over what it took from Python"
    )]
    fn columns(&self, table: &str, names: Vec<String>) -> PyResult<String> {
        let found = self.0.columns(table, names.iter().map(String::as_str));
        let found = found.ok_or_else(|| PyKeyError::new_err(table.to_owned()))?;
        Ok(found.to_string())
    }
}

/// Checks the scenario `text`. Raises `ScenarioError` with every mistake.
#[pyfunction]
#[pyo3(signature = (
    text, *, source_name = "<string>", base_dir = None, overrides = Vec::new(), congestion_controls = None,
    handover_policies = None
))]
pub(crate) fn check(
    py: Python<'_>,
    text: &str,
    source_name: &str,
    base_dir: Option<PathBuf>,
    overrides: Vec<String>,
    congestion_controls: Option<&Bound<'_, PyDict>>,
    handover_policies: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let reading = Reading::new(text, source_name, base_dir, overrides);
    checked(py, &reading, congestion_controls, handover_policies).map(|_| ())
}

/// Checks the scenario `text` as `check` does, without advice. Returns JSON with the scenario, in
/// which all defaults are filled in, and with the paths of the files that it names.
#[pyfunction]
#[pyo3(signature = (
    text, *, source_name = "<string>", base_dir = None, overrides = Vec::new(), congestion_controls = None,
    handover_policies = None
))]
pub(crate) fn resolve(
    py: Python<'_>,
    text: &str,
    source_name: &str,
    base_dir: Option<PathBuf>,
    overrides: Vec<String>,
    congestion_controls: Option<&Bound<'_, PyDict>>,
    handover_policies: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let reading = Reading {
        with_advice: false,
        ..Reading::new(text, source_name, base_dir, overrides)
    };
    let scenario = checked(py, &reading, congestion_controls, handover_policies)?;
    let paths = scenario.files.iter().map(|file| file.path.as_str());
    let paths: Vec<&str> = paths.collect();
    Ok(json!({ "scenario": fadeout_sim::resolved(&scenario), "files": paths }).to_string())
}

/// Returns the positions of UEs of the scenario `text` at the start of a run. The result is an
/// Arrow IPC stream with a row for each UE.
#[pyfunction]
#[pyo3(signature = (text, *, source_name = "<string>", base_dir = None, overrides = Vec::new()))]
pub(crate) fn geometry<'py>(
    py: Python<'py>,
    text: &str,
    source_name: &str,
    base_dir: Option<PathBuf>,
    overrides: Vec<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    let reading = Reading {
        with_advice: false,
        ..Reading::new(text, source_name, base_dir, overrides)
    };
    let own = Own::new(None, None)?;
    let found = py.detach(|| {
        guarded(|| -> Result<Vec<u8>, Failure> {
            let scenario = reading.scenario(&own)?;
            let rows = fadeout_sim::geometry(&scenario).map_err(RunError::Build)?;
            Ok(fadeout_record::stream_of_rows(&rows))
        })
    });
    found
        .map(|found| found.map(|stream| PyBytes::new(py, &stream)))
        .unwrap_or_else(|panic| Err(Failure::Bug(panic)))
        .map_err(|failure| failure.raise(py, Some(&reading)))
}

/// Returns the positions of vehicles and UEs of the scenario `text` every `every_ns`, and the
/// obstacles between UEs and cells. Each is an Arrow IPC stream.
#[pyfunction]
#[pyo3(signature = (text, *, every_ns, source_name = "<string>", base_dir = None, overrides = Vec::new()))]
pub(crate) fn tracks<'py>(
    py: Python<'py>,
    text: &str,
    every_ns: u64,
    source_name: &str,
    base_dir: Option<PathBuf>,
    overrides: Vec<String>,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let reading = Reading {
        with_advice: false,
        ..Reading::new(text, source_name, base_dir, overrides)
    };
    let own = Own::new(None, None)?;
    let every = Span::from_nanos(every_ns.max(1));
    let found = py.detach(|| {
        guarded(|| -> Result<_, Failure> {
            let scenario = reading.scenario(&own)?;
            let found = fadeout_sim::tracks(&scenario, every).map_err(RunError::Build)?;
            Ok(found.map(|found| {
                (
                    fadeout_record::stream_of_rows(&found.tracks),
                    fadeout_record::stream_of_rows(&found.sights),
                )
            }))
        })
    });
    let found = found
        .unwrap_or_else(|panic| Err(Failure::Bug(panic)))
        .map_err(|failure| failure.raise(py, Some(&reading)))?;
    let (tracks, sights) = found.map_err(PyValueError::new_err)?;
    Ok((PyBytes::new(py, &tracks), PyBytes::new(py, &sights)))
}

/// Returns the `ScenarioError` for a file that the scenario `text` names, with the position of the
/// key. `table` is a table of the scenario whose elements name files, such as `vehicles` or
/// `building`, and `name` is that of its element.
///
/// # Errors
/// Raises `ValueError` for another table.
#[pyfunction]
#[pyo3(signature = (text, message, *, source_name, overrides, table, name, key))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn mistake_of_file(
    py: Python<'_>,
    text: &str,
    message: String,
    source_name: &str,
    overrides: Vec<String>,
    table: &str,
    name: String,
    key: &str,
) -> PyResult<Py<PyAny>> {
    const TABLES: [&str; 8] = [
        "vehicles",
        "building",
        "measurement",
        "link",
        "channel-file",
        "ue",
        "cell",
        "mobility-management",
    ];
    let table = TABLES.into_iter().find(|one| *one == table);
    let finding = Finding {
        table: table.ok_or_else(|| PyValueError::new_err("a table without files"))?,
        name: (!name.is_empty()).then_some(name),
        key: None,
        reason: format!("`{key}`"),
        message,
    };
    let Reading {
        text,
        source,
        overrides,
        ..
    } = &Reading::new(text, source_name, None, overrides);
    let catalog = fadeout_sim::catalog();
    let errors = fadeout_scenario::locate(text, source, overrides, catalog, &[finding]);
    Ok(scenario_error(py, &errors).into_value(py).into_any())
}

/// Returns the scenario after building its world, which finds mistakes that only a layer can see.
fn checked(
    py: Python<'_>,
    reading: &Reading<'_>,
    congestion_controls: Option<&Bound<'_, PyDict>>,
    handover_policies: Option<&Bound<'_, PyDict>>,
) -> PyResult<Scenario> {
    let mut own = Own::new(congestion_controls, handover_policies)?;
    let checked = py.detach(|| {
        guarded(|| -> Result<Scenario, Failure> {
            let scenario = reading.scenario(&own)?;
            let Own {
                controls, policies, ..
            } = &mut own;
            let classes = fadeout_sim::Own {
                congestion: &mut |flow| controls.choose(flow),
                policy: &mut |scenario| policies.choose(scenario),
            };
            let built = fadeout_sim::check_with_own(&scenario, classes);
            own.refusal()?;
            built.map_err(RunError::Build)?;
            Ok(scenario)
        })
    });
    checked
        .unwrap_or_else(|panic| Err(Failure::Bug(panic)))
        .map_err(|failure| failure.raise(py, Some(reading)))
}

/// A text that is to be read as a scenario.
pub(crate) struct Reading<'a> {
    text: &'a str,
    source: Source,
    overrides: Vec<Override>,
    with_advice: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        text: &'a str,
        source_name: &str,
        base_dir: Option<PathBuf>,
        overrides: Vec<String>,
    ) -> Self {
        let base_dir = base_dir.unwrap_or_else(|| PathBuf::from("."));
        let source = Source {
            name: source_name.to_owned(),
            base_dir,
        };
        let overrides = overrides.into_iter().map(Override::new).collect();
        Reading {
            text,
            source,
            overrides,
            with_advice: true,
        }
    }

    /// Reads the scenario, which may use the user's `own` classes. Warns of classes that it does
    /// not use.
    fn scenario(&self, own: &Own) -> Result<Scenario, Failure> {
        let scenario = own.with_names(|names| {
            let catalog = fadeout_sim::catalog();
            fadeout_scenario::parse_with(self.text, &self.source, &self.overrides, catalog, names)
        })?;
        if self.with_advice {
            own.warn_of_unused(&scenario)?;
            for sentence in fadeout_sim::advice(&scenario) {
                warn(&sentence)?;
            }
        }
        Ok(scenario)
    }
}

impl Reading<'_> {
    /// Returns the mistakes that a layer found, with their positions.
    fn located(&self, error: &BuildError) -> ScenarioErrors {
        let (catalog, findings) = (fadeout_sim::catalog(), error.findings());
        fadeout_scenario::locate(self.text, &self.source, &self.overrides, catalog, &findings)
    }
}

/// A requested run.
pub(crate) struct Request<'a> {
    pub(crate) reading: Reading<'a>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) tables: bool,
    /// True if nodes may run programs of this machine.
    pub(crate) allow_programs: bool,
    /// Maximum number of threads. `None` for one thread for each processor core.
    pub(crate) threads: Option<NonZero<usize>>,
}

/// Reason why there is no run or no result.
pub(crate) enum Failure {
    Scenario(ScenarioErrors),
    Build(BuildError),
    Result(RecordError),
    Kernel(String),
    Raised(PyErr),
    Bug(String),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Raised(error)
    }
}
impl From<ScenarioErrors> for Failure {
    fn from(errors: ScenarioErrors) -> Self {
        Failure::Scenario(errors)
    }
}
impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Failure::Result(error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Build(error) => Failure::Build(error),
            RunError::Record(error) => Failure::Result(error),
            RunError::Kernel(error) => Failure::Kernel(error.to_string()),
        }
    }
}

impl Failure {
    /// Returns the Python exception. Mistakes of a scenario have their positions in the text of
    /// `reading`.
    pub(crate) fn raise(self, py: Python<'_>, reading: Option<&Reading<'_>>) -> PyErr {
        match self {
            Failure::Scenario(errors) => scenario_error(py, &errors),
            Failure::Build(error) => match reading {
                Some(reading) => scenario_error(py, &reading.located(&error)),
                None => ScenarioError::new_err(error.to_string()),
            },
            Failure::Result(error) => result_error(py, &error),
            Failure::Kernel(message) => FadeoutError::new_err(message),
            Failure::Raised(error) => error,
            Failure::Bug(message) => EngineBug::new_err(message),
        }
    }
}

impl Request<'_> {
    /// Returns the line of Python that repeats the run.
    pub(crate) fn replay(&self) -> String {
        let source = &self.reading.source.name;
        let overrides = self.reading.overrides.iter().map(|one| one.text.as_str());
        let overrides: Vec<&str> = overrides.collect();
        format!("It happens again with: fadeout.run({source:?}, set={overrides:?})")
    }

    fn destination(&self) -> Result<Destination, RecordError> {
        match &self.out {
            None if self.tables => Ok(Destination::Memory),
            None => Ok(Destination::Nowhere),
            Some(path) => RunFolder::create(path, self.force).map(Destination::Folder),
        }
    }
}

/// Returns the requested scenario, if it may run.
fn permitted(request: &Request<'_>, own: &Own) -> Result<Scenario, Failure> {
    let scenario = request.reading.scenario(own)?;
    let mut nodes = scenario.nodes.iter();
    if !request.allow_programs
        && let Some(node) = nodes.find(|node| node.command.is_some())
    {
        return Err(Failure::Kernel(format!(
            "node \"{}\": its `command` runs a program of this machine; to allow it, give \
             --allow-programs (in Python allow_programs=True), if you trust the scenario",
            node.name
        )));
    }
    Ok(scenario)
}

/// Returns the commit of this build. `None` if it is unknown.
fn commit() -> Option<String> {
    let commit = Some(env!("FADEOUT_COMMIT")).filter(|commit| !commit.is_empty());
    commit.map(str::to_owned)
}

/// Builds the requested simulation.
pub(crate) fn prepared(request: &Request<'_>, own: &mut Own) -> Result<Simulation, Failure> {
    let scenario = permitted(request, own)?;
    built(scenario, request, own)
}

fn built(scenario: Scenario, request: &Request<'_>, own: &mut Own) -> Result<Simulation, Failure> {
    let destination = request.destination()?;
    let Own {
        controls, policies, ..
    } = &mut *own;
    let classes = fadeout_sim::Own {
        congestion: &mut |flow| controls.choose(flow),
        policy: &mut |scenario| policies.choose(scenario),
    };
    let built = Simulation::with_own(scenario, destination, classes);
    own.refusal()?;
    Ok(built?.built_from(commit()))
}

/// Builds the requested simulation of a divided scenario.
fn built_divided(
    scenario: Scenario,
    request: &Request<'_>,
    own: &mut Own,
) -> Result<DividedSimulation, Failure> {
    let destination = request.destination()?;
    let controls = &mut own.controls;
    let built = DividedSimulation::with_congestion(scenario, destination, &mut |flow| {
        controls.choose(flow)
    });
    own.refusal()?;
    Ok(built?.built_from(commit()))
}

/// Runs the scenario. Returns the outcome, and the exception of a user's method that ended the run.
fn simulate(
    request: &Request<'_>,
    own: &mut Own,
    reporter: &mut Reporter,
) -> Result<(RunResults, Option<Raised>), Failure> {
    let scenario = permitted(request, own)?;
    let mut raised = None;
    let control = |progress: Progress| match reporter.report(&progress) {
        Answer::GoOn => Control::Continue,
        Answer::Stop => Control::Stop,
        Answer::Raised(error) => {
            raised = Some(error);
            Control::Stop
        }
    };
    // The results of an interrupted run are written too.
    let outcome = match scenario.worlds {
        Worlds::One => {
            let simulation = built(scenario, request, own)?;
            simulation.run_unless(|| own.has_raised(), control)?
        }
        Worlds::ByCarrier => {
            let processors =
                || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
            let threads = request.threads.unwrap_or_else(processors);
            built_divided(scenario, request, own)?.run(threads.get(), control)?
        }
    };
    let raised = match (raised, own.take_raised()) {
        (Some(error), _) => Some(Raised::unnamed(error)),
        // KeyboardInterrupt and similar exceptions are not failures of the class, so they are
        // passed on.
        (None, Some(raised)) if !raised.is_exception() => Some(Raised::unnamed(raised.error)),
        (None, raised) => raised,
    };
    Ok((outcome, raised))
}

/// Writes the results of a run in memory to the folder `out`. Returns its path.
#[pyfunction]
#[allow(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands over what it took from Python"
)]
pub(crate) fn save(
    py: Python<'_>,
    out: PathBuf,
    force: bool,
    manifest: &str,
    summary: &str,
    tables: &Bound<'_, PyDict>,
    captures: &Bound<'_, PyDict>,
) -> PyResult<PathBuf> {
    let owned = |files: &Bound<'_, PyDict>| -> PyResult<Vec<(String, Vec<u8>)>> {
        let files = files.iter();
        files
            .map(|(name, bytes)| Ok((name.extract()?, bytes.extract()?)))
            .collect()
    };
    let (tables, captures) = (owned(tables)?, owned(captures)?);
    let saved = py.detach(|| {
        guarded(|| {
            let folder = RunFolder::create(&out, force)?;
            fadeout_record::save(
                folder,
                &Saved {
                    manifest,
                    summary,
                    tables: &tables,
                    captures: &captures,
                },
            )
        })
    });
    saved
        .map_err(EngineBug::new_err)?
        .map_err(|error| result_error(py, &error))
}
