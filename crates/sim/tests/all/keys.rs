//! Tests that every key of a scenario is used: the world or its recorder must change with each key.
//!
//! The JSON Schema has all keys and their possible values. The test replaces the value of each key
//! of the scenarios in `tests/keys/`, until one value changes the world.

use fadeout_record::Destination;
use fadeout_scenario::{Source, schema, toml_from_json};
use fadeout_sim::{Simulation, catalog};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Prefixes of keys that do not affect the world, with the reason.
const ELSEWHERE: [(&str, &str); 29] = [
    ("title", "figures have it"),
    (
        "seed",
        "a digest of it begins each random stream; `determinism` runs two",
    ),
    ("duration", "the caller of a world says how far it runs"),
    (
        "node.*.kernel",
        "kernels are processes, of `crates/sim/tests` with one and of `tests/python`",
    ),
    ("node.*.command", "the same"),
    ("node.*.path-manager", "the same"),
    (
        "node.*.preset",
        "the reader writes the keys of a preset that a node lacks, and these nodes lack none",
    ),
    (
        "cell.*.preset",
        "the reader writes the keys of a preset that a cell lacks, and these cells lack none",
    ),
    (
        "building.*.file",
        "the Python package puts its buildings in place before",
    ),
    ("building.*.origin", "the same"),
    ("building.*.default-height", "the same"),
    ("building.*.level-height", "the same"),
    ("vehicles.*.road.origin", "the same of its streets"),
    ("building.*.net", "the same"),
    ("vehicles.*.road.net", "the same of its streets"),
    (
        "measurement",
        "the Python package reads it and puts plain files in its place",
    ),
    ("link.*.rate.measurement", "the same"),
    ("link.*.rate.quantity", "the same"),
    ("link.*.delay.measurement", "the same"),
    ("link.*.delay.quantity", "the same"),
    ("link.*.loss.measurement", "the same"),
    ("channel-file.*.measurement", "the same"),
    ("channel-file.*.ue", "the same"),
    ("channel-file.*.cell", "the same"),
    ("ue.*.trace.measurement", "the same"),
    ("cell.*.sites.measurement", "the same"),
    ("mobility-management.serving-cells", "the same"),
    // The catalog has only one kind, so the key cannot change the world.
    (
        "blockage.*.contention",
        "there is but one model that asks for no places",
    ),
    ("ue.*.pdcp", "there is but one kind of it, with parameters"),
];

/// Tables that share the reader of other tables, whose keys are tested there.
const SAME: [(&str, &str); 9] = [
    ("link.*.reverse.", "link.*."),
    ("rab.*.downlink.", "rab.*.uplink."),
    ("rab.*.uplink.rate.", "link.*.rate."),
    ("rab.*.uplink.loss.", "link.*.loss."),
    ("deployment.*.cell.", "cell.*."),
    ("ue.*.drb.*.pdcp", "ue.*.pdcp"),
    ("ue.*.drb.*.rlc", "ue.*.rlc"),
    ("blockage.*.schedule.", "link.*.rate.off."),
    (
        "mobility-management.secondary-node.events.",
        "mobility-management.events.",
    ),
];

/// Returns the key under which a key is tested.
fn tested(key: &str) -> String {
    SAME.iter().fold(key.to_owned(), |key, (same, as_this)| {
        match key.strip_prefix(same) {
            Some(rest) => format!("{as_this}{rest}"),
            None => key,
        }
    })
}

/// Returns values with units for a quantity of the schema.
fn quantities(sort: &str) -> Vec<Value> {
    let texts: &[&str] = match sort {
        "time" => &[
            "0 s", "1 us", "1 ms", "7 ms", "15 ms", "30 ms", "130 ms", "700 ms", "3 s", "12 s",
            "100 s", // Some keys allow only listed values.
            "40 ms", "3.5 ms",
        ],
        "rate" => &["3 Mbit/s", "33 Mbit/s", "7 Gbit/s"],
        "size" => &["7 B", "300 B", "70 kB", "3 MB"],
        "packets" => &["7 packets"],
        "frequency" => &["1.4 MHz", "100 MHz", "1.9 GHz", "30 GHz"],
        "length" => &["0 m", "7 cm", "0.7 m", "3.3 m", "7 m", "77 m", "700 m"],
        "ratio" => &["0 dB", "-3.5 dB", "3.5 dB", "13 dB"],
        "power" => &["-105 dBm", "-97 dBm", "17 dBm"],
        "angle" => &["7 deg", "70 deg"],
        "speed" => &["0 m/s", "7 m/s", "17 m/s"],
        other => panic!("a new sort of quantity: {other}"),
    };
    texts.iter().map(|text| json!(text)).collect()
}

