//! Transports that a flow may name in place of the one of its application.

use fadeout_core::Bytes;

fadeout_core::registry! {
    /// Transports that a flow may name in place of the one of its application.
    pub static TRANSPORTS;

    /// Transport with its parameters.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NamedTransport {
        Port(crate::port::PortLimits),
        Quic(crate::quic::QuicSettings),
    }
    macro each;
}

impl NamedTransport {
    /// Returns the size of the largest payload of a datagram.
    pub fn largest_payload(&self) -> Bytes {
        each!(self, settings => settings.largest_payload())
    }
}
