//! The radio access of a scenario: all cells, UEs and bearers.
//!
//! ```text
//! on_packet ─► bearer: PDCP ─► RLC ─► leg: HARQ of one UE in one cell ─► air: does it arrive?
//!                                      ▲                                   │
//!                      cell: who gets which slot                           │
//!                                                                          │
//!      out ◄─ bearer: PDCP ◄─ RLC ◄─ leg ◄─────────────────────────────────┘
//! ```
//!
//! Cells, legs, bearers and the air are separate state machines that do not know each other.
//! [`RadioAccess`] carries packets, transport blocks and wake-ups between them. The channel is a
//! function of time, evaluated when a transport block needs it. A cell whose UEs have nothing to
//! send has no events.
//!
//! [`RadioConfig`] describes the cells, UEs and bearers. Packets belong to the caller and stay in
//! the caller's pool. [`RadioAccess::on_packet`] accepts a packet at one end of a bearer.
//! [`RadioAccess::on_wake`] returns the packet at the other end, in order, or drops the packet and
//! reports the drop.

mod build;
mod control;
mod executor;
mod mobility;
mod plane;
mod queries;
mod reach;
mod steering;
mod timetable;

pub use crate::air::{Geometry, geometry};
pub use crate::config::{
    AccessConfig, Adaptation, Aggregation, AirInterface, BeamMonitoring, BearerConfig, BicastStart,
    CarrierLegs, CellChange, CellConfig, CellHarqConfig, ConditionalConfig, ConfiguredGrant,
    DataForwarding, DedicatedRecovery, Division, EarlySync, EventKind, FirstGrant, FixedSinr,
    HighestModulation, Interface, LegChoice, LtmConfig, MOST_CANDIDATES, MOST_LEGS,
    MOST_SECONDARY_CELLS, MeasurementEvent, MeasurementGaps, MobilityConfig, Monitoring,
    PowerRamping, ProcedureConfig, RachLess, RadioConfig, RadioError, Rank, RecordedPath,
    ReleasedState, ReportedAdaptation, Sampling, Scope, SecondaryAfterFailure, SecondaryAtHandover,
    SecondaryNodeConfig, Serving, Sharing, Signalling, SplitConfig, StatesConfig, TargetTiming,
    UeConfig, UplinkPower,
};
pub use crate::plan::StretchedPeriod;
pub use crate::rrc::attach::{Unattached, Unsuited};
pub use crate::rrc::backhaul::NetworkNode;
pub use crate::rrc::policy::{
    CustomPolicy, HANDOVER_POLICIES, HandoverPolicy, Policy, Report, ReportedCell,
};
pub use crate::rrc::timetable::TimetableEntry;
pub use build::{establish_as, events_handled};
pub use plane::counters::{Counters, DirectionCounters, LegCounters};
pub use plane::moves::{Backhaul, Move};
pub use reach::{RangeExceeded, out_of_range, unattached, unconnected};
pub use steering::HandoverRequest;

use crate::bearer::Finder;
use crate::config::{Env, LegId};
use control::mobility::Mobility;
use fadeout_core::{Direction, DrbId, Motion, PacketId, PacketPool, Probe, RrcEvent, Time};
use plane::event::Event;
use plane::pass_on::pass_on;
use plane::service::Service;
use plane::serving::LegService;
use plane::stack::Stack;
use plane::states::record_ue_event;
use plane::{duplication, split};

/// Radio access of a scenario. It carries packets and events between cells, legs, bearers and the
/// air, and runs mobility management.
#[derive(Debug)]
pub struct RadioAccess {
    service: Service,
    mobility: Option<Box<Mobility>>,
}

impl RadioAccess {
    /// Returns the time of the next call of [`RadioAccess::on_wake`].
    pub fn wake_at(&self) -> Time {
        self.service.stack.events.next_at().unwrap_or(Time::NEVER)
    }

    /// Accepts an IP packet at the sending end of a bearer. The sending end is the base station for
    /// the downlink and the UE for the uplink. If the buffer is full, the packet is dropped. If the
    /// UE is idle, the packet waits until the UE is connected.
    pub fn on_packet(
        &mut self,
        now: Time,
        bearer: DrbId,
        direction: Direction,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        self.service.stack.on_bearer_changed(bearer);
        let entering = (bearer, direction, packet);
        self.service.on_packet(now, entering, pool, probe);
    }

