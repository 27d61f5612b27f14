//! Tests of the path that the allocator chooses for data. The paths have no subflows.

use super::super::path::Mapping;
use super::super::path::testing::{FakePath, path};
use super::*;
use crate::tcp::TcpConfig;
use fadeout_core::Span;
use fadeout_core::registry::Parameters;

fn allocator(scheduler: &str, paths: usize) -> Allocator {
    let scheduler = PathSchedulerKind::new(scheduler, &Parameters::default()).expect("it exists");
    Allocator::new(scheduler, paths, true, true)
}

/// Returns the sending half of a stream with `written` and `sent` bytes, and a peer's window up to
/// `window_end`.
fn data(written: u64, sent: u64, window_end: u64) -> Outbound {
    let mut data = Outbound::new(&TcpConfig::linux(), false);
    data.write(written);
    data.on_sent(1 + sent);
    data.on_data_ack(1, window_end - 1);
    data
}

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Records that a path sent data from `start` on, with consecutive subflow sequence numbers.
fn send(path: &mut FakePath, start: u64, bytes: u64) {
    path.mappings.push(Mapping {
        seq: start,
        data_seq: start,
        len: bytes,
        remaining: bytes,
    });
    path.view.in_flight += 1;
}

fn new(start: u64, bytes: u64) -> Run {
    Run {
        start,
        bytes,
        source: Source::New,
    }
}

#[test]
fn new_data_goes_to_the_fastest_path_with_room_in_whole_segments() {
    let mut paths = vec![path(30), path(10)];
    let mut allocator = allocator("lowest-rtt", 2);
    let data = data(10_000, 0, 5_501);
    let decision = allocator.next_run(ms(0), &data, &paths, None, 0);
    assert_eq!(decision.run, Some((1, new(1, 5_000))));
    let refused = allocator.next_run(ms(0), &data, &paths, None, 0b10);
    assert_eq!(refused.run.map(|run| run.0), Some(0));
    paths[1].view.in_flight = 10;
    let next = allocator.next_run(ms(0), &data, &paths, None, 0);
    assert_eq!(next.run.map(|run| run.0), Some(0));
    let expected = allocator.next_run(ms(0), &data, &paths, Some(1), 0);
    assert_eq!(expected.run.map(|run| run.0), Some(1), "an ACK makes room");
    paths[0].view.in_flight = 10;
    assert_eq!(allocator.next_run(ms(0), &data, &paths, None, 0).run, None);
}

#[test]
fn backups_and_paths_in_loss_carry_what_no_better_one_can() {
    let mut paths = vec![path(30), path(10), path(5)];
    paths[1].is_backup = true;
    paths[2].view.recovery_state = RecoveryState::Loss;
    let mut allocator = allocator("lowest-rtt", 3);
    let data = data(10_000, 0, 100_000);
    let mut chosen = || {
        let run = allocator.next_run(ms(0), &data, &paths, None, 0).run;
        let chosen = run.map(|run| run.0);
        if let Some(index) = chosen {
            paths[index].is_usable = false;
        }
        chosen
    };
    assert_eq!(
        [chosen(), chosen(), chosen(), chosen()],
        [Some(0), Some(1), Some(2), None]
    );
    assert_eq!(data.unsent(), 10_000);
}

#[test]
fn what_is_stranded_goes_first_and_never_where_it_was() {
    let mut paths = vec![path(10), path(30)];
    send(&mut paths[0], 1, 3_000);
    let mut allocator = allocator("lowest-rtt", 2);
    let data = data(10_000, 3_000, 100_000);
    paths[0].view.timeouts_in_a_row = 1;
    allocator.follow_timeouts(0, 1, &paths);
    let stranded = Run {
        start: 1,
        bytes: 3_000,
        source: Source::Stranded(0),
    };
    let decision = allocator.next_run(ms(0), &data, &paths, None, 0);
    assert_eq!(decision.run, Some((1, stranded)));
    allocator.on_sent(1, stranded, 1_000, 3_001);
    let rest = allocator.next_run(ms(0), &data, &paths, None, 0).run;
    assert_eq!(rest.map(|run| (run.0, run.1.start)), Some((1, 1_001)));
    // The path works again, so it retransmits its own losses.
    paths[0].view.timeouts_in_a_row = 0;
    allocator.follow_timeouts(0, 1, &paths);
    let fresh = allocator.next_run(ms(0), &data, &paths, None, 0);
    assert_eq!(fresh.run, Some((0, new(3_001, 7_000))));
}

