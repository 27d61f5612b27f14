//! Tests of a bearer that goes from LTE to NR and back.

use super::*;
use crate::config::{Fate, Route};
use crate::pdcp::Delivery;
use crate::rlc::Generation;

const AT_ONCE: Fate = Fate::Forwarded(Route::FixedDelay(Span::ZERO));

impl Rig {
    fn in_lte(config: BearerConfig) -> Rig {
        let mut rig = Rig::new(config);
        rig.drb.mobile().manage();
        rig.drb.mobile().begin_in(Generation::Lte);
        rig
    }

    /// Moves the UE to a cell of the generation, and sends the waiting downlink data in one
    /// transport block.
    fn go(&mut self, (from, to): (u32, u32), generation: Generation) {
        self.with_drb(|drb, env, storage| drb.mobile().stop((from, from), AT_ONCE, env, storage));
        self.with_drb(|drb, env, storage| drb.mobile().detach((from, false), env, storage));
        self.with_drb(|drb, env, storage| {
            drb.mobile().enter_generation(generation, env, storage);
            drb.on_connected(0, LegId(0), [u32::MAX; 2]);
            drb.mobile().resume(to, env, storage);
            drb.drain_inlet(env, storage)
        });
        let now = self.now;
        self.drb.mobile().on_path_switch(now, 0, Span::ZERO);
    }
}

#[test]
fn what_had_not_arrived_is_numbered_anew_and_sent_with_the_other_header() {
    let mut rig = Rig::in_lte(BearerConfig::lte(UeId(0)));
    let first = rig.put(DOWN, 1000).0;
    let block = rig.block(0, DOWN, 3000);
    rig.arrive(0, DOWN, &block);
    assert_eq!(rig.out, [first]);
    let sent: Vec<PacketId> = (0..2).map(|_| rig.put(DOWN, 1000).0).collect();
    rig.block(0, DOWN, 3000);
    let unsent = rig.put(DOWN, 1000).0;
    let up = rig.put(Direction::Uplink, 500).0;
    rig.go((1, 2), Generation::Nr);
    assert_eq!(rig.drb.config().rlc.generation, Generation::Nr);
    assert_eq!(rig.drb.config().pdcp.sn_bits, 18);
    // In NR the first PDU has COUNT 0, and its PDCP header has 3 bytes instead of 2 bytes in LTE.
    let block = rig.block(0, DOWN, 100_000);
    let part = block.data_parts(&block.pdus[0])[0];
    assert_eq!(part.sdu.count, 0);
    let whole = rig.pool[part.sdu.packet].wire_len();
    assert_eq!(part.sdu.size, whole + 3);
    rig.arrive(0, DOWN, &block);
    assert_eq!(rig.out, [first, sent[0], sent[1], unsent]);
    let block = rig.block(0, Direction::Uplink, 100_000);
    rig.arrive(0, Direction::Uplink, &block);
    assert_eq!(rig.out.last(), Some(&up));
    assert!(rig.drb.ledger(DOWN).is_empty() && rig.drb.ledger(Direction::Uplink).is_empty());
    assert_eq!(rig.drb.transfers().report().1.lost, 0);
}

#[test]
fn back_in_its_own_generation_a_bearer_is_as_it_was() {
    let own = BearerConfig {
        rlc: RlcConfig {
            buffer: Bytes(123_456),
            ..RlcConfig::NS3_LTE_AM
        },
        ..BearerConfig::lte(UeId(0))
    };
    let mut rig = Rig::in_lte(own);
    rig.go((1, 2), Generation::Nr);
    let there = *rig.drb.config();
    assert_eq!(there.rlc.mode, RlcConfig::NR_AM.mode);
    assert_eq!(there.rlc.buffer, Bytes(123_456));
    assert!(matches!(there.pdcp.delivery, Delivery::InOrder(Some(_))));
    rig.go((2, 3), Generation::Nr);
    assert_eq!(*rig.drb.config(), there);
    rig.go((3, 1), Generation::Lte);
    assert_eq!(*rig.drb.config(), own);
}

#[test]
fn a_bearer_that_stays_in_its_generation_is_not_set_up_anew() {
    let mut rig = Rig::in_lte(BearerConfig::lte(UeId(0)));
    rig.put(DOWN, 1000);
    let block = rig.block(0, DOWN, 3000);
    rig.arrive(0, DOWN, &block);
    let next = rig.put(DOWN, 1000).0;
    rig.go((1, 2), Generation::Lte);
    let block = rig.block(0, DOWN, 100_000);
    let part = block.data_parts(&block.pdus[0])[0];
    assert_eq!(
        (part.sdu.packet, part.sdu.count),
        (next, 1),
        "COUNT goes on"
    );
}
