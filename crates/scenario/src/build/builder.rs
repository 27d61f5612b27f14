//! State of the construction of a scenario.

use super::nodes::Nodes;
use crate::deployment::Deployed;
use crate::error::{Mistake, Mistakes, alternatives};
use crate::model::Medium;
use crate::read::{Content, Item, Reader};
use crate::suggest::nearest;
use crate::tree::{Place, shortened};
use fadeout_core::{NodeId, Span};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Size limit of a file that a scenario names, in bytes.
const LARGEST: u64 = 256 << 20;

/// State of the construction, with data about the whole file.
pub(crate) struct Builder<'r, 'c> {
    pub(super) reader: &'r mut Reader<'c>,
    pub(super) base_dir: &'r Path,
    /// Length of the run. Zero if the key is missing or wrong.
    pub(crate) duration: Span,
    /// Seed of the run. Zero if the key is missing or wrong.
    pub(super) seed: u64,
    pub(super) nodes: Nodes,
    /// Links and bearers without mistakes, with the nodes at both ends, by name.
    pub(super) media: BTreeMap<String, (Medium, (NodeId, NodeId))>,
    /// Nodes of the UEs that a `count` makes, by the name of their table.
    pub(super) groups: BTreeMap<String, Vec<NodeId>>,
    /// Deployments whose cells have been written into the file's tables.
    pub(super) deployed: Vec<Deployed>,
    /// True if the file has deployments, even if they have mistakes.
    pub(super) names_deployments: bool,
    /// Names of the vehicle groups, including groups with mistakes.
    pub(super) vehicle_groups: Vec<String>,
    /// True if the file has mobility management, even if it has mistakes.
    pub(super) is_managed: bool,
    /// True if mobility management may add secondary nodes to UEs.
    pub(super) has_secondary_node: bool,
    /// Contents of the files read so far, by path.
    pub(super) files: BTreeMap<String, Arc<[u8]>>,
}

impl Builder<'_, '_> {
    /// Returns the node that a flow or a probe names. A link must have named the node too. `None`
    /// after a mistake.
    pub(super) fn node(&mut self, item: &Item) -> Option<NodeId> {
        let Content::Text(name) = &item.content else {
            return None;
        };
        let found = self.nodes.find(name);
        if found.is_none() {
            let names = self.nodes.names.iter().map(String::as_str);
            refer_to_nothing(&mut self.reader.mistakes, item, "node", names);
        }
        found
    }

    /// Returns the contents of a file that the scenario names at `place`. Each file is read once.
    /// `None` after a mistake.
    pub(crate) fn file(&mut self, path: &str, place: Place, expected: &str) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.files.get(path) {
            return Some(bytes.clone());
        }
        let full = self.base_dir.join(path);
        match read_bounded(&full) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                self.files.insert(path.to_owned(), bytes.clone());
                Some(bytes)
            }
            Err(error) => {
                let shown = full.display();
                let message = format!("cannot read the file `{shown}`: {error}");
                self.mistake(place, message, expected);
                None
            }
        }
    }

    pub(crate) fn mistake(&mut self, place: Place, message: impl Into<String>, expected: &str) {
        self.reader.mistakes.add(place, message, expected);
    }

    /// True if no mistake has been found so far. A missing value was then not given by the user.
    pub(crate) fn is_right_so_far(&self) -> bool {
        self.reader.mistakes.is_empty()
    }
}

/// Adds a mistake for a name that is not among `names`.
pub(super) fn refer_to_nothing<'a>(
    mistakes: &mut Mistakes,
    item: &Item,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) {
    let Content::Text(name) = &item.content else {
        return;
    };
    let mistake = Mistake::new(
        item.place,
        format!("there is no {what} `{}`", shortened(name)),
    );
    if mistakes.is_full() {
        return mistakes.push(mistake);
    }
    let near = nearest(name, names.clone());
    let expected = match (names.clone().next(), what) {
        (Some(_), _) => alternatives(names),
        (None, "node") => "a node of a link, a cell, a UE or a table [node.NAME]".to_owned(),
        (None, _) => format!(
            "a table [{}.NAME]",
            what.split([',', ' ']).next().unwrap_or(what)
        ),
    };
    mistakes.push(mistake.suggest(near).expected(expected));
}

/// Returns the bytes of a regular file up to the size limit.
fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if about.len() > LARGEST {
        return Err(std::io::Error::other("it is larger than 256 MiB"));
    }
    std::fs::read(path)
}
