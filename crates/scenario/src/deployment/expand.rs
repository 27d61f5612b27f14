//! Expansion of deployments. Their cells and buildings are written into the scenario that names
//! them.

use super::deployed::{Deployed, Standing};
use super::registry::{Case, Deployment, Plan, Site};
use crate::error::Mistake;
use crate::keys::DEPLOYMENT;
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Reader, is_name};
use crate::tree::{Entry, Place, Table, TreeNode, Value, parse_value};
use fadeout_core::registry::find;

/// Replaces all deployments in `document` by their cells and buildings. Keys of a cell that the
/// file gives take precedence.
pub(crate) fn expand(document: &mut Table, reader: &mut Reader<'_>) -> Vec<Deployed> {
    let given = document.0.iter().position(|one| one.key == "deployment");
    let Some(given) = given else {
        return Vec::new();
    };
    if !matches!(document.0[given].node.value, Value::Table(_)) {
        // The reader reports that the key is not a table.
        return Vec::new();
    }
    let Value::Table(given) = document.0.remove(given).node.value else {
        return Vec::new();
    };
    let seed = match document.entry("seed").map(|entry| &entry.node.value) {
        Some(Value::Integer(seed)) => u64::try_from(*seed).unwrap_or(0),
        _ => 1,
    };
    let mut deployed = Vec::new();
    for entry in &given.0 {
        let before = reader.mistakes.count();
        let Value::Table(table) = &entry.node.value else {
            reader.no_table(entry);
            continue;
        };
        if !is_name(&entry.key) {
            reader.no_name(entry);
            continue;
        }
        let fields = reader.fields(table, DEPLOYMENT, entry.key_place, "");
        if reader.mistakes.count() > before {
            continue;
        }
        let Some(written) = write(document, entry, table, &fields, seed, reader) else {
            continue;
        };
        let before: &[Deployed] = &deployed;
        if let Some((own, other)) = before.iter().find_map(|one| written.collision(one)) {
            let message = format!("`{own}` and `{other}` have the same position and carrier");
            let place = fields.place_of("position");
            let mistake = Mistake::new(place, message);
            let expected = "another `position`, or another `carrier` in `cell`";
            reader.mistakes.push(mistake.expected(expected));
        }
        deployed.push(written);
    }
    deployed
}

fn write(
    document: &mut Table,
    entry: &Entry,
    table: &Table,
    fields: &Fields,
    seed: u64,
    reader: &Reader<'_>,
) -> Option<Deployed> {
    let name = &entry.key;
    let layout = fields.named("layout")?;
    let plan = Deployment::new(&layout.name, &layout.parameters)?.plan(seed, name);
    let (x, y) = fields.item("position")?.pair()?;
    let center = (x.meters()?.0, y.meters()?.0);
    let own = match table.entry("cell").map(|entry| &entry.node.value) {
        Some(Value::Table(own)) => own.clone(),
        _ => Table::default(),
    };
    let place = entry.key_place;
    let is_shared = fields.text("nodes") == Some("shared");
    let has_repeats = matches!(fields.item("wrap-around")?.content, Content::Bool(true));
    let repeats = plan.lattice.filter(|_| has_repeats);
    let own_carrier = match own.entry("carrier").map(|entry| &entry.node.value) {
        Some(Value::Text(carrier)) => Some(carrier.clone()),
        _ => None,
    };
    let (mut cells, mut sites) = (Vec::new(), Vec::new());
    let mut numbers = std::collections::BTreeMap::new();
    for site in &plan.sites {
        let number: &mut u32 = numbers.entry(site.prefix).or_default();
        let site_name = format!("{name}-{}{number}", site.prefix);
        *number += 1;
        let carrier = own_carrier.as_deref().unwrap_or(site.case.carrier);
        sites.push(Standing {
            name: site_name.clone(),
            place: (site.place.0 + center.0, site.place.1 + center.1),
            carrier_hz: Dimension::Frequency.parse(carrier).unwrap_or(0.0),
        });
        for (sector, &azimuth) in site.sectors.iter().enumerate() {
            let cell_name = match site.sectors.len() {
                1 => site_name.clone(),
                _ => format!("{site_name}-{sector}"),
            };
            let mut cell = own.clone();
            let node = if is_shared { name } else { &site_name };
            defaults(&mut cell, &site.case, place);
            antenna(&mut cell, &site.case, azimuth, place, reader);
            put(&mut cell, "node", place, &quoted(node));
            put(&mut cell, "position", place, &position(site, center));
            if let Some(lattice) = repeats {
                let [first, second] = lattice.shifts().map(pair);
                put(&mut cell, "repeats", place, &format!("[{first}, {second}]"));
            }
            insert(document, "cell", &cell_name, cell, place);
            cells.push(cell_name);
        }
    }
    buildings(document, name, &plan, center, place);
    let min_distance = plan.sites.first()?.case.min_distance;
    Some(Deployed {
        name: name.clone(),
        region: plan.region.moved(center),
        min_distance_m: Dimension::Length.parse(min_distance).unwrap_or(0.0),
        cells,
        cell_radius_m: plan.cell_radius_m,
        sites,
    })
}

