//! Rows of the tables of results. This is the only definition of the numbers in results files.

mod handover;
mod quic;
mod radio;
mod secondary;
mod summary;

pub use handover::*;
pub use quic::*;
pub use radio::*;
pub use secondary::*;
pub use summary::*;

use crate::table::{ColumnKind, ColumnSink, ColumnValue};
use crate::{FlowId, LinkId, Span, Time, table};

/// Calls the macro `$then` with every table that is recorded during a run. An entry has the method
/// of [`Probe`](crate::Probe) for a row with its doc comment, the name, and the row. The bins of
/// `throughput` have no method, since the recorder makes them. The methods of the probe and the
/// tables of the recorder are made from this list.
#[macro_export]
macro_rules! recorded_tables {
    ($then:ident) => {
        $then! {
            /// Records the state of a congestion control after an ACK.
            congestion => congestion: CongestionRow;
            /// Records the model of a BBR sender after an ACK.
            bbr => bbr: BbrRow;
            /// Records the state of a QUIC connection after a datagram.
            quic => quic: QuicRow;
            => throughput: ThroughputRow;
            /// Records the occupancy of a link's queue after an arrival.
            queue => queues: QueueRow;
            /// Records that a link lost a packet.
            dropped => drops: DropRow;
            /// Records that a segment was sent again.
            retransmit => retransmissions: RetransmitRow;
            /// Records that a retransmission timer expired.
            timeout => timeouts: TimeoutRow;
            /// Records an event of a flow, such as the begin or end of a recovery.
            flow_event => flow_events: FlowEventRow;
            /// Records that a TCP segment with data arrived.
            segment => segments: SegmentRow;
            /// Records that a datagram arrived.
            datagram => datagrams: DatagramRow;
            /// Records a blockage of a link.
            blockage => blockages: BlockageRow;
            /// Records that a transport block was received, decoded or not.
            transport_block => transport_blocks: TransportBlockRow;
            /// Records a sample of a bearer's backlog.
            bearer => bearers: BearerRow;
            /// Records the delay of a packet that a bearer delivered.
            radio_delay => radio_delay: RadioDelayRow;
            /// Records that a bearer lost a packet.
            radio_dropped => radio_drops: RadioDropRow;
            /// Records that a UE measured a cell.
            measurement => measurements: MeasurementRow;
            /// Records a change of cell that has ended.
            handover => handovers: HandoverRow;
            /// Records a change of a secondary node that has ended.
            secondary_change => secondary_changes: SecondaryChangeRow;
            /// Records a change from one link to another that has ended.
            link_handover => link_handovers: LinkHandoverRow;
            /// Records a step of radio resource control.
            rrc => rrc: RrcRow;
        }
    };
}

table! {
    /// State of the congestion control of a flow's data sender, one row for each sampled ACK. A
    /// multipath flow has rows for each path. A segment of a QUIC flow is a datagram of the largest
    /// size.
    pub struct CongestionRow = "congestion" {
        /// Simulated time at which the sender had processed the ACK.
        time_s: Time, "s";
        /// Name of the flow. A path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// Congestion window.
        cwnd_segments: f64, "segments";
        /// Slow-start threshold. Infinite before the first congestion event.
        ssthresh_segments: f64, "segments";
        /// Segments in flight: the sender's estimate of segments in the network ("pipe", RFC 6675
        /// section 2).
        in_flight_segments: u32, "segments";
        /// Number of bytes of the stream that are cumulatively acknowledged. For QUIC, bytes of the
        /// acknowledged packets.
        acked_bytes: u64, "bytes";
        /// Smoothed round-trip time. Zero before the first round-trip time sample.
        srtt_s: Span, "s";
        /// Latest round-trip time sample. Zero before the first sample.
        rtt_s: Span, "s";
        /// Retransmission timeout, including backoff. For QUIC, probe timeout without backoff.
        rto_s: Span, "s";
        /// Pacing rate. Zero if the sender does not pace. For QUIC, zero if the stack paces by the
        /// window.
        pacing_rate_mbps: f64, "Mbit/s";
        /// Recovery state: `open`, `disorder`, `cwr`, `recovery` or `loss`. Empty for QUIC, whose
        /// stack does not report it.
        state: &'static str, "";
    }
}

