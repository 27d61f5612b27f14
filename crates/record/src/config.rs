//! The configuration of a recorder: what is recorded, and the names that results use.

use crate::RunFolder;
use fadeout_core::{EndpointId, FlowId, LinkId, NodeId, ProbeSettings, Time};
use std::net::Ipv4Addr;

/// A flow as results name it.
#[derive(Debug, Clone)]
pub struct FlowInfo {
    /// Name from the scenario.
    pub name: String,
    /// When it starts; its throughput bins begin there.
    pub start: Time,
}

/// A transport endpoint as captures show it.
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
    /// TCP or UDP port.
    pub port: u16,
    /// Its part in a multipath connection.
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

/// The names and numbers that captures of the radio need; empty where nothing is captured.
#[derive(Debug, Clone, Default)]
pub struct RadioInfo {
    /// Node of each cell.
    pub cell_nodes: Vec<NodeId>,
    /// Node of each UE.
    pub ue_nodes: Vec<NodeId>,
    /// Every logical channel there is.
    pub channels: Vec<RadioChannel>,
}

/// Settings of recording, and what is known of those it is about. Ids index `flows`, `links`, `nodes` and the
/// other lists.
#[derive(Debug, Clone)]
pub struct RecorderConfig {
    /// The settings of recording.
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
    /// Whether UEs are under mobility management; otherwise there are no tables of it.
    pub has_mobility: bool,
    /// Whether RRC has steps to tell of; otherwise there is no table of them.
    pub has_rrc: bool,
    /// Whether a flow sends datagrams; otherwise there is no table of them.
    pub has_datagrams: bool,
    /// Whether phones change from one link to another; otherwise there is no table of it.
    pub has_link_handovers: bool,
    /// Whether mobility management gives UEs secondary nodes.
    pub has_secondary_changes: bool,
    /// The endpoints; needed only when something is captured.
    pub endpoints: Vec<EndpointInfo>,
    /// Names and directions of the links that are captured.
    pub captured_links: Vec<(String, [LinkId; 2])>,
    /// The radio; needed only when it is captured.
    pub radio: RadioInfo,
}

impl RecorderConfig {
    /// Records what `probes` say of nobody: what there is comes into the lists.
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
            has_link_handovers: false,
            has_secondary_changes: false,
            endpoints: Vec::new(),
            captured_links: Vec::new(),
            radio: RadioInfo::default(),
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
