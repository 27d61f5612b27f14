//! Shapes of a key's value. The reader checks a file against them, the JSON Schema is printed from them, and
//! the tables of `crate::model` with `crate::keys` write the whole format down in them, once.

use crate::error::alternatives;
use crate::quantity::Dimension;
use fadeout_core::registry::{is_same, join_from};

/// One key of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) presence: Presence,
    /// Sentences for the schema and the documentation.
    pub(crate) doc: &'static str,
}

impl Key {
    /// Stands in the places of a list that are not yet filled.
    pub(crate) const NONE: Key = Key {
        name: "",
        shape: Shape::False,
        presence: Presence::Optional,
        doc: "",
    };
}

/// The meaning of an absent key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// An error.
    Required,
    /// Nothing; the documentation says what that means.
    Optional,
    /// It has this value, in TOML.
    Default(&'static str),
    /// It has the default of the parameter of the same name of this part of a layer.
    OfPart(&'static str),
    /// It names the first entry of its kind in the catalog.
    FirstOfKind,
}

/// Allowed values, in base units of the dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Whether `min` itself is not allowed.
    pub(crate) is_open: bool,
}

impl Range {
    /// Greater than zero.
    pub(crate) const fn positive(max: f64) -> Range {
        Range {
            min: 0.0,
            max,
            is_open: true,
        }
    }
    /// From `min` to `max`, both allowed.
    pub(crate) const fn closed(min: f64, max: f64) -> Range {
        Range {
            min,
            max,
            is_open: false,
        }
    }
    /// NaN is in no range.
    pub(crate) fn contains(self, value: f64) -> bool {
        value <= self.max
            && if self.is_open {
                value > self.min
            } else {
                value >= self.min
            }
    }
}

/// The values a key accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Any string.
    Text,
    /// The path of a file, relative to the scenario's; the text says what is expected there.
    File(&'static str),
    /// The name of something that the same file declares, such as a node.
    Reference,
    /// True or false.
    Bool,
    /// False.
    False,
    /// This string.
    Word(&'static str),
    /// A whole number.
    Integer { min: u64, max: u64 },
    /// A plain number.
    Number(Range),
    /// A number with a unit.
    Quantity(Dimension, Range),
    /// One of several words, each with what it means.
    Choice(&'static [(&'static str, &'static str)]),
    /// A list; at least one item.
    List(&'static Shape),
    /// A list of exactly two.
    Pair(&'static Shape, &'static Shape),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table of one of these sorts, told apart by a key that only this sort has.
    Variants(&'static [Variant]),
    /// A table of named tables, each with these keys.
    Map(&'static [Key]),
    /// A name from the catalog, alone or in a table with its parameters.
    Named {
        kind: &'static str,
        /// The key that holds the name.
        tag: &'static str,
    },
    /// A name from the catalog without parameters.
    NameOf(&'static str),
    /// Parameters of the catalog entry that the sibling key `by`, of shape `NameOf`, names.
    ParametersOf {
        kind: &'static str,
        by: &'static str,
    },
    /// Any of these.
    AnyOf(&'static [Shape]),
}

/// One sort of table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    /// The key that tells it apart.
    pub(crate) key: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

/// The number of keys in all lists.
pub(crate) const fn length(lists: &[&[Key]]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < lists.len() {
        count += lists[index].len();
        index += 1;
    }
    count
}

/// The lists one after the other; `N` is their [`length`].
pub(crate) const fn join<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    join_from(Key::NONE, lists)
}

/// The keys with `changed` in the place of those of the same names; in a constant, a name that
/// there is not is an error of compilation.
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

/// The variants that `keys` tell apart.
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

/// The keys of the sort of table that `key` tells apart.
pub(crate) fn keys_of(variants: &[Variant], key: &str) -> &'static [Key] {
    let variant = variants.iter().find(|variant| variant.key == key);
    variant.map_or(&[], |variant| variant.keys)
}

impl Shape {
    /// The words of a message for what was expected.
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

/// The expectation in a message where an entry of a kind can be named.
pub(crate) fn named_expectation(kind: &str, tag: &str) -> String {
    format!(
        "the name of {}, or a table with `{tag}`",
        with_article(kind)
    )
}

/// A catalog kind's name in running text.
pub(crate) fn spaced(kind: &str) -> String {
    kind.replace('-', " ")
}

/// A catalog kind's name with its article.
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
