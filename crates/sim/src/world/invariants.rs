//! Invariants of a world between two events.

use super::World;
use fadeout_core::Probe;

impl<P: Probe> World<P> {
    /// Asserts that the last event has left no unfinished work.
    #[inline]
    pub(super) fn assert_settled(&self) {
        debug_assert!(
            self.outbox.segments.is_empty() && self.outbox.events.is_empty(),
            "an endpoint put something into the outbox that was not carried out"
        );
        debug_assert!(
            self.path_outbox.segments.is_empty() && self.path_outbox.events.is_empty(),
            "a connection put something into the outbox that was not carried out"
        );
        debug_assert!(
            self.arrivals.is_empty() && self.from_backhaul.is_empty(),
            "a packet arrived and was not forwarded"
        );
        debug_assert!(
            self.asks.is_empty(),
            "a request of an application was not passed on"
        );
        debug_assert!(
            self.agenda.next_at().is_none_or(|at| at >= self.now()),
            "an event is scheduled for the past"
        );
    }

    /// Asserts that each packet of the pool is in exactly one place. This visits every link, so it
    /// is called once a run.
    pub(super) fn assert_conserved(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        let on_links: usize = self.links.iter().map(|link| link.packets_inside()).sum();
        let in_hosts = self.hosts.as_ref().map_or(0, |hosts| hosts.packets());
        let in_pool = self.pool.len() - in_hosts;
        debug_assert!(
            on_links <= in_pool,
            "links hold {on_links} packets, and the pool {in_pool}"
        );
        let has_others = self.radio.is_some()
            || self.kernels.is_some()
            || self.crossings.is_some()
            || self.tunnels.is_some();
        debug_assert!(
            has_others || on_links == in_pool,
            "links hold {on_links} packets, and the pool {in_pool}: some are nowhere"
        );
    }
}
