//! Parameters of flow control between base stations.

use fadeout_core::{Bytes, Span};

/// Desired buffer size: bytes that the corresponding node wants to be sent to it and not yet
/// delivered to the UE.
///
/// Standard: TS 38.425 §5.4.2.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DesiredBuffer {
    /// Fixed number of bytes.
    Fixed(Bytes),
    /// Number of bytes delivered within a recent time of this length, at least the minimum. The
    /// time must exceed the delay from the sending of a frame to the status that reports its
    /// delivery.
    Lasting(Span, Bytes),
}

/// Parameters of the flow control of a bearer's downlink, equal at both nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowControlConfig {
    /// Desired buffer size of the corresponding node.
    pub desired: DesiredBuffer,
    /// Least time between two delivery statuses.
    pub status_period: Span,
    /// Time without an expected status after which the hosting node polls for one.
    pub poll_after: Span,
}

impl FlowControlConfig {
    /// Default parameters: the bytes delivered in 60 ms, at least 50 kB, with a status every 5 ms
    /// and a poll after 100 ms.
    pub const USUAL: FlowControlConfig = FlowControlConfig {
        desired: DesiredBuffer::Lasting(Span::from_millis(60), Bytes(50_000)),
        status_period: Span::from_millis(5),
        poll_after: Span::from_millis(100),
    };
}
