//! An end of a QUIC connection, with the endpoints of its paths.

use fadeout_core::{CongestionRow, Datagram, EndpointId, FlowId, QuicRow, Time};
use fadeout_quic::QuicEnd;

/// Endpoint of a path, with the number of its next datagram.
#[derive(Debug)]
struct PathEnd {
    endpoint: EndpointId,
    sent: u64,
}

/// End of a QUIC connection. The first endpoint receives commands and wake-ups for all paths.
#[derive(Debug)]
pub(crate) struct QuicSocket {
    pub(crate) quic: QuicEnd,
    /// Flow of the connection. Its paths have flow numbers of their own if there are several.
    pub(super) flow: FlowId,
    paths: Box<[PathEnd]>,
}

impl QuicSocket {
    /// Returns the socket of a flow's end, whose paths begin at `endpoints`.
    pub(crate) fn new(
        quic: QuicEnd,
        flow: FlowId,
        endpoints: impl IntoIterator<Item = EndpointId>,
    ) -> QuicSocket {
        let paths = endpoints.into_iter();
        let paths = paths.map(|endpoint| PathEnd { endpoint, sent: 0 });
        QuicSocket {
            quic,
            flow,
            paths: paths.collect(),
        }
    }

    /// Returns the next datagram on a path, with `len` bytes, and the endpoint that sends it.
    pub(super) fn next_datagram(&mut self, path: usize, len: u32) -> (EndpointId, Datagram) {
        let path = &mut self.paths[path];
        let number = path.sent;
        path.sent += 1;
        let datagram = Datagram {
            number,
            len,
            answers: None,
        };
        (path.endpoint, datagram)
    }

    /// Returns the row of the congestion table and the row of the QUIC table for a path. `flow` is
    /// the number of the path, or of a flow with a single path.
    pub(super) fn rows(&self, now: Time, path: usize, flow: FlowId) -> (CongestionRow, QuicRow) {
        let sending = self.quic.sending(path);
        let counted = self.quic.path_statistics(path);
        let datagrams = |bytes| sending.datagrams(bytes);
        let pacing = sending.pacing_bytes_per_s.unwrap_or(0);
        let congestion = CongestionRow {
            time_s: now,
            flow,
            cwnd_segments: datagrams(sending.cwnd_bytes),
            ssthresh_segments: sending.ssthresh_bytes.map_or(f64::INFINITY, datagrams),
            in_flight_segments: datagrams(sending.in_flight_bytes).round() as u32,
            acked_bytes: counted.acked_bytes,
            srtt_s: sending.srtt,
            rtt_s: sending.rtt,
            rto_s: sending.probe_timeout,
            pacing_rate_mbps: pacing as f64 * 8.0 / 1e6,
            state: "",
        };
        let quic = QuicRow {
            time_s: now,
            flow,
            cwnd_bytes: sending.cwnd_bytes,
            in_flight_bytes: sending.in_flight_bytes,
            srtt_s: sending.srtt,
            rtt_s: sending.rtt,
            pto_s: sending.probe_timeout,
            mtu_bytes: sending.mtu_bytes,
            sent_packets: counted.sent_packets,
            lost_packets: counted.lost_packets,
            congestion_events: counted.congestion_events,
            streams: self.quic.statistics().open_streams,
        };
        (congestion, quic)
    }
}
