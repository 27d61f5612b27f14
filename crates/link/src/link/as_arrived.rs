//! Packets that keep the rate and the delay of their arrival.

use super::Link;
use crate::transmission::Transmission;
use crate::transmitter::Transmitter;
use fadeout_core::{Span, Time};

impl Link {
    /// Returns transmission and delay of a packet that keeps the rate and delay of its arrival.
    #[inline(never)]
    pub(super) fn transmit_as_arrived(&mut self, now: Time, size: u32) -> (Transmission, Span) {
        let delay = self.delay.delay_at(now).saturating_add(self.jitter.draw());
        // With this setting the delay line is in front of the transmitter. If the delay grows, the
        // transmitter finishes before later packets reach it. If the delay shrinks, packets wait.
        let before = std::mem::replace(&mut self.delay_before, delay);
        if let Transmitter::Fluid(fluid) = &mut self.transmitter {
            if self.keeps_order && before != delay {
                fluid.shift(before, delay);
            }
            return (fluid.transmit_as_arrived(now, size), delay);
        }
        unreachable!("a link whose packets keep the rate of their arrival has a fluid transmitter")
    }
}
