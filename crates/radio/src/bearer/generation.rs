//! Handover of a bearer between LTE and NR. Both ends set up RLC and PDCP anew.
//!
//! Packets that have not arrived are sent again before all other packets, with new COUNT values.
//! COUNT values of LTE and NR are unrelated, so the receiver cannot detect duplicates by COUNT.
//!
//! Standard: TS 38.331 §5.3.5.11; TS 36.331 §5.3.5.8.

use super::compression::{compress_again, reset};
use super::transfer::MobileBearer;
use super::{Drb, Storage};
use crate::config::{BearerConfig, Env};
use crate::pdcp::{PdcpConfig, Rx, Tx};
use crate::rlc::{Generation, Mode, ParameterError, RlcConfig, Sdu};
use crate::wire::BearerFormat;
use fadeout_core::{Direction, PacketPool, Probe};

impl BearerConfig {
    /// Returns the configuration of the bearer in a cell of a generation. The RLC mode, buffer,
    /// queue management, discardTimer and ROHC stay the same. All other parameters have their usual
    /// values in that generation.
    fn in_generation(&self, generation: Generation) -> BearerConfig {
        let (am, um, pdcp) = match generation {
            Generation::Lte => (RlcConfig::LTE_AM, RlcConfig::LTE_UM, PdcpConfig::LTE),
            Generation::Nr => (RlcConfig::NR_AM, RlcConfig::NR_UM, PdcpConfig::NR),
        };
        let usual = match self.rlc.mode {
            Mode::Am(_) => am,
            Mode::Um(_) => um,
            Mode::Tm => RlcConfig::TM,
        };
        BearerConfig {
            rlc: RlcConfig {
                generation,
                buffer: self.rlc.buffer,
                aqm: self.rlc.aqm,
                ..usual
            },
            pdcp: PdcpConfig {
                discard_timer: self.pdcp.discard_timer,
                rohc: self.pdcp.rohc,
                ..pdcp
            },
            ..*self
        }
    }
}

/// Sets up RLC and PDCP of a bearer anew at both ends. The caller must take the data out of the old
/// entities before.
fn set_up_anew(drb: &mut Drb, config: BearerConfig) -> Result<(), ParameterError> {
    for end in &mut drb.legs.primary.ends {
        end.set_up_anew(&config.rlc)?;
    }
    for anchor in &mut drb.anchors {
        anchor.tx = Tx::new(&config.pdcp)?;
        anchor.rx = Rx::new(&config.pdcp)?;
    }
    reset(drb);
    drb.legs.primary.format = BearerFormat::new(&config.rlc, &config.pdcp, drb.nth);
    drb.config = config;
    Ok(())
}

/// Returns an SDU with its size updated for the PDCP header of the new configuration.
pub(super) fn with_header(pdcp: &PdcpConfig, sdu: Sdu, pool: &PacketPool) -> Sdu {
    let size = pool[sdu.packet].wire_len() + pdcp.header();
    Sdu { size, ..sdu }
}

impl MobileBearer<'_> {
    /// Sets the generation of the UE's first cell.
    pub(crate) fn begin_in(&mut self, generation: Generation) {
        self.drb.generation = Some(generation);
    }

    /// Handles the UE's arrival in a cell of a generation. Nothing happens in the UE's first cell,
    /// or if the generation stays the same.
    pub(crate) fn enter_generation(
        &mut self,
        generation: Generation,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let left = self.drb.generation.replace(generation);
        if let Some(left) = left.filter(|&left| left != generation) {
            self.set_up_in((left, generation), env, storage);
        }
    }

    /// Sets up RLC and PDCP anew at both ends with the same configuration, when the UE goes to 3G
    /// or comes back.
    pub(crate) fn set_up_again(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        if let Some(generation) = self.drb.generation {
            self.set_up_in((generation, generation), env, storage);
        }
    }

    fn set_up_in(
        &mut self,
        (left, generation): (Generation, Generation),
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let before = self.drb.config;
        let (of_own, own) = match &mut self.drb.transfer.0 {
            Some(transfer) => *transfer.own.get_or_insert((left, before)),
            None => (left, before),
        };
        let config = match of_own == generation {
            true => own,
            false => own.in_generation(generation),
        };
        let [downlink, uplink] = [Direction::Downlink, Direction::Uplink];
        for direction in [downlink, uplink] {
            let drb = &mut *self.drb;
            let rx = &mut drb.anchors[direction.opposite().index()].rx;
            rx.flush(&mut storage.ordered);
            // The old receiver may have given up a packet for which it waited. The sender transmits
            // such a packet again, and a new receiver accepts it.
            if let Ok(anew) = Rx::new(&before.pdcp) {
                *rx = anew;
            }
            drb.deliver_in_order(direction, env, storage);
            let end = drb.legs.primary.sender(direction);
            end.catch_up(env.now);
            let tx = &mut drb.anchors[direction.index()].tx;
            tx.reestablish(&mut end.rlc, &mut storage.unconfirmed);
            match direction {
                Direction::Uplink => storage.again.append(&mut storage.unconfirmed),
                // In a handover, the source has already taken its downlink data out of RLC. Outside
                // a handover, the unconfirmed downlink data is lost.
                Direction::Downlink => {
                    let ledger = &mut drb.anchors[direction.index()].ledger;
                    for sdu in storage.unconfirmed.drain(..) {
                        if ledger.leave(sdu.serial) {
                            storage.lost.push(sdu.packet);
                        }
                    }
                }
            }
        }
        self.lose_at_source(downlink, env, storage);
        let is_set_up = set_up_anew(self.drb, config).is_ok();
        debug_assert!(is_set_up, "the usual parameters are allowed");
        if let Some(transfer) = &mut self.drb.transfer.0 {
            transfer.is_anew = true;
        }
        for sdu in storage.again.drain(..) {
            let sdu = with_header(&config.pdcp, sdu, env.pool);
            let rlc = &mut self.drb.legs.primary.sender(uplink).rlc;
            let anchor = &mut self.drb.anchors[uplink.index()];
            let sdu = compress_again((anchor, &config.pdcp), sdu, env);
            anchor.tx.renumber(sdu, rlc);
        }
    }
}
