//! Rows of QUIC connections.

use crate::{FlowId, Span, Time, table};

table! {
    /// State of a QUIC connection at the flow's data sender, one row for each sampled arrival of a
    /// datagram. The table has rows at the same times as `congestion`. A multipath flow has rows
    /// for each path, at arrivals on this path.
    pub struct QuicRow = "quic" {
        /// Simulated time at which the sender had processed the datagram.
        time_s: Time, "s";
        /// Name of the flow, or of its path.
        flow: FlowId, "";
        /// Congestion window.
        cwnd_bytes: u64, "bytes";
        /// Bytes in flight after the last ACK.
        in_flight_bytes: u64, "bytes";
        /// Smoothed round-trip time. Zero before the first sample.
        srtt_s: Span, "s";
        /// Latest round-trip time sample. Zero before the first sample.
        rtt_s: Span, "s";
        /// Probe timeout of application data, without backoff (RFC 9002 section 6.2.1).
        pto_s: Span, "s";
        /// Largest payload of UDP that the path carries, as far as the sender knows.
        mtu_bytes: u64, "bytes";
        /// QUIC packets sent since the start.
        sent_packets: u64, "packets";
        /// QUIC packets that the sender has declared lost since the start.
        lost_packets: u64, "packets";
        /// Losses and marks to which the congestion control could respond since the start. Several
        /// may belong to one recovery.
        congestion_events: u64, "";
        /// Number of open streams whose data are not all acknowledged.
        streams: u64, "streams";
    }
}
