//! Test that a bearer allocates nothing more after its largest backlog.

use fadeout_core::random::Stream;
use fadeout_core::{Span, Time};
use fadeout_layer2::rlc::{Entity, RlcConfig, Sdu, TransportBlock};
use fadeout_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// One direction with a block every half millisecond. Every tenth block is lost.
struct Bearer {
    ends: [Entity; 2],
    block: TransportBlock,
    delivered: Vec<Sdu>,
    random: Stream,
    slot: u64,
    count: u32,
}

impl Bearer {
    fn simulate_slot(&mut self) {
        self.slot += 1;
        let now = Time::ZERO + Span::from_micros(500) * self.slot;
        while self.ends[0].has_room(60_000) {
            let sdu = Sdu {
                size: 40 + self.random.below(1460) as u32,
                count: self.count,
                ..Sdu::default()
            };
            self.count += 1;
            self.ends[0].push_sdu(sdu).expect("the buffer has room");
        }
        for from in 0..2 {
            if self.ends[from].wake_at() <= now {
                self.ends[from].on_wake(now, &mut self.delivered);
            }
            self.block.clear();
            let grant = self.random.below(20_000) as u32;
            self.ends[from].pull(now, grant, &mut self.block);
            if self.random.chance(0.9) {
                self.ends[1 - from].on_block(now, &self.block, &mut self.delivered);
            }
            self.delivered.clear();
        }
    }
}

#[test]
fn no_mode_allocates_in_the_steady_state() {
    for config in [
        RlcConfig::NR_AM,
        RlcConfig::NR_UM,
        RlcConfig::LTE_AM,
        RlcConfig::LTE_UM,
    ] {
        let end = || Entity::new(&config).expect("allowed parameters");
        let mut bearer = Bearer {
            ends: [end(), end()],
            block: TransportBlock::new(),
            delivered: Vec::new(),
            random: Stream::new(1, "test.rlc", 0),
            slot: 0,
            count: 0,
        };
        (0..60_000).for_each(|_| bearer.simulate_slot());
        let before = allocations();
        (0..20_000).for_each(|_| bearer.simulate_slot());
        // Growth is bounded by the longest gap so far, which random losses may exceed once more.
        let after = allocations() - before;
        assert!(after <= 2, "{config:?} allocated {after} times");
    }
}
