//! Tests that a running simulation allocates no memory after its warm-up.
//!
//! Ring buffers and pools grow to the largest number of packets in flight and keep this size. A
//! flow that starts late grows its own buffers then. So the first part of each example is a
//! warm-up, with every start of a flow, every slow start and the first blockages. The remaining
//! part, with most blockages, timeouts and losses, must not allocate.

use crate::common::{build, end, examples, name, parse, part, read, run_to, world};
use fadeout_core::{HandoverRow, LinkHandoverRow, Probe, Span};
use fadeout_scenario::Scenario;
use fadeout_sim::Worlds;
use fadeout_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// End of the warm-up as a share of the run. The last flow of the examples starts halfway and ends
/// a few seconds later. One of the competing flows reaches its largest window after four fifths of
/// the run. This window is 128 segments, where its ring buffer grows, and the losses that follow
/// are repaired by then.
const WARM_UP: f64 = 0.85;

/// Longest run of the examples with streets. A simulated second of their vehicles takes a second of
/// a processor.
const STREETS: (&[&str], Span) = (&["motorway", "street-canyon"], Span::from_secs(6));

/// Allocations of a multipath flow after the warm-up. The lists of a path's shared data and of the
/// receiver's gaps reach a new maximum now and then. Their growth is amortised. Each of the four
/// lists at either end (mappings, retransmission queue, reassembly, packets in flight) may double
/// once more.
const MULTIPATH_GROWTH: u64 = 8;

/// Counts the changes of cell after `from`.
#[derive(Debug)]
struct Changes {
    from: f64,
    count: u64,
}

impl Probe for Changes {
    fn handover(&mut self, row: HandoverRow) {
        self.count += u64::from(row.left_s >= self.from || row.triggered_s >= self.from);
    }
    fn link_handover(&mut self, row: LinkHandoverRow) {
        self.count += u64::from(row.commanded_s >= self.from);
    }
}

/// Allocations of a change of cell. It creates routes, lists forwarded packets, and fills empty
/// queues at the target. These are some 110 at once and 20 as the queues grow, or 23 for a handover
/// between links.
const CHANGE_OF_CELL: u64 = 150;

#[test]
fn the_steady_state_of_every_example_allocates_nothing() {
    for path in examples() {
        let mut scenario = read(&path, &[]);
        if STREETS.0.contains(&name(&path).as_str()) {
            scenario.duration = STREETS.1;
        }
        let from = part(&scenario, WARM_UP);
        let changes = Changes {
            from: from.as_secs_f64(),
            count: 0,
        };
        let mut world = build(&scenario, changes).expect("a checked scenario");
        run_to(&mut world, from);
        let (before, events) = (allocations(), world.events());
        run_to(&mut world, end(&scenario));
        let count = allocations() - before;
        let events = world.events() - events;
        let is_multipath = scenario.flows.iter().any(|flow| flow.multipath.is_some());
        let mut most = if is_multipath { MULTIPATH_GROWTH } else { 0 };
        if scenario.mobility.is_some() || !scenario.handovers.is_empty() {
            // One more may be in progress at the end.
            most += CHANGE_OF_CELL * (world.probe().count + 1);
        }
        assert!(
            count <= most,
            "{} allocates {count} times in {events} events",
            name(&path)
        );
    }
}

/// Returns two carriers with two UEs. The flows to and from each UE send less than the capacity of
/// its cell.
fn two_worlds(duration: u64) -> Scenario {
    let mut text = format!("duration = \"{duration} s\"\nworlds = \"by-carrier\"\n");
    for n in 1..=2 {
        text += &format!(
            "[link.l{n}]\nfrom = \"server\"\nto = \"c{n}\"\nrate = \"100 Mbit/s\"\ndelay = \"{n}0 ms\"\n\
             [cell.c{n}]\nradio = \"lte\"\ncarrier = \"{n} GHz\"\nbandwidth = \"5 MHz\"\n\
             channel = {{ path-loss = \"free-space\" }}\n\
             [ue.u{n}]\ncount = 2\ncell = \"c{n}\"\nposition = [\"50 m\", \"0 m\"]\n\
             [flow.f{n}]\nfrom = \"server\"\nto = \"u{n}\"\n\
             application = {{ kind = \"packet-stream\", rate = \"2 Mbit/s\" }}\n\
             [flow.up{n}]\nfrom = \"u{n}\"\nto = \"server\"\n\
             application = {{ kind = \"echo\", period = \"3 ms\" }}\n"
        );
    }
    parse(&text, ".".into(), &[])
}

#[test]
fn worlds_side_by_side_allocate_no_more_in_their_second_half_than_one_world() {
    let count = |duration| {
        let mut worlds = Worlds::unobserved(&two_worlds(duration)).expect("it can be divided");
        let before = allocations();
        worlds.run(1);
        let count = allocations() - before;
        (count, worlds.into_world().events())
    };
    let whole = |duration| {
        let mut scenario = two_worlds(duration);
        scenario.worlds = fadeout_scenario::Worlds::One;
        let mut world = world(&scenario);
        let before = allocations();
        run_to(&mut world, end(&scenario));
        (allocations() - before, world.events())
    };
    // Only the lists of the datagrams' delays grow, in both cases.
    let grown = |count: &dyn Fn(u64) -> (u64, u64)| count(16).0 - count(8).0;
    let (divided, one) = (grown(&count), grown(&whole));
    assert!(
        divided <= one + 2,
        "{divided} allocations in {} events, {one}",
        count(8).1
    );
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    let list: Vec<u64> = std::hint::black_box(Vec::with_capacity(7));
    assert_eq!(allocations() - before, 1);
    drop(list);
}
