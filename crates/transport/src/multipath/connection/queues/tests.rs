//! Tests of the send queues, on paths without subflows.

use super::super::path::testing::{FakePath, path};
use super::*;
use crate::tcp::TcpConfig;

/// Size of a fragment that fills a page of memory, bytes.
const FRAGMENT: u64 = 32_728;
/// Memory of an sk_buff with a segment of 1460 bytes and 320 bytes for headers.
const SEGMENT_MEMORY: u64 = 4_352;

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Returns the configuration of a send buffer of Linux with wireless networks, with a limit of 1
/// MiB.
fn of_subflow() -> SendBufferConfig {
    SendBufferConfig {
        maximum: 1 << 20,
        ..SendBufferConfig::default()
    }
}

/// Returns the queues of subflows with exact timers. With `nagle` small segments may wait.
fn of_queues(paths: usize, nagle: bool) -> SendQueues {
    let config = TcpConfig::linux().changed(|tcp| {
        tcp.host.nagle = nagle;
        tcp.timers.wheel = false;
    });
    SendQueues::new(paths, of_subflow(), &config)
}

/// Returns the queues of a connection whose buffer follows those of its open paths.
fn queues(paths: &Vec<FakePath>) -> SendQueues {
    let mut queues = of_queues(paths.len(), true);
    for index in 0..paths.len() {
        queues.on_heard(ms(0), index, paths);
    }
    queues.sum_up(paths);
    queues
}

/// Returns the sending half of a stream with `bytes` written and an unlimited window.
fn written(bytes: u64) -> Outbound {
    let mut data = Outbound::new(&TcpConfig::linux(), false);
    data.write(bytes);
    data.on_data_ack(1, 1 << 30);
    data
}

fn waiting(start: u64, end: u64, is_again: bool) -> Option<Waiting> {
    Some(Waiting {
        start,
        end,
        is_again,
        is_mapped: false,
    })
}

/// Fills the queues until they are full.
fn fill(queues: &mut SendQueues, now: Time, data: &Outbound, paths: &Vec<FakePath>) {
    while queues.fill(now, data, paths) != Filled::Whole {}
}

#[test]
fn a_call_is_bound_burst_by_burst_before_the_next_one_writes() {
    let paths = vec![path(10), path(10)];
    let mut queues = queues(&paths);
    let data = written(1_000_000);
    // A write of 128 KiB consists of four fragments and a remainder. The next write begins only
    // when all of it is bound.
    for filled in [Filled::Bound(0), Filled::Bound(1)] {
        assert_eq!(queues.fill(ms(0), &data, &paths), filled);
        assert_eq!(queues.written.taken(), 1 + (128 << 10));
    }
    let bound = queues.fill(ms(0), &data, &paths);
    assert!(matches!(bound, Filled::Bound(_)), "{bound:?}");
    assert_eq!(queues.bound, 1 + (128 << 10));
    assert_eq!(queues.fill(ms(0), &data, &paths), Filled::Call);
    assert_eq!(queues.written.taken(), 1 + (128 << 10));
    fill(&mut queues, ms(0), &data, &paths);
    assert!(queues.written.taken() > 1 + (128 << 10));
}

#[test]
fn bursts_wait_on_the_path_that_drains_soonest() {
    let mut paths = vec![path(10), path(10)];
    paths[1].view.pacing_rate = fadeout_core::Rate::from_bits_per_sec(2_000_000);
    let mut queues = queues(&paths);
    // The connection's buffer is two windows of ten segments for each path, plus the smallest
    // buffer.
    let buffer = 2 * 2 * 10 * SEGMENT_MEMORY + SMALLEST_BUFFER;
    fill(&mut queues, ms(0), &written(1_000_000), &paths);
    // The smallest burst consists of two fragments.
    let burst = 2 * FRAGMENT;
    assert_eq!(queues.first(0), waiting(1, 1 + burst, false));
    assert_eq!(queues.first(1).map(|data| data.start), Some(1 + burst));
    assert_eq!(queues.bytes(0) + queues.bytes(1), queues.bound - 1);
    // The last fragment began while the buffer had free space, so the data may exceed the buffer by
    // one fragment.
    let taken = queues.written.taken() - 1;
    assert!((buffer - 10 * 40..buffer + FRAGMENT).contains(&taken));
    let bytes = queues.bytes(0);
    queues.leave(0, 1_000);
    assert_eq!(queues.first(0).map(|data| data.start), Some(1_001));
    assert_eq!(queues.bytes(0), bytes - 1_000);
}

