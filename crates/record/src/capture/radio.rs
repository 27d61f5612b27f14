//! Captures of cells and UEs. Each transmission of a transport block is written as a packet after
//! the receiver has tried to decode it.

use super::file::CaptureFile;
use super::framing::{self, Addresses};
use super::headers::address_of;
use super::hosts::Hosts;
use super::pcapng::Interface;
use super::profile;
use super::stem::file_stem;
use crate::manifest::Subject;
use crate::{RecordError, RecorderConfig, RunFolder};
use fadeout_core::{
    CellId, Direction, MacPdu, NodeId, RadioSubject, Reception, SchedulingRequest, Time, UeId,
};

#[derive(Debug)]
pub(super) struct RadioCaptures {
    cells: Vec<Captured>,
    ues: Vec<Captured>,
    files: Vec<CaptureFile>,
    /// New data indicators of each UE, for the downlink and for the uplink. Each HARQ process has
    /// one bit.
    new_data: Vec<[u64; 2]>,
    /// Scheduling requests that the UE has not yet transmitted.
    requests: Vec<SchedulingRequest>,
    /// Packet under construction.
    frame: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Captured {
    node: NodeId,
    /// Index of the capture file. `None` if the cell or UE is not captured.
    file: Option<usize>,
}

impl RadioCaptures {
    pub(super) fn open(
        config: &RecorderConfig,
        folder: Option<&RunFolder>,
    ) -> Result<Option<Self>, RecordError> {
        let (probes, radio) = (&config.probes, &config.radio);
        if probes.radio_capture.is_empty() {
            return Ok(None);
        }
        let captured = |nodes: &[NodeId]| -> Vec<Captured> {
            let capture_of = |&node| Captured { node, file: None };
            nodes.iter().map(capture_of).collect()
        };
        let mut captures = RadioCaptures {
            cells: captured(&radio.cell_nodes),
            ues: captured(&radio.ue_nodes),
            files: Vec::new(),
            new_data: vec![[0; 2]; radio.ue_nodes.len()],
            requests: Vec::new(),
            frame: Vec::new(),
        };
        let names: Vec<String> = config.cells.iter().chain(&config.ues).cloned().collect();
        for &subject in &probes.radio_capture {
            let (entry, position, described) = match subject {
                RadioSubject::Cell(cell) => {
                    let name = config.cells[cell.index()].clone();
                    let entry = &mut captures.cells[cell.index()];
                    (entry, cell.index(), Subject::Cell(name))
                }
                RadioSubject::Ue(ue) => {
                    let name = config.ues[ue.index()].clone();
                    let entry = &mut captures.ues[ue.index()];
                    let position = config.cells.len() + ue.index();
                    (entry, position, Subject::Ue(name))
                }
            };
            if entry.file.is_none() {
                entry.file = Some(captures.files.len());
                let stem = format!("{}.radio", file_stem(&names, position));
                let interface = Interface::exported(probes.radio_capture_snap);
                let file = CaptureFile::open(described, &stem, interface, folder)?;
                captures.files.push(file);
            }
        }
        if let Some(folder) = folder {
            profile::write(&radio.channels, folder)?;
        }
        Ok(Some(captures))
    }

    #[inline]
    pub(super) fn wants(&self, cell: CellId, ue: UeId) -> bool {
        self.cells[cell.index()].file.is_some() || self.ues[ue.index()].file.is_some()
    }

    pub(super) fn on_mac_pdu(
        &mut self,
        pdu: &MacPdu<'_>,
        hosts: &mut Hosts,
    ) -> Result<(), RecordError> {
        self.write_requests(pdu.received_at)?;
        let bit = 1_u64 << (pdu.process % 64);
        let new_data = &mut self.new_data[pdu.ue.index()][pdu.direction.index()];
        if pdu.round == 0 {
            *new_data ^= bit;
        }
        let is_new_data = *new_data & bit != 0;
        let ends = self.ends(pdu.cell, pdu.ue, pdu.direction);

        self.frame.clear();
        framing::write_context(&mut self.frame, pdu, ends, is_new_data);
        let start = self.frame.len();
        self.frame.extend(pdu.bytes);
        for part in pdu.packets {
            let packet = pdu.pool.packet(part.packet);
            let packet = pdu.pool.whole(part.packet, &packet);
            let at = start + part.at as usize;
            let bytes = &mut self.frame[at..at + part.len as usize];
            write_part(
                bytes,
                part.offset as usize,
                hosts.headers(packet),
                packet.payload,
            );
        }
        // A transport block that was not decoded has a length but no bytes.
        let length = (start as u32 + pdu.size).max(self.frame.len() as u32);
        let comment = comment(pdu);
        self.write(
            pdu.cell,
            pdu.ue,
            pdu.received_at,
            length,
            comment.as_deref(),
        )
    }

