//! Uplink access of a UE: scheduling requests and their repetition, configured grants and buffer
//! status reports.
//!
//! Standard: TS 38.321 §5.4.4, §5.4.5.

use super::adaptation::fixed_uplink_scheme;
use super::{Block, Leg, stream};
use crate::config::{Adaptation, NO_SLOT, Shape};
use crate::plan::{CellPlan, status_format};
use crate::wire::BufferStatus;
use fadeout_core::{Direction, Time, UeId, Wake};

/// Maximum number of consecutive occasions of a configured grant to search. At least one of them is
/// outside all measurement gaps, unless the gaps cover every occasion.
const MOST_OCCASIONS: u64 = 512;

/// State of a UE's uplink requests, and of the base station's knowledge of its buffers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UplinkRequests {
    /// Number of slots from a multiple of the period to the UE's opportunities for scheduling
    /// requests.
    offset: u32,
    /// Number of slots from a multiple of the period to the UE's occasions of the configured grant.
    /// Zero without a configured grant.
    pub(super) occasion: u32,
    pub(super) has_occasions: bool,
    /// True if a scheduling request was sent or waits for its opportunity at `requested_at`, and no
    /// grant has followed yet.
    is_requested: bool,
    /// Time of the opportunity of the latest request.
    requested_at: Time,
    /// Time at which the latest request was sent. Zero before the first request. A request that
    /// becomes unnecessary before its opportunity is not sent.
    sent_at: Time,
    /// Format of the buffer status reports.
    pub(super) status: BufferStatus,
    /// Number of uplink grants that are not used yet.
    outstanding: u32,
    /// Bytes that remained in the UE's buffers according to its latest report.
    reported: u64,
    /// Time at which the UE sends another request if it gets no grant (retxBSR-Timer).
    repeat_at: Time,
    repeat: Wake,
    /// True if the base station received a request and has not answered it.
    pub(super) is_asked: bool,
    /// Bytes that wait at the UE, as far as the base station knows. This is the reported bytes
    /// minus the bytes granted since the report.
    pub(super) known: u64,
    /// Size in bytes of the largest transport block that returned without data although data waited
    /// that did not fit. The base station knows this size. Zero after a block with data.
    pub(super) unfit: u32,
    /// Bytes that the base station has granted so far.
    granted: u64,
    /// Total bytes of uplink grants whose slots have come.
    begun: u64,
    /// Value of `begun` at the latest transport block with a buffer status report.
    reported_begun: u64,
    /// Number of scheduling requests so far.
    sent: u64,
    /// Scheduling requests since the last grant that was used.
    unanswered: u32,
}

/// Scheduling request of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// Slot in which the request is sent.
    pub slot: u64,
    /// First slot in which the base station may answer.
    pub answered_from: u64,
}

/// Action of a UE at the time when it would repeat its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// The repetition was postponed, so the UE waits and sends no request now.
    Later,
    /// A grant is on its way, so the UE sends no request.
    No,
    /// The UE repeats its request if it has data.
    Ask,
    /// The UE has made the maximum number of requests, so the radio link has failed.
    GiveUp,
}

impl UplinkRequests {
    /// Creates the state for a UE that connects to a cell. `nth` is the number of the UE's leg,
    /// counted over the whole run.
    pub(crate) fn new(ue: UeId, nth: u64, plan: &CellPlan, seed: u64) -> UplinkRequests {
        let mut offsets = stream(seed, "radio.request", ue, nth);
        let drawn = plan.requests.offset(offsets.below(plan.requests.offsets()));
        let given = plan.config.requests.offset;
        let offset = given.map_or(drawn, |offset| plan.requests.offset_from(offset));
        let grants = plan.grants.as_ref();
        let occasion = grants.map_or(0, |grants| grants.offset(u64::from(ue.0)));
        UplinkRequests::without_requests(offset, occasion, status_format(plan.config.air))
    }

