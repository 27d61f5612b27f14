//! Files that a scenario names.

use crate::build::Builder;
use crate::read::{Content, Item};
use crate::shape::Shape;
use crate::table::KeyValue;
use serde_json::{Value, json};
use std::sync::Arc;

/// File that was read. The crate that uses the file parses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path of the file as given in the scenario.
    pub path: String,
    /// Contents of the file.
    pub bytes: Arc<[u8]>,
}

impl KeyValue for File {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::File(path, expected) = &item.content else {
            return None;
        };
        Some(File {
            path: path.clone(),
            bytes: builder.file(path, item.place, expected)?,
        })
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        Some(json!(self.path))
    }
}
