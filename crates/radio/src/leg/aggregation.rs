//! Carrier aggregation: the legs of one UE that carry the same bearers.
//!
//! A bearer has RLC on the primary leg; blocks of secondary legs are filled from the same RLC. A secondary cell
//! is activated when data comes that it may carry, which takes a while, and deactivated after a time
//! without any.
//!
//! Standard: TS 38.321 §5.9; TS 36.321 §5.13.

use crate::config::{Aggregation, LegId};
use fadeout_core::{Direction, Span, Time};

/// The legs that carry the same as a leg.
#[derive(Debug, Default)]
pub(crate) struct Carriers {
    /// Of the leg in the PCell: those in its SCells.
    scells: Vec<LegId>,
    /// Whether those have uplink too.
    have_uplink: bool,
    /// Of a leg in an SCell.
    activation: Option<Activation>,
    /// Whether RLC entities are kept to this cell: what waits for them is asked for apart from the rest.
    asks_apart: bool,
}

/// A secondary cell.
#[derive(Debug)]
struct Activation {
    primary: LegId,
    takes: Span,
    lasts: Option<Span>,
    /// When it is deactivated.
    active_until: Time,
}

impl Carriers {
    /// A leg in a secondary cell.
    pub(crate) fn beside(primary: LegId, aggregation: &Aggregation) -> Carriers {
        Carriers {
            scells: Vec::new(),
            have_uplink: false,
            activation: Some(Activation {
                primary,
                takes: aggregation.activation,
                lasts: aggregation.deactivation,
                active_until: Time::ZERO,
            }),
            asks_apart: false,
        }
    }

    /// A leg in a secondary cell carries the same, in the uplink too or not.
    pub(crate) fn add(&mut self, scell: LegId, has_uplink: bool) {
        self.scells.push(scell);
        self.have_uplink = has_uplink;
    }

    /// The leg in a secondary cell carries the same no more.
    pub(crate) fn remove(&mut self, scell: LegId) {
        self.scells.retain(|&other| other != scell);
    }

    /// No leg carries the same any more.
    pub(super) fn clear(&mut self) {
        self.scells.clear();
        self.have_uplink = false;
        self.activation = None;
        self.asks_apart = false;
    }

    /// Whether the secondary cells, of the primary one, carry a direction.
    pub(crate) fn carry(&self, direction: Direction) -> bool {
        direction == Direction::Downlink || self.have_uplink
    }

    /// The leg of the primary cell, of a secondary one.
    pub(crate) fn primary(&self) -> Option<LegId> {
        self.activation.as_ref().map(|it| it.primary)
    }

    /// What is sent on this leg is asked for on it.
    pub(crate) fn ask_apart(&mut self) {
        self.asks_apart = true;
    }

    /// The leg on which what is sent on this one is asked for, where that is another one.
    pub(crate) fn asks(&self) -> Option<LegId> {
        self.primary().filter(|_| !self.asks_apart)
    }

    /// The legs in secondary cells, of the primary one.
    pub(crate) fn scells(&self) -> &[LegId] {
        &self.scells
    }

    /// There is data. When the secondary cell can carry it if that takes an activation.
    pub(super) fn on_data(&mut self, now: Time) -> Option<Time> {
        let activation = self.activation.as_mut()?;
        if now < activation.active_until {
            return None;
        }
        let active_from = now.saturating_add(activation.takes);
        activation.stay(active_from);
        Some(active_from)
    }

    /// A block goes out.
    pub(super) fn on_block(&mut self, now: Time) {
        if let Some(activation) = &mut self.activation {
            activation.stay(now);
        }
    }
}

impl Activation {
    fn stay(&mut self, now: Time) {
        self.active_until = self
            .lasts
            .map_or(Time::NEVER, |lasts| now.saturating_add(lasts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secondary_cell_is_activated_by_data_and_deactivated_without() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut aggregation = Aggregation::NONE;
        aggregation.deactivation = Some(Span::from_millis(40));
        let mut carriers = Carriers::beside(LegId(3), &aggregation);
        assert_eq!(carriers.primary(), Some(LegId(3)));
        assert_eq!(carriers.on_data(at(10)), Some(at(34)));
        assert_eq!(carriers.on_data(at(20)), None, "it is under way");
        carriers.on_block(at(50));
        assert_eq!(carriers.on_data(at(89)), None);
        assert_eq!(carriers.on_data(at(90)), Some(at(114)));
        let mut lasting = Carriers::beside(LegId(3), &Aggregation::NONE);
        assert_eq!(lasting.on_data(at(0)), Some(at(24)));
        assert_eq!(lasting.on_data(at(1_000_000)), None);
        assert_eq!(
            Carriers::default().on_data(at(0)),
            None,
            "the primary cell is active"
        );
    }
}