/// Returns the schemas of a value's alternatives, one after the other.
fn alternatives(schema: &Value) -> Vec<&Value> {
    let nested = ["anyOf", "oneOf"].map(|key| schema.get(key).and_then(Value::as_array));
    let nested: Vec<&Value> = nested.into_iter().flatten().flatten().collect();
    match nested.is_empty() {
        true => vec![schema],
        false => nested.into_iter().flat_map(alternatives).collect(),
    }
}

/// Returns values that a key may have by its schema, except tables. `names` are the names of nodes,
/// links and files.
fn values(schema: &Value, names: &BTreeSet<String>) -> Vec<Value> {
    let mut found = Vec::new();
    for one in alternatives(schema) {
        if let Some(value) = one.get("const") {
            found.push(value.clone());
        }
        found.extend(
            one.get("enum")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .cloned(),
        );
        if let Some(sort) = one.get("$ref").and_then(Value::as_str) {
            found.extend(quantities(sort.trim_start_matches("#/$defs/")));
        }
        let bound =
            |key: &str, default: f64| one.get(key).and_then(Value::as_f64).unwrap_or(default);
        match one.get("type").and_then(Value::as_str) {
            Some("boolean") => found.extend([json!(false), json!(true)]),
            Some("integer") => {
                let (least, most) = (bound("minimum", 0.0), bound("maximum", 1e6));
                let some = [1.0, 2.0, 3.0, 5.0, 64.0, 128.0];
                let some = some.into_iter().filter(|it| (least..=most).contains(it));
                found.extend(some.map(|it| json!(it as u64)));
            }
            Some("number") => {
                let (least, most) = (bound("minimum", 0.0), bound("maximum", 100.0));
                let parts = [0.0, 0.3, 0.7, 1.0];
                found.extend(parts.map(|part| json!(least + part * (most - least).min(10.0))));
            }
            Some("string") => found.extend(names.iter().map(|name| json!(name))),
            Some("array") => {
                let items = one.get("items").map(|it| values(it, names));
                let items = items.unwrap_or_default();
                found.extend(items.into_iter().map(|item| json!([item])));
            }
            _ => {}
        }
    }
    found
}

/// Returns the schema of the table `given`, from the alternatives of a value. `None` if none
/// matches.
fn table<'a>(schema: &'a Value, given: &Map<String, Value>) -> Option<&'a Value> {
    let is_it = |one: &&Value| {
        let Some(properties) = one.get("properties").and_then(Value::as_object) else {
            return one
                .get("additionalProperties")
                .is_some_and(Value::is_object);
        };
        let required = one.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        required.all(|key| given.contains_key(key))
            && given.keys().all(|key| properties.contains_key(key))
    };
    alternatives(schema).into_iter().find(is_it)
}

/// True if the value names an entry of the catalog. The parameters of such entries have tests of
/// their own.
fn is_named(schema: &Value) -> bool {
    alternatives(schema).iter().any(|one| {
        let text = one.get("description").and_then(Value::as_str).unwrap_or("");
        one.get("enum").is_some() && text.starts_with("Name alone")
    })
}

/// A change of one key's value.
struct Change {
    /// The key as in the schema. Named tables and list items are `*`.
    key: String,
    /// JSON pointer to the value in the scenario.
    pointer: String,
    value: Value,
}

/// Returns the scenario with another value at one position. `None` if the position does not exist.
fn put(whole: &Value, pointer: &str, value: Value) -> Option<Value> {
    let mut scenario = whole.clone();
    let (table, name) = pointer.rsplit_once('/')?;
    match scenario.pointer_mut(table)? {
        Value::Object(table) => drop(table.insert(name.to_owned(), value)),
        Value::Array(items) => *items.get_mut(name.parse::<usize>().ok()?)? = value,
        _ => return None,
    }
    Some(scenario)
}

