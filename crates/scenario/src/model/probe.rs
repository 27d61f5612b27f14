//! The settings of recording.

use super::ProbeSettings;
use crate::keys::POSITIVE_TIME;
use crate::quantity::Dimension;
use crate::shape::Presence::Default;
use crate::shape::{Range, Shape};
use crate::table::table;
use fadeout_core::{NodeId, RadioSubject};

const NAMES: Shape = Shape::AnyOf(&[Shape::List(&Shape::Reference), Shape::False]);

table! {
    /// The keys of `probe`.
    pub(crate) struct Probe of ProbeSettings {
        own {
            capture: Vec<NodeId>,
            link_capture: Vec<usize>,
            radio_capture: Vec<RadioSubject>,
        }
        /// Recording of the congestion state of each flow in `congestion`: at every ACK, or at most
        /// once in this time.
        congestion: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-ack"), Shape::False]),
            Default("\"10 ms\"");
        /// Length of the time bins of the table `throughput`, in which received bytes are counted.
        throughput: Option<Span> =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::False]), Default("\"100 ms\"");
        /// Recording of each queue's length in `queues`: at every packet, or at most once in this
        /// time.
        queue: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"10 ms\"");
        /// True to record each dropped packet with its cause in `drops`.
        drops: bool = Shape::Bool, Default("true");
        /// True to record each retransmission with its cause in `retransmissions`.
        retransmissions: bool = Shape::Bool, Default("true");
        /// True to record each retransmission timeout in `timeouts`.
        timeouts: bool = Shape::Bool, Default("true");
        /// True to record recovery, window reductions and outages of flows in `flow_events`.
        flow_events: bool = Shape::Bool, Default("true");
        /// Recording of each UDP datagram that arrives, with its delay, in `datagrams`: every
        /// packet, or at most one in this time for each end.
        datagrams: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"every-packet\"");
        /// True to record the beginning and end of each blockage of a link in `blockages`.
        blockages: bool = Shape::Bool, Default("true");
        /// True to record each transport block in `transport_blocks`: SINR, CQI, MCS, size, HARQ
        /// round and success.
        transport_blocks: bool = Shape::Bool, Default("false");
        /// Recording of the RLC and PDCP buffers of each bearer in `bearers`: at every packet, or
        /// at most once in this time.
        bearers: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"10 ms\"");
        /// True to record the parts of each packet's delay on a bearer in `radio_delay`.
        radio_delay: bool = Shape::Bool, Default("false");
        /// True to record each measurement of a cell by a UE under mobility management in
        /// `measurements`.
        measurements: bool = Shape::Bool, Default("false");
        /// True to record each change of cell in `handovers`.
        handovers: bool = Shape::Bool, Default("true");
        /// True to record each step of radio resource control in `rrc`.
        rrc: bool = Shape::Bool, Default("true");
        /// Nodes whose packets are written to a pcapng file.
        "capture" = NAMES, Default("false");
        /// Bytes kept of each captured packet.
        capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
            Default("\"96 B\"");
        /// Links whose packets are written to a pcapng file, both directions in one file. Packets
        /// in a tunnel of the core network (GTP-U) are written in it.
        "link-capture" = NAMES, Default("false");
        /// Bytes kept of each packet of a captured link.
        link_capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
            Default("\"160 B\"");
        /// Cells and UEs whose transport blocks are written to a pcapng file, with MAC, RLC and
        /// PDCP headers.
        "radio-capture" = NAMES, Default("false");
        /// Bytes kept of each captured transport block.
        radio_capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(128.0, 262_144.0)),
            Default("\"262144 B\"");
    }
}
