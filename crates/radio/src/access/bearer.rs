//! A bearer: PDCP and RLC at the base station and at the UE.

use super::BearerConfig;
use crate::mac::logical_channel::Bucket;
use crate::pdcp::{Ledger, Rx, Tx};
use crate::rlc::{Entity, ParameterError};
use crate::wire::BearerFormat;
use fadeout_core::{Direction, PacketId, Ring, Time, Wake};

/// One end of a bearer.
#[derive(Debug)]
pub(super) struct End {
    pub rlc: Entity,
    pub tx: Tx,
    pub rx: Rx,
    /// The packets that this end sends.
    pub ledger: Ledger,
    /// What it may send at its prioritised rate.
    pub bucket: Bucket,
    pub wake: Wake,
}

impl End {
    fn new(config: &BearerConfig) -> Result<End, ParameterError> {
        Ok(End {
            rlc: Entity::new(&config.rlc)?,
            tx: Tx::new(&config.pdcp)?,
            rx: Rx::new(&config.pdcp)?,
            ledger: Ledger::new(),
            bucket: Bucket::new(&config.channel),
            wake: Wake::default(),
        })
    }

    /// When it next has something to do by itself.
    pub(super) fn wake_at(&self) -> Time {
        let sending = self.rlc.wake_at().min(self.tx.wake_at(&self.rlc));
        sending.min(self.rx.wake_at())
    }
}

#[derive(Debug)]
pub(super) struct Bearer {
    pub config: BearerConfig,
    /// Its headers.
    pub format: BearerFormat,
    /// The base station's and the UE's, so that `ends[direction.index()]` sends in a direction.
    pub ends: [End; 2],
    /// Packets that the base station processes before PDCP takes them, and until when.
    pub inlet: Ring<(Time, PacketId)>,
}

impl Bearer {
    /// The UE's `nth` bearer whose RLC PDUs have this form.
    pub(super) fn new(config: BearerConfig, nth: u8) -> Result<Bearer, ParameterError> {
        Ok(Bearer {
            config,
            format: BearerFormat::new(&config.rlc, &config.pdcp, nth),
            ends: [End::new(&config)?, End::new(&config)?],
            inlet: Ring::new(),
        })
    }
    pub(super) fn sender(&mut self, direction: Direction) -> &mut End {
        &mut self.ends[direction.index()]
    }
    pub(super) fn receiver(&mut self, direction: Direction) -> &mut End {
        &mut self.ends[direction.opposite().index()]
    }
}
