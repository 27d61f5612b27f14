//! Active queue management of the transmission buffer: the algorithms of [`fadeout_core::aqm`]
//! applied to SDUs.

use super::{ParameterError, QueueManagement, RlcConfig, Sdu, SduQueue};
use fadeout_core::aqm::codel::{CoDel, CoDelConfig};
use fadeout_core::aqm::ecn_step::{EcnStep, EcnStepConfig};
use fadeout_core::aqm::pie::{Pie, PieConfig, Verdict};
use fadeout_core::aqm::{DropTailConfig, Head, Heads, Threshold, ThresholdError};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, Ecn, PacketPool, Time};
use std::convert::Infallible;

fadeout_core::registry! {
    /// Registry of the queue management of an RLC transmission buffer. Disciplines of links that
    /// need several queues are not included, because a bearer has one queue.
    pub static AQMS;

    /// Algorithm that drops or marks SDUs of the transmission buffer. SDUs that do not fit are
    /// always dropped.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum AqmConfig;

    /// State of the algorithm of one transmission buffer.
    #[derive(Clone, Debug)]
    enum Laws {
        DropTail(DropTailConfig => Infallible),
        CoDel(CoDelConfig => CoDelLaw),
        Pie(PieConfig => PieLaw),
        EcnStep(EcnStepConfig => EcnStep),
    }
    macro aqms, laws;
}

/// Parameters of an algorithm.
trait Start {
    /// State of the algorithm.
    type Law: Law;

    /// Checks that every value is allowed.
    fn check(&self) -> Result<(), ParameterError>;

    /// Returns the state for a buffer of this size. `None` if the algorithm only limits the size.
    fn start(self, buffer: Bytes, stream: Stream) -> Result<Option<Self::Law>, ParameterError>;
}

/// Decisions to drop or mark SDUs. There are no default methods, so every algorithm states which
/// events it ignores.
trait Law {
    /// Processes timer events that were due. Must be called before any SDU enters or leaves. `head`
    /// is the SDU that is sent next. `None` for an empty buffer.
    fn catch_up(&mut self, now: Time, head: Option<&Sdu>);

    /// Decides on an arriving SDU of `size` bytes: it passes, is marked or is dropped. The SDU fits
    /// into the buffer, in which `waiting` bytes wait.
    fn on_arrival(&mut self, size: u32, waiting: Bytes) -> Verdict;

    /// Drops or marks SDUs at the head before one is sent at `now`. The SDU that remains at the
    /// head is sent.
    fn drop_or_mark_head(&mut self, now: Time, queue: &mut impl Heads);

    /// Changes a threshold. Must be called after [`Law::catch_up`].
    fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError>;
}

impl Start for DropTailConfig {
    type Law = Infallible;

    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
    fn start(self, _: Bytes, _: Stream) -> Result<Option<Infallible>, ParameterError> {
        Ok(None)
    }
}

impl Law for Infallible {
    fn catch_up(&mut self, _: Time, _: Option<&Sdu>) {
        match *self {}
    }
    fn on_arrival(&mut self, _: u32, _: Bytes) -> Verdict {
        match *self {}
    }
    fn drop_or_mark_head(&mut self, _: Time, _: &mut impl Heads) {
        match *self {}
    }
    fn set_threshold(&mut self, _: Threshold) -> Result<(), ThresholdError> {
        match *self {}
    }
}

impl Start for CoDelConfig {
    type Law = CoDelLaw;

    fn check(&self) -> Result<(), ParameterError> {
        Ok(CoDelConfig::check(self)?)
    }
    fn start(self, _: Bytes, _: Stream) -> Result<Option<CoDelLaw>, ParameterError> {
        let law = CoDel::default();
        Ok(Some(CoDelLaw { config: self, law }))
    }
}

/// CoDel and its parameters.
#[derive(Clone, Debug)]
struct CoDelLaw {
    config: CoDelConfig,
    law: CoDel,
}

impl Law for CoDelLaw {
    fn catch_up(&mut self, _: Time, _: Option<&Sdu>) {}
    fn on_arrival(&mut self, _: u32, _: Bytes) -> Verdict {
        Verdict::Pass
    }
    fn drop_or_mark_head(&mut self, now: Time, queue: &mut impl Heads) {
        self.law.drop_or_mark_head(&self.config, now, queue);
    }
    fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        self.config.set_threshold(threshold)
    }
}

impl Start for PieConfig {
    type Law = PieLaw;

    fn check(&self) -> Result<(), ParameterError> {
        Ok(PieConfig::check(self)?)
    }
    fn start(self, buffer: Bytes, stream: Stream) -> Result<Option<PieLaw>, ParameterError> {
        Ok(Some(PieLaw {
            law: Pie::new(self, true, stream)?,
            third: Bytes((buffer.0 / 3).max(1)),
        }))
    }
}