    /// Stores a scheduling request until its transmission time.
    pub(super) fn on_request(&mut self, request: SchedulingRequest) {
        if !request.is_nr {
            self.requests.push(request);
        }
    }

    /// Writes the scheduling requests that UEs have transmitted by `until`.
    fn write_requests(&mut self, until: Time) -> Result<(), RecordError> {
        while let Some(next) = (0..self.requests.len()).min_by_key(|&i| self.requests[i].sent_at) {
            if self.requests[next].sent_at > until {
                break;
            }
            // `remove` keeps the order of the queue. The order matters for requests of the same
            // time.
            let request = self.requests.remove(next);
            let ends = self.ends(request.cell, request.ue, Direction::Uplink);
            self.frame.clear();
            framing::write_request(&mut self.frame, &request, ends);
            let length = self.frame.len() as u32;
            self.write(request.cell, request.ue, request.sent_at, length, None)?;
        }
        Ok(())
    }

    /// Writes `frame` into the capture files of its cell and its UE.
    fn write(
        &mut self,
        cell: CellId,
        ue: UeId,
        at: Time,
        length: u32,
        comment: Option<&str>,
    ) -> Result<(), RecordError> {
        let files = [self.cells[cell.index()].file, self.ues[ue.index()].file];
        for index in files.into_iter().flatten() {
            let frame = &self.frame;
            self.files[index].add(|writer| writer.frame(at, frame, length, comment))?;
        }
        Ok(())
    }

    fn ends(&self, cell: CellId, ue: UeId, direction: Direction) -> Addresses {
        let base = address_of(self.cells[cell.index()].node, 0);
        let phone = address_of(self.ues[ue.index()].node, 0);
        match direction {
            Direction::Downlink => Addresses {
                source: base,
                destination: phone,
            },
            Direction::Uplink => Addresses {
                source: phone,
                destination: base,
            },
        }
    }

    /// Returns the files, which the caller must complete. The result is an error if the last
    /// scheduling requests could not be written.
    pub(super) fn finish(mut self) -> (Vec<CaptureFile>, Result<(), RecordError>) {
        let result = self.write_requests(Time::NEVER);
        (self.files, result)
    }
}

/// Writes a part of a packet over `bytes`. The part begins at `offset` of the headers and the
/// payload, one after the other. Bytes beyond the payload stay as they are.
fn write_part(bytes: &mut [u8], offset: usize, headers: &[u8], payload: &[u8]) {
    let of_headers = headers.get(offset..).unwrap_or_default();
    let of_payload = payload.get(offset.saturating_sub(headers.len())..);
    let (head, rest) = bytes.split_at_mut(of_headers.len().min(bytes.len()));
    head.copy_from_slice(&of_headers[..head.len()]);
    let of_payload = of_payload.unwrap_or_default();
    let length = of_payload.len().min(rest.len());
    rest[..length].copy_from_slice(&of_payload[..length]);
}

/// Returns a comment for properties that neither framing has a field for. `None` if there are none.
fn comment(pdu: &MacPdu<'_>) -> Option<String> {
    let what = match (pdu.reception, pdu.round) {
        (Reception::Decoded, 0) => return None,
        (Reception::Decoded, _) => "decoded",
        (Reception::Failed, _) => "CRC failed",
        (Reception::Repeated, _) => "decoded before",
    };
    Some(format!("{what}, transmission {}", pdu.round + 1))
}