#[test]
fn a_full_buffer_is_filled_again_once_a_third_is_free() {
    let paths = vec![path(10)];
    let mut queues = queues(&paths);
    let buffer = 2 * 10 * SEGMENT_MEMORY + SMALLEST_BUFFER;
    let mut data = written(1_000_000);
    fill(&mut queues, ms(0), &data, &paths);
    // The buffer accepts three fragments, each with 40 bytes of memory in addition to its data.
    let taken = 1 + 3 * FRAGMENT;
    assert_eq!(queues.written.taken(), taken);
    data.on_sent(taken);
    // Sequence number whose acknowledgment frees a third of the buffer. The first fragment is then
    // acknowledged as well.
    let third_free = taken + 2 * 40 - 2 * buffer / 3;
    data.on_data_ack(third_free - 2, 1 << 30);
    fill(&mut queues, ms(1), &data, &paths);
    assert_eq!(queues.written.taken(), taken);
    data.on_data_ack(third_free + 2, 1 << 30);
    fill(&mut queues, ms(2), &data, &paths);
    assert!(queues.written.taken() > taken);
}

#[test]
fn a_buffer_grows_with_the_window_when_it_is_what_holds_the_path_back() {
    let mut paths = vec![path(10)];
    let mut queues = queues(&paths);
    let first = queues.paths[0].send_buffer;
    paths[0].window.cwnd = 30.0;
    assert!(!queues.on_space(0, true, &paths), "nobody waits");
    fill(&mut queues, ms(1), &written(1_000_000), &paths);
    queues.on_heard(ms(2), 0, &paths);
    assert_eq!(queues.paths[0].send_buffer, first, "the window is full");
    assert!(queues.on_space(0, true, &paths));
    assert_eq!(queues.paths[0].send_buffer, 3 * first);
    assert!(!queues.on_space(0, true, &paths), "as large as the window");
    paths[0].window.cwnd = 1e6;
    assert!(queues.on_space(0, true, &paths));
    assert_eq!(queues.paths[0].send_buffer, 1 << 20);
}

#[test]
fn the_peers_window_bounds_what_is_bound_to_the_byte() {
    let paths = vec![path(10)];
    let mut queues = queues(&paths);
    let mut data = Outbound::new(&TcpConfig::linux(), false);
    data.write(1_000_000);
    data.on_data_ack(1, 2_500);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(queues.first(0), waiting(1, 2_501, false));
    let mut whole = of_queues(1, false);
    whole.on_heard(ms(0), 0, &paths);
    fill(&mut whole, ms(0), &data, &paths);
    assert_eq!(whole.first(0), waiting(1, 2_001, false), "no slivers");
    let mut closed = of_queues(1, true);
    closed.on_heard(ms(0), 0, &paths);
    let mut data = Outbound::new(&TcpConfig::linux(), false);
    data.write(1_000_000);
    fill(&mut closed, ms(0), &data, &paths);
    assert_eq!(closed.first(0), waiting(1, 1_001, false), "a probe");
}

#[test]
fn backups_get_data_while_no_regular_path_is_usable() {
    let mut paths = vec![path(10), path(10)];
    paths[1].is_backup = true;
    let mut first = queues(&paths);
    fill(&mut first, ms(0), &written(10_000), &paths);
    assert_eq!((first.bytes(0), first.bytes(1)), (10_000, 0));
    paths[0].is_usable = false;
    let mut second = queues(&paths);
    fill(&mut second, ms(0), &written(10_000), &paths);
    assert_eq!((second.bytes(0), second.bytes(1)), (0, 10_000));
}

#[test]
fn what_a_lost_path_had_is_bound_anew() {
    let mut paths = vec![path(10), path(10)];
    let mut queues = queues(&paths);
    let mut data = written(10_000);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(queues.bytes(0), 10_000);
    data.on_sent(4_001);
    data.on_data_ack(2_001, 1 << 30);
    paths[0].is_usable = false;
    queues.drop_path(0, data.una());
    assert_eq!((queues.first(0), queues.bytes(0)), (None, 0));
    fill(&mut queues, ms(1), &data, &paths);
    assert_eq!(queues.first(1), waiting(2_001, 10_001, true));
    // Newly written data was not bound to a path before, so `is_again` is false.
    data.write(500);
    fill(&mut queues, ms(2), &data, &paths);
    assert_eq!(queues.bytes(1), 8_500);
    queues.leave(1, 8_000);
    assert_eq!(queues.first(1), waiting(10_001, 10_501, false));
}

