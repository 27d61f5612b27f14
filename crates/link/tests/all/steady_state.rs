//! Test that a link allocates nothing more after its largest backlog.

use crate::common::mbps;
use fadeout_core::registry::Parameters;
use fadeout_core::{
    Ecn, EndpointId, FlowId, LinkId, NullProbe, Packet, PacketPool, Segment, Span, Time,
};
use fadeout_link::{
    BlockConfig, Limit, Link, LinkConfig, QUEUE_DISCIPLINES, QueueConfig, QueueDiscipline,
    RateConfig, RateStep,
};
use fadeout_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Overloads the link by half from packet number `start` for `n` packets, with 40 flows and every
/// ECN codepoint.
fn overload(link: &mut Link, pool: &mut PacketPool, start: u32, n: u32) {
    // When a broken block is repaired, all packets that waited for it arrive at once.
    let mut out = Vec::with_capacity(512);
    for number in start..start + n {
        let now = Time::ZERO + Span::from_micros(80 * u64::from(number));
        while link.wake_at() <= now {
            link.on_wake(link.wake_at(), pool, &mut out, &mut NullProbe);
            for id in out.drain(..) {
                pool.remove(id);
            }
        }
        let packet = pool.insert(Packet {
            flow: FlowId(number % 40),
            to: EndpointId(number % 40),
            ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct][number as usize % 4],
            segment: Segment {
                len: 1460,
                ..Segment::default()
            },
            ..Packet::default()
        });
        link.on_packet(now, packet, pool, &mut NullProbe);
        // These calls read the values that a probe would read.
        let _ = link.queue_delay(now);
    }
}

#[test]
fn no_discipline_allocates_in_the_steady_state() {
    let rate_step = |ms, rate| RateStep {
        at: Span::from_millis(ms),
        rate,
    };
    let blocks = BlockConfig {
        error: 0.1,
        residual_error: 0.001,
        ..BlockConfig::default()
    };
    let kinds = QUEUE_DISCIPLINES
        .iter()
        .flat_map(|entry| [(entry, None), (entry, Some(blocks))]);
    for (entry, blocks) in kinds {
        let discipline = QueueDiscipline::new(entry.name, &Parameters::default(), mbps(100));
        let config = LinkConfig {
            rate: RateConfig::Steps {
                steps: vec![rate_step(0, mbps(120)), rate_step(5, mbps(80))],
                repeat_every: Some(Span::from_millis(10)),
            },
            queue: QueueConfig {
                limit: Some(Limit::Packets(500)),
                discipline: discipline.expect("a registered name"),
                ..QueueConfig::default()
            },
            blocks,
            ..LinkConfig::default()
        };
        let mut link = Link::new(LinkId(0), config, 1).expect("a valid link");
        let mut pool = PacketPool::new();
        overload(&mut link, &mut pool, 0, 50_000);
        let before = allocations();
        overload(&mut link, &mut pool, 50_000, 50_000);
        // The only allocation is the vector of the loop.
        assert_eq!(allocations() - before, 1, "{}", entry.name);
        assert!(link.stats().dropped_total() > 10_000, "{}", entry.name);
    }
}
