//! Hosts that send or receive captured packets, and the headers of these packets.

use super::headers::{Addressed, Headers};
use super::mptcp::Identity;
use crate::EndpointInfo;
use fadeout_core::{EndpointId, Flags, NodeId, Packet, WholePacket};

/// Data of all hosts that packet headers need.
#[derive(Debug)]
pub(super) struct Hosts {
    endpoints: Vec<EndpointInfo>,
    /// Identity of each endpoint in a multipath connection. `None` for other connections.
    identities: Vec<Option<Identity>>,
    /// Window scale in the SYN of each endpoint. `None` if the SYN had no such option.
    offered_scale: Vec<Option<u8>>,
    headers: Headers,
}

impl Hosts {
    pub(super) fn new(endpoints: &[EndpointInfo]) -> Hosts {
        let identities = (0..).zip(endpoints);
        Hosts {
            identities: identities
                .map(|(id, endpoint)| Identity::from_endpoint(EndpointId(id), endpoint))
                .collect(),
            offered_scale: vec![None; endpoints.len()],
            endpoints: endpoints.to_vec(),
            headers: Headers::default(),
        }
    }

    /// Returns the host that sends a packet.
    pub(super) fn sender(&self, packet: &Packet) -> NodeId {
        let sender = self.endpoints[packet.to.index()].peer;
        self.endpoints[sender.index()].node
    }

    /// Returns the host that receives a packet.
    pub(super) fn receiver(&self, packet: &Packet) -> NodeId {
        self.endpoints[packet.to.index()].node
    }

    /// Records the window scale in a SYN. The windows of later packets are scaled by it.
    pub(super) fn notice(&mut self, packet: &Packet) {
        if packet.segment.flags.has(Flags::SYN) {
            let from = self.endpoints[packet.to.index()].peer;
            self.offered_scale[from.index()] = packet.segment.window_scale;
        }
    }

    /// Returns the IP and TCP or UDP headers of a packet.
    pub(super) fn headers(&mut self, packet: WholePacket<'_>) -> &[u8] {
        self.notice(&packet);
        let to = packet.to;
        let receiver = &self.endpoints[to.index()];
        let from = receiver.peer;
        // Windows are scaled only if both SYNs carried the option (RFC 7323 section 2.2).
        let scales = (
            self.offered_scale[from.index()],
            self.offered_scale[to.index()],
        );
        let window_scale = match scales {
            (Some(own), Some(_)) => own,
            _ => 0,
        };
        self.headers.build(&Addressed {
            packet,
            from,
            sender: &self.endpoints[from.index()],
            receiver,
            window_scale,
            multipath: self.identities[from.index()].zip(self.identities[to.index()]),
        })
    }

    /// Adds the headers of a packet and its payload to `frame`.
    pub(super) fn write(&mut self, packet: WholePacket<'_>, frame: &mut Vec<u8>) {
        frame.extend(self.headers(packet));
        frame.extend(packet.payload);
    }
}
