//! The folder of a run. The folder has a temporary name until it is complete.

use crate::RecordError;
use crate::parquet::ParquetFile;
use crate::recorder::file_name;
use arrow_array::RecordBatch;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Number of bytes that are reserved for the files at the end of a run.
const RESERVE: usize = 256 * 1024;
const RESERVE_NAME: &str = ".reserve";

/// Folder under construction next to its target. The folder is removed unless it is committed.
#[derive(Debug)]
pub struct RunFolder {
    target: PathBuf,
    partial: PathBuf,
    force: bool,
    keep: bool,
}

impl RunFolder {
    /// Creates a hidden folder `.NAME.partial-PID` next to `target`, and missing parent folders.
    ///
    /// An existing `target` is an error unless it is an empty folder. With `force` it may also be
    /// the folder of a run.
    ///
    /// # Errors
    /// Returns [`RecordError::Exists`], [`RecordError::NotARun`], [`RecordError::NoName`], or
    /// [`RecordError::Write`] with the path that could not be created.
    pub fn create(target: &Path, force: bool) -> Result<RunFolder, RecordError> {
        let name = target
            .file_name()
            .ok_or_else(|| RecordError::NoName(target.to_owned()))?;
        may_replace(target, force)?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|error| RecordError::write(parent, error))?;
        let name = name.to_string_lossy();
        let partial = unused(parent, &format!(".{name}.partial"), |path| {
            fs::create_dir(path)
        })?;
        let folder = RunFolder {
            target: target.to_owned(),
            partial,
            force,
            keep: false,
        };
        folder.write(RESERVE_NAME, &vec![0; RESERVE])?;
        Ok(folder)
    }

    /// Returns the path of the file `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// Writes a complete file into the folder.
    ///
    /// # Errors
    /// Returns [`RecordError::Write`] with the file's path.
    pub fn write(&self, name: &str, contents: &[u8]) -> Result<(), RecordError> {
        let path = self.path(name);
        fs::write(&path, contents).map_err(|error| RecordError::write(&path, error))
    }

    /// Writes a complete table into the Parquet file `NAME.parquet`. The file is removed again if
    /// it does not fit on the disk.
    ///
    /// # Errors
    /// Returns [`RecordError::Write`] with the file's path.
    pub(crate) fn write_table(&self, name: &str, batch: &RecordBatch) -> Result<(), RecordError> {
        let path = self.path(&file_name(name));
        let write = || {
            let mut file = ParquetFile::create(&path, &batch.schema())?;
            file.write(batch)?;
            file.close()
        };
        write().inspect_err(|_| {
            // The first error is reported, so an error of the removal is ignored.
            let _ = fs::remove_file(&path);
        })
    }

    /// Frees the disk space reserved for the end of the run.
    pub(crate) fn release_reserve(&self) {
        // If the reserve file cannot be removed, the next write reports the reason.
        let _ = fs::remove_file(self.path(RESERVE_NAME));
    }

    /// Writes the summary and the manifest, and renames the folder to its target. The results are
    /// completed even after `error`, so that they can be read.
    ///
    /// # Errors
    /// Returns `error`, or the first error of this function. It is inside a [`RecordError::Kept`]
    /// with the path of the results. Results stay in the partial folder if the folder could not be
    /// renamed.
    pub(crate) fn end(
        mut self,
        summary: &str,
        manifest: &str,
        error: Option<RecordError>,
    ) -> Result<PathBuf, RecordError> {
        self.keep = true;
        self.release_reserve();
        let mut missing = None;
        let mut first = error;
        for (name, text) in [("summary.json", summary), ("manifest.json", manifest)] {
            if let Err(error) = self.write(name, text.as_bytes()) {
                missing.get_or_insert(name);
                first.get_or_insert(error);
            }
        }
        // An incomplete run must never replace a complete run.
        let is_occupied = first.is_some() && self.target.join("manifest.json").exists();
        let renamed = if is_occupied {
            Err(RecordError::Exists(self.target.clone()))
        } else {
            self.rename()
        };
        let kept = match &renamed {
            Ok(()) => &self.target,
            Err(_) => &self.partial,
        };
        match first.or(renamed.err()) {
            None => Ok(kept.clone()),
            Some(error) => Err(RecordError::Kept {
                error: Box::new(error),
                kept: kept.clone(),
                missing,
            }),
        }
    }

    /// Renames the folder to its target.
    ///
    /// # Errors
    /// Returns the errors of [`RunFolder::create`] if the target was created in the meantime.
    /// Returns [`RecordError::Write`] if the folder could not be renamed.
    pub(crate) fn commit(mut self) -> Result<PathBuf, RecordError> {
        self.release_reserve();
        self.rename()?;
        self.keep = true;
        Ok(self.target.clone())
    }

    /// Renames the folder to its target. An existing target is renamed first and deleted last, so
    /// that an error in between loses neither folder.
    fn rename(&self) -> Result<(), RecordError> {
        may_replace(&self.target, self.force)?;
        let failed = |error| RecordError::write(&self.target, error);
        if !self.target.exists() {
            return fs::rename(&self.partial, &self.target).map_err(failed);
        }
        let parent = self.partial.parent().unwrap_or(Path::new("."));
        let name = self
            .target
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let old = unused(parent, &format!(".{name}.old"), |path| {
            if path.exists() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(&self.target, path)
        })?;
        if let Err(error) = fs::rename(&self.partial, &self.target) {
            // The first error is reported, so an error of this renaming is ignored. The old run
            // then stays at `old`.
            let _ = fs::rename(&old, &self.target);
            return Err(failed(error));
        }
        fs::remove_dir_all(&old).map_err(|error| RecordError::write(&old, error))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if !self.keep {
            // The partial folder stays if it cannot be removed.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

fn may_replace(target: &Path, force: bool) -> Result<(), RecordError> {
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RecordError::write(target, error)),
        Ok(_) => {}
    }
    let is_empty = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty {
        return Ok(());
    }
    if !force {
        return Err(RecordError::Exists(target.to_owned()));
    }
    if !target.join("manifest.json").is_file() {
        return Err(RecordError::NotARun(target.to_owned()));
    }
    Ok(())
}

/// Calls `make` with the path `PARENT/STEM-PID`. A number is appended while the path exists.
/// Another run of this process or a killed process may have created it.
fn unused(
    parent: &Path,
    stem: &str,
    make: impl Fn(&Path) -> io::Result<()>,
) -> Result<PathBuf, RecordError> {
    let pid = std::process::id();
    let mut path = parent.join(format!("{stem}-{pid}"));
    for attempt in 1.. {
        match make(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                path = parent.join(format!("{stem}-{pid}-{attempt}"));
            }
            Err(error) => return Err(RecordError::write(&path, error)),
        }
    }
    unreachable!("the last attempt returns")
}
