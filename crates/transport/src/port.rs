//! Settings of ports: ends of flows whose datagrams come from the caller of a simulation.

use fadeout_core::registry::{Entry, Registered, Settings, integer};
use fadeout_core::{Bytes, DATAGRAM_HEADERS};

fadeout_core::parameters! {
    /// Limits of the datagrams of a flow with a port.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PortLimits {
        /// Size of the largest IP packet that an end may send. IP and UDP take 28 bytes of it. A
        /// larger datagram is an error of the caller, because IP packets are not fragmented.
        pub mtu: Bytes = integer((68, 65_535, "bytes"), "1500 B"),
        /// Memory of payload bytes above which an end may not send. All bytes of the run count that
        /// are in flight, or that their receiver has not fetched. Each datagram counts with 64
        /// bytes in addition to its payload.
        pub memory: Bytes = integer((1_000, 1 << 40, "bytes"), "256 MB"),
    }
}

impl Registered for PortLimits {
    const ENTRY: Entry = Entry::new(
        "port",
        "transport",
        "Sends UDP datagrams whose bytes come from the caller of the simulation, and hands arrived \
         bytes to the caller.",
        "RFC 768",
    )
    .with_parameters(PortLimits::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        PortLimits::read(settings)
    }
}

impl PortLimits {
    /// Returns the size of the largest payload of a datagram.
    pub fn largest_payload(&self) -> Bytes {
        Bytes(self.mtu.0.saturating_sub(u64::from(DATAGRAM_HEADERS)))
    }
}
