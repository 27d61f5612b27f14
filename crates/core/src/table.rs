//! Tables of results. A row struct is the single definition of a table.
//!
//! [`table!`](crate::table!) declares the row with a doc comment and a unit per column. These files
//! and texts are made from it: Parquet schema or object of `summary.json`, documentation, data
//! frames and column descriptions in Python. [`Row`] is for tables that are written during a run,
//! and [`SummaryRow`] for those that sum it up at its end.

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// 64-bit float.
    F64,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// True or false.
    Bool,
    /// One of a small set of names.
    Name,
    /// Index of a flow when written, its name in results files.
    Flow,
    /// Index of a direction of a link when written, its name in results files.
    Link,
    /// Index of a node when written, its name in results files.
    Node,
    /// Index of a cell when written, its name in results files.
    Cell,
    /// Index of the radio interface of a UE when written, its name in results files.
    Ue,
    /// Index of a radio bearer when written, its name in results files.
    Bearer,
    /// Any text. Only for tables that sum up a run.
    Text,
}

impl ColumnKind {
    /// Returns the name in the documentation.
    pub const fn name(self) -> &'static str {
        match self {
            ColumnKind::F64 => "f64",
            ColumnKind::U32 => "u32",
            ColumnKind::U64 => "u64",
            ColumnKind::Bool => "bool",
            ColumnKind::Name => "name",
            ColumnKind::Flow => "flow",
            ColumnKind::Link => "link",
            ColumnKind::Node => "node",
            ColumnKind::Cell => "cell",
            ColumnKind::Ue => "ue",
            ColumnKind::Bearer => "bearer",
            ColumnKind::Text => "text",
        }
    }
}

/// Definition of a column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name, with the unit as a suffix if it has one (`srtt_s`).
    pub name: &'static str,
    /// Type of the values.
    pub kind: ColumnKind,
    /// Unit, or an empty string.
    pub unit: &'static str,
    /// Meaning of the value.
    pub doc: &'static str,
    /// True if a row may lack the value. Only for tables that sum up a run.
    pub is_optional: bool,
}

/// Location of the rows of a table in the results of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Parquet file of the table's name, if the run was to record it.
    Recorded,
    /// Parquet file of the table's name, regardless of the probe settings. There is no file if
    /// there are no rows.
    Rows,
    /// Single row, which is the object of `summary.json` under this key. Without a key it is the
    /// whole file.
    Summary(&'static str),
    /// No location in the results of a run, because the rows are known before the scenario runs.
    Scenario,
}

impl Place {
    /// Returns true if every run has the table.
    pub const fn is_always_there(self) -> bool {
        matches!(self, Place::Rows | Place::Summary(_))
    }
}

/// Definition of a table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Name of the table, and of its Parquet file if it has one.
    pub name: &'static str,
    /// Location of its rows.
    pub place: Place,
    /// Event or sample for which a row stands.
    pub doc: &'static str,
    /// Columns in order.
    pub columns: &'static [Column],
}

