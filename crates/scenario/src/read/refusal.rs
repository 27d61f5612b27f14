//! Messages about values that a key does not accept.

use super::Reader;
use crate::error::Mistake;
use crate::quantity::{Dimension, QuantityError};
use crate::shape::{Range, Shape};
use crate::suggest::nearest;
use crate::tree::{TreeNode, Value, shortened};

impl Reader<'_> {
    /// Reports a value that has the right kind and is out of range.
    pub(super) fn refuse<T>(&mut self, node: &TreeNode, allowed: &str) -> Option<T> {
        self.expected(node, allowed.to_owned(), None)
    }

    pub(super) fn expected<T>(
        &mut self,
        node: &TreeNode,
        expected: String,
        near: Option<String>,
    ) -> Option<T> {
        let message = format!("expected {expected}, found {}", node.value.describe());
        self.mistakes.push(
            Mistake::new(node.place, message)
                .expected(expected)
                .suggest_value(near),
        );
        None
    }

    /// Reports a value of another kind than the shape requires.
    pub(super) fn mismatch<T>(&mut self, node: &TreeNode, shape: &Shape) -> Option<T> {
        let (mut words, mut dimensions) = (Vec::new(), Vec::new());
        vocabulary(shape, &mut words, &mut dimensions);
        let expected = shape.expectation();
        let message = format!("expected {expected}, found {}", node.value.describe());
        let text = match &node.value {
            Value::Text(text) => text.as_str(),
            Value::Integer(_) | Value::Float(_) if !dimensions.is_empty() => {
                return self.unitless(node, message, &dimensions);
            }
            _ => "",
        };
        let mut suggestion = nearest(text, words).map(|word| format!("\"{word}\""));
        let mut kind = String::new();
        let mut units = Vec::new();
        for dimension in &dimensions {
            match dimension.parse(text) {
                Err(QuantityError::NoUnit) => return self.unitless(node, message, &dimensions),
                Err(QuantityError::UnknownUnit(given, near)) => {
                    units.extend(dimension.units());
                    kind = format!(": unknown unit `{}`", shortened(&given));
                    let corrected = near.and_then(|near| text.strip_suffix(&given).zip(Some(near)));
                    suggestion = suggestion
                        .or(corrected
                            .map(|(number, near)| format!("\"{}{near}\"", shortened(number))));
                }
                Err(QuantityError::WrongDimension(other)) => {
                    units.extend(dimension.units());
                    kind = format!(", which is {}", other.noun());
                }
                Err(QuantityError::NotWhole) => kind = ", which is not whole".to_owned(),
                Err(QuantityError::NotFinite) => kind = ", which is too large".to_owned(),
                Err(QuantityError::NoNumber) | Ok(_) => {}
            }
        }
        let expected = if units.is_empty() {
            expected
        } else {
            format!("one of the units {}", units.join(", "))
        };
        self.mistakes.push(
            Mistake::new(node.place, message + &kind)
                .expected(expected)
                .suggest_value(suggestion),
        );
        None
    }

    fn unitless<T>(
        &mut self,
        node: &TreeNode,
        message: String,
        dimensions: &[Dimension],
    ) -> Option<T> {
        let units: Vec<&str> = dimensions
            .iter()
            .flat_map(|dimension| dimension.units())
            .collect();
        self.mistakes.push(
            Mistake::new(node.place, message + " without a unit").expected(format!(
                "a string of a number and a unit: {}",
                units.join(", ")
            )),
        );
        None
    }
}

/// Adds the words and the dimensions that `shape` accepts in a string.
fn vocabulary(shape: &Shape, words: &mut Vec<&'static str>, dimensions: &mut Vec<Dimension>) {
    match shape {
        Shape::Word(word) => words.push(word),
        Shape::Choice(choices) => words.extend(choices.iter().map(|choice| choice.0)),
        Shape::Quantity(dimension, _) => dimensions.push(*dimension),
        Shape::AnyOf(shapes) => {
            shapes
                .iter()
                .for_each(|shape| vocabulary(shape, words, dimensions));
        }
        _ => {}
    }
}
/// Returns a text that describes a range of values.
pub(super) fn allowed(noun: &str, range: Range, print: impl Fn(f64) -> String) -> String {
    let print = |bound| {
        if bound == 0.0 {
            "0".to_owned()
        } else {
            print(bound)
        }
    };
    let from = if range.is_open {
        "greater than"
    } else {
        "from"
    };
    let to = if range.is_open { "and at most" } else { "to" };
    format!(
        "{noun} {from} {} {to} {}",
        print(range.min),
        print(range.max)
    )
}
