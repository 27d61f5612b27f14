//! Settings of recording, given by a scenario and used by a recorder.

use crate::{Bytes, CellId, NodeId, Span, UeId};

/// Sampling interval of the rows of one flow, link or bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// No rows, so the table is not written.
    Off,
    /// At most one row in each interval, at its first event.
    Every(Span),
    /// A row for every event: each ACK, each packet.
    All,
}

impl Sampling {
    /// Returns true if there are any rows.
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

/// Settings of recording: the keys of a scenario's `probe`, which are documented there. A setting
/// that is off is `false`, `None` or empty.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "a field is the key of that name; its documentation stands with the key"
)]
pub struct ProbeSettings {
    pub congestion: Sampling,
    pub throughput: Option<Span>,
    pub queue: Sampling,
    pub drops: bool,
    pub retransmissions: bool,
    pub timeouts: bool,
    pub flow_events: bool,
    pub segments: Sampling,
    pub datagrams: Sampling,
    pub blockages: bool,
    pub transport_blocks: bool,
    pub bearers: Sampling,
    pub radio_delay: bool,
    pub measurements: bool,
    pub handovers: bool,
    pub rrc: bool,
    pub qlog: bool,
    pub capture: Vec<NodeId>,
    /// Captured bytes of each packet. Zero captures whole packets. The headers need at most 80
    /// bytes.
    pub capture_snap: Bytes,
    /// Index of each captured link in the scenario.
    pub link_capture: Vec<usize>,
    /// Captured bytes of each packet on a link. Zero captures whole packets.
    pub link_capture_snap: Bytes,
    pub radio_capture: Vec<RadioSubject>,
    /// Captured bytes of each transport block. Zero captures whole blocks.
    pub radio_capture_snap: Bytes,
}

impl ProbeSettings {
    /// Settings that record nothing.
    pub const NOTHING: ProbeSettings = ProbeSettings {
        congestion: Sampling::Off,
        throughput: None,
        queue: Sampling::Off,
        drops: false,
        retransmissions: false,
        timeouts: false,
        flow_events: false,
        segments: Sampling::Off,
        datagrams: Sampling::Off,
        blockages: false,
        transport_blocks: false,
        bearers: Sampling::Off,
        radio_delay: false,
        measurements: false,
        handovers: false,
        rrc: false,
        qlog: false,
        capture: Vec::new(),
        capture_snap: Bytes(0),
        link_capture: Vec::new(),
        link_capture_snap: Bytes(0),
        radio_capture: Vec::new(),
        radio_capture_snap: Bytes(0),
    };
}
