//! Rows that sum up a run at its end. `summary.json`, its tables and the printed summary of the
//! command are made from them.

use crate::table;
use crate::table::{SummaryRow, Table};

/// The tables that sum up a run.
pub const SUMMARY_TABLES: &[Table] = &[
    RunRow::TABLE,
    FlowRow::TABLE,
    PathRow::TABLE,
    DatagramsRow::TABLE,
    QuicEndRow::TABLE,
    LinkRow::TABLE,
    RadioRow::TABLE,
    InterfaceRow::TABLE,
    LegRow::TABLE,
    HeaderCompressionRow::TABLE,
    CompletionRow::TABLE,
    CompletionTimesRow::TABLE,
    PredictionRow::TABLE,
    PredictionScoreRow::TABLE,
];

/// The tables of a scenario that need no run.
pub const SCENARIO_TABLES: &[Table] = &[GeometryRow::TABLE, TrackRow::TABLE, SightRow::TABLE];

table! {
    /// The whole run, in one row.
    pub struct RunRow = "summary" in summary "" {
        /// Title of the scenario.
        title: String, "";
        /// Seed of the random streams.
        seed: u64, "";
        /// Simulated time at which the run ended.
        duration_s: f64, "s";
        /// Number of events that the run processed.
        events: u64, "";
        /// Packets that reached an endpoint of a flow, over the whole run.
        packets: u64, "packets";
        /// Digest of all events of the run. Identical runs have the same fingerprint on every
        /// machine.
        fingerprint: String, "";
    }
}

table! {
    /// A flow over the whole run, one row each. Counts and round-trip times are those of the data
    /// sender. For a multipath flow they cover all paths.
    pub struct FlowRow = "flows" in summary {
        /// Name of the flow.
        flow: String, "";
        /// Application that the flow carries. `port` for datagrams of the caller of the simulation.
        application: String, "";
        /// Transport stack of both ends of the flow. `udp` for datagrams, `quic` for QUIC.
        profile: String, "";
        /// Congestion control of the data sender. For a multipath flow with coupled paths, name of
        /// the coupling. `none` for datagrams.
        congestion_control: String, "";
        /// Path scheduler of a multipath flow. Null for other flows.
        scheduler: Option<String>, "";
        /// Simulated time at which the flow starts.
        start_s: f64, "s";
        /// Simulated time at which the connection was established. Null if it was not established.
        established_s: Option<f64>, "s";
        /// Simulated time at which the first byte reached the receiver's application. Null if no
        /// byte did.
        first_delivery_s: Option<f64>, "s";
        /// Simulated time at which the last byte of the transfer reached the receiver's
        /// application. Null if the transfer has no size or did not complete.
        completed_at_s: Option<f64>, "s";
        /// Time from the flow's start to its completion. Null if the flow did not complete.
        flow_completion_time_s: Option<f64>, "s";
        /// True if an end gave up the connection, after too many retransmission timeouts.
        aborted: bool, "";
        /// Bytes that reached the receiver's application in order.
        delivered_bytes: u64, "bytes";
        /// Delivered bytes divided by the time from the flow's start to its completion, or to the
        /// end of the run.
        goodput_mbps: f64, "Mbit/s";
        /// Data segments sent, retransmissions included. For UDP, datagrams sent. For QUIC, packets
        /// sent.
        sent_segments: u64, "segments";
        /// Data segments that were retransmitted. For QUIC, packets declared lost, whose data are
        /// sent again in other packets.
        retransmitted_segments: u64, "segments";
        /// Number of expiries of the retransmission timer. Zero for QUIC, whose stack does not
        /// report this number.
        timeouts: u64, "";
        /// Number of times that the sender entered fast recovery. For QUIC, losses and marks to
        /// which the congestion control could respond.
        recoveries: u64, "";
        /// Number of window reductions that the sender found spurious and undid.
        undos: u64, "";
        /// Number of tail loss probes sent. Zero for QUIC, whose stack does not report this number.
        loss_probes: u64, "";
        /// Mean over time of the smoothed round-trip time. Null without a sample.
        mean_srtt_s: Option<f64>, "s";
        /// Mean of the round-trip time samples, one for each acknowledgment that gives a sample.
        /// For an echo over UDP, mean of its round trips. Null without a sample.
        mean_rtt_s: Option<f64>, "s";
        /// Smallest round-trip time. Null without a sample.
        min_rtt_s: Option<f64>, "s";
        /// Largest congestion window during the flow. For a multipath flow, the sum of the largest
        /// windows of its paths.
        max_cwnd_segments: f64, "segments";
        /// Congestion window at the end of the run. For a multipath flow, the sum over its paths.
        cwnd_segments: f64, "segments";
        /// Payload of a full segment. For a multipath flow, that of its first path. For QUIC,
        /// largest payload of UDP.
        mss_bytes: u32, "bytes";
    }
}