#[test]
fn a_path_silent_for_five_expiries_is_left_out_until_it_is_heard() {
    let mut paths = vec![path(10), path(10)];
    let mut queues = queues(&paths);
    let mut data = written(10_000);
    fill(&mut queues, ms(0), &data, &paths);
    data.on_sent(10_001);
    queues.leave(0, 10_000);
    paths[0].view.snd_nxt = 10_001;
    for expiry in 1..=5 {
        assert!(!queues.paths[0].is_stale, "{expiry}");
        let again = queues.on_timer(ms(200 * expiry), &data, &paths);
        assert_eq!(again, Some(SHORTEST_TIMER));
        // The idle path carries the oldest data.
        assert_eq!(queues.first(1), waiting(1, 10_001, true));
        queues.leave(1, 10_000);
    }
    assert!(queues.paths[0].is_stale);
    fill(&mut queues, ms(1_100), &data, &paths);
    assert_eq!((queues.bytes(0), queues.bytes(1)), (0, 10_000));
    queues.on_heard(ms(1_200), 0, &paths);
    assert!(!queues.paths[0].is_stale);
    assert_eq!(queues.paths[0].silent_expiries, 0);
}

#[test]
fn a_segment_between_two_expiries_ends_the_silence() {
    let mut paths = vec![path(10), path(10)];
    paths[1].is_usable = false;
    let mut queues = queues(&paths);
    let data = written(10_000);
    paths[0].view.snd_nxt = 10_001;
    for expiry in 1..=2 {
        queues.on_timer(ms(200 * expiry), &data, &paths);
        assert_eq!(u64::from(queues.paths[0].silent_expiries), expiry);
    }
    queues.on_heard(ms(500), 0, &paths);
    queues.on_timer(ms(600), &data, &paths);
    assert_eq!(queues.paths[0].silent_expiries, 0);
    for expiry in 4..=20 {
        queues.on_timer(ms(200 * expiry), &data, &paths);
    }
    assert!(!queues.paths[0].is_stale, "no other takes over");
}

#[test]
fn an_idle_backup_carries_the_head_of_the_line_after_two_silent_expiries() {
    let mut paths = vec![path(10), path(10)];
    paths[1].is_backup = true;
    let mut queues = queues(&paths);
    let mut data = written(80_000);
    fill(&mut queues, ms(0), &data, &paths);
    queues.leave(0, 80_000);
    data.on_sent(80_001);
    data.on_data_ack(FRAGMENT + 2, 1 << 30);
    paths[0].view.snd_nxt = 80_001;
    queues.on_timer(ms(200), &data, &paths);
    assert_eq!(queues.first(1), None);
    queues.on_timer(ms(400), &data, &paths);
    // Only the remaining data of the partly acknowledged fragment is retransmitted.
    let rest = waiting(FRAGMENT + 2, 2 * FRAGMENT + 1, true);
    assert_eq!(queues.first(1), rest);
}

#[test]
fn a_fragment_that_is_bound_is_sent_again_whole_although_its_path_has_sent_a_part_of_it() {
    let mut paths = vec![path(10), path(10)];
    paths[1].is_usable = false;
    let mut queues = queues(&paths);
    let mut data = written(80_000);
    fill(&mut queues, ms(0), &data, &paths);
    queues.leave(0, 10_000);
    data.on_sent(10_001);
    paths[0].view.snd_nxt = 10_001;
    paths[1].is_usable = true;
    queues.on_timer(ms(200), &data, &paths);
    assert_eq!(queues.first(1), waiting(1, 1 + FRAGMENT, true));
}

#[test]
fn the_timer_is_the_longest_of_the_subflows_that_are_heard() {
    let mut paths = vec![path(10), path(10)];
    paths[0].view.timer_at = Some(ms(300));
    paths[1].view.timer_at = Some(ms(500));
    let mut queues = queues(&paths);
    assert_eq!(queues.timer(), SHORTEST_TIMER);
    fill(&mut queues, ms(100), &written(1_000), &paths);
    assert_eq!(queues.timer(), Span::from_millis(400));
    queues.paths[1].silent_expiries = 1;
    fill(&mut queues, ms(100), &written(2_000), &paths);
    assert_eq!(queues.timer(), Span::from_millis(200));
    paths[0].is_usable = false;
    paths[1].is_usable = false;
    let again = queues.on_timer(ms(600), &written(2_000), &paths);
    assert_eq!(again, None);
}

