//! Scenario files: TOML with quantities to a validated [`Scenario`], with spanned errors.
//!
//! [`parse`] takes the text, the overrides of the command line and the catalog of algorithms, and
//! gives either a [`Scenario`] in which everything is resolved or every mistake it found, each
//! with its place. [`schema`] prints the same format as a JSON Schema. Both follow one table of
//! keys, so they cannot disagree.
//!
//! A text passes through four steps: `tree` keeps the place of every key and value, `overrides`
//! changes the tree, `read` checks it against the shapes of the keys, and `build` resolves names
//! and checks what concerns several values. Tables are declared in `model` with `table!` and
//! `variants!`: keys, documentation, struct, reader and resolved output at once. `keys` has what
//! stands at the top of a file.

mod build;
mod deployment;
mod error;
mod finding;
mod keys;
mod model;
mod overrides;
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
pub use resolved::toml_from_json;
pub use schema::schema;
pub use suggest::nearest;

use error::{Mistake, Mistakes};
use fadeout_core::registry::Catalog;
use std::path::PathBuf;
use tree::{Place, Table};

/// Where a scenario's text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name in errors, usually the path as the user gave it.
    pub name: String,
    /// The folder that paths in the scenario are relative to.
    pub base_dir: PathBuf,
}

/// Largest text of a scenario, in bytes.
pub const MAX_TEXT: usize = 4 << 20;

/// The scenario that `text` describes after `overrides`, in their order.
///
/// # Errors
/// Every mistake found, sorted by place: syntax errors alone, as nothing else can be trusted
/// then, otherwise unknown keys, values of the wrong kind or out of range, names that refer to
/// nothing, and whatever contradicts itself.
pub fn parse(
    text: &str,
    source: &Source,
    overrides: &[Override],
    catalog: &Catalog,
) -> Result<Scenario, ScenarioErrors> {
    parse_with(text, source, overrides, catalog, &[])
}

/// Names outside the catalog that a scenario may use: things of the user's own, with parameters of
/// any name.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnNames<'a> {
    /// The kind of the catalog that they name.
    pub kind: &'a str,
    /// The names; none of them may stand in the catalog.
    pub names: &'a [&'a str],
}

/// Like [`parse`], with names of the user's `own`. Their parameters are not checked: numbers, flags
/// and texts pass as they stand.
///
/// # Errors
/// As [`parse`].
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

/// Returns mistakes that layers above found, with their places. [`parse_with`] has made the
/// scenario of the same arguments.
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
    // The reader finds nothing here but the user's own names, which the scenario may have.
    let mut document = document(text, overrides, &mut reader.mistakes).unwrap_or_default();
    deployment::expand(&mut document, &mut reader);
    for finding in findings {
        mistakes.push(finding.mistake(&document));
    }
    mistakes.locate(&texts)
}

/// Name and text of the file and of each override.
fn texts<'a>(
    text: &'a str,
    source: &'a Source,
    overrides: &'a [Override],
) -> Vec<(&'a str, &'a str)> {
    let mut texts = vec![(source.name.as_str(), text)];
    texts.extend(overrides.iter().map(|one| ("--set", one.text.as_str())));
    texts
}

/// The document in `text` after `overrides`; none where it is no TOML.
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
