//! Events of QUIC connections in the format qlog, one file for each end. The events are JSON text
//! sequences (draft-ietf-quic-qlog-main-schema section 5).

use super::stem::file_stem;
use crate::RecordError;
use fadeout_core::{FlowEnd, FlowId};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// Number of bytes from which a log is written to its file.
const BLOCK: usize = 1 << 16;

/// Character before each event of a log.
const RECORD_SEPARATOR: u8 = 0x1e;

/// Log of one end.
#[derive(Debug)]
struct Log {
    flow: String,
    /// Path of the file relative to the run folder.
    name: String,
    /// Path of the file on disk. `None` if the log is kept in memory.
    path: Option<PathBuf>,
    text: Vec<u8>,
    events: u64,
}

impl Log {
    /// Appends the text to the file. A file is open only meanwhile, because a run may have more
    /// connections than files that a process may open.
    fn flush(&mut self) -> Result<(), RecordError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(&self.text))
            .map_err(|error| RecordError::write(path, error))?;
        self.text.clear();
        Ok(())
    }
}

/// A log that is complete.
#[derive(Debug)]
pub(super) struct FinishedLog {
    /// Name of the flow.
    pub(super) flow: String,
    /// Path of the file relative to the run folder.
    pub(super) name: String,
    pub(super) events: u64,
    /// Contents of the file if it was kept in memory. `None` if the file is on disk.
    pub(super) text: Option<Vec<u8>>,
}

/// Logs of a run.
#[derive(Debug)]
pub(super) struct Logs {
    /// Names of the flows.
    flows: Vec<String>,
    folder: Option<PathBuf>,
    logs: BTreeMap<(FlowId, bool), Log>,
}

impl Logs {
    /// Returns empty logs. Without a run folder, they are kept in memory.
    pub(super) fn new(flows: Vec<String>, folder: Option<PathBuf>) -> Logs {
        Logs {
            flows,
            folder,
            logs: BTreeMap::new(),
        }
    }

    /// Appends a text to the log of a flow's end.
    pub(super) fn add(
        &mut self,
        flow: FlowId,
        end: FlowEnd,
        text: &[u8],
    ) -> Result<(), RecordError> {
        let (flows, folder) = (&self.flows, &self.folder);
        let log = self.logs.entry((flow, end == FlowEnd::Receiver));
        let log = log.or_insert_with(|| {
            let stem = file_stem(flows, flow.index());
            let name = format!("captures/{stem}.{}.sqlog", end.name());
            Log {
                flow: flows[flow.index()].clone(),
                path: folder.as_ref().map(|folder| folder.join(&name)),
                name,
                text: Vec::new(),
                events: 0,
            }
        });
        log.events += text
            .iter()
            .filter(|&&byte| byte == RECORD_SEPARATOR)
            .count() as u64;
        log.text.extend_from_slice(text);
        match log.text.len() >= BLOCK {
            true => log.flush(),
            false => Ok(()),
        }
    }

    /// Completes all files.
    pub(super) fn finish(self) -> impl Iterator<Item = Result<FinishedLog, RecordError>> {
        self.logs.into_values().map(|mut log| {
            log.flush()?;
            Ok(FinishedLog {
                flow: log.flow,
                name: log.name,
                events: log.events,
                text: log.path.is_none().then_some(log.text),
            })
        })
    }
}