/// Receiver of the values of a row, column by column in the table's order.
pub trait ColumnSink {
    /// Writes a [`ColumnKind::F64`] value.
    fn f64(&mut self, column: usize, value: f64);
    /// Writes a [`ColumnKind::U32`] value, or the index of the item that a column names.
    fn u32(&mut self, column: usize, value: u32);
    /// Writes a [`ColumnKind::U64`] value.
    fn u64(&mut self, column: usize, value: u64);
    /// Writes a [`ColumnKind::Bool`] value.
    fn bool(&mut self, column: usize, value: bool);
    /// Writes a [`ColumnKind::Name`] value.
    fn name(&mut self, column: usize, value: &'static str);
}

/// Returns the value of a column of a row as a number. True is 1 and false is 0. NaN if the column
/// has names.
pub fn number_in<R: Row>(row: &R, column: usize) -> f64 {
    let mut found = Number {
        column,
        value: f64::NAN,
    };
    row.write(&mut found);
    found.value
}

/// Receiver of one column of a row.
struct Number {
    column: usize,
    value: f64,
}

impl Number {
    #[inline]
    fn keep(&mut self, column: usize, value: f64) {
        if column == self.column {
            self.value = value;
        }
    }
}

impl ColumnSink for Number {
    #[inline]
    fn f64(&mut self, column: usize, value: f64) {
        self.keep(column, value);
    }
    #[inline]
    fn u32(&mut self, column: usize, value: u32) {
        self.keep(column, f64::from(value));
    }
    #[inline]
    fn u64(&mut self, column: usize, value: u64) {
        self.keep(column, value as f64);
    }
    #[inline]
    fn bool(&mut self, column: usize, value: bool) {
        self.keep(column, f64::from(value));
    }
    #[inline]
    fn name(&mut self, _column: usize, _value: &'static str) {}
}

/// Row of a table that is recorded during a run.
pub trait Row: Copy {
    /// Definition of the table.
    const TABLE: Table;
    /// Writes the row's values to `sink`.
    fn write(&self, sink: &mut impl ColumnSink);
}

/// Type that can fill a column.
pub trait ColumnValue: Copy {
    /// Type of the column.
    const KIND: ColumnKind;
    /// Writes the value.
    fn write(self, column: usize, sink: &mut impl ColumnSink);
}

macro_rules! cell {
    ($($type:ty => $kind:ident, $put:ident, |$value:ident| $convert:expr;)*) => {$(
        impl ColumnValue for $type {
            const KIND: ColumnKind = ColumnKind::$kind;
            fn write(self, column: usize, sink: &mut impl ColumnSink) {
                let $value = self;
                sink.$put(column, $convert);
            }
        }
    )*};
}

cell! {
    f64 => F64, f64, |v| v;
    u32 => U32, u32, |v| v;
    u64 => U64, u64, |v| v;
    bool => Bool, bool, |v| v;
    &'static str => Name, name, |v| v;
    crate::Time => F64, f64, |v| v.as_secs_f64();
    crate::Span => F64, f64, |v| v.as_secs_f64();
    crate::FlowId => Flow, u32, |v| v.0;
    crate::LinkId => Link, u32, |v| v.0;
    crate::NodeId => Node, u32, |v| v.0;
    crate::CellId => Cell, u32, |v| v.0;
    crate::UeId => Ue, u32, |v| v.0;
    crate::DrbId => Bearer, u32, |v| v.0;
}

/// Receiver of the values of a summary row, in the table's order.
pub trait FieldSink {
    /// Writes a number with a fraction.
    fn f64(&mut self, column: &'static str, value: f64);
    /// Writes a count.
    fn u64(&mut self, column: &'static str, value: u64);
    /// Writes a bool.
    fn bool(&mut self, column: &'static str, value: bool);
    /// Writes a text or a name.
    fn text(&mut self, column: &'static str, value: &str);
    /// Writes that the value is missing.
    fn none(&mut self, column: &'static str);
}

/// Row of a table that sums up a run. It describes a flow, a link, or the whole run.
pub trait SummaryRow {
    /// Definition of the table.
    const TABLE: Table;
    /// Writes the row's values to `sink`.
    fn write(&self, sink: &mut impl FieldSink);
}

/// Receiver of the summary rows of a run. It takes one row at a time, so no list of all flows is
/// needed.
pub trait SummarySink {
    /// Adds a row to its table.
    fn add<R: SummaryRow>(&mut self, row: &R);
}

/// Type that can fill a column of a summary row.
pub trait Field {
    /// Type of the column.
    const KIND: ColumnKind;
    /// True if the value may be missing.
    const IS_OPTIONAL: bool = false;
    /// Writes the value.
    fn write(&self, column: &'static str, sink: &mut impl FieldSink);
}

macro_rules! field {
    ($($type:ty => $kind:ident, $put:ident, |$value:ident| $convert:expr;)*) => {$(
        impl Field for $type {
            const KIND: ColumnKind = ColumnKind::$kind;
            fn write(&self, column: &'static str, sink: &mut impl FieldSink) {
                let $value = self;
                sink.$put(column, $convert);
            }
        }
    )*};
}

field! {
    f64 => F64, f64, |v| *v;
    u32 => U32, u64, |v| u64::from(*v);
    u64 => U64, u64, |v| *v;
    bool => Bool, bool, |v| *v;
    String => Text, text, |v| v;
    &'static str => Name, text, |v| v;
    crate::Time => F64, f64, |v| v.as_secs_f64();
    crate::Span => F64, f64, |v| v.as_secs_f64();
}

impl<T: Field> Field for Option<T> {
    const KIND: ColumnKind = T::KIND;
    const IS_OPTIONAL: bool = true;
    fn write(&self, column: &'static str, sink: &mut impl FieldSink) {
        match self {
            Some(value) => value.write(column, sink),
            None => sink.none(column),
        }
    }
}

/// Declares a row struct and its table. The table is recorded during a run, or `in summary` and
/// written at its end. With a key it is a single row in `summary.json`. A table `in scenario` is
/// known without a run.
///
/// ```
/// fadeout_core::table! {
///     /// Height of the tide, one row a reading.
///     pub struct TideRow = "tide" {
///         /// When it was read.
///         time_s: fadeout_core::Time, "s";
///         /// Height above chart datum.
///         height_m: f64, "m";
///     }
/// }
/// use fadeout_core::table::Row;
/// assert_eq!(TideRow::TABLE.columns[1].name, "height_m");
/// assert_eq!(TideRow::TABLE.columns[1].doc, "Height above chart datum.");
///
/// fadeout_core::table! {
///     /// A harbour, one row each.
///     pub struct HarbourRow = "harbours" in summary {
///         /// Name.
///         harbour: String, "";
///         /// Highest tide; none where none was seen.
///         highest_m: Option<f64>, "m";
///     }
/// }
/// use fadeout_core::table::SummaryRow;
/// assert!(HarbourRow::TABLE.columns[1].is_optional);
/// ```
#[macro_export]
macro_rules! table {
    (@place summary) => {
        $crate::table::Place::Rows
    };
    (@place scenario) => {
        $crate::table::Place::Scenario
    };
    (@place summary $key:literal) => {
        $crate::table::Place::Summary($key)
    };
    (
        $(#[doc = $doc:literal])+
        pub struct $row:ident = $name:literal {
            $( $(#[doc = $column_doc:literal])+ $column:ident : $type:ty, $unit:literal; )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $row {
            $( $(#[doc = $column_doc])+ pub $column: $type, )+
        }

        impl $crate::table::Row for $row {
            const TABLE: $crate::table::Table = $crate::table::Table {
                name: $name,
                place: $crate::table::Place::Recorded,
                doc: $crate::table::trim(concat!($($doc),+)),
                columns: &[$( $crate::table::Column {
                    name: stringify!($column),
                    kind: <$type as $crate::table::ColumnValue>::KIND,
                    unit: $unit,
                    doc: $crate::table::trim(concat!($($column_doc),+)),
                    is_optional: false,
                }, )+],
            };

            #[allow(unused_assignments, reason = "the last column's increment")]
            fn write(&self, sink: &mut impl $crate::table::ColumnSink) {
                let mut column = 0;
                $(
                    $crate::table::ColumnValue::write(self.$column, column, sink);
                    column += 1;
                )+
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $row:ident = $name:literal in $place:ident $($key:literal)? {
            $( $(#[doc = $column_doc:literal])+ $column:ident : $type:ty, $unit:literal; )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $row {
            $( $(#[doc = $column_doc])+ pub $column: $type, )+
        }

        impl $crate::table::SummaryRow for $row {
            const TABLE: $crate::table::Table = $crate::table::Table {
                name: $name,
                place: $crate::table!(@place $place $($key)?),
                doc: $crate::table::trim(concat!($($doc),+)),
                columns: &[$( $crate::table::Column {
                    name: stringify!($column),
                    kind: <$type as $crate::table::Field>::KIND,
                    unit: $unit,
                    doc: $crate::table::trim(concat!($($column_doc),+)),
                    is_optional: <$type as $crate::table::Field>::IS_OPTIONAL,
                }, )+],
            };

            fn write(&self, sink: &mut impl $crate::table::FieldSink) {
                $( $crate::table::Field::write(&self.$column, stringify!($column), sink); )+
            }
        }
    };
}

/// Returns the doc comment without the space that follows `///`.
pub const fn trim(doc: &'static str) -> &'static str {
    doc.trim_ascii()
}
