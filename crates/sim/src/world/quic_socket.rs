//! An end of a QUIC connection, with the numbers of its datagrams.

use fadeout_core::{CongestionRow, Datagram, FlowId, QuicRow, Time};
use fadeout_quic::QuicEnd;

/// End of a QUIC connection, with the number of its next datagram.
#[derive(Debug)]
pub(crate) struct QuicSocket {
    pub(crate) quic: QuicEnd,
    sent: u64,
}

impl QuicSocket {
    pub(crate) fn new(quic: QuicEnd) -> QuicSocket {
        QuicSocket { quic, sent: 0 }
    }

    /// Returns the next datagram of the end, with `len` bytes.
    pub(super) fn next_datagram(&mut self, len: u32) -> Datagram {
        let number = self.sent;
        self.sent += 1;
        Datagram {
            number,
            len,
            answers: None,
        }
    }

    /// Returns the row of the congestion table and the row of the QUIC table.
    pub(super) fn rows(&self, now: Time, flow: FlowId) -> (CongestionRow, QuicRow) {
        let (sending, counted) = (self.quic.sending(), self.quic.statistics());
        let datagrams = |bytes| counted.datagrams(bytes);
        let pacing = sending.pacing_bytes_per_s.unwrap_or(0);
        let congestion = CongestionRow {
            time_s: now,
            flow,
            cwnd_segments: datagrams(counted.cwnd_bytes),
            ssthresh_segments: sending.ssthresh_bytes.map_or(f64::INFINITY, datagrams),
            in_flight_segments: datagrams(sending.in_flight_bytes).round() as u32,
            acked_bytes: sending.acked_bytes,
            srtt_s: sending.srtt,
            rtt_s: sending.rtt,
            rto_s: sending.probe_timeout,
            pacing_rate_mbps: pacing as f64 * 8.0 / 1e6,
            state: "",
        };
        let quic = QuicRow {
            time_s: now,
            flow,
            cwnd_bytes: counted.cwnd_bytes,
            in_flight_bytes: sending.in_flight_bytes,
            srtt_s: sending.srtt,
            rtt_s: sending.rtt,
            pto_s: sending.probe_timeout,
            mtu_bytes: counted.mtu_bytes,
            sent_packets: counted.sent_packets,
            lost_packets: counted.lost_packets,
            congestion_events: counted.congestion_events,
            streams: sending.streams,
        };
        (congestion, quic)
    }
}
