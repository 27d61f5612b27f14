//! Columns of a run's summary rows. Callers that need a few columns read no files.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use serde_json::{Map, Value};

/// Summary rows of a run, as they were written into its folder.
#[derive(Debug, Default)]
pub struct SummedUp(Vec<(&'static str, RecordBatch)>);

impl SummedUp {
    pub(crate) fn add(&mut self, table: &'static str, rows: RecordBatch) {
        self.0.push((table, rows));
    }

    /// Returns these columns of a table, each as a list under its name. The lists are empty if the
    /// table has no row. `None` if the table lacks one of the columns.
    pub fn columns<'a>(
        &self,
        table: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<Value> {
        let found = self.0.iter().find(|(name, _)| *name == table);
        let columns = names.into_iter().map(|name| {
            let values = match found {
                None => Vec::new(),
                Some((_, rows)) => values_of(rows.column_by_name(name)?),
            };
            Some((name.to_owned(), Value::Array(values)))
        });
        columns.collect::<Option<Map<_, _>>>().map(Value::Object)
    }
}

fn values_of(column: &ArrayRef) -> Vec<Value> {
    let value: &dyn Fn(usize) -> Value = match column.data_type() {
        DataType::Float64 => &|row| column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Int64 => &|row| column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Boolean => &|row| column.as_boolean().value(row).into(),
        DataType::Utf8 => &|row| column.as_string::<i32>().value(row).into(),
        other => unreachable!("rows that sum up have no column of {other}"),
    };
    (0..column.len())
        .map(|row| {
            if column.is_null(row) {
                Value::Null
            } else {
                value(row)
            }
        })
        .collect()
}
