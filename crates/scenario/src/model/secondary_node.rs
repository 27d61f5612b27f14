//! The secondary node of dual connectivity, as the network manages it.

use super::conditional::HandoverProcedure;
use super::switching::Misfit;
use super::{EventKind, MeasurementEvent, MobilityManagement};
use crate::build::Builder;
use crate::keys::RRC_TIME;
use crate::read::Fields;
use crate::shape::Presence::{Default, Required};
use crate::shape::Shape;
use crate::table::{nested, table, words};
use fadeout_core::Span;

table! {
    /// How UEs with a split bearer come to a secondary node, change it and lose it (TS 37.340 clauses 10.2 to 10.7).
    #[derive(Debug, Clone, PartialEq)]
    pub struct SecondaryNode {
        own {}
        check = SecondaryNode::with_events;
        /// What UEs measure for it. A report of b1 about a cell of the other generation, or of a4 about one of NR, adds
        /// it; a3 and a5 compare others with the cell of the secondary node, and change it; a2 about that releases it.
        events: Vec<MeasurementEvent> = Shape::List(&Shape::Table(MeasurementEvent::KEYS)), Required;
        /// What a handover of the master's cell makes of it.
        at_handover: SecondaryAtHandover = SecondaryAtHandover::SHAPE, Default("\"keep\"");
        /// What the network does when the leg has failed.
        after_failure: SecondaryAfterFailure = SecondaryAfterFailure::SHAPE, Default("\"release\"");
        /// How long a UE tries to enter its cell (T304 of the secondary cell group).
        t304: Span = RRC_TIME, Default("\"1 s\"");
    }
}

nested!(SecondaryNode);

words! {
    /// What a handover makes of the secondary node.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SecondaryAtHandover {
        /// it is released
        Release = "release",
        /// it stays: the command names its cell again, which the UE enters after the master's
        Keep = "keep",
        /// the command names the cell that is measured best, which may be the same
        Strongest = "strongest",
    }
}

words! {
    /// What the network does about a failed secondary leg.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SecondaryAfterFailure {
        /// it releases the node
        Release = "release",
        /// the UE enters the same cell again
        Restore = "restore",
        /// it enters the cell that is measured best
        Strongest = "strongest",
    }
}

impl SecondaryNode {
    /// Whether the events that add a node are about cells of the other generation; none without such.
    pub fn adds_other_generation(&self) -> Option<bool> {
        let mut kinds = self.events.iter().map(|event| event.kind);
        kinds.find_map(|kind| match kind {
            EventKind::B1 => Some(true),
            EventKind::A4 => Some(false),
            _ => None,
        })
    }

    fn with_events(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let place = fields.place_of("events");
        let has = |kind| self.events.iter().any(|event| event.kind == kind);
        for event in &self.events {
            let is_known = matches!(
                event.kind,
                EventKind::A2 | EventKind::A3 | EventKind::A4 | EventKind::A5 | EventKind::B1
            );
            if !is_known || event.is_to_utra() {
                let message = match event.is_to_utra() {
                    true => "a secondary node of 3G".to_owned(),
                    false => format!(
                        "event {}, which says nothing of a secondary node",
                        event.kind.word()
                    ),
                };
                let expected = "`b1` or `a4`, which add one, `a3` or `a5`, which change it, or `a2`, which releases it";
                builder.mistake(place, message, expected);
                return None;
            }
        }
        if self.events.iter().any(|event| event.command) {
            let message =
                "`command` in an event about a secondary node, which commands no handover";
            builder.mistake(place, message, "the event without it");
            return None;
        }
        if has(EventKind::A4) && has(EventKind::B1) {
            let message = "secondary nodes of either generation";
            let expected = "`b1` (LTE beside NR, or NR beside LTE) or `a4` (NR beside NR)";
            builder.mistake(place, message, expected);
            return None;
        }
        Some(self)
    }
}

impl MobilityManagement {
    /// What does not fit secondary nodes that come and go: only commands of RRC name one.
    pub(super) fn misfit_of_nodes(&self) -> Option<Misfit> {
        self.secondary_node.as_ref()?;
        if self.procedure != HandoverProcedure::Plain {
            let message =
                "secondary nodes that come and go, but UEs change cell by another procedure";
            let expected = "`procedure = \"plain\"`, or without it";
            return Some(("secondary-node", message, expected));
        }
        let message = "handover without random access beside secondary nodes that come and go";
        let expected = "one of `rach-less` and `secondary-node`";
        (self.rach_less.is_some()).then_some(("rach-less", message, expected))
    }
}
