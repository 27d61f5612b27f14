//! `manifest.json`: what was run, and what its folder holds.

use crate::summary::Summary;
use fadeout_core::Fingerprint;
use fadeout_core::table::{Place, Table};
use fadeout_core::{SCENARIO_TABLES, SUMMARY_TABLES};
use serde::Serialize;
use serde_json::Value;

/// The facts of a run that are known at its end.
#[derive(Debug)]
pub struct RunInfo {
    /// Version of fadeout.
    pub version: String,
    /// Commit that it was built from, where that is known.
    pub commit: Option<String>,
    /// The scenario as resolved, with every default filled in.
    pub scenario: Value,
    /// Seed of the random streams.
    pub seed: u64,
    /// Digest of the trajectory.
    pub fingerprint: Fingerprint,
    /// Whether the run reached its end; false when it was interrupted.
    pub complete: bool,
    /// The rows that it is summed up in.
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

/// The node, cell or UE that a capture is of.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Subject {
    /// The packets at a host.
    Node(String),
    /// The packets on a link.
    Link(String),
    /// The transport blocks of a cell.
    Cell(String),
    /// The transport blocks of a UE.
    Ue(String),
}

impl Subject {
    pub(crate) fn name(&self) -> &str {
        match self {
            Subject::Node(name) | Subject::Link(name) | Subject::Cell(name) | Subject::Ue(name) => {
                name
            }
        }
    }
}

/// A table's doc and columns.
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
    /// Whether a row may have none.
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

/// Every table of results with its columns, as JSON: first those that every run has, then those
/// that can be recorded, then those that a scenario has without a run. It is a list of objects `name`,
/// `of` (`run` or `scenario`), `always` (whether every run has it), `key` (of its one row in
/// `summary.json`; null for a file of its own), `doc` and `columns`, with `name`, `kind`, `unit` and
/// `doc` in each, and `optional` where a row may have none.
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

/// `value` as readable JSON with a newline at its end.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("strings and numbers serialise");
    text.push('\n');
    text
}
