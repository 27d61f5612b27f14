//! The rows of the radio access's tables.

use crate::rows::named;
use crate::table::{Cell, ColumnKind, ColumnSink};
use crate::{CellId, DrbId, FlowId, Span, Time, UeId, table};

table! {
    /// A transport block, one row each transmission, written when the receiver has tried to
    /// decode it.
    pub struct TransportBlockRow = "transport_blocks" {
        /// Start of the slot it was sent in.
        time_s: Time, "s";
        /// Cell.
        cell: CellId, "";
        /// UE.
        ue: UeId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// Signal to interference and noise of this transmission, effective over the band.
        sinr_db: f64, "dB";
        /// Channel quality indicator that the scheduler knew; zero is out of range, and also
        /// where link adaptation is off.
        cqi: u32, "";
        /// Modulation and coding scheme.
        mcs: u32, "";
        /// Size of the transport block.
        size_bytes: u32, "bytes";
        /// Resource blocks that it occupies.
        n_prb: u32, "PRB";
        /// OFDM symbols that it occupies.
        symbols: u32, "";
        /// Spatial layers.
        layers: u32, "";
        /// HARQ process.
        process: u32, "";
        /// Transmission of this block, zero the first.
        round: u32, "";
        /// Whether it was decoded.
        is_ok: bool, "";
    }
}

table! {
    /// What waits in a bearer, one row a sample, taken when a transport block was filled from it.
    pub struct BearerRow = "bearers" {
        /// Simulated time.
        time_s: Time, "s";
        /// Bearer.
        bearer: DrbId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// RLC data at the sending side that has not been sent yet, headers included.
        rlc_new_bytes: u64, "bytes";
        /// RLC data at the sending side that waits to be sent again.
        rlc_retransmission_bytes: u64, "bytes";
        /// RLC status reports that wait at the sending side.
        rlc_status_bytes: u64, "bytes";
        /// Packets that have entered and not left it, and some that left before an older one.
        packets: u32, "packets";
        /// Packets at the receiving side that PDCP holds until those before them arrive.
        pdcp_held_packets: u32, "packets";
    }
}

table! {
    /// What a packet's way through a bearer was made of, one row a delivered packet. The parts
    /// add up to the time from its entry to its delivery.
    pub struct RadioDelayRow = "radio_delay" {
        /// When it left the bearer at the far end.
        time_s: Time, "s";
        /// Bearer.
        bearer: DrbId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// Flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// From its entry until it was first in a transport block, but for the next two.
        queue_s: Span, "s";
        /// Part of that wait in which the UE had no way to ask but a scheduling request, until
        /// the request was sent.
        sr_wait_s: Span, "s";
        /// Part of that wait from the scheduling request to the granted slot.
        grant_wait_s: Span, "s";
        /// One slot on the air and the decoding at the receiver.
        transmission_s: Span, "s";
        /// HARQ retransmissions of the transport block that completed it.
        harq_s: Span, "s";
        /// From the first transport block with a part of it to the one that completed it:
        /// segmentation and RLC retransmission.
        rlc_s: Span, "s";
        /// Complete at the receiver, held until the packets before it arrived.
        reordering_s: Span, "s";
    }
}

table! {
    /// A packet that a bearer lost, one row each.
    pub struct RadioDropRow = "radio_drops" {
        /// Simulated time.
        time_s: Time, "s";
        /// Bearer.
        bearer: DrbId, "";
        /// downlink or uplink.
        direction: Direction, "";
        /// Flow.
        flow: FlowId, "";
        /// Size of the IP packet.
        size_bytes: u32, "bytes";
        /// Why: no-block, buffer-full, discard-timer, aqm, harq-failure, reordering or
        /// link-failure.
        cause: RadioDropCause, "";
    }
}

named! {
    /// A direction of the radio access.
    #[derive(PartialOrd, Ord, Hash)]
    Direction {
        /// From the base station to the UE.
        Downlink = "downlink",
        /// From the UE to the base station.
        Uplink = "uplink",
    }
}

impl Direction {
    /// Zero for the downlink, one for the uplink: an index into pairs.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The other direction.
    pub const fn opposite(self) -> Direction {
        match self {
            Direction::Downlink => Direction::Uplink,
            Direction::Uplink => Direction::Downlink,
        }
    }
}

named! {
    /// Why a bearer lost a packet.
    RadioDropCause {
        /// No transport block that the UE could get carries it: in transparent mode it is larger
        /// than all of them, or the SINR that is given is out of range.
        NoBlock = "no-block",
        /// The RLC buffer was full.
        BufferFull = "buffer-full",
        /// PDCP's discard timer expired before it was sent.
        DiscardTimer = "discard-timer",
        /// Active queue management chose it.
        Aqm = "aqm",
        /// A transport block with a part of it failed its last HARQ transmission, and the RLC
        /// mode does not repeat.
        HarqFailure = "harq-failure",
        /// The receiver gave up waiting for the rest of it.
        Reordering = "reordering",
        /// RLC gave up repeating it: radio link failure.
        LinkFailure = "link-failure",
    }
}
