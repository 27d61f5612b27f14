//! States of radio resource control: when a connection is released, and how a UE comes back.

use crate::build::Builder;
use crate::keys::{RRC_TIME, TIME};
use crate::read::Fields;
use crate::shape::{Presence, Shape};
use crate::table::{nested, table};
use fadeout_core::Span;
use fadeout_core::agreed::ReleasedState;

/// The defaults of the layer.
const STATES: Presence = Presence::OfPart("rrc-states");

table! {
    /// When a UE's connection is released, and how it comes back (TS 38.331 clause 4.2.1, TS 36.331
    /// clause 4.2.1).
    #[derive(Debug, Clone, PartialEq)]
    pub struct RrcStates {
        own {}
        check = RrcStates::with_whole_frames;
        /// How long nothing may come, either way, until the connection is released.
        inactivity: Span = RRC_TIME, STATES;
        /// The state that it is released to.
        state: ReleasedState = Shape::Choice(ReleasedState::WORDS), STATES;
        /// Radio frames of 10 ms of the paging cycle T (TS 38.304 clause 7.1, TS 36.304 clause 7.1).
        paging_cycle: u32 = Shape::Integer { min: 32, max: 1024 }, STATES;
        /// Paging frames N in a cycle; the UE's own is that of its number.
        paging_frames: u32 = Shape::Integer { min: 1, max: 1024 }, STATES;
        /// From one occasion for preambles to the next.
        preamble_period: Span = RRC_TIME, Presence::OfPart("mobility-management");
        /// One way of a message of RRC over the air, with the grant for it.
        message_delay: Span = TIME, STATES;
        /// RRC processing of a setup or a resume (TS 38.331 clause 12; 15 ms in LTE, TS 36.331 clause
        /// 11.2).
        setup_delay: Span = TIME, STATES;
        /// That of the security command, in `idle` alone.
        security_delay: Span = TIME, STATES;
        /// That of the reconfiguration that adds the bearers, in `idle` alone.
        reconfiguration_delay: Span = TIME, STATES;
        /// One way between base station and core, which pages and answers the UE's first message, in
        /// `idle` alone.
        core_delay: Span = TIME, STATES;
    }
}

nested!(RrcStates);

impl RrcStates {
    fn with_whole_frames(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if !self.paging_cycle.is_multiple_of(self.paging_frames) {
            let message = format!(
                "{} paging frames in a cycle of {} radio frames",
                self.paging_frames, self.paging_cycle
            );
            let place = fields.place_of("paging-frames");
            builder.mistake(place, message, "a divisor of the cycle");
            return None;
        }
        Some(self)
    }
}
