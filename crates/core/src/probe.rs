//! Probes, which receive the events of a run.

use crate::recorded_tables;
use crate::rows::*;
use crate::{
    Carried, CellId, DrbId, FlowId, LinkId, MacPdu, SchedulingRequest, Time, UeId, WholePacket,
};

macro_rules! row_methods {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $field:ident: $row:ident; )+) => {$($(
        $(#[doc = $doc])+
        #[inline]
        fn $method(&mut self, _row: $row) {}
    )?)+};
}

/// Receiver of the events of a run. Every method does nothing by default. The engine is compiled
/// once for each probe, so unused events cost nothing.
pub trait Probe {
    recorded_tables!(row_methods);
    /// Returns true if per-ACK congestion rows of `flow` are wanted at `now`. Called before each
    /// row is built.
    #[inline]
    fn wants_congestion(&self, _now: Time, _flow: FlowId) -> bool {
        false
    }
    /// Returns true if rows of the TCP segments that `end` of `flow` receives are wanted at `now`.
    /// Called on each segment with data.
    #[inline]
    fn wants_segment(&self, _now: Time, _flow: FlowId, _end: FlowEnd) -> bool {
        false
    }
    /// Returns true if queue rows of `link` are wanted at `now`. Called on each arrival.
    #[inline]
    fn wants_queue(&self, _now: Time, _link: LinkId) -> bool {
        false
    }
    /// Returns true if rows of the datagrams that `end` of `flow` receives are wanted at `now`.
    /// Called on each datagram.
    #[inline]
    fn wants_datagram(&self, _now: Time, _flow: FlowId, _end: FlowEnd) -> bool {
        false
    }
    /// Records that in-order application bytes reached their receiver.
    #[inline]
    fn delivered(&mut self, _now: Time, _flow: FlowId, _bytes: u64) {}
    /// Returns true if packets that hosts send and receive are wanted. Only then are
    /// [`Probe::sent`] and [`Probe::received`] called.
    #[inline]
    fn wants_packets(&self) -> bool {
        false
    }
    /// Records that a host handed a packet to its first link.
    #[inline]
    fn sent(&mut self, _now: Time, _packet: WholePacket<'_>) {}
    /// Records text of the log of a flow's end over QUIC, in the format qlog.
    #[inline]
    fn quic_log(&mut self, _flow: FlowId, _end: FlowEnd, _text: &[u8]) {}
    /// Records keys of TLS that two ends agreed, in the format of `SSLKEYLOGFILE`.
    #[inline]
    fn secrets(&mut self, _secrets: &str) {}
    /// Returns true if rows of the transport blocks of `cell` are wanted.
    #[inline]
    fn wants_transport_blocks(&self, _cell: CellId) -> bool {
        false
    }
    /// Returns true if the bytes between `cell` and `ue` are wanted.
    #[inline]
    fn wants_mac_pdus(&self, _cell: CellId, _ue: UeId) -> bool {
        false
    }
    /// Records the contents of a received transport block, decoded or not.
    #[inline]
    fn mac_pdu(&mut self, _pdu: &MacPdu<'_>) {}
    /// Records that a UE asks for an uplink grant.
    #[inline]
    fn scheduling_request(&mut self, _request: SchedulingRequest) {}
    /// Returns true if rows of `bearer` are wanted at `now`. Called when a transport block is
    /// filled.
    #[inline]
    fn wants_bearer(&self, _now: Time, _bearer: DrbId) -> bool {
        false
    }
    /// Returns true if the delay parts of packets of `bearer` are wanted.
    #[inline]
    fn wants_radio_delay(&self, _bearer: DrbId) -> bool {
        false
    }
    /// Returns true if rows of the measurements of `ue` are wanted.
    #[inline]
    fn wants_measurements(&self, _ue: UeId) -> bool {
        false
    }
    /// Returns true if the packets that cross `link` are wanted. Called only in a run that captures
    /// a link.
    #[inline]
    fn wants_link(&self, _link: LinkId) -> bool {
        false
    }
    /// Records that a packet or frame has reached the end of a direction of a link.
    #[inline]
    fn crossed(&mut self, _now: Time, _link: LinkId, _what: Carried<'_>) {}
    /// Records that a packet reached its host.
    #[inline]
    fn received(&mut self, _now: Time, _packet: WholePacket<'_>) {}
}

/// Probe that records nothing and costs nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct NullProbe;

impl Probe for NullProbe {}