#[test]
fn a_path_that_went_stays_stranded_and_strands_once() {
    let mut paths = vec![path(10), path(30)];
    send(&mut paths[0], 1, 1_000);
    let mut allocator = allocator("lowest-rtt", 2);
    allocator.strand(0, 1, &paths[0].mappings);
    paths[0].is_gone = true;
    paths[0].is_usable = false;
    allocator.follow_timeouts(0, 1, &paths);
    let data = data(1_000, 1_000, 100_000);
    let run = allocator.next_run(ms(0), &data, &paths, None, 0).run;
    assert_eq!(run.map(|run| run.0), Some(1));
    let mut acknowledged = Allocator::new(allocator.scheduler.clone(), 2, true, true);
    acknowledged.strand(0, 1_001, &paths[0].mappings);
    assert!(acknowledged.reinjection.is_empty());
}

#[test]
fn a_redundant_scheduler_copies_what_a_path_has_not_sent() {
    let paths = vec![path(10), path(30)];
    let mut allocator = allocator("redundant", 2);
    let mut sent = data(2_000, 0, 100_000);
    let first = allocator.next_run(ms(0), &sent, &paths, None, 0);
    assert_eq!(first.run, Some((0, new(1, 2_000))));
    sent.on_sent(2_001);
    allocator.on_sent(0, new(1, 2_000), 2_000, 2_001);
    let copy = Run {
        start: 1,
        bytes: 2_000,
        source: Source::Copy,
    };
    let second = allocator.next_run(ms(0), &sent, &paths, None, 0);
    assert_eq!(second.run, Some((1, copy)));
    allocator.on_sent(1, copy, 1_000, 2_001);
    let rest = allocator.next_run(ms(0), &sent, &paths, None, 0).run;
    assert_eq!(
        rest.map(|run| (run.1.start, run.1.bytes)),
        Some((1_001, 1_000))
    );
    allocator.on_sent(1, copy, 2_000, 2_001);
    assert_eq!(allocator.next_run(ms(0), &sent, &paths, None, 0).run, None);
}

#[test]
fn a_closed_window_is_probed_when_nothing_is_outstanding() {
    let mut paths = vec![path(10), path(30)];
    let mut allocator = allocator("lowest-rtt", 2);
    let closed = data(10_000, 0, 1);
    let probe = allocator.next_run(ms(0), &closed, &paths, None, 0);
    assert_eq!(probe.run, Some((0, new(1, 1_000))));
    paths[0].view.in_flight = 1;
    assert_eq!(
        allocator.next_run(ms(0), &closed, &paths, None, 0).run,
        None
    );
}

#[test]
fn a_full_window_sends_the_head_of_the_line_on_a_much_faster_path_and_penalises_the_slow() {
    for (slow_rtt, is_sent) in [(40, false), (41, true)] {
        let mut paths = vec![path(slow_rtt), path(10)];
        send(&mut paths[0], 1, 1_000);
        let mut allocator = allocator("lowest-rtt", 2);
        let full = data(10_000, 1_000, 1_001);
        let head = Run {
            start: 1,
            bytes: 1_000,
            source: Source::Head,
        };
        let decision = allocator.next_run(ms(100), &full, &paths, None, 0);
        assert_eq!(decision.run, is_sent.then_some((1, head)));
        assert_eq!(decision.penalised, Some(0));
        // A path is penalised at most once in a round trip of the fast path.
        let again = allocator.next_run(ms(109), &full, &paths, None, 0);
        assert_eq!(again.penalised, None);
        let later = allocator.next_run(ms(110), &full, &paths, None, 0);
        assert_eq!(later.penalised, Some(0));
        allocator.on_sent(1, head, 1_000, 1_001);
        let sent = allocator.next_run(ms(200), &full, &paths, None, 0);
        assert_eq!(sent, Decision::default());
    }
}

#[test]
fn a_head_that_the_fast_path_holds_or_that_is_in_recovery_is_left_alone() {
    let full = data(10_000, 1_000, 1_001);
    let mut paths = vec![path(100), path(10)];
    send(&mut paths[1], 1, 1_000);
    let mut own = allocator("lowest-rtt", 2);
    assert_eq!(
        own.next_run(ms(100), &full, &paths, None, 0),
        Decision::default()
    );
    let mut paths = vec![path(100), path(10)];
    send(&mut paths[0], 1, 1_000);
    paths[0].view.recovery_state = RecoveryState::Recovery;
    let mut recovering = allocator("lowest-rtt", 2);
    let decision = recovering.next_run(ms(100), &full, &paths, None, 0);
    assert!(decision.run.is_some() && decision.penalised.is_none());
    let mut off = Allocator::new(recovering.scheduler.clone(), 2, false, true);
    assert_eq!(
        off.next_run(ms(100), &full, &paths, None, 0),
        Decision::default()
    );
}

