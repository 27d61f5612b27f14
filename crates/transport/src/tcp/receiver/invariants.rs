//! Relations between a receiver's numbers that hold after each event.

use super::Receiver;

impl Receiver {
    /// Asserts the relations that hold after each event. Costs a few comparisons.
    #[inline]
    pub(in crate::tcp) fn assert_invariants(&self) {
        let next = self.reassembly.next();
        debug_assert!(
            self.acked_up_to <= next,
            "up to {} is acknowledged, and RCV.NXT is {next}",
            self.acked_up_to
        );
        debug_assert!(
            self.packets.unread() <= next,
            "more is unread than came in order"
        );
        debug_assert!(self.mss > 0, "this end takes no payload");
        debug_assert!(self.peer_mss > 0, "the peer sends no payload");
        self.packets.assert_invariants();
        self.policy.assert_invariants();
        self.window.assert_invariants();
    }
}
