//! Reader of scenario files. TOML text with quantities becomes a validated [`Scenario`], or
//! mistakes with their places.
//!
//! [`parse`] takes the text, the overrides of the command line and the catalog of algorithms. It
//! returns a completely resolved [`Scenario`], or every mistake with its place. [`schema`] returns
//! the same format as a JSON Schema. Both functions use one table of keys, so they always agree.
//!
//! A text is processed in five steps. `tree` stores the place of every key and value. `overrides`
//! changes the tree. `presets` and `deployment` write the keys that presets and deployments stand
//! for into the tree. `read` checks the tree against the shapes of the keys. `build` looks up names
//! and checks conditions on several values.
//!
//! Tables are declared in `model` with `key_table!` and `variants!`. A declaration contains keys,
//! documentation, struct, reader and resolved output. `keys` has the top-level keys of a file.

mod build;
mod deployment;
mod error;
mod finding;
mod keys;
mod model;
mod overrides;
mod presets;
pub mod quantity;
mod read;
mod resolved;
mod schema;
mod shape;
mod suggest;
mod table;
mod tree;

pub use deployment::{DEPLOYMENTS, Deployment};
pub use error::{ScenarioError, ScenarioErrors};
pub use finding::Finding;
pub use model::*;
pub use overrides::Override;
pub use presets::{CELL_PRESETS, HOST_PRESETS, TIMINGS};
pub use read::OwnNames;
pub use resolved::toml_from_json;
pub use schema::schema;
pub use suggest::nearest;

use error::{Mistake, Mistakes};
use fadeout_core::registry::Catalog;
use std::path::PathBuf;
use tree::{Place, Table};

/// Text of a scenario and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name of the text in error messages, usually the path that the user gave.
    pub name: String,
    /// Folder to which paths in the scenario are relative.
    pub base_dir: PathBuf,
}

/// Largest size of a scenario's text, in bytes.
pub const MAX_TEXT: usize = 4 << 20;

/// Reads the scenario in `text` after the overrides, which are applied in order.
///
/// # Errors
/// Returns every mistake, sorted by place. After a syntax error only syntax errors are reported.
/// Other mistakes are unknown keys, values of the wrong kind or out of range, names that refer to
/// nothing, and contradictions.
pub fn parse(
    text: &str,
    source: &Source,
    overrides: &[Override],
    catalog: &Catalog,
) -> Result<Scenario, ScenarioErrors> {
    parse_with(text, source, overrides, catalog, &[])
}

/// Reads a scenario as [`parse`] does. The scenario may use users' `own` names. Their parameters
/// are not checked: numbers, flags and texts are passed on unchanged.
///
/// # Errors
/// Returns an error in the same cases as [`parse`].
pub fn parse_with(
    text: &str,
    source: &Source,
    overrides: &[Override],
    catalog: &Catalog,
    own: &[OwnNames<'_>],
) -> Result<Scenario, ScenarioErrors> {
    let texts = texts(text, source, overrides);
    let mut reader = read::Reader::new(catalog, own);
    let Some(document) = document(text, overrides, &mut reader.mistakes) else {
        return Err(reader.mistakes.locate(&texts));
    };
    let scenario = build::scenario(&document, &source.base_dir, &mut reader);
    match scenario {
        Some(scenario) if reader.mistakes.is_empty() => Ok(scenario),
        _ => Err(reader.mistakes.locate(&texts)),
    }
}

/// Returns mistakes that other crates found, with their places in the text. The other arguments are
/// those of an earlier call of [`parse_with`].
pub fn locate(
    text: &str,
    source: &Source,
    overrides: &[Override],
    catalog: &Catalog,
    findings: &[Finding],
) -> ScenarioErrors {
    let texts = texts(text, source, overrides);
    let mut mistakes = Mistakes::default();
    let mut reader = read::Reader::new(catalog, &[]);
    // The reader accepted this scenario, so its only mistakes are users' own names.
    let mut document = document(text, overrides, &mut reader.mistakes).unwrap_or_default();
    presets::expand(&mut document, &mut reader);
    for finding in findings {
        mistakes.push(finding.mistake(&document));
    }
    mistakes.locate(&texts)
}

/// Returns the name and the text of the file and of each override.
fn texts<'a>(
    text: &'a str,
    source: &'a Source,
    overrides: &'a [Override],
) -> Vec<(&'a str, &'a str)> {
    let mut texts = vec![(source.name.as_str(), text)];
    texts.extend(overrides.iter().map(|one| ("--set", one.text.as_str())));
    texts
}

/// Returns the document in `text` after the overrides. `None` if it is not valid TOML.
fn document(text: &str, overrides: &[Override], mistakes: &mut Mistakes) -> Option<Table> {
    if text.len() > MAX_TEXT {
        let message = format!("the scenario is larger than {} MiB", MAX_TEXT >> 20);
        mistakes.push(Mistake::new(Place::START, message));
        return None;
    }
    let mut document = match tree::parse_document(text) {
        Ok(document) => document,
        Err(errors) => {
            for (message, place) in errors {
                mistakes.push(Mistake::new(place, message));
            }
            return None;
        }
    };
    for (index, one) in overrides.iter().enumerate() {
        overrides::apply(&mut document, &one.text, index as u32 + 1, mistakes);
    }
    Some(document)
}
