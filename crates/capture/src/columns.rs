//! TCP segments, one column for each field.

/// TCP segments of a capture.
#[derive(Debug, Default)]
pub struct Capture {
    /// Segments in the order of the file.
    pub columns: Columns,
    /// Number of packets, including packets without TCP.
    pub packets: u64,
    /// Number of packets that are not TCP over IP, or whose headers were cut off.
    pub others: u64,
    /// True if the file ends within a packet.
    pub is_cut: bool,
}

/// TCP segment of a capture. Its fields are those of [`Columns`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) time_ns: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    pub(crate) scale: u8,
    pub(crate) payload: u32,
    pub(crate) length: u32,
}

/// Segments of a capture, one list for each field. All lists have the same length.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// Addresses with ports, in the order of their first segment.
    pub endpoints: Vec<String>,
    /// Time of the capture in nanoseconds since 1970.
    pub time_ns: Vec<u64>,
    /// Index of the sender in `endpoints`.
    pub source: Vec<u32>,
    /// Index of the receiver in `endpoints`.
    pub destination: Vec<u32>,
    /// Sequence number.
    pub sequence: Vec<u32>,
    /// Acknowledgment number.
    pub acknowledgment: Vec<u32>,
    /// Flags from FIN (1) to CWR (128).
    pub flags: Vec<u8>,
    /// Window as in the header, without scaling.
    pub window: Vec<u16>,
    /// Shift count of the window scale option. 255 if the segment has none.
    pub scale: Vec<u8>,
    /// Number of data bytes, also if the capture did not keep them.
    pub payload: Vec<u32>,
    /// Length of the IP packet in bytes.
    pub length: Vec<u32>,
}

impl Columns {
    /// Adds a segment.
    pub(crate) fn push(&mut self, segment: Segment) {
        self.time_ns.push(segment.time_ns);
        self.source.push(segment.source);
        self.destination.push(segment.destination);
        self.sequence.push(segment.sequence);
        self.acknowledgment.push(segment.acknowledgment);
        self.flags.push(segment.flags);
        self.window.push(segment.window);
        self.scale.push(segment.scale);
        self.payload.push(segment.payload);
        self.length.push(segment.length);
    }
}