/// PIE, which is inactive while the buffer is nearly empty.
#[derive(Clone, Debug)]
struct PieLaw {
    law: Pie,
    /// Third of the buffer. PIE becomes active above it.
    third: Bytes,
}

impl Law for PieLaw {
    fn catch_up(&mut self, now: Time, head: Option<&Sdu>) {
        self.law.catch_up(now, head.map(|head| head.entered_at));
    }
    fn on_arrival(&mut self, size: u32, waiting: Bytes) -> Verdict {
        if self.law.is_off() && waiting.0 + u64::from(size) > self.third.0 {
            self.law.wake();
        }
        self.law.on_arrival(waiting.0)
    }
    fn drop_or_mark_head(&mut self, _: Time, _: &mut impl Heads) {}
    fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        self.law.set_threshold(threshold)
    }
}

impl Start for EcnStepConfig {
    type Law = EcnStep;

    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
    fn start(self, _: Bytes, _: Stream) -> Result<Option<EcnStep>, ParameterError> {
        Ok(Some(EcnStep::new(self)))
    }
}

impl Law for EcnStep {
    fn catch_up(&mut self, _: Time, _: Option<&Sdu>) {}
    fn on_arrival(&mut self, _: u32, _: Bytes) -> Verdict {
        Verdict::Pass
    }
    fn drop_or_mark_head(&mut self, now: Time, queue: &mut impl Heads) {
        EcnStep::drop_or_mark_head(self, now, queue);
    }
    fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        EcnStep::set_threshold(self, threshold)
    }
}

impl Default for AqmConfig {
    /// Returns drop tail.
    fn default() -> AqmConfig {
        AqmConfig::DropTail(DropTailConfig)
    }
}

impl AqmConfig {
    /// Checks that every value is allowed.
    ///
    /// # Errors
    /// Returns an error with the parameter, the given and the allowed value.
    pub fn check(&self) -> Result<(), ParameterError> {
        aqms!(self, config => Start::check(config))
    }
}

/// Queue management of one transmission buffer.
#[derive(Clone, Debug)]
pub struct Aqm {
    law: Laws,
}

impl Aqm {
    /// Returns the queue management of an entity. `None` for drop tail. `stream` serves the draws
    /// of PIE.
    ///
    /// # Errors
    /// Returns an error if a parameter has a value that is not allowed.
    pub fn new(config: &RlcConfig, stream: Stream) -> Result<Option<Aqm>, ParameterError> {
        config.aqm.check()?;
        let law = aqms!(config.aqm, aqm => Laws(match aqm.start(config.buffer, stream)? {
            Some(law) => law,
            None => return Ok(None),
        }));
        Ok(Some(Aqm { law }))
    }

    /// Processes timer events that were due. Must be called before any SDU enters or leaves the
    /// buffer. `head` is the SDU that is sent next. `None` for an empty buffer.
    #[inline]
    pub fn catch_up(&mut self, now: Time, head: Option<&Sdu>) {
        laws!(&mut self.law, law => law.catch_up(now, head));
    }

    /// Returns true if an arriving SDU of `size` bytes may enter the buffer, in which `waiting`
    /// bytes wait. Must be called after [`Aqm::catch_up`], for an SDU that fits. The SDU may be
    /// marked, which is counted in `marked`.
    pub fn admits(&mut self, size: u32, waiting: Bytes, ecn: &mut Ecn, marked: &mut u64) -> bool {
        match laws!(&mut self.law, law => law.on_arrival(size, waiting)) {
            Verdict::Pass => true,
            Verdict::Mark => ecn.mark(marked),
            Verdict::Drop => false,
        }
    }

    /// Changes a threshold of the algorithm. Must be called after [`Aqm::catch_up`].
    ///
    /// # Errors
    /// Returns [`ThresholdError::Absent`] if the algorithm does not have the threshold.
    pub fn set_threshold(&mut self, threshold: Threshold) -> Result<(), ThresholdError> {
        laws!(&mut self.law, law => law.set_threshold(threshold))
    }

    /// Returns the queue management for the buffer's head, which is about to be sent. It marks
    /// packets in `pool` and counts marks in `marked`.
    pub fn at_head<'a>(&'a mut self, pool: &'a mut PacketPool, marked: &'a mut u64) -> AtHead<'a> {
        AtHead {
            law: &mut self.law,
            pool,
            marked,
        }
    }
}

/// Queue management and the packets that it may mark.
#[derive(Debug)]
pub struct AtHead<'a> {
    law: &'a mut Laws,
    pool: &'a mut PacketPool,
    marked: &'a mut u64,
}

impl QueueManagement for AtHead<'_> {
    fn drop_or_mark_head(&mut self, now: Time, queue: &mut SduQueue<'_>) {
        let mut heads = MarkedQueue {
            queue,
            pool: self.pool,
            marked: self.marked,
        };
        laws!(&mut *self.law, law => Law::drop_or_mark_head(law, now, &mut heads));
    }
}

/// Buffer and the packets in it.
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
