//! Reads a tree of TOML values against the shapes of its keys. What comes out has the right
//! types, defaults filled in and catalog names looked up; what is wrong becomes a mistake.

use crate::error::{Mistake, Mistakes, alternatives};
use crate::keys::MAX_ELEMENTS;
use crate::model::Named;
use crate::quantity::{Dimension, QuantityError};
use crate::shape::{Key, Presence, Range, Shape, Variant, spaced, with_article};
use crate::suggest::nearest;
use crate::tree::{Entry, Node, Place, Table, Value, parse_value, shortened};
use fadeout_core::registry::{self, Catalog, Parameters};

/// A value of the right shape, with its place.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) content: Content,
    pub(crate) place: Place,
}

/// What an [`Item`] is.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
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

/// The values of a table, by its keys. A value that is wrong or missing is absent.
#[derive(Debug)]
pub(crate) struct Fields {
    keys: &'static [Key],
    values: Vec<Option<Item>>,
    /// Which sort of table this is, by the key that tells it apart; empty for a plain table.
    pub(crate) variant: &'static str,
    /// The table's own key, for mistakes that concern the whole.
    pub(crate) place: Place,
}

impl Fields {
    /// The value of `name`, when there is a right one.
    ///
    /// # Panics
    /// When the table has no such key: the format's definition and its reader disagree.
    pub(crate) fn item(&self, name: &str) -> Option<&Item> {
        let index = self.keys.iter().position(|key| key.name == name);
        self.values[index.unwrap_or_else(|| panic!("no key {name} in this table"))].as_ref()
    }

    /// The place of the value of `name`, or of the table without one.
    pub(crate) fn place_of(&self, name: &str) -> Place {
        self.item(name).map_or(self.place, |item| item.place)
    }
}

