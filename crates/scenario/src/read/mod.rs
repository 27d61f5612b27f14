//! Reader that checks a tree of TOML values against the shapes of its keys. The result has the
//! right types, with defaults filled in and catalog names looked up. Wrong values are reported as
//! mistakes.

mod catalog;
mod refusal;
mod values;

use crate::error::{Mistake, Mistakes, alternatives};
use crate::keys::{MAX_ELEMENTS, RENAMED};
use crate::model::Named;
use crate::quantity::Dimension;
use crate::shape::{Key, Presence, Shape, Variant, spaced};
use crate::suggest::{nearest, nearest_key};
use crate::tree::{Entry, Place, Table, TreeNode, Value, parse_value, shortened};
use fadeout_core::registry::{Catalog, Parameters};
use refusal::allowed;

/// Value of the right shape, with its place in the text.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) content: Content,
    pub(crate) place: Place,
}

/// Value of an [`Item`].
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    /// Path of a file, and a description of the file's expected contents.
    File(String, &'static str),
    Word(&'static str),
    Bool(bool),
    Integer(u64),
    Number(f64),
    Quantity(Dimension, f64),
    List(Vec<Item>),
    Fields(Fields),
    Map(Vec<(String, Fields)>),
    Named(Named),
    Parameters(Parameters),
}

/// Values of a table by their keys. A wrong or missing value has no entry.
#[derive(Debug)]
pub(crate) struct Fields {
    keys: &'static [Key],
    values: Vec<Option<Item>>,
    /// Keys that have a value in the file, valid or not.
    given: Vec<&'static str>,
    /// Key that distinguishes the sort of this table. Empty for a plain table.
    pub(crate) variant: &'static str,
    /// Place of the table's own key, for mistakes that concern the whole table.
    pub(crate) place: Place,
}

impl Fields {
    /// Returns the value of `name`. `None` if it is missing or wrong.
    ///
    /// # Panics
    /// Panics if the table has no such key, because then the format's definition and its reader
    /// disagree.
    pub(crate) fn item(&self, name: &str) -> Option<&Item> {
        let index = self.keys.iter().position(|key| key.name == name);
        self.values[index.unwrap_or_else(|| panic!("no key {name} in this table"))].as_ref()
    }

    /// True if `name` has a value in the file. A wrong value has been reported.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Returns the place of the value of `name`, or the place of the table if there is no value.
    pub(crate) fn place_of(&self, name: &str) -> Place {
        self.item(name).map_or(self.place, |item| item.place)
    }
}

/// Names of users' own algorithms, which are not in the catalog. Their parameters may have any
/// name.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnNames<'a> {
    /// Kind of catalog entries that the names belong to.
    pub kind: &'a str,
    /// The names. None of them may be in the catalog.
    pub names: &'a [&'a str],
}

