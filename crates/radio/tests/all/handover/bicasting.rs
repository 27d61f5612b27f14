//! Tests of bicasting: the core sends downlink packets to two base stations.

use super::street::rlc;
use super::{any_case, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, RadioDropCause, RrcEvent, Span};
use fadeout_radio::access::{BicastStart, DataForwarding};
use fadeout_radio::pdcp::Delivery;
use fadeout_testkit::Cases;

/// Checks the counts in the handover row of packets that arrived once, twice or never. Bicasting
/// begins at random times. Messages have given delays, or are sent over links that lose some of
/// them.
#[test]
fn what_the_core_sends_to_both_arrives_once_twice_or_is_lost_as_its_row_says() {
    let (mut sums, mut exact, mut ended) = ([0; 3], 0, 0);
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.bicast", 0);
        let is_nr = random.chance(0.5);
        let is_acknowledged = random.chance(0.7);
        let rlc = rlc(is_nr, is_acknowledged);
        let mut case = any_case((&mut random, 0.5), rlc, is_nr);
        if random.chance(0.3) {
            case.links.1 = random.uniform_in(0.0, 0.3);
        }
        let cells = case.mobility.stations.len() as u32;
        case.mobility.stations = (0..cells).collect();
        let span = Span::from_millis(random.below(100));
        case.mobility.data = DataForwarding::Bicast(match random.chance(0.6) {
            true => BicastStart::Before(span),
            false => BicastStart::After(span),
        });
        if random.chance(0.2) {
            case.mobility.procedure.target_buffer = Bytes(random.below(20_000));
        }
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = walk_in_any_order(case, seed);
        let steps = &outcomes.rows.steps;
        let is_smooth = !steps.iter().any(|row| {
            use RrcEvent::{AccessFailure, LinkFailure, Released, SourceResumed};
            let event = row.event;
            matches!(
                event,
                AccessFailure | LinkFailure | Released | SourceResumed
            )
        });
        // A handover that is unfinished at the end of the run has no handover row.
        let count_of = |event| steps.iter().filter(move |row| row.event == event).count();
        // If an RLC retransmission takes longer than t-Reordering, PDCP gives the packet up. Such a
        // run is not compared exactly.
        let mut causes = outcomes.rows.drops.iter().map(|row| row.cause);
        let is_smooth = is_smooth
            && count_of(RrcEvent::CommandSent) == count_of(RrcEvent::CompleteReceived)
            && causes.all(|cause| {
                matches!(cause, RadioDropCause::Handover | RadioDropCause::BufferFull)
            });
        let ends = steps
            .iter()
            .filter(|row| row.event == RrcEvent::BicastEnded);
        ended += ends.count();
        let mut of_rows = [0; 3];
        for row in &outcomes.rows.handovers {
            let counts = [row.bicast_packets, row.doubled_packets, row.lost_packets];
            for (sum, count) in of_rows.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        for (sum, more) in sums.iter_mut().zip(of_rows) {
            *sum += more;
        }
        if is_smooth && is_acknowledged && of_rows[0] > 0 {
            let mut arrived = vec![0; outcomes.put.len()];
            for &number in &outcomes.arrivals {
                arrived[number as usize] += 1;
            }
            let count = |times: u32| arrived.iter().filter(|&&of| of == times).count() as u32;
            assert_eq!([count(2), count(0)], of_rows[1..], "seed {seed}");
            exact += 1;
        }
    });
    assert!(
        !cases.is_whole()
            || sums[0] > 500 && sums[1] > 50 && sums[2] > 50 && exact > 5 && ended > 3,
        "{sums:?} copied, doubled and lost, {exact} runs without failures, {ended} times ended"
    );
}
