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
//! Cells, legs, bearers and the air are machines of their own that know nothing of each other;
//! [`RadioAccess`] carries packets, blocks and wake-ups between them. What the channel does is a
//! function of time, asked for when a transport block needs it, and a cell whose UEs have nothing to
//! send has no events.
//!
//! [`RadioConfig`] says what there is. Uplink and downlink packets are the caller's, in its pool:
//! [`RadioAccess::on_packet`] takes one at one end of a bearer, and [`RadioAccess::on_wake`] gives it
//! back at the other, in order, or drops it and says so.

mod arrival;
mod attach;
mod backhaul;
mod beam_failure;
mod build;
mod capture;
mod carriers;
mod conditional;
mod counters;
mod daps;
mod duplication;
mod failure;
mod gaps;
mod handover;
mod looks;
mod ltm;
mod managed;
mod measure;
mod mobility;
mod moves;
mod rach_less;
mod rates;
mod reach;
mod reception;
mod scg;
mod secondary;
mod service;
mod serving;
mod split;
mod stack;
mod states;
mod utra;

pub use crate::air::{Geometry, geometry};
pub use crate::config::{
    AccessConfig, Adaptation, Aggregation, AirInterface, BeamMonitoring, BearerConfig, BicastStart,
    CarrierLegs, CellConfig, CellHarqConfig, ConditionalConfig, ConfiguredGrant, DataForwarding,
    DedicatedRecovery, Division, EarlySync, EventKind, FirstGrant, FixedSinr, Interface, LegChoice,
    LtmConfig, MOST_CANDIDATES, MOST_LEGS, MOST_SECONDARY_CELLS, MeasurementEvent, MeasurementGaps,
    MobilityConfig, Monitoring, PowerRamping, ProcedureConfig, RachLess, RadioConfig, RadioError,
    Rank, RecordedPath, ReleasedState, ReportedAdaptation, Sampling, Scope, SecondaryAfterFailure,
    SecondaryAtHandover, SecondaryNodeConfig, Serving, Sharing, Signalling, SplitConfig,
    StatesConfig, TargetTiming, UeConfig, UplinkPower,
};
pub use crate::plan::StretchedPeriod;
pub use crate::rrc::attach::{Unattached, Unsuited};
pub use crate::rrc::backhaul::Place;
pub use crate::rrc::policy::{
    CustomPolicy, HANDOVER_POLICIES, HandoverPolicy, Policy, Report, ReportedCell,
};
pub use attach::unattached;
pub use build::{establish_as, handled};
pub use counters::{Counters, DirectionCounters, LegCounters};
pub use moves::{Backhaul, Move};
pub use reach::{Unreached, unreached};

use crate::bearer::Finder;
use crate::config::{Env, LegId};
use fadeout_core::{
    CellId, Direction, DrbId, Motion, PacketId, PacketPool, Probe, RrcEvent, Time, UeId,
};
use service::Service;
use stack::Stack;
use utra::Utran;

/// The radio access: carries packets and events between cells, legs, bearers and the air, and lets
/// mobility management see to what it manages.
#[derive(Debug)]
pub struct RadioAccess {
    service: Service,
    mobility: Option<Box<mobility::Mobility>>,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A slot of a cell that may have something to do.
    Slot(CellId, u32),
    /// The receiver has a transport block.
    Received(LegId, u8, Direction),
    /// A timer of one end of a bearer, the one that sends in this direction.
    Timer(DrbId, Direction, u32),
    /// A UE without a grant may ask again.
    Repeat(LegId, u32),
    /// The downlink of a leg was out of range for too long.
    OutOfRange(LegId),
    /// A UE looks for its cell.
    Attach(UeId),
    /// The mobility of a UE is due.
    Mobility(UeId, u32),
    /// UEs look at their links.
    Looks,
    /// An end marker of a bearer is at the target.
    Marker(DrbId),
    /// Packets of a bearer whose UE is in a cell of 3G go on.
    Abroad(DrbId),
    /// A message of RRC of a UE in a cell of 3G, with this number, is there.
    Letter(UeId, Direction, u64),
    /// Nothing may have come to or from a UE for long.
    Quiet(UeId, u32),
    /// A UE is paged.
    Paged(UeId),
    /// A UE is connected again.
    Opened(UeId),
    /// Something is due between the base stations of a split bearer.
    Interface(DrbId, u32),
    /// A failure of a secondary leg, by its number, is to be told again, or is known.
    Secondary(u64),
    /// A secondary leg that had failed carries again.
    Returned(LegId),
    /// A base station activates duplication of a bearer for these legs, a bit for each number, and for no others.
    Duplication(DrbId, u8),
}

