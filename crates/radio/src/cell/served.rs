//! Interface between a cell and the legs that it serves.

use crate::config::{LegId, Shape};
use crate::phy::sub_band::BandSet;
use crate::plan::{BandCqi, CellPlan};
use fadeout_core::{Direction, Time, UeId};

/// MCS of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemeChoice {
    /// Number of the MCS and of its layers.
    pub scheme: u8,
    /// CQI from which the MCS was chosen.
    pub cqi: u8,
}

/// A UE's demand for resources of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    /// First later slot in which the UE may have data again.
    pub ready: u64,
    /// Bid of the UE for the slot. `None` if the UE cannot use the slot.
    pub bid: Option<Bid>,
}

/// Resources that a UE can use in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Bid {
    pub scheme: u8,
    pub cqi: u8,
    /// Units that would empty the UE's buffer, limited to the unallocated units.
    pub wanted: u32,
    /// Units that would empty the UE's buffer if the whole slot were unallocated. Differs from
    /// `wanted` if the uplink uses a part of a downlink slot.
    pub whole: u32,
    /// Bytes that all units of the slot would carry for the UE.
    pub rate: f64,
    /// Bits per resource element, computed from the UE's report only. Zero without a report.
    pub reported: f64,
    /// Bytes that wait for the UE.
    pub backlog: u64,
}

/// Slots of an uplink grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GrantSlots {
    /// Slot in which the cell sends the grant.
    pub sent: u64,
    /// Slot for which the grant is.
    pub target: u64,
}

/// A slot and its unallocated units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Number of the slot that begins now.
    pub now: u64,
    /// Number of the slot to be allocated. Equal to `now` in the downlink, later in the uplink.
    pub target: u64,
    /// Number of symbols for data.
    pub symbols: u8,
    /// Unallocated units. Zero if the remaining units are too few to carry data.
    pub units: u32,
}

/// Transmission of a downlink block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Transmission {
    pub slot: u64,
    /// First slot in which the block may be retransmitted.
    pub again_from: u64,
    /// Time at which the UE has tried to decode the block.
    pub decoded_at: Time,
    /// Share of the band and of the slot that the block occupies.
    pub share: f64,
    /// Sub-bands of the block, if the cell schedules by sub-bands.
    pub bands: BandSet,
}

/// Parts of a leg's state that a cell reads. Each part refers to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegPart {
    /// Fields of the leg that every slot needs.
    Leg,
    /// Bearer of the leg, and the entry of its path.
    BearerAndPath,
    /// Channel of the path, if the UE reports it now.
    Channel,
}

/// Interface through which a cell queries and commands its legs.
pub(crate) trait Served {
    /// Asks the processor for a part of a leg's state, which the cell queries soon.
    fn prefetch(&self, leg: LegId, part: LegPart);
    /// Returns the HARQ process and the resources of the next block to retransmit in slot `target`.
    /// `None` if no retransmission is due.
    fn repetition(
        &self,
        leg: LegId,
        direction: Direction,
        slot: u64,
        target: u64,
    ) -> Option<(u8, Shape)>;
    /// Assigns slot `target` to the retransmission of a HARQ process.
    fn resume(&mut self, leg: LegId, direction: Direction, process: u8, target: u64);
    /// Returns the number of changes to a UE's legs and bearers so far.
    fn changes(&self, ue: UeId) -> u32;
    /// Returns the demand of a leg for a downlink slot that begins now.
    fn downlink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand;
    /// Returns the slot before which a leg's downlink demand holds. The leg has a bid in this slot
    /// and may have data in the next one. A new report or a change of the UE may end this earlier.
    /// The leg has no block to retransmit until then. Returns 0 if the slot is not known.
    fn downlink_holds_before(&self, plan: &CellPlan, leg: LegId) -> u64;
    /// Returns the CQI of each sub-band. The CQIs are from the report that gave the leg's latest
    /// demand.
    fn sub_band_cqi(&self, leg: LegId) -> &BandCqi;
    /// Returns the MCS index and CQI of a downlink block with these units per sub-band. Both are
    /// computed from the report that gave the leg's latest demand. `None` if the leg is out of
    /// range.
    fn scheme_over(&self, plan: &CellPlan, leg: LegId, units: &[u8]) -> Option<(u8, u8)>;
    /// Fills a new block for a leg and returns its HARQ process.
    ///
    ///  # Errors
    /// If no data fits into the block, returns the first slot in which the leg may have data again.
    fn fill_downlink(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slot: u64,
        block: (Shape, u8),
    ) -> Result<u8, u64>;
    /// Sends the block of a HARQ process.
    fn send_downlink(&mut self, leg: LegId, process: u8, transmission: Transmission);
    /// Returns the first slot in which a leg may have data again after a new downlink block.
    fn downlink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64;
    /// Returns the leg's demand for uplink resources that can be granted now.
    fn uplink_demand(&mut self, plan: &CellPlan, leg: LegId, slot: Slot) -> Demand;
    /// Grants a new block to a leg. The grant is sent in one slot for a later slot. Returns the
    /// HARQ process. `None` if all processes are busy.
    fn grant(
        &mut self,
        plan: &CellPlan,
        leg: LegId,
        slots: GrantSlots,
        block: (Shape, u8),
    ) -> Option<u8>;
    /// Returns the first slot in which a leg may need a further grant after it got a grant.
    fn uplink_ready(&mut self, plan: &CellPlan, leg: LegId, slot: u64) -> u64;
    /// Sends the uplink block of a HARQ process in its granted slot, which begins now.
    fn send_uplink(&mut self, plan: &CellPlan, leg: LegId, slot: u64, process: u8);
    /// Schedules a wake-up of the cell for the slot that begins at `at`.
    fn wake(&mut self, at: Time, generation: u32);
}

impl Bid {
    /// Returns the downlink bid of a UE with `backlog` bytes and this choice of an MCS.
    #[inline]
    pub(crate) fn downlink(
        plan: &CellPlan,
        slot: Slot,
        SchemeChoice { scheme, cqi }: SchemeChoice,
        backlog: u64,
    ) -> Bid {
        let (symbols, number) = (slot.symbols, usize::from(scheme));
        let all = plan.down.units(symbols);
        let wanted = plan.down.units_for(symbols, number, backlog, slot.units);
        let whole = plan.data_symbols(slot.now).down;
        // Uplink data may take symbols of the slot. Only then does the number of units without
        // uplink data differ from the number with it.
        let whole = if wanted < slot.units || symbols == whole {
            wanted
        } else {
            let most = plan.down.units(whole);
            plan.down.units_for(whole, number, backlog, most)
        };
        Bid {
            scheme,
            cqi,
            wanted,
            whole,
            rate: f64::from(plan.down.bytes(symbols, number, all)),
            reported: plan.down.reported(number, cqi),
            backlog,
        }
    }
}