table! {
    /// A path of a multipath flow over the whole run, one row each.
    pub struct PathRow = "paths" in summary {
        /// Name of the multipath flow.
        flow: String, "";
        /// Path as FLOW/NUMBER, the name that other tables use for it.
        path: String, "";
        /// Bytes that arrived in order on this path's subflow. They include bytes that had already
        /// arrived on another path. For QUIC, bytes of all payloads of UDP that arrived.
        arrived_bytes: u64, "bytes";
        /// Arrived bytes of this path divided by the time from the flow's start to its completion,
        /// or to the end of the run.
        goodput_mbps: f64, "Mbit/s";
        /// Bytes of the flow that were sent on this path for the first time. For QUIC, bytes of all
        /// packets that elicit an ACK.
        sent_bytes: u64, "bytes";
        /// Bytes sent on this path that another path had sent before (reinjection). Always zero for
        /// kernels and for QUIC, which do not report this number.
        reinjected_bytes: u64, "bytes";
        /// Number of times that the path's window was halved because the path held up the other
        /// paths (penalisation). Always zero for kernels and for QUIC.
        penalties: u64, "";
        /// Number of times that an end of a QUIC connection gave up the path. Always zero for TCP.
        failures: u64, "";
        /// Data segments sent on this path, retransmissions included. For QUIC, packets.
        sent_segments: u64, "segments";
        /// Data segments that were retransmitted on this path. For QUIC, packets declared lost.
        retransmitted_segments: u64, "segments";
        /// Number of expiries of the path's retransmission timer. Always zero for QUIC.
        timeouts: u64, "";
        /// Mean over time of the path's smoothed round-trip time. Null without a sample.
        mean_srtt_s: Option<f64>, "s";
        /// Smallest round-trip time. Null without a sample.
        min_rtt_s: Option<f64>, "s";
        /// Congestion window of the path at the end of the run.
        cwnd_segments: f64, "segments";
        /// Largest congestion window of the path during the flow.
        max_cwnd_segments: f64, "segments";
    }
}

table! {
    /// An end of a QUIC connection over the whole run, one row each.
    pub struct QuicEndRow = "quic_ends" in summary {
        /// Name of the flow.
        flow: String, "";
        /// End of the flow: `sender`, which sends the flow's data, or `receiver`.
        end: String, "";
        /// Role of the end: `client`, which opened the connection, or `server`.
        role: String, "";
        /// QUIC packets sent. A datagram may contain several packets of the handshake.
        sent_packets: u64, "packets";
        /// Bytes of sent packets that elicit an ACK, without headers of UDP and IP.
        sent_bytes: u64, "bytes";
        /// Packets that the end declared lost.
        lost_packets: u64, "packets";
        /// Bytes of these packets.
        lost_bytes: u64, "bytes";
        /// Losses and marks to which the congestion control could respond. Several may belong to
        /// one recovery.
        congestion_events: u64, "";
        /// Number of times that all packets declared lost arrived after all.
        spurious_events: u64, "";
        /// Streams that the end opened.
        streams: u64, "streams";
        /// Largest payload of UDP that the path carries, as far as the end knows.
        mtu_bytes: u64, "bytes";
        /// Congestion window at the end of the connection or of the run.
        cwnd_bytes: u64, "bytes";
        /// Mean over time of the smoothed round-trip time. Null without a sample.
        mean_srtt_s: Option<f64>, "s";
        /// Smallest round-trip time. Null without a sample.
        min_rtt_s: Option<f64>, "s";
        /// Reason for which the end gave up the connection, in the words of the QUIC stack. Null if
        /// it did not.
        failure: Option<String>, "";
    }
}

