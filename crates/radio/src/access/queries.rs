//! Queries about the state of a radio access.

use super::RadioAccess;
use super::build::events_handled;
use super::plane::counters::{Counters, DirectionCounters, LegCounters};
use super::plane::moves::Backhaul;
use super::plane::split::last_leg;
use super::plane::stack::Stack;
use crate::bearer::{Carried, FrameKind, carried, compressed, interface_frame};
use crate::cell::CellMac;
use crate::config::{BearerConfig, co_sited};
use crate::leg::UplinkRequests;
use crate::pdcp::RohcCounts;
use crate::rrc::UeRrc;
use crate::wire::BearerFormat;
use fadeout_core::{CellId, Direction, DrbId, InterfaceFrame, Rate, Span, UeId};

impl RadioAccess {
    /// Returns the counters of each leg of a bearer in one direction. With carrier aggregation the
    /// counters cover the primary cell of each leg. `None` if the bearer has one leg.
    pub fn legs_of(&self, bearer: DrbId, direction: Direction) -> Option<Vec<LegCounters>> {
        let Stack {
            bearers, legs, ues, ..
        } = &self.service.stack;
        let drb = &bearers[bearer.index()];
        let carried = carried(drb, direction)?;
        let of_leg = |(number, carried): (u8, &Carried)| {
            let leg = &legs[last_leg(ues, drb, number)?.index()];
            let plan = &self.service.cells[leg.config.cell.index()].plan;
            let blocks = leg.half(direction).counters();
            let whole = plan.resources(direction).units(plan.frame.symbols());
            let nanos = u128::from(blocks.units) * u128::from(plan.frame.slot().as_nanos());
            Some(LegCounters {
                cell: leg.config.cell,
                packets: carried.packets,
                bytes: carried.bytes,
                copies: carried.copies,
                discarded: carried.discarded,
                useless: carried.useless,
                blocks: blocks.blocks,
                retransmissions: blocks.retransmissions,
                air_time: Span::from_nanos((nanos / u128::from(whole.max(1))) as u64),
            })
        };
        Some((0..).zip(carried).filter_map(of_leg).collect())
    }

    /// Returns the fields of a frame between the base stations of a split bearer. `None` after the
    /// frame was received.
    pub fn frame(&self, what: Backhaul, number: u64) -> Option<InterfaceFrame> {
        let (bearer, kind) = match what {
            Backhaul::DownlinkPdu { bearer } => (bearer, FrameKind::Downlink),
            Backhaul::Poll { bearer } => (bearer, FrameKind::Poll),
            Backhaul::Discard { bearer } => (bearer, FrameKind::Discard),
            Backhaul::DeliveryStatus { bearer } => (bearer, FrameKind::Status),
            Backhaul::UplinkPdu { bearer } => (bearer, FrameKind::Uplink),
            _ => return None,
        };
        interface_frame(&self.service.stack.bearers[bearer.index()], kind, number)
    }

    /// Returns the number of forwarded downlink packets that links between base stations have
    /// dropped.
    pub fn forwarded_drops(&self) -> u64 {
        let bearers = self.service.stack.bearers.iter();
        bearers.map(|drb| drb.transfers().dropped()).sum()
    }

    /// Returns the header compression counters of one direction of a bearer. `None` if the bearer
    /// does not use header compression.
    pub fn header_compression(&self, bearer: DrbId, direction: Direction) -> Option<&RohcCounts> {
        compressed(&self.service.stack.bearers[bearer.index()], direction)
    }

    /// Returns true if a recording describes the path between a UE and a cell.
    pub fn is_recorded(&self, ue: UeId, cell: CellId) -> bool {
        self.service.stack.air.is_recorded(ue, cell)
    }

    /// Returns the cell of the UE's first leg. `None` before the UE has selected a cell.
    pub fn serving_cell(&self, ue: UeId) -> Option<CellId> {
        self.service.stack.serving_cell(ue)
    }

    /// Returns the cells at the site of `cell` on other carriers, which may be secondary cells of
    /// `cell`. The likeliest secondary cell comes first.
    pub fn co_sited(&self, cell: CellId) -> Vec<CellId> {
        let cells = self.service.cells.iter().map(|cell| &cell.plan.config);
        co_sited(cells, &self.service.cells[cell.index()].plan.config)
    }

    /// Returns the downlink rate of a UE that is alone in the cell. The rate is that of the MCS
    /// that a UE reports at this SNR.
    pub fn downlink_rate(&self, cell: CellId, snr_db: f64) -> Rate {
        let plan = &self.service.cells[cell.index()].plan;
        Rate::from_bits_per_sec(plan.downlink_rate(snr_db) as u64)
    }

    /// Returns the serving cells of a UE in the order of its legs. The secondary cells of each leg
    /// follow the leg's primary cell.
    pub fn serving_cells(&self, ue: UeId) -> impl Iterator<Item = CellId> + '_ {
        self.service.stack.serving_cells(ue)
    }

    /// Returns the PDU format of each bearer on each of its legs, in the order of the legs.
    pub fn formats(&self) -> impl Iterator<Item = &BearerFormat> {
        let numbers = |config: &BearerConfig| {
            let split = config.split.into_iter();
            let others =
                split.flat_map(|split| split.leg.into_iter().chain(split.carriers.numbers()));
            std::iter::once(config.leg).chain(others)
        };
        let bearers = self.service.stack.bearers.iter();
        bearers.flat_map(move |drb| numbers(drb.config()).map(|leg| drb.format(leg)))
    }

    /// Returns the counters of the whole radio access.
    pub fn counters(&self) -> Counters {
        let Stack { ues, requests, .. } = &self.service.stack;
        Counters {
            events: events_handled(self),
            slots: self.service.cells.iter().map(CellMac::slots).sum(),
            requests: requests.iter().map(UplinkRequests::sent).sum(),
            link_failures: ues.iter().map(UeRrc::failures).sum(),
        }
    }

    /// Returns the counters of one direction of a UE, summed over all its legs.
    pub fn counters_of(&self, ue: UeId, direction: Direction) -> DirectionCounters {
        let Stack {
            ues, legs, bearers, ..
        } = &self.service.stack;
        let mut counters = DirectionCounters::default();
        let now = ues[ue.index()].legs().iter();
        let now = now.flat_map(|&leg| self.service.stack.carriers_of(leg));
        let mobility = self.mobility.as_ref();
        let ever = mobility.into_iter().flat_map(|it| it.legs_ever(ue));
        let is_managed = self.is_managed(ue);
        for leg in now.filter(|_| !is_managed).chain(ever) {
            counters.add_leg(legs[leg.index()].half(direction).counters());
        }
        let ue = &ues[ue.index()];
        for bearer in ue.bearers() {
            counters.add_bearer(bearers[bearer.index()].counters(direction));
        }
        counters
    }
}
