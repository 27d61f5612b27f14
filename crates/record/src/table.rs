//! One table on its way to a Parquet file or into memory.

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

/// Rows buffered before they are turned into columns, at most.
const MOST_ROWS: usize = 64 * 1024;
/// Bytes of them on their way to a file, at most: what a run takes beside its results does not grow with its length.
const MOST_BYTES: usize = 512 * 1024;

/// A table that is being recorded.
#[derive(Debug)]
pub(crate) struct TableWriter<R> {
    buffer: Vec<R>,
    /// Rows that it takes; one row group of a Parquet file.
    chunk: usize,
    schema: SchemaRef,
    dictionaries: Dictionaries,
    names: Names,
    sink: Sink,
    rows: u64,
    /// Place of the latest row.
    latest: (Time, u32),
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<Columns>),
    Parquet(ParquetFile),
    /// A file that could take no more; it has ended.
    GivenUp,
}

/// A table that is complete.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The bytes of an Arrow IPC stream, when it was kept in memory.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Rows that it holds.
    pub(crate) rows: u64,
    /// Why it holds fewer than were pushed.
    pub(crate) error: Option<RecordError>,
}

impl<R: Placed> TableWriter<R> {
    /// A table kept in memory.
    pub(crate) fn in_memory(names: &Names) -> Self {
        Self::new(names, Sink::Memory(Vec::new()), MOST_ROWS)
    }

    /// A table written to the Parquet file `path`.
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

    /// Adds a row; returns true when the buffer is full and [`TableWriter::flush`] is due.
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

    /// Adds a row that is told after later ones. A transport block is told when it is decoded, and
    /// dated when it was sent, so blocks of cells with other slots may come between.
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

    /// Turns most of the buffered rows into columns and hands them on. The latest rows stay, as
    /// rows that are told late belong between them.
    #[cold]
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        self.hand_on(self.chunk.min(self.buffer.len()))
    }

    /// Turns the first `count` rows of the buffer into columns and hands them on. They are gone
    /// from the buffer afterwards, whether or not that worked.
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
                    // The first error is the one to report.
                    self.rows = file.give_up().unwrap_or(0);
                    return Err(error);
                }
            }
            Sink::GivenUp => return Ok(()),
        }
        self.rows += rows;
        Ok(())
    }

    /// Ends the table.
    pub(crate) fn finish(mut self) -> Finished {
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
        Finished {
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

/// Batches as an Arrow IPC stream.
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
        // Whether the header already fails depends on what the writer buffers.
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
