//! Errors outside the simulation: the file system.

use std::io;
use std::path::{Path, PathBuf};

/// A result that could not be written. Every message names the path.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The target exists and may not be replaced.
    #[error("{path} exists already; give another folder, or --force (in Python force=True) to replace it", path = .0.display())]
    Exists(PathBuf),
    /// The target exists and is something other than a run, so force does not replace it either.
    #[error(
        "{path} exists and is not the folder of a run (no manifest.json in it), so it is not \
         replaced; give another folder", path = .0.display()
    )]
    NotARun(PathBuf),
    /// The target has no name to create: it is empty, a root or ends in `..`.
    #[error("{path:?} does not name a folder that could be created", path = .0)]
    NoName(PathBuf),
    /// A file or folder could not be created, written or renamed.
    #[error("cannot write {path}: {source}", path = .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The run ended, and its results could not be moved or completed; what could be written is
    /// kept.
    #[error("{error}; the data recorded until then {can} in {kept}",
        can = if let Some(missing) = .missing { format!("is stored without its {missing}") }
              else { "can be read".to_owned() },
        kept = .kept.display())]
    Kept {
        /// The error.
        error: Box<RecordError>,
        /// The folder with the results so far.
        kept: PathBuf,
        /// The file without which it is no folder of a run, when that could not be written.
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

    /// The path that the error is about.
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
