//! What is recorded, and the names that results use.

use crate::RunFolder;
use fadeout_core::{CellId, EndpointId, FlowId, NodeId, Span, Time, UeId};
use std::net::Ipv4Addr;

/// How often the rows of one flow or one link are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Never: the table is not written.
    Off,
    /// At most once in each interval, at the first occasion in it.
    Every(Span),
    /// At every occasion: each ACK, each arrival at a queue.
    All,
}

/// A flow as results name it.
#[derive(Debug, Clone)]
pub struct FlowInfo {
    /// Name from the scenario.
    pub name: String,
    /// When it starts; its throughput bins begin there.
    pub start: Time,
}

/// What a capture needs to know of a transport endpoint.
#[derive(Debug, Clone, Copy)]
pub struct EndpointInfo {
    /// Connection.
    pub flow: FlowId,
    /// Host it is on.
    pub node: NodeId,
    /// Endpoint at the other end.
    pub peer: EndpointId,
    /// IPv4 address; [`address_of`](crate::address_of) derives one from the node.
    pub address: Ipv4Addr,
    /// TCP port.
    pub port: u16,
    /// What it is of a multipath connection.
    pub subflow: Option<SubflowInfo>,
}

/// One end of one path of a multipath connection.
#[derive(Debug, Clone, Copy)]
pub struct SubflowInfo {
    /// The same end of the connection's first path.
    pub first: EndpointId,
    /// Number of the path.
    pub path: u8,
}

/// A cell or UE whose transport blocks are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioSubject {
    /// All UEs of a cell.
    Cell(CellId),
    /// One UE.
    Ue(UeId),
}

/// A logical channel that captures of the radio show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadioChannel {
    /// NR; LTE otherwise.
    pub is_nr: bool,
    /// Logical channel identity in MAC subheaders.
    pub lcid: u8,
    /// Identity of the data radio bearer.
    pub drb: u8,
    /// RLC mode.
    pub form: RadioChannelForm,
    /// Bits of PDCP's SN.
    pub pdcp_sn_bits: u8,
}

/// RLC mode with the bits of its SN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioChannelForm {
    /// Transparent.
    Transparent,
    /// Unacknowledged.
    Unacknowledged(u8),
    /// Acknowledged.
    Acknowledged(u8),
}

/// Captures of the radio.
#[derive(Debug, Clone, Default)]
pub struct RadioCaptureConfig {
    /// Cells and UEs whose transport blocks are captured, a file each.
    pub capture: Vec<RadioSubject>,
    /// Bytes kept of a transport block and what stands before it; zero keeps it whole.
    pub snaplen: u32,
    /// Node of each cell; needed only when something is captured, as the rest.
    pub cell_nodes: Vec<NodeId>,
    /// Node of each UE.
    pub ue_nodes: Vec<NodeId>,
    /// Every logical channel there is.
    pub channels: Vec<RadioChannel>,
}

/// What is recorded. Ids index `flows`, `links`, `nodes` and `endpoints`.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// Names and start times of the flows.
    pub flows: Vec<FlowInfo>,
    /// Names of the directions of links.
    pub links: Vec<String>,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Names of the cells.
    pub cells: Vec<String>,
    /// Names of the UEs' radio interfaces.
    pub ues: Vec<String>,
    /// Names of the radio bearers.
    pub bearers: Vec<String>,
    /// The endpoints; needed only when something is captured.
    pub endpoints: Vec<EndpointInfo>,
    /// Congestion rows of each flow.
    pub congestion: Sampling,
    /// Queue rows of each direction of a link.
    pub queues: Sampling,
    /// Width of the throughput bins; `None` for no such table.
    pub throughput_bin: Option<Span>,
    /// Whether dropped packets are recorded.
    pub drops: bool,
    /// Whether retransmissions are recorded.
    pub retransmissions: bool,
    /// Whether expired retransmission timers are recorded.
    pub timeouts: bool,
    /// Whether the events of flows are recorded.
    pub flow_events: bool,
    /// Whether blockages are recorded.
    pub blockages: bool,
    /// Whether every transport block is recorded.
    pub transport_blocks: bool,
    /// Rows of each radio bearer.
    pub bearer_samples: Sampling,
    /// Whether the parts of the radio delay of every packet are recorded.
    pub radio_delay: bool,
    /// Whether packets that bearers lose are recorded.
    pub radio_drops: bool,
    /// Hosts whose packets are captured, a file each.
    pub capture: Vec<NodeId>,
    /// Bytes kept of a captured packet; zero keeps it whole. The headers need at most 80.
    pub snaplen: u32,
    /// Captures of the radio.
    pub radio: RadioCaptureConfig,
}

impl Default for RecorderConfig {
    /// Small and cheap: congestion and queues every 10 ms, throughput in bins of 100 ms, every
    /// loss, retransmission, timeout, event and blockage, no captures.
    fn default() -> Self {
        RecorderConfig {
            flows: Vec::new(),
            links: Vec::new(),
            nodes: Vec::new(),
            cells: Vec::new(),
            ues: Vec::new(),
            bearers: Vec::new(),
            endpoints: Vec::new(),
            congestion: Sampling::Every(Span::from_millis(10)),
            queues: Sampling::Every(Span::from_millis(10)),
            throughput_bin: Some(Span::from_millis(100)),
            drops: true,
            retransmissions: true,
            timeouts: true,
            flow_events: true,
            blockages: true,
            transport_blocks: false,
            bearer_samples: Sampling::Off,
            radio_delay: false,
            radio_drops: false,
            capture: Vec::new(),
            snaplen: 96,
            radio: RadioCaptureConfig::default(),
        }
    }
}

impl RecorderConfig {
    /// The same names, and nothing recorded.
    pub(crate) fn without_records(&self) -> Self {
        RecorderConfig {
            congestion: Sampling::Off,
            queues: Sampling::Off,
            throughput_bin: None,
            drops: false,
            retransmissions: false,
            timeouts: false,
            flow_events: false,
            blockages: false,
            transport_blocks: false,
            bearer_samples: Sampling::Off,
            radio_delay: false,
            radio_drops: false,
            capture: Vec::new(),
            radio: RadioCaptureConfig::default(),
            ..self.clone()
        }
    }
}

/// Where results go.
#[derive(Debug)]
pub enum Destination {
    /// Nowhere: nothing is recorded, and only the manifest and the summary are made.
    Nowhere,
    /// Into memory, as bytes of Arrow IPC streams and pcapng files.
    Memory,
    /// Into files of a folder.
    Folder(RunFolder),
}