table! {
    /// A direction of a flow of UDP datagrams, one row each: the flow's data, or the answers of an
    /// echo. A percentile is the nearest rank, within 1 %.
    pub struct DatagramsRow = "datagram_flows" in summary {
        /// Name of the flow.
        flow: String, "";
        /// End of the flow that receives the datagrams. Data arrive at `receiver`, and the answers
        /// of an echo arrive at `sender`.
        end: String, "";
        /// Datagrams sent in this direction.
        sent_datagrams: u64, "datagrams";
        /// Datagrams that arrived in this direction.
        received_datagrams: u64, "datagrams";
        /// Datagrams that did not arrive and have a smaller number than the largest number that
        /// arrived (RFC 3550 section 6.4.1). Datagrams in flight at the end of the run do not
        /// count.
        lost_datagrams: u64, "datagrams";
        /// Lost datagrams divided by the sum of lost and received datagrams. Null if no datagram
        /// arrived.
        loss_ratio: Option<f64>, "";
        /// Datagrams that arrived after a datagram that was sent later.
        reordered_datagrams: u64, "datagrams";
        /// Payload of the datagrams that arrived.
        received_bytes: u64, "bytes";
        /// Smallest one-way delay. Null if no datagram arrived.
        min_delay_s: Option<f64>, "s";
        /// Mean one-way delay. Null if no datagram arrived.
        mean_delay_s: Option<f64>, "s";
        /// Median one-way delay. Null if no datagram arrived.
        p50_delay_s: Option<f64>, "s";
        /// 95th percentile of the one-way delay. Null if no datagram arrived.
        p95_delay_s: Option<f64>, "s";
        /// 99th percentile of the one-way delay. Null if no datagram arrived.
        p99_delay_s: Option<f64>, "s";
        /// Longest one-way delay. Null if no datagram arrived.
        max_delay_s: Option<f64>, "s";
        /// Interarrival jitter at the end of the run (RFC 3550 section 6.4.1). Null if no datagram
        /// arrived.
        jitter_s: Option<f64>, "s";
        /// Longest time without an arrival: between two arrivals, or from the last arrival to the
        /// sending of the last datagram. Null if no datagram arrived.
        longest_gap_s: Option<f64>, "s";
        /// Simulated time at which the longest time without an arrival began. Null if no datagram
        /// arrived.
        longest_gap_start_s: Option<f64>, "s";
        /// Mean round-trip time of an echo. Null for other flows, and for the direction of the
        /// requests.
        mean_round_trip_s: Option<f64>, "s";
        /// Median round-trip time of an echo. Null for other flows, and for the direction of the
        /// requests.
        p50_round_trip_s: Option<f64>, "s";
        /// 95th percentile of the round-trip time of an echo. Null for other flows, and for the
        /// direction of the requests.
        p95_round_trip_s: Option<f64>, "s";
        /// Longest round-trip time of an echo. Null for other flows, and for the direction of the
        /// requests.
        max_round_trip_s: Option<f64>, "s";
    }
}

table! {
    /// A direction of a link over the whole run, one row each.
    pub struct LinkRow = "links" in summary {
        /// Direction of the link.
        link: String, "";
        /// Packets that arrived at the link, including packets that the link then lost.
        received_packets: u64, "packets";
        /// Packets that reached the far end of the link.
        sent_packets: u64, "packets";
        /// Bytes that reached the far end of the link, IP headers included.
        sent_bytes: u64, "bytes";
        /// Bytes that reached the far end of the link, divided by the length of the run.
        throughput_mbps: f64, "Mbit/s";
        /// Packets that the link marked congestion-experienced.
        marked_packets: u64, "packets";
        /// Packets that the link lost for any cause.
        dropped_packets: u64, "packets";
        /// Packets lost because the queue was full.
        dropped_queue_full: u64, "packets";
        /// Packets lost by the link's random loss.
        dropped_random: u64, "packets";
        /// Packets lost in a blockage, on a link that does not hold packets during blockages.
        dropped_blocked: u64, "packets";
        /// Packets lost in a blockage because the buffer for held packets was full.
        dropped_hold_full: u64, "packets";
        /// Packets that active queue management dropped.
        dropped_aqm: u64, "packets";
        /// Packets lost because the link was the source of a handover.
        dropped_handover: u64, "packets";
    }
}

table! {
    /// The radio access over the whole run, in one row. There is no row if the scenario has no UE.
    pub struct RadioRow = "radio" in summary "radio" {
        /// Number of slots that the cells processed. Idle slots are skipped and do not count.
        slots: u64, "";
        /// Number of scheduling requests that UEs sent.
        scheduling_requests: u64, "";
        /// Number of radio link failures of all UEs, for any cause.
        link_failures: u64, "";
    }
}

