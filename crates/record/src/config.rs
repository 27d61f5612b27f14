//! Configuration of a recorder: the tables and captures to record, and the names used in results.

use crate::RunFolder;
use fadeout_core::{EndpointId, FlowId, LinkId, NodeId, ProbeSettings, Time};
use std::net::Ipv4Addr;

/// Name and start time of a flow, for results.
#[derive(Debug, Clone)]
pub struct FlowInfo {
    /// Name of the flow in the scenario.
    pub name: String,
    /// Start time of the flow. Its throughput bins begin at this time.
    pub start: Time,
}

/// Transport endpoint, as captures need it.
#[derive(Debug, Clone, Copy)]
pub struct EndpointInfo {
    /// Flow of the endpoint.
    pub flow: FlowId,
    /// Node of the endpoint.
    pub node: NodeId,
    /// Endpoint at the other end.
    pub peer: EndpointId,
    /// IPv4 address of the endpoint. [`address_of`](crate::address_of) derives an address from the
    /// node.
    pub address: Ipv4Addr,
    /// TCP or UDP port of the endpoint.
    pub port: u16,
    /// Position of the endpoint in a multipath connection. `None` for other connections.
    pub subflow: Option<SubflowInfo>,
}

/// An endpoint's position in a multipath connection.
#[derive(Debug, Clone, Copy)]
pub struct SubflowInfo {
    /// Endpoint of the connection's first path, at the same end of the connection.
    pub first: EndpointId,
    /// Number of the endpoint's path.
    pub path: u8,
}

/// Logical channel, as captures of the radio need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadioChannel {
    /// True for NR, false for LTE.
    pub is_nr: bool,
    /// Logical channel identity in MAC subheaders.
    pub lcid: u8,
    /// Identity of the data radio bearer.
    pub drb: u8,
    /// RLC mode of the logical channel.
    pub form: RadioChannelForm,
    /// Length of the PDCP sequence number, bits.
    pub pdcp_sn_bits: u8,
}

/// RLC mode of a logical channel, with the length of its sequence number in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioChannelForm {
    /// Transparent mode.
    Transparent,
    /// Unacknowledged mode.
    Unacknowledged(u8),
    /// Acknowledged mode.
    Acknowledged(u8),
}

/// Names and numbers for captures of the radio. Empty if the radio is not captured.
#[derive(Debug, Clone, Default)]
pub struct RadioInfo {
    /// Node of each cell.
    pub cell_nodes: Vec<NodeId>,
    /// Node of each UE.
    pub ue_nodes: Vec<NodeId>,
    /// All logical channels of the radio bearers.
    pub channels: Vec<RadioChannel>,
}

/// Settings of a recorder, and the names of all objects in results. The ids of objects are indexes
/// into `flows`, `links`, `nodes` and the other lists.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// Settings of the tables and captures to record.
    pub probes: ProbeSettings,
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
    /// True if UEs are under mobility management. Otherwise the tables of mobility are not written.
    pub has_mobility: bool,
    /// True if the run may have RRC rows. Otherwise the RRC table is not written.
    pub has_rrc: bool,
    /// True if a flow sends datagrams. Otherwise the table of datagrams is not written.
    pub has_datagrams: bool,
    /// True if a TCP flow has the congestion control BBR. Otherwise the table of BBR is not
    /// written.
    pub has_bbr: bool,
    /// True if a flow is a QUIC connection. Otherwise the table of QUIC is not written.
    pub has_quic: bool,
    /// True if phones have handovers between links. Otherwise the table of these handovers is not
    /// written.
    pub has_link_handovers: bool,
    /// True if UEs may get secondary nodes. Otherwise the table of secondary node changes is not
    /// written.
    pub has_secondary_changes: bool,
    /// Endpoints of all flows. Needed only for captures.
    pub endpoints: Vec<EndpointInfo>,
    /// Names and directions of the captured links.
    pub captured_links: Vec<(String, [LinkId; 2])>,
    /// Names and numbers of the radio. Needed only for captures of the radio.
    pub radio: RadioInfo,
}

impl RecorderConfig {
    /// Creates settings with empty lists of names.
    pub fn new(probes: ProbeSettings) -> Self {
        RecorderConfig {
            probes,
            flows: Vec::new(),
            links: Vec::new(),
            nodes: Vec::new(),
            cells: Vec::new(),
            ues: Vec::new(),
            bearers: Vec::new(),
            has_mobility: false,
            has_rrc: false,
            has_datagrams: false,
            has_bbr: false,
            has_quic: false,
            has_link_handovers: false,
            has_secondary_changes: false,
            endpoints: Vec::new(),
            captured_links: Vec::new(),
            radio: RadioInfo::default(),
        }
    }
}

/// Destination of the results.
#[derive(Debug)]
pub enum Destination {
    /// No tables and captures are recorded. Only the manifest and the summary are made.
    Nowhere,
    /// Results are kept in memory, as bytes of Arrow IPC streams and pcapng files.
    Memory,
    /// Results are written to files in a folder.
    Folder(RunFolder),
}
