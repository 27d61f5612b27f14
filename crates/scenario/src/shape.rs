//! Shapes of a key's value. The reader checks a file against them, and the JSON Schema is generated
//! from them. The tables in `crate::model` and `crate::keys` define the whole format with shapes,
//! each key once.

use crate::error::alternatives;
use crate::quantity::Dimension;
use fadeout_core::registry::{is_same, join_from};

/// A key of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) presence: Presence,
    /// Text for the schema and the documentation.
    pub(crate) doc: &'static str,
}

impl Key {
    /// Placeholder for list elements that are not filled yet.
    pub(crate) const NONE: Key = Key {
        name: "",
        shape: Shape::False,
        presence: Presence::Optional,
        doc: "",
    };
}

/// Meaning of an absent key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The key is required.
    Required,
    /// The key has no value. Its documentation describes the effect.
    Optional,
    /// An absent key has a default value, which is given in TOML.
    Default(&'static str),
    /// An absent key has the default of a layer's parameter with the same name. The value names the
    /// group of parameters.
    OfPart(&'static str),
    /// An absent key names the first entry of its kind in the catalog.
    FirstOfKind,
}

/// Allowed values, in base units of the dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// True if `min` itself is not allowed.
    pub(crate) is_open: bool,
}

impl Range {
    /// Returns the range above zero, up to `max`.
    pub(crate) const fn positive(max: f64) -> Range {
        Range {
            min: 0.0,
            max,
            is_open: true,
        }
    }
    /// Returns the range from `min` to `max`, both included.
    pub(crate) const fn closed(min: f64, max: f64) -> Range {
        Range {
            min,
            max,
            is_open: false,
        }
    }
    /// Returns true if the value is in the range. NaN is in no range.
    pub(crate) fn contains(self, value: f64) -> bool {
        value <= self.max
            && if self.is_open {
                value > self.min
            } else {
                value >= self.min
            }
    }
}

/// Values that a key accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Any string.
    Text,
    /// The path of a file, relative to the scenario's file. The text describes its expected
    /// contents.
    File(&'static str),
    /// The name of an element that the same file declares, such as a node.
    Reference,
    /// True or false.
    Bool,
    /// False.
    False,
    /// One particular string.
    Word(&'static str),
    /// A whole number.
    Integer { min: u64, max: u64 },
    /// A plain number.
    Number(Range),
    /// A number with a unit.
    Quantity(Dimension, Range),
    /// One of several words. Each has a description.
    Choice(&'static [(&'static str, &'static str)]),
    /// A list of at least one item.
    List(&'static Shape),
    /// A list of exactly two items.
    Pair(&'static Shape, &'static Shape),
    /// A table with a list of keys.
    Table(&'static [Key]),
    /// A table of one of several sorts. Each is recognised by a key that only this sort has.
    Variants(&'static [Variant]),
    /// A table of named tables, all with the same keys.
    Map(&'static [Key]),
    /// A name from the catalog, alone or in a table with its parameters.
    Named {
        kind: &'static str,
        /// Key that holds the name.
        tag: &'static str,
    },
    /// A name from the catalog without parameters.
    NameOf(&'static str),
    /// Parameters of the catalog entry that the sibling key `by`, of shape `NameOf`, names.
    ParametersOf {
        kind: &'static str,
        by: &'static str,
    },
    /// A value of one of several shapes.
    AnyOf(&'static [Shape]),
}

/// A sort of table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    /// Key that distinguishes the sort.
    pub(crate) key: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

/// Returns the number of keys in all lists.
pub(crate) const fn length(lists: &[&[Key]]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < lists.len() {
        count += lists[index].len();
        index += 1;
    }
    count
}

/// Joins the lists. `N` is their [`length`].
pub(crate) const fn join<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    join_from(Key::NONE, lists)
}

/// Replaces keys by those in `changed` with the same names. In a constant, an unknown name is a
/// compile error.
pub(crate) const fn with_changed<const N: usize>(keys: &[Key], changed: &[Key]) -> [Key; N] {
    let mut all = join::<N>(&[keys]);
    let mut index = 0;
    while index < changed.len() {
        let mut at = 0;
        while !is_same(all[at].name, changed[index].name) {
            at += 1;
        }
        all[at] = changed[index];
        index += 1;
    }
    all
}

/// Returns the variants that are recognised by `keys`.
pub(crate) const fn chosen<const N: usize>(variants: &[Variant], keys: [&str; N]) -> [Variant; N] {
    let mut chosen = [variants[0]; N];
    let mut index = 0;
    while index < N {
        let mut at = 0;
        while !is_same(variants[at].key, keys[index]) {
            at += 1;
        }
        chosen[index] = variants[at];
        index += 1;
    }
    chosen
}

/// Returns the keys of the sort of table that `key` distinguishes.
pub(crate) fn keys_of(variants: &[Variant], key: &str) -> &'static [Key] {
    let variant = variants.iter().find(|variant| variant.key == key);
    variant.map_or(&[], |variant| variant.keys)
}

impl Shape {
    /// Returns the text of a message about the expected value.
    pub(crate) fn expectation(&self) -> String {
        match self {
            Shape::Text | Shape::File(_) => "a string".to_owned(),
            Shape::Reference => "a name".to_owned(),
            Shape::Bool => "true or false".to_owned(),
            Shape::False => "false".to_owned(),
            Shape::Word(word) => format!("\"{word}\""),
            Shape::Integer { .. } => "a whole number".to_owned(),
            Shape::Number(_) => "a number".to_owned(),
            Shape::Quantity(dimension, _) => dimension.to_string(),
            Shape::Choice(words) => {
                let words: Vec<String> =
                    words.iter().map(|word| format!("\"{}\"", word.0)).collect();
                join_or(&words)
            }
            Shape::List(item) => format!("a list, each item {}", item.expectation()),
            Shape::Pair(first, second) => {
                format!("a pair [{}, {}]", first.expectation(), second.expectation())
            }
            Shape::Table(keys) => {
                format!(
                    "a table with {}",
                    alternatives(keys.iter().map(|key| key.name))
                )
            }
            Shape::Variants(variants) => {
                format!(
                    "a table with {}",
                    alternatives(variants.iter().map(|v| v.key))
                )
            }
            Shape::Map(_) => "named tables".to_owned(),
            Shape::Named { kind, tag } => named_expectation(kind, tag),
            Shape::NameOf(kind) => format!("the name of {}", with_article(kind)),
            Shape::ParametersOf { by, .. } => format!("a table with parameters of the {by}"),
            Shape::AnyOf(shapes) => {
                let each: Vec<String> = shapes.iter().map(Shape::expectation).collect();
                join_or(&each)
            }
        }
    }
}

/// Returns the text about the expected value if a catalog entry can be named.
pub(crate) fn named_expectation(kind: &str, tag: &str) -> String {
    format!(
        "the name of {}, or a table with `{tag}`",
        with_article(kind)
    )
}

/// Returns the name of a catalog kind for running text.
pub(crate) fn spaced(kind: &str) -> String {
    kind.replace('-', " ")
}

/// Returns the name of a catalog kind with its article.
pub(crate) fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {}", spaced(kind))
}

fn join_or(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => items.concat(),
    }
}