/// Adds every change of one key below the pointer `at` in the scenario `whole`.
fn changes(
    (schema, names): (&Value, &BTreeSet<String>),
    at: (&str, &str),
    whole: &Value,
    found: &mut Vec<Change>,
) {
    let (pointer, key) = at;
    match whole.pointer(pointer) {
        Some(Value::Object(given)) if !is_named(schema) => {
            let Some(of) = table(schema, given) else {
                return;
            };
            let named = of.get("additionalProperties").filter(|it| it.is_object());
            if let Some(inner) = named {
                for name in given.keys() {
                    changes(
                        (inner, names),
                        (&format!("{pointer}/{name}"), &format!("{key}*.")),
                        whole,
                        found,
                    );
                }
                return;
            }
            let properties = of.get("properties").and_then(Value::as_object);
            for (name, inner) in properties.into_iter().flatten() {
                let below = (format!("{pointer}/{name}"), format!("{key}{name}"));
                for value in values(inner, names) {
                    found.push(Change {
                        key: below.1.clone(),
                        pointer: below.0.clone(),
                        value,
                    });
                }
            }
            for (name, inner) in properties.into_iter().flatten() {
                let below = (format!("{pointer}/{name}"), format!("{key}{name}."));
                changes((inner, names), (&below.0, &below.1), whole, found);
            }
        }
        Some(Value::Array(items)) => {
            for one in alternatives(schema) {
                let item = |index: usize| {
                    let by_place = one.get("prefixItems").and_then(|it| it.get(index));
                    by_place.or_else(|| one.get("items"))
                };
                for index in 0..items.len() {
                    let Some(inner) = item(index) else { continue };
                    let below = format!("{pointer}/{index}");
                    for value in values(inner, names) {
                        found.push(Change {
                            key: key.trim_end_matches('.').to_owned(),
                            pointer: below.clone(),
                            value,
                        });
                    }
                }
                for index in 0..items.len() {
                    let Some(inner) = item(index) else { continue };
                    changes(
                        (inner, names),
                        (&format!("{pointer}/{index}"), key),
                        whole,
                        found,
                    );
                }
            }
        }
        _ => {}
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys")
}

fn read(text: &str) -> Result<fadeout_scenario::Scenario, String> {
    let source = Source {
        name: "keys".to_owned(),
        base_dir: folder(),
    };
    let read = fadeout_scenario::parse(text, &source, &[], catalog());
    read.map_err(|errors| errors.to_string())
}

/// Start of the world in the text of a simulation. The scenario is the text before it.
const START: &str = ", world: World";

/// Returns the world and its recorder as text, or the error of the layer that refuses the scenario.
/// `None` if the scenario is not valid.
fn world(scenario: &Value) -> Option<String> {
    let scenario = read(&toml_from_json(scenario)).ok()?;
    let built = match Simulation::new(scenario, Destination::Memory) {
        Ok(built) => format!("{built:?}"),
        Err(error) => return Some(error.to_string()),
    };
    let (_, world) = built.split_once(START)?;
    Some(world.to_owned())
}

/// A writer that fails at the first difference from the text of a world.
struct Comparison<'a> {
    /// Text before the world.
    head: String,
    /// Rest of the expected text once the world has begun.
    rest: Option<&'a str>,
    expected: &'a str,
}

impl Write for Comparison<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if let Some(rest) = self.rest {
            self.rest = Some(rest.strip_prefix(text).ok_or(std::fmt::Error)?);
            return Ok(());
        }
        self.head.push_str(text);
        let tail = self.head.len().saturating_sub(text.len() + START.len());
        if let Some(start) = self.head.as_bytes()[tail..]
            .windows(START.len())
            .position(|window| window == START.as_bytes())
        {
            let begun = self.head.split_off(tail + start + START.len());
            self.rest = Some(self.expected);
            return self.write_str(&begun);
        }
        Ok(())
    }
}

/// True if the scenario is valid and has another world, or another error, than `before`.
fn is_other_world(scenario: &Value, before: &str) -> bool {
    let Ok(scenario) = read(&toml_from_json(scenario)) else {
        return false;
    };
    match Simulation::new(scenario, Destination::Memory) {
        Ok(built) => {
            let mut comparison = Comparison {
                head: String::new(),
                rest: None,
                expected: before,
            };
            let is_same = write!(comparison, "{built:?}").is_ok();
            !is_same || comparison.rest != Some("")
        }
        Err(error) => error.to_string() != before,
    }
}

