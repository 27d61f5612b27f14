//! Cross-layer information: the messages of a link to the transport above it.

use crate::{Rate, Span, Time};

/// A notice from a link to the ends of a connection that crosses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkInfo {
    /// The link sends at this rate from now on.
    Rate(Rate),
    /// A blockage is expected. Both numbers may be wrong.
    BlockagePredicted {
        /// When it begins.
        starts_at: Time,
        /// Duration of the blockage.
        lasts: Span,
    },
    /// A blockage began: nothing passes.
    BlockageBegan,
    /// The blockage ended.
    BlockageEnded,
}
