//! Shapes of the values of keys. The reader checks a file against the shapes, and the JSON Schema
//! is generated from them. The tables in `crate::model` and `crate::keys` define each key of the
//! format once, with its shape.

use crate::error::alternatives;
use crate::quantity::Dimension;
use fadeout_core::registry::{is_same, join_from};

/// Key of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) presence: Presence,
    /// Text about the key for the schema and the documentation.
    pub(crate) doc: &'static str,
}

impl Key {
    /// Placeholder for elements of a list that are not yet filled.
    pub(crate) const NONE: Key = Key {
        name: "",
        shape: Shape::False,
        presence: Presence::Optional,
        doc: "",
    };
}

/// Meaning of an absent key in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The key is required.
    Required,
    /// An absent key has no value. The key's documentation describes the effect.
    Optional,
    /// An absent key has this default value, written in TOML.
    Default(&'static str),
    /// An absent key has the default value of a parameter with the same name in another crate. The
    /// string names the group of parameters.
    OfPart(&'static str),
    /// An absent key means the first entry of its kind in the catalog.
    FirstOfKind,
}

/// Range of allowed values, in base units of the dimension.
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

/// Shape of the values that a key accepts.
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
    /// The value false.
    False,
    /// One particular string.
    Word(&'static str),
    /// A whole number.
    Integer { min: u64, max: u64 },
    /// A plain number.
    Number(Range),
    /// A number with a unit of this dimension.
    Quantity(Dimension, Range),
    /// One of several words. Each pair contains the word and its description.
    Choice(&'static [(&'static str, &'static str)]),
    /// A list of at least one item.
    List(&'static Shape),
    /// A list of exactly two items.
    Pair(&'static Shape, &'static Shape),
    /// A table with a list of keys.
    Table(&'static [Key]),
    /// A table of one of several sorts. A key that only one sort has distinguishes the sort.
    Variants(&'static [Variant]),
    /// A table of named tables, which all have the same keys.
    Map(&'static [Key]),
    /// A name from the catalog, alone or in a table with its parameters.
    Named {
        kind: &'static str,
        /// Key that contains the name.
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

/// Sort of table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    /// Key that distinguishes the sort.
    pub(crate) key: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

/// Returns the total number of keys in all lists.
pub(crate) const fn length(lists: &[&[Key]]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < lists.len() {
        count += lists[index].len();
        index += 1;
    }
    count
}

/// Returns the lists joined to one list. `N` is their [`length`].
pub(crate) const fn join<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    join_from(Key::NONE, lists)
}

/// Replaces keys by the keys in `changed` with the same names. In a constant, an unknown name is a
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

/// Returns the sorts of table that `keys` distinguish.
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
    /// Returns a text about the expected value, for messages.
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

/// Returns a text about the expected value for a key that names a catalog entry.
pub(crate) fn named_expectation(kind: &str, tag: &str) -> String {
    format!(
        "the name of {}, or a table with `{tag}`",
        with_article(kind)
    )
}

/// Returns the name of a catalog kind as it appears in a sentence.
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

/// Returns a key.
pub(crate) const fn key(
    name: &'static str,
    shape: Shape,
    presence: Presence,
    doc: &'static str,
) -> Key {
    Key {
        name,
        shape,
        presence,
        doc,
    }
}
