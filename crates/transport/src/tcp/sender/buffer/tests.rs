//! Tests of writes into the send buffer, and of the times at which the writer waits.

use super::*;
use crate::tcp::config::{SendBufferConfig, SocketKind};
use crate::tcp::sender::tests::{Bench, linux};
use crate::tcp::socket::SocketModel;
use crate::tcp::socket::linux::Piece;

/// Returns a sender of 1,000-byte segments with a buffer of `limit` bytes. Half of the peer's
/// window is 32 segments.
fn bench(limit: u64) -> Bench {
    Bench::new(&linux().changed(|tcp| {
        tcp.buffers.send = SocketKind::Linux(SendBufferConfig {
            initial: limit,
            maximum: 4 << 20,
            header: 256,
            head: 256,
        });
        tcp.recovery.tail_loss_probe = false;
    }))
}

fn socket(b: &Bench) -> &LinuxSocket {
    match &b.sender.socket {
        SocketModel::Linux(socket) => socket,
        other => panic!("a socket without a buffer: {other:?}"),
    }
}

fn pieces(b: &Bench) -> Vec<(u64, bool)> {
    let pieces = socket(b).pieces.iter();
    pieces.map(|piece| (piece.end, piece.is_pushed)).collect()
}

fn limit(b: &Bench) -> u64 {
    socket(b).limit
}

#[test]
fn memory_is_what_is_written_and_a_descriptor_for_each_piece() {
    // Ten of 60 segments were sent in sk_buffs of their own. One unsent sk_buff of 32 segments and
    // one of 18 remain.
    let mut b = bench(1 << 20);
    b.write(60);
    assert_eq!(pieces(&b), [(42_001, false), (60_001, true)]);
    assert_eq!(b.sender.memory(), 60_000 + 12 * 832);
    b.sender.window.cwnd = 1.0;
    b.wait(100);
    b.ack(4);
    assert_eq!(b.sender.memory(), 56_000 + 8 * 832);
}

#[test]
fn a_call_fills_the_last_piece_before_it_begins_another() {
    let mut b = bench(1 << 20);
    b.write(60);
    b.sender.set_more(true);
    b.write(10);
    // The second write fills the last sk_buff. Its data is not pushed, because more data follows.
    assert_eq!(pieces(&b), [(42_001, false), (70_001, false)]);
    b.sender.set_more(false);
    b.write(10);
    assert_eq!(
        pieces(&b),
        [(42_001, false), (74_001, false), (80_001, true)]
    );
}

#[test]
fn a_record_ends_a_piece() {
    let mut b = bench(1 << 20);
    b.write(10);
    b.sender.end_record_after(1_500);
    b.write(4);
    assert_eq!(pieces(&b), [(11_501, false), (14_001, true)]);
}

#[test]
fn a_record_that_ends_within_a_call_is_not_pushed_before_the_rest() {
    // The ACK of the first segment is due in a millisecond. The nine segments that may be sent are
    // less than a third of the window. So the burst waits for more data (Linux
    // `tcp_tso_should_defer`). A single pushed sk_buff would be sent at once.
    let mut b = bench(1 << 20);
    b.sender.bursts.is_on = true;
    b.sender.bursts.minimum = 65;
    b.write(1);
    b.wait(100);
    b.ack(1);
    b.sender.window.cwnd = 30.0;
    b.write(20);
    b.wait(99);
    b.write(1);
    assert_eq!(b.left().len(), 22);
    b.sender.end_record_after(15_000);
    b.write(40);
    assert_eq!(b.left().len(), 0);
    assert_eq!(pieces(&b), [(37_001, false), (62_001, true)]);
}

#[test]
fn the_way_to_the_end_of_a_record_is_what_is_left_of_it() {
    let mut b = Bench::new(&linux());
    assert_eq!(b.sender.record_ahead(), u64::MAX);
    b.sender.records.extend([501, 2_001]);
    for (write_end, ahead) in [(1, 500), (501, 0), (502, 1_499), (2_002, u64::MAX)] {
        b.sender.write_end = write_end;
        assert_eq!(b.sender.record_ahead(), ahead, "{write_end}");
    }
}

