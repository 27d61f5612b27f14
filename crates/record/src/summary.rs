//! Summary rows of a run, as arrow columns or as JSON.

use crate::columns::schema_of;
use crate::table::stream_of;
use arrow_array::RecordBatch;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder,
};
use fadeout_core::table::{ColumnKind, FieldSink, Place, SummaryRow, SummarySink, Table};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Summary of a run: a JSON object, and a table for each kind of row that may occur several times.
#[derive(Debug, Default)]
pub struct Summary {
    document: Map<String, Value>,
    tables: Vec<SummaryTable>,
}

/// Summary rows of one table.
#[derive(Debug)]
pub(crate) struct SummaryTable {
    pub(crate) table: Table,
    pub(crate) rows: u64,
    columns: Vec<Column>,
}

#[derive(Debug)]
enum Column {
    F64(Float64Builder),
    /// Counts are stored as signed numbers, so that users can subtract them.
    Count(Int64Builder),
    Bool(BooleanBuilder),
    Text(StringBuilder),
}

impl Summary {
    /// Returns the JSON object of `summary.json`.
    pub(crate) fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// Returns the tables that have rows, in the order of their first rows.
    pub(crate) fn into_tables(self) -> Vec<SummaryTable> {
        self.tables
    }
}

impl SummarySink for Summary {
    fn add<R: SummaryRow>(&mut self, row: &R) {
        if let Place::Summary(key) = R::TABLE.place {
            put(&mut self.document, key, row);
            return;
        }
        let known = self
            .tables
            .iter()
            .position(|known| known.table.name == R::TABLE.name);
        let at = known.unwrap_or_else(|| {
            self.tables.push(SummaryTable::new(R::TABLE));
            self.tables.len() - 1
        });
        self.tables[at].add(row);
    }
}

impl SummaryTable {
    pub(crate) fn new(table: Table) -> Self {
        let columns = table.columns.iter().map(|column| match column.kind {
            ColumnKind::F64 => Column::F64(Float64Builder::new()),
            ColumnKind::U32 | ColumnKind::U64 => Column::Count(Int64Builder::new()),
            ColumnKind::Bool => Column::Bool(BooleanBuilder::new()),
            _ => Column::Text(StringBuilder::new()),
        });
        SummaryTable {
            table,
            rows: 0,
            columns: columns.collect(),
        }
    }

    fn add<R: SummaryRow>(&mut self, row: &R) {
        row.write(&mut Fields(self.columns.iter_mut()));
        self.rows += 1;
    }

    /// Returns the rows as an arrow batch.
    pub(crate) fn into_batch(self) -> RecordBatch {
        let schema = schema_of(&self.table);
        let arrays = self.columns.into_iter().map(|mut column| {
            let builder: &mut dyn ArrayBuilder = match &mut column {
                Column::F64(builder) => builder,
                Column::Count(builder) => builder,
                Column::Bool(builder) => builder,
                Column::Text(builder) => builder,
            };
            builder.finish()
        });
        RecordBatch::try_new(Arc::clone(&schema), arrays.collect())
            .expect("each row has a value or none for each column of its table")
    }
}

/// Returns rows as an Arrow IPC stream. Without rows the stream still has the columns of the table.
pub fn stream_of_rows<R: SummaryRow>(rows: &[R]) -> Vec<u8> {
    let mut table = SummaryTable::new(R::TABLE);
    for row in rows {
        table.add(row);
    }
    stream_of_batch(table.into_batch())
}

/// Returns a batch as an Arrow IPC stream.
pub(crate) fn stream_of_batch(batch: RecordBatch) -> Vec<u8> {
    stream_of(&batch.schema(), std::iter::once(batch))
        .expect("an arrow stream into memory cannot fail")
}

/// Columns that the current row has not yet filled.
struct Fields<'a>(std::slice::IterMut<'a, Column>);

impl Fields<'_> {
    fn next(&mut self) -> &mut Column {
        self.0.next().expect("a row has a value a column")
    }

    #[cold]
    fn mismatch(column: &str) -> ! {
        unreachable!("{column} gets a value of the kind that its table declares")
    }
}

impl FieldSink for Fields<'_> {
    fn f64(&mut self, column: &'static str, value: f64) {
        match self.next() {
            // A number that is not finite becomes null, as in JSON.
            Column::F64(values) => values.append_option(value.is_finite().then_some(value)),
            _ => Self::mismatch(column),
        }
    }
    fn u64(&mut self, column: &'static str, value: u64) {
        match self.next() {
            Column::Count(values) => values.append_value(i64::try_from(value).unwrap_or(i64::MAX)),
            _ => Self::mismatch(column),
        }
    }
    fn bool(&mut self, column: &'static str, value: bool) {
        match self.next() {
            Column::Bool(values) => values.append_value(value),
            _ => Self::mismatch(column),
        }
    }
    fn text(&mut self, column: &'static str, value: &str) {
        match self.next() {
            Column::Text(values) => values.append_value(value),
            _ => Self::mismatch(column),
        }
    }
    fn none(&mut self, _column: &'static str) {
        match self.next() {
            Column::F64(values) => values.append_null(),
            Column::Count(values) => values.append_null(),
            Column::Bool(values) => values.append_null(),
            Column::Text(values) => values.append_null(),
        }
    }
}

/// Summary of a run as one JSON object, for callers that need only a few rows. Each table is a list
/// of objects under its name.
#[derive(Debug, Default)]
pub struct Document(Map<String, Value>);

impl Document {
    /// Returns the summary as one JSON value.
    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

impl SummarySink for Document {
    fn add<R: SummaryRow>(&mut self, row: &R) {
        if let Place::Summary(key) = R::TABLE.place {
            put(&mut self.0, key, row);
            return;
        }
        let rows = self.0.entry(R::TABLE.name).or_insert(Value::Array(vec![]));
        let mut object = Object(Map::new());
        row.write(&mut object);
        rows.as_array_mut()
            .expect("rows are under a table's name, which is no column")
            .push(Value::Object(object.0));
    }
}

/// Stores the only row of a table under `key`. If `key` is empty, the columns of the row become
/// keys of the document itself.
fn put(document: &mut Map<String, Value>, key: &str, row: &impl SummaryRow) {
    let mut object = Object(Map::new());
    row.write(&mut object);
    if key.is_empty() {
        document.extend(object.0);
    } else {
        document.insert(key.to_owned(), Value::Object(object.0));
    }
}

/// Row as a JSON object with a key for each column. A number that is not finite becomes null.
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
