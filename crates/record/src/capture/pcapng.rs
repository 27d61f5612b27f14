//! The pcapng file format, little-endian. A file consists of a section header, one interface
//! description and enhanced packet blocks (draft-ietf-opsawg-pcapng, sections 4.1 to 4.3).

use fadeout_core::{Bytes, Time};
use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 10;
/// Type of secrets: a log of the keys of TLS.
const TLS_KEY_LOG: u32 = 0x544c_534b;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const SHB_USERAPPL: u16 = 4;

/// Link type and maximum length of the packets of an interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interface {
    link_type: u16,
    /// Maximum number of bytes stored of each packet. Zero stores whole packets.
    snaplen: u32,
}

impl Interface {
    /// Returns an interface whose packets begin with their IP header (LINKTYPE_RAW).
    pub(super) fn raw(snap: Bytes) -> Interface {
        Interface::new(101, snap)
    }

    /// Returns an interface whose packets are PDUs that begin with the name of their dissector
    /// (LINKTYPE_WIRESHARK_UPPER_PDU).
    pub(super) fn exported(snap: Bytes) -> Interface {
        Interface::new(252, snap)
    }

    fn new(link_type: u16, snap: Bytes) -> Interface {
        Interface {
            link_type,
            snaplen: u32::try_from(snap.0).unwrap_or(u32::MAX),
        }
    }

    /// Returns the number of bytes stored of a packet with `length` bytes.
    fn kept(self, length: u32) -> u32 {
        match self.snaplen {
            0 => length,
            snaplen => length.min(snaplen),
        }
    }
}

/// Writer of the packets of one interface, with timestamps in nanoseconds.
#[derive(Debug)]
pub(super) struct PcapngWriter<W> {
    writer: W,
    interface: Interface,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a file for the interface called `name`.
    pub(super) fn new(writer: W, name: &str, interface: Interface) -> io::Result<Self> {
        let mut this = PcapngWriter {
            writer,
            interface,
            block: Vec::new(),
        };

        this.begin(SECTION_HEADER);
        this.block.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        this.block.extend([1, 0, 0, 0]); // version 1.0
        this.block.extend(u64::MAX.to_le_bytes()); // section length not given
        this.option(
            SHB_USERAPPL,
            concat!("fadeout ", env!("CARGO_PKG_VERSION")).as_bytes(),
        );
        this.option(OPTION_END, &[]);
        this.end()?;

        this.begin(INTERFACE_DESCRIPTION);
        this.block.extend(interface.link_type.to_le_bytes());
        this.block.extend([0, 0]);
        this.block.extend(interface.snaplen.to_le_bytes());
        this.option(IF_NAME, clipped(name).as_bytes());
        this.option(IF_TSRESOL, &[9]); // 10^-9 s
        this.option(OPTION_END, &[]);
        this.end()?;
        Ok(this)
    }

    /// Adds a packet of `length` bytes that begins with headers and a payload, and continues with
    /// zeros.
    pub(super) fn packet(
        &mut self,
        at: Time,
        headers_and_payload: [&[u8]; 2],
        length: u32,
    ) -> io::Result<()> {
        let kept = self.interface.kept(length);
        self.begin_packet(at, kept, length);
        let end = self.block.len() + kept as usize;
        for part in headers_and_payload {
            let room = end - self.block.len();
            self.block.extend(&part[..part.len().min(room)]);
        }
        self.block.resize(end, 0);
        self.end()
    }

    /// Adds keys of TLS, which readers use for the packets that follow (draft-ietf-opsawg-pcapng
    /// section 4.7).
    pub(super) fn secrets(&mut self, secrets: &[u8]) -> io::Result<()> {
        self.begin(DECRYPTION_SECRETS);
        self.block.extend(TLS_KEY_LOG.to_le_bytes());
        self.block.extend((secrets.len() as u32).to_le_bytes());
        self.block.extend(secrets);
        self.end()
    }

    /// Adds a packet of `length` bytes, of which only `bytes` are known.
    pub(super) fn frame(
        &mut self,
        at: Time,
        bytes: &[u8],
        length: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let kept = self.interface.kept(bytes.len() as u32);
        self.begin_packet(at, kept, length);
        self.block.extend(&bytes[..kept as usize]);
        if let Some(comment) = comment {
            self.pad();
            self.option(OPTION_COMMENT, comment.as_bytes());
            self.option(OPTION_END, &[]);
        }
        self.end()
    }

    fn begin_packet(&mut self, at: Time, kept: u32, length: u32) {
        let nanos = at.as_nanos();
        self.begin(ENHANCED_PACKET);
        self.block.extend(0_u32.to_le_bytes()); // interface
        self.block.extend(((nanos >> 32) as u32).to_le_bytes());
        self.block.extend((nanos as u32).to_le_bytes());
        self.block.extend(kept.to_le_bytes());
        self.block.extend(length.to_le_bytes());
    }

    /// Returns the writer without flushing it.
    pub(super) fn into_inner(self) -> W {
        self.writer
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.block.extend(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Completes the block. Its length is written at its start and at its end.
    fn end(&mut self) -> io::Result<()> {
        self.pad();
        let length = (self.block.len() + 4) as u32;
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.writer.write_all(&self.block)
    }
}

/// Shortens a name to 255 bytes. The length field of an option has 16 bits, but no name needs more.
fn clipped(name: &str) -> &str {
    &name[..name.floor_char_boundary(255)]
}
