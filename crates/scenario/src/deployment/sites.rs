//! Sites of a cell: one table that represents a cell at each of several sites.

use crate::keys::SITE;
use crate::read::Reader;
use crate::tree::{Entry, Place, Table, TreeNode, Value};
use std::collections::BTreeSet;

/// Replaces each cell with `sites` in `document` by one cell for each site. The cells have the
/// other keys of the table.
pub(crate) fn expand(document: &mut Table, reader: &mut Reader<'_>) {
    let Some(cells) = document.table_mut("cell") else {
        return;
    };
    let given = std::mem::take(&mut cells.0);
    let mut expanded = Vec::with_capacity(given.len());
    let has_sites = |entry: &&Entry| match &entry.node.value {
        Value::Table(table) => table.entry("sites").is_some(),
        _ => false,
    };
    let plain = given.iter().filter(|entry| !has_sites(entry));
    let mut names: BTreeSet<String> = plain.map(|entry| entry.key.clone()).collect();
    for entry in given {
        match at_sites(&entry, &mut names, reader) {
            Some(own) => expanded.extend(own),
            None => expanded.push(entry),
        }
    }
    cells.0 = expanded;
}

/// Returns the cells at the sites of a table, and adds their names to those of all cells. `None` if
/// the table has no list of sites. The reader reports values that are neither a list nor a table.
fn at_sites(
    entry: &Entry,
    names: &mut BTreeSet<String>,
    reader: &mut Reader<'_>,
) -> Option<Vec<Entry>> {
    let Value::Table(table) = &entry.node.value else {
        return None;
    };
    let key = table.entry("sites")?;
    let mut refuse = |place: Place, message: &str, expected: &str| {
        reader.mistakes.add(place, message, expected);
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
    let mut cells: Vec<Entry> = Vec::with_capacity(list.len());
    for site in list {
        let Some(cell) = at_site(entry, table, site, reader) else {
            continue;
        };
        if names.insert(cell.key.clone()) {
            cells.push(cell);
            continue;
        }
        let message = if cells.iter().any(|own| own.key == cell.key) {
            format!("two sites of the cell `{}`", cell.key)
        } else {
            format!("another cell is called `{}`", cell.key)
        };
        reader.mistakes.add(site.place, message, "another `name`");
    }
    Some(cells)
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
        let expected = "a table with `name` and `position`";
        reader.mistakes.add(site.place, message, expected);
        return None;
    };
    let before = reader.mistakes.count();
    let fields = reader.fields(given, SITE, site.place, "");
    if reader.mistakes.count() > before {
        return None;
    }
    let name = format!("{}-{}", entry.key, fields.text("name")?);
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
        let expected = "an `antenna` of the cell, such as \"sector\"";
        reader.mistakes.add(azimuth.key_place, message, expected);
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
