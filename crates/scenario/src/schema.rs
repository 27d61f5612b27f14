//! JSON Schema of the scenario format (draft 2020-12), for editors and for `schemas/`.

use crate::keys::SCENARIO;
use crate::quantity::Dimension;
use crate::shape::{Key, Presence, Range, Shape, Variant};
use crate::tree::{Value as Toml, parse_value};
use fadeout_core::registry::{Catalog, Entry, NAME, Parameter, ParameterKind};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema of scenarios that use the entries of `catalog`.
pub fn schema(catalog: &Catalog) -> Value {
    let mut root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fadeout scenario",
    });
    if let (Value::Object(root), Value::Object(file)) = (&mut root, table(SCENARIO, catalog)) {
        root.extend(file);
    }
    let quantities: Map<String, Value> = Dimension::all()
        .map(|dimension| (definition(dimension), quantity(dimension)))
        .collect();
    root["$defs"] = Value::Object(quantities);
    root
}

/// Returns the name of the schema's definition for a dimension.
fn definition(dimension: Dimension) -> String {
    format!("{dimension:?}").to_lowercase()
}

fn quantity(dimension: Dimension) -> Value {
    let units: Vec<&str> = dimension.units().collect();
    json!({
        "type": "string",
        "description": format!("{} with its unit.", capitalised(dimension.noun())),
        "pattern": format!(
            r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*({})\s*$",
            units.join("|")
        ),
        "examples": [dimension.example()],
    })
}

fn table(keys: &[Key], catalog: &Catalog) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| (key.name.to_owned(), property(key, catalog)))
        .collect();
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.presence == Presence::Required)
        .map(|key| key.name)
        .collect();
    let mut object = object(properties, &required);
    if keys.iter().any(|key| key.name == "preset") {
        let otherwise = take_required(&mut object);
        if !otherwise.is_empty() {
            object["if"] = json!({ "required": ["preset"] });
            object["else"] = Value::Object(otherwise);
        }
    }
    object
}

/// Removes the required keys from a table and from its tables, because a preset may give them.
/// Returns the schema that requires them.
fn take_required(object: &mut Value) -> Map<String, Value> {
    let mut requires = Map::new();
    let Some(fields) = object.as_object_mut() else {
        return requires;
    };
    if let Some(required) = fields.remove("required") {
        requires.insert("required".to_owned(), required);
    }
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    let mut inner = Map::new();
    for (name, property) in properties.into_iter().flatten() {
        let required = property
            .as_object_mut()
            .and_then(|it| it.remove("required"));
        if let Some(required) = required {
            inner.insert(name.clone(), json!({ "required": required }));
        }
    }
    if !inner.is_empty() {
        requires.insert("properties".to_owned(), Value::Object(inner));
    }
    requires
}

/// Returns the schema of an object that allows only the given properties.
fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut object = json!({ "type": "object" });
    object["properties"] = Value::Object(properties);
    object["additionalProperties"] = json!(false);
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn property(key: &Key, catalog: &Catalog) -> Value {
    let mut property = shape(&key.shape, catalog);
    property["description"] = json!(key.doc);
    match (key.presence, &key.shape) {
        (Presence::Default(text), _) => property["default"] = value(text),
        (Presence::OfPart(part), _) => {
            if let Some(text) = catalog.default_of(part, key.name) {
                property["default"] = value(&text);
            }
        }
        (Presence::FirstOfKind, Shape::Named { kind, .. } | Shape::NameOf(kind)) => {
            if let Some(first) = catalog.entries(kind).first() {
                property["default"] = json!(first.name);
            }
        }
        _ => {}
    }
    property
}

fn shape(shape: &Shape, catalog: &Catalog) -> Value {
    match shape {
        Shape::Text | Shape::File(_) => json!({ "type": "string" }),
        Shape::Reference => json!({ "type": "string", "minLength": 1 }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::False => json!({ "const": false }),
        Shape::Word(word) => json!({ "const": word }),
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Number(range) => number(*range),
        Shape::Quantity(dimension, range) => {
            let from = if range.is_open {
                "greater than"
            } else {
                "at least"
            };
            let (min, max) = (dimension.format(range.min), dimension.format(range.max));
            json!({
                "$ref": format!("#/$defs/{}", definition(*dimension)),
                "$comment": format!("{from} {min}, at most {max}"),
            })
        }
        Shape::Choice(words) => {
            let each = words
                .iter()
                .map(|word| json!({ "const": word.0, "description": word.1 }));
            json!({ "oneOf": each.collect::<Vec<_>>() })
        }
        Shape::List(item) => {
            json!({ "type": "array", "items": self::shape(item, catalog), "minItems": 1 })
        }
        Shape::Pair(first, second) => json!({
            "type": "array",
            "prefixItems": [self::shape(first, catalog), self::shape(second, catalog)],
            "minItems": 2,
            "maxItems": 2,
        }),
        Shape::Table(keys) => table(keys, catalog),
        Shape::Variants(variants) => any_of(variants.iter().map(|sort| variant(sort, catalog))),
        Shape::Map(keys) => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9_-]{1,64}$" },
            "additionalProperties": table(keys, catalog),
        }),
        Shape::Named { kind, tag } => named_kind(kind, tag, catalog),
        Shape::NameOf(kind) => names(catalog.entries(kind)),
        Shape::ParametersOf { kind, .. } => {
            // The entry is selected by another key, so the parameters of every entry are allowed.
            let entries = catalog.entries(kind);
            let mut properties = Map::new();
            for known in entries.iter().flat_map(|entry| entry.parameters) {
                properties.entry(known.name).or_insert_with(|| {
                    let mut schema = parameter(known, catalog);
                    if let Some(defaults) = defaults_by_entry(entries, known.name) {
                        schema["default"] = json!(defaults);
                    }
                    schema
                });
            }
            object(properties, &[])
        }
        Shape::AnyOf(shapes) => any_of(shapes.iter().map(|each| self::shape(each, catalog))),
    }
}

