//! Conversion of rows to columns, and of columns to arrow arrays.

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use fadeout_core::table::{ColumnKind, ColumnSink, Place, Row, Table};
use std::sync::Arc;

/// Names that replace ids in the columns of a table.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) flows: Arc<StringArray>,
    pub(crate) links: Arc<StringArray>,
    pub(crate) nodes: Arc<StringArray>,
    pub(crate) cells: Arc<StringArray>,
    pub(crate) ues: Arc<StringArray>,
    pub(crate) bearers: Arc<StringArray>,
}

/// Returns the arrow schema of a table. The schema contains the table's doc, and the unit and doc
/// of each column.
pub(crate) fn schema_of(table: &Table) -> SchemaRef {
    let is_summary = table.place != Place::Recorded;
    let fields = table.columns.iter().map(|column| {
        let data_type = match column.kind {
            ColumnKind::U32 | ColumnKind::U64 if is_summary => DataType::Int64,
            ColumnKind::Name | ColumnKind::Text if is_summary => DataType::Utf8,
            ColumnKind::F64 => DataType::Float64,
            ColumnKind::U32 => DataType::UInt32,
            ColumnKind::U64 => DataType::UInt64,
            ColumnKind::Bool => DataType::Boolean,
            ColumnKind::Name
            | ColumnKind::Text
            | ColumnKind::Flow
            | ColumnKind::Link
            | ColumnKind::Node
            | ColumnKind::Cell
            | ColumnKind::Ue
            | ColumnKind::Bearer => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
        };
        // In a summary table, a number that is not finite becomes null.
        let may_be_none = column.is_optional || is_summary && column.kind == ColumnKind::F64;
        Field::new(column.name, data_type, may_be_none)
            .with_metadata([("unit", column.unit), ("doc", column.doc)])
    });
    let metadata = [("table", table.name), ("doc", table.doc)];
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        metadata,
    ))
}

/// Some rows of a table, stored column by column.
#[derive(Debug)]
pub(crate) struct Columns(Vec<Values>);

#[derive(Debug)]
enum Values {
    F64(Vec<f64>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Bool(Vec<bool>),
    Keys(Vec<i32>),
}

/// Names in the [`ColumnKind::Name`] columns of a table, in the order of their first use. A table
/// has few different names. All chunks of rows share them, so that a whole stream has one
/// dictionary.
#[derive(Debug)]
pub(crate) struct Dictionaries(Vec<Vec<&'static str>>);

impl Dictionaries {
    pub(crate) fn new(table: &Table) -> Self {
        Dictionaries(vec![Vec::new(); table.columns.len()])
    }
}

struct Transposer<'a> {
    columns: &'a mut [Values],
    dictionaries: &'a mut [Vec<&'static str>],
}

impl Transposer<'_> {
    #[cold]
    fn mismatch(column: usize) -> ! {
        unreachable!("column {column} gets values of the kind that its table declares")
    }
}

impl ColumnSink for Transposer<'_> {
    #[inline]
    fn f64(&mut self, column: usize, value: f64) {
        let Values::F64(values) = &mut self.columns[column] else {
            Self::mismatch(column)
        };
        values.push(value);
    }
    #[inline]
    fn u32(&mut self, column: usize, value: u32) {
        match &mut self.columns[column] {
            Values::U32(values) => values.push(value),
            Values::Keys(keys) => keys.push(value.cast_signed()),
            _ => Self::mismatch(column),
        }
    }
    #[inline]
    fn u64(&mut self, column: usize, value: u64) {
        let Values::U64(values) = &mut self.columns[column] else {
            Self::mismatch(column)
        };
        values.push(value);
    }
    #[inline]
    fn bool(&mut self, column: usize, value: bool) {
        let Values::Bool(values) = &mut self.columns[column] else {
            Self::mismatch(column)
        };
        values.push(value);
    }
    #[inline]
    fn name(&mut self, column: usize, value: &'static str) {
        let Values::Keys(keys) = &mut self.columns[column] else {
            Self::mismatch(column)
        };
        let names = &mut self.dictionaries[column];
        let known = names.iter().position(|&name| name == value);
        let key = known.unwrap_or_else(|| {
            names.push(value);
            names.len() - 1
        });
        keys.push(i32::try_from(key).expect("a column has few names"));
    }
}

impl Columns {
    /// Converts `rows` to columns.
    pub(crate) fn from_rows<R: Row>(rows: &[R], dictionaries: &mut Dictionaries) -> Self {
        let room = rows.len();
        let empty = |kind| match kind {
            ColumnKind::F64 => Values::F64(Vec::with_capacity(room)),
            ColumnKind::U32 => Values::U32(Vec::with_capacity(room)),
            ColumnKind::U64 => Values::U64(Vec::with_capacity(room)),
            ColumnKind::Bool => Values::Bool(Vec::with_capacity(room)),
            ColumnKind::Name
            | ColumnKind::Text
            | ColumnKind::Flow
            | ColumnKind::Link
            | ColumnKind::Node
            | ColumnKind::Cell
            | ColumnKind::Ue
            | ColumnKind::Bearer => Values::Keys(Vec::with_capacity(room)),
        };
        let mut columns: Vec<Values> = R::TABLE.columns.iter().map(|c| empty(c.kind)).collect();
        let mut transposer = Transposer {
            columns: &mut columns,
            dictionaries: &mut dictionaries.0,
        };
        for row in rows {
            row.write(&mut transposer);
        }
        Columns(columns)
    }

    /// Returns the rows as an arrow batch. An id without a name is an error.
    pub(crate) fn into_batch(
        self,
        table: &Table,
        schema: &SchemaRef,
        dictionaries: &Dictionaries,
        names: &Names,
    ) -> Result<RecordBatch, ArrowError> {
        let arrays = self.0.into_iter().zip(table.columns).enumerate().map(
            |(index, (values, column))| -> Result<ArrayRef, ArrowError> {
                Ok(match values {
                    Values::F64(values) => Arc::new(Float64Array::from(values)),
                    Values::U32(values) => Arc::new(UInt32Array::from(values)),
                    Values::U64(values) => Arc::new(UInt64Array::from(values)),
                    Values::Bool(values) => Arc::new(BooleanArray::from(values)),
                    Values::Keys(keys) => {
                        let dictionary = match column.kind {
                            ColumnKind::Flow => Arc::clone(&names.flows),
                            ColumnKind::Link => Arc::clone(&names.links),
                            ColumnKind::Node => Arc::clone(&names.nodes),
                            ColumnKind::Cell => Arc::clone(&names.cells),
                            ColumnKind::Ue => Arc::clone(&names.ues),
                            ColumnKind::Bearer => Arc::clone(&names.bearers),
                            _ => Arc::new(StringArray::from(dictionaries.0[index].clone())),
                        };
                        let keys = Int32Array::from(keys);
                        Arc::new(DictionaryArray::<Int32Type>::try_new(keys, dictionary)?)
                    }
                })
            },
        );
        RecordBatch::try_new(Arc::clone(schema), arrays.collect::<Result<_, _>>()?)
    }
}
