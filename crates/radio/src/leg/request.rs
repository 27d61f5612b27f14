//! How a UE gets at the uplink of its cell: scheduling requests, configured grants, buffer status
//! reports, and asking again.
//!
//! Standard: TS 38.321 §5.4.4, §5.4.5.

use super::adaptation::fixed_uplink_scheme;
use super::{Block, Leg, stream};
use crate::config::{Adaptation, NO_SLOT, Shape};
use crate::plan::{CellPlan, status_format};
use crate::wire::BufferStatus;
use fadeout_core::{Direction, Time, UeId, Wake};

/// Occasions of a configured grant in a row of which one is in no measurement gap, unless all are.
const MOST_OCCASIONS: u64 = 512;

/// State of a UE's uplink requests, and of the base station's knowledge of its buffers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UplinkRequests {
    /// Slots from a multiple of the period to its opportunities for scheduling requests.
    offset: u32,
    /// The same for its configured grant, if it has one.
    pub(super) occasion: u32,
    pub(super) has_occasions: bool,
    /// A scheduling request is under way or waits for its opportunity, at `requested_at`, and
    /// no grant has followed.
    is_requested: bool,
    /// The opportunity of the latest one.
    requested_at: Time,
    /// When the latest one was sent, zero before the first. A request that is not needed any more
    /// before its opportunity comes is not sent.
    sent_at: Time,
    /// The form of its reports.
    pub(super) status: BufferStatus,
    /// Slots granted and not yet used.
    outstanding: u32,
    /// The bytes that the UE last reported to have left.
    reported: u64,
    /// When it asks again unless a grant comes (retxBSR-Timer).
    repeat_at: Time,
    repeat: Wake,
    /// Base station: a request was heard and not answered.
    pub(super) is_asked: bool,
    /// Base station: bytes that wait, as far as reports told, less what was granted since.
    pub(super) known: u64,
    /// Base station: bytes of the largest block that came back without data though data waited
    /// that is not cut. Zero once a block brings some.
    pub(super) unfit: u32,
    /// Base station: all bytes granted so far.
    granted: u64,
    /// Of them those whose slot has come.
    begun: u64,
    /// Base station: `begun` as of the latest block with a report.
    reported_begun: u64,
    /// Scheduling requests so far.
    sent: u64,
    /// Scheduling requests sent since the last grant that was used.
    unanswered: u32,
}

/// A scheduling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// When it is sent.
    pub slot: u64,
    /// The first slot in which the base station may answer.
    pub answered_from: u64,
}

/// The outcome of the time at which a UE would ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// The timer was postponed: wait until then.
    Later,
    /// A grant is on its way.
    No,
    /// It asks again if it has something.
    Ask,
    /// It has asked often enough: the radio link has failed.
    GiveUp,
}

impl UplinkRequests {
    /// Of a UE that connects to a cell, on the `nth` leg that it ever had.
    pub(crate) fn new(ue: UeId, nth: u64, plan: &CellPlan, seed: u64) -> UplinkRequests {
        let mut offsets = stream(seed, "radio.request", ue, nth);
        let drawn = plan.requests.offset(offsets.below(plan.requests.offsets()));
        let given = plan.config.requests.offset;
        let offset = given.map_or(drawn, |offset| plan.requests.offset_from(offset));
        let grants = plan.grants.as_ref();
        let occasion = grants.map_or(0, |grants| grants.offset(u64::from(ue.0)));
        UplinkRequests::unasked(offset, occasion, status_format(plan.config.air))
    }

    /// Nothing asked and nothing known.
    fn unasked(offset: u32, occasion: u32, status: BufferStatus) -> UplinkRequests {
        UplinkRequests {
            offset,
            occasion,
            has_occasions: false,
            is_requested: false,
            requested_at: Time::ZERO,
            sent_at: Time::ZERO,
            status,
            outstanding: 0,
            reported: 0,
            repeat_at: Time::ZERO,
            repeat: Wake::default(),
            is_asked: false,
            known: 0,
            unfit: 0,
            granted: 0,
            begun: 0,
            reported_begun: 0,
            sent: 0,
            unanswered: 0,
        }
    }

    /// The UE has several carriers in the uplink.
    pub(crate) fn aggregate(&mut self) {
        if self.status == BufferStatus::Lte {
            self.status = BufferStatus::LteExtended;
        }
    }

    /// The form of its reports.
    pub(crate) fn status(&self) -> BufferStatus {
        self.status
    }

    /// Nothing is under way any more, and nothing known. sr-ProhibitTimer stops.
    ///
    /// Standard: TS 38.321 §5.12.
    pub(crate) fn reset(&mut self) {
        *self = UplinkRequests {
            has_occasions: self.has_occasions,
            repeat_at: self.repeat_at,
            repeat: self.repeat,
            granted: self.granted,
            begun: self.granted,
            reported_begun: self.granted,
            sent: self.sent,
            ..UplinkRequests::unasked(self.offset, self.occasion, self.status)
        };
    }