table! {
    /// A direction of a UE's radio interface over the whole run, one row each.
    pub struct InterfaceRow = "interfaces" in summary {
        /// Name of the UE's radio interface, and direction of the data.
        interface: String, "";
        /// Cell that serves the UE at the end of the run. Null if no cell serves the UE.
        cell: Option<String>, "";
        /// Packets delivered at the far end of the interface.
        delivered_packets: u64, "packets";
        /// Bytes delivered at the far end of the interface, IP headers included.
        delivered_bytes: u64, "bytes";
        /// Packets that the interface lost for any cause.
        dropped_packets: u64, "packets";
        /// Packets that active queue management dropped.
        dropped_aqm: u64, "packets";
        /// Packets that the interface marked congestion-experienced.
        marked_packets: u64, "packets";
        /// Number of transport blocks sent, HARQ retransmissions included.
        transport_blocks: u64, "";
        /// Number of HARQ retransmissions.
        harq_retransmissions: u64, "";
        /// Number of transport blocks given up after their last transmission.
        lost_transport_blocks: u64, "";
        /// Delivered bytes divided by the time during which the UE had flows. This time lasts from
        /// the start of its first flow to the completion of its last flow, or to the end of the
        /// run.
        rate_mbps: f64, "Mbit/s";
    }
}

table! {
    /// A direction of a leg of a split bearer over the whole run, one row each.
    pub struct LegRow = "legs" in summary {
        /// Name of the bearer.
        bearer: String, "";
        /// Direction of the data: `downlink` or `uplink`.
        direction: String, "";
        /// Cell of the leg.
        cell: String, "";
        /// PDCP PDUs given to the leg.
        packets: u64, "packets";
        /// Bytes of the PDCP PDUs given to the leg, PDCP headers included.
        bytes: u64, "bytes";
        /// PDCP duplicates among the PDUs given to the leg. Another leg was given the same PDUs
        /// before.
        copies: u64, "packets";
        /// PDUs that the leg discarded before it sent any part of them. Another leg had confirmed
        /// these PDUs, or their discard timer had expired.
        discarded_packets: u64, "packets";
        /// PDUs that arrived over the leg and that PDCP dropped. The PDUs had already arrived over
        /// another leg, or PDCP no longer waited for them.
        useless_packets: u64, "packets";
        /// Number of transport blocks of the UE sent on the leg, for all bearers, HARQ
        /// retransmissions included.
        transport_blocks: u64, "";
        /// Number of HARQ retransmissions on the leg.
        harq_retransmissions: u64, "";
        /// Air time of the leg: time for which its transport blocks would have occupied the whole
        /// carrier.
        air_time_s: f64, "s";
    }
}

table! {
    /// A direction of a bearer with header compression over the whole run, one row each.
    pub struct HeaderCompressionRow = "header_compression" in summary {
        /// Name of the bearer.
        bearer: String, "";
        /// Direction of the data: `downlink` or `uplink`.
        direction: String, "";
        /// Number of headers compressed. A header that was compressed again for another cell counts
        /// again.
        packets: u64, "packets";
        /// Number of headers that were sent uncompressed, in IR packets.
        ir_packets: u64, "packets";
        /// Size of all headers before compression: IP, TCP or UDP, and options.
        header_bytes: u64, "bytes";
        /// Size of all headers after compression.
        compressed_bytes: u64, "bytes";
        /// Packets whose header the receiver could not decompress. These packets are lost, unless
        /// RLC or a handover sent them again.
        failed_packets: u64, "packets";
        /// Number of times that handovers and link failures reset the contexts at both ends.
        resets: u64, "";
    }
}

