//! Cross-layer information from a link to the transport above it.

use crate::{Rate, Span, Time};

/// Notice from a link to the ends of a connection over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkInfo {
    /// The link sends at this rate from now on.
    Rate(Rate),
    /// A blockage is expected. Both numbers may be wrong.
    BlockagePredicted {
        /// Predicted start.
        starts_at: Time,
        /// Predicted duration.
        lasts: Span,
    },
    /// A blockage began, and no packet passes.
    BlockageBegan,
    /// The blockage ended.
    BlockageEnded,
}
