//! The file `manifest.json`: the scenario, the version and the seed of a run, and the contents of
//! the run's folder.

use crate::summary::Summary;
use fadeout_core::Fingerprint;
use fadeout_core::table::{Place, Table};
use fadeout_core::{SCENARIO_TABLES, SUMMARY_TABLES};
use serde::Serialize;
use serde_json::Value;

/// Data of a run that are known only at its end.
#[derive(Debug)]
pub struct RunInfo {
    /// Version of fadeout that simulated the run.
    pub version: String,
    /// Git commit of the build. `None` if the commit is unknown.
    pub commit: Option<String>,
    /// Scenario of the run with all defaults filled in.
    pub scenario: Value,
    /// Seed of the random streams.
    pub seed: u64,
    /// Digest of the run's trajectory.
    pub fingerprint: Fingerprint,
    /// True if the run reached its end, false if it was interrupted.
    pub complete: bool,
    /// Summary rows of the run.
    pub summary: Summary,
}

#[derive(Serialize)]
pub(crate) struct Manifest<'a> {
    pub(crate) version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<&'a str>,
    pub(crate) seed: u64,
    pub(crate) fingerprint: String,
    pub(crate) complete: bool,
    pub(crate) simulated_s: f64,
    pub(crate) tables: Vec<TableEntry>,
    pub(crate) captures: Vec<CaptureEntry>,
    pub(crate) scenario: &'a Value,
}

#[derive(Serialize)]
pub(crate) struct TableEntry {
    pub(crate) name: &'static str,
    pub(crate) file: String,
    pub(crate) rows: u64,
    #[serde(flatten)]
    pub(crate) definition: Definition,
}

#[derive(Serialize)]
pub(crate) struct CaptureEntry {
    #[serde(flatten)]
    pub(crate) subject: Subject,
    pub(crate) file: String,
    pub(crate) packets: u64,
}

/// Node, link, cell or UE whose packets a capture contains.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Subject {
    /// Capture of packets at a host, with the host's name.
    Node(String),
    /// Capture of packets on a link, with the link's name.
    Link(String),
    /// Capture of a cell's transport blocks, with the cell's name.
    Cell(String),
    /// Capture of a UE's transport blocks, with the UE's name.
    Ue(String),
    /// Log of an end of a QUIC connection, with the flow's name. Its `packets` are events.
    Flow(String),
}

impl Subject {
    pub(crate) fn name(&self) -> &str {
        match self {
            Subject::Node(name)
            | Subject::Link(name)
            | Subject::Cell(name)
            | Subject::Ue(name)
            | Subject::Flow(name) => name,
        }
    }
}

/// Documentation and columns of a table.
#[derive(Serialize)]
pub(crate) struct Definition {
    doc: &'static str,
    columns: Vec<ColumnEntry>,
}

#[derive(Serialize)]
struct ColumnEntry {
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    doc: &'static str,
    /// True if the column's value may be null.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
}

impl From<&Table> for Definition {
    fn from(table: &Table) -> Self {
        let columns = table.columns.iter().map(|column| ColumnEntry {
            name: column.name,
            kind: column.kind.name(),
            unit: column.unit,
            doc: column.doc,
            optional: column.is_optional,
        });
        Definition {
            doc: table.doc,
            columns: columns.collect(),
        }
    }
}

/// Returns every table of results with its columns, as JSON. Tables that every run has come first.
/// Tables that can be recorded follow. The last are tables of a scenario, which need no run.
///
/// The result is a list of objects:
///
/// - `name`,
/// - `of` (`run` or `scenario`),
/// - `always` (true if every run has the table),
/// - `key` (of its only row in `summary.json`, or null for a file of its own),
/// - `doc`,
/// - `columns`, with `name`, `kind`, `unit` and `doc` in each, and `optional` if a value may be
///   null.
pub fn tables_json() -> String {
    #[derive(Serialize)]
    struct Named {
        name: &'static str,
        of: &'static str,
        always: bool,
        key: Option<&'static str>,
        #[serde(flatten)]
        definition: Definition,
    }
    let tables = SUMMARY_TABLES.iter().chain(crate::TABLES);
    let tables = tables.chain(SCENARIO_TABLES).map(|table| Named {
        name: table.name,
        of: match table.place {
            Place::Scenario => "scenario",
            Place::Recorded | Place::Rows | Place::Summary(_) => "run",
        },
        always: table.place.is_always_there(),
        key: match table.place {
            Place::Recorded | Place::Rows | Place::Scenario => None,
            Place::Summary(key) => Some(key),
        },
        definition: table.into(),
    });
    pretty(&tables.collect::<Vec<_>>())
}

/// Returns `value` as indented JSON with a newline at its end.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("strings and numbers serialise");
    text.push('\n');
    text
}
