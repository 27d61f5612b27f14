//! A bearer whose UE comes to a cell of the other generation: both ends set up RLC and PDCP anew.
//!
//! Packets that had not arrived are sent again before all others, with new numbers: COUNTs of the two
//! generations have nothing to do with each other, so that no number tells what arrived before.
//!
//! Standard: TS 38.331 §5.3.5.11; TS 36.331 §5.3.5.8.

use super::compression::{anew, reset};
use super::transfer::Travel;
use super::{Drb, Storage};
use crate::config::{BearerConfig, Env};
use crate::pdcp::{PdcpConfig, Rx, Tx};
use crate::rlc::{Generation, Mode, ParameterError, RlcConfig, Sdu};
use crate::wire::BearerFormat;
use fadeout_core::{Direction, PacketPool, Probe};

impl BearerConfig {
    /// The same bearer in a cell of a generation: its mode with the usual parameters there, with its own
    /// buffer, queue management and discardTimer.
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

/// RLC and PDCP of a bearer anew at both ends; what the old ones had is the caller's.
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

/// An SDU with the header that it has now.
pub(super) fn with_header(pdcp: &PdcpConfig, sdu: Sdu, pool: &PacketPool) -> Sdu {
    let size = pool[sdu.packet].wire_len() + pdcp.header();
    Sdu { size, ..sdu }
}

impl Travel<'_> {
    /// Its UE's first cell is of this generation.
    pub(crate) fn begin_in(&mut self, generation: Generation) {
        self.drb.generation = Some(generation);
    }

    /// The UE is in a cell of a generation. Nothing happens if it is the first, or the one before.
    pub(crate) fn enter_generation(
        &mut self,
        generation: Generation,
        env: &mut Env<'_, impl Probe>,
        storage: &mut Storage,
    ) {
        let left = self.drb.generation.replace(generation);
        if let Some(left) = left.filter(|&left| left != generation) {
            self.change((left, generation), env, storage);
        }
    }

    /// The UE goes to a cell of 3G, or comes from there: both ends set up RLC and PDCP anew, as they were.
    pub(crate) fn set_up_again(&mut self, env: &mut Env<'_, impl Probe>, storage: &mut Storage) {
        if let Some(generation) = self.drb.generation {
            self.change((generation, generation), env, storage);
        }
    }

    fn change(
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
            // What it passed over may still come: the other end sends it again.
            if let Ok(anew) = Rx::new(&before.pdcp) {
                *rx = anew;
            }
            drb.hand_over(direction, env, storage);
            let end = drb.legs.primary.sender(direction);
            end.catch_up(env.now);
            let tx = &mut drb.anchors[direction.index()].tx;
            tx.reestablish(&mut end.rlc, &mut storage.unconfirmed);
            match direction {
                Direction::Uplink => storage.again.append(&mut storage.unconfirmed),
                // The source has taken out what it had; a bearer that did not travel loses the rest.
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
            let sdu = anew((anchor, &config.pdcp), sdu, env);
            anchor.tx.renumber(sdu, rlc);
        }
    }
}
