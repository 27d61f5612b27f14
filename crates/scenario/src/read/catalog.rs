//! Reader of names and parameters of catalog entries.

use super::{Content, Item, Reader, number};
use crate::error::{Mistake, alternatives};
use crate::model::Named;
use crate::quantity::Dimension;
use crate::read::refusal::allowed;
use crate::shape::{Range, Shape, named_expectation, spaced, with_article};
use crate::suggest::nearest;
use crate::tree::{Entry, Place, Table, TreeNode, Value, shortened};
use fadeout_core::registry::{self, Parameters};

impl Reader<'_> {
    /// True if `name` is the name of a user's own algorithm of this kind.
    pub(super) fn is_own(&self, kind: &str, name: &str) -> bool {
        self.own_names(kind).any(|own| own == name)
    }

    /// Returns the names of users' own algorithms of a kind.
    fn own_names<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> + Clone {
        let own = self.own.iter().filter(move |own| own.kind == kind);
        own.flat_map(|own| own.names.iter().copied())
    }

    pub(super) fn lookup(
        &mut self,
        place: Place,
        kind: &str,
        name: &str,
    ) -> Option<&'static registry::Entry> {
        let entries = self.catalog.entries(kind);
        let found = registry::find(entries, name);
        let message = format!("unknown {} `{}`", spaced(kind), shortened(name));
        if found.is_none() && self.mistakes.is_full() {
            self.mistakes.push(Mistake::new(place, message));
        } else if found.is_none() {
            let own = self.own_names(kind);
            let names = entries
                .iter()
                .flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()));
            let suggestion = nearest(name, names.chain(own.clone()));
            let canonical = alternatives(own.chain(entries.iter().map(|entry| entry.name)));
            self.mistakes.push(
                Mistake::new(place, message)
                    .suggest(suggestion)
                    .expected(canonical),
            );
        }
        found
    }

    /// Reads a name, or a table in which the key `tag` contains the name and other keys are
    /// parameters. `None` after a mistake.
    pub(super) fn name_or_table(
        &mut self,
        node: &TreeNode,
        place: Place,
        (kind, tag): (&str, &str),
    ) -> Option<Named> {
        match &node.value {
            Value::Text(name) => {
                let name = if self.is_own(kind, name) {
                    name.clone()
                } else {
                    self.lookup(node.place, kind, name)?.name.to_owned()
                };
                Some(Named {
                    name,
                    parameters: Parameters::default(),
                })
            }
            Value::Table(table) => self.named(table, place, kind, tag),
            _ => self.expected(node, named_expectation(kind, tag), None),
        }
    }

    fn named(&mut self, table: &Table, place: Place, kind: &str, tag: &str) -> Option<Named> {
        let Some(entry) = table.entry(tag) else {
            // If a kind has a single entry, the scenario need not name it.
            if let [only] = self.catalog.entries(kind) {
                return Some(Named {
                    name: only.name.to_owned(),
                    parameters: self.parameters(table.0.iter(), only),
                });
            }
            let message = format!("missing key `{tag}`");
            let names = self.catalog.entries(kind).iter().map(|entry| entry.name);
            let expected = format!("`{tag}` = {}", alternatives(names));
            self.mistakes
                .push(Mistake::new(place, message).expected(expected));
            return None;
        };
        let Value::Text(name) = &entry.node.value else {
            let expected = format!("the name of {}", with_article(kind));
            return self.expected(&entry.node, expected, None);
        };
        let given = table.0.iter().filter(|given| given.key != tag);
        if self.is_own(kind, name) {
            return Some(Named {
                name: name.clone(),
                parameters: self.free_parameters(given),
            });
        }
        let found = self.lookup(entry.node.place, kind, name)?;
        let parameters = self.parameters(given, found);
        Some(Named {
            name: found.name.to_owned(),
            parameters,
        })
    }

    pub(super) fn parameters_of(&mut self, entry: &Entry, kind: &str, by: &Item) -> Option<Item> {
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

    /// Reads the parameters of a user's own algorithm, with any names and any plain values.
    fn free_parameters<'a>(&mut self, given: impl Iterator<Item = &'a Entry>) -> Parameters {
        let mut parameters = Parameters::default();
        for entry in given {
            let value = match &entry.node.value {
                Value::Integer(_) | Value::Float(_) => {
                    registry::Value::Number(number(&entry.node.value))
                }
                Value::Bool(flag) => registry::Value::Bool(*flag),
                Value::Text(text) => registry::Value::Choice(text.clone()),
                _ => {
                    let expected = "a number, a text, true or false".to_owned();
                    let _: Option<()> = self.expected(&entry.node, expected, None);
                    continue;
                }
            };
            parameters.0.push((entry.key.clone(), value));
        }
        parameters
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
                    // A parameter with its default value is left out. So the scenario equals one
                    // without this parameter.
                    if let Some(value) = self.parameter(&entry.node, parameter)
                        && !parameter.is_default(&value)
                    {
                        parameters.0.push((entry.key.clone(), value));
                    }
                }
                None => {
                    let what = format!("parameter of `{}`,", of.name);
                    self.unknown(&what, entry, of.parameters.iter().map(|known| known.name));
                }
            }
        }
        // The order of parameters in the file has no meaning, so they are sorted.
        let place = |key: &str| of.parameters.iter().position(|known| known.name == key);
        parameters.0.sort_by_key(|(key, _)| place(key));
        parameters
    }

    fn parameter(
        &mut self,
        node: &TreeNode,
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
            Kind::Named(kind) => {
                let named = self.name_or_table(node, node.place, (kind, registry::NAME))?;
                Some(Given::Named(named.name, named.parameters))
            }
        }
    }

    /// Reads a plain number, or a quantity if the parameter's unit is one of a scenario. `None`
    /// after a mistake.
    fn measured(&mut self, node: &TreeNode, range: Range, unit: &str) -> Option<f64> {
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
}
