//! Carrier aggregation: the legs of one UE that carry the same bearers.
//!
//! A bearer has an RLC entity on the primary leg. Transport blocks of secondary legs are filled
//! from the same RLC entity. Data that a secondary cell may carry activates that cell, which takes
//! some time. The cell is deactivated after a time without data.
//!
//! Standard: TS 38.321 §5.9; TS 36.321 §5.13.

use crate::config::{Aggregation, LegId};
use fadeout_core::{Direction, Span, Time};

/// Other legs of the UE that carry the same bearers as this leg (carrier aggregation).
#[derive(Debug, Default)]
pub(crate) struct Carriers {
    /// Legs in the SCells, if this leg is in the PCell.
    scells: Vec<LegId>,
    /// True if the SCells also have an uplink.
    have_uplink: bool,
    /// Activation of the cell, if this leg is in an SCell. `None` on other legs.
    activation: Option<Activation>,
    /// True if RLC entities are restricted to this cell. The UE then requests grants for data of
    /// these entities on this leg.
    requests_on_own_leg: bool,
}

/// Activation of a secondary cell.
#[derive(Debug)]
struct Activation {
    primary: LegId,
    activation_delay: Span,
    deactivation_timer: Option<Span>,
    /// Time at which the secondary cell is deactivated.
    active_until: Time,
}

impl Carriers {
    /// Creates the record for a leg in a secondary cell, which refers to its primary leg.
    pub(crate) fn for_secondary(primary: LegId, aggregation: &Aggregation) -> Carriers {
        Carriers {
            scells: Vec::new(),
            have_uplink: false,
            activation: Some(Activation {
                primary,
                activation_delay: aggregation.activation,
                deactivation_timer: aggregation.deactivation,
                active_until: Time::ZERO,
            }),
            requests_on_own_leg: false,
        }
    }

    /// Adds a leg in a secondary cell. `has_uplink` is true if its cell carries the uplink too.
    pub(crate) fn add(&mut self, scell: LegId, has_uplink: bool) {
        self.scells.push(scell);
        self.have_uplink = has_uplink;
    }

    /// Removes a leg in a secondary cell from the legs of this primary leg.
    pub(crate) fn remove(&mut self, scell: LegId) {
        self.scells.retain(|&other| other != scell);
    }

    /// Removes the records of all other legs.
    pub(super) fn clear(&mut self) {
        self.scells.clear();
        self.have_uplink = false;
        self.activation = None;
        self.requests_on_own_leg = false;
    }

    /// Returns true if the secondary cells of this primary leg carry data of a direction.
    pub(crate) fn carry(&self, direction: Direction) -> bool {
        direction == Direction::Downlink || self.have_uplink
    }

    /// Returns the primary leg of a secondary leg. `None` if this leg is no secondary leg.
    pub(crate) fn primary(&self) -> Option<LegId> {
        self.activation.as_ref().map(|it| it.primary)
    }

    /// Makes the UE request grants on this leg for data that is sent on this leg.
    pub(crate) fn request_on_own_leg(&mut self) {
        self.requests_on_own_leg = true;
    }

    /// Returns the leg on which the UE requests grants for this leg's data. `None` if that is this
    /// leg itself.
    pub(crate) fn requesting_leg(&self) -> Option<LegId> {
        self.primary().filter(|_| !self.requests_on_own_leg)
    }

    /// Returns the legs in secondary cells of this primary leg.
    pub(crate) fn scells(&self) -> &[LegId] {
        &self.scells
    }

    /// Handles new data for a secondary cell, which is activated if it is not active. Returns the
    /// time from which the cell can carry data. `None` if the cell is active.
    pub(super) fn on_data(&mut self, now: Time) -> Option<Time> {
        let activation = self.activation.as_mut()?;
        if now < activation.active_until {
            return None;
        }
        let active_from = now.saturating_add(activation.activation_delay);
        activation.extend(active_from);
        Some(active_from)
    }

    /// Handles a transport block on this leg, which postpones the deactivation.
    pub(super) fn on_block(&mut self, now: Time) {
        if let Some(activation) = &mut self.activation {
            activation.extend(now);
        }
    }
}

impl Activation {
    fn extend(&mut self, now: Time) {
        self.active_until = self
            .deactivation_timer
            .map_or(Time::NEVER, |timer| now.saturating_add(timer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secondary_cell_is_activated_by_data_and_deactivated_without() {
        let time_at_ms = |millis| Time::ZERO + Span::from_millis(millis);
        let mut aggregation = Aggregation::NONE;
        aggregation.deactivation = Some(Span::from_millis(40));
        let mut carriers = Carriers::for_secondary(LegId(3), &aggregation);
        assert_eq!(carriers.primary(), Some(LegId(3)));
        assert_eq!(carriers.on_data(time_at_ms(10)), Some(time_at_ms(34)));
        assert_eq!(carriers.on_data(time_at_ms(20)), None, "it is under way");
        carriers.on_block(time_at_ms(50));
        assert_eq!(carriers.on_data(time_at_ms(89)), None);
        assert_eq!(carriers.on_data(time_at_ms(90)), Some(time_at_ms(114)));
        let mut lasting = Carriers::for_secondary(LegId(3), &Aggregation::NONE);
        assert_eq!(lasting.on_data(time_at_ms(0)), Some(time_at_ms(24)));
        assert_eq!(lasting.on_data(time_at_ms(1_000_000)), None);
        assert_eq!(
            Carriers::default().on_data(time_at_ms(0)),
            None,
            "the primary cell is active"
        );
    }
}
