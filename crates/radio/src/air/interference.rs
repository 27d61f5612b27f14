//! What each cell sends and hears slot by slot, and the SINR that follows from it.

use super::{Air, AirCell, AirLeg, Purpose, RadioPath, Signal};
use crate::config::LegId;
use fadeout_core::math::from_db;
use fadeout_core::{CellId, Span};
use std::ops::Range;

/// A cell as it disturbs others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    power_mw: f64,
    bandwidth_hz: f64,
    /// Length of its slots.
    slot: Span,
}

impl Sender {
    pub(super) fn new(cell: &AirCell) -> Sender {
        Sender {
            power_mw: cell.levels.power_mw,
            bandwidth_hz: cell.levels.bandwidth_hz,
            slot: cell.frame.slot(),
        }
    }
}

impl Air {
    /// The slot of a cell in which slot `slot` starts, of slots of this length.
    #[inline]
    fn slot_of(&self, cell: usize, length: Span, slot: u64) -> u64 {
        if self.senders[cell].slot == length {
            return slot;
        }
        self.cells[cell].frame.slot_as_of(length, slot)
    }

    /// A cell sends downlink data on a share of the band.
    pub(crate) fn on_downlink_sent(&mut self, cell: CellId, slot: u64, share: f64) {
        self.downlink_shares.add(cell.index(), slot, share);
    }

    /// A UE sends on a share of the band: the other cells of the carrier hear it.
    pub(crate) fn on_uplink_sent(
        &mut self,
        leg: LegId,
        slot: u64,
        block_power_dbm: f64,
        share: f64,
    ) {
        let leg = &self.legs[leg.index()];
        let Signal::Paths(serving, carrier) = &leg.signal else {
            return;
        };
        if carrier.len() < 2 {
            return;
        }
        let length = self.cells[leg.cell.index()].frame.slot();
        let block_power_mw = from_db(block_power_dbm);
        for (index, path) in carrier.clone().zip(&self.paths[carrier.clone()]) {
            if index == *serving {
                continue;
            }
            let cell = path.cell.index();
            let slot = self.slot_of(cell, length, slot);
            let heard_mw = block_power_mw * path.gain * share;
            self.uplink_interference.add(cell, slot, heard_mw);
        }
    }

    /// Linear SINR of the downlink in `slot`, without fading.
    pub(super) fn downlink_mean(
        &self,
        leg: &AirLeg,
        serving: usize,
        carrier: &Range<usize>,
        slot: u64,
        purpose: Purpose,
    ) -> f64 {
        let own = &self.cells[leg.cell.index()];
        let signal_mw = own.levels.power_mw * self.paths[serving].gain;
        let mut disturbance_mw = own.levels.thermal_mw * self.ues[leg.ue.index()].noise_factor;
        for (index, path) in carrier.clone().zip(&self.paths[carrier.clone()]) {
            if index == serving {
                continue;
            }
            let cell = path.cell.index();
            let sender = &self.senders[cell];
            let slot = self.slot_of(cell, own.frame.slot(), slot);
            let share = match purpose {
                Purpose::Transmission => self.downlink_shares.at(cell, slot),
                Purpose::Report => self.downlink_shares.mean(cell, slot),
            };
            if share > 0.0 {
                // What of a wider carrier falls into this one.
                let overlap = (own.levels.bandwidth_hz / sender.bandwidth_hz).min(1.0);
                disturbance_mw += sender.power_mw * path.gain * share * overlap;
            }
        }
        signal_mw / disturbance_mw
    }

    /// Linear SINR in `slot` of a UE that puts `block_power_dbm` into each resource block, without
    /// fading.
    pub(super) fn uplink_mean(
        &self,
        path: &RadioPath,
        slot: u64,
        block_power_dbm: f64,
        purpose: Purpose,
    ) -> f64 {
        let cell = path.cell.index();
        let interference_mw = match purpose {
            Purpose::Transmission => self.uplink_interference.at(cell, slot),
            Purpose::Report => self.uplink_interference.mean(cell, slot),
        };
        let disturbance_mw = self.cells[cell].levels.block_noise_mw + interference_mw;
        from_db(block_power_dbm) * path.gain / disturbance_mw
    }
}
