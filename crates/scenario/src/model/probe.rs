//! Settings of the recorded tables and captures.

use super::ProbeSettings;
use crate::keys::POSITIVE_TIME;
use crate::quantity::Dimension;
use crate::shape::Presence::Default;
use crate::shape::{Range, Shape};
use crate::table::key_table;
use fadeout_core::{NodeId, RadioSubject};

const NAMES: Shape = Shape::AnyOf(&[Shape::List(&Shape::Reference), Shape::False]);

key_table! {
    /// The settings of the recorded tables and captures.
    pub(crate) struct Probe of ProbeSettings {
        own {
            capture: Vec<NodeId>,
            link_capture: Vec<usize>,
            radio_capture: Vec<RadioSubject>,
        }
        /// Recording of the congestion state of each flow in the table `congestion`: at every ACK,
        /// or at most once in each interval of this length. The tables `bbr` and `quic` have rows
        /// at the same times.
        congestion: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-ack"), Shape::False]),
            Default("\"10 ms\"");
        /// Length of the time bins of the table `throughput`. Received bytes are counted in these
        /// bins.
        throughput: Option<Span> =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::False]), Default("\"100 ms\"");
        /// Recording of each queue's length in the table `queues`: at every packet, or at most once
        /// in each interval of this length.
        queue: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"10 ms\"");
        /// True to record each dropped packet with its cause in the table `drops`.
        drops: bool = Shape::Bool, Default("true");
        /// True to record each retransmission with its cause in the table `retransmissions`.
        retransmissions: bool = Shape::Bool, Default("true");
        /// True to record each retransmission timeout in the table `timeouts`.
        timeouts: bool = Shape::Bool, Default("true");
        /// True to record recoveries, window reductions and outages of flows in the table
        /// `flow_events`.
        flow_events: bool = Shape::Bool, Default("true");
        /// Recording of arriving TCP segments with data and their one-way delays in the table
        /// `segments`. Every segment is recorded, or for each end at most one in each interval of
        /// this length.
        segments: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("false");
        /// Recording of arriving UDP datagrams and their delays in the table `datagrams`. Every
        /// datagram is recorded, or for each end at most one in each interval of this length.
        datagrams: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"every-packet\"");
        /// True to record the start and end of each blockage of a link in the table `blockages`.
        blockages: bool = Shape::Bool, Default("true");
        /// True to record each transport block in the table `transport_blocks`: SINR, CQI, MCS,
        /// size, HARQ round and success.
        transport_blocks: bool = Shape::Bool, Default("false");
        /// Recording of each bearer's RLC and PDCP buffers in the table `bearers`: at every packet,
        /// or at most once in each interval of this length.
        bearers: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"10 ms\"");
        /// True to record the parts of each packet's delay on a bearer in the table `radio_delay`.
        radio_delay: bool = Shape::Bool, Default("false");
        /// True to record each measurement of a cell by a UE under mobility management in the table
        /// `measurements`.
        measurements: bool = Shape::Bool, Default("false");
        /// True to record each change of a UE's cell in the table `handovers`.
        handovers: bool = Shape::Bool, Default("true");
        /// True to record each step of radio resource control in the table `rrc`.
        rrc: bool = Shape::Bool, Default("true");
        /// True to write the events of each end of QUIC connections to a file in the format qlog
        /// (draft-ietf-quic-qlog-main-schema).
        qlog: bool = Shape::Bool, Default("false");
        /// Nodes whose packets are written to a pcapng file.
        "capture" = NAMES, Default("false");
        /// Number of bytes of each captured packet that are stored.
        capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
            Default("\"96 B\"");
        /// Links whose packets are written to a pcapng file. Both directions are in one file.
        /// Packets in a tunnel of the core network (GTP-U) are written with their tunnel headers.
        "link-capture" = NAMES, Default("false");
        /// Number of bytes of each packet on a captured link that are stored.
        link_capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
            Default("\"160 B\"");
        /// Cells and UEs whose transport blocks are written to a pcapng file, with MAC, RLC and
        /// PDCP headers.
        "radio-capture" = NAMES, Default("false");
        /// Number of bytes of each captured transport block that are stored.
        radio_capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(128.0, 262_144.0)),
            Default("\"262144 B\"");
    }
}
