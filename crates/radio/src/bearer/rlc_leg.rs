//! RLC of a bearer on one leg.

use crate::config::LegId;
use crate::rlc::{Aqm, Entity, ParameterError, RlcConfig, Sdu, TransportBlock};
use crate::wire::BearerFormat;
use fadeout_core::random::Stream;
use fadeout_core::{Direction, Ecn, PacketPool, Time};

/// RLC of a bearer on all its legs. Fields stand in the order in which they are needed, here and below.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RlcLegs {
    /// The leg that data is sent on (primaryPath, TS 38.331 clause 6.3.2).
    pub primary: RlcLeg,
    /// The further ones, of a split bearer (TS 37.340 clause 3.1).
    pub others: Vec<RlcLeg>,
}

/// The RLC entities of a bearer at both ends of one leg (an RLC bearer).
///
/// Standard: TS 38.300 §6.3.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RlcLeg {
    /// Number of the leg among its UE's.
    pub number: u8,
    /// The leg, once it is connected.
    pub leg: Option<LegId>,
    /// Bytes for data in the largest block that it can get on the leg, by direction; any before it is
    /// connected.
    pub rooms: [u32; 2],
    /// The base station's and the UE's, so that `ends[direction.index()]` sends in a direction.
    pub ends: [RlcEnd; 2],
    /// Its headers.
    pub format: BearerFormat,
}

/// RLC and queue management at one end.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RlcEnd {
    pub rlc: Entity,
    /// Of what this end sends.
    aqm: Option<Box<Aqm>>,
}

/// RLC entities of a bearer over several carriers of a cell group have logical channels of their own.
pub(super) fn nth_of_leg(nth: u8, number: u8) -> u8 {
    nth.saturating_add(number.saturating_sub(1).saturating_mul(8))
}

impl RlcLegs {
    pub(super) fn iter(&self) -> impl Iterator<Item = &RlcLeg> {
        std::iter::once(&self.primary).chain(&self.others)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut RlcLeg> {
        std::iter::once(&mut self.primary).chain(&mut self.others)
    }

    /// RLC on the leg with a number.
    #[inline]
    pub(super) fn get(&self, number: u8) -> &RlcLeg {
        if self.primary.number == number {
            return &self.primary;
        }
        let mut others = self.others.iter();
        let found = others.find(|leg| leg.number == number);
        debug_assert!(found.is_some(), "the bearer has RLC on leg {number}");
        found.unwrap_or(&self.primary)
    }

    /// As [`RlcLegs::get`].
    #[inline]
    pub(super) fn get_mut(&mut self, number: u8) -> &mut RlcLeg {
        if self.primary.number == number {
            return &mut self.primary;
        }
        let mut others = self.others.iter_mut();
        let found = others.find(|leg| leg.number == number);
        debug_assert!(found.is_some(), "the bearer has RLC on leg {number}");
        found.unwrap_or(&mut self.primary)
    }
}

impl RlcLeg {
    #[inline]
    pub(super) fn sender(&mut self, direction: Direction) -> &mut RlcEnd {
        &mut self.ends[direction.index()]
    }
    /// RLC that sends in a direction, and the bytes that the largest block has for it.
    #[inline]
    pub(super) fn sending(&self, direction: Direction) -> (&Entity, u32) {
        let index = direction.index();
        (&self.ends[index].rlc, self.rooms[index])
    }
    #[inline]
    pub(super) fn receiver(&mut self, direction: Direction) -> &mut RlcEnd {
        &mut self.ends[direction.opposite().index()]
    }
}

impl RlcEnd {
    pub(super) fn new(config: &RlcConfig, stream: Stream) -> Result<RlcEnd, ParameterError> {
        Ok(RlcEnd {
            rlc: Entity::new(config)?,
            aqm: Aqm::new(config, stream)?.map(Box::new),
        })
    }

    /// An end in another cell: RLC as after establishment, and the queue management that the one before had.
    pub(super) fn after(before: &mut RlcEnd, config: &RlcConfig) -> Result<RlcEnd, ParameterError> {
        Ok(RlcEnd {
            rlc: Entity::new(config)?,
            aqm: before.aqm.take(),
        })
    }

    /// An entity as after establishment; queue management goes on.
    pub(super) fn set_up_anew(&mut self, config: &RlcConfig) -> Result<(), ParameterError> {
        self.rlc = Entity::new(config)?;
        Ok(())
    }

    #[inline]
    pub(super) fn has_aqm(&self) -> bool {
        self.aqm.is_some()
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
}
