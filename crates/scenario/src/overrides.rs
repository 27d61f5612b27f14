//! Overrides of a scenario: `KEY=VALUE` with a dotted key, as given with `--set`.
//!
//! `flow.bulk.profile=reno` sets a key of the flow `bulk`. `flow.profile=reno` sets the key for
//! every flow, because no flow is called `profile`. Links, blockages and nodes work in the same
//! way. Items of a list have numbers from 0: `mobility-management.events.1.threshold`.

use crate::error::{Mistake, Mistakes, alternatives};
use crate::keys::SCENARIO;
use crate::shape::{Key, Shape, Variant};
use crate::suggest::nearest_key;
use crate::tree::{Place, Table, TreeNode, Value, parse_value, shortened};
use fadeout_core::registry::NAME;

/// Override `KEY=VALUE`. The value is parsed as TOML if possible. Otherwise it is a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// Text of the override, for example `flow.congestion-control=newreno`.
    pub text: String,
}

impl Override {
    /// Creates an override from its text.
    pub fn new(text: impl Into<String>) -> Override {
        Override { text: text.into() }
    }
}

/// Maximum length of an override in bytes. A value is a line and not a file.
const LONGEST: usize = 1 << 16;
/// Maximum number of parts of a dotted key. Every valid key has fewer parts.
const DEEPEST: usize = 16;

/// Part of the dotted key, with its place in the override.
type Part<'a> = (&'a str, Place);

/// Applies `text`, the override with the number `origin`, to the document.
pub(crate) fn apply(document: &mut Table, text: &str, origin: u32, mistakes: &mut Mistakes) {
    if let Err(mistake) = try_apply(document, text, origin) {
        mistakes.push(mistake);
    }
}

fn try_apply(document: &mut Table, text: &str, origin: u32) -> Result<(), Mistake> {
    let whole = Place::new(origin, 0..text.len());
    if text.len() > LONGEST {
        let message = format!("an override is at most {LONGEST} bytes long");
        return Err(Mistake::new(whole, message));
    }
    let Some((path, value)) = text.split_once('=') else {
        return Err(Mistake::new(whole, "an override needs a `=`").expected("KEY=VALUE"));
    };
    let parts = parts_of(path, origin)?;
    let offset = path.len() + 1 + (value.len() - value.trim_start().len());
    let node = parse_value(value.trim(), origin, offset);

    let (first, first_place) = parts[0];
    let Some(key) = SCENARIO.iter().find(|key| key.name == first) else {
        return Err(unknown(
            first,
            first_place,
            SCENARIO.iter().map(|key| key.name),
        ));
    };
    match (&key.shape, parts.as_slice()) {
        (Shape::Map(keys), [_, (name, place), rest @ ..]) => {
            let Some(elements) = document.0.iter_mut().find(|entry| entry.key == first) else {
                return Err(Mistake::new(
                    first_place,
                    format!("the scenario has no `{first}`"),
                ));
            };
            let Value::Table(elements) = &mut elements.node.value else {
                // The reader reports a value that should have been a table.
                return Ok(());
            };
            if let Some(element) = elements.0.iter_mut().find(|entry| entry.key == *name) {
                set(&mut element.node, rest, Some(&Shape::Table(keys)), node)?;
            } else if keys.iter().any(|key| key.name == *name) {
                for element in &mut elements.0 {
                    set(
                        &mut element.node,
                        &parts[1..],
                        Some(&Shape::Table(keys)),
                        node.clone(),
                    )?;
                }
            } else {
                let names = elements.0.iter().map(|entry| entry.key.as_str());
                return Err(unknown(
                    name,
                    *place,
                    names.chain(keys.iter().map(|key| key.name)),
                ));
            }
        }
        _ => {
            let (root, keys) = (std::mem::take(document), Shape::Table(SCENARIO));
            let mut root = TreeNode {
                value: Value::Table(root),
                place: Place::START,
            };
            let is_set = set(&mut root, &parts, Some(&keys), node);
            if let Value::Table(root) = root.value {
                *document = root;
            }
            is_set?;
        }
    }
    Ok(())
}

/// Returns the keys of a path such as `link.radio.rate`, with their places.
fn parts_of(path: &str, origin: u32) -> Result<Vec<Part<'_>>, Mistake> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut start = 0;
    for part in path.split('.') {
        let end = start + part.len();
        let indent = part.len() - part.trim_start().len();
        let key = part.trim();
        let place = Place::new(origin, start + indent..start + indent + key.len());
        if key.is_empty() {
            return Err(Mistake::new(place, "an empty key").expected("KEY=VALUE"));
        }
        parts.push((key, place));
        start = end + 1;
    }
    if parts.len() > DEEPEST {
        return Err(Mistake::new(parts[DEEPEST].1, "no key is this deep"));
    }
    Ok(parts)
}

