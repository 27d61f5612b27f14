//! Counters that can be observed and that no table over time has. Their names are those of the
//! summary tables.

use fadeout_core::table;

table! {
    /// Counters of a flow since its start. For a path of a multipath flow, counters of the path.
    pub struct FlowCounts = "flow_counts" {
        /// Bytes that reached the receiver's application in order. For a path, bytes that arrived
        /// on its subflow.
        delivered_bytes: u64, "bytes";
        /// Data segments sent, retransmissions included.
        sent_segments: u64, "segments";
        /// Segments that the peer has acknowledged, cumulatively or selectively.
        delivered_segments: u64, "segments";
        /// Segments that the sender has marked lost.
        lost_segments: u64, "segments";
        /// Data segments that were retransmitted.
        retransmitted_segments: u64, "segments";
        /// Number of expiries of the retransmission timer.
        timeouts: u64, "";
        /// Number of times that the sender entered fast recovery.
        recoveries: u64, "";
        /// Sum of the round-trip time samples. Divided by `rtt_samples`, their mean.
        rtt_sum_s: f64, "s";
        /// Number of round-trip time samples.
        rtt_samples: u64, "";
        /// Smallest round-trip time. Zero before the first sample.
        min_rtt_s: f64, "s";
        /// Payload of a full segment. Zero before the flow starts.
        mss_bytes: u32, "bytes";
    }
}

table! {
    /// Counters of a direction of a link since the start of the run.
    pub struct LinkCounts = "link_counts" {
        /// Packets that arrived at the link, including packets that the link then lost.
        received_packets: u64, "packets";
        /// Packets that reached the far end of the link.
        sent_packets: u64, "packets";
        /// Bytes that reached the far end of the link, IP headers included.
        sent_bytes: u64, "bytes";
        /// Packets that the link marked congestion-experienced.
        marked_packets: u64, "packets";
        /// Packets that the link lost for any cause.
        dropped_packets: u64, "packets";
        /// Rate of the link. Infinite if the link has no limit. NaN if the rate varies, or if the
        /// link has blocks, a trace or blockages.
        rate_mbps: f64, "Mbit/s";
    }
}

table! {
    /// Counters of a direction of a UE's radio interface since the start of the run.
    pub struct InterfaceCounts = "interface_counts" {
        /// Number of the cell that serves the UE, in the order of the scenario from 0 on. -1 if no
        /// cell serves the UE.
        cell: f64, "";
        /// Packets delivered at the far end of the interface.
        delivered_packets: u64, "packets";
        /// Bytes delivered at the far end of the interface, IP headers included.
        delivered_bytes: u64, "bytes";
        /// Packets that the interface lost for any cause.
        dropped_packets: u64, "packets";
        /// Packets that the interface marked congestion-experienced.
        marked_packets: u64, "packets";
        /// Number of transport blocks sent, HARQ retransmissions included.
        transport_blocks: u64, "";
        /// Number of HARQ retransmissions.
        harq_retransmissions: u64, "";
        /// Number of transport blocks given up after their last transmission.
        lost_transport_blocks: u64, "";
    }
}
