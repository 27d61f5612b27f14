//! The rows of the tables of results. What a number in a results file means is said here once.

mod handover;
mod radio;
mod secondary;
mod summary;

pub use handover::*;
pub use radio::*;
pub use secondary::*;
pub use summary::*;

use crate::table::{ColumnKind, ColumnSink, ColumnValue};
use crate::{FlowId, LinkId, Span, Time, table};

/// Calls the macro `$then` with every table that is recorded while a run goes on: the method of
/// [`Probe`](crate::Probe) that tells of a row, and when; its name; its row. The bins of
/// `throughput` are the recorder's own. The probe's methods and the recorder's tables are made
/// from this list.
#[macro_export]
macro_rules! recorded_tables {
    ($then:ident) => {
        $then! {
            /// State after an ACK was processed.
            congestion => congestion: CongestionRow;
            => throughput: ThroughputRow;
            /// Occupancy after an arrival.
            queue => queues: QueueRow;
            /// A link lost a packet.
            dropped => drops: DropRow;
            /// A segment was sent again.
            retransmit => retransmissions: RetransmitRow;
            /// A retransmission timer expired.
            timeout => timeouts: TimeoutRow;
            /// A flow opened, completed, closed, entered or left recovery.
            flow_event => flow_events: FlowEventRow;
            /// A datagram arrived.
            datagram => datagrams: DatagramRow;
            /// A blockage of a link.
            blockage => blockages: BlockageRow;
            /// A transport block was received, well or not.
            transport_block => transport_blocks: TransportBlockRow;
            /// A bearer's backlog was sampled.
            bearer => bearers: BearerRow;
            /// A packet left a bearer at the far end.
            radio_delay => radio_delay: RadioDelayRow;
            /// A bearer lost a packet.
            radio_dropped => radio_drops: RadioDropRow;
            /// A UE measured a cell.
            measurement => measurements: MeasurementRow;
            /// A change of cell has ended.
            handover => handovers: HandoverRow;
            /// A change of a secondary node has ended.
            secondary_change => secondary_changes: SecondaryChangeRow;
            /// A change from one link to another has ended.
            link_handover => link_handovers: LinkHandoverRow;
            /// A step of radio resource control.
            rrc => rrc: RrcRow;
        }
    };
}

table! {
    /// State of the congestion control of a flow's data sender, one row a sample. A multipath flow has
    /// rows for each path.
    pub struct CongestionRow = "congestion" {
        /// Simulated time.
        time_s: Time, "s";
        /// Flow; a path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// Congestion window.
        cwnd_segments: f64, "segments";
        /// Slow-start threshold; infinite before the first congestion event.
        ssthresh_segments: f64, "segments";
        /// Segments sent and neither acknowledged, SACKed nor held lost (RFC 6675 pipe).
        in_flight_segments: u32, "segments";
        /// First byte not yet cumulatively acknowledged, as an offset into the stream.
        acked_bytes: u64, "bytes";
        /// Smoothed round-trip time; zero before the first sample.
        srtt_s: Span, "s";
        /// Latest round-trip time sample; zero before the first.
        rtt_s: Span, "s";
        /// Retransmission timeout, with backoff.
        rto_s: Span, "s";
        /// Pacing rate, zero when the sender does not pace.
        pacing_rate_mbps: f64, "Mbit/s";
        /// Recovery state: open, disorder, cwr, recovery or loss.
        state: &'static str, "";
    }
}

table! {
    /// A segment sent again by either end, one row each.
    pub struct RetransmitRow = "retransmissions" {
        /// Simulated time.
        time_s: Time, "s";
        /// Flow; a path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// Which end sent it: sender, of the flow's data, or receiver.
        end: FlowEnd, "";
        /// Offset of the segment's first byte in the stream.
        offset_bytes: u64, "bytes";
        /// Payload.
        payload_bytes: u32, "bytes";
        /// What made the sender believe it lost: fast-retransmit, rack, rto, tlp, syn or kernel.
        cause: RetransmitCause, "";
        /// How often this segment has been sent again, this time included.
        attempt: u32, "";
    }
}

table! {
    /// A retransmission timer that expired at either end, one row each.
    pub struct TimeoutRow = "timeouts" {
        /// Simulated time.
        time_s: Time, "s";
        /// Flow; a path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// Whose timer it was: sender, of the flow's data, or receiver.
        end: FlowEnd, "";
        /// The timeout that ran out, with backoff.
        rto_s: Span, "s";
        /// Timeouts in a row without an acknowledgment in between, this one included.
        backoff: u32, "";
        /// Congestion window before.
        cwnd_segments: f64, "segments";
        /// Segments outstanding.
        outstanding_segments: u32, "segments";
    }
}

