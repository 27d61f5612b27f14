//! Packet captures: one pcapng file a node, of what its interface would show.

mod headers;
mod mptcp;
mod pcapng;

use crate::{EndpointInfo, RecordError, RecorderConfig, RunFolder};
use fadeout_core::{EndpointId, Flags, NodeId, Packet, Time};
pub use headers::address_of;
use headers::{Addressed, Headers};
use mptcp::Identity;
use pcapng::PcapngWriter;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// The captures of a run.
#[derive(Debug)]
pub(crate) struct Captures {
    endpoints: Vec<EndpointInfo>,
    /// What endpoints are in multipath connections.
    identities: Vec<Option<Identity>>,
    /// Window scale that each endpoint offered on its SYN.
    offered_scale: Vec<Option<u8>>,
    /// Index into `files` for each node.
    file_of_node: Vec<Option<usize>>,
    files: Vec<CaptureFile>,
    headers: Headers,
}

#[derive(Debug)]
struct CaptureFile {
    node: String,
    /// Path relative to the run folder.
    name: String,
    /// Where it is on disk; for messages.
    path: PathBuf,
    packets: u64,
    writer: PcapngWriter<Output>,
}

/// A capture that is complete.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) node: String,
    pub(crate) name: String,
    pub(crate) packets: u64,
    /// The file's bytes, when it was kept in memory.
    pub(crate) bytes: Option<Vec<u8>>,
}

#[derive(Debug)]
enum Output {
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

impl Captures {
    /// Opens a file for each node of `config.capture`; `None` when there are none.
    pub(crate) fn open(
        config: &RecorderConfig,
        folder: Option<&RunFolder>,
    ) -> Result<Option<Self>, RecordError> {
        if config.capture.is_empty() {
            return Ok(None);
        }
        if let Some(folder) = folder {
            let path = folder.path("captures");
            fs::create_dir(&path).map_err(|error| RecordError::write(&path, error))?;
        }
        let mut captures = Captures {
            endpoints: config.endpoints.clone(),
            identities: config
                .endpoints
                .iter()
                .enumerate()
                .map(|(id, endpoint)| Identity::of(EndpointId(id as u32), endpoint))
                .collect(),
            offered_scale: vec![None; config.endpoints.len()],
            file_of_node: vec![None; config.nodes.len()],
            files: Vec::new(),
            headers: Headers::default(),
        };
        for &node in &config.capture {
            let entry = &mut captures.file_of_node[node.index()];
            if entry.is_none() {
                *entry = Some(captures.files.len());
                captures
                    .files
                    .push(CaptureFile::open(config, node, folder)?);
            }
        }
        Ok(Some(captures))
    }

    /// A host handed `packet` to its first link.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, packet: &Packet) -> Result<(), RecordError> {
        let sender = self.endpoints[packet.to.index()].peer;
        let node = self.endpoints[sender.index()].node;
        self.capture(now, node, packet)
    }

    /// `packet` reached its host.
    #[inline]
    pub(crate) fn on_received(&mut self, now: Time, packet: &Packet) -> Result<(), RecordError> {
        let node = self.endpoints[packet.to.index()].node;
        self.capture(now, node, packet)
    }

    fn capture(&mut self, now: Time, node: NodeId, packet: &Packet) -> Result<(), RecordError> {
        let Some(index) = self.file_of_node[node.index()] else {
            return Ok(());
        };
        let to = packet.to;
        let receiver = self.endpoints[to.index()];
        let from = receiver.peer;
        let sender = self.endpoints[from.index()];
        if packet.segment.flags.has(Flags::SYN) {
            self.offered_scale[from.index()] = packet.segment.window_scale;
        }
        // Windows are scaled only when both SYNs carried the option (RFC 7323 section 2.2).
        let scales = (
            self.offered_scale[from.index()],
            self.offered_scale[to.index()],
        );
        let window_scale = if let (Some(own), Some(_)) = scales {
            own
        } else {
            0
        };
        let addressed = Addressed {
            packet,
            from,
            sender: &sender,
            receiver: &receiver,
            window_scale,
            multipath: self.identities[from.index()].zip(self.identities[to.index()]),
        };
        let headers = self.headers.build(&addressed);

        let file = &mut self.files[index];
        file.packets += 1;
        let written = file.writer.packet(now, headers, packet.segment.wire_len());
        written.map_err(|error| RecordError::write(&file.path, error))
    }

    /// Completes the files. All are tried; the first error counts.
    pub(crate) fn finish(self) -> Result<Vec<Finished>, RecordError> {
        let files = self
            .files
            .into_iter()
            .map(CaptureFile::finish)
            .collect::<Vec<_>>();
        files.into_iter().collect()
    }
}

impl CaptureFile {
    fn open(
        config: &RecorderConfig,
        node: NodeId,
        folder: Option<&RunFolder>,
    ) -> Result<Self, RecordError> {
        let node_name = config.nodes[node.index()].clone();
        let name = format!("captures/{}.pcapng", file_stem(&config.nodes, node));
        let (path, output) = match folder {
            None => (PathBuf::from(&name), Output::Memory(Vec::new())),
            Some(folder) => {
                let path = folder.path(&name);
                let file = File::create(&path).map_err(|error| RecordError::write(&path, error))?;
                (path, Output::File(BufWriter::with_capacity(1 << 16, file)))
            }
        };
        let writer = PcapngWriter::new(output, &node_name, config.snaplen)
            .map_err(|error| RecordError::write(&path, error))?;
        Ok(CaptureFile {
            node: node_name,
            name,
            path,
            packets: 0,
            writer,
        })
    }

    fn finish(self) -> Result<Finished, RecordError> {
        let mut output = self.writer.into_inner();
        output
            .flush()
            .map_err(|error| RecordError::write(&self.path, error))?;
        let bytes = match output {
            Output::Memory(bytes) => Some(bytes),
            Output::File(_) => None,
        };
        Ok(Finished {
            node: self.node,
            name: self.name,
            packets: self.packets,
            bytes,
        })
    }
}

/// The node's name where a file can be called so; its id is added where another node would get
/// the same.
fn file_stem(nodes: &[String], node: NodeId) -> String {
    let plain = |name: &str| -> String {
        name.chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .take(100)
            .collect()
    };
    let own = plain(&nodes[node.index()]);
    // Some file systems do not tell upper case from lower.
    let twins = nodes
        .iter()
        .filter(|name| plain(name).eq_ignore_ascii_case(&own))
        .count();
    if twins > 1 || own.is_empty() {
        format!("{own}-{}", node.0)
    } else {
        own
    }
}

#[cfg(test)]
mod tests;
