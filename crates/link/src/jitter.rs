//! Random additional delay of packets.

use crate::streams::Streams;
use fadeout_core::Span;
use fadeout_core::random::Stream;

/// Random additional delay, uniform in `[0, most]` for each packet. On a link that keeps its order,
/// jitter never reorders packets. A packet that would overtake the previous one arrives together
/// with it.
#[derive(Debug, Clone)]
pub(crate) struct Jitter {
    most: Span,
    stream: Stream,
}

impl Jitter {
    pub(crate) fn new(most: Span, streams: Streams) -> Self {
        Jitter {
            most,
            stream: streams.stream("link.jitter"),
        }
    }

    /// Returns true if some packets have an additional delay.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.most.is_zero()
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> Span {
        if !self.is_on() {
            return Span::ZERO;
        }
        Span::from_nanos(self.stream.below(self.most.as_nanos().saturating_add(1)))
    }
}
