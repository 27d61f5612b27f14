//! Headers of one captured packet.

use crate::columns::{Capture, Columns, Segment};
use crate::error::CaptureError;
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};
use pcap_file::DataLink;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Header length of Linux's cooked captures in bytes, for both versions.
const COOKED: usize = 16;
const COOKED_2: usize = 20;
/// Bytes of the header of a packet on a loopback interface: the family of its protocol.
const FAMILY: usize = 4;
/// Shift count of a segment without the window scale option.
const NO_SCALE: u8 = 255;

/// Packets that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    columns: Columns,
    numbers: BTreeMap<SocketAddr, u32>,
    count: u64,
    others: u64,
}

impl Packets {
    /// Adds a packet. A packet that is no TCP segment is only counted.
    ///
    /// # Errors
    /// Returns an error if the link type is unknown.
    pub(crate) fn add(
        &mut self,
        link: DataLink,
        time_ns: u64,
        data: &[u8],
    ) -> Result<(), CaptureError> {
        self.count += 1;
        let sliced = sliced(link, data)?;
        match sliced.and_then(|packet| self.segment(time_ns, &packet)) {
            Some(segment) => self.columns.push(segment),
            None => self.others += 1,
        }
        Ok(())
    }

    /// Returns the error about the next packet.
    pub(crate) fn wrong(&self, reason: &str) -> CaptureError {
        CaptureError::Wrong {
            packet: self.count + 1,
            reason: reason.to_owned(),
        }
    }

    /// Returns the capture.
    pub(crate) fn into_capture(self) -> Capture {
        Capture {
            columns: self.columns,
            packets: self.count,
            others: self.others,
            is_cut: false,
        }
    }

    /// Returns the segment of a packet. `None` for packets without TCP.
    fn segment(&mut self, time_ns: u64, packet: &LaxSlicedPacket<'_>) -> Option<Segment> {
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else {
            return None;
        };
        let captured = packet.ip_payload()?.payload.len();
        let (from, to, header, total) = match packet.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                let total = usize::from(header.total_len());
                let own = usize::from(header.ihl()) * 4;
                (
                    IpAddr::from(header.source_addr()),
                    IpAddr::from(header.destination_addr()),
                    own,
                    // Segmentation offload may leave the length zero.
                    if total == 0 { own + captured } else { total },
                )
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                let rest = usize::from(header.payload_length());
                let rest = if rest == 0 { captured } else { rest };
                // Extension headers count as headers of IP.
                let extensions = ip.extensions().slice().len();
                (
                    IpAddr::from(header.source_addr()),
                    IpAddr::from(header.destination_addr()),
                    40 + extensions,
                    40 + rest,
                )
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let of_tcp = usize::from(tcp.data_offset()) * 4;
        let flags = [
            tcp.fin(),
            tcp.syn(),
            tcp.rst(),
            tcp.psh(),
            tcp.ack(),
            tcp.urg(),
            tcp.ece(),
            tcp.cwr(),
        ];
        let flags = (0..)
            .zip(flags)
            .map(|(bit, is_set)| u8::from(is_set) << bit);
        let scale = tcp.options_iterator().find_map(|option| match option {
            Ok(TcpOptionElement::WindowScale(shift)) => Some(shift),
            _ => None,
        });
        Some(Segment {
            time_ns,
            source: self.number(SocketAddr::new(from, tcp.source_port())),
            destination: self.number(SocketAddr::new(to, tcp.destination_port())),
            sequence: tcp.sequence_number(),
            acknowledgment: tcp.acknowledgment_number(),
            flags: flags.sum(),
            window: tcp.window_size(),
            scale: scale.unwrap_or(NO_SCALE),
            payload: total.saturating_sub(header + of_tcp) as u32,
            length: total as u32,
        })
    }

    /// Returns the number of an endpoint.
    fn number(&mut self, endpoint: SocketAddr) -> u32 {
        let next = self.columns.endpoints.len() as u32;
        let number = *self.numbers.entry(endpoint).or_insert(next);
        if number == next {
            self.columns.endpoints.push(endpoint.to_string());
        }
        number
    }
}

/// Returns the headers of a packet. `None` if they were cut off.
fn sliced(link: DataLink, data: &[u8]) -> Result<Option<LaxSlicedPacket<'_>>, CaptureError> {
    let cooked = |kind: Option<&[u8]>, header: usize| {
        let kind = u16::from_be_bytes(kind?.try_into().ok()?);
        Some(LaxSlicedPacket::from_ether_type(
            EtherType(kind),
            data.get(header..)?,
        ))
    };
    Ok(match link {
        DataLink::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok(),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => LaxSlicedPacket::from_ip(data).ok(),
        DataLink::LINUX_SLL => cooked(data.get(14..16), COOKED),
        DataLink::LINUX_SLL2 => cooked(data.get(0..2), COOKED_2),
        DataLink::NULL | DataLink::LOOP => {
            let packet = data.get(FAMILY..).map(LaxSlicedPacket::from_ip);
            packet.and_then(Result::ok)
        }
        other => return Err(CaptureError::Link(format!("{other:?}"))),
    })
}
