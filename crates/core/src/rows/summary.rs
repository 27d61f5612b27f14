//! The rows that a run is summed up in at its end: `summary.json`, the tables beside it, and the
//! command's printed summary are made of them.

use crate::table;
use crate::table::{SummaryRow, Table};

/// Every table that a run is summed up in.
pub const SUMMARY_TABLES: &[Table] = &[
    RunRow::TABLE,
    FlowRow::TABLE,
    PathRow::TABLE,
    DatagramsRow::TABLE,
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

/// Every table of what a scenario has before it is run.
pub const SCENARIO_TABLES: &[Table] = &[GeometryRow::TABLE, TrackRow::TABLE, SightRow::TABLE];

table! {
    /// The whole run, in one row.
    pub struct RunRow = "summary" in summary "" {
        /// The scenario's title.
        title: String, "";
        /// Seed of the random streams.
        seed: u64, "";
        /// Simulated time.
        duration_s: f64, "s";
        /// Events that were processed.
        events: u64, "";
        /// Packets that reached an endpoint.
        packets: u64, "packets";
        /// Digest of the whole trajectory: equal for equal runs, on any machine.
        fingerprint: String, "";
    }
}

table! {
    /// A flow, one row each. Counts and round-trip times are the data sender's; a multipath flow's
    /// are over all its paths.
    pub struct FlowRow = "flows" in summary {
        /// Flow.
        flow: String, "";
        /// The application.
        application: String, "";
        /// Transport stack of its ends.
        profile: String, "";
        /// The sender's congestion control; the coupling of a multipath flow whose paths are
        /// coupled.
        congestion_control: String, "";
        /// Scheduler of a multipath flow; none of another.
        scheduler: Option<String>, "";
        /// When it was to start.
        start_s: f64, "s";
        /// When its connection was open; none where it never was.
        established_s: Option<f64>, "s";
        /// When its first byte reached the receiver's application; none where none did.
        first_delivery_s: Option<f64>, "s";
        /// When its last byte did; none where the transfer has no size or did not come to its end.
        completed_at_s: Option<f64>, "s";
        /// From its start to its completion; none where there is none.
        flow_completion_time_s: Option<f64>, "s";
        /// Whether the connection was given up.
        aborted: bool, "";
        /// Bytes that reached the receiver's application in order.
        delivered_bytes: u64, "bytes";
        /// Rate of those, from the flow's start to its completion or the end of the run.
        goodput_mbps: f64, "Mbit/s";
        /// Segments with data that were sent, retransmissions included.
        sent_segments: u64, "segments";
        /// Segments that were sent again.
        retransmitted_segments: u64, "segments";
        /// Retransmission timers that expired.
        timeouts: u64, "";
        /// Times that fast recovery was entered.
        recoveries: u64, "";
        /// Reductions of the window that were found spurious and undone.
        undos: u64, "";
        /// Tail loss probes that were sent.
        loss_probes: u64, "";
        /// Mean over time of the smoothed round-trip time; none before its first sample.
        mean_srtt_s: Option<f64>, "s";
        /// Mean over the samples of the round-trip time, each acknowledgment that gives one
        /// counting once; none without a sample.
        mean_rtt_s: Option<f64>, "s";
        /// Smallest round-trip time; none without a sample.
        min_rtt_s: Option<f64>, "s";
        /// Largest congestion window; of a multipath flow the sum over its paths.
        max_cwnd_segments: f64, "segments";
        /// Congestion window at the end; of a multipath flow the sum over its paths.
        cwnd_segments: f64, "segments";
        /// Payload of a full segment; of a multipath flow its first path's.
        mss_bytes: u32, "bytes";
    }
}

table! {
    /// A path of a multipath flow, one row each.
    pub struct PathRow = "paths" in summary {
        /// Flow that it is a path of.
        flow: String, "";
        /// Path: the flow's name and the path's number, as in the other tables.
        path: String, "";
        /// Bytes that reached the receiver on this path, in the subflow's order; what came on
        /// another path before is counted again.
        arrived_bytes: u64, "bytes";
        /// Rate of those, from the flow's start to its completion or the end of the run.
        goodput_mbps: f64, "Mbit/s";
        /// New bytes of the connection's stream that were sent on it.
        sent_bytes: u64, "bytes";
        /// Bytes sent on it that another path had sent before.
        reinjected_bytes: u64, "bytes";
        /// Times its window was halved because it held the other paths up.
        penalties: u64, "";
        /// Segments with data that were sent, retransmissions included.
        sent_segments: u64, "segments";
        /// Segments that were sent again on this path.
        retransmitted_segments: u64, "segments";
        /// Retransmission timers that expired.
        timeouts: u64, "";
        /// Mean over time of the smoothed round-trip time; none before its first sample.
        mean_srtt_s: Option<f64>, "s";
        /// Smallest round-trip time; none without a sample.
        min_rtt_s: Option<f64>, "s";
        /// Congestion window at the end.
        cwnd_segments: f64, "segments";
        /// Largest congestion window.
        max_cwnd_segments: f64, "segments";
    }
}

table! {
    /// A direction of a flow of UDP datagrams, one row each: the flow's data, and the answers of an
    /// echo. Percentiles are nearest ranks, to within 1 %.
    pub struct DatagramsRow = "datagram_flows" in summary {
        /// Flow.
        flow: String, "";
        /// Which end receives: receiver, of the flow's data, or sender, of the answers of an echo.
        end: String, "";
        /// Datagrams sent.
        sent_datagrams: u64, "datagrams";
        /// Datagrams that arrived.
        received_datagrams: u64, "datagrams";
        /// Datagrams that did not, of those sent before the newest that did (RFC 3550 section 6.4.1);
        /// what is under way at the end is not lost.
        lost_datagrams: u64, "datagrams";
        /// Share of the lost in the lost and the arrived; none where none arrived.
        loss_ratio: Option<f64>, "";
        /// Datagrams that arrived after one that was sent later.
        reordered_datagrams: u64, "datagrams";
        /// Payload that arrived.
        received_bytes: u64, "bytes";
        /// Smallest one-way delay; none where none arrived, as of all that follow.
        min_delay_s: Option<f64>, "s";
        /// Mean one-way delay.
        mean_delay_s: Option<f64>, "s";
        /// Median one-way delay.
        p50_delay_s: Option<f64>, "s";
        /// 95th percentile of the one-way delay.
        p95_delay_s: Option<f64>, "s";
        /// 99th percentile of the one-way delay.
        p99_delay_s: Option<f64>, "s";
        /// Longest one-way delay.
        max_delay_s: Option<f64>, "s";
        /// Interarrival jitter at the end (RFC 3550 section 6.4.1).
        jitter_s: Option<f64>, "s";
        /// Interruption: longest time without an arrival, between two of them or from the last one to
        /// the last sending.
        longest_gap_s: Option<f64>, "s";
        /// When that began.
        longest_gap_start_s: Option<f64>, "s";
        /// Mean round-trip time of an echo; none of another flow, as of all that follow.
        mean_round_trip_s: Option<f64>, "s";
        /// Median round-trip time.
        p50_round_trip_s: Option<f64>, "s";
        /// 95th percentile of the round-trip time.
        p95_round_trip_s: Option<f64>, "s";
        /// Longest round-trip time.
        max_round_trip_s: Option<f64>, "s";
    }
}

table! {
    /// A direction of a link, one row each.
    pub struct LinkRow = "links" in summary {
        /// Direction of a link.
        link: String, "";
        /// Packets that arrived at it, the lost ones included.
        received_packets: u64, "packets";
        /// Packets that reached its far end.
        sent_packets: u64, "packets";
        /// Bytes of those, IP headers included.
        sent_bytes: u64, "bytes";
        /// Rate of those, over the whole run.
        throughput_mbps: f64, "Mbit/s";
        /// Packets that it marked congestion-experienced.
        marked_packets: u64, "packets";
        /// Packets that it lost, for whatever cause.
        dropped_packets: u64, "packets";
        /// Packets that found the queue full.
        dropped_queue_full: u64, "packets";
        /// Packets lost at random.
        dropped_random: u64, "packets";
        /// Packets lost in a blockage that holds none.
        dropped_blocked: u64, "packets";
        /// Packets lost in a blockage because its holding buffer was full.
        dropped_hold_full: u64, "packets";
        /// Packets that active queue management dropped.
        dropped_aqm: u64, "packets";
        /// Packets lost at the source of a handover.
        dropped_handover: u64, "packets";
    }
}

table! {
    /// The radio access, in one row; none where the scenario has no UE.
    pub struct RadioRow = "radio" in summary "radio" {
        /// Slots that the cells looked at; those without anything to do are passed over.
        slots: u64, "";
        /// Scheduling requests that UEs sent.
        scheduling_requests: u64, "";
        /// Radio link failures: RLC reached its most retransmissions.
        link_failures: u64, "";
    }
}

table! {
    /// A direction of a UE's radio interface, one row each.
    pub struct InterfaceRow = "interfaces" in summary {
        /// Direction of a radio interface.
        interface: String, "";
        /// Cell that serves it at the end; none where none does.
        cell: Option<String>, "";
        /// Packets that left it at the far end.
        delivered_packets: u64, "packets";
        /// Bytes of those, IP headers included.
        delivered_bytes: u64, "bytes";
        /// Packets that it lost, for whatever cause.
        dropped_packets: u64, "packets";
        /// Packets that active queue management dropped.
        dropped_aqm: u64, "packets";
        /// Packets marked congestion-experienced.
        marked_packets: u64, "packets";
        /// Transport blocks that were sent, HARQ retransmissions included.
        transport_blocks: u64, "";
        /// HARQ retransmissions among them.
        harq_retransmissions: u64, "";
        /// Transport blocks given up after their last transmission.
        lost_transport_blocks: u64, "";
        /// Rate of the delivered bytes, over the time of a flow's goodput: from the start of the first
        /// flow that begins or ends at the UE to the completion of the last, or the end of the run.
        rate_mbps: f64, "Mbit/s";
    }
}

table! {
    /// A direction of a leg of a split bearer, one row each.
    pub struct LegRow = "legs" in summary {
        /// Bearer.
        bearer: String, "";
        /// downlink or uplink.
        direction: String, "";
        /// Cell of the leg.
        cell: String, "";
        /// PDCP PDUs that the leg was given.
        packets: u64, "packets";
        /// Bytes of those, PDCP headers included.
        bytes: u64, "bytes";
        /// Those of them that the other leg had first: PDCP duplicates.
        copies: u64, "packets";
        /// PDUs that it discarded before it sent anything of them: the other leg had confirmed them,
        /// or their time was up.
        discarded_packets: u64, "packets";
        /// PDUs that arrived over it and were dropped by PDCP: they were there, or given up.
        useless_packets: u64, "packets";
        /// Transport blocks of the UE on the leg, HARQ retransmissions included, whichever bearers
        /// they carried.
        transport_blocks: u64, "";
        /// HARQ retransmissions among them.
        harq_retransmissions: u64, "";
        /// For how long those blocks would have taken the whole carrier.
        air_time_s: f64, "s";
    }
}

table! {
    /// A direction of a bearer whose headers are compressed, one row each.
    pub struct HeaderCompressionRow = "header_compression" in summary {
        /// Bearer.
        bearer: String, "";
        /// downlink or uplink.
        direction: String, "";
        /// Headers that were compressed; those that a handover made the sender compress once more count again.
        packets: u64, "packets";
        /// Those of them that were sent whole, in IR packets.
        ir_packets: u64, "packets";
        /// Their bytes before: IP, TCP or UDP, and options.
        header_bytes: u64, "bytes";
        /// Their bytes as they were sent.
        compressed_bytes: u64, "bytes";
        /// Packets whose header the receiver could not find. They are lost, but for those that were sent again.
        failed_packets: u64, "packets";
        /// Times that both ends forgot what they knew: handovers, and links that failed.
        resets: u64, "";
    }
}

table! {
    /// A flow that came to its end, one row each, in the order of completion.
    pub struct CompletionRow = "completions" in summary {
        /// Group of the flow: NAME for the NAME-0, NAME-1, ... that `count` and `arrivals` make;
        /// a flow that stands alone is its own.
        group: String, "";
        /// Flow.
        flow: String, "";
        /// The application.
        application: String, "";
        /// The sender's congestion control.
        congestion_control: String, "";
        /// When it was to start.
        start_s: f64, "s";
        /// When its first byte reached the receiver's application.
        first_byte_s: Option<f64>, "s";
        /// When its last byte did.
        completed_at_s: f64, "s";
        /// From its start to its completion.
        completion_time_s: f64, "s";
        /// Bytes that it delivered.
        size_bytes: u64, "bytes";
        /// Rate of those over the completion time.
        mean_rate_mbps: f64, "Mbit/s";
        /// Segments that were sent again.
        retransmitted_segments: u64, "segments";
    }
}

table! {
    /// A group of flows of which some came to their end, one row each: how long that took. A
    /// percentile is the nearest rank, the smallest time that so many did not exceed.
    pub struct CompletionTimesRow = "completion_times" in summary {
        /// Group of the flows.
        group: String, "";
        /// Flows in it.
        flows: u64, "";
        /// Of those, how many came to their end.
        completed: u64, "";
        /// Mean completion time.
        mean_s: f64, "s";
        /// Median completion time.
        p50_s: f64, "s";
        /// 90th percentile.
        p90_s: f64, "s";
        /// 95th percentile.
        p95_s: f64, "s";
        /// 99th percentile.
        p99_s: f64, "s";
        /// Longest completion time.
        longest_s: f64, "s";
    }
}

table! {
    /// A prediction of a blockage and the cut of the path that it was right of, one row each; a prediction
    /// that came to nothing has no cut, a cut of which nothing was said no prediction.
    pub struct PredictionRow = "predictions" in summary {
        /// UE.
        ue: String, "";
        /// Cell.
        cell: String, "";
        /// Whether the cell served the UE when it was said, or without a prediction when the cut began; of
        /// others nobody is told.
        serves: bool, "";
        /// When it was said.
        made_s: Option<f64>, "s";
        /// When the ends of the UE's flows knew.
        told_s: Option<f64>, "s";
        /// When the path was to be cut.
        starts_s: Option<f64>, "s";
        /// How long it was to last.
        lasts_s: Option<f64>, "s";
        /// When the path was cut, to a report.
        began_s: Option<f64>, "s";
        /// How long that lasted; none where it did at the end.
        lasted_s: Option<f64>, "s";
    }
}

table! {
    /// How good predictions of blockages were, one row for all cells and one for those that serve.
    pub struct PredictionScoreRow = "prediction_scores" in summary {
        /// Of which cells: `all`, or `serving`, of which senders are told.
        cells: String, "";
        /// Predictions.
        predictions: u64, "";
        /// Cuts of paths that began after the first report.
        cuts: u64, "";
        /// Share of predictions that are right: of a time that overlaps with a cut which had not begun
        /// when the sender knew.
        precision: Option<f64>, "";
        /// Share of cuts that were predicted so.
        recall: Option<f64>, "";
        /// Mean time from the sender's knowing to the beginning.
        lead_s: Option<f64>, "s";
        /// Root mean square of the error of the beginning.
        onset_error_s: Option<f64>, "s";
        /// Root mean square of the error of the length.
        length_error_s: Option<f64>, "s";
        /// Mean of the error of the length.
        length_bias_s: Option<f64>, "s";
    }
}

table! {
    /// Where a UE stands when a run begins, one row each: wideband levels of the downlink without
    /// small-scale fading, with all cells of its carrier at full power.
    pub struct GeometryRow = "geometry" in scenario {
        /// UE.
        ue: String, "";
        /// Where it is: east.
        x_m: f64, "m";
        /// Where it is: north.
        y_m: f64, "m";
        /// Height of its antenna.
        height_m: f64, "m";
        /// Cell that it hears best, or the one that it is given; none of a UE whose SINR is given.
        cell: Option<String>, "";
        /// Distance on the ground to that cell, or to its nearest image.
        distance_m: Option<f64>, "m";
        /// Transmitted power over received power, antennas included.
        coupling_loss_db: Option<f64>, "dB";
        /// Signal over noise.
        snr_db: Option<f64>, "dB";
        /// Signal over interference; none where no other cell is heard.
        sir_db: Option<f64>, "dB";
        /// Signal over interference and noise.
        sinr_db: Option<f64>, "dB";
        /// Whether the cell is in line of sight.
        line_of_sight: Option<bool>, "";
    }
}

table! {
    /// Where a vehicle, or a UE that is on none, is at a time, one row each.
    pub struct TrackRow = "tracks" in scenario {
        /// Time.
        time_s: f64, "s";
        /// Group of the vehicle; none of a UE on foot.
        vehicles: Option<String>, "";
        /// Number of the vehicle in its group.
        vehicle: Option<u64>, "";
        /// UE on the vehicle, or the UE itself.
        ue: Option<String>, "";
        /// Where its middle is: east.
        x_m: f64, "m";
        /// Where its middle is: north.
        y_m: f64, "m";
        /// Where it looks, counter-clockwise from east.
        heading_deg: f64, "deg";
        /// Speed.
        speed_mps: f64, "m/s";
        /// Length of the vehicle.
        length_m: Option<f64>, "m";
        /// Width of the vehicle.
        width_m: Option<f64>, "m";
        /// Height of its roof, or of the UE's antenna.
        height_m: f64, "m";
    }
}

table! {
    /// What stands between a UE and a cell at a time, one row each.
    pub struct SightRow = "sights" in scenario {
        /// Time.
        time_s: f64, "s";
        /// UE.
        ue: String, "";
        /// Cell.
        cell: String, "";
        /// Distance in space.
        distance_m: f64, "m";
        /// What vehicles in the direct path take from it.
        vehicles_db: f64, "dB";
        /// What foliage in the direct path takes from it.
        foliage_db: f64, "dB";
        /// Whether a building cuts the direct path.
        behind_building: bool, "";
        /// Signal over noise of the downlink without fading and interference, had the cell served the UE until
        /// then; this and what follows are none of a UE whose SINR is given.
        snr_db: Option<f64>, "dB";
        /// What blockages of the channel take, but for deafness.
        blockage_db: Option<f64>, "dB";
        /// What the other end's looking elsewhere takes.
        deafness_db: Option<f64>, "dB";
        /// What the age of the beams costs.
        misalignment_db: Option<f64>, "dB";
        /// Where the cell's beam points, counter-clockwise from east; none where it is not steered.
        beam_deg: Option<f64>, "deg";
        /// Whether the beams are being found again, and nothing is received.
        beam_recovery: Option<bool>, "";
    }
}
