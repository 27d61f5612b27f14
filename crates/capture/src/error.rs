//! Errors of captures.

/// Error with which a capture is rejected.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file is neither pcap nor pcapng.
    #[error("it is no capture; expected pcap or pcapng, as from tcpdump or Wireshark")]
    NoCapture,
    /// A block or a packet header is wrong.
    #[error("packet {packet}: {reason}; expected pcap or pcapng")]
    Wrong {
        /// Number of the packet, counted from 1.
        packet: u64,
        /// Description of the mistake.
        reason: String,
    },
    /// Packets of a link type that the reader does not know.
    #[error("the link type is {0}; expected Ethernet, Linux cooked, raw IP or loopback")]
    Link(String),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