    /// A block of `bytes` is granted.
    pub(super) fn on_grant(&mut self, bytes: u32) {
        self.is_asked = false;
        self.outstanding += 1;
        self.known = self.known.saturating_sub(u64::from(bytes));
        self.granted += u64::from(bytes);
    }

    /// A block of `bytes` that was granted is void before its slot has come.
    pub(crate) fn on_void(&mut self, bytes: u32) {
        self.begun += u64::from(bytes);
        debug_assert!(self.outstanding > 0, "a grant is void that never was");
        self.outstanding -= 1;
        self.assert_invariants();
    }

    /// Asserts the order of the bytes reported, begun and granted.
    fn assert_invariants(&self) {
        debug_assert!(
            self.begun <= self.granted,
            "{} bytes of grants began, of {}",
            self.begun,
            self.granted
        );
        debug_assert!(
            self.reported_begun <= self.begun,
            "a report counts {} bytes of grants begun, and {} were",
            self.reported_begun,
            self.begun
        );
    }

    /// The granted slot of a block of `bytes` is there, which `takes` some; `left` bytes stay behind. When
    /// the UE sent the request that it answers, if it does.
    pub(super) fn on_granted_slot(
        &mut self,
        plan: &CellPlan,
        now: Time,
        (bytes, takes, left): (u32, bool, u64),
    ) -> Option<Time> {
        self.begun += u64::from(bytes);
        let requested_at = self.end_request(now);
        if takes || left == 0 {
            self.unanswered = 0;
        }
        debug_assert!(self.outstanding > 0, "a grant begins that never was");
        self.assert_invariants();
        self.outstanding -= 1;
        self.reported = left;
        if left > 0 {
            self.repeat_at = now.saturating_add(plan.config.requests.repeat_after);
        }
        requested_at
    }

    /// A request that is under way is not needed any more. When it was sent, if it was.
    ///
    /// Standard: TS 38.321 §5.4.4.
    fn end_request(&mut self, now: Time) -> Option<Time> {
        if !std::mem::take(&mut self.is_requested) {
            return None;
        }
        if self.requested_at > now {
            self.sent -= 1;
            self.unanswered = self.unanswered.saturating_sub(1);
            return None;
        }
        self.sent_at = self.requested_at;
        Some(self.sent_at)
    }

    /// All bytes granted so far whose slot has come. Grants of several cells come in another order than
    /// they were given.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// The base station reads a report of `status` bytes in the block with which this many bytes had
    /// [begun](Self::begun). Whether there was no later one.
    pub(super) fn on_report(&mut self, status: u64, begun: u64) -> bool {
        debug_assert!(
            begun <= self.granted,
            "a report of {begun} bytes begun, of {} granted",
            self.granted
        );
        let is_latest = begun > self.reported_begun;
        if is_latest {
            self.reported_begun = begun;
            let to_come = self.granted - begun;
            self.known = status.saturating_sub(to_come);
        }
        is_latest
    }

    /// Whether the base station knows that something waits.
    pub(crate) fn is_known(&self) -> bool {
        self.known > 0
    }

    /// Whether a block of `bytes` would come back empty again: what waits at the UE is not cut.
    pub(crate) fn is_unfit(&self, bytes: u32) -> bool {
        self.unfit > 0 && bytes <= self.unfit
    }

    /// A larger block than those that came back empty cannot be had now: later they are tried again.
    pub(crate) fn forget_unfit(&mut self) {
        self.unfit = 0;
    }

    /// Whether the cell keeps occasions of the configured grant free for the UE.
    pub(crate) fn has_occasions(&self) -> bool {
        self.has_occasions
    }

    /// The UE's offset for occasions of the configured grant, in slots.
    pub(crate) fn occasion(&self) -> u32 {
        self.occasion
    }

    /// The cell keeps its occasions of the configured grant free.
    pub(crate) fn keep_occasions(&mut self) {
        self.has_occasions = true;
    }

    /// The UE leaves the cell.
    pub(crate) fn leave(&mut self) {
        self.reset();
        self.has_occasions = false;
    }

    /// A block of `bytes` was too small for what waits, `status` bytes in all: none of it will go in
    /// what was granted since by the same reckoning.
    pub(super) fn on_unfit(&mut self, status: u64, bytes: u32) {
        self.unfit = self.unfit.max(bytes);
        self.known = status;
    }

