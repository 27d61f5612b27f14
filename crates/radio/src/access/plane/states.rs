//! Buffer for packets of UEs that are idle or inactive. Each packet waits until its UE is connected
//! again.

use super::event::Event;
use super::stack::Stack;
use crate::cell::CellMac;
use crate::rrc::UeRrc;
use crate::rrc::states::{Admission, Connection};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Direction, DrbId, PacketId, Probe, RrcEvent, RrcRow, Time, UeId, Wake};

/// UE whose connection is released after inactivity, with the packets that wait for its connection.
#[derive(Debug)]
pub(super) struct Released {
    pub connection: Connection,
    wake: Wake,
    pub held: Vec<(DrbId, Direction, PacketId)>,
}

/// UEs whose connections are released after inactivity, by UE id. Empty if no UE is configured so.
#[derive(Debug, Default)]
pub(crate) struct States(Vec<Option<Box<Released>>>);

impl States {
    /// Builds the states of all UEs. Each UE is connected at first.
    pub(crate) fn new(stack: &mut Stack, seed: u64) -> States {
        let has_states = |rrc: &UeRrc| rrc.config().states.is_some();
        if !stack.ues.iter().any(has_states) {
            return States::default();
        }
        let ues = (0..).map(UeId).zip(&stack.ues);
        let released = ues.map(|(ue, rrc)| {
            let config = rrc.config().states?;
            let id = u64::from(rrc.config().draws_of(ue).0);
            let draws = Stream::new(seed, "radio.states", id);
            Some(Box::new(Released {
                connection: Connection::new(config, id, draws),
                wake: Wake::default(),
                held: Vec::new(),
            }))
        });
        let mut states = States(released.collect());
        for (ue, released) in states.each_released() {
            released.arm(ue, stack);
        }
        states
    }

    fn each_released(&mut self) -> impl Iterator<Item = (UeId, &mut Released)> {
        let ues = (0..).map(UeId).zip(&mut self.0);
        ues.filter_map(|(ue, released)| Some((ue, &mut **released.as_mut()?)))
    }

    pub(super) fn released_mut(&mut self, ue: UeId) -> Option<&mut Released> {
        self.0.get_mut(ue.index())?.as_deref_mut()
    }

    /// Returns true if a packet may enter its bearer now. Otherwise keeps the packet in the buffer.
    #[inline]
    pub(crate) fn admits(
        &mut self,
        now: Time,
        (bearer, direction, packet): (DrbId, Direction, PacketId),
        (stack, cells): (&mut Stack, &[CellMac]),
        probe: &mut impl Probe,
    ) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let ue = stack.bearers[bearer.index()].config().ue;
        let Some(released) = self.released_mut(ue) else {
            return true;
        };
        let cell = stack.serving_cell(ue).unwrap_or_default();
        let frame = &cells[cell.index()].plan.frame;
        let entry = released.connection.on_packet(now, direction, frame);
        if entry == Admission::Open {
            return true;
        }
        released.held.push((bearer, direction, packet));
        if let Admission::Return { paged_at, open_at } = entry {
            if let Some(at) = paged_at {
                stack.events.schedule(at, Event::Paged(ue));
            }
            stack.events.schedule(open_at, Event::Connected(ue));
            if paged_at.is_none() {
                record_ue_event(now, (ue, RrcEvent::ReturnBegun), stack, probe);
            }
        }
        false
    }

    /// Releases the connection of a UE that has been inactive for long enough.
    pub(crate) fn on_inactivity_check(
        &mut self,
        now: Time,
        (ue, generation): (UeId, u32),
        stack: &mut Stack,
        probe: &mut impl Probe,
    ) {
        let is_busy = stack.is_busy(now, ue);
        let Some(released) = self.released_mut(ue) else {
            return;
        };
        if !released.wake.fire(generation) {
            return;
        }
        if released.connection.check_at() <= now {
            let state = released.connection.on_check(now, is_busy);
            if state.is_some() {
                record_ue_event(now, (ue, RrcEvent::ConnectionReleased), stack, probe);
            }
        }
        released.arm(ue, stack);
    }
}

impl Released {
    pub(super) fn arm(&mut self, ue: UeId, stack: &mut Stack) {
        let at = self.connection.check_at();
        if let Some(generation) = self.wake.arm(at) {
            let event = Event::InactivityCheck(ue, generation);
            stack.events.schedule(at, event);
        }
    }
}

/// Writes a row of the RRC table about a change of a UE's connection.
pub(crate) fn record_ue_event(
    now: Time,
    (ue, event): (UeId, RrcEvent),
    stack: &Stack,
    probe: &mut impl Probe,
) {
    probe.rrc(RrcRow {
        time_s: now,
        ue,
        cell: stack.serving_cell(ue).unwrap_or(CellId(0)),
        event,
    });
}