table! {
    /// A flow that completed, one row each, in the order of completion.
    pub struct CompletionRow = "completions" in summary {
        /// Group of the flow. The flows NAME-0, NAME-1, ... that `count` and `arrivals` make are
        /// the group NAME. A single flow is a group with its own name.
        group: String, "";
        /// Name of the flow.
        flow: String, "";
        /// Application that the flow carries. `port` for datagrams of the caller of the simulation.
        application: String, "";
        /// Congestion control of the data sender.
        congestion_control: String, "";
        /// Simulated time at which the flow starts.
        start_s: f64, "s";
        /// Simulated time at which the first byte reached the receiver's application. Null if the
        /// flow has no bytes.
        first_byte_s: Option<f64>, "s";
        /// Simulated time at which the last byte reached the receiver's application.
        completed_at_s: f64, "s";
        /// Time from the flow's start to its completion.
        completion_time_s: f64, "s";
        /// Bytes that the flow delivered.
        size_bytes: u64, "bytes";
        /// Delivered bytes divided by the completion time.
        mean_rate_mbps: f64, "Mbit/s";
        /// Data segments that were retransmitted.
        retransmitted_segments: u64, "segments";
    }
}

table! {
    /// Completion times of a group of flows, one row for each group with a completed flow. A
    /// percentile is the nearest rank: the smallest time that at least so many flows did not
    /// exceed.
    pub struct CompletionTimesRow = "completion_times" in summary {
        /// Name of the group. The flows NAME-0, NAME-1, ... that `count` and `arrivals` make are
        /// the group NAME.
        group: String, "";
        /// Number of flows in the group.
        flows: u64, "";
        /// Number of flows in the group that completed.
        completed: u64, "";
        /// Mean completion time of the completed flows.
        mean_s: f64, "s";
        /// Median completion time of the completed flows.
        p50_s: f64, "s";
        /// 90th percentile of the completion time.
        p90_s: f64, "s";
        /// 95th percentile of the completion time.
        p95_s: f64, "s";
        /// 99th percentile of the completion time.
        p99_s: f64, "s";
        /// Longest completion time.
        longest_s: f64, "s";
    }
}

table! {
    /// A prediction of a blockage together with the predicted blockage, one row each. The row of a
    /// false alarm has no blockage. The row of a missed blockage has no prediction.
    pub struct PredictionRow = "predictions" in summary {
        /// Name of the UE at one end of the path.
        ue: String, "";
        /// Name of the cell at the other end of the path.
        cell: String, "";
        /// True if the cell served the UE when the prediction was made. For a blockage without a
        /// prediction, true if the cell served the UE when the blockage began. Only predictions of
        /// serving cells are sent to flows.
        serves: bool, "";
        /// Simulated time at which the base station made the prediction. Null without a prediction.
        made_s: Option<f64>, "s";
        /// Simulated time at which the ends of the UE's flows received the prediction. Null without
        /// a prediction, or if the cell did not serve the UE.
        told_s: Option<f64>, "s";
        /// Predicted start of the blockage, as a simulated time. Null without a prediction.
        starts_s: Option<f64>, "s";
        /// Predicted length of the blockage. Null without a prediction.
        lasts_s: Option<f64>, "s";
        /// Simulated time at which the blockage began, to the nearest report period. Null for a
        /// false alarm.
        began_s: Option<f64>, "s";
        /// Length of the blockage, to the nearest report period. Null for a false alarm, or if the
        /// blockage still lasted at the end of the run.
        lasted_s: Option<f64>, "s";
    }
}

table! {
    /// Quality of the predictions of blockages, one row for all cells and one for serving cells.
    pub struct PredictionScoreRow = "prediction_scores" in summary {
        /// Cells that the row covers: `all`, or `serving` for cells that served the UE, whose
        /// predictions are sent to flows.
        cells: String, "";
        /// Number of predictions.
        predictions: u64, "";
        /// Number of blockages that began after the first report.
        cuts: u64, "";
        /// Share of right predictions. A prediction is right if it overlaps a blockage that began
        /// after the sender received the prediction. Null without predictions.
        precision: Option<f64>, "";
        /// Share of blockages that were predicted before they began. Null without blockages.
        recall: Option<f64>, "";
        /// Mean time from the sender's receipt of the first right prediction to the beginning of
        /// the blockage. Null without a right prediction.
        lead_s: Option<f64>, "s";
        /// Root mean square error of the predicted beginning. Null without a right prediction.
        onset_error_s: Option<f64>, "s";
        /// Root mean square error of the predicted length. Null without a right prediction.
        length_error_s: Option<f64>, "s";
        /// Mean error of the predicted length. Positive if blockages are predicted too long. Null
        /// without a right prediction.
        length_bias_s: Option<f64>, "s";
    }
}