    /// Creates the state without requests and without known data.
    fn without_requests(offset: u32, occasion: u32, status: BufferStatus) -> UplinkRequests {
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

    /// Sets the buffer status report format of a UE with several uplink carriers.
    pub(crate) fn aggregate(&mut self) {
        if self.status == BufferStatus::Lte {
            self.status = BufferStatus::LteExtended;
        }
    }

    /// Returns the format of the UE's buffer status reports.
    pub(crate) fn status(&self) -> BufferStatus {
        self.status
    }

    /// Resets requests and the known buffer status at a MAC reset. sr-ProhibitTimer stops.
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
            ..UplinkRequests::without_requests(self.offset, self.occasion, self.status)
        };
    }

    /// Records a grant of a transport block of `bytes`.
    pub(super) fn on_grant(&mut self, bytes: u32) {
        self.is_asked = false;
        self.outstanding += 1;
        self.known = self.known.saturating_sub(u64::from(bytes));
        self.granted += u64::from(bytes);
    }

    /// Cancels the grant of a transport block of `bytes` before its slot.
    pub(crate) fn on_void(&mut self, bytes: u32) {
        self.begun += u64::from(bytes);
        debug_assert!(self.outstanding > 0, "a grant is void that never was");
        self.outstanding -= 1;
        self.assert_invariants();
    }

    /// Asserts that the reported, begun and granted bytes are in ascending order.
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

    /// Handles the slot of a granted transport block of `bytes`. `carries_data` is true if the
    /// block carries data, and `left` bytes remain. Returns the time of the scheduling request that
    /// led to the grant. `None` if no request led to the grant.
    pub(super) fn on_granted_slot(
        &mut self,
        plan: &CellPlan,
        now: Time,
        (bytes, carries_data, left): (u32, bool, u64),
    ) -> Option<Time> {
        self.begun += u64::from(bytes);
        let requested_at = self.end_request(now);
        if carries_data || left == 0 {
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

    /// Ends a request that is no longer needed. Returns the time at which the request was sent.
    /// `None` if there was no request, or if the request was not sent.
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

    /// Returns the total bytes of grants whose slots have come. Grants of several cells may be used
    /// in another order than the base station gave them.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// Handles a report of `status` bytes at the base station. `begun` is the value of
    /// [`begun`](Self::begun) for the transport block with the report. Returns false if a report
    /// from a later slot arrived earlier.
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

    /// Returns true if the base station knows that data waits.
    pub(crate) fn is_known(&self) -> bool {
        self.known > 0
    }

    /// Returns true if a transport block of `bytes` would return empty, because the waiting data
    /// cannot be segmented and does not fit.
    pub(crate) fn is_unfit(&self, bytes: u32) -> bool {
        self.unfit > 0 && bytes <= self.unfit
    }

    /// Forgets the size of blocks that returned empty, because the cell can grant no larger block
    /// now. Blocks of this size are then granted again.
    pub(crate) fn forget_unfit(&mut self) {
        self.unfit = 0;
    }

    /// Returns true if the cell reserves occasions of the configured grant for the UE.
    pub(crate) fn has_occasions(&self) -> bool {
        self.has_occasions
    }

    /// Returns the UE's offset for occasions of the configured grant, in slots.
    pub(crate) fn occasion(&self) -> u32 {
        self.occasion
    }

    /// Reserves the UE's occasions of the configured grant.
    pub(crate) fn keep_occasions(&mut self) {
        self.has_occasions = true;
    }

    /// Resets the state when the UE leaves the cell.
    pub(crate) fn leave(&mut self) {
        self.reset();
        self.has_occasions = false;
    }

    /// Records that a transport block of `bytes` was too small for the waiting data of `status`
    /// bytes. Blocks that were granted since then will also return empty. So the base station still
    /// has to grant all `status` bytes.
    pub(super) fn on_unfit(&mut self, status: u64, bytes: u32) {
        self.unfit = self.unfit.max(bytes);
        self.known = status;
    }

    /// Returns true if the UE need not send a request, because the base station knows or will learn
    /// that data waits.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_requested || self.outstanding > 0 || self.reported > 0
    }

    /// Returns the number of scheduling requests so far.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the time at which to call [`UplinkRequests::on_repeat`], and the generation of that
    /// wake-up. `None` if an earlier wake-up is already pending.
    pub(crate) fn arm_repeat(&mut self) -> Option<(Time, u32)> {
        let at = self.repeat_at;
        self.repeat.arm(at).map(|generation| (at, generation))
    }

    /// Returns true if the wake-up with this generation is the one that was armed last.
    pub(crate) fn fire_repeat(&mut self, generation: u32) -> bool {
        self.repeat.fire(generation)
    }

    /// Handles the timer after which a UE without a grant requests again.
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
    /// Sends a scheduling request at the next opportunity. If no grant follows, the UE repeats the
    /// request at the time of [`UplinkRequests::arm_repeat`].
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

    /// Returns the first opportunity for a request that is not before `slot` and lies outside
    /// measurement gaps. If gaps cover all opportunities, returns the first slot with PUCCH symbols
    /// after the gap of the first opportunity.
    fn opportunity_from(&self, plan: &CellPlan, offset: u32, slot: u64) -> u64 {
        let with_symbols = |mut slot: u64| {
            let last = slot + plan.frame.pattern_slots();
            while slot < last && !plan.config.timing.carries_request(&plan.frame, slot) {
                slot += 1;
            }
            slot
        };
        let opportunity = |slot| plan.requests.next_from(slot, offset).unwrap_or(slot);
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

    /// Uses the UE's next occasion of the configured grant from `first_slot` on. Returns the
    /// occasion's slot and HARQ process. `None` if there is no such occasion, or if its block has
    /// no space for data.
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
        // `NO_SLOT` marks a process that is busy for an unknown time. Every other process is free
        // by that slot.
        let process = self.up.harq.free(NO_SLOT - 1)?;
        let occasions = plan.grants.as_ref()?;
        let earliest = plan.frame.slot_from(now.max(self.unserved_until));
        let occasion_from = |slot| occasions.next_from(slot, requests.occasion);
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
