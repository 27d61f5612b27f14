//! Errors of writing results.

use std::io;
use std::path::{Path, PathBuf};

/// Error of a result that could not be written. Every message names the path.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The target folder exists and may not be replaced.
    #[error("{path} exists already; give another folder, or --force (in Python force=True) to replace it", path = .0.display())]
    Exists(PathBuf),
    /// The target exists and is not the folder of a run. It is not replaced, even with `force`.
    #[error(
        "{path} exists and is not the folder of a run (no manifest.json in it), so it is not \
         replaced; give another folder", path = .0.display()
    )]
    NotARun(PathBuf),
    /// The target has no name that could be created: it is empty, is a root or ends in `..`.
    #[error("{path:?} does not name a folder that could be created", path = .0)]
    NoName(PathBuf),
    /// A file or folder could not be created, written or renamed.
    #[error("cannot write {path}: {source}", path = .path.display())]
    Write {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The run ended, but its results could not be completed or moved to the target. Results that
    /// could be written are kept.
    #[error("{error}; the data recorded until then {can} in {kept}",
        can = if let Some(missing) = .missing { format!("is stored without its {missing}") }
              else { "can be read".to_owned() },
        kept = .kept.display())]
    Kept {
        /// First error of the run or of its end.
        error: Box<RecordError>,
        /// Folder with the results so far.
        kept: PathBuf,
        /// Required file of a run's folder that could not be written. `None` if all required files
        /// were written.
        missing: Option<&'static str>,
    },
}

impl RecordError {
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        RecordError::Write {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns the path that caused the error.
    pub fn path(&self) -> &Path {
        match self {
            RecordError::Exists(path) | RecordError::NotARun(path) | RecordError::NoName(path) => {
                path
            }
            RecordError::Write { path, .. } => path,
            RecordError::Kept { error, .. } => error.path(),
        }
    }
}
