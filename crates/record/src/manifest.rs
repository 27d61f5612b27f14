//! `manifest.json`: what was run, and what its folder holds.

use fadeout_core::Fingerprint;
use fadeout_core::table::{ColumnKind, Table};
use serde::Serialize;
use serde_json::Value;

/// What the simulation knows of a run at its end.
#[derive(Debug, Clone)]
pub struct RunInfo {
    /// Version of fadeout.
    pub version: String,
    /// The scenario as resolved, with every default filled in.
    pub scenario: Value,
    /// Seed of the random streams.
    pub seed: u64,
    /// Digest of the trajectory.
    pub fingerprint: Fingerprint,
    /// Whether the run reached its end; false when it was interrupted.
    pub complete: bool,
    /// Contents of `summary.json`.
    pub summary: Value,
}

#[derive(Serialize)]
pub(crate) struct Manifest<'a> {
    pub(crate) version: &'a str,
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

/// What a capture is of.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Subject {
    /// The packets at a host.
    Node(String),
    /// The transport blocks of a cell.
    Cell(String),
    /// The transport blocks of a UE.
    Ue(String),
}

impl Subject {
    pub(crate) fn name(&self) -> &str {
        match self {
            Subject::Node(name) | Subject::Cell(name) | Subject::Ue(name) => name,
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
}

impl From<&Table> for Definition {
    fn from(table: &Table) -> Self {
        let columns = table.columns.iter().map(|column| ColumnEntry {
            name: column.name,
            kind: match column.kind {
                ColumnKind::F64 => "f64",
                ColumnKind::U32 => "u32",
                ColumnKind::U64 => "u64",
                ColumnKind::Bool => "bool",
                ColumnKind::Name => "name",
                ColumnKind::Flow => "flow",
                ColumnKind::Link => "link",
                ColumnKind::Node => "node",
                ColumnKind::Cell => "cell",
                ColumnKind::Ue => "ue",
                ColumnKind::Bearer => "bearer",
            },
            unit: column.unit,
            doc: column.doc,
        });
        Definition {
            doc: table.doc,
            columns: columns.collect(),
        }
    }
}

/// Every table that can be recorded, with its columns, as JSON: a list of objects `name`, `doc`,
/// `columns`, and in each column `name`, `kind`, `unit` and `doc`.
pub fn tables_json() -> String {
    #[derive(Serialize)]
    struct Named {
        name: &'static str,
        #[serde(flatten)]
        definition: Definition,
    }
    let tables = crate::TABLES.iter().map(|t| Named {
        name: t.name,
        definition: t.into(),
    });
    pretty(&tables.collect::<Vec<_>>())
}

/// `value` as readable JSON with a newline at its end.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("strings and numbers serialise");
    text.push('\n');
    text
}