table! {
    /// State of a BBR sender, one row for each sampled ACK. The table has rows at the same times as
    /// `congestion`, for flows over TCP with the congestion control `bbr` or `bbr3`.
    pub struct BbrRow = "bbr" {
        /// Simulated time at which the sender had processed the ACK.
        time_s: Time, "s";
        /// Name of the flow. A path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// State of the state machine: `startup`, `drain`, `probe-rtt`, and `probe-bw` (`bbr`) or
        /// `probe-bw-down`, `probe-bw-cruise`, `probe-bw-refill` and `probe-bw-up` (`bbr3`).
        phase: &'static str, "";
        /// Estimate of the path's bandwidth, in payload. For `bbr3` it is limited by the short-term
        /// bound.
        bandwidth_mbps: f64, "Mbit/s";
        /// Estimate of the path's round-trip time without queues: the smallest of the recent
        /// samples. Zero before the first sample.
        min_rtt_s: Span, "s";
        /// Ratio of the pacing rate to the bandwidth, without the pacing margin.
        pacing_gain: f64, "";
        /// Ratio of the target window to the bandwidth-delay product.
        cwnd_gain: f64, "";
    }
}

table! {
    /// A retransmission of a segment by either end of a flow, one row each.
    pub struct RetransmitRow = "retransmissions" {
        /// Simulated time at which the segment was sent again.
        time_s: Time, "s";
        /// Name of the flow. A path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// End of the flow that sent the segment: `sender`, which sends the flow's data, or
        /// `receiver`.
        end: FlowEnd, "";
        /// Offset of the segment's first byte in the stream.
        offset_bytes: u64, "bytes";
        /// Payload of the segment.
        payload_bytes: u32, "bytes";
        /// Reason for the retransmission: `fast-retransmit`, `rack`, `rto`, `tlp`, `syn` or
        /// `kernel`. A kernel does not report its reason.
        cause: RetransmitCause, "";
        /// Number of times that this segment has been retransmitted, including this time.
        attempt: u32, "";
    }
}

table! {
    /// An expiry of the retransmission timer at either end of a flow, one row each.
    pub struct TimeoutRow = "timeouts" {
        /// Simulated time at which the timer expired.
        time_s: Time, "s";
        /// Name of the flow. A path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// End of the flow whose timer expired: `sender`, which sends the flow's data, or
        /// `receiver`.
        end: FlowEnd, "";
        /// Retransmission timeout that expired, including backoff.
        rto_s: Span, "s";
        /// Number of consecutive timeouts without an acknowledgment in between, including this
        /// timeout.
        backoff: u32, "";
        /// Congestion window before the timeout.
        cwnd_segments: f64, "segments";
        /// Segments sent and not cumulatively acknowledged when the timer expired.
        outstanding_segments: u32, "segments";
    }
}

table! {
    /// An event of loss recovery or of an outage at an end of a flow, one row each. Recovery
    /// begins, ends or is undone, the window is reduced, or an outage begins or ends.
    pub struct FlowEventRow = "flow_events" {
        /// Simulated time of the event.
        time_s: Time, "s";
        /// Name of the flow. A path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// End of the flow: `sender`, which sends the flow's data, or `receiver`.
        end: FlowEnd, "";
        /// Kind of event. `recovery`: fast recovery begins. `recovered`: fast recovery ends.
        /// `loss`: the retransmission timer expires. `undo`: a spurious reduction is undone. `cwr`:
        /// the window is reduced without a loss to repair. `held`: a timeout in an outage keeps the
        /// window. `suspended`: the sender falls silent for an outage. `resumed`: the sender sends
        /// again.
        event: &'static str, "";
        /// Congestion window after the event.
        cwnd_segments: f64, "segments";
        /// Slow-start threshold after the event.
        ssthresh_segments: f64, "segments";
    }
}

table! {
    /// A TCP segment with data that arrived, one row for each sampled arrival.
    pub struct SegmentRow = "segments" {
        /// Simulated time at which the segment arrived.
        time_s: Time, "s";
        /// Name of the flow. A path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// End of the flow at which the segment arrived: `receiver`, which receives the flow's
        /// data, or `sender`.
        end: FlowEnd, "";
        /// Offset of the segment's first byte in the stream.
        offset_bytes: u64, "bytes";
        /// Payload of the segment.
        payload_bytes: u32, "bytes";
        /// One-way delay: time from the sending of the segment to its arrival. The segment may
        /// be a retransmission.
        delay_s: Span, "s";
    }
}

table! {
    /// A UDP datagram that arrived, one row each.
    pub struct DatagramRow = "datagrams" {
        /// Simulated time at which the datagram arrived.
        time_s: Time, "s";
        /// Name of the flow.
        flow: FlowId, "";
        /// End of the flow at which the datagram arrived. Data arrive at `receiver`, and the
        /// answers of an echo arrive at `sender`.
        end: FlowEnd, "";
        /// Number of the datagram in the order of sending, starting at 0.
        number: u64, "";
        /// Payload of the datagram.
        payload_bytes: u32, "bytes";
        /// One-way delay: time from the sending of the datagram to its arrival.
        delay_s: Span, "s";
        /// Interarrival jitter of the datagrams up to this one (RFC 3550 section 6.4.1).
        jitter_s: f64, "s";
        /// Time since the arrival of the previous datagram. Zero for the first datagram.
        gap_s: Span, "s";
        /// Missing datagrams, which are lost or late. Their numbers are smaller than the largest
        /// number that arrived, but they have not arrived yet.
        missing_datagrams: u64, "datagrams";
        /// Round-trip time: time from the sending of the request to the arrival of this answer.
        /// Zero if the datagram is not an answer.
        round_trip_s: Span, "s";
    }
}

