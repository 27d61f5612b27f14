//! The names that a scenario may use, the result tables, and the version of this build.

use fadeout_core::registry::{Entry, Parameter, ParameterKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// Returns all names that a scenario may use, as JSON: kinds with their entries and parameters.
#[pyfunction]
pub(crate) fn catalog() -> String {
    let kinds = fadeout_sim::catalog().kinds.iter().map(|kind| {
        json!({
            "name": kind.name,
            "plural": kind.plural,
            "entries": kind.entries.iter().map(entry).collect::<Vec<_>>(),
        })
    });
    json!({ "kinds": kinds.collect::<Vec<_>>() }).to_string()
}

fn entry(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "aliases": entry.aliases,
        "family": entry.family,
        "summary": entry.summary,
        "citation": entry.citation,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let (kind, more) = match parameter.kind {
        ParameterKind::Number { min, max, unit } => {
            ("number", json!({ "range": [min, max], "unit": unit }))
        }
        ParameterKind::Integer { min, max, unit } => {
            ("integer", json!({ "range": [min, max], "unit": unit }))
        }
        ParameterKind::Bool => ("bool", json!({})),
        ParameterKind::Span => ("span", json!({})),
        ParameterKind::Choice(choices) => ("choice", json!({ "choices": choices })),
        ParameterKind::Named(kind) => {
            let entries = fadeout_sim::catalog().entries(kind).iter();
            let names: Vec<&str> = entries.map(|entry| entry.name).collect();
            ("named", json!({ "choices": names }))
        }
    };
    let mut value = more;
    value["name"] = json!(parameter.name);
    value["kind"] = json!(kind);
    value["default"] = json!(parameter.default);
    value["doc"] = json!(parameter.doc);
    value
}

/// Returns the JSON Schema of scenarios.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    let schema = fadeout_scenario::schema(fadeout_sim::catalog());
    serde_json::to_string_pretty(&schema)
        .map_err(|error| crate::errors::EngineBug::new_err(error.to_string()))
}

/// Returns every result table, as JSON: name, doc, and columns with name, kind, unit and doc.
#[pyfunction]
pub(crate) fn tables() -> String {
    fadeout_record::tables_json()
}

/// Returns version, profile, results version, compiler and commit of the compiled module. Unknown
/// ones are left out.
#[pyfunction]
pub(crate) fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item(
        "profile",
        if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        },
    )?;
    info.set_item("results", fadeout_sim::RESULTS_VERSION.to_string())?;
    for (key, value) in [
        ("rustc", env!("FADEOUT_RUSTC")),
        ("commit", env!("FADEOUT_COMMIT")),
    ] {
        if !value.is_empty() {
            info.set_item(key, value)?;
        }
    }
    Ok(info)
}
