//! A pcapng file, on disk or in memory.

use super::pcapng::{Interface, PcapngWriter};
use crate::manifest::Subject;
use crate::{RecordError, RunFolder};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

#[derive(Debug)]
pub(super) struct CaptureFile {
    /// Node, link, cell or UE whose packets the file contains.
    subject: Subject,
    /// Path of the file relative to the run folder.
    name: String,
    /// Path of the file on disk, for error messages.
    path: PathBuf,
    packets: u64,
    writer: PcapngWriter<Output>,
}

/// A capture that is complete.
#[derive(Debug)]
pub(crate) struct FinishedCapture {
    pub(crate) subject: Subject,
    pub(crate) name: String,
    pub(crate) packets: u64,
    /// Contents of the file if it was kept in memory. `None` if the file is on disk.
    pub(crate) bytes: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(super) enum Output {
    Memory(Vec<u8>),
    File(BufWriter<File>),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Memory(memory) => memory.write(bytes),
            Output::File(file) => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Memory(_) => Ok(()),
            Output::File(file) => file.flush(),
        }
    }
}

impl CaptureFile {
    /// Opens `captures/STEM.pcapng`.
    pub(super) fn open(
        subject: Subject,
        stem: &str,
        interface: Interface,
        folder: Option<&RunFolder>,
    ) -> Result<Self, RecordError> {
        let name = format!("captures/{stem}.pcapng");
        let (path, output) = match folder {
            None => (PathBuf::from(&name), Output::Memory(Vec::new())),
            Some(folder) => {
                let path = folder.path(&name);
                let file = File::create(&path).map_err(|error| RecordError::write(&path, error))?;
                (path, Output::File(BufWriter::with_capacity(1 << 16, file)))
            }
        };
        let writer = PcapngWriter::new(output, subject.name(), interface)
            .map_err(|error| RecordError::write(&path, error))?;
        Ok(CaptureFile {
            subject,
            name,
            path,
            packets: 0,
            writer,
        })
    }

    /// Adds a packet to the file.
    pub(super) fn add(
        &mut self,
        write: impl FnOnce(&mut PcapngWriter<Output>) -> io::Result<()>,
    ) -> Result<(), RecordError> {
        self.packets += 1;
        write(&mut self.writer).map_err(|error| RecordError::write(&self.path, error))
    }

    /// Adds keys of TLS in the format of `SSLKEYLOGFILE`.
    pub(super) fn add_secrets(&mut self, secrets: &str) -> Result<(), RecordError> {
        let written = self.writer.secrets(secrets.as_bytes());
        written.map_err(|error| RecordError::write(&self.path, error))
    }

    pub(super) fn finish(self) -> Result<FinishedCapture, RecordError> {
        let mut output = self.writer.into_inner();
        output
            .flush()
            .map_err(|error| RecordError::write(&self.path, error))?;
        let bytes = match output {
            Output::Memory(bytes) => Some(bytes),
            Output::File(_) => None,
        };
        Ok(FinishedCapture {
            subject: self.subject,
            name: self.name,
            packets: self.packets,
            bytes,
        })
    }
}