/// Returns the names in a scenario, of its tables and nodes.
fn names(scenario: &Value) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder()).expect("the files are beside this test");
    let files = files.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let mut names: BTreeSet<String> = files.filter(|name| !name.ends_with("toml")).collect();
    for tables in scenario
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, it)| it.as_object())
    {
        for (name, table) in tables.iter().filter(|(_, table)| table.is_object()) {
            names.insert(name.clone());
            let ends = ["from", "to", "node"].map(|key| table.get(key).and_then(Value::as_str));
            names.extend(ends.into_iter().flatten().map(str::to_owned));
        }
    }
    names
}

/// Adds the keys below a schema, except the parameters of catalog entries.
fn all_keys(schema: &Value, key: &str, found: &mut BTreeSet<String>) {
    if is_named(schema) {
        return;
    }
    for one in alternatives(schema) {
        let properties = one.get("properties").and_then(Value::as_object);
        for (name, inner) in properties.into_iter().flatten() {
            let below = format!("{key}{name}");
            all_keys(inner, &format!("{below}."), found);
            found.insert(below);
        }
        if let Some(inner) = one.get("additionalProperties").filter(|it| it.is_object()) {
            all_keys(inner, &format!("{key}*."), found);
        }
        for inner in one.get("items").into_iter().chain(
            one.get("prefixItems")
                .and_then(Value::as_array)
                .into_iter()
                .flatten(),
        ) {
            all_keys(inner, key, found);
        }
    }
}

#[test]
fn every_key_changes_the_world_or_what_is_recorded_of_it() {
    let schema = schema(catalog());
    let mut expected = BTreeSet::new();
    all_keys(&schema, "", &mut expected);
    let mut read_keys = BTreeSet::new();
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .expect("the scenarios are beside this test")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let is_elsewhere = |key: &str| ELSEWHERE.iter().any(|(known, _)| key.starts_with(known));
    let mut wholes = Vec::new();
    for path in files {
        let text = || std::fs::read_to_string(&path).expect("a scenario");
        let whole = match path.extension().and_then(|end| end.to_str()) {
            Some("toml") => read(&text()).map(|scenario| scenario.to_json()),
            // JSON files are used as they are, because the reader would replace deployments, drops
            // and counts by their results.
            Some("json") => serde_json::from_str(&text()).map_err(|error| error.to_string()),
            _ => continue,
        };
        let whole = whole.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let before = world(&whole).unwrap_or_else(|| {
            let error = read(&toml_from_json(&whole)).err();
            panic!("{}: {error:?}", path.display())
        });
        assert!(before.starts_with(" {"), "{}: {before}", path.display());
        wholes.push((whole, before));
    }
    // Small worlds come first, so that large ones are needed only for the remaining keys.
    wholes.sort_by_key(|(_, before)| before.len());
    for (whole, before) in wholes {
        let mut found = Vec::new();
        changes((&schema, &names(&whole)), ("", ""), &whole, &mut found);
        for Change {
            key,
            pointer,
            value,
        } in found
        {
            let key = tested(&key);
            let needs_no_trial = read_keys.contains(&key) || is_elsewhere(&key);
            if needs_no_trial || whole.pointer(&pointer) == Some(&value) {
                continue;
            }
            let changed = put(&whole, &pointer, value);
            if changed.is_some_and(|changed| is_other_world(&changed, &before)) {
                read_keys.insert(key);
            }
        }
    }
    // A table counts as used if one of its keys is.
    let tables: Vec<String> = read_keys
        .iter()
        .flat_map(|key| key.match_indices('.').map(|(end, _)| key[..end].to_owned()))
        .collect();
    read_keys.extend(tables);
    let ignored: BTreeSet<String> = expected
        .iter()
        .filter(|key| {
            !expected
                .iter()
                .any(|other| other.starts_with(&format!("{key}.")))
        })
        .map(|key| tested(key))
        .filter(|key| !read_keys.contains(key) && !is_elsewhere(key))
        .collect();
    assert!(ignored.is_empty(), "nothing changes with {ignored:#?}");
}
