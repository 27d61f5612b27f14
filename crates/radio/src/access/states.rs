//! Packets of UEs that are idle or inactive wait here until their UEs are back.

use super::{Event, RadioAccess};
use crate::config::Env;
use crate::rrc::states::{Connection, Entry};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Direction, DrbId, PacketId, Probe, RrcEvent, RrcRow, Time, UeId, Wake};

/// A UE whose connection comes and goes, and what waits for it.
#[derive(Debug)]
pub(super) struct Released {
    connection: Connection,
    wake: Wake,
    held: Vec<(DrbId, Direction, PacketId)>,
}

impl RadioAccess {
    /// UEs come with a connection that is released.
    pub(super) fn with_states(&mut self) {
        let ues = (0..).map(UeId).zip(&self.stack.ues);
        self.released = ues
            .map(|(ue, rrc)| {
                let config = rrc.config().states?;
                let id = u64::from(ue.0);
                let draws = Stream::new(self.seed, "radio.states", id);
                Some(Box::new(Released {
                    connection: Connection::new(config, id, draws),
                    wake: Wake::default(),
                    held: Vec::new(),
                }))
            })
            .collect();
        for ue in 0..self.released.len() as u32 {
            self.arm_state(UeId(ue));
        }
    }

    /// Whether a packet may enter its bearer now; otherwise it waits here.
    pub(super) fn is_open(
        &mut self,
        now: Time,
        bearer: DrbId,
        direction: Direction,
        packet: PacketId,
        probe: &mut impl Probe,
    ) -> bool {
        let ue = self.stack.bearers[bearer.index()].config().ue;
        let Some(Some(released)) = self.released.get_mut(ue.index()) else {
            return true;
        };
        let entry = released.connection.on_packet(now, direction);
        if entry == Entry::Open {
            return true;
        }
        released.held.push((bearer, direction, packet));
        if let Entry::Return { paged_at, open_at } = entry {
            if let Some(at) = paged_at {
                let event = Event::Paged(ue);
                self.stack.events.schedule(at, event);
            }
            self.stack.events.schedule(open_at, Event::Opened(ue));
            if paged_at.is_none() {
                self.tell_state(now, ue, RrcEvent::ReturnBegun, probe);
            }
        }
        false
    }

    /// A UE is paged.
    pub(super) fn on_paged(&mut self, ue: UeId, env: &mut Env<'_, impl Probe>) {
        self.tell_state(env.now, ue, RrcEvent::Paged, env.probe);
    }

    /// A UE is back: what waited goes on.
    pub(super) fn on_opened(&mut self, ue: UeId, env: &mut Env<'_, impl Probe>) {
        let now = env.now;
        self.tell_state(now, ue, RrcEvent::Connected, env.probe);
        let Some(Some(released)) = self.released.get_mut(ue.index()) else {
            return;
        };
        released.connection.on_open(now);
        let mut held = std::mem::take(&mut released.held);
        for (bearer, direction, packet) in held.drain(..) {
            self.admit(now, bearer, direction, packet, env.pool, env.probe);
        }
        if let Some(Some(released)) = self.released.get_mut(ue.index()) {
            released.held = held;
        }
        self.arm_state(ue);
    }

    /// The connection of a UE may have been quiet for long enough.
    pub(super) fn on_quiet(
        &mut self,
        (ue, generation): (UeId, u32),
        env: &mut Env<'_, impl Probe>,
    ) {
        let now = env.now;
        let is_busy = self.is_busy(now, ue);
        let Some(Some(released)) = self.released.get_mut(ue.index()) else {
            return;
        };
        if !released.wake.fire(generation) {
            return;
        }
        if released.connection.check_at() <= now {
            let state = released.connection.on_check(now, is_busy);
            if state.is_some() {
                self.tell_state(now, ue, RrcEvent::ConnectionReleased, env.probe);
            }
        }
        self.arm_state(ue);
    }

    /// Whether something of a UE waits in RLC, either way.
    fn is_busy(&self, now: Time, ue: UeId) -> bool {
        let legs = self.stack.ues[ue.index()].legs();
        let directions = [Direction::Downlink, Direction::Uplink];
        legs.iter().any(|&leg| {
            let waits = |direction| self.stack.backlog(now, leg, direction) > 0;
            directions.into_iter().any(waits)
        })
    }

    fn arm_state(&mut self, ue: UeId) {
        let Some(Some(released)) = self.released.get_mut(ue.index()) else {
            return;
        };
        let at = released.connection.check_at();
        if let Some(generation) = released.wake.arm(at) {
            let event = Event::Quiet(ue, generation);
            self.stack.events.schedule(at, event);
        }
    }

    fn tell_state(&self, now: Time, ue: UeId, event: RrcEvent, probe: &mut impl Probe) {
        let cell = self.serving_cell(ue).unwrap_or(CellId(0));
        probe.rrc(RrcRow {
            time_s: now,
            ue,
            cell,
            event,
        });
    }
}