fn any_of(alternatives: impl Iterator<Item = Value>) -> Value {
    json!({ "anyOf": alternatives.collect::<Vec<_>>() })
}

fn variant(variant: &Variant, catalog: &Catalog) -> Value {
    let mut table = table(variant.keys, catalog);
    table["description"] = json!(variant.doc);
    table
}

fn number(range: Range) -> Value {
    let min = if range.is_open {
        "exclusiveMinimum"
    } else {
        "minimum"
    };
    json!({ "type": "number", min: range.min, "maximum": range.max })
}

/// Returns the schema for the names and aliases of entries.
fn names(entries: &[Entry]) -> Value {
    let names: Vec<&str> = entries
        .iter()
        .flat_map(|entry| std::iter::once(&entry.name).chain(entry.aliases))
        .copied()
        .collect();
    json!({ "enum": names, "description": "Name alone. All parameters then have their defaults." })
}

/// Returns the schema for the name of an entry, or for a table with its parameters.
fn named_kind(kind: &str, tag: &str, catalog: &Catalog) -> Value {
    let entries = catalog.entries(kind);
    let required: &[&str] = if entries.len() > 1 { &[tag] } else { &[] };
    let tables = entries
        .iter()
        .map(|entry| named(entry, tag, required, catalog));
    any_of(std::iter::once(names(entries)).chain(tables))
}

/// Returns the schema for a table with an entry's name and parameters.
fn named(entry: &Entry, tag: &str, required: &[&str], catalog: &Catalog) -> Value {
    let mut properties: Map<String, Value> = entry
        .parameters
        .iter()
        .map(|known| (known.name.to_owned(), parameter(known, catalog)))
        .collect();
    let names: Vec<&str> = std::iter::once(&entry.name)
        .chain(entry.aliases)
        .copied()
        .collect();
    properties.insert(tag.to_owned(), json!({ "enum": names }));
    let mut object = object(properties, required);
    object["description"] = json!(entry.summary);
    object
}

fn parameter(parameter: &Parameter, catalog: &Catalog) -> Value {
    let with_unit = |plain: Value, unit: &str| match Dimension::of_documented_unit(unit) {
        Some((dimension, _)) => {
            let reference = format!("#/$defs/{}", definition(dimension));
            json!({ "anyOf": [plain, { "$ref": reference }] })
        }
        None => plain,
    };
    let mut schema = match parameter.kind {
        ParameterKind::Number { min, max, unit } => {
            with_unit(number(Range::closed(min, max)), unit)
        }
        ParameterKind::Integer { min, max, unit } => with_unit(
            json!({ "type": "integer", "minimum": min, "maximum": max }),
            unit,
        ),
        ParameterKind::Bool => json!({ "type": "boolean" }),
        ParameterKind::Span => json!({ "$ref": "#/$defs/time" }),
        ParameterKind::Choice(names) => json!({ "enum": names }),
        ParameterKind::Named(kind) => named_kind(kind, NAME, catalog),
    };
    schema["description"] = json!(parameter.doc);
    if !parameter.default.is_empty() {
        schema["default"] = value(parameter.default);
    }
    schema
}

/// Returns the defaults of the parameter `name`, each with its entries, such as "200 ms (linux), 1
/// s (rfc, reno)". `None` if all entries have the same default.
fn defaults_by_entry(entries: &[Entry], name: &str) -> Option<String> {
    let mut defaults: Vec<(&str, Vec<&str>)> = Vec::new();
    for entry in entries {
        let mut parameters = entry.parameters.iter();
        let Some(parameter) = parameters.find(|parameter| parameter.name == name) else {
            continue;
        };
        let known = defaults.iter_mut().find(|it| it.0 == parameter.default);
        match known {
            Some((_, names)) => names.push(entry.name),
            None => defaults.push((parameter.default, vec![entry.name])),
        }
    }
    let texts = defaults
        .iter()
        .map(|(default, names)| format!("{default} ({})", names.join(", ")));
    (defaults.len() > 1).then(|| texts.collect::<Vec<_>>().join(", "))
}

/// Converts a default from TOML to JSON.
fn value(text: &str) -> Value {
    match parse_value(text, 0, 0).value {
        Toml::Text(text) => json!(text),
        Toml::Integer(number) => json!(number as i64),
        Toml::Float(number) => json!(number),
        Toml::Bool(flag) => json!(flag),
        Toml::Table(_) => json!({}),
        Toml::Date | Toml::List(_) => json!(text),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::span;

    #[test]
    fn defaults_that_differ_are_given_with_their_entries() {
        let entry_with =
            |name, parameters| Entry::new(name, "", "", "").with_parameters(parameters);
        let entries = [
            entry_with(
                "linux",
                &const { [span("rto", "200 ms", ""), span("tick", "1 ms", "")] },
            ),
            entry_with(
                "rfc",
                &const { [span("rto", "1 s", ""), span("tick", "1 ms", "")] },
            ),
            entry_with("reno", &const { [span("rto", "1 s", "")] }),
        ];
        let rto = defaults_by_entry(&entries, "rto");
        assert_eq!(rto.as_deref(), Some("200 ms (linux), 1 s (rfc, reno)"));
        assert_eq!(defaults_by_entry(&entries, "tick"), None);
        assert_eq!(defaults_by_entry(&entries, "none"), None);
    }
}
