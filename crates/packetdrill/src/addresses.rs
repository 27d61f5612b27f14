//! Names of addresses in a script (`addr[NAME]`), and the subflow that a segment belongs to.

use crate::connection::{Connection, Flow};
use crate::path_management::next_address;
use crate::script::PacketSpec;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Direction of a segment of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Inbound,
    Outbound,
}

/// Addresses that the script has named.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: BTreeMap<String, IpAddr>,
    /// Latest new address of the peer. `None` if the peer has its first address only.
    latest: Option<IpAddr>,
}

impl Names {
    /// Returns the address called `name`. `None` if the name is new.
    pub(crate) fn find(&self, name: &str) -> Option<IpAddr> {
        self.known.get(name).copied()
    }

    /// Names an address. A known name keeps its address.
    pub(crate) fn learn(&mut self, name: &str, address: IpAddr) {
        self.known.entry(name.to_owned()).or_insert(address);
    }

    /// Returns the address called `name`. A new name gets the next address of the peer, whose first
    /// address is `first`.
    pub(crate) fn find_or_create(&mut self, name: &str, first: IpAddr) -> IpAddr {
        if let Some(address) = self.find(name) {
            return address;
        }
        let address = next_address(self.latest.unwrap_or(first));
        self.latest = Some(address);
        self.learn(name, address);
        address
    }

    /// Returns true if `name` may stand for `address`. A new name and a missing name stand for any
    /// address.
    fn may_be(&self, name: Option<&String>, address: Option<IpAddr>) -> bool {
        name.and_then(|name| self.find(name))
            .is_none_or(|known| Some(known) == address)
    }

    /// Returns true if the subflow has the addresses of the segment.
    pub(crate) fn fits(&self, spec: &PacketSpec, direction: Direction, flow: &Flow) -> bool {
        let (local, remote) = ends(spec, direction);
        self.may_be(local, flow.local) && self.may_be(remote, flow.remote)
    }

    /// Gives the new names of the segment the addresses of its subflow.
    pub(crate) fn learn_of(&mut self, spec: &PacketSpec, direction: Direction, flow: &Flow) {
        let (local, remote) = ends(spec, direction);
        for (name, address) in [(local, flow.local), (remote, flow.remote)] {
            if let (Some(name), Some(address)) = (name, address) {
                self.learn(name, address);
            }
        }
    }

    /// Returns the number of the path to which a segment of the script belongs: the newest subflow
    /// with its addresses. `None` if no subflow of the script has these addresses.
    pub(crate) fn path_of(
        &self,
        connection: &Connection,
        spec: &PacketSpec,
        direction: Direction,
    ) -> Option<usize> {
        let others = (0..connection.flows.len()).rev();
        let mut newest_first = std::iter::once(connection.newest).chain(others);
        newest_first.find(|&path| {
            let flow = &connection.flows[path];
            flow.is_known && self.fits(spec, direction, flow)
        })
    }
}

/// Returns the names of this end's address and of the peer's address.
pub(crate) fn ends(spec: &PacketSpec, direction: Direction) -> (Option<&String>, Option<&String>) {
    match direction {
        Direction::Inbound => (spec.to.as_ref(), spec.from.as_ref()),
        Direction::Outbound => (spec.from.as_ref(), spec.to.as_ref()),
    }
}
