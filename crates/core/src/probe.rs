//! Probes: the calls by which a run tells of itself.

use crate::recorded_tables;
use crate::rows::*;
use crate::{
    Carried, CellId, DrbId, FlowId, LinkId, MacPdu, Packet, SchedulingRequest, Time, UeId,
};

macro_rules! row_methods {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $field:ident: $row:ident; )+) => {$($(
        $(#[doc = $doc])+
        #[inline]
        fn $method(&mut self, _row: $row) {}
    )?)+};
}

/// Receives what happens in a run. Every method defaults to nothing, and the engine is compiled
/// once for each probe, so what a probe does not look at costs nothing.
pub trait Probe {
    recorded_tables!(row_methods);
    /// Whether per-ACK congestion rows of `flow` are wanted at `now`; asked before each is built.
    #[inline]
    fn wants_congestion(&self, _now: Time, _flow: FlowId) -> bool {
        false
    }
    /// Whether queue rows of `link` are wanted at `now`; asked on each arrival.
    #[inline]
    fn wants_queue(&self, _now: Time, _link: LinkId) -> bool {
        false
    }
    /// Whether rows of the datagrams that `end` of `flow` receives are wanted at `now`; asked on each.
    #[inline]
    fn wants_datagram(&self, _now: Time, _flow: FlowId, _end: FlowEnd) -> bool {
        false
    }
    /// In-order application bytes reached their receiver.
    #[inline]
    fn delivered(&mut self, _now: Time, _flow: FlowId, _bytes: u64) {}
    /// Whether packets are wanted that hosts send and receive: [`Probe::sent`] and [`Probe::received`] are told of
    /// them then alone.
    #[inline]
    fn wants_packets(&self) -> bool {
        false
    }
    /// A host handed a packet to its first link.
    #[inline]
    fn sent(&mut self, _now: Time, _packet: &Packet) {}
    /// Whether rows of the transport blocks of `cell` are wanted.
    #[inline]
    fn wants_transport_blocks(&self, _cell: CellId) -> bool {
        false
    }
    /// Whether the bytes of what `cell` and `ue` send each other are wanted.
    #[inline]
    fn wants_mac_pdus(&self, _cell: CellId, _ue: UeId) -> bool {
        false
    }
    /// A transport block was received, well or not: what is in it.
    #[inline]
    fn mac_pdu(&mut self, _pdu: &MacPdu<'_>) {}
    /// A UE asks for an uplink grant.
    #[inline]
    fn scheduling_request(&mut self, _request: SchedulingRequest) {}
    /// Whether rows of `bearer` are wanted at `now`; asked when a transport block is filled.
    #[inline]
    fn wants_bearer(&self, _now: Time, _bearer: DrbId) -> bool {
        false
    }
    /// Whether the parts of the delay of each packet of `bearer` are wanted.
    #[inline]
    fn wants_radio_delay(&self, _bearer: DrbId) -> bool {
        false
    }
    /// Whether rows of what `ue` measures are wanted.
    #[inline]
    fn wants_measurements(&self, _ue: UeId) -> bool {
        false
    }
    /// Whether what crosses `link` is wanted; asked only in a run that captures a link.
    #[inline]
    fn wants_link(&self, _link: LinkId) -> bool {
        false
    }
    /// Something has reached the end of a direction of a link.
    #[inline]
    fn crossed(&mut self, _now: Time, _link: LinkId, _what: Carried<'_>) {}
    /// A packet reached its host.
    #[inline]
    fn received(&mut self, _now: Time, _packet: &Packet) {}
}

/// Looks at nothing and costs nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct NullProbe;

impl Probe for NullProbe {}
