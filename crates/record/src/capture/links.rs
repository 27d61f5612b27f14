//! Captures of links. Packets on links of the core network appear in their tunnels.

use super::file::CaptureFile;
use super::gtp::{self, Extensions};
use super::hosts::Hosts;
use super::pcapng::Interface;
use super::stem::file_stem;
use crate::manifest::Subject;
use crate::{RecordError, RecorderConfig, RunFolder};
use fadeout_core::{Carried, Ecn, LinkId, Time};

/// Capture files of all captured links.
#[derive(Debug)]
pub(super) struct LinkCaptures {
    /// Index into `files` for each direction of a link. `None` if the direction is not captured.
    file_of_link: Vec<Option<usize>>,
    files: Vec<CaptureFile>,
    frame: Vec<u8>,
}

impl LinkCaptures {
    /// Opens a capture file for each link.
    pub(super) fn open(
        config: &RecorderConfig,
        folder: Option<&RunFolder>,
    ) -> Result<LinkCaptures, RecordError> {
        let links = &config.captured_links;
        let mut captures = LinkCaptures {
            file_of_link: Vec::new(),
            files: Vec::new(),
            frame: Vec::new(),
        };
        let names: Vec<String> = links.iter().map(|(name, _)| name.clone()).collect();
        for (index, (name, directions)) in links.iter().enumerate() {
            let last = directions
                .iter()
                .map(|link| link.index())
                .max()
                .unwrap_or(0);
            if captures.file_of_link.len() <= last {
                captures.file_of_link.resize(last + 1, None);
            }
            if captures.file_of_link[last].is_some() {
                continue;
            }
            for direction in directions {
                captures.file_of_link[direction.index()] = Some(captures.files.len());
            }
            let stem = format!("{}.link", file_stem(&names, index));
            let interface = Interface::raw(config.probes.link_capture_snap);
            let subject = Subject::Link(name.clone());
            let file = CaptureFile::open(subject, &stem, interface, folder)?;
            captures.files.push(file);
        }
        Ok(captures)
    }

    pub(super) fn wants(&self, link: LinkId) -> bool {
        self.file(link).is_some()
    }

    /// Returns all files.
    pub(super) fn files_mut(&mut self) -> impl Iterator<Item = &mut CaptureFile> {
        self.files.iter_mut()
    }

    fn file(&self, link: LinkId) -> Option<usize> {
        *self.file_of_link.get(link.index())?
    }

    /// Adds a packet that has reached the end of a direction of a link.
    pub(super) fn add(
        &mut self,
        now: Time,
        link: LinkId,
        what: Carried<'_>,
        hosts: &mut Hosts,
    ) -> Result<(), RecordError> {
        let Some(index) = self.file(link) else {
            return Ok(());
        };
        self.frame.clear();
        let inside = match what {
            Carried::Plain(packet) => {
                hosts.write(packet, &mut self.frame);
                packet.wire_len() - self.frame.len() as u32
            }
            Carried::Tunnelled {
                packet,
                tunnel,
                number,
                session,
            } => {
                let length = packet.wire_len();
                let extensions = Extensions {
                    number,
                    session,
                    user_plane: None,
                };
                gtp::write_data(&mut self.frame, tunnel, extensions, (length, packet.ecn));
                let before = self.frame.len();
                hosts.write(packet, &mut self.frame);
                length - (self.frame.len() - before) as u32
            }
            Carried::Interface {
                tunnel,
                frame,
                packet,
            } => {
                let extensions = Extensions {
                    user_plane: frame.user_plane.as_ref(),
                    ..Extensions::default()
                };
                let pdu = frame.pdu.as_ref();
                let size = pdu.map_or(0, |pdu| pdu.size);
                let ecn = packet.map_or(Ecn::default(), |packet| packet.ecn);
                gtp::write_data(&mut self.frame, tunnel, extensions, (size, ecn));
                let before = self.frame.len();
                self.frame.extend(pdu.map_or(&[][..], |pdu| &pdu.header));
                if let Some(packet) = packet {
                    hosts.write(packet, &mut self.frame);
                }
                size.saturating_sub((self.frame.len() - before) as u32)
            }
            Carried::EndMarker(tunnel) => {
                gtp::write_end_marker(&mut self.frame, tunnel);
                0
            }
        };
        let length = self.frame.len() as u32 + inside;
        let frame = &self.frame;
        self.files[index].add(|writer| writer.packet(now, [frame, &[]], length))
    }

    pub(super) fn finish(self) -> Vec<CaptureFile> {
        self.files
    }
}