#[test]
fn the_buffer_asks_for_windows_of_what_may_be_out_of_order_too() {
    let mut b = bench(1 << 20);
    let segment = |mss: u64| (mss + 576).next_power_of_two() + 256;
    for (cwnd, reordering, segments) in
        [(40.9, 3, 40), (12.0, 30, 31), (30.0, 30, 31), (4.0, 3, 10)]
    {
        b.sender.window.cwnd = cwnd;
        b.sender.reordering = reordering;
        assert_eq!(b.sender.wanted_buffer(256), 2 * segments * segment(1_012));
    }
    // With the timestamp option of 12 bytes the size of the sk_buff exceeds a power of two, so its
    // memory doubles.
    b.sender.window.mss = 1_465;
    assert_eq!(b.sender.wanted_buffer(256), 2 * 10 * (4_096 + 256));
    b.sender.config_mut().timestamps = false;
    assert_eq!(b.sender.wanted_buffer(256), 2 * 10 * (2_048 + 256));
}

#[test]
fn the_writer_goes_on_once_a_third_is_free() {
    // Linux `sk_stream_is_writeable`: the writer continues once the free memory is half of the used
    // memory.
    let mut b = bench(1 << 20);
    b.write(10);
    let memory = b.sender.memory();
    assert_eq!(memory, 10_000 + 10 * 832);
    for (limit, waits) in [
        (memory - 1, true),
        (memory, true),
        (memory + memory / 2 - 1, true),
        (memory + memory / 2, false),
        (3 * memory, false),
    ] {
        let buffer = b.sender.writing();
        (buffer.limit, buffer.waits) = (limit, true);
        b.sender.check_space(b.now);
        assert_eq!(b.sender.writing().waits, waits, "{limit} of {memory}");
    }
}

#[test]
fn the_buffer_grows_where_the_writer_waits_and_the_window_does_not() {
    for (cwnd, waits, grows) in [
        (10.0, true, false),
        (11.0, true, true),
        (11.0, false, false),
    ] {
        let mut b = bench(1 << 20);
        b.write(10);
        b.sender.window.cwnd = cwnd;
        let buffer = b.sender.writing();
        (buffer.limit, buffer.waits) = (1_000, waits);
        b.sender.check_space(b.now);
        assert_eq!(limit(&b) > 1_000, grows, "{cwnd} {waits}");
    }
}

#[test]
fn a_close_sends_the_fin_behind_all_that_waits_in_the_buffer() {
    let mut b = bench(46_080);
    b.write(60);
    assert!(b.sender.backlog() > 0);
    b.sender.finish(true);
    let mut fins = Vec::new();
    for acked in 1..=60 {
        b.wait(1);
        b.ack(acked);
        let left = b.left().into_iter().map(|left| left.segment);
        fins.extend(left.filter(|segment| segment.flags.has(fadeout_core::Flags::FIN)));
    }
    let ends: Vec<u64> = fins
        .iter()
        .map(|fin| fin.seq + u64::from(fin.len))
        .collect();
    assert_eq!(ends, [60_001]);
    assert!(b.sender.has_sent_fin());
}

#[test]
fn a_short_head_takes_a_burst_out_of_the_next_piece() {
    // Two segments of the first sk_buff remain. The burst has half of the window of 30 segments.
    let mut b = bench(1 << 20);
    b.sender.bursts.is_on = true;
    b.sender.bursts.minimum = 65;
    b.sender.window.cwnd = 30.0;
    b.write(64);
    b.left();
    b.wait(100);
    b.ack(30);
    let left = b.left().into_iter().map(|left| left.segment);
    let pushed = left.filter(|segment| segment.flags.has(fadeout_core::Flags::PSH));
    let pushed: Vec<u64> = pushed.map(|segment| segment.seq / 1_000 + 1).collect();
    assert_eq!(pushed, [45, 60]);
}

#[test]
fn a_burst_is_cut_from_as_much_as_may_leave_together() {
    let piece = |end| Piece {
        end,
        is_pushed: false,
    };
    let mut b = Bench::new(&linux().changed(|tcp| {
        tcp.host.tso_bursts = true;
        tcp.host.minimum_burst = 65;
    }));
    let mut two = LinuxSocket::new(SendBufferConfig {
        header: 256,
        head: 256,
        ..SendBufferConfig::default()
    });
    two.pieces.extend([piece(1_501), piece(9_001)]);
    b.sender.socket = SocketModel::Linux(two);
    b.sender.write_end = 9_001;
    b.run_step(|sender, cx| sender.push_out(cx, Push::One));
    let lengths: Vec<u32> = b.left().iter().map(|left| left.segment.len).collect();
    assert_eq!(lengths, [1_000; 5], "half of the window");
}
