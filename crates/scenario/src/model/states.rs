//! RRC states: release of a UE's connection, and its return to the connected state.

use crate::build::Builder;
use crate::keys::{RRC_TIME, TIME};
use crate::read::Fields;
use crate::shape::{Presence, Shape};
use crate::table::{key_table, nested};
use fadeout_core::Span;
use fadeout_core::agreed::ReleasedState;

/// Presence of keys whose default value is that of the radio layer.
const STATES: Presence = Presence::OfPart("rrc-states");

key_table! {
    /// Release of a UE's RRC connection, and return of the UE to the connected state (TS 38.331
    /// clause 4.2.1, TS 36.331 clause 4.2.1).
    #[derive(Debug, Clone, PartialEq)]
    pub struct RrcStates {
        own {}
        check = RrcStates::with_whole_frames;
        /// Time without data in both directions after which the base station releases the
        /// connection.
        inactivity: Span = RRC_TIME, STATES;
        /// RRC state of the UE after the release.
        state: ReleasedState = Shape::Choice(ReleasedState::WORDS), STATES;
        /// Paging cycle T, in radio frames of 10 ms (TS 38.304 clause 7.1, TS 36.304 clause 7.1).
        paging_cycle: u32 = Shape::Integer { min: 32, max: 1024 }, STATES;
        /// Number N of paging frames in a paging cycle. The UE's number determines its own paging
        /// frame.
        paging_frames: u32 = Shape::Integer { min: 1, max: 1024 }, STATES;
        /// Time between two occasions for random access preambles.
        preamble_period: Span = RRC_TIME, Presence::OfPart("mobility-management");
        /// One-way delay of an RRC message over the air, including the wait for its grant.
        message_delay: Span = TIME, STATES;
        /// RRC processing time of a setup or a resume (TS 38.331 clause 12). It is 15 ms in LTE (TS
        /// 36.331 clause 11.2).
        setup_delay: Span = TIME, STATES;
        /// RRC processing time of the security command. Only a return from `idle` has this command.
        security_delay: Span = TIME, STATES;
        /// RRC processing time of the reconfiguration that adds the bearers. Only a return from
        /// `idle` has this reconfiguration.
        reconfiguration_delay: Span = TIME, STATES;
        /// One-way delay between base station and core network. The core network pages the UE and
        /// answers its first message. Only a return from `idle` has this delay.
        core_delay: Span = TIME, STATES;
    }
}

nested!(RrcStates);

impl RrcStates {
    fn with_whole_frames(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if !self.paging_cycle.is_multiple_of(self.paging_frames) {
            let message = format!(
                "{} paging frames do not divide a cycle of {} radio frames",
                self.paging_frames, self.paging_cycle
            );
            let place = fields.place_of("paging-frames");
            builder.mistake(place, message, "a divisor of the cycle");
            return None;
        }
        Some(self)
    }
}
