//! A Parquet file that stays readable after a full disk or a failed write. Space for the file's
//! footer is reserved ahead of the rows. A row group that does not fit is dropped.

use crate::RecordError;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::{
    ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata, encode_arrow_schema,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes reserved for a footer, without the schema and the columns.
const FOOTER: usize = 4096;
/// Bytes reserved in a footer for each column of a row group, including its page index. Usually
/// about 300 bytes are used.
const COLUMN: usize = 1024;

/// A Parquet file under construction, written one row group at a time.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: SchemaRef,
    // The writer is boxed because it is large. The field exists also for tables that are not
    // recorded.
    writer: Box<ArrowWriter<Room>>,
}

/// File that consists of complete row groups, followed by space for the footer.
#[derive(Debug)]
struct Room {
    file: File,
    /// End of the last complete row group.
    whole: u64,
    /// True after a failed write. Data in the writer's buffer is then discarded.
    is_given_up: bool,
}

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_given_up {
            return Ok(bytes.len());
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_given_up {
            return Ok(());
        }
        self.file.flush()
    }
}

impl Room {
    /// Records that the file is complete up to the current position. Reserves `room` bytes for a
    /// footer.
    fn reserve_footer(&mut self, room: usize) -> io::Result<()> {
        let here = self.file.stream_position()?;
        // Space that was reserved before and is still unused stays reserved.
        let end = self.file.seek(SeekFrom::End(0))?;
        let missing = (here + room as u64).saturating_sub(end);
        self.file.write_all(&vec![0; missing as usize])?;
        self.file.seek(SeekFrom::Start(here))?;
        self.whole = here;
        Ok(())
    }
}

impl ParquetFile {
    /// Creates the file at `path`, with space for the footer of an empty table.
    pub(crate) fn create(path: &Path, schema: &SchemaRef) -> Result<ParquetFile, RecordError> {
        let failed = |error| RecordError::write(path, error);
        let file = File::create(path).map_err(failed)?;
        let room = Room {
            file,
            whole: 0,
            is_given_up: false,
        };
        let writer = ArrowWriter::try_new(room, Arc::clone(schema), Some(properties()))
            .map_err(|error| failed(parquet_io(error)))?;
        let mut created = ParquetFile {
            path: path.to_owned(),
            schema: Arc::clone(schema),
            writer: Box::new(writer),
        };
        created.reserve_for_rows().map_err(failed)?;
        Ok(created)
    }

    /// Adds `batch` as a row group.
    ///
    /// # Errors
    /// Returns [`RecordError::Write`] if the row group does not fit on the disk. The caller must
    /// then call [`ParquetFile::give_up`].
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), RecordError> {
        let written = self
            .writer
            .write(batch)
            .and_then(|()| self.writer.flush())
            .map_err(parquet_io)
            .and_then(|()| self.reserve_for_rows());
        written.map_err(|error| RecordError::write(&self.path, error))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns [`RecordError::Write`] if the footer cannot be written. The file is then unreadable.
    pub(crate) fn close(mut self) -> Result<(), RecordError> {
        let finished = self.writer.finish().map_err(parquet_io).and_then(|_| {
            let file = &mut self.writer.inner_mut().file;
            let end = file.stream_position()?;
            file.set_len(end)
        });
        finished.map_err(|error| RecordError::write(&self.path, error))
    }

    /// Completes the file after a failed write. The file contains the row groups before the
    /// failure. Returns their number of rows.
    ///
    /// # Errors
    /// Returns [`RecordError::Write`] if not even the reserved space can be written.
    pub(crate) fn give_up(mut self) -> Result<u64, RecordError> {
        let whole = {
            let room = self.writer.inner_mut();
            room.is_given_up = true;
            room.whole
        };
        // The failed row group is the last one, if the writer has counted it at all.
        let fits = |group: &&RowGroupMetaData| {
            let ends = group.columns().iter().map(|column| {
                let (start, length) = column.byte_range();
                start + length
            });
            ends.max().unwrap_or(0) <= whole
        };
        let groups: Vec<RowGroupMetaData> = self
            .writer
            .flushed_row_groups()
            .iter()
            .take_while(fits)
            .cloned()
            .collect();
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let (path, schema) = (self.path, self.schema);
        drop(self.writer);
        let footer = footer(&schema, groups, rows).map_err(parquet_io);
        let written = footer.and_then(|footer| {
            let mut file = OpenOptions::new().write(true).open(&path)?;
            file.seek(SeekFrom::Start(whole))?;
            file.write_all(&footer)?;
            file.set_len(whole + footer.len() as u64)
        });
        match written {
            Ok(()) => Ok(u64::try_from(rows).unwrap_or(0)),
            Err(error) => Err(RecordError::write(&path, error)),
        }
    }

    fn reserve_for_rows(&mut self) -> io::Result<()> {
        let groups = self.writer.flushed_row_groups().len();
        let schema = encode_arrow_schema(&self.schema).len();
        let columns = self.schema.fields().len();
        self.writer.sync()?;
        self.writer
            .inner_mut()
            .reserve_footer(FOOTER + schema + columns * COLUMN * (groups + 1))
    }
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(created_by())
        .build()
}

