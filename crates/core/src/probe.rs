//! What a run lets one see.

use crate::{
    BearerId, BearerRow, BlockageRow, CellId, CongestionRow, DropRow, FlowEventRow, FlowId, LinkId,
    MacPdu, Packet, QueueRow, RadioDelayRow, RadioDropRow, RetransmitRow, SchedulingRequest, Time,
    TimeoutRow, TransportBlockRow, UeId,
};

/// Receives what happens in a run. Every method defaults to nothing, and the engine is compiled
/// once for each probe, so what a probe does not look at costs nothing.
pub trait Probe {
    /// Whether per-ACK congestion rows of `flow` are wanted at `now`; asked before each is built.
    #[inline]
    fn wants_congestion(&self, _now: Time, _flow: FlowId) -> bool {
        false
    }
    /// State after an ACK was processed.
    #[inline]
    fn congestion(&mut self, _row: CongestionRow) {}
    /// A segment was sent again.
    #[inline]
    fn retransmit(&mut self, _row: RetransmitRow) {}
    /// A retransmission timer expired.
    #[inline]
    fn timeout(&mut self, _row: TimeoutRow) {}
    /// A flow opened, completed, closed, entered or left recovery.
    #[inline]
    fn flow_event(&mut self, _row: FlowEventRow) {}
    /// Whether queue rows of `link` are wanted at `now`; asked on each arrival.
    #[inline]
    fn wants_queue(&self, _now: Time, _link: LinkId) -> bool {
        false
    }
    /// Occupancy after an arrival.
    #[inline]
    fn queue(&mut self, _row: QueueRow) {}
    /// A link lost a packet.
    #[inline]
    fn dropped(&mut self, _row: DropRow) {}
    /// A blockage of a link.
    #[inline]
    fn blockage(&mut self, _row: BlockageRow) {}
    /// In-order application bytes reached their receiver.
    #[inline]
    fn delivered(&mut self, _now: Time, _flow: FlowId, _bytes: u64) {}
    /// A host handed a packet to its first link.
    #[inline]
    fn sent(&mut self, _now: Time, _packet: &Packet) {}
    /// Whether rows of the transport blocks of `cell` are wanted.
    #[inline]
    fn wants_transport_blocks(&self, _cell: CellId) -> bool {
        false
    }
    /// A transport block was received, well or not.
    #[inline]
    fn transport_block(&mut self, _row: TransportBlockRow) {}
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
    fn wants_bearer(&self, _now: Time, _bearer: BearerId) -> bool {
        false
    }
    /// What waits in a bearer.
    #[inline]
    fn bearer(&mut self, _row: BearerRow) {}
    /// Whether the parts of the delay of each packet of `bearer` are wanted.
    #[inline]
    fn wants_radio_delay(&self, _bearer: BearerId) -> bool {
        false
    }
    /// A packet left a bearer at the far end.
    #[inline]
    fn radio_delay(&mut self, _row: RadioDelayRow) {}
    /// A bearer lost a packet.
    #[inline]
    fn radio_dropped(&mut self, _row: RadioDropRow) {}
    /// A packet reached its host.
    #[inline]
    fn received(&mut self, _now: Time, _packet: &Packet) {}
}

/// Looks at nothing and costs nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct NullProbe;

impl Probe for NullProbe {}
