//! Bearers of the radio access as hops of routes.

use super::agenda::Agenda;
use super::paths::{UePaths, base_of};
use super::utran::leave_radio;
use super::{Event, World};
use crate::radio::Radio;
use fadeout_core::{Direction, DrbId, PacketId, Probe};

impl Radio {
    /// Schedules the next wake-up of the radio access.
    #[inline]
    pub(super) fn arm(&mut self, agenda: &mut Agenda) {
        let at = self.access.wake_at();
        let event = |generation| Event::Radio { generation };
        agenda.arm(&mut self.wake, at, event);
    }
}

impl<P: Probe> World<P> {
    pub(super) fn enter_bearer(&mut self, bearer: DrbId, direction: Direction, packet: PacketId) {
        let radio = self.radio.as_mut().expect("a bearer is of a radio access");
        let bearer = radio.local(bearer);
        let (pool, probe) = (&mut self.pool, &mut self.probe);
        let (access, now) = (&mut radio.access, self.agenda.now());
        let follows = (self.paths.as_ref()).is_some_and(|paths| paths.follows_ues());
        if direction == Direction::Downlink && follows {
            let base = base_of(
                &pool[packet],
                &self.routes,
                &self.directory,
                &self.endpoints,
            );
            access.on_packet_at(now, base.0, bearer, packet, pool, probe);
        } else {
            access.on_packet(now, bearer, direction, packet, pool, probe);
        }
        self.follow_radio();
    }

    /// Schedules the next wake-up of the radio access, and carries out its moves.
    #[inline]
    pub(super) fn follow_radio(&mut self) {
        if let Some(radio) = &mut self.radio {
            radio.arm(&mut self.agenda);
        }
        if self.paths.is_some() {
            UePaths::follow_moves(self);
        }
    }

    pub(super) fn wake_radio(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        if let Some(radio) = &mut self.radio {
            let Radio { access, places, .. } = &mut **radio;
            let (pool, probe) = (&mut self.pool, &mut self.probe);
            access.on_wake(self.agenda.now(), places, pool, &mut arrivals, probe);
        }
        if self.paths.is_some() {
            UePaths::follow_moves(self);
        }
        for packet in arrivals.drain(..) {
            leave_radio(self, packet);
        }
        self.arrivals = arrivals;
        self.serve_hosts();
        if let Some(radio) = &mut self.radio {
            radio.arm(&mut self.agenda);
        }
    }
}
