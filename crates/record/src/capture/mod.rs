//! Captures in pcapng format: of packets at a host's interface, and of transport blocks of a cell
//! or UE.

mod file;
mod framing;
mod gtp;
mod headers;
mod hosts;
mod links;
mod mptcp;
mod pcapng;
mod profile;
mod qlog;
mod radio;
mod stem;
mod user_plane;

use crate::manifest::Subject;
use crate::{RecordError, RecorderConfig, RunFolder};
use fadeout_core::{
    Carried, CellId, FlowEnd, FlowId, LinkId, MacPdu, NodeId, SchedulingRequest, Time, UeId,
    WholePacket,
};
use file::CaptureFile;
pub(crate) use file::FinishedCapture;
pub use headers::address_of;
use hosts::Hosts;
use links::LinkCaptures;
use pcapng::Interface;
use qlog::{FinishedLog, Logs};
use radio::RadioCaptures;
use std::fs;
use stem::file_stem;

/// Captures of a run.
#[derive(Debug)]
pub(crate) struct Captures {
    hosts: Hosts,
    /// Index into `files` for each node. `None` if the node is not captured.
    file_of_node: Vec<Option<usize>>,
    files: Vec<CaptureFile>,
    links: LinkCaptures,
    radio: Option<RadioCaptures>,
    logs: Option<Logs>,
    /// True if packets are captured, and not only the logs of QUIC.
    has_packets: bool,
}

impl Captures {
    /// Opens a file for each captured node, link, cell and UE of `config.probes`. `None` if nothing
    /// is captured.
    pub(crate) fn open(
        config: &RecorderConfig,
        folder: Option<&RunFolder>,
    ) -> Result<Option<Self>, RecordError> {
        let probes = &config.probes;
        let has_packets = !probes.capture.is_empty()
            || !config.captured_links.is_empty()
            || !probes.radio_capture.is_empty();
        let logs = (probes.qlog && config.has_quic).then(|| {
            let flows = config.flows.iter().map(|flow| flow.name.clone()).collect();
            Logs::new(flows, folder.map(|folder| folder.path("")))
        });
        if !has_packets && logs.is_none() {
            return Ok(None);
        }
        if let Some(folder) = folder {
            let path = folder.path("captures");
            fs::create_dir(&path).map_err(|error| RecordError::write(&path, error))?;
        }
        let mut captures = Captures {
            hosts: Hosts::new(&config.endpoints),
            file_of_node: vec![None; config.nodes.len()],
            files: Vec::new(),
            links: LinkCaptures::open(config, folder)?,
            radio: RadioCaptures::open(config, folder)?,
            logs,
            has_packets,
        };
        for &node in &probes.capture {
            let entry = &mut captures.file_of_node[node.index()];
            if entry.is_none() {
                *entry = Some(captures.files.len());
                let name = config.nodes[node.index()].clone();
                let stem = file_stem(&config.nodes, node.index());
                let interface = Interface::raw(probes.capture_snap);
                captures.files.push(CaptureFile::open(
                    Subject::Node(name),
                    &stem,
                    interface,
                    folder,
                )?);
            }
        }
        Ok(Some(captures))
    }

    /// True if packets are captured.
    #[inline]
    pub(crate) fn wants_packets(&self) -> bool {
        self.has_packets
    }

    /// Appends a text to the log of an end of a QUIC connection.
    pub(crate) fn on_log(
        &mut self,
        flow: FlowId,
        end: FlowEnd,
        text: &[u8],
    ) -> Result<(), RecordError> {
        match &mut self.logs {
            Some(logs) => logs.add(flow, end, text),
            None => Ok(()),
        }
    }

    /// Writes keys of TLS into the captures of nodes and links, so that readers can decrypt the
    /// packets that follow.
    pub(crate) fn on_secrets(&mut self, secrets: &str) -> Result<(), RecordError> {
        for file in self.files.iter_mut().chain(self.links.files_mut()) {
            file.add_secrets(secrets)?;
        }
        Ok(())
    }

    /// Records that a host handed `packet` to its first link.
    #[inline]
    pub(crate) fn on_sent(
        &mut self,
        now: Time,
        packet: WholePacket<'_>,
    ) -> Result<(), RecordError> {
        self.hosts.notice(&packet);
        let node = self.hosts.sender(&packet);
        self.capture(now, node, packet)
    }

    /// Records that `packet` reached its destination host.
    #[inline]
    pub(crate) fn on_received(
        &mut self,
        now: Time,
        packet: WholePacket<'_>,
    ) -> Result<(), RecordError> {
        let node = self.hosts.receiver(&packet);
        self.capture(now, node, packet)
    }

    fn capture(
        &mut self,
        now: Time,
        node: NodeId,
        packet: WholePacket<'_>,
    ) -> Result<(), RecordError> {
        let Some(index) = self.file_of_node[node.index()] else {
            return Ok(());
        };
        let headers = self.hosts.headers(packet);
        let (payload, length) = (packet.payload, packet.wire_len());
        self.files[index].add(|writer| writer.packet(now, [headers, payload], length))
    }

    /// True if packets on a direction of a link are captured.
    pub(crate) fn wants_link(&self, link: LinkId) -> bool {
        self.links.wants(link)
    }

    /// Records a packet that has reached the end of a direction of a link.
    pub(crate) fn on_crossed(
        &mut self,
        now: Time,
        link: LinkId,
        what: Carried<'_>,
    ) -> Result<(), RecordError> {
        self.links.add(now, link, what, &mut self.hosts)
    }

    /// True if the transmissions between a cell and a UE are captured.
    #[inline]
    pub(crate) fn wants_radio(&self, cell: CellId, ue: UeId) -> bool {
        self.radio
            .as_ref()
            .is_some_and(|radio| radio.wants(cell, ue))
    }

    /// Records a transport block after its receiver has tried to decode it.
    pub(crate) fn on_mac_pdu(&mut self, pdu: &MacPdu<'_>) -> Result<(), RecordError> {
        match &mut self.radio {
            Some(radio) => radio.on_mac_pdu(pdu, &mut self.hosts),
            None => Ok(()),
        }
    }

    /// Records a scheduling request of a UE.
    pub(crate) fn on_request(&mut self, request: SchedulingRequest) {
        if let Some(radio) = &mut self.radio {
            radio.on_request(request);
        }
    }

    /// Completes all files, even after an error. Returns the first error.
    pub(crate) fn finish(self) -> Result<Vec<FinishedCapture>, RecordError> {
        let (radio, held) = match self.radio {
            Some(radio) => radio.finish(),
            None => (Vec::new(), Ok(())),
        };
        let files = self
            .files
            .into_iter()
            .chain(self.links.finish())
            .chain(radio)
            .map(CaptureFile::finish)
            .collect::<Vec<_>>();
        let logs = self.logs.into_iter().flat_map(Logs::finish);
        let logs: Vec<_> = logs.map(|log| log.map(finished)).collect();
        held?;
        files.into_iter().chain(logs).collect()
    }
}

/// Returns a log as the capture of a flow.
fn finished(log: FinishedLog) -> FinishedCapture {
    FinishedCapture {
        subject: Subject::Flow(log.flow),
        name: log.name,
        packets: log.events,
        bytes: log.text,
    }
}

#[cfg(test)]
mod radio_tests;
#[cfg(test)]
mod tests;
