//! Rows of summaries as the objects of `summary.json`.

use fadeout_core::table::{FieldSink, SummaryRow};
use serde_json::{Map, Value};

struct Object(Map<String, Value>);

impl Object {
    fn put(&mut self, column: &str, value: impl Into<Value>) {
        self.0.insert(column.to_owned(), value.into());
    }
}

impl FieldSink for Object {
    fn f64(&mut self, column: &'static str, value: f64) {
        self.put(column, value);
    }
    fn u64(&mut self, column: &'static str, value: u64) {
        self.put(column, value);
    }
    fn bool(&mut self, column: &'static str, value: bool) {
        self.put(column, value);
    }
    fn text(&mut self, column: &'static str, value: &str) {
        self.put(column, value);
    }
    fn none(&mut self, column: &'static str) {
        self.put(column, Value::Null);
    }
}

/// A row as an object with a key for each column; a number that is not finite is null.
pub fn object(row: &impl SummaryRow) -> Value {
    let mut object = Object(Map::new());
    row.write(&mut object);
    Value::Object(object.0)
}

/// Rows as a list of objects.
pub fn objects<R: SummaryRow>(rows: &[R]) -> Value {
    rows.iter().map(object).collect()
}
