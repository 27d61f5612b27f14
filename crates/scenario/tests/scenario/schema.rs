//! Tests that the JSON Schema agrees with the reader.

use super::examples::{EVERYTHING, OF_KEYS, texts};
use super::*;
use serde_json::{Value, json};

/// Checks that `value` satisfies `schema`, for the keywords that the schema uses. Patterns are not
/// checked.
fn conforms(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "$ref" => {
                let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/"));
                let target = &root["$defs"][name.expect("a local reference")];
                assert!(target.is_object(), "{rule} leads nowhere");
                conforms(value, target, root)?;
                true
            }
            "type" => match rule.as_str().expect("a type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64(),
                "number" => value.is_number(),
                other => panic!("type {other}"),
            },
            "const" => value == rule,
            "enum" => rule.as_array().expect("a list").contains(value),
            "anyOf" | "oneOf" => rule
                .as_array()
                .expect("a list")
                .iter()
                .any(|alternative| conforms(value, alternative, root).is_ok()),
            "required" => rule
                .as_array()
                .expect("a list")
                .iter()
                .all(|key| value.get(key.as_str().expect("a key")).is_some()),
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(key) {
                        conforms(inner, schema, root).map_err(|e| format!("{key}: {e}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                others_conform(value, schema, root)?;
                true
            }
            "items" => {
                for inner in value.as_array().into_iter().flatten() {
                    conforms(inner, rule, root)?;
                }
                true
            }
            "prefixItems" => {
                let schemas = rule.as_array().expect("a list");
                for (inner, schema) in value.as_array().into_iter().flatten().zip(schemas) {
                    conforms(inner, schema, root)?;
                }
                true
            }
            "if" => {
                let else_rule = &schema["else"];
                conforms(value, rule, root).or_else(|_| conforms(value, else_rule, root))?;
                true
            }
            "else" => true,
            "minItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 >= rule.as_u64().expect("a number")),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= rule.as_u64().expect("a number")),
            "minimum" => value.as_f64() >= rule.as_f64(),
            "maximum" => value.as_f64() <= rule.as_f64(),
            "exclusiveMinimum" => value.as_f64() > rule.as_f64(),
            "$schema" | "$defs" | "$comment" | "title" | "description" | "default" | "examples"
            | "pattern" | "propertyNames" | "minLength" => true,
            other => panic!("unknown keyword {other}"),
        };
        if !holds {
            return Err(format!("{value} breaks {keyword} {rule}"));
        }
    }
    Ok(())
}

/// Checks the keys of an object that are not among the `properties` of its schema.
fn others_conform(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let rule = &schema["additionalProperties"];
    for (key, inner) in value.as_object().into_iter().flatten() {
        let properties = schema.get("properties");
        if properties.is_some_and(|known| known.get(key).is_some()) {
            continue;
        }
        match rule {
            Value::Bool(false) => return Err(format!("{key} is unknown")),
            Value::Object(_) => {
                conforms(inner, rule, root).map_err(|e| format!("{key}: {e}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Converts a TOML value to JSON.
fn json_from_toml(value: &toml::de::DeValue<'_>) -> Value {
    use toml::de::DeValue;
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().expect("an integer")),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().expect("a number")),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(_) => panic!("no scenario has a date"),
        DeValue::Array(items) => items
            .iter()
            .map(|item| json_from_toml(item.get_ref()))
            .collect(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), json_from_toml(value.get_ref())))
            .collect(),
    }
}

fn schema() -> Value {
    fadeout_scenario::schema(&catalog::CATALOG)
}

#[test]
fn what_the_reader_accepts_conforms_to_the_schema() {
    let schema = schema();
    for text in texts() {
        let document = toml::de::DeTable::parse(&text).expect("TOML").into_inner();
        let written = json_from_toml(&toml::de::DeValue::Table(document));
        conforms(&written, &schema, &schema).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let resolved = accepted(&text).to_json();
        conforms(&resolved, &schema, &schema).unwrap_or_else(|error| panic!("{error}\n{resolved}"));
    }
}

#[test]
fn a_preset_gives_the_required_keys_of_a_cell_and_of_its_channel() {
    let schema = schema();
    let whole = |cell: Value| json!({ "duration": "1 s", "cell": { "macro": cell } });
    let partial = json!({ "preset": "n78-100mhz", "channel": { "rain": 3 } });
    let alone = json!({
        "radio": "nr", "carrier": "3.5 GHz", "bandwidth": "20 MHz", "channel": { "rain": 3 },
    });
    let complete = json!({
        "radio": "nr", "carrier": "3.5 GHz", "bandwidth": "20 MHz",
        "channel": { "path-loss": "uma", "rain": 3 },
    });
    for (cell, is_right) in [(partial, true), (alone, false), (complete, true)] {
        let scenario = whole(cell);
        assert_eq!(conforms(&scenario, &schema, &schema).is_ok(), is_right);
        let text = fadeout_scenario::toml_from_json(&scenario);
        assert_eq!(read(&text, &[]).is_ok(), is_right, "{text}");
    }
}

#[test]
fn an_unknown_key_breaks_the_schema_as_it_does_the_reader() {
    let schema = schema();
    let mut scenario = accepted(EVERYTHING).to_json();
    scenario["link"]["steps"]["dealy"] = json!("1 ms");
    assert!(conforms(&scenario, &schema, &schema).is_err());
    assert!(read(&fadeout_scenario::toml_from_json(&scenario), &[]).is_err());
}

#[test]
fn every_property_is_used_by_the_scenario_with_everything() {
    // A new key of the format must be added to the scenario that contains every key.
    fn collect(schema: &Value, keys: &mut Vec<String>) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            keys.push(key.clone());
            collect(inner, keys);
        }
        for keyword in ["anyOf", "prefixItems"] {
            schema[keyword]
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|s| collect(s, keys));
        }
        for keyword in ["additionalProperties", "items"] {
            if schema[keyword].is_object() {
                collect(&schema[keyword], keys);
            }
        }
    }
    let mut keys = Vec::new();
    collect(&schema(), &mut keys);
    assert!(keys.len() > 80, "{}", keys.len());
    let is_in = |text: &str, key: &str| {
        text.contains(&format!("{key} = ")) || text.contains(&format!("[{key}"))
    };
    keys.retain(|key| {
        // The Rust library refuses inputs that name a measurement, so no text has their keys.
        !OF_KEYS.iter().any(|text| is_in(text, key))
            && !["node", "reverse", "quantity", "serving-cells"].contains(&key.as_str())
    });
    assert!(keys.is_empty(), "not used: {keys:?}");
}
