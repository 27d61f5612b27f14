//! Reader of captures: the TCP segments of pcap and pcapng files.
//!
//! [`read`] returns the headers of all TCP segments, one column for each field. Payloads are not
//! kept, so a capture is read as a stream.

mod columns;
mod error;
mod packet;

pub use columns::{Capture, Columns};
pub use error::CaptureError;

use packet::Packets;
use pcap_file::PcapError;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use std::io::{BufReader, Read};
use std::time::Duration;

/// First four bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// First four bytes of a pcap file, in both byte orders, with microseconds and with nanoseconds.
const PCAP: [[u8; 4]; 4] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];
/// Resolution of times in pcapng without `if_tsresol`: microseconds.
const DEFAULT_RESOLUTION: u8 = 6;

/// Reads a capture.
///
/// # Errors
/// Returns an error if the data are no capture, or if a link type is unknown. A file that ends
/// within a packet is no error.
pub fn read(mut source: impl Read) -> Result<Capture, CaptureError> {
    let mut first = [0; 4];
    if let Err(error) = source.read_exact(&mut first) {
        return match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Err(CaptureError::NoCapture),
            _ => Err(error.into()),
        };
    }
    let whole = BufReader::with_capacity(1 << 20, first.as_slice().chain(source));
    if first == PCAPNG {
        read_pcapng(whole)
    } else if PCAP.contains(&first) {
        read_pcap(whole)
    } else {
        Err(CaptureError::NoCapture)
    }
}

fn read_pcap(source: impl Read) -> Result<Capture, CaptureError> {
    let mut packets = Packets::default();
    let mut reader = match PcapReader::new(source) {
        Ok(reader) => reader,
        Err(_) => return Err(CaptureError::NoCapture),
    };
    let link = reader.header().datalink;
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => packets.add(link, nanoseconds(packet.timestamp), &packet.data)?,
            Err(error) => return packets.end(&error),
        }
    }
    Ok(packets.into_capture())
}

fn read_pcapng(source: impl Read) -> Result<Capture, CaptureError> {
    let mut packets = Packets::default();
    let mut reader = match PcapNgReader::new(source) {
        Ok(reader) => reader,
        Err(_) => return Err(CaptureError::NoCapture),
    };
    // Link type and resolution of each interface of the present section.
    let mut interfaces = Vec::new();
    while let Some(block) = reader.next_block() {
        match block {
            Ok(Block::SectionHeader(_)) => interfaces.clear(),
            Ok(Block::InterfaceDescription(interface)) => {
                let resolution = interface.options.iter().find_map(|option| match option {
                    InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
                    _ => None,
                });
                let resolution = resolution.unwrap_or(DEFAULT_RESOLUTION);
                interfaces.push((interface.linktype, resolution));
            }
            Ok(Block::EnhancedPacket(packet)) => {
                let Some(&(link, resolution)) = interfaces.get(packet.interface_id as usize) else {
                    return Err(packets.wrong("an interface that is not described"));
                };
                // `pcap-file` takes the number for nanoseconds and ignores the resolution.
                let time = in_nanoseconds(nanoseconds(packet.timestamp), resolution);
                packets.add(link, time, &packet.data)?;
            }
            Ok(_) => {}
            Err(error) => return packets.end(&error),
        }
    }
    Ok(packets.into_capture())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a time of pcapng in nanoseconds. The resolution is a negative power of ten, or of two if
/// its highest bit is set (option `if_tsresol` of pcapng).
fn in_nanoseconds(ticks: u64, resolution: u8) -> u64 {
    let (base, exponent) = match resolution & 0x80 {
        0 => (10_u128, u32::from(resolution)),
        _ => (2, u32::from(resolution & 0x7f)),
    };
    let per_second = base.checked_pow(exponent).unwrap_or(u128::MAX);
    u64::try_from(u128::from(ticks) * 1_000_000_000 / per_second).unwrap_or(u64::MAX)
}

impl Packets {
    /// Returns the capture until an error, if the file merely ends within a packet.
    fn end(self, error: &PcapError) -> Result<Capture, CaptureError> {
        let is_cut = match error {
            PcapError::IncompleteBuffer => true,
            PcapError::IoError(error) => error.kind() == std::io::ErrorKind::UnexpectedEof,
            _ => false,
        };
        match is_cut {
            true => Ok(Capture {
                is_cut,
                ..self.into_capture()
            }),
            false => Err(self.wrong(&error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pcap file of raw IPv4 packets, each with a time in microseconds.
    fn pcap(packets: &[(u32, &[u8])]) -> Vec<u8> {
        let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        file.extend(65_535_u32.to_le_bytes());
        file.extend(101_u32.to_le_bytes());
        for (micros, data) in packets {
            for number in [1_u32, *micros, data.len() as u32, data.len() as u32] {
                file.extend(number.to_le_bytes());
            }
            file.extend(*data);
        }
        file
    }

    /// Returns a segment of 100 bytes of data, of which `kept` bytes were captured.
    fn segment(kept: usize) -> Vec<u8> {
        let builder = etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(5000, 443, 0xffff_fff0, 1000)
            .ack(77);
        let mut data = Vec::new();
        let written = builder.write(&mut data, &[7; 100]);
        assert!(written.is_ok());
        data.truncate(40 + kept);
        data
    }

    #[test]
    fn a_segment_has_its_length_also_if_the_capture_cut_it() {
        for kept in [100, 30, 0] {
            let capture = read(pcap(&[(5, &segment(kept))]).as_slice()).expect("a capture");
            let columns = capture.columns;
            assert_eq!(columns.time_ns, [1_000_005_000]);
            assert_eq!(columns.payload, [100]);
            assert_eq!(columns.sequence, [0xffff_fff0]);
            assert_eq!(columns.acknowledgment, [77]);
            assert_eq!(columns.endpoints, ["10.0.0.1:5000", "10.0.0.2:443"]);
        }
    }

    #[test]
    fn other_packets_are_counted() {
        let capture = read(pcap(&[(1, &[0x45, 0, 0]), (2, &segment(100))]).as_slice());
        let capture = capture.expect("a capture");
        assert_eq!((capture.packets, capture.others), (2, 1));
    }

    #[test]
    fn a_file_that_ends_within_a_packet_is_read_until_there() {
        let whole = pcap(&[(1, &segment(100)), (2, &segment(100))]);
        let capture = read(&whole[..whole.len() - 9]).expect("a capture");
        assert!(capture.is_cut);
        assert_eq!(capture.packets, 1);
        assert!(!read(whole.as_slice()).expect("a capture").is_cut);
    }

    #[test]
    fn other_files_are_refused() {
        for data in [
            &b""[..],
            b"abc",
            b"time_s,rate_mbps\n",
            &[0xd4, 0xc3, 0xb2, 0xa1],
        ] {
            assert!(
                matches!(read(data), Err(CaptureError::NoCapture)),
                "{data:?}"
            );
        }
    }

    #[test]
    fn times_of_pcapng_have_the_resolution_of_their_interface() {
        assert_eq!(in_nanoseconds(1_500_000, 6), 1_500_000_000);
        assert_eq!(in_nanoseconds(7, 9), 7);
        assert_eq!(in_nanoseconds(3, 0x81), 1_500_000_000);
    }
}
