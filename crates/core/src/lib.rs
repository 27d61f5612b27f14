#![doc = include_str!("../README.md")]
//!
//! # Contents
//!
//! The crate has [`Time`] and units, ids, deterministic [`math`] and [`random`] streams, the
//! [`EventQueue`], the [`Agenda`] and a [`mod@min_filter`]. It also has the [`Packet`], the
//! [`PacketPool`] of packets [`UnderWay`], and the [`Probe`] with its rows. Other parts are the
//! [`mod@registry`] of algorithms, queue management in [`aqm`], limits of several layers in
//! [`agreed`], and the [`Fingerprint`] of a run.
//!
//! Formats that several layers share are here, but no protocol. A layer gets time, randomness,
//! probe and outputs as arguments. It owns no clock and does no I/O.

mod agenda;
pub mod agreed;
pub mod aqm;
pub mod data;
mod datagram;
mod distribution;
mod event_queue;
mod fingerprint;
mod geometry;
mod ids;
mod lattice;
mod link_info;
mod mac_pdu;
pub mod math;
pub mod min_filter;
mod packet;
mod payloads;
pub mod polygon;
mod pool;
mod prefetch;
mod probe;
mod probe_settings;
pub mod random;
pub mod registry;
mod ring;
mod rows;
mod segment;
pub mod table;
mod time;
mod tunnel;
mod under_way;
mod units;
mod wake;

pub use agenda::Agenda;
pub use datagram::{DATAGRAM_HEADERS, Datagram};
pub use distribution::{Distribution, DistributionKind};
pub use event_queue::EventQueue;
pub use fingerprint::Fingerprint;
pub use geometry::{Edge, Kinematics, Motion, Point, Vector};
pub use ids::{CellId, DrbId, EndpointId, FlowId, LinkId, NodeId, RouteId, UeId};
pub use lattice::Lattice;
pub use link_info::LinkInfo;
pub use mac_pdu::{MacPdu, PacketBytes, Reception, SchedulingRequest};
pub use packet::{Ecn, Packet, Protocol, WholePacket};
pub use payloads::{PayloadId, Payloads};
pub use pool::{PacketId, PacketPool};
pub use prefetch::{prefetch, prefetch_first};
pub use probe::{NullProbe, Probe};
pub use probe_settings::{ProbeSettings, RadioSubject, Sampling};
pub use ring::Ring;
pub use rows::*;
pub use segment::{
    AccurateEcnOption, Dss, Flags, MAX_SACK_BLOCKS, MptcpOption, SEGMENT_HEADERS, SackBlock,
    SackList, Segment,
};
pub use time::{Span, Time};
pub use tunnel::{Carried, InterfaceFrame, InterfacePdu, PdcpNumber, Tunnel, UserPlane};
pub use under_way::UnderWay;
pub use units::{Bytes, Dbm, Decibel, Hertz, Meters, Rate};
pub use wake::Wake;
