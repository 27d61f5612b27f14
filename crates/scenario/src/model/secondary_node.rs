//! Management of the secondary node in dual connectivity.

use super::conditional::HandoverProcedure;
use super::switching::Misfit;
use super::{EventKind, MeasurementEvent, MobilityManagement};
use crate::build::Builder;
use crate::keys::RRC_TIME;
use crate::read::Fields;
use crate::shape::Presence::{Default, Required};
use crate::shape::Shape;
use crate::table::{key_table, nested, word_choice};
use fadeout_core::Span;

key_table! {
    /// Addition, change and release of the secondary node of UEs with a split bearer (TS 37.340
    /// clauses 10.2 to 10.7).
    #[derive(Debug, Clone, PartialEq)]
    pub struct SecondaryNode {
        own {}
        check = SecondaryNode::with_events;
        /// Measurement events that manage secondary nodes. `b1` adds a cell of the other
        /// generation, and `a4` adds a cell of NR. `a3` and `a5` compare other cells with the cell
        /// of the secondary node, and change the node. `a2` about the cell of the secondary node
        /// releases the node.
        events: Vec<MeasurementEvent> = Shape::List(&Shape::Table(MeasurementEvent::KEYS)), Required;
        /// Effect of a handover of the master's cell on the secondary node.
        at_handover: SecondaryAtHandover = SecondaryAtHandover::SHAPE, Default("\"keep\"");
        /// Reaction of the network to a failure of the secondary leg.
        after_failure: SecondaryAfterFailure = SecondaryAfterFailure::SHAPE, Default("\"release\"");
        /// Longest time that a UE tries to enter the cell of the secondary node (T304 of the
        /// secondary cell group).
        t304: Span = RRC_TIME, Default("\"1 s\"");
    }
}

nested!(SecondaryNode);

word_choice! {
    /// The effect of a handover on the secondary node.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SecondaryAtHandover {
        /// The secondary node is released.
        Release = "release",
        /// The secondary node stays. The handover command names its cell again. The UE enters this
        /// cell after the master's cell.
        Keep = "keep",
        /// The handover command names the cell with the best measurement, which may be the same
        /// cell as before.
        Strongest = "strongest",
    }
}

word_choice! {
    /// The reaction of the network to a failed secondary leg.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SecondaryAfterFailure {
        /// The network releases the secondary node.
        Release = "release",
        /// The UE enters the same cell again.
        Restore = "restore",
        /// The UE enters the cell with the best measurement.
        Strongest = "strongest",
    }
}

impl SecondaryNode {
    /// Returns true if the events that add a secondary node are about cells of the other
    /// generation. `None` if no event adds a node.
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
                    true => "a 3G cell as secondary node".to_owned(),
                    false => format!(
                        "event {}, which has no meaning for a secondary node",
                        event.kind.word()
                    ),
                };
                let expected = "`b1` or `a4` to add one, `a3` or `a5` to change it, or `a2` to \
                    release it";
                builder.mistake(place, message, expected);
                return None;
            }
        }
        if self.events.iter().any(|event| event.command) {
            let message = "`command` in an event about a secondary node, where it has no effect";
            builder.mistake(place, message, "the event without `command`");
            return None;
        }
        if has(EventKind::A4) && has(EventKind::B1) {
            let message = "events that add secondary nodes of both generations";
            let expected = "`b1` (LTE beside NR, or NR beside LTE) or `a4` (NR beside NR)";
            builder.mistake(place, message, expected);
            return None;
        }
        Some(self)
    }
}

impl MobilityManagement {
    /// Returns a setting that cannot be combined with `secondary-node`, because only an RRC
    /// command can name the secondary node. `None` if there is none.
    pub(super) fn misfit_of_nodes(&self) -> Option<Misfit> {
        self.secondary_node.as_ref()?;
        if self.procedure != HandoverProcedure::Plain {
            let message = "secondary nodes with another procedure than \"plain\"";
            let expected = "`procedure = \"plain\"`, or no `secondary-node`";
            return Some(("secondary-node", message, expected));
        }
        let message = "handover without random access together with secondary nodes";
        let expected = "one of `rach-less` and `secondary-node`";
        (self.rach_less.is_some()).then_some(("rach-less", message, expected))
    }
}