fn buildings(document: &mut Table, name: &str, plan: &Plan, center: (f64, f64), place: Place) {
    for (number, &[west, south, east, north]) in plan.buildings.iter().enumerate() {
        let mut building = Table::default();
        let corner = |x: f64, y: f64| pair((x + center.0, y + center.1));
        put(&mut building, "corner", place, &corner(west, south));
        put(&mut building, "opposite", place, &corner(east, north));
        put(
            &mut building,
            "height",
            place,
            &quoted(&length(plan.building_height_m)),
        );
        let name = format!("{name}-block-{number}");
        insert(document, "building", &name, building, place);
    }
}

/// Adds values of the deployment's case for keys that the file does not give.
fn defaults(cell: &mut Table, case: &Case, place: Place) {
    for (key, value) in [
        ("height", case.height),
        ("carrier", case.carrier),
        ("bandwidth", case.bandwidth),
        ("tx-power", case.tx_power),
    ] {
        put(cell, key, place, &quoted(value));
    }
    put(cell, "channel", place, "{}");
    if let Some(channel) = cell.table_mut("channel") {
        put(channel, "path-loss", place, &quoted(case.path_loss));
        if !case.line_of_sight.is_empty() {
            put(channel, "line-of-sight", place, &quoted(case.line_of_sight));
        }
    }
}

/// Name of the antenna that has no direction.
const ISOTROPIC: &str = "isotropic";

/// Sets the antenna of a sector, and turns it in the direction of the sector. The antenna comes
/// from the file, or else from the deployment's case.
fn antenna(cell: &mut Table, case: &Case, azimuth: Option<f64>, place: Place, reader: &Reader<'_>) {
    const TAG: &str = "kind";
    let mut table = match cell.entry("antenna").map(|entry| &entry.node) {
        Some(TreeNode {
            value: Value::Table(table),
            ..
        }) => table.clone(),
        Some(named) => {
            let mut table = Table::default();
            table.set(TAG, named.place, named.clone());
            table
        }
        None => Table::default(),
    };
    if table.entry(TAG).is_none() {
        let kind = azimuth.map_or(ISOTROPIC, |_| case.antenna);
        put(&mut table, TAG, place, &quoted(kind));
    }
    let Some(Value::Text(kind)) = table.entry(TAG).map(|entry| entry.node.value.clone()) else {
        return;
    };
    let entry = find(reader.catalog.entries("antenna"), &kind);
    let has = |name| entry.is_some_and(|entry| entry.parameters.iter().any(|one| one.name == name));
    if let Some(azimuth) = azimuth.filter(|_| has("azimuth")) {
        put(&mut table, "azimuth", place, &format!("{azimuth:?}"));
    }
    if kind == case.antenna && has("tilt") {
        put(&mut table, "tilt", place, &quoted(case.tilt));
    }
    if kind == ISOTROPIC && has("gain") && !case.omni_gain.is_empty() {
        put(&mut table, "gain", place, case.omni_gain);
    }
    let node = TreeNode {
        value: Value::Table(table),
        place,
    };
    cell.set("antenna", place, node);
}

/// Sets a key that does not exist yet.
pub(crate) fn put(table: &mut Table, key: &str, place: Place, text: &str) {
    if table.entry(key).is_none() {
        let node = TreeNode {
            place,
            ..parse_value(text, place.origin, 0)
        };
        table.set(key, place, node);
    }
}

/// Adds the keys of `element` that do not exist yet to the table `kind.name`.
fn insert(document: &mut Table, kind: &str, name: &str, element: Table, place: Place) {
    put(document, kind, place, "{}");
    let Some(elements) = document.table_mut(kind) else {
        return;
    };
    match elements.0.iter_mut().find(|entry| entry.key == name) {
        None => elements.set(
            name,
            place,
            TreeNode {
                value: Value::Table(element),
                place,
            },
        ),
        Some(given) => {
            if let Value::Table(given) = &mut given.node.value {
                complete(given, element);
            }
        }
    }
}

/// Adds the entries of `other` that `table` lacks. A table that is in both is completed in the same
/// way.
fn complete(table: &mut Table, other: Table) {
    for entry in other.0 {
        match table.0.iter_mut().find(|own| own.key == entry.key) {
            None => table.0.push(entry),
            Some(own) => {
                if let (Value::Table(own), Value::Table(other)) =
                    (&mut own.node.value, entry.node.value)
                {
                    complete(own, other);
                }
            }
        }
    }
}

fn position(site: &Site, center: (f64, f64)) -> String {
    pair((site.place.0 + center.0, site.place.1 + center.1))
}

fn pair((x, y): (f64, f64)) -> String {
    format!("[{}, {}]", quoted(&length(x)), quoted(&length(y)))
}

fn length(meters: f64) -> String {
    // The value is rounded to a micrometre. Adding zero removes the sign of a negative zero.
    let meters = (meters * 1e6).round() / 1e6 + 0.0;
    Dimension::Length.format(meters)
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}
