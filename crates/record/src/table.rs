//! Table that is written to a Parquet file or to memory.

use crate::RecordError;
use crate::columns::{Columns, Dictionaries, Names, schema_of};
use crate::parquet::ParquetFile;
use crate::place::Placed;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use fadeout_core::Time;
use fadeout_core::table::Row;
use std::path::Path;

/// Maximum number of rows in the buffer before they are converted to columns.
const MOST_ROWS: usize = 64 * 1024;
/// Maximum size of the buffer for a file, bytes. It keeps the memory of a run independent of the
/// run's length.
const MOST_BYTES: usize = 512 * 1024;

/// A table under construction.
#[derive(Debug)]
pub(crate) struct TableWriter<R> {
    buffer: Vec<R>,
    /// Maximum number of rows in the buffer, which is one row group of a Parquet file.
    chunk: usize,
    schema: SchemaRef,
    dictionaries: Dictionaries,
    names: Names,
    sink: Sink,
    rows: u64,
    /// Position of the latest row in the table's order.
    latest: (Time, u32),
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<Columns>),
    Parquet(ParquetFile),
    /// File that was completed after a failed write.
    GivenUp,
}

/// Completed table.
#[derive(Debug)]
pub(crate) struct FinishedTable {
    /// Bytes of an Arrow IPC stream. `None` if the table is in a file.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Number of rows in the table.
    pub(crate) rows: u64,
    /// Reason why rows are missing. `None` if the table is complete.
    pub(crate) error: Option<RecordError>,
}

impl<R: Placed> TableWriter<R> {
    /// Creates a table in memory.
    pub(crate) fn in_memory(names: &Names) -> Self {
        Self::new(names, Sink::Memory(Vec::new()), MOST_ROWS)
    }

    /// Creates a table in the Parquet file `path`.
    pub(crate) fn to_file(path: &Path, names: &Names) -> Result<Self, RecordError> {
        let file = ParquetFile::create(path, &schema_of(&R::TABLE))?;
        let fit = MOST_BYTES / size_of::<R>();
        Ok(Self::new(names, Sink::Parquet(file), fit.min(MOST_ROWS)))
    }

    fn new(names: &Names, sink: Sink, chunk: usize) -> Self {
        TableWriter {
            buffer: Vec::new(),
            chunk,
            schema: schema_of(&R::TABLE),
            dictionaries: Dictionaries::new(&R::TABLE),
            names: names.clone(),
            sink,
            rows: 0,
            latest: (Time::ZERO, 0),
        }
    }

    /// Adds a row. Returns true if the buffer is full and [`TableWriter::flush`] is due.
    #[inline]
    pub(crate) fn push(&mut self, row: R) -> bool {
        let place = row.place();
        if place < self.latest {
            self.put_in_order(row);
            return false;
        }
        self.latest = place;
        self.buffer.push(row);
        self.buffer.len() >= self.chunk + self.chunk / 4
    }

    /// Inserts a row that is reported after rows of later times. A transport block is reported when
    /// it is decoded, but its row has the time of its transmission. Blocks of cells with other slot
    /// lengths may be reported in between.
    #[cold]
    fn put_in_order(&mut self, row: R) {
        let place = row.place();
        let at = self.buffer.partition_point(|other| other.place() <= place);
        debug_assert!(
            at > 0 || self.rows == 0,
            "{}: a row at {place:?} comes after {:?}, which is written already",
            R::TABLE.name,
            self.latest
        );
        self.buffer.insert(at, row);
    }

    /// Converts most of the buffered rows to columns and writes them. The latest rows stay in the
    /// buffer, because rows that are reported late are inserted between them.
    #[cold]
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        self.hand_on(self.chunk.min(self.buffer.len()))
    }

    /// Converts the first `count` rows of the buffer to columns and writes them. The rows are
    /// removed from the buffer even if the write fails.
    fn hand_on(&mut self, count: usize) -> Result<(), RecordError> {
        let columns = Columns::from_rows(&self.buffer[..count], &mut self.dictionaries);
        let rows = count as u64;
        self.buffer.drain(..count);
        match &mut self.sink {
            Sink::Memory(chunks) => chunks.push(columns),
            Sink::Parquet(file) => {
                let batch = batch_of::<R>(columns, &self.schema, &self.dictionaries, &self.names);
                if let Err(error) = file.write(&batch) {
                    let Sink::Parquet(file) = std::mem::replace(&mut self.sink, Sink::GivenUp)
                    else {
                        unreachable!("the sink was a file")
                    };
                    // The first error is reported, so an error of `give_up` is ignored.
                    self.rows = file.give_up().unwrap_or(0);
                    return Err(error);
                }
            }
            Sink::GivenUp => return Ok(()),
        }
        self.rows += rows;
        Ok(())
    }

    /// Completes the table.
    pub(crate) fn finish(mut self) -> FinishedTable {
        let mut error = None;
        while !self.buffer.is_empty() && error.is_none() {
            error = self.flush().err();
        }
        let mut bytes = None;
        match self.sink {
            Sink::Memory(chunks) => {
                let batches = chunks.into_iter().map(|columns| {
                    batch_of::<R>(columns, &self.schema, &self.dictionaries, &self.names)
                });
                let stream = stream_of(&self.schema, batches);
                bytes = Some(stream.expect("an arrow stream into memory cannot fail"));
            }
            Sink::Parquet(file) => {
                if let Err(failed) = file.close() {
                    self.rows = 0;
                    error.get_or_insert(failed);
                }
            }
            Sink::GivenUp => {}
        }
        FinishedTable {
            bytes,
            rows: self.rows,
            error,
        }
    }
}

fn batch_of<R: Row>(
    columns: Columns,
    schema: &SchemaRef,
    dictionaries: &Dictionaries,
    names: &Names,
) -> RecordBatch {
    columns
        .into_batch(&R::TABLE, schema, dictionaries, names)
        .expect("every row's flow, link and node has a name in the recorder's configuration")
}

/// Returns arrow batches as an Arrow IPC stream.
pub(crate) fn stream_of(
    schema: &SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(&batch)?;
    }
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use fadeout_core::{FlowId, ThroughputRow, Time};
    use std::io;
    use std::sync::Arc;

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            eprintln!("skipped: this system has no /dev/full");
            return;
        }
        let flows = Arc::new(StringArray::from(vec!["flow"]));
        let names = Names {
            links: Arc::clone(&flows),
            nodes: Arc::clone(&flows),
            cells: Arc::clone(&flows),
            ues: Arc::clone(&flows),
            bearers: Arc::clone(&flows),
            flows,
        };
        // Depending on the writer's buffer, the error occurs at the file's header or later.
        let result = TableWriter::to_file(full, &names).and_then(|mut table| {
            let row = ThroughputRow {
                time_s: Time::ZERO,
                flow: FlowId(0),
                bytes: 1,
                rate_mbps: 1.0,
            };
            table.push(row);
            table.finish().error.map_or(Ok(()), Err)
        });
        let error = result.expect_err("nothing fits on a full disk");
        let RecordError::Write { path, source } = &error else {
            panic!("{error}")
        };
        assert_eq!(path, full);
        assert_eq!(source.kind(), io::ErrorKind::StorageFull, "{error}");
    }
}
