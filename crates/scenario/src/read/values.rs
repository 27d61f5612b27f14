//! Values of a table in the units of the model. A value is `None` if its key is absent or wrong.

use super::{Content, Fields, Item};
use crate::model::Named;
use crate::quantity::Dimension;
use fadeout_core::{Decibel, Meters, Span};

impl Fields {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.item(key)?.content {
            Content::Text(text) => Some(text),
            Content::Word(word) => Some(word),
            _ => None,
        }
    }
    pub(crate) fn integer(&self, key: &str) -> Option<u64> {
        match self.item(key)?.content {
            Content::Integer(number) => Some(number),
            _ => None,
        }
    }
    pub(crate) fn quantity(&self, key: &str) -> Option<f64> {
        match self.item(key)?.content {
            Content::Quantity(_, value) => Some(value),
            _ => None,
        }
    }
    pub(crate) fn span(&self, key: &str) -> Option<Span> {
        self.item(key)?.span()
    }
    pub(crate) fn meters(&self, key: &str) -> Option<Meters> {
        self.quantity(key).map(Meters)
    }
    pub(crate) fn decibel(&self, key: &str) -> Option<Decibel> {
        self.quantity(key).map(Decibel)
    }
    pub(crate) fn fields(&self, key: &str) -> Option<&Fields> {
        match &self.item(key)?.content {
            Content::Fields(fields) => Some(fields),
            _ => None,
        }
    }
    pub(crate) fn map(&self, key: &str) -> &[(String, Fields)] {
        match self.item(key).map(|item| &item.content) {
            Some(Content::Map(named)) => named,
            _ => &[],
        }
    }
    pub(crate) fn list(&self, key: &str) -> &[Item] {
        match self.item(key).map(|item| &item.content) {
            Some(Content::List(items)) => items,
            _ => &[],
        }
    }
    pub(crate) fn named(&self, key: &str) -> Option<Named> {
        match &self.item(key)?.content {
            Content::Named(named) => Some(named.clone()),
            _ => None,
        }
    }
}

impl Item {
    pub(crate) fn span(&self) -> Option<Span> {
        match self.content {
            Content::Quantity(Dimension::Time, nanos) => Some(Span::from_nanos(nanos as u64)),
            _ => None,
        }
    }
    /// Returns the two items of a pair. `None` for other items.
    pub(crate) fn pair(&self) -> Option<(&Item, &Item)> {
        match &self.content {
            Content::List(items) => match items.as_slice() {
                [first, second] => Some((first, second)),
                _ => None,
            },
            _ => None,
        }
    }
    /// Returns the positions in a list of pairs of lengths, in metres. `None` for other items.
    pub(crate) fn places(&self) -> Option<Vec<(f64, f64)>> {
        let Content::List(items) = &self.content else {
            return None;
        };
        let place = |item: &Item| {
            let (x, y) = item.pair()?;
            Some((x.meters()?.0, y.meters()?.0))
        };
        items.iter().map(place).collect()
    }
    pub(crate) fn meters(&self) -> Option<Meters> {
        match self.content {
            Content::Quantity(Dimension::Length, meters) => Some(Meters(meters)),
            _ => None,
        }
    }
}
