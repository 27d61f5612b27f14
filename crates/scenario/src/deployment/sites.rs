//! Sites of a cell: one table that represents a cell at each of several sites.

use crate::error::Mistake;
use crate::keys::SITE;
use crate::read::{Reader, is_name};
use crate::tree::{Entry, Place, Table, TreeNode, Value};
use std::collections::BTreeSet;

/// Replaces each cell with `sites` in `document` by one cell for each site. The cells have the
/// other keys of the table.
pub(crate) fn expand(document: &mut Table, reader: &mut Reader<'_>) {
    let Some(cells) = document.table_mut("cell") else {
        return;
    };
    let mut expanded = Vec::with_capacity(cells.0.len());
    for entry in std::mem::take(&mut cells.0) {
        match at_sites(&entry, reader) {
            Some(own) => expanded.extend(own),
            None => expanded.push(entry),
        }
    }
    cells.0 = expanded;
}

/// Returns the cells at the sites of a table. `None` if the table has no list of sites. The reader
/// reports values that are neither a list nor a table.
fn at_sites(entry: &Entry, reader: &mut Reader<'_>) -> Option<Vec<Entry>> {
    let Value::Table(table) = &entry.node.value else {
        return None;
    };
    let key = table.entry("sites")?;
    let mut refuse = |place: Place, message: &str, expected: &str| {
        let mistake = Mistake::new(place, message.to_owned());
        reader.mistakes.push(mistake.expected(expected));
        Some(Vec::new())
    };
    let list = match &key.node.value {
        Value::List(list) if list.is_empty() => {
            return refuse(key.node.place, "no sites", "at least one site");
        }
        Value::List(list) => list,
        Value::Table(_) => {
            let expected = "a run by `fadeout` or its Python package, which read the table";
            return refuse(key.node.place, "sites of a measurement", expected);
        }
        _ => return None,
    };
    if let Some(position) = table.entry("position") {
        let expected = "the position of each site in `sites`";
        return refuse(position.key_place, "a `position` with `sites`", expected);
    }
    let mut names = BTreeSet::new();
    let cells = list.iter().filter_map(|site| {
        let cell = at_site(entry, table, site, reader)?;
        if names.insert(cell.key.clone()) {
            return Some(cell);
        }
        let message = format!("two sites of the cell `{}`", cell.key);
        let mistake = Mistake::new(site.place, message);
        reader.mistakes.push(mistake.expected("another `name`"));
        None
    });
    Some(cells.collect())
}

/// Returns the cell at one site. `None` if the reader has found a mistake.
fn at_site(
    entry: &Entry,
    table: &Table,
    site: &TreeNode,
    reader: &mut Reader<'_>,
) -> Option<Entry> {
    let Value::Table(given) = &site.value else {
        let message = format!("expected a site, found {}", site.value.describe());
        let mistake = Mistake::new(site.place, message);
        let expected = "a table with `name` and `position`";
        reader.mistakes.push(mistake.expected(expected));
        return None;
    };
    let before = reader.mistakes.count();
    let fields = reader.fields(given, SITE, site.place, "");
    if reader.mistakes.count() > before {
        return None;
    }
    let name = format!("{}-{}", entry.key, fields.text("name")?);
    if !is_name(&name) {
        let mistake = Mistake::new(site.place, format!("`{name}` is not a name"));
        let expected = "1 to 64 letters, digits, hyphens and underscores";
        reader.mistakes.push(mistake.expected(expected));
        return None;
    }
    let others = table.0.iter().filter(|own| own.key != "sites");
    let mut cell = Table(others.cloned().collect());
    for key in ["position", "height"] {
        if let Some(own) = given.entry(key) {
            cell.set(key, own.key_place, own.node.clone());
        }
    }
    if let Some(azimuth) = given.entry("azimuth") {
        turn(&mut cell, azimuth, reader)?;
    }
    Some(Entry {
        key: name,
        key_place: site.place,
        node: TreeNode {
            value: Value::Table(cell),
            place: site.place,
        },
    })
}

/// Turns the antenna of a cell. `None` if the cell gives no antenna, so that it has no direction.
fn turn(cell: &mut Table, azimuth: &Entry, reader: &mut Reader<'_>) -> Option<()> {
    let Some(antenna) = cell.0.iter_mut().find(|own| own.key == "antenna") else {
        let message = "an `azimuth`, but the cell's antenna has no direction";
        let mistake = Mistake::new(azimuth.key_place, message.to_owned());
        let expected = "an `antenna` of the cell, such as \"sector\"";
        reader.mistakes.push(mistake.expected(expected));
        return None;
    };
    if !matches!(antenna.node.value, Value::Table(_)) {
        let mut named = Table::default();
        named.set("kind", antenna.key_place, antenna.node.clone());
        antenna.node.value = Value::Table(named);
    }
    if let Value::Table(table) = &mut antenna.node.value {
        table.set("azimuth", azimuth.key_place, azimuth.node.clone());
    }
    Some(())
}
