//! A bearer: PDCP and RLC at the base station and at the UE.

use super::BearerConfig;
use crate::mac::logical_channel::Bucket;
use crate::pdcp::{Ledger, Rx, Tx};
use crate::rlc::{Aqm, Entity, ParameterError, Sdu, TransportBlock};
use crate::wire::BearerFormat;
use fadeout_core::random::Stream;
use fadeout_core::{Direction, Ecn, PacketId, PacketPool, Ring, Time, Wake};

/// One end of a bearer.
#[derive(Debug)]
pub(super) struct End {
    pub rlc: Entity,
    /// Of what this end sends.
    pub aqm: Option<Box<Aqm>>,
    pub tx: Tx,
    pub rx: Rx,
    /// The packets that this end sends.
    pub ledger: Ledger,
    /// What it may send at its prioritised rate.
    pub bucket: Bucket,
    pub wake: Wake,
}

impl End {
    fn new(config: &BearerConfig, stream: Stream) -> Result<End, ParameterError> {
        Ok(End {
            rlc: Entity::new(&config.rlc)?,
            aqm: Aqm::new(&config.rlc, stream)?.map(Box::new),
            tx: Tx::new(&config.pdcp)?,
            rx: Rx::new(&config.pdcp)?,
            ledger: Ledger::new(),
            bucket: Bucket::new(&config.channel),
            wake: Wake::default(),
        })
    }

    /// Lets queue management make up for the time until SDUs enter or leave the buffer.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time) {
        if let Some(aqm) = &mut self.aqm {
            aqm.catch_up(now, self.rlc.head());
        }
    }

    /// Whether queue management takes an SDU of `size` bytes. It may be marked. One that does not
    /// fit into the buffer is not its business.
    #[inline]
    pub(super) fn admits(&mut self, now: Time, size: u32, ecn: &mut Ecn, marked: &mut u64) -> bool {
        self.catch_up(now);
        match &mut self.aqm {
            Some(aqm) if self.rlc.has_room(size) => {
                aqm.admits(size, self.rlc.queued(), ecn, marked)
            }
            _ => true,
        }
    }

    /// Fills up to `grant` bytes of a block and returns the bytes used. SDUs that queue management
    /// drops go to `dropped`, which must be empty.
    #[inline]
    pub(super) fn pull(
        &mut self,
        now: Time,
        grant: u32,
        block: &mut TransportBlock,
        (pool, marked): (&mut PacketPool, &mut u64),
        dropped: &mut Vec<Sdu>,
    ) -> u32 {
        match &mut self.aqm {
            None => self.rlc.pull(now, grant, block),
            Some(aqm) => {
                aqm.catch_up(now, self.rlc.head());
                let mut aqm = aqm.at_head(pool, marked);
                self.rlc.pull_managed(now, grant, block, &mut aqm, dropped)
            }
        }
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
    /// The bearer of this index, the UE's `nth` whose RLC PDUs have its form.
    pub(super) fn new(
        (index, nth): (usize, u8),
        config: BearerConfig,
        seed: u64,
    ) -> Result<Bearer, ParameterError> {
        let end = |direction: Direction| {
            let entity = 2 * index as u64 + direction.index() as u64;
            End::new(&config, Stream::new(seed, "radio.aqm", entity))
        };
        Ok(Bearer {
            config,
            format: BearerFormat::new(&config.rlc, &config.pdcp, nth),
            ends: [end(Direction::Downlink)?, end(Direction::Uplink)?],
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
