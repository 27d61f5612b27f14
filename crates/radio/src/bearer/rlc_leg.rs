//! RLC entities of a bearer on one leg.

use crate::config::LegId;
use crate::rlc::{Aqm, Entity, ParameterError, RlcConfig, Sdu, TransportBlock};
use crate::wire::BearerFormat;
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::random::Stream;
use fadeout_core::{Direction, Ecn, PacketPool, Time};

/// RLC entities of a bearer on all its legs. Fields are in the order of their use, which keeps
/// memory accesses together. The same holds for the structs below.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RlcLegs {
    /// Leg to which new data goes (primaryPath, TS 38.331 clause 6.3.2).
    pub primary: RlcLeg,
    /// Other legs of a split bearer (TS 37.340 clause 3.1).
    pub others: Vec<RlcLeg>,
}

/// RLC entities of a bearer at both ends of one leg (an RLC bearer).
///
/// Standard: TS 38.300 §6.3.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RlcLeg {
    /// Number of the leg among the legs of its UE.
    pub number: u8,
    /// Connected leg. `None` while the leg is not connected.
    pub leg: Option<LegId>,
    /// Payload of the leg's largest transport block in bytes, by direction. Unlimited while the leg
    /// is not connected.
    pub rooms: [u32; 2],
    /// RLC of the base station and of the UE. `ends[direction.index()]` sends in `direction`.
    pub ends: [RlcEnd; 2],
    /// Format of the PDU headers on this leg.
    pub format: BearerFormat,
}

/// RLC and queue management at one end of a leg.
#[derive(Debug)]
#[repr(C)]
pub(super) struct RlcEnd {
    pub rlc: Entity,
    /// Queue management of the data that this end sends. `None` without queue management.
    aqm: Option<Box<Aqm>>,
}

/// Returns the index from which the logical channel number of a leg is computed. RLC entities of
/// one bearer on several carriers have different logical channels.
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

    /// Returns the RLC entities on the leg with the given number.
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

    /// Returns the RLC entities on the leg with the given number, mutably.
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
    /// Returns the RLC entity that sends in a direction, and the payload of its largest transport
    /// block in bytes.
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

    /// Creates the RLC end in another cell. RLC has the state after establishment. Queue management
    /// keeps the state of `before`.
    pub(super) fn after(before: &mut RlcEnd, config: &RlcConfig) -> Result<RlcEnd, ParameterError> {
        Ok(RlcEnd {
            rlc: Entity::new(config)?,
            aqm: before.aqm.take(),
        })
    }

    /// Replaces the RLC entity by a newly established one. Queue management keeps its state.
    pub(super) fn set_up_anew(&mut self, config: &RlcConfig) -> Result<(), ParameterError> {
        self.rlc = Entity::new(config)?;
        Ok(())
    }

    #[inline]
    pub(super) fn has_aqm(&self) -> bool {
        self.aqm.is_some()
    }

    /// Updates queue management to the current time. Must be called before SDUs enter or leave the
    /// buffer.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time) {
        if let Some(aqm) = &mut self.aqm {
            aqm.catch_up(now, self.rlc.head());
        }
    }

    /// Changes a threshold of queue management at `now`.
    pub(super) fn set_threshold(
        &mut self,
        now: Time,
        threshold: Threshold,
    ) -> Result<(), ThresholdError> {
        self.catch_up(now);
        let aqm = self.aqm.as_mut().ok_or(ThresholdError::Absent)?;
        aqm.set_threshold(threshold)
    }

    /// Returns true if queue management accepts an SDU of `size` bytes. Queue management may mark
    /// the SDU. An SDU that does not fit into the buffer has no effect on queue management.
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

    /// Fills up to `grant` bytes of a transport block. Returns the number of bytes used. SDUs that
    /// queue management drops are added to `dropped`, which must be empty.
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
