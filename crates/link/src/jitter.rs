//! Random extra delay that keeps the order of packets.

use crate::streams::Streams;
use fadeout_core::Span;
use fadeout_core::random::Stream;

/// Draws a uniform extra delay in `[0, most]` for each packet. The link delivers a packet no
/// earlier than the one before it, so jitter never reorders; where it would have, the later
/// packet arrives together with the earlier one.
#[derive(Debug, Clone)]
pub(crate) struct Jitter {
    most: Span,
    stream: Stream,
}

impl Jitter {
    pub(crate) fn new(most: Span, streams: Streams) -> Self {
        Jitter {
            most,
            stream: streams.of("link.jitter"),
        }
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> Span {
        if self.most.is_zero() {
            return Span::ZERO;
        }
        Span::from_nanos(self.stream.below(self.most.as_nanos().saturating_add(1)))
    }
}