table! {
    /// What befell an end of a flow: recovery episodes and their undoing, reductions, what notices of outages did.
    pub struct FlowEventRow = "flow_events" {
        /// Simulated time.
        time_s: Time, "s";
        /// Flow; a path of a multipath flow is FLOW/NUMBER.
        flow: FlowId, "";
        /// Which end: sender, of the flow's data, or receiver.
        end: FlowEnd, "";
        /// recovery, recovered, loss, undo, cwr, held, suspended, resumed.
        event: &'static str, "";
        /// Congestion window after.
        cwnd_segments: f64, "segments";
        /// Slow-start threshold after.
        ssthresh_segments: f64, "segments";
    }
}

table! {
    /// A UDP datagram that arrived, one row each.
    pub struct DatagramRow = "datagrams" {
        /// When it arrived.
        time_s: Time, "s";
        /// Flow.
        flow: FlowId, "";
        /// Which end it arrived at: receiver, of the flow's data, or sender, of the answers of an echo.
        end: FlowEnd, "";
        /// Its number among those of its sender, from 0 on.
        number: u64, "";
        /// Payload.
        payload_bytes: u32, "bytes";
        /// One-way delay: from its sending to its arrival.
        delay_s: Span, "s";
        /// Interarrival jitter so far (RFC 3550 section 6.4.1).
        jitter_s: f64, "s";
        /// Since the arrival before it; zero for the first.
        gap_s: Span, "s";
        /// Datagrams of smaller numbers than the largest that arrived which have not: lost, or late.
        missing_datagrams: u64, "datagrams";
        /// Round-trip time, from the sending of what it answers; zero where it answers nothing.
        round_trip_s: Span, "s";
    }
}

table! {
    /// Occupancy of a link's queue, one row a sample.
    pub struct QueueRow = "queues" {
        /// Simulated time.
        time_s: Time, "s";
        /// Direction of a link.
        link: LinkId, "";
        /// Packets that wait or are being sent.
        queued_packets: u32, "packets";
        /// Bytes that wait or are being sent.
        queued_bytes: u64, "bytes";
        /// Time the packet at the tail will spend waiting; zero when empty.
        delay_s: Span, "s";
    }
}

table! {
    /// A packet that a link lost, one row each.
    pub struct DropRow = "drops" {
        /// Simulated time.
        time_s: Time, "s";
        /// Direction of a link.
        link: LinkId, "";
        /// Flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// Why: queue-full, random, blocked, hold-full, aqm or handover.
        cause: DropCause, "";
    }
}

table! {
    /// A change of a link's rate or state, one row each: blockages begin and end here.
    pub struct BlockageRow = "blockages" {
        /// When the blockage begins.
        start_s: Time, "s";
        /// When it ends; the end of the run when it outlasts it.
        end_s: Time, "s";
        /// Direction of a link.
        link: LinkId, "";
        /// Rate while it lasts; zero when nothing passes.
        rate_mbps: f64, "Mbit/s";
        /// Extra loss on the path; zero where the blockage is scripted without geometry.
        loss_db: f64, "dB";
    }
}

table! {
    /// Application bytes that reached a flow's receiver in order, one row a time bin, from the bin
    /// in which the flow starts to the one in which it completes or the run ends.
    pub struct ThroughputRow = "throughput" {
        /// End of the bin.
        time_s: Time, "s";
        /// Flow.
        flow: FlowId, "";
        /// Bytes delivered in the bin.
        bytes: u64, "bytes";
        /// Mean rate over the bin.
        rate_mbps: f64, "Mbit/s";
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $text:literal ),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $( $(#[$variant_doc])* $variant ),+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$( $name::$variant ),+];

            /// The name in results files.
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
        /// Sends the flow's data.
        #[default]
        Sender = "sender",
        /// Receives it, and may send requests.
        Receiver = "receiver",
    }
}

named! {
    /// Why a segment was sent again.
    RetransmitCause {
        /// Duplicate acknowledgments or SACK counting (RFC 5681, RFC 6675).
        FastRetransmit = "fast-retransmit",
        /// A segment sent later was delivered (RFC 8985).
        Rack = "rack",
        /// The retransmission timer expired (RFC 6298).
        Rto = "rto",
        /// A tail loss probe (RFC 8985 section 7).
        TailLossProbe = "tlp",
        /// A SYN or SYN-ACK was not answered.
        Syn = "syn",
        /// A kernel, which does not say why.
        Kernel = "kernel",
    }
}

named! {
    /// Why a link lost a packet.
    DropCause {
        /// The queue was full.
        QueueFull = "queue-full",
        /// The link's random loss.
        Random = "random",
        /// The link was blocked and does not hold packets.
        Blocked = "blocked",
        /// The link was blocked and its holding buffer full.
        HoldFull = "hold-full",
        /// Active queue management chose it.
        Aqm = "aqm",
        /// It waited at the source of a handover that forwards nothing, or came there later.
        Handover = "handover",
    }
}

pub(crate) use named;
