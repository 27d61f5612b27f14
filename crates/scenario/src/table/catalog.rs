//! Output of catalog entries in the format of a scenario.

use crate::model::Named;
use crate::quantity::Dimension;
use fadeout_core::Span;
use fadeout_core::registry::{NAME, Parameters, Value as Given};
use serde_json::{Map, Value, json};

/// Returns a catalog entry as its name, with the parameters that the scenario gives.
pub(crate) fn named(named: &Named, tag: &str) -> Value {
    table(&named.name, tag, &named.parameters)
}

fn table(name: &str, tag: &str, given: &Parameters) -> Value {
    let mut table = Map::from_iter([(tag.to_owned(), json!(name))]);
    table.extend(parameters(given));
    Value::Object(table)
}

/// Returns the parameters that a scenario gives to a catalog entry.
pub(crate) fn parameters(given: &Parameters) -> Map<String, Value> {
    let value = |value: &Given| match value {
        // Whole numbers below this limit are exact. They are written without a decimal point,
        // because some parameters accept only whole numbers.
        Given::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            json!(*number as i64)
        }
        Given::Number(number) => json!(number),
        Given::Bool(flag) => json!(flag),
        Given::Span(given) => span(*given),
        Given::Choice(choice) => json!(choice),
        Given::Named(name, given) => table(name, NAME, given),
    };
    given
        .0
        .iter()
        .map(|(name, given)| (name.clone(), value(given)))
        .collect()
}

/// Returns a time in the notation of a scenario.
pub(crate) fn span(span: Span) -> Value {
    json!(Dimension::Time.format(span.as_nanos() as f64))
}
