//! One table on its way to a Parquet file or into memory.

use crate::RecordError;
use crate::columns::{Columns, Dictionaries, Names, schema_of};
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use fadeout_core::table::Row;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Rows buffered before they are turned into columns; one row group of a Parquet file.
const CHUNK: usize = 64 * 1024;

/// A table that is being recorded.
#[derive(Debug)]
pub(crate) struct TableWriter<R> {
    buffer: Vec<R>,
    schema: SchemaRef,
    dictionaries: Dictionaries,
    names: Names,
    sink: Sink,
    rows: u64,
}

enum Sink {
    Memory(Vec<Columns>),
    // Boxed: the writer is large, and a table that is off has one field for it too.
    Parquet {
        path: PathBuf,
        writer: Box<ArrowWriter<File>>,
    },
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sink::Memory(chunks) => write!(f, "Memory({} chunks)", chunks.len()),
            Sink::Parquet { path, .. } => write!(f, "Parquet({})", path.display()),
        }
    }
}

impl<R: Row> TableWriter<R> {
    /// A table kept in memory.
    pub(crate) fn in_memory(names: &Names) -> Self {
        Self::new(names, Sink::Memory(Vec::new()))
    }

    /// A table written to the Parquet file `path`.
    pub(crate) fn to_file(path: &Path, names: &Names) -> Result<Self, RecordError> {
        let file = File::create(path).map_err(|error| RecordError::write(path, error))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("fadeout {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = ArrowWriter::try_new(file, schema_of(&R::TABLE), Some(properties))
            .map_err(|error| RecordError::write(path, parquet_io(error)))?;
        Ok(Self::new(
            names,
            Sink::Parquet {
                path: path.to_owned(),
                writer: Box::new(writer),
            },
        ))
    }

    fn new(names: &Names, sink: Sink) -> Self {
        TableWriter {
            buffer: Vec::new(),
            schema: schema_of(&R::TABLE),
            dictionaries: Dictionaries::new(&R::TABLE),
            names: names.clone(),
            sink,
            rows: 0,
        }
    }

    /// Adds a row; returns true when the buffer is full and [`TableWriter::flush`] is due.
    #[inline]
    pub(crate) fn push(&mut self, row: R) -> bool {
        self.buffer.push(row);
        self.buffer.len() >= CHUNK
    }

    /// Rows pushed so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows + self.buffer.len() as u64
    }

    /// Turns the buffered rows into columns and hands them on. The buffer is empty afterwards,
    /// whether or not that worked.
    #[cold]
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        let columns = Columns::from_rows(&self.buffer, &mut self.dictionaries);
        self.rows += self.buffer.len() as u64;
        self.buffer.clear();
        match &mut self.sink {
            Sink::Memory(chunks) => {
                chunks.push(columns);
                Ok(())
            }
            Sink::Parquet { path, writer } => {
                let batch = batch_of::<R>(columns, &self.schema, &self.dictionaries, &self.names);
                let written = writer.write(&batch).and_then(|()| writer.flush());
                written.map_err(|error| RecordError::write(path, parquet_io(error)))
            }
        }
    }

    /// Ends the table: gives the bytes of an Arrow IPC stream when it was kept in memory, and
    /// completes the file otherwise.
    pub(crate) fn finish(mut self) -> Result<Option<Vec<u8>>, RecordError> {
        if !self.buffer.is_empty() {
            self.flush()?;
        }
        match self.sink {
            Sink::Memory(chunks) => {
                let batches = chunks.into_iter().map(|columns| {
                    batch_of::<R>(columns, &self.schema, &self.dictionaries, &self.names)
                });
                let stream = stream_of(&self.schema, batches);
                Ok(Some(
                    stream.expect("an arrow stream into memory cannot fail"),
                ))
            }
            Sink::Parquet { path, writer } => match writer.close() {
                Ok(_) => Ok(None),
                Err(error) => Err(RecordError::write(&path, parquet_io(error))),
            },
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

fn stream_of(
    schema: &SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(&batch)?;
    }
    writer.into_inner()
}

/// The I/O error inside `error`, so that a full disk reads as one.
fn parquet_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use fadeout_core::{FlowId, ThroughputRow, Time};
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
            table.finish()
        });
        let error = result.expect_err("nothing fits on a full disk");
        let RecordError::Write { path, source } = &error else {
            panic!("{error}")
        };
        assert_eq!(path, full);
        assert_eq!(source.kind(), io::ErrorKind::StorageFull, "{error}");
    }
}
