//! Transmit power of UEs.

use super::{Air, AirLeg, SinrSource};
use crate::config::{Aggregation, LegId, UplinkPower};
use crate::phy::power::OpenLoopPower;
use fadeout_core::math::to_db;
use fadeout_core::{Dbm, Decibel, UeId};

impl Air {
    /// Returns the power in dBm in each resource block of a UE that sends on `blocks` resource
    /// blocks.
    pub(crate) fn block_power_dbm(&self, leg: LegId, blocks: u32) -> f64 {
        let leg = &self.legs[leg.index()];
        let total = match self.open_loop(leg) {
            Some(control) => {
                let mu = self.cells[leg.cell.index()].config.mu();
                control.power(mu, blocks, self.path_loss(leg)).0
            }
            None => self.ues[leg.ue.index()].config.power_of_carrier().0,
        };
        total - to_db(f64::from(blocks))
    }

    /// Returns the power in dB in each of `blocks` resource blocks, relative to the full power in a
    /// single resource block.
    pub(crate) fn spread_db(&self, id: LegId, blocks: u32) -> f64 {
        let leg = &self.legs[id.index()];
        match leg.signal {
            SinrSource::Given(_) | SinrSource::Recorded(..) => 0.0,
            SinrSource::Paths(..) => {
                self.block_power_dbm(id, blocks)
                    - self.ues[leg.ue.index()].config.power_of_carrier().0
            }
        }
    }

    /// Returns the largest number of resource blocks, up to `available`, for which the UE's power
    /// suffices.
    pub(crate) fn affordable_blocks(&self, leg: LegId, available: u32) -> u32 {
        let leg = &self.legs[leg.index()];
        match (self.open_loop(leg), &leg.signal) {
            (Some(control), SinrSource::Paths(..)) => {
                let mu = self.cells[leg.cell.index()].config.mu();
                control.affordable(mu, available, self.path_loss(leg))
            }
            _ => available,
        }
    }

    fn path_loss(&self, leg: &AirLeg) -> Decibel {
        let gain_db = match leg.signal {
            SinrSource::Given(_) | SinrSource::Recorded(..) => 0.0,
            SinrSource::Paths(serving, _) => self.channels[serving].gain_db,
        };
        Decibel(-gain_db)
    }

    fn open_loop(&self, leg: &AirLeg) -> Option<OpenLoopPower> {
        match self.cells[leg.cell.index()].config.uplink_power {
            UplinkPower::Maximum => None,
            UplinkPower::OpenLoop { p0, alpha } => Some(OpenLoopPower {
                most: self.ues[leg.ue.index()].config.power_of_carrier(),
                target: p0,
                compensation: alpha,
            }),
        }
    }
}

/// Returns the received power of a UE that sends with full power, without fading. `None` if the leg
/// has no path with a gain.
pub(crate) fn uplink_power(air: &Air, leg: LegId) -> Option<Dbm> {
    let leg = &air.legs[leg.index()];
    let power_dbm = air.ues[leg.ue.index()].config.power_of_carrier().0;
    matches!(leg.signal, SinrSource::Paths(..)).then(|| Dbm(power_dbm - air.path_loss(leg).0))
}

/// Replaces the secondary cells of a UE. The UE divides its power evenly among its carriers.
pub(crate) fn share_power(air: &mut Air, ue: UeId, aggregation: Aggregation) {
    air.ues[ue.index()].config.aggregation = aggregation;
}