/// Reads values and collects mistakes.
#[derive(Debug)]
pub(crate) struct Reader<'c> {
    catalog: &'c Catalog,
    pub(crate) mistakes: Mistakes,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(catalog: &'c Catalog) -> Reader<'c> {
        Reader {
            catalog,
            mistakes: Mistakes::default(),
        }
    }

    /// Reads `table` against `keys`; `place` is where the table is named.
    pub(crate) fn fields(
        &mut self,
        table: &Table,
        keys: &'static [Key],
        place: Place,
        variant: &'static str,
    ) -> Fields {
        for entry in &table.0 {
            if !keys.iter().any(|key| key.name == entry.key) {
                self.unknown("key", entry, keys.iter().map(|key| key.name));
            }
        }
        let mut fields = Fields {
            keys,
            values: Vec::with_capacity(keys.len()),
            variant,
            place,
        };
        for key in keys {
            let value = match table.entry(key.name) {
                Some(entry) => self.value(entry, &key.shape, &fields),
                None => self.absent(key, place, &fields),
            };
            fields.values.push(value);
        }
        fields
    }

    fn unknown<'a>(&mut self, what: &str, entry: &Entry, names: impl Iterator<Item = &'a str>) {
        let mistake = Mistake::new(
            entry.key_place,
            format!("unknown {what} `{}`", shortened(&entry.key)),
        );
        if self.mistakes.is_full() {
            return self.mistakes.push(mistake);
        }
        let names: Vec<&str> = names.collect();
        let suggestion = nearest(&entry.key, names.iter().copied());
        self.mistakes
            .push(mistake.suggest(suggestion).expected(alternatives(names)));
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
            (Presence::Default(text), _) => {
                let entry = Entry {
                    key: key.name.to_owned(),
                    key_place: place,
                    node: Node {
                        place,
                        ..parse_value(text, place.origin, 0)
                    },
                };
                let item = self.value(&entry, &key.shape, before)?;
                Some(Item { place, ..item })
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

    /// Reads one value; `key_place` is where it is named.
    fn item(&mut self, node: &Node, key_place: Place, shape: &'static Shape) -> Option<Item> {
        let content = match (shape, &node.value) {
            (Shape::Text | Shape::Reference, Value::Text(text)) => Content::Text(text.clone()),
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
            (Shape::Named { kind, .. }, Value::Text(name)) => {
                let name = self.lookup(node.place, kind, name)?.name.to_owned();
                Content::Named(Named {
                    name,
                    parameters: Parameters::default(),
                })
            }
            (Shape::Named { kind, tag }, Value::Table(table)) => {
                Content::Named(self.named(table, key_place, kind, tag)?)
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
                let message = format!("`{}` is not a name", shortened(&entry.key));
                self.mistakes.push(
                    Mistake::new(entry.key_place, message)
                        .expected("1 to 64 letters, digits, hyphens and underscores"),
                );
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
                let found = entry.node.value.describe();
                let message = format!("expected a table of keys, found {found}");
                self.mistakes
                    .push(Mistake::new(entry.node.place, message).expected("a table of keys"));
            }
        }
        if let Some(beyond) = table.0.get(MAX_ELEMENTS) {
            let message = format!("more than {MAX_ELEMENTS} entries");
            self.mistakes.push(Mistake::new(beyond.key_place, message));
        }
        named
    }

    fn lookup(&mut self, place: Place, kind: &str, name: &str) -> Option<&'static registry::Entry> {
        let entries = self.catalog.entries(kind);
        let found = registry::find(entries, name);
        let message = format!("unknown {} `{}`", spaced(kind), shortened(name));
        if found.is_none() && self.mistakes.is_full() {
            self.mistakes.push(Mistake::new(place, message));
        } else if found.is_none() {
            let names = entries
                .iter()
                .flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()));
            let suggestion = nearest(name, names);
            let canonical = alternatives(entries.iter().map(|entry| entry.name));
            self.mistakes.push(
                Mistake::new(place, message)
                    .suggest(suggestion)
                    .expected(canonical),
            );
        }
        found
    }

    fn named(&mut self, table: &Table, place: Place, kind: &str, tag: &str) -> Option<Named> {
        let Some(entry) = table.entry(tag) else {
            let message = format!("missing key `{tag}`");
            let expected = format!("the name of {}", with_article(kind));
            self.mistakes
                .push(Mistake::new(place, message).expected(expected));
            return None;
        };
        let Value::Text(name) = &entry.node.value else {
            let expected = format!("the name of {}", with_article(kind));
            return self.expected(&entry.node, expected, None);
        };
        let found = self.lookup(entry.node.place, kind, name)?;
        let given = table.0.iter().filter(|given| given.key != tag);
        let parameters = self.parameters(given, found);
        Some(Named {
            name: found.name.to_owned(),
            parameters,
        })
    }

    fn parameters_of(&mut self, entry: &Entry, kind: &str, by: &Item) -> Option<Item> {
        let Content::Text(name) = &by.content else {
            unreachable!("a name is a text")
        };
        let Value::Table(table) = &entry.node.value else {
            return self.expected(&entry.node, "a table of parameters".to_owned(), None);
        };
        let found = self.lookup(by.place, kind, name)?;
        let parameters = self.parameters(table.0.iter(), found);
        Some(Item {
            content: Content::Parameters(parameters),
            place: entry.key_place,
        })
    }

    fn parameters<'a>(
        &mut self,
        given: impl Iterator<Item = &'a Entry>,
        of: &'static registry::Entry,
    ) -> Parameters {
        let mut parameters = Parameters::default();
        for entry in given {
            match of
                .parameters
                .iter()
                .find(|parameter| parameter.name == entry.key)
            {
                Some(parameter) => {
                    if let Some(value) = self.parameter(&entry.node, parameter) {
                        parameters.0.push((entry.key.clone(), value));
                    }
                }
                None => {
                    let what = format!("parameter of `{}`,", of.name);
                    self.unknown(&what, entry, of.parameters.iter().map(|known| known.name));
                }
            }
        }
        parameters
    }

    fn parameter(
        &mut self,
        node: &Node,
        parameter: &registry::Parameter,
    ) -> Option<registry::Value> {
        use registry::{ParameterKind as Kind, Value as Given};
        match parameter.kind {
            Kind::Number { min, max, unit } => {
                let number = self.measured(node, Range::closed(min, max), unit)?;
                Some(Given::Number(number))
            }
            Kind::Integer { min, max, unit } => {
                let range = Range::closed(min as f64, max as f64);
                let number = self.measured(node, range, unit)?;
                if number.fract() != 0.0 {
                    return self.refuse(node, "a whole number");
                }
                Some(Given::Number(number))
            }
            Kind::Bool => match node.value {
                Value::Bool(flag) => Some(Given::Bool(flag)),
                _ => self.expected(node, "true or false".to_owned(), None),
            },
            Kind::Span => {
                static TIME: Shape = Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e15));
                match self.item(node, node.place, &TIME)?.content {
                    Content::Quantity(_, nanos) => {
                        Some(Given::Span(fadeout_core::Span::from_nanos(nanos as u64)))
                    }
                    other => unreachable!("a time reads as a quantity, not {other:?}"),
                }
            }
            Kind::Choice(names) => match &node.value {
                Value::Text(text) if names.contains(&text.as_str()) => {
                    Some(Given::Choice(text.clone()))
                }
                Value::Text(text) => {
                    let near = nearest(text, names.iter().copied());
                    let near = near.map(|name| format!("\"{name}\""));
                    self.expected(node, alternatives(names.iter().copied()), near)
                }
                _ => self.expected(node, alternatives(names.iter().copied()), None),
            },
        }
    }

    /// A plain number, or a quantity when the parameter's unit is one a scenario can write.
    fn measured(&mut self, node: &Node, range: Range, unit: &str) -> Option<f64> {
        let written = Dimension::of_documented_unit(unit);
        let value = match (&node.value, written) {
            (Value::Integer(_) | Value::Float(_), _) => number(&node.value),
            (Value::Text(text), Some((dimension, size))) => match dimension.parse(text) {
                Ok(value) => value / size,
                Err(_) => return self.expected(node, dimension.to_string(), None),
            },
            (_, Some((dimension, _))) => return self.expected(node, dimension.to_string(), None),
            (_, None) => return self.expected(node, "a number".to_owned(), None),
        };
        if !range.contains(value) {
            let of_unit = if unit.is_empty() {
                String::new()
            } else {
                format!(" of {unit}")
            };
            let noun = format!("a number{of_unit}");
            return self.refuse(node, &allowed(&noun, range, |bound| bound.to_string()));
        }
        Some(value)
    }

    /// The value has the right kind but is out of range.
    fn refuse<T>(&mut self, node: &Node, allowed: &str) -> Option<T> {
        self.expected(node, allowed.to_owned(), None)
    }

    fn expected<T>(&mut self, node: &Node, expected: String, near: Option<String>) -> Option<T> {
        let message = format!("expected {expected}, found {}", node.value.describe());
        self.mistakes.push(
            Mistake::new(node.place, message)
                .expected(expected)
                .suggest_value(near),
        );
        None
    }

    /// The value is of another kind than the shape wants.
    fn mismatch<T>(&mut self, node: &Node, shape: &Shape) -> Option<T> {
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
        for dimension in &dimensions {
            match dimension.parse(text) {
                Err(QuantityError::NoUnit) => return self.unitless(node, message, &dimensions),
                Err(QuantityError::UnknownUnit(given, near)) => {
                    kind = format!(": unknown unit `{}`", shortened(&given));
                    let corrected = near.and_then(|near| text.strip_suffix(&given).zip(Some(near)));
                    suggestion = suggestion
                        .or(corrected
                            .map(|(number, near)| format!("\"{}{near}\"", shortened(number))));
                }
                Err(QuantityError::WrongDimension(other)) => {
                    kind = format!(", which is {}", other.noun());
                }
                Err(QuantityError::NotWhole) => kind = ", which is not whole".to_owned(),
                Err(QuantityError::NotFinite) => kind = ", which is too large".to_owned(),
                Err(QuantityError::NoNumber) | Ok(_) => {}
            }
        }
        self.mistakes.push(
            Mistake::new(node.place, message + &kind)
                .expected(expected)
                .suggest_value(suggestion),
        );
        None
    }

    fn unitless<T>(&mut self, node: &Node, message: String, dimensions: &[Dimension]) -> Option<T> {
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

/// Whether `shape` is the alternative that a value is most likely meant for.
fn suits(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Word(word), Value::Text(text)) => text == word,
        (Shape::Quantity(dimension, _), Value::Text(text)) => dimension.parse(text).is_ok(),
        (Shape::Table(_) | Shape::Variants(_), Value::Table(_)) => true,
        (Shape::List(_) | Shape::Pair(..), Value::List(_)) => true,
        (Shape::Bool, Value::Bool(_)) => true,
        (Shape::False, Value::Bool(flag)) => !flag,
        _ => false,
    }
}

/// The words and dimensions that `shape` accepts in a string.
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

fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(integer) => *integer as f64,
        Value::Float(float) => *float,
        _ => f64::NAN,
    }
}

/// A range in words.
fn allowed(noun: &str, range: Range, print: impl Fn(f64) -> String) -> String {
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

/// Names end up in file names and in override paths.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