#[test]
fn what_follows_what_waits_waits_with_it() {
    let paths = vec![path(10)];
    let mut queues = queues(&paths);
    let mut data = written(5_000);
    fill(&mut queues, ms(0), &data, &paths);
    data.write(5_000);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(queues.first(0), waiting(1, 10_001, false));
}

#[test]
fn a_closed_window_is_probed_once() {
    let paths = vec![path(10)];
    let mut queues = queues(&paths);
    let mut data = Outbound::new(&TcpConfig::linux(), false);
    data.write(10_000);
    fill(&mut queues, ms(0), &data, &paths);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(queues.first(0), waiting(1, 1_001, false));
    queues.leave(0, 1_000);
    data.on_sent(1_001);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(queues.first(0), None, "the probe is outstanding");
}

#[test]
fn data_that_is_bound_again_and_new_data_are_told_apart() {
    let mut paths = vec![path(10), path(10)];
    let mut queues = queues(&paths);
    let mut data = written(10_000);
    fill(&mut queues, ms(0), &data, &paths);
    paths[0].is_usable = false;
    queues.drop_path(0, data.una());
    data.write(500);
    fill(&mut queues, ms(1), &data, &paths);
    assert_eq!(queues.first(1), waiting(1, 10_001, true));
    queues.leave(1, 10_000);
    assert_eq!(queues.first(1), waiting(10_001, 10_501, false));
}

#[test]
fn the_last_byte_of_a_fragment_is_sent_again_alone() {
    let mut paths = vec![path(10), path(10)];
    let mut queues = queues(&paths);
    let mut data = written(80_000);
    fill(&mut queues, ms(0), &data, &paths);
    queues.leave(0, 2 * FRAGMENT);
    queues.leave(1, 80_000 - 2 * FRAGMENT);
    data.on_sent(80_001);
    data.on_data_ack(FRAGMENT, 1 << 30);
    paths[0].view.snd_nxt = 80_001;
    queues.on_timer(ms(200), &data, &paths);
    let last = waiting(FRAGMENT, FRAGMENT + 1, true);
    assert_eq!(queues.first(1), last);
}

#[test]
fn what_is_bound_behind_a_piece_that_has_begun_to_leave_is_a_piece_of_its_own() {
    let mut paths = vec![path(10)];
    paths[0].view.piece = 3_000;
    let mut queues = queues(&paths);
    let mut data = written(2_000);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(queues.first(0), waiting(1, 2_001, false));
    data.write(2_000);
    fill(&mut queues, ms(0), &data, &paths);
    // The second write first fills the sk_buff up to 3,000 bytes, and then begins another one.
    assert_eq!(queues.first(0), waiting(1, 3_001, false));
    queues.leave(0, 3_000);
    assert_eq!(queues.first(0), waiting(3_001, 4_001, false));
    queues.leave(0, 600);
    data.write(1_000);
    fill(&mut queues, ms(0), &data, &paths);
    assert_eq!(
        queues.first(0).map(|data| (data.start, data.end)),
        Some((3_601, 4_001))
    );
    queues.leave(0, 400);
    assert_eq!(queues.first(0), waiting(4_001, 5_001, false));
}

#[test]
fn pieces_of_memory_count_beside_their_bytes() {
    let mut paths = vec![path(10)];
    paths[0].view.snd_nxt = 20_001;
    // 20 sk_buffs of 1,000 bytes with 896 bytes of overhead each leave 49,120 of 87,040 bytes, so a
    // burst is bound. 80 sk_buffs leave no memory.
    for (pieces, bound) in [(20, 2 * FRAGMENT), (80, 0)] {
        paths[0].view.pieces = pieces;
        let mut queues = queues(&paths);
        fill(&mut queues, ms(0), &written(100_000), &paths);
        assert_eq!(queues.bytes(0), bound, "{pieces}");
    }
}