fn unknown<'a>(name: &str, place: Place, names: impl Iterator<Item = &'a str>) -> Mistake {
    let names: Vec<&str> = names.collect();
    Mistake::new(place, format!("unknown key `{}`", shortened(name)))
        .suggest(nearest_key(name, &names))
        .expected(alternatives(names))
}

/// Sets the value at `path` below `target`. Missing tables are created. Unknown keys are kept, and
/// the reader reports them at their place in the override.
///
/// # Errors
/// Returns a mistake if a list has no item with the given number.
fn set(
    target: &mut TreeNode,
    path: &[Part<'_>],
    shape: Option<&Shape>,
    node: TreeNode,
) -> Result<(), Mistake> {
    let [(name, place), rest @ ..] = path else {
        *target = node;
        return Ok(());
    };
    if let (Value::List(items), Ok(number)) = (&mut target.value, name.parse::<usize>()) {
        let count = items.len();
        let Some(item) = items.get_mut(number) else {
            let message = format!("item {number} of a list of {count}");
            return Err(Mistake::new(*place, message).expected(match count {
                0 => "a list with items".to_owned(),
                _ => format!("a number from 0 to {}", count - 1),
            }));
        };
        return set(item, rest, shape.and_then(item_shape), node);
    }
    if !matches!(target.value, Value::Table(_)) {
        let mut table = Table::default();
        // A name such as "cubic" becomes { name = "cubic" }, so that a parameter can be added.
        if let (Some(tag), Value::Text(_)) = (shape.and_then(tag), &target.value) {
            table.set(tag, target.place, target.clone());
        }
        *target = TreeNode {
            value: Value::Table(table),
            place: *place,
        };
    }
    let Value::Table(table) = &mut target.value else {
        return Ok(());
    };
    // A key of another sort of table changes the sort. Keys that only the old sort has are then
    // removed.
    if let Some(variant) = shape.and_then(|shape| variant(shape, name))
        && table.entry(name).is_none()
    {
        table
            .0
            .retain(|entry| variant.keys.iter().any(|key| key.name == entry.key));
    }
    if table.entry(name).is_none() {
        let empty = TreeNode {
            value: Value::Table(Table::default()),
            place: *place,
        };
        table.set(name, *place, empty);
    }
    let Some(entry) = table.0.iter_mut().find(|entry| entry.key == *name) else {
        return Ok(());
    };
    if rest.is_empty() {
        entry.key_place = *place;
    }
    let inner = match shape {
        Some(Shape::Named { .. }) => Some(&PARAMETER),
        _ => shape
            .and_then(|shape| key(shape, name))
            .map(|key| &key.shape),
    };
    set(&mut entry.node, rest, inner, node)
}

/// Returns the shape of the items of a list. `None` for other shapes.
fn item_shape(shape: &Shape) -> Option<&Shape> {
    match shape {
        Shape::List(item) => Some(item),
        Shape::AnyOf(shapes) => shapes.iter().find_map(item_shape),
        _ => None,
    }
}

/// Shape of a parameter whose value is a name, which may have parameters of its own.
static PARAMETER: Shape = Shape::Named {
    kind: "",
    tag: NAME,
};

/// Returns the key that contains the name, for a shape that may also be a name without a table.
/// `None` for other shapes.
fn tag(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Named { tag, .. } => Some(tag),
        _ => None,
    }
}

/// Returns the sort of table that the key `name` distinguishes. `None` if there is none.
fn variant(shape: &Shape, name: &str) -> Option<&'static Variant> {
    match shape {
        Shape::AnyOf(shapes) => shapes.iter().find_map(|shape| variant(shape, name)),
        Shape::Variants(variants) => variants.iter().find(|variant| variant.key == name),
        _ => None,
    }
}

/// Returns the key called `name` in any table that `shape` accepts. `None` if there is none.
fn key(shape: &Shape, name: &str) -> Option<&'static Key> {
    match shape {
        Shape::Table(keys) | Shape::Map(keys) => keys.iter().find(|key| key.name == name),
        Shape::AnyOf(shapes) => shapes.iter().find_map(|shape| key(shape, name)),
        Shape::Variants(variants) => variants
            .iter()
            .flat_map(|variant| variant.keys)
            .find(|key| key.name == name),
        _ => None,
    }
}
