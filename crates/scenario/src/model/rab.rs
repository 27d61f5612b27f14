//! Radio access bearers of 2G and 3G.

use super::{Loss, Named, QueueLimit, RateModel};
use fadeout_core::NodeId;

/// A radio access bearer (RAB, TS 23.107) of 2G or 3G between a base station and a phone, `rab` in a
/// file. The data radio bearers of UEs are [`Bearer`](super::Bearer)s.
#[derive(Debug, Clone, PartialEq)]
pub struct Rab {
    /// Its name in the file.
    pub name: String,
    /// The base station, where the downlink starts.
    pub from: NodeId,
    /// The phone, where it ends.
    pub to: NodeId,
    /// Rates, intervals, delays and errors; of the catalog's kind "radio-access-bearer".
    pub technology: Named,
    /// The direction `from` → `to`.
    pub downlink: RabDirection,
    /// The direction `to` → `from`.
    pub uplink: RabDirection,
}

/// What is special about one direction of a bearer.
#[derive(Debug, Clone, PartialEq)]
pub struct RabDirection {
    /// How fast it sends; without it as the technology says. Never a link budget.
    pub rate: Option<RateModel>,
    /// How much the queue holds; without it as much as suits the rate.
    pub limit: Option<QueueLimit>,
    /// Which packets the queue drops or marks; of the catalog's kind "queue-discipline".
    pub discipline: Named,
    /// Random loss on the way.
    pub loss: Loss,
}
