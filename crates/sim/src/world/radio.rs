//! The radio access as hops.

use super::paths::Paths;
use super::{Event, World};
use crate::radio::Radio;
use fadeout_core::{Direction, DrbId, PacketId, Probe};

impl<P: Probe> World<P> {
    pub(super) fn enter_bearer(&mut self, bearer: DrbId, direction: Direction, packet: PacketId) {
        if direction == Direction::Downlink && self.paths.is_some() {
            self.reach_base(bearer, packet);
            return;
        }
        let radio = self.radio.as_mut().expect("a bearer is of a radio access");
        let (pool, probe) = (&mut self.pool, &mut self.probe);
        let now = self.agenda.now();
        radio
            .access
            .on_packet(now, bearer, direction, packet, pool, probe);
        self.arm_radio();
    }

    pub(super) fn wake_radio(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        if let Some(radio) = &mut self.radio {
            let Radio { access, places, .. } = &mut **radio;
            let (pool, probe) = (&mut self.pool, &mut self.probe);
            access.on_wake(self.agenda.now(), places, pool, &mut arrivals, probe);
        }
        if self.paths.is_some() {
            Paths::follow_moves(self);
        }
        for packet in arrivals.drain(..) {
            self.forward(packet);
        }
        self.arrivals = arrivals;
        self.arm_radio();
    }

    #[inline]
    pub(super) fn arm_radio(&mut self) {
        if let Some(radio) = &mut self.radio {
            let at = radio.access.wake_at();
            let event = |generation| Event::Radio { generation };
            self.agenda.arm(&mut radio.wake, at, event);
        }
    }
}
