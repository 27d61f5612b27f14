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
        /// Congestion state of each flow: at most once in this long, or at every ACK.
        congestion: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-ack"), Shape::False]),
            Default("\"10 ms\"");
        /// Length of the bins in which received bytes are counted.
        throughput: Option<Span> =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::False]), Default("\"100 ms\"");
        /// Length of each queue: at most once in this long, or at every packet.
        queue: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"10 ms\"");
        /// Each dropped packet with its cause.
        drops: bool = Shape::Bool, Default("true");
        /// Each retransmission with its cause.
        retransmissions: bool = Shape::Bool, Default("true");
        /// Each retransmission timeout.
        timeouts: bool = Shape::Bool, Default("true");
        /// Opening, closing and completion of flows.
        flow_events: bool = Shape::Bool, Default("true");
        /// Each UDP datagram that arrives, with its delay: at every packet, or of each end of a flow at
        /// most once in this long.
        datagrams: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"every-packet\"");
        /// Begin and end of each blockage.
        blockages: bool = Shape::Bool, Default("true");
        /// Each transport block of a radio interface: SINR, CQI, MCS, size, HARQ round and fate.
        transport_blocks: bool = Shape::Bool, Default("false");
        /// RLC and PDCP buffers of each bearer: at most once in this long, or at every packet.
        bearers: Sampling =
            Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
            Default("\"10 ms\"");
        /// Each packet's delay on a bearer, split into its parts.
        radio_delay: bool = Shape::Bool, Default("false");
        /// Each measurement of each cell by UEs under mobility management.
        measurements: bool = Shape::Bool, Default("false");
        /// Changes of cell.
        handovers: bool = Shape::Bool, Default("true");
        /// Steps of radio resource control.
        rrc: bool = Shape::Bool, Default("true");
        /// Nodes whose packets are written to a pcapng file.
        "capture" = NAMES, Default("false");
        /// Bytes kept of each captured packet.
        capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
            Default("\"96 B\"");
        /// Links whose packets are written to a pcapng file, both directions in one, in the tunnels of the core
        /// network (GTP-U) where they are in one there.
        "link-capture" = NAMES, Default("false");
        /// Bytes kept of each packet of a captured link.
        link_capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
            Default("\"160 B\"");
        /// Cells and UEs whose transport blocks are written to a pcapng file, with MAC, RLC and PDCP
        /// headers.
        "radio-capture" = NAMES, Default("false");
        /// Bytes kept of each captured transport block.
        radio_capture_snap: Bytes =
            Shape::Quantity(Dimension::Size, Range::closed(128.0, 262_144.0)),
            Default("\"262144 B\"");
    }
}
