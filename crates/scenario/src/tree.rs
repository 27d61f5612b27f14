//! TOML document as a tree in which every key and value has its place in the text.

mod twice;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Range of bytes in one of the texts that make up a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the text: 0 for the file, n for override number n.
    pub(crate) origin: u32,
    /// First byte of the range.
    pub(crate) start: u32,
    /// First byte after the range.
    pub(crate) end: u32,
}

impl Place {
    /// Place at the start of the file.
    pub(crate) const START: Place = Place {
        origin: 0,
        start: 0,
        end: 0,
    };

    /// Returns the place of the bytes `range` in the text with the number `origin`. Texts are far
    /// smaller than 4 GiB.
    pub(crate) fn new(origin: u32, range: std::ops::Range<usize>) -> Place {
        Place {
            origin,
            start: range.start as u32,
            end: range.end as u32,
        }
    }
}

/// Value with its place in the text.
#[derive(Debug, Clone)]
pub(crate) struct TreeNode {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    Date,
    List(Vec<TreeNode>),
    Table(Table),
}

/// Entries of a table, in the order of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table(pub(crate) Vec<Entry>);

/// Key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: TreeNode,
}

/// Message about a text that is not valid TOML, with the place of the mistake.
pub(crate) type SyntaxError = (String, Place);

/// Maximum number of reported syntax errors. Later syntax errors usually follow from earlier ones.
const MOST_SYNTAX_ERRORS: usize = 10;
/// Size limit of a text, in bytes, up to which the reader searches for more syntax errors after the
/// first.
const RECOVERY_BYTES: usize = 1 << 16;

/// Parses the text of the scenario file.
pub(crate) fn parse_document(text: &str) -> Result<Table, Vec<SyntaxError>> {
    let parsed = if text.len() <= RECOVERY_BYTES {
        let (document, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            Ok(document)
        } else {
            Err(errors)
        }
    } else {
        DeTable::parse(text).map_err(|error| vec![error])
    };
    match parsed {
        Ok(document) => Ok(table(document.get_ref(), 0, 0)),
        Err(errors) => {
            let errors = errors.iter().map(|error| {
                let range = error.span().unwrap_or(text.len()..text.len());
                (error.message().to_owned(), Place::new(0, range))
            });
            let mut errors = twice::named(text, errors.collect());
            errors.truncate(MOST_SYNTAX_ERRORS);
            Err(errors)
        }
    }
}

/// Parses the value in `text`, which starts at byte `offset` of the text with the number `origin`.
/// If `text` is not valid TOML, the value is `text` itself.
pub(crate) fn parse_value(text: &str, origin: u32, offset: usize) -> TreeNode {
    match DeValue::parse(text) {
        Ok(value) => node(&value, origin, offset),
        Err(_) => TreeNode {
            value: Value::Text(text.to_owned()),
            place: Place::new(origin, offset..offset + text.len()),
        },
    }
}

fn table(table: &DeTable<'_>, origin: u32, offset: usize) -> Table {
    let shifted =
        |span: std::ops::Range<usize>| Place::new(origin, span.start + offset..span.end + offset);
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: shifted(key.span()),
            node: node(value, origin, offset),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_place.start);
    Table(entries)
}

/// Converts a TOML value to a node. The recursion is as deep as the document, whose depth the TOML
/// parser limits.
fn node(value: &Spanned<DeValue<'_>>, origin: u32, offset: usize) -> TreeNode {
    let span = value.span();
    TreeNode {
        place: Place::new(origin, span.start + offset..span.end + offset),
        value: match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(integer) => {
                match i128::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(integer) => Value::Integer(integer),
                    Err(_) => Value::Float(f64::INFINITY),
                }
            }
            DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| node(item, origin, offset))
                    .collect(),
            ),
            DeValue::Table(inner) => Value::Table(table(inner, origin, offset)),
        },
    }
}

impl Table {
    /// Returns the entry called `key`. `None` if there is none.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// Returns the table at a key. `None` if there is none.
    pub(crate) fn table_mut(&mut self, key: &str) -> Option<&mut Table> {
        let entry = self.0.iter_mut().find(|entry| entry.key == key)?;
        match &mut entry.node.value {
            Value::Table(inner) => Some(inner),
            _ => None,
        }
    }

    /// Sets `key` to `node`. An existing key keeps its position.
    pub(crate) fn set(&mut self, key: &str, key_place: Place, node: TreeNode) {
        match self.0.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => (entry.key_place, entry.node) = (key_place, node),
            None => self.0.push(Entry {
                key: key.to_owned(),
                key_place,
                node,
            }),
        }
    }
}

impl Value {
    /// Returns a description of the value for a message about its wrong kind.
    pub(crate) fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("\"{}\"", shortened(text)),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Bool(flag) => flag.to_string(),
            Value::Date => "a date".to_owned(),
            Value::List(items) if items.is_empty() => "an empty list".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

/// Returns `text` without control characters and shortened, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text
        .chars()
        .take(LONGEST)
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