/// Reader that collects values and mistakes.
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    pub(crate) catalog: &'c Catalog,
    own: &'c [OwnNames<'c>],
    pub(crate) mistakes: Mistakes,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(catalog: &'c Catalog, own: &'c [OwnNames<'c>]) -> Reader<'c> {
        Reader {
            catalog,
            own,
            mistakes: Mistakes::default(),
        }
    }

    /// Reads `table` with the shapes of `keys`. `place` is the place of the table's own key.
    pub(crate) fn fields(
        &mut self,
        table: &Table,
        keys: &'static [Key],
        place: Place,
        variant: &'static str,
    ) -> Fields {
        let mut meant = Vec::new();
        for entry in &table.0 {
            if !keys.iter().any(|key| key.name == entry.key) {
                meant.extend(self.unknown("key", entry, keys.iter().map(|key| key.name)));
            }
        }
        let mut fields = Fields {
            keys,
            values: Vec::with_capacity(keys.len()),
            given: Vec::new(),
            variant,
            place,
        };
        for key in keys {
            let value = match table.entry(key.name) {
                Some(entry) => {
                    fields.given.push(key.name);
                    self.value(entry, &key.shape, &fields)
                }
                // The mistake of the unknown key already suggests this key.
                None if key.presence == Presence::Required
                    && meant.iter().any(|name| name == key.name) =>
                {
                    None
                }
                None => self.absent(key, place, &fields),
            };
            fields.values.push(value);
        }
        fields
    }

    /// Returns a table in which the user gave no key. Keys have their defaults, and required keys
    /// are absent.
    pub(crate) fn defaults(&mut self, keys: &'static [Key], place: Place) -> Fields {
        let mut fields = Fields {
            keys,
            values: Vec::with_capacity(keys.len()),
            given: Vec::new(),
            variant: "",
            place,
        };
        for key in keys {
            let value = match key.presence {
                Presence::Required => None,
                _ => self.absent(key, place, &fields),
            };
            fields.values.push(value);
        }
        fields
    }

    /// Reports an entry with an unknown key or name. Returns the name that the report suggests.
    /// `None` if it suggests none.
    fn unknown<'a>(
        &mut self,
        what: &str,
        entry: &Entry,
        names: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        let mistake = Mistake::new(
            entry.key_place,
            format!("unknown {what} `{}`", shortened(&entry.key)),
        );
        if self.mistakes.is_full() {
            self.mistakes.push(mistake);
            return None;
        }
        let names: Vec<&str> = names.collect();
        if let Some(new) = renamed(&entry.key, &names) {
            let message = format!("`{}` is called `{new}` now", entry.key);
            let mistake = Mistake::new(entry.key_place, message);
            self.mistakes.push(mistake.expected(format!("`{new}`")));
            return Some(new.to_owned());
        }
        let suggestion = nearest_key(&entry.key, &names);
        let mistake = mistake.suggest(suggestion.clone());
        self.mistakes.push(mistake.expected(alternatives(names)));
        suggestion
    }

    fn value(&mut self, entry: &Entry, shape: &'static Shape, before: &Fields) -> Option<Item> {
        if let Shape::ParametersOf { kind, by } = shape {
            return self.parameters_of(entry, kind, before.item(by)?);
        }
        self.item(&entry.node, entry.key_place, shape)
    }

    fn absent(&mut self, key: &'static Key, place: Place, before: &Fields) -> Option<Item> {
        match (key.presence, &key.shape) {
            (Presence::Required, shape) => {
                let missing = Mistake::new(place, format!("missing key `{}`", key.name));
                self.mistakes.push(missing.expected(format!(
                    "`{}` = {}",
                    key.name,
                    shape.expectation()
                )));
                None
            }
            (Presence::Optional, _) => None,
            (Presence::Default(text), _) => self.default(key, text, place, before),
            (Presence::OfPart(part), _) => {
                let Some(text) = self.catalog.default_of(part, key.name) else {
                    let message = format!("no {} exists in this build", spaced(part));
                    self.mistakes.push(Mistake::new(place, message));
                    return None;
                };
                self.default(key, &text, place, before)
            }
            (Presence::FirstOfKind, Shape::Named { kind, .. } | Shape::NameOf(kind)) => {
                let Some(first) = self.catalog.entries(kind).first() else {
                    let message = format!("no {} exists in this build", spaced(kind));
                    self.mistakes.push(Mistake::new(place, message));
                    return None;
                };
                let name = first.name.to_owned();
                let content = match key.shape {
                    Shape::NameOf(_) => Content::Text(name),
                    _ => Content::Named(Named {
                        name,
                        parameters: Parameters::default(),
                    }),
                };
                Some(Item { content, place })
            }
            (Presence::FirstOfKind, _) => unreachable!("{} names nothing of a kind", key.name),
        }
    }

    /// Returns the default value of an absent key, parsed as TOML.
    fn default(
        &mut self,
        key: &'static Key,
        text: &str,
        place: Place,
        before: &Fields,
    ) -> Option<Item> {
        let entry = Entry {
            key: key.name.to_owned(),
            key_place: place,
            node: TreeNode {
                place,
                ..parse_value(text, place.origin, 0)
            },
        };
        let item = self.value(&entry, &key.shape, before)?;
        Some(Item { place, ..item })
    }

    /// Reads one value. `key_place` is the place of its key. `None` after a mistake.
    fn item(&mut self, node: &TreeNode, key_place: Place, shape: &'static Shape) -> Option<Item> {
        let content = match (shape, &node.value) {
            (Shape::Text | Shape::Reference, Value::Text(text)) => Content::Text(text.clone()),
            (Shape::File(expected), Value::Text(path)) => Content::File(path.clone(), expected),
            (Shape::Bool, Value::Bool(flag)) => Content::Bool(*flag),
            (Shape::False, Value::Bool(false)) => Content::Bool(false),
            (Shape::Word(word), Value::Text(text)) if text == word => Content::Word(word),
            (Shape::Choice(words), Value::Text(text)) => {
                match words.iter().find(|word| word.0 == text) {
                    Some(word) => Content::Word(word.0),
                    None => return self.mismatch(node, shape),
                }
            }
            (Shape::Integer { min, max }, Value::Integer(number)) => {
                match u64::try_from(*number)
                    .ok()
                    .filter(|number| (min..=max).contains(&number))
                {
                    Some(number) => Content::Integer(number),
                    None => {
                        let allowed = format!("a whole number from {min} to {max}");
                        return self.refuse(node, &allowed);
                    }
                }
            }
            (Shape::Number(range), Value::Integer(_) | Value::Float(_)) => {
                let number = number(&node.value);
                if !range.contains(number) {
                    let allowed = allowed("a number", *range, |bound| bound.to_string());
                    return self.refuse(node, &allowed);
                }
                Content::Number(number)
            }
            (Shape::Quantity(dimension, range), Value::Text(text)) => match dimension.parse(text) {
                Ok(value) if range.contains(value) => Content::Quantity(*dimension, value),
                Ok(_) => {
                    let print = |bound| dimension.format(bound);
                    let allowed = allowed(dimension.noun(), *range, print);
                    return self.refuse(node, &allowed);
                }
                Err(_) => return self.mismatch(node, shape),
            },
            (Shape::List(inner), Value::List(nodes)) if !nodes.is_empty() => {
                let items: Vec<Option<Item>> = nodes
                    .iter()
                    .map(|node| self.item(node, node.place, inner))
                    .collect();
                Content::List(items.into_iter().collect::<Option<_>>()?)
            }
            (Shape::Pair(first, second), Value::List(nodes)) if nodes.len() == 2 => {
                let first = self.item(&nodes[0], nodes[0].place, first);
                let second = self.item(&nodes[1], nodes[1].place, second);
                Content::List(vec![first?, second?])
            }
            (Shape::Table(keys), Value::Table(table)) => {
                Content::Fields(self.fields(table, keys, key_place, ""))
            }
            (Shape::Variants(variants), Value::Table(table)) => {
                Content::Fields(self.variant(table, variants, key_place)?)
            }
            (Shape::Map(keys), Value::Table(table)) => Content::Map(self.map(table, keys)),
            (Shape::Named { kind, tag }, Value::Text(_) | Value::Table(_)) => {
                Content::Named(self.name_or_table(node, key_place, (kind, tag))?)
            }
            (Shape::NameOf(kind), Value::Text(name)) => {
                Content::Text(self.lookup(node.place, kind, name)?.name.to_owned())
            }
            (Shape::AnyOf(shapes), _) => {
                return match shapes.iter().find(|shape| suits(shape, &node.value)) {
                    Some(shape) => self.item(node, key_place, shape),
                    None => self.mismatch(node, shape),
                };
            }
            _ => return self.mismatch(node, shape),
        };
        Some(Item {
            content,
            place: node.place,
        })
    }

    fn variant(
        &mut self,
        table: &Table,
        variants: &'static [Variant],
        place: Place,
    ) -> Option<Fields> {
        if let Some(variant) = variants
            .iter()
            .find(|variant| table.entry(variant.key).is_some())
        {
            return Some(self.fields(table, variant.keys, place, variant.key));
        }
        let keys = || variants.iter().map(|variant| variant.key);
        let near = table
            .0
            .iter()
            .take(8)
            .find_map(|entry| nearest(&entry.key, keys()));
        let expected = format!("a table with {}", alternatives(keys()));
        let message = format!("expected {expected}");
        self.mistakes.push(
            Mistake::new(place, message)
                .suggest(near)
                .expected(expected),
        );
        None
    }

    fn map(&mut self, table: &Table, keys: &'static [Key]) -> Vec<(String, Fields)> {
        let mut named = Vec::with_capacity(table.0.len().min(MAX_ELEMENTS));
        for entry in table.0.iter().take(MAX_ELEMENTS) {
            if !is_name(&entry.key) {
                self.no_name(entry);
            }
            if let Value::Table(inner) = &entry.node.value {
                named.push((
                    entry.key.clone(),
                    self.fields(inner, keys, entry.key_place, ""),
                ));
            } else if keys.iter().any(|key| key.name == entry.key) {
                let message = format!("`{}` needs a name in front", shortened(&entry.key));
                self.mistakes.push(
                    Mistake::new(entry.key_place, message).expected("named tables, [….NAME]"),
                );
            } else {
                self.no_table(entry);
            }
        }
        if let Some(beyond) = table.0.get(MAX_ELEMENTS) {
            let message = format!("more than {MAX_ELEMENTS} entries");
            self.mistakes.push(Mistake::new(beyond.key_place, message));
        }
        named
    }

    /// Reports a key that is not a valid name.
    pub(crate) fn no_name(&mut self, entry: &Entry) {
        let message = format!("`{}` is not a name", shortened(&entry.key));
        let mistake = Mistake::new(entry.key_place, message);
        let expected = "1 to 64 letters, digits, hyphens and underscores";
        self.mistakes.push(mistake.expected(expected));
    }

    /// Reports a value that should be a table.
    pub(crate) fn no_table(&mut self, entry: &Entry) {
        let found = entry.node.value.describe();
        let message = format!("expected a table of keys, found {found}");
        let mistake = Mistake::new(entry.node.place, message);
        self.mistakes.push(mistake.expected("a table of keys"));
    }
}

/// Returns the present name of a key that other versions of the format called `old`. `None` if the
/// table has no such key.
fn renamed(old: &str, names: &[&str]) -> Option<&'static str> {
    let mut candidates = RENAMED.iter().filter(|(before, _)| *before == old);
    let (_, new) = candidates.find(|(_, new)| names.contains(new))?;
    Some(new)
}

/// True if a value was most likely meant for the alternative `shape` of a key.
fn suits(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Word(word), Value::Text(text)) => text == word,
        (Shape::Quantity(dimension, _), Value::Text(text)) => dimension.parse(text).is_ok(),
        (Shape::Text | Shape::File(_), Value::Text(_)) => true,
        (Shape::Table(_) | Shape::Variants(_), Value::Table(_)) => true,
        (Shape::List(_) | Shape::Pair(..), Value::List(_)) => true,
        (Shape::Bool, Value::Bool(_)) => true,
        (Shape::False, Value::Bool(flag)) => !flag,
        _ => false,
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(integer) => *integer as f64,
        Value::Float(float) => *float,
        _ => f64::NAN,
    }
}

/// True if `text` is a valid name. Names are used in file names and in override paths.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