    /// Runs all events that are due. Packets that leave a bearer at its far end go to `out`.
    pub fn on_wake<M: Motion, P: Probe>(
        &mut self,
        now: Time,
        motion: &mut M,
        pool: &mut PacketPool,
        out: &mut Vec<PacketId>,
        probe: &mut P,
    ) {
        while let Some(event) = self.service.stack.next_event(now) {
            let now = self.service.stack.events.now();
            let env = &mut Env {
                now,
                pool,
                out,
                probe,
            };
            match event {
                Event::Slot(cell, generation) => {
                    let Service { cells, stack, .. } = &mut self.service;
                    let state = &mut cells[cell.index()];
                    if state.fire(generation) {
                        let mut served = LegService {
                            cell,
                            stack,
                            motion,
                            env,
                        };
                        state.on_slot(now, &mut served);
                    }
                }
                Event::Received(leg, process, direction) => {
                    self.on_received((leg, direction, process), motion, env);
                }
                Event::Timer(bearer, direction, generation) => {
                    if self.service.stack.bearers[bearer.index()].fire(direction, generation) {
                        self.on_timer(bearer, direction, env);
                    }
                }
                Event::RepeatRequest(leg, generation) => {
                    if self.service.stack.requests[leg.index()].fire_repeat(generation)
                        && self.service.on_repeat(leg, env)
                    {
                        self.on_link_failure((leg, Finder::Ue), env);
                    }
                }
                Event::OutOfRange(leg) => self.on_out_of_range(leg, env),
                Event::CellSelection(ue) => self.service.on_cell_selection(ue, motion, env),
                Event::Mobility(ue, generation) => {
                    self.on_mobility((ue, generation), motion, env);
                }
                Event::LinkEvaluations => self.on_link_evaluations(motion, env),
                Event::EndMarker(bearer) => self.on_marker(bearer, env),
                Event::PassOn(bearer) => pass_on(&mut self.service.stack, bearer, env),
                Event::RrcMessage(ue, direction, number) => {
                    self.with_managed(ue, |managed| {
                        managed.on_arrived(direction, number, env);
                    });
                }
                Event::InactivityCheck(ue, generation) => {
                    let Service { states, stack, .. } = &mut self.service;
                    states.on_inactivity_check(now, (ue, generation), stack, env.probe);
                }
                Event::Paged(ue) => {
                    record_ue_event(now, (ue, RrcEvent::Paged), &self.service.stack, env.probe);
                }
                Event::Connected(ue) => self.service.on_reconnected(ue, env),
                Event::InterfaceReport(bearer, generation) => {
                    self.service.stack.on_interface((bearer, generation), env);
                }
                Event::SecondaryFailure(number) => self.service.on_secondary_failure(number, env),
                Event::LegReturned(leg) => self.service.on_returned(leg, env),
                Event::Duplication(bearer, legs) => {
                    duplication::set_downlink(&mut self.service, bearer, legs, env);
                }
            }
            if !self.service.stack.storage.signalled.is_empty() {
                self.on_signalling(env);
            }
            if self.service.secondary.are_known() {
                self.on_known_failures(env);
            }
        }
    }

    /// Declares a radio link failure on a leg that was out of range for too long. UEs under
    /// mobility management monitor their links themselves, so their legs are ignored.
    fn on_out_of_range(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        let config = &self.service.stack.legs[leg.index()].config;
        let (ue, is_second) = (config.ue, config.number > 0);
        let is_left = self.service.stack.ues[ue.index()].second_leg() != Some(leg);
        if is_second && is_left {
            // The UE has released the secondary leg in the same instant, so the leg does not fail.
        } else if is_second || !self.is_managed(ue) {
            self.service.fail_link((leg, Finder::Ue), env);
        }
    }

    /// Handles the end of a block's decoding at the receiver.
    fn on_received<M: Motion>(
        &mut self,
        block: (LegId, Direction, u8),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        if let Some(received) = self.service.on_received(block, motion, env) {
            if let Some((_, failed)) = received.failed {
                self.on_link_failure(failed, env);
            }
            self.service.finish_reception(received, env);
        }
    }

    /// Handles a timer at the end of a bearer that sends in `direction`.
    fn on_timer(&mut self, bearer: DrbId, direction: Direction, env: &mut Env<'_, impl Probe>) {
        let Stack {
            bearers, storage, ..
        } = &mut self.service.stack;
        bearers[bearer.index()].on_timer(direction, env, storage);
        self.service
            .stack
            .declare_lost(bearer, direction.opposite(), env);
        self.service.stack.declare_lost(bearer, direction, env);
        if let Some(failed) = self.service.failed_leg(bearer) {
            self.on_link_failure(failed, env);
        }
        self.service.stack.arm(env.now, bearer, direction);
        // RLC status reports and retransmissions are due on individual legs, so every leg is
        // checked.
        split::on_backlogs(&mut self.service, bearer, direction, env);
    }

    /// Handles a radio link failure. Mobility management handles the failure of a UE that it
    /// manages, unless the leg is secondary.
    #[cold]
    fn on_link_failure(&mut self, (leg, finder): (LegId, Finder), env: &mut Env<'_, impl Probe>) {
        let ue = self.service.stack.legs[leg.index()].config.ue;
        let is_second = self.service.stack.ues[ue.index()].second_leg() == Some(leg);
        if self.is_managed(ue) && !is_second {
            let cell = self.service.stack.legs[leg.index()].config.cell;
            self.with_managed(ue, |managed| {
                managed.with_effects(env, |state, _, effects| {
                    state.stage.on_leg_failure(cell, effects);
                });
            });
        } else {
            self.service.fail_link((leg, finder), env);
        }
    }
}