table! {
    /// Position and radio level of a UE at the start of a run, one row each. Levels are those of
    /// the downlink over the whole band, without small-scale fading, with all cells of the carrier
    /// at full power.
    pub struct GeometryRow = "geometry" in scenario {
        /// Name of the UE.
        ue: String, "";
        /// Position of the UE to the east.
        x_m: f64, "m";
        /// Position of the UE to the north.
        y_m: f64, "m";
        /// Height of the UE's antenna.
        height_m: f64, "m";
        /// Cell of the UE: the cell that the scenario names, or else the cell that the UE receives
        /// best. Null if the scenario gives the UE's SINR.
        cell: Option<String>, "";
        /// Distance on the ground between the UE and the cell. In a layout with wrap-around,
        /// distance to the nearest copy of the cell. Null if the scenario gives the UE's SINR.
        distance_m: Option<f64>, "m";
        /// Coupling loss: transmitted power divided by received power, antenna gains included. Null
        /// if the scenario gives the UE's SINR.
        coupling_loss_db: Option<f64>, "dB";
        /// Ratio of signal to noise. Null if the scenario gives the UE's SINR.
        snr_db: Option<f64>, "dB";
        /// Ratio of signal to interference. Null if no other cell is received, or if the scenario
        /// gives the UE's SINR.
        sir_db: Option<f64>, "dB";
        /// Ratio of signal to interference and noise. Null if the scenario gives the UE's SINR.
        sinr_db: Option<f64>, "dB";
        /// True if the cell is in line of sight. Null if the scenario gives the UE's SINR.
        line_of_sight: Option<bool>, "";
    }
}

table! {
    /// Position of a vehicle, or of a UE without a vehicle, one row for each vehicle or UE and each
    /// time step.
    pub struct TrackRow = "tracks" in scenario {
        /// Simulated time of the row.
        time_s: f64, "s";
        /// Group of the vehicle. Null for a UE without a vehicle.
        vehicles: Option<String>, "";
        /// Number of the vehicle in its group. Null for a UE without a vehicle.
        vehicle: Option<u64>, "";
        /// Name of the UE on the vehicle, or of the UE without a vehicle. Null for a vehicle
        /// without a UE.
        ue: Option<String>, "";
        /// Position to the east. For a vehicle it is the position of its middle.
        x_m: f64, "m";
        /// Position to the north. For a vehicle it is the position of its middle.
        y_m: f64, "m";
        /// Heading of the vehicle or UE, counter-clockwise from east.
        heading_deg: f64, "deg";
        /// Speed of the vehicle or UE.
        speed_mps: f64, "m/s";
        /// Length of the vehicle. Null for a UE without a vehicle.
        length_m: Option<f64>, "m";
        /// Width of the vehicle. Null for a UE without a vehicle.
        width_m: Option<f64>, "m";
        /// Height of the vehicle's roof, or of the UE's antenna.
        height_m: f64, "m";
    }
}

table! {
    /// Obstruction of the path between a UE and a cell, one row for each pair and each time step.
    pub struct SightRow = "sights" in scenario {
        /// Simulated time of the row.
        time_s: f64, "s";
        /// Name of the UE.
        ue: String, "";
        /// Name of the cell.
        cell: String, "";
        /// Distance between the antennas of the cell and the UE.
        distance_m: f64, "m";
        /// Loss by vehicles in the direct path.
        vehicles_db: f64, "dB";
        /// Loss by foliage in the direct path.
        foliage_db: f64, "dB";
        /// True if a building obstructs the direct path.
        behind_building: bool, "";
        /// SNR of the downlink without fading, if the cell has served the UE up to this time. Null
        /// if the scenario gives the UE's SINR.
        snr_db: Option<f64>, "dB";
        /// Loss by the channel's blockages, deafness excluded. Null if the scenario gives the UE's
        /// SINR.
        blockage_db: Option<f64>, "dB";
        /// Loss because the other end's beam points in another direction (deafness). Null if the
        /// scenario gives the UE's SINR.
        deafness_db: Option<f64>, "dB";
        /// Loss by misaligned beams: since the last beam measurement the UE has moved. Null if the
        /// scenario gives the UE's SINR.
        misalignment_db: Option<f64>, "dB";
        /// Direction of the cell's beam, counter-clockwise from east. Null if the beam is not
        /// steered.
        beam_deg: Option<f64>, "deg";
        /// True if beam recovery is in progress, so that the UE receives nothing. Null if the
        /// scenario gives the UE's SINR.
        beam_recovery: Option<bool>, "";
    }
}
