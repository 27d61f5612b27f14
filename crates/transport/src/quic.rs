//! Settings of a QUIC connection. The crate `quic` has the connection itself.

use fadeout_core::registry::{Entry, Registered, Settings, choice, flag, integer, span};
use fadeout_core::{Bytes, DATAGRAM_HEADERS, Span};

fadeout_core::choices! {
    /// Congestion control of a QUIC connection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum QuicControl {
        /// The flow's `congestion-control`, by default `cubic`.
        Flow = "flow",
        /// New Reno of the QUIC stack.
        NewReno = "noq:new-reno",
        /// CUBIC of the QUIC stack.
        Cubic = "noq:cubic",
    }
}

/// Entry of a congestion control of QUIC.
const fn control(name: &'static str, summary: &'static str, citation: &'static str) -> Entry {
    Entry::new(name, "quic-congestion-control", summary, citation)
}

/// Congestion controls of a QUIC connection, for the catalog.
pub static QUIC_CONGESTION_CONTROLS: &[Entry] = &[
    control(
        "flow",
        "The flow's `congestion-control`, by default `cubic`: each of fadeout's except `dctcp`, \
         `prague` and `tahoe`.",
        "RFC 9002",
    ),
    control("noq:new-reno", "New Reno of the QUIC stack.", "RFC 9002"),
    control("noq:cubic", "CUBIC of the QUIC stack.", "RFC 9438"),
];

fadeout_core::choices! {
    /// Encryption of a QUIC connection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum QuicCrypto {
        /// Bytes are not changed. Packets and the handshake have the sizes of TLS 1.3.
        Null = "null",
        /// TLS 1.3 by the library rustls.
        Tls = "tls",
    }
}

fadeout_core::choices! {
    /// Division of an end's data into streams.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StreamUse {
        /// All data of an end are on one stream.
        One = "one",
        /// Each write of the application is a stream of its own.
        PerWrite = "per-write",
    }
}

fadeout_core::parameters! {
    /// Settings of both ends of a QUIC connection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct QuicSettings {
        /// Congestion control: that of the flow (`flow`), or one of the QUIC stack (`noq:new-reno`,
        /// `noq:cubic`).
        pub control as "congestion-control": QuicControl = choice(QuicControl::NAMES, "flow"),
        /// Round-trip time before the first sample (RFC 9002 section 6.2.2), at least 1 ms.
        pub initial_rtt: Span = span("333 ms"),
        /// Number of packets after which the receiver sends an ACK
        /// (draft-ietf-quic-ack-frequency). With 0 the ends do not negotiate it, and the receiver
        /// acknowledges every second packet.
        pub ack_frequency: u32 = integer((0, 1_000, "packets"), "0"),
        /// Size of the server's certificates. A server may send three times the bytes that it
        /// received until the client's address is validated (RFC 9000 section 8.1). Large
        /// certificates therefore take a further round trip. The default is a leaf and an
        /// intermediate certificate with ECDSA keys.
        pub certificate: Bytes = integer((0, 60_000, "bytes"), "2000 B"),
        /// True if the client resumes an earlier session, and sends data in its first flight (RFC
        /// 9001 section 4.6). The server then sends no certificate.
        pub zero_rtt: bool = flag("false"),
        /// Encryption. With `null` bytes are not changed, and packets have the sizes of TLS 1.3.
        /// With `tls` the library rustls encrypts by TLS 1.3, with AES-128-GCM, X25519 and Ed25519.
        pub crypto: QuicCrypto = choice(QuicCrypto::NAMES, "null"),
        /// Size of the largest IP packet.
        pub mtu: Bytes = integer((1_228, 9_000, "bytes"), "1500 B"),
        /// True if the ends probe for datagrams of the size that `mtu` allows (RFC 8899). Otherwise
        /// payloads of UDP have 1200 bytes.
        pub mtu_discovery: bool = flag("true"),
        /// Bytes of a stream that the peer may send before the application reads. The stack's
        /// default is the data of 100 ms at 100 Mbit/s.
        pub receive_window: Bytes = integer((1_000, 1 << 30, "bytes"), "1250 kB"),
        /// Streams of an end's data: one stream for all (`one`), or a stream for each write of the
        /// application (`per-write`).
        pub streams: StreamUse = choice(StreamUse::NAMES, "one"),
        /// Time without a packet from the peer after which an end gives up the connection (RFC 9000
        /// section 10.1). An end never gives up before three probe timeouts. With 0 an end never
        /// gives up.
        pub idle_timeout: Span = span("30 s"),
        /// Time after which an end gives up a path of a `multipath` flow if no packet arrives on it
        /// (draft-ietf-quic-multipath section 3.4). An end gives up no path before three probe
        /// timeouts, and none while no packet arrives on another path. Each end sends a packet on
        /// each quiet path three times in this time.
        pub path_timeout: Span = span("1 s"),
    }
}

impl Registered for QuicSettings {
    const ENTRY: Entry = Entry::new(
        "quic",
        "transport",
        "QUIC by the library noq, over one path or several.",
        "RFC 9000; RFC 9002; draft-ietf-quic-multipath",
    )
    .with_parameters(QuicSettings::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        QuicSettings::read(settings)
    }
}

impl QuicSettings {
    /// Returns the size of the largest payload of a datagram.
    pub fn largest_payload(&self) -> Bytes {
        Bytes(self.mtu.0.saturating_sub(u64::from(DATAGRAM_HEADERS)))
    }
}