#[test]
fn a_stalled_head_goes_again_where_a_path_has_nothing_to_do() {
    let mut paths = vec![path(10), path(30)];
    for start in [1, 1_001, 3_001] {
        send(&mut paths[0], start, 1_000);
    }
    let mut allocator = allocator("lowest-rtt", 2);
    let data = data(4_000, 4_000, 100_000);
    allocator.on_stalled(1, &paths);
    let run = allocator.next_run(ms(0), &data, &paths, None, 0).run;
    // The run ends at the first gap in the path's data.
    let expected = Run {
        start: 1,
        bytes: 2_000,
        source: Source::Stranded(0),
    };
    assert_eq!(run, Some((1, expected)));
    let mut busy = Allocator::new(allocator.scheduler.clone(), 2, true, true);
    send(&mut paths[1], 2_001, 1_000);
    busy.on_stalled(1, &paths);
    assert!(busy.reinjection.is_empty());
}

#[test]
fn the_window_of_a_single_path_is_its_subflows_own() {
    let mut alone = allocator("lowest-rtt", 1);
    let closed = data(10_000, 0, 1);
    let run = alone.next_run(ms(0), &closed, &vec![path(10)], None, 0).run;
    assert_eq!(run, Some((0, new(1, 10_000))));
}

#[test]
fn a_path_about_to_have_room_is_asked_first_though_it_could_not_send() {
    let mut paths = vec![path(30), path(10)];
    let mut allocator = allocator("lowest-rtt", 2);
    let closed = data(10_000, 0, 1);
    let probe = allocator.next_run(ms(0), &closed, &paths, Some(0), 0);
    assert_eq!(probe.run, Some((0, new(1, 1_000))));
    paths[1].view.may_send = false;
    let open = data(10_000, 0, 100_000);
    let run = allocator.next_run(ms(0), &open, &paths, None, 0).run;
    assert_eq!(run.map(|run| run.0), Some(0), "it is not open");
    let run = allocator.next_run(ms(0), &open, &paths, Some(1), 0).run;
    assert_eq!(run.map(|run| run.0), Some(1), "its handshake ends");
}

#[test]
fn room_for_a_segment_is_room() {
    let mut paths = vec![path(100), path(10)];
    send(&mut paths[0], 1, 1_000);
    let mut allocator = allocator("lowest-rtt", 2);
    let data = data(10_000, 1_000, 2_001);
    let run = allocator.next_run(ms(0), &data, &paths, None, 0).run;
    assert_eq!(run, Some((1, new(1_001, 1_000))));
}

#[test]
fn a_path_is_penalised_if_it_is_slower_and_that_is_wanted() {
    let full = data(10_000, 1_000, 1_001);
    let mut paths = vec![path(100), path(10)];
    send(&mut paths[0], 1, 1_000);
    let scheduler = allocator("lowest-rtt", 2).scheduler;
    let mut off = Allocator::new(scheduler.clone(), 2, true, false);
    let decision = off.next_run(ms(100), &full, &paths, None, 0);
    assert!(decision.run.is_some() && decision.penalised.is_none());
    send(&mut paths[1], 1, 1_000);
    let mut both = Allocator::new(scheduler.clone(), 2, true, true);
    let decision = both.next_run(ms(100), &full, &paths, None, 0);
    assert_eq!(decision, Decision::default(), "the fast one sent it too");
    let mut equal = vec![path(10), path(10)];
    send(&mut equal[0], 1, 1_000);
    equal[0].view.in_flight = 10;
    let mut same = Allocator::new(scheduler, 2, true, true);
    let decision = same.next_run(ms(100), &full, &equal, None, 0);
    assert_eq!(decision, Decision::default());
}

#[test]
fn a_stalled_head_is_of_limited_length_and_stays_while_its_path_works() {
    for (first, end) in [(65_427, 75_428), (65_428, 65_429)] {
        let mut paths = vec![path(10), path(30)];
        send(&mut paths[0], 1, first);
        send(&mut paths[0], 1 + first, 10_000);
        send(&mut paths[0], 10_001 + first, 10_000);
        let mut allocator = allocator("lowest-rtt", 2);
        allocator.on_stalled(1, &paths);
        allocator.follow_timeouts(0, 1, &paths);
        let data = data(100_000, 100_000, 1_000_000);
        let run = allocator.next_run(ms(0), &data, &paths, None, 0).run;
        let bytes = run.map(|(_, run)| run.start + run.bytes);
        assert_eq!(bytes, Some(end));
    }
}
