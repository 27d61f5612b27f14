//! Saving of results from memory to a folder.

use crate::parquet::ParquetFile;
use crate::recorder::file_name;
use crate::{RecordError, RunFolder};
use arrow_ipc::reader::StreamReader;
use arrow_schema::ArrowError;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Results of a run that was recorded in memory.
#[derive(Debug, Clone, Copy)]
pub struct Saved<'a> {
    /// Contents of `manifest.json`.
    pub manifest: &'a str,
    /// Contents of `summary.json`.
    pub summary: &'a str,
    /// Name and Arrow IPC stream of each table.
    pub tables: &'a [(String, Vec<u8>)],
    /// Path within the folder and pcapng bytes of each capture.
    pub captures: &'a [(String, Vec<u8>)],
}

/// Writes `saved` into `folder`, with the same files as a run that was recorded there. Returns the
/// folder's path.
///
/// # Errors
/// Returns [`RecordError::Write`] with the path that could not be written. No files are left in
/// that case.
pub fn save(folder: RunFolder, saved: &Saved<'_>) -> Result<PathBuf, RecordError> {
    for (name, stream) in saved.tables {
        table(&path_in(&folder, &file_name(name))?, stream)?;
    }
    for (name, bytes) in saved.captures {
        let path = path_in(&folder, name)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| RecordError::write(parent, error))?;
        }
        folder.write(name, bytes)?;
    }
    folder.write("summary.json", saved.summary.as_bytes())?;
    folder.write("manifest.json", saved.manifest.as_bytes())?;
    folder.commit()
}

/// Returns the path of `name` in the folder. Returns an error if `name` leads out of the folder.
fn path_in(folder: &RunFolder, name: &str) -> Result<PathBuf, RecordError> {
    let mut parts = Path::new(name).components();
    if parts.all(|part| matches!(part, Component::Normal(_))) {
        return Ok(folder.path(name));
    }
    let error = io::Error::new(
        io::ErrorKind::InvalidInput,
        "it leaves the folder of the run",
    );
    Err(RecordError::write(Path::new(name), error))
}

fn table(path: &Path, stream: &[u8]) -> Result<(), RecordError> {
    let broken = |error: ArrowError| RecordError::write(path, io::Error::other(error));
    let batches = StreamReader::try_new(stream, None).map_err(broken)?;
    let mut file = ParquetFile::create(path, &batches.schema())?;
    for batch in batches {
        file.write(&batch.map_err(broken)?)?;
    }
    file.close()
}