#[test]
fn the_pieces_of_a_burst_use_up_the_buffer_as_their_bytes_do() {
    // 50,000 bytes are free. Two fragments fit into one sk_buff. With sk_buffs of 1,000 bytes the
    // overhead uses up the memory after one fragment.
    for (piece, bound) in [(1_000_000, 2 * FRAGMENT), (1_000, FRAGMENT)] {
        let mut paths = vec![path(10)];
        paths[0].view.piece = piece;
        let mut queues = queues(&paths);
        let taken = queues.paths[0].send_buffer - 50_000;
        paths[0].view.snd_nxt = 1 + taken;
        queues.fill(ms(0), &written(100_000), &paths);
        assert_eq!(queues.bytes(0), bound, "{piece}");
    }
}

#[test]
fn an_accepted_path_that_joins_counts_with_its_initial_buffer_until_an_acknowledgment() {
    let mut paths = vec![path(10), path(10)];
    paths[0].is_accepted = true;
    paths[1].view.may_send = false;
    let mut queues = of_queues(2, true);
    queues.on_heard(ms(0), 0, &paths);
    let grown = queues.paths[0].send_buffer;
    assert!(grown > of_subflow().initial);
    assert_eq!(queues.buffer(&paths), SMALLEST_BUFFER + grown);
    paths[1].view.may_send = true;
    queues.on_heard(ms(1), 1, &paths);
    let joined = SMALLEST_BUFFER + grown + of_subflow().initial;
    assert_eq!(queues.buffer(&paths), joined);
    assert!(!queues.on_space(1, true, &paths), "no writer waits");
    fill(&mut queues, ms(1), &written(1_000_000), &paths);
    assert!(!queues.on_space(0, false, &paths), "its buffer is counted");
    assert!(queues.on_space(1, false, &paths));
    assert_eq!(queues.buffer(&paths), SMALLEST_BUFFER + 2 * grown);
    assert!(!queues.on_space(1, false, &paths), "nothing changed");
}

#[test]
fn a_subflow_that_is_being_opened_counts_once_the_buffers_are_summed_up() {
    let mut paths = vec![path(10), path(10)];
    paths[1].view.may_send = false;
    let buffers = |paths: &Vec<FakePath>| {
        let mut queues = of_queues(2, true);
        queues.on_heard(ms(0), 0, paths);
        queues.sum_up(paths);
        queues.buffer(paths) - SMALLEST_BUFFER - queues.paths[0].send_buffer
    };
    assert_eq!(buffers(&paths), of_subflow().initial);
    paths[0].is_accepted = true;
    assert_eq!(buffers(&paths), 0, "its handshake is not complete");
    paths[0].is_accepted = false;
    paths[1].view.snd_nxt = 0;
    assert_eq!(buffers(&paths), 0, "its SYN has not left");
    paths[1].view.snd_nxt = 1;
    paths[1].is_gone = true;
    assert_eq!(buffers(&paths), 0);
}

#[test]
fn a_subflow_that_opens_wakes_the_writer_where_there_is_any_room() {
    let mut paths = vec![path(10), path(10)];
    paths[1].view.may_send = false;
    let mut queues = of_queues(2, true);
    queues.on_heard(ms(0), 0, &paths);
    let data = written(1_000_000);
    fill(&mut queues, ms(0), &data, &paths);
    let taken = queues.written.taken();
    assert!(queues.is_full());
    paths[1].view.may_send = true;
    queues.on_heard(ms(1), 1, &paths);
    fill(&mut queues, ms(1), &data, &paths);
    assert!(queues.written.taken() > taken);
    assert!(queues.is_full(), "it sleeps again");
}

#[test]
fn a_buffer_that_grows_binds_nothing_before_an_acknowledgment() {
    let mut paths = vec![path(10)];
    let mut queues = queues(&paths);
    // Data in flight uses all memory of the path, so written data is not bound.
    (paths[0].view.snd_nxt, paths[0].view.pieces) = (20_001, 80);
    let data = written(1_000_000);
    fill(&mut queues, ms(0), &data, &paths);
    let bound = queues.bound;
    assert!(bound < queues.written.taken());
    paths[0].window.cwnd = 15.0;
    assert!(queues.on_space(0, true, &paths));
    assert_eq!(queues.fill(ms(1), &data, &paths), Filled::Whole);
    assert_eq!(queues.bound, bound);
    queues.bind(ms(1), &data, &paths);
    assert!(queues.bound > bound);
}