impl RadioAccess {
    /// When [`RadioAccess::on_wake`] wants to be called next.
    pub fn wake_at(&self) -> Time {
        self.service.stack.events.next_at().unwrap_or(Time::NEVER)
    }

    /// An IP packet enters a bearer: at the base station for the downlink, at the UE for the
    /// uplink. A packet that finds the buffer full is dropped, one whose UE is idle waits for it.
    pub fn on_packet(
        &mut self,
        now: Time,
        bearer: DrbId,
        direction: Direction,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let entering = (bearer, direction, packet);
        self.service.on_packet(now, entering, pool, probe);
    }

    /// Lets everything happen that is due. Packets that leave a bearer at its far end go to `out`.
    pub fn on_wake<M: Motion, P: Probe>(
        &mut self,
        now: Time,
        motion: &mut M,
        pool: &mut PacketPool,
        out: &mut Vec<PacketId>,
        probe: &mut P,
    ) {
        while let Some(event) = self.service.stack.events.take(now) {
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
                        let mut served = serving::Serving {
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
                Event::Repeat(leg, generation) => {
                    if self.service.stack.requests[leg.index()].fire_repeat(generation)
                        && self.service.on_repeat(leg, env)
                    {
                        self.on_link_failure((leg, Finder::Ue), env);
                    }
                }
                Event::OutOfRange(leg) => {
                    // Mobility management monitors links by itself.
                    let ue = self.service.stack.legs[leg.index()].config.ue;
                    let is_second = self.service.stack.legs[leg.index()].config.number > 0;
                    let is_left = self.service.stack.ues[ue.index()].second_leg() != Some(leg);
                    if is_second && is_left {
                        // Its UE left it at the same time.
                    } else if is_second || !self.is_managed(ue) {
                        self.service.fail_link((leg, Finder::Ue), env);
                    }
                }
                Event::Attach(ue) => self.service.on_attach(ue, motion, env),
                Event::Mobility(ue, generation) => {
                    self.on_mobility((ue, generation), motion, env);
                }
                Event::Looks => self.on_looks(motion, env),
                Event::Marker(bearer) => self.on_marker(bearer, env),
                Event::Abroad(bearer) => utra::pass_on(&mut self.service.stack, bearer, env),
                Event::Letter(ue, direction, number) => {
                    self.with_managed(ue, |managed| {
                        Utran(managed).on_letter(direction, number, env);
                    });
                }
                Event::Quiet(ue, generation) => {
                    let Service { states, stack, .. } = &mut self.service;
                    states.on_quiet(now, (ue, generation), stack, env.probe);
                }
                Event::Paged(ue) => {
                    states::tell(now, (ue, RrcEvent::Paged), &self.service.stack, env.probe);
                }
                Event::Opened(ue) => self.service.on_opened(ue, env),
                Event::Interface(bearer, generation) => {
                    self.service.stack.on_interface((bearer, generation), env);
                }
                Event::Secondary(number) => self.service.on_secondary(number, env),
                Event::Returned(leg) => self.service.on_returned(leg, env),
                Event::Duplication(bearer, legs) => {
                    duplication::change(&mut self.service, bearer, legs, env);
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

    /// A timer of the end of a bearer that sends in `direction`.
    fn on_timer(&mut self, bearer: DrbId, direction: Direction, env: &mut Env<'_, impl Probe>) {
        let Stack {
            bearers, storage, ..
        } = &mut self.service.stack;
        bearers[bearer.index()].on_timer(direction, env, storage);
        self.service
            .stack
            .close_books(bearer, direction.opposite(), env);
        self.service.stack.close_books(bearer, direction, env);
        self.check_failure(bearer, env);
        self.service.stack.arm(env.now, bearer, direction);
        // What is due on a leg, as a status or a retransmission, is so on that one alone.
        split::on_backlogs(&mut self.service, bearer, direction, env);
    }
}