    /// Whether the base station knows or will learn that something waits, so that the UE need not
    /// ask.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_requested || self.outstanding > 0 || self.reported > 0
    }

    /// Scheduling requests so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// When to call [`UplinkRequests::on_repeat`], and the generation of that wake-up; none when an
    /// earlier one is pending.
    pub(crate) fn arm_repeat(&mut self) -> Option<(Time, u32)> {
        let at = self.repeat_at;
        self.repeat.arm(at).map(|generation| (at, generation))
    }

    /// Whether a wake-up to ask again is the one that was armed last.
    pub(crate) fn fire_repeat(&mut self, generation: u32) -> bool {
        self.repeat.fire(generation)
    }

    /// A UE that was not granted anything for long asks again.
    pub(crate) fn on_repeat(&mut self, plan: &CellPlan, now: Time) -> Repeat {
        if self.repeat_at > now {
            return Repeat::Later;
        }
        if self.outstanding > 0 {
            return Repeat::No;
        }
        if self.unanswered >= plan.config.requests.most {
            return Repeat::GiveUp;
        }
        self.end_request(now);
        self.reported = 0;
        Repeat::Ask
    }
}

impl Leg {
    /// Sends a scheduling request at the next opportunity. The UE asks again at
    /// [`UplinkRequests::arm_repeat`].
    pub(crate) fn request(
        &mut self,
        requests: &mut UplinkRequests,
        plan: &CellPlan,
        now: Time,
    ) -> Request {
        requests.end_request(now);
        let config = &plan.config.requests;
        let prohibited_until = match requests.sent_at {
            Time::ZERO => Time::ZERO,
            latest => latest.saturating_add(config.prohibit),
        };
        let earliest = now.max(prohibited_until).max(self.unserved_until);
        let slot = self.opportunity_from(plan, requests.offset, plan.frame.slot_from(earliest));
        let asked_at = plan.frame.start_of(slot);
        requests.sent += 1;
        requests.unanswered += 1;
        requests.is_requested = true;
        requests.is_asked = true;
        requests.requested_at = asked_at;
        requests.repeat_at = asked_at.saturating_add(config.repeat_after);
        self.stay_awake(plan, asked_at);
        Request {
            slot,
            answered_from: plan.config.timing.grant_slot(&plan.frame, slot),
        }
    }

    /// The first opportunity for a request from `slot` on in no measurement gap. Where gaps take
    /// them all, it is the first slot with PUCCH symbols behind the first one's gap.
    fn opportunity_from(&self, plan: &CellPlan, offset: u32, slot: u64) -> u64 {
        let with_symbols = |mut slot: u64| {
            let last = slot + plan.frame.pattern_slots();
            while slot < last && !plan.config.timing.carries_request(&plan.frame, slot) {
                slot += 1;
            }
            slot
        };
        let opportunity = |slot| plan.requests.from(slot, offset).unwrap_or(slot);
        let is_clear = |slot| self.clear_from(slot, Direction::Uplink) == slot;
        let first = opportunity(slot);
        let mut slot = first;
        for _ in 0..=plan.frame_period() {
            if is_clear(slot) {
                return slot;
            }
            slot = opportunity(slot + 1);
        }
        slot = first;
        for _ in 0..plan.frame_period() {
            slot = with_symbols(self.clear_from(slot, Direction::Uplink));
            if is_clear(slot) {
                break;
            }
        }
        slot
    }

    /// Takes the next occasion of the configured grant from `first_slot` on, if there is one: its
    /// slot and process. The UE waits for one with uplink symbols.
    ///
    /// Standard: TS 38.321 §5.8.2.
    pub(crate) fn use_configured_grant(
        &mut self,
        requests: &mut UplinkRequests,
        plan: &CellPlan,
        now: Time,
        first_slot: u64,
    ) -> Option<(u64, u8)> {
        let grant = plan.config.configured_grant?;
        if !requests.has_occasions {
            return None;
        }
        // `NO_SLOT` stands for a process that is busy for a time not known yet.
        let process = self.up.harq.free(NO_SLOT - 1)?;
        let occasions = plan.grants.as_ref()?;
        let earliest = plan.frame.slot_from(now.max(self.unserved_until));
        let occasion_from = |slot| occasions.from(slot, requests.occasion);
        let mut slot = occasion_from(earliest.max(first_slot))?;
        let mut tried = 0;
        while self.clear_from(slot, Direction::Uplink) != slot {
            tried += 1;
            if tried == MOST_OCCASIONS {
                return None;
            }
            slot = occasion_from(slot + 1)?;
        }
        let symbols = plan.uplink_symbols(slot);
        let units = grant.units.min(plan.up.units(symbols));
        let scheme = match plan.config.adaptation {
            Adaptation::Reports(_) => grant.scheme as u8,
            _ => fixed_uplink_scheme(plan),
        };
        let bytes = plan.up.bytes(symbols, usize::from(scheme), units);
        if bytes == 0 {
            return None;
        }
        let shape = Shape {
            scheme,
            symbols,
            units,
            bytes,
            ..Shape::default()
        };
        let block = Block { shape, cqi: 0 };
        self.grant(requests, plan, (process, block), slot);
        Some((slot, process))
    }
}
