//! The settings of recording: as a scenario says them, and as a recorder follows them.

use crate::{Bytes, CellId, NodeId, Span, UeId};

/// How often the rows of one flow, link or bearer are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Never: the table is not written.
    Off,
    /// At most once in each interval, at the first occasion in it.
    Every(Span),
    /// At every occasion: each ACK, each packet.
    All,
}

impl Sampling {
    /// Whether there are rows at all.
    pub fn is_on(self) -> bool {
        self != Sampling::Off
    }
}

/// A cell or UE whose transport blocks are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioSubject {
    /// All UEs of a cell.
    Cell(CellId),
    /// One UE.
    Ue(UeId),
}

/// The settings of recording: the keys of a scenario's `probe`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeSettings {
    /// Congestion state of each flow.
    pub congestion: Sampling,
    /// Width of a throughput bin; none is recorded without it.
    pub throughput: Option<Span>,
    /// Occupancy of each queue.
    pub queue: Sampling,
    /// Each dropped packet, of links and of bearers.
    pub drops: bool,
    /// Each retransmission.
    pub retransmissions: bool,
    /// Each retransmission timeout.
    pub timeouts: bool,
    /// Opening, closing and completion of flows.
    pub flow_events: bool,
    /// Begin and end of each blockage.
    pub blockages: bool,
    /// Each transport block of each UE.
    pub transport_blocks: bool,
    /// Buffers of each bearer.
    pub bearers: Sampling,
    /// Where each packet's delay on a bearer comes from.
    pub radio_delay: bool,
    /// Nodes whose packets are written to a capture file.
    pub capture: Vec<NodeId>,
    /// Bytes kept of each captured packet; zero keeps it whole. The headers need at most 80.
    pub capture_snap: Bytes,
    /// Cells and UEs whose transport blocks are written to a capture file.
    pub radio_capture: Vec<RadioSubject>,
    /// Bytes kept of each captured transport block and what stands before it; zero keeps it whole.
    pub radio_capture_snap: Bytes,
}

impl ProbeSettings {
    /// Nothing is recorded.
    pub const NOTHING: ProbeSettings = ProbeSettings {
        congestion: Sampling::Off,
        throughput: None,
        queue: Sampling::Off,
        drops: false,
        retransmissions: false,
        timeouts: false,
        flow_events: false,
        blockages: false,
        transport_blocks: false,
        bearers: Sampling::Off,
        radio_delay: false,
        capture: Vec::new(),
        capture_snap: Bytes(0),
        radio_capture: Vec::new(),
        radio_capture_snap: Bytes(0),
    };
}
