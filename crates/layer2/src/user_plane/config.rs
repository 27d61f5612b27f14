//! Parameters of flow control.

use fadeout_core::{Bytes, Span};

/// Bytes that the corresponding node wants to be on their way to the UE: sent to it and not
/// delivered.
///
/// Standard: TS 38.425 §5.4.2.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DesiredBuffer {
    /// Fixed number of bytes.
    Fixed(Bytes),
    /// Number of bytes delivered within the recent past of this length, but no fewer than the
    /// minimum. The time must be longer than from the sending of a frame to the status that reports
    /// its delivery.
    Lasting(Span, Bytes),
}

/// Parameters of the flow control of a bearer's downlink, the same at both nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowControlConfig {
    /// The bytes that the corresponding node asks for.
    pub desired: DesiredBuffer,
    /// Least time between two delivery statuses.
    pub status_period: Span,
    /// The hosting node asks for a status when it has heard none for so long and waits for one.
    pub poll_after: Span,
}

impl FlowControlConfig {
    /// Usual parameters: the bytes delivered in 60 ms, at least 50 kB, with a status each 5 ms and
    /// a poll after 100 ms.
    pub const USUAL: FlowControlConfig = FlowControlConfig {
        desired: DesiredBuffer::Lasting(Span::from_millis(60), Bytes(50_000)),
        status_period: Span::from_millis(5),
        poll_after: Span::from_millis(100),
    };
}
