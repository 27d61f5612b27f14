//! Queue management of the transmission buffer: the laws of [`fadeout_core::aqm`] on SDUs.

use super::{ParameterError, QueueManagement, RlcConfig, Sdu, SduQueue};
use fadeout_core::aqm::codel::{CoDel, CoDelConfig};
use fadeout_core::aqm::ecn_step::{EcnStep, EcnStepConfig};
use fadeout_core::aqm::pie::{Pie, PieConfig, Verdict};
use fadeout_core::aqm::{DropTailConfig, Head, Heads};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, Ecn, PacketPool, Time};

fadeout_core::registry! {
    /// Every queue management of an RLC transmission buffer that a scenario can name. Disciplines of
    /// links that need several queues are not among them: a bearer has one.
    pub static AQMS;

    /// Which SDUs the transmission buffer drops or marks besides those that do not fit.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum AqmConfig {
        DropTail(DropTailConfig),
        CoDel(CoDelConfig),
        Pie(PieConfig),
        EcnStep(EcnStepConfig),
    }
    macro aqms;
}

impl Default for AqmConfig {
    /// Drop tail.
    fn default() -> AqmConfig {
        AqmConfig::DropTail(DropTailConfig)
    }
}

impl AqmConfig {
    /// Checks that every value is allowed.
    ///
    /// # Errors
    /// Names the parameter, what was given and what is allowed.
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            AqmConfig::DropTail(_) | AqmConfig::EcnStep(_) => Ok(()),
            AqmConfig::CoDel(config) => Ok(config.check()?),
            AqmConfig::Pie(config) => Ok(config.check()?),
        }
    }
}

/// The queue management of one transmission buffer.
#[derive(Clone, Debug)]
pub struct Aqm {
    law: Law,
    /// A third of the buffer, above which PIE wakes.
    third: Bytes,
}

#[derive(Clone, Debug)]
enum Law {
    CoDel(CoDelConfig, CoDel),
    Pie(Pie),
    EcnStep(EcnStep),
}

impl Aqm {
    /// The queue management of an entity; `None` when it has none. `stream` is for PIE's draws.
    ///
    /// # Errors
    /// A parameter has a value that is not allowed.
    pub fn new(config: &RlcConfig, stream: Stream) -> Result<Option<Aqm>, ParameterError> {
        config.aqm.check()?;
        let law = match config.aqm {
            AqmConfig::DropTail(_) => return Ok(None),
            AqmConfig::CoDel(codel) => Law::CoDel(codel, CoDel::default()),
            AqmConfig::Pie(pie) => Law::Pie(Pie::new(pie, true, stream)?),
            AqmConfig::EcnStep(step) => Law::EcnStep(EcnStep::new(step)),
        };
        let third = Bytes((config.buffer.0 / 3).max(1));
        Ok(Some(Aqm { law, third }))
    }

    /// To be called before SDUs enter or leave the buffer, whatever for: what a law does on a
    /// timer is made up for. `head` is the SDU that is sent next.
    #[inline]
    pub fn catch_up(&mut self, now: Time, head: Option<&Sdu>) {
        if let Law::Pie(pie) = &mut self.law {
            pie.catch_up(now, head.map(|head| head.entered_at));
        }
    }

    /// Whether an SDU of `size` bytes that fits is to be pushed behind `waiting` bytes, after
    /// [`Aqm::catch_up`]. It may be marked, which is counted in `marked`.
    pub fn admits(&mut self, size: u32, waiting: Bytes, ecn: &mut Ecn, marked: &mut u64) -> bool {
        let Law::Pie(pie) = &mut self.law else {
            return true;
        };
        if pie.is_off() && waiting.0 + u64::from(size) > self.third.0 {
            pie.wake();
        }
        match pie.on_arrival(waiting.0) {
            Verdict::Pass => true,
            Verdict::Mark => ecn.mark(marked),
            Verdict::Drop => false,
        }
    }

    /// What looks at the head of the buffer. Marks go to the packets in `pool` and are counted in
    /// `marked`.
    pub fn at_head<'a>(&'a mut self, pool: &'a mut PacketPool, marked: &'a mut u64) -> AtHead<'a> {
        AtHead {
            law: &mut self.law,
            pool,
            marked,
        }
    }
}

/// Queue management with the packets that it marks.
#[derive(Debug)]
pub struct AtHead<'a> {
    law: &'a mut Law,
    pool: &'a mut PacketPool,
    marked: &'a mut u64,
}

impl QueueManagement for AtHead<'_> {
    fn settle(&mut self, now: Time, queue: &mut SduQueue<'_>) {
        let mut heads = MarkedQueue {
            queue,
            pool: self.pool,
            marked: self.marked,
        };
        match self.law {
            Law::CoDel(config, codel) => codel.settle(config, now, &mut heads),
            Law::EcnStep(step) => step.settle(now, &mut heads),
            Law::Pie(_) => {}
        }
    }
}

/// The buffer and the packets in it.
struct MarkedQueue<'a, 'b> {
    queue: &'a mut SduQueue<'b>,
    pool: &'a mut PacketPool,
    marked: &'a mut u64,
}

impl Heads for MarkedQueue<'_, '_> {
    #[inline]
    fn head(&self) -> Option<Head> {
        let head = self.queue.head()?;
        Some(Head {
            entered_at: head.entered_at,
            behind: self.queue.bytes().0 - u64::from(head.size),
        })
    }
    fn ecn(&self) -> Option<Ecn> {
        Some(self.pool[self.queue.head()?.packet].ecn)
    }
    fn mark_head(&mut self) -> bool {
        let head = self.queue.head();
        head.is_some_and(|head| self.pool[head.packet].ecn.mark(self.marked))
    }
    fn drop_head(&mut self) {
        self.queue.drop_head();
    }
}
