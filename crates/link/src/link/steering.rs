//! Changes of a link's rate and of its queue by the caller of a simulation.

use super::Link;
use crate::rate::SLOWEST;
use crate::transit::Carried;
use crate::transmitter::Transmitter;
use crate::{Changes, LinkError};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::{Rate, Time};

impl Link {
    /// Returns the rate. `None` if the rate is not constant, or if a blockage may change it.
    pub fn constant_rate(&self) -> Option<Rate> {
        match &self.transmitter {
            Transmitter::Fluid(fluid) if self.effect.is_none() => fluid.constant_rate(),
            _ => None,
        }
    }

    /// Changes the rate at `now`. The packet in transmission and the packets of the queue leave at
    /// the new rate. Delay and jitter of each packet stay.
    ///
    /// # Errors
    /// - [`LinkError::Unsteerable`] if the rate is not constant, or if the link has blockages. Also
    ///   if its queue counts the delay line, or if packets keep the rate of their arrival.
    /// - [`LinkError::RateTooSmall`] if the rate is below 0.001 Mbit/s.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Result<(), LinkError> {
        let before = self.steerable_rate().map_err(LinkError::Unsteerable)?;
        if rate < SLOWEST {
            return Err(LinkError::RateTooSmall(rate));
        }
        let Transmitter::Fluid(fluid) = &mut self.transmitter else {
            return Ok(());
        };
        let mut queued: Vec<Carried> = Vec::new();
        self.transit.take_back(now, |carried| queued.push(carried));
        fluid.restart(now, rate);
        // The oldest packet is the last, and may be partly sent.
        let mut is_head = true;
        while let Some(packet) = queued.pop() {
            let after = packet.arrives_at.since(packet.leaves_queue_at);
            let left = packet.leaves_queue_at.since(now);
            let departs_at = match is_head {
                true => fluid.finish_rest(left, before, packet.size),
                false => fluid.append(now, packet.size),
            };
            is_head = false;
            self.transit.push(Carried {
                leaves_queue_at: departs_at,
                arrives_at: departs_at.saturating_add(after),
                ..packet
            });
        }
        if let Some(managed) = &self.managed {
            self.serve_at = managed.serve_at(now, &mut self.transmitter);
        }
        self.transit.leave_queue(now);
        self.assert_conserved();
        Ok(())
    }

    /// Changes a threshold of the queue's discipline at `now`. Waiting packets stay.
    ///
    /// # Errors
    /// Returns an error if the discipline does not have the threshold, or if the value is out of
    /// its range. Nothing has changed then.
    pub fn set_threshold(&mut self, now: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        let managed = self.managed.as_mut();
        let managed = managed.ok_or(ThresholdError::Absent)?;
        managed.set_threshold(now, threshold)
    }

    /// Returns the rate if it can be changed.
    ///
    /// # Errors
    /// Returns the property of the link for which the rate cannot be changed.
    fn steerable_rate(&self) -> Result<Rate, &'static str> {
        if self.counts_delay_line {
            return Err("a queue limit that counts the delay line");
        }
        if self.changes == Changes::ForArrivals {
            return Err("packets that keep the rate of their arrival");
        }
        let rate = self.constant_rate();
        rate.ok_or("a rate that varies, blocks, a trace or blockages")
    }
}