fn created_by() -> String {
    format!("fadeout {}", env!("CARGO_PKG_VERSION"))
}

/// Returns the footer of a file with these row groups.
fn footer(
    schema: &SchemaRef,
    groups: Vec<RowGroupMetaData>,
    rows: i64,
) -> Result<Vec<u8>, ParquetError> {
    let mut properties = properties();
    add_encoded_arrow_schema_to_metadata(schema, &mut properties);
    let file = FileMetaData::new(
        WriterVersion::PARQUET_1_0.as_num(),
        rows,
        Some(created_by()),
        properties.key_value_metadata().cloned(),
        Arc::new(ArrowSchemaConverter::new().convert(schema)?),
        None,
    );
    let metadata = ParquetMetaDataBuilder::new(file)
        .set_row_groups(groups)
        .build();
    let mut bytes = Vec::new();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish()?;
    Ok(bytes)
}

/// Returns the I/O error inside `error`, so that a full disk is reported as a full disk.
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
    use arrow_array::{Float64Array, RecordBatch};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    fn batch(rows: usize) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("x", DataType::Float64, false)]);
        let values = (0..rows).map(|n| (n * 7919 % 1013) as f64);
        let column = Arc::new(Float64Array::from_iter_values(values));
        RecordBatch::try_new(Arc::new(schema), vec![column]).expect("one column, as declared")
    }

    fn rows_in(path: &Path) -> i64 {
        let reader = SerializedFileReader::new(File::open(path).expect("written"));
        let reader = reader.expect("a file that was ended can be read");
        let metadata = reader.metadata();
        let groups = metadata.row_groups().iter();
        let counted: i64 = groups.map(RowGroupMetaData::num_rows).sum();
        assert_eq!(counted, metadata.file_metadata().num_rows());
        let rows = reader.get_row_iter(None).expect("a schema");
        let whole: Vec<_> = rows.map(|row| row.expect("whole")).collect();
        assert_eq!(whole.len() as i64, counted);
        counted
    }

    #[test]
    fn a_file_that_is_given_up_has_its_whole_row_groups() {
        let folder = std::env::temp_dir().join(format!("fadeout-parquet-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("writable");
        for written in 0..3 {
            let path = folder.join(format!("{written}.parquet"));
            let mut file = ParquetFile::create(&path, &batch(0).schema()).expect("writable");
            for _ in 0..written {
                file.write(&batch(5000)).expect("writable");
            }
            // A failed write may leave part of a row group in the space that is reserved for the
            // footer.
            let mut garbage = OpenOptions::new().write(true).open(&path).expect("there");
            let whole = file.writer.inner().whole;
            garbage.seek(SeekFrom::Start(whole)).expect("a place in it");
            garbage.write_all(&[0xAB; 100_000]).expect("writable");
            assert_eq!(file.give_up().expect("it fits"), 5000 * written);
            assert_eq!(rows_in(&path), 5000 * written as i64);
        }
        std::fs::remove_dir_all(&folder).expect("there");
    }

    #[test]
    fn room_for_the_footer_is_larger_than_the_footer() {
        let path = std::env::temp_dir().join(format!("fadeout-room-{}", std::process::id()));
        let mut file = ParquetFile::create(&path, &batch(0).schema()).expect("writable");
        for _ in 0..20 {
            file.write(&batch(70_000)).expect("writable");
            let room = std::fs::metadata(&path).expect("there").len();
            let whole = file.writer.inner().whole;
            let groups = file.writer.flushed_row_groups().to_vec();
            let footer = footer(&batch(0).schema(), groups, 0).expect("a footer");
            assert!(whole + footer.len() as u64 <= room);
        }
        let kept = std::fs::metadata(&path).expect("there").len();
        file.close().expect("writable");
        assert!(
            std::fs::metadata(&path).expect("there").len() <= kept,
            "the writer's own footer, with its page index, fits as well"
        );
        assert_eq!(rows_in(&path), 20 * 70_000);
        std::fs::remove_file(&path).expect("there");
    }
}
