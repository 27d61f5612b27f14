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

/// TCP segment of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Time of the capture in nanoseconds since 1970.
    pub time_ns: u64,
    /// Index of the sender in [`Columns::endpoints`].
    pub source: u32,
    /// Index of the receiver in [`Columns::endpoints`].
    pub destination: u32,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number.
    pub acknowledgment: u32,
    /// Flags from FIN (1) to CWR (128).
    pub flags: u8,
    /// Window as in the header, without scaling.
    pub window: u16,
    /// Shift count of the window scale option. 255 if the segment has none.
    pub scale: u8,
    /// Number of data bytes, also if the capture did not keep them.
    pub payload: u32,
    /// Length of the IP packet in bytes.
    pub length: u32,
}

/// Segments of a capture, one list for each field. All lists have the same length.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    /// Addresses with ports, in the order of their first segment.
    pub endpoints: Vec<String>,
    /// See [`Segment::time_ns`].
    pub time_ns: Vec<u64>,
    /// See [`Segment::source`].
    pub source: Vec<u32>,
    /// See [`Segment::destination`].
    pub destination: Vec<u32>,
    /// See [`Segment::sequence`].
    pub sequence: Vec<u32>,
    /// See [`Segment::acknowledgment`].
    pub acknowledgment: Vec<u32>,
    /// See [`Segment::flags`].
    pub flags: Vec<u8>,
    /// See [`Segment::window`].
    pub window: Vec<u16>,
    /// See [`Segment::scale`].
    pub scale: Vec<u8>,
    /// See [`Segment::payload`].
    pub payload: Vec<u32>,
    /// See [`Segment::length`].
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

    /// Returns the segments one by one.
    pub fn segments(&self) -> impl Iterator<Item = Segment> {
        (0..self.time_ns.len()).map(|row| Segment {
            time_ns: self.time_ns[row],
            source: self.source[row],
            destination: self.destination[row],
            sequence: self.sequence[row],
            acknowledgment: self.acknowledgment[row],
            flags: self.flags[row],
            window: self.window[row],
            scale: self.scale[row],
            payload: self.payload[row],
            length: self.length[row],
        })
    }
}