table! {
    /// Occupancy of a link's queue, one row for each sampled arrival of a packet.
    pub struct QueueRow = "queues" {
        /// Simulated time of the sample.
        time_s: Time, "s";
        /// Direction of the link.
        link: LinkId, "";
        /// Packets that wait in the queue or are being sent.
        queued_packets: u32, "packets";
        /// Bytes that wait in the queue or are being sent.
        queued_bytes: u64, "bytes";
        /// Time until all queued packets are sent at the link's rate. Zero if the queue is empty.
        delay_s: Span, "s";
    }
}

table! {
    /// A packet that a link lost, one row each.
    pub struct DropRow = "drops" {
        /// Simulated time at which the packet was lost.
        time_s: Time, "s";
        /// Direction of the link.
        link: LinkId, "";
        /// Name of the packet's flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// Cause of the loss: `queue-full`, `random`, `blocked`, `hold-full`, `aqm` or `handover`.
        cause: DropCause, "";
    }
}

table! {
    /// A blockage of a link, one row each. During a blockage the link has a lower rate, or none.
    pub struct BlockageRow = "blockages" {
        /// Simulated time at which the blockage begins.
        start_s: Time, "s";
        /// Simulated time at which the blockage ends. The end of the run if the blockage lasts
        /// longer.
        end_s: Time, "s";
        /// Direction of the link.
        link: LinkId, "";
        /// Rate of the link during the blockage. Zero if the link sends nothing.
        rate_mbps: f64, "Mbit/s";
        /// Additional loss on the path during the blockage. Zero if the scenario gives the blockage
        /// without geometry.
        loss_db: f64, "dB";
    }
}

table! {
    /// Bytes that reached the application of a flow's receiver in order, one row for each time bin.
    /// The bins begin when the flow starts, and end when the flow completes or the run ends.
    pub struct ThroughputRow = "throughput" {
        /// Simulated time at which the bin ends.
        time_s: Time, "s";
        /// Name of the flow.
        flow: FlowId, "";
        /// Bytes delivered in the bin.
        bytes: u64, "bytes";
        /// Delivered bytes divided by the length of the bin.
        rate_mbps: f64, "Mbit/s";
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $text:literal ),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $( $(#[$variant_doc])* $variant ),+ }

        impl $name {
            /// All variants, in order.
            pub const ALL: &'static [$name] = &[$( $name::$variant ),+];

            /// Returns the name in results files.
            pub const fn name(self) -> &'static str {
                match self { $( $name::$variant => $text ),+ }
            }
        }

        impl ColumnValue for $name {
            const KIND: ColumnKind = ColumnKind::Name;
            fn write(self, column: usize, sink: &mut impl ColumnSink) {
                sink.name(column, self.name());
            }
        }
    };
}

named! {
    /// An end of a flow.
    #[derive(Default)]
    FlowEnd {
        /// End that sends the flow's data.
        #[default]
        Sender = "sender",
        /// End that receives the flow's data, and may send requests.
        Receiver = "receiver",
    }
}

named! {
    /// Reason why a segment was sent again.
    RetransmitCause {
        /// Duplicate acknowledgments or SACK blocks showed a loss (RFC 5681, RFC 6675).
        FastRetransmit = "fast-retransmit",
        /// A segment sent later was delivered (RFC 8985).
        Rack = "rack",
        /// The retransmission timer expired (RFC 6298).
        Rto = "rto",
        /// A tail loss probe was due (RFC 8985 section 7).
        TailLossProbe = "tlp",
        /// A SYN or SYN-ACK was not answered.
        Syn = "syn",
        /// A Linux kernel sent the segment again. A kernel does not report its reason.
        Kernel = "kernel",
    }
}

named! {
    /// Reason why a link lost a packet.
    DropCause {
        /// The queue was full.
        QueueFull = "queue-full",
        /// The link's random loss dropped the packet.
        Random = "random",
        /// The link was blocked, and it drops packets in a blockage.
        Blocked = "blocked",
        /// The link was blocked, and the buffer for packets held in the blockage was full.
        HoldFull = "hold-full",
        /// Active queue management dropped the packet.
        Aqm = "aqm",
        /// The packet was at the source of a handover without forwarding, or arrived at the source
        /// later.
        Handover = "handover",
    }
}

pub(crate) use named;
