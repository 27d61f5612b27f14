//! A running world allocates nothing once it has seen its own size.
//!
//! Rings and pools grow to the largest number ever in flight and stay so; a flow that starts late
//! grows its own when it starts. So the first part of each example is its warm-up, with every
//! start of a flow, every slow start and the first blockages in it, and the rest, with most of
//! the blockages, timeouts and losses, must do with what there is.

mod common;

use common::{end, examples, name, part, read, run_to, world};
use fadeout_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The last flow of the examples starts halfway and is done within a few seconds.
const WARM_UP: f64 = 0.6;

/// The multipath examples run this long instead. What their paths hold of a shared buffer, and the
/// holes at the receiver, reach a new maximum now and then, ever more rarely, and a list that
/// doubles follows: at 200 s `multipath-outage` still does so twice after its warm-up.
const MULTIPATH: &str = "duration=300 s";

#[test]
fn the_steady_state_of_every_example_allocates_nothing() {
    for path in examples() {
        let is_multipath = name(&path).starts_with("multipath");
        let scenario = read(&path, if is_multipath { &[MULTIPATH] } else { &[] });
        let mut world = world(&scenario);
        run_to(&mut world, part(&scenario, WARM_UP));
        let (before, events) = (allocations(), world.events());
        run_to(&mut world, end(&scenario));
        let count = allocations() - before;
        let events = world.events() - events;
        assert_eq!(
            count,
            0,
            "{} allocates {count} times in {events} events",
            name(&path)
        );
    }
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    let list: Vec<u64> = std::hint::black_box(Vec::with_capacity(7));
    assert_eq!(allocations() - before, 1);
    drop(list);
}
