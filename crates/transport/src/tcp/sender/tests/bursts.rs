//! Tests of bursts, and of bursts that the peer's window cuts.

use super::*;
use crate::tcp::scoreboard::Tags;
use crate::tcp::sender::transmit::Push;
use fadeout_core::Rate;

/// Returns a sender with bursts, whose peer has a window of `window` bytes.
fn facing(window: u64, change: impl FnOnce(&mut TcpConfig)) -> Bench {
    let mut config = without_probes().changed(|tcp| tcp.host.tso_bursts = true);
    change(&mut config);
    let mut b = Bench::new(&config);
    b.peer_window = window;
    b.sender.snd_wnd = window;
    b.sender.pacer.rate = Rate::UNLIMITED;
    b
}

/// Returns the lengths of the segments that were sent since the last call.
fn lengths(b: &mut Bench) -> Vec<u32> {
    let left = b.left().into_iter();
    left.map(|left| left.segment.len).collect()
}

/// Lets the peer open its window to `window` without a new acknowledgment, when no burst waits for
/// its ACK.
fn open(b: &mut Bench, window: u64) {
    b.wait(2);
    b.peer_window = window;
    b.ack(0);
}

#[test]
fn a_burst_ends_where_the_peers_window_ends_within_a_segment() {
    // Linux `tcp_mss_split_point`: a partial segment fills the rest of the window.
    let mut b = facing(4_500, |_| ());
    b.write(20);
    assert_eq!(lengths(&mut b), [1_000, 1_000, 1_000, 1_000, 500]);
    open(&mut b, 6_200);
    assert_eq!(lengths(&mut b), [1_000, 700]);
    // The remaining 900 bytes of the window are less than a full segment and stay unused. A window
    // of 3,000 bytes is filled by three full segments.
    open(&mut b, 7_100);
    assert_eq!(lengths(&mut b), []);
    let mut b = facing(3_000, |_| ());
    b.write(20);
    assert_eq!(lengths(&mut b), [1_000; 3]);
}

#[test]
fn a_small_segment_on_its_way_keeps_the_next_window_from_being_filled() {
    // Nagle's rule by Minshall: the first partial segment fills the window, the second waits.
    let mut b = facing(2_500, |config| config.host.nagle = true);
    b.write(20);
    assert_eq!(lengths(&mut b), [1_000, 1_000, 500]);
    open(&mut b, 4_200);
    assert_eq!(lengths(&mut b), [1_000]);
    // After the first partial segment was acknowledged, the next partial segment may be sent.
    b.arrive(Segment {
        ack: 2_501,
        window: 2_700,
        ..b.bare(0)
    });
    assert_eq!(lengths(&mut b), [1_000, 700]);
}

#[test]
fn a_subflow_and_a_sender_of_single_segments_leave_the_rest_of_a_window() {
    // The connection gives a subflow only data that fits into the subflow's window.
    let mut subflow = facing(4_500, |config| config.multipath = true);
    subflow.write(20);
    assert_eq!(lengths(&mut subflow), [1_000; 4]);
    let mut single = facing(4_500, |config| config.host.tso_bursts = false);
    single.write(20);
    assert_eq!(lengths(&mut single), [1_000; 4]);
}

#[test]
fn a_subflow_pushes_what_ends_short_with_more_behind_it() {
    let mut b = Bench::new(&linux().changed(|tcp| tcp.host.nagle = true));
    b.sender.offer(500, false);
    b.run_step(|sender, cx| sender.transmit(cx));
    b.sender.offer(300, false);
    b.run_step(|sender, cx| sender.transmit(cx));
    assert_eq!(lengths(&mut b), [500], "Nagle's rule holds the last one");
    b.sender.offer(300, true);
    b.run_step(|sender, cx| sender.transmit(cx));
    assert_eq!(lengths(&mut b), [300]);
}

// --- bursts and pushes

/// Returns the numbers of the segments that were sent with PSH.
fn pushed(b: &mut Bench) -> Vec<u64> {
    let left = b.left().into_iter().map(|left| left.segment);
    let pushed = left.filter(|segment| segment.flags.has(Flags::PSH));
    pushed.map(|segment| (segment.seq - 1) / FULL + 1).collect()
}

/// Returns a sender whose bursts are limited only by the window.
fn bursting(change: impl FnOnce(&mut TcpConfig)) -> Bench {
    let mut config = without_probes().changed(|tcp| {
        tcp.host.tso_bursts = true;
        tcp.host.minimum_burst = 65;
    });
    change(&mut config);
    Bench::new(&config)
}

#[test]
fn half_of_the_window_leaves_together_and_its_last_segment_is_pushed() {
    let mut b = bursting(|_| ());
    b.write(20);
    assert_eq!(pushed(&mut b), [5, 10]);
    // The first segment of each burst begins an sk_buff, and the other segments of the burst follow
    // in it.
    let board = &b.sender.board;
    assert_eq!(board.pieces, 2);
    assert!(board.counts_agree());
    assert!(!board.get(board.first()).tags.has(Tags::JOINED));
}

/// Returns a sender with Nagle's rule by Minshall. 100 bytes are outstanding, during a reduction of
/// a window of ten segments.
fn reducing() -> Bench {
    let mut b = bursting(|config| config.host.nagle = true);
    b.write_bytes(100);
    b.left();
    b.run_step(|sender, cx| sender.begin_reduction(cx, crate::congestion::CongestionKind::Ecn));
    b.sender.state = RecoveryState::Cwr;
    b.sender.window.cwnd = 10.0;
    b
}

#[test]
fn a_small_segment_that_must_wait_ends_a_burst_before_it() {
    let mut b = reducing();
    b.write_bytes(2_500);
    let lengths: Vec<u32> = b.left().iter().map(|left| left.segment.len).collect();
    assert_eq!(lengths, [1_000, 1_000]);
    // Two of the window's ten segments count as sent in the reduction. So four more deliveries
    // allow no new segment.
    b.sender.recovery = Default::default();
    b.run_step(|sender, cx| sender.begin_reduction(cx, crate::congestion::CongestionKind::Ecn));
    assert!(b.sender.recovery.has_sent_nothing());
    let mut ack = b.bare(0);
    ack.ack = 101;
    b.wait(100);
    b.arrive(ack);
    let lengths: Vec<u32> = b.left().iter().map(|left| left.segment.len).collect();
    assert_eq!(lengths, [500], "nothing small is out any more");
}

#[test]
fn a_burst_that_ends_before_a_small_segment_is_pushed() {
    let mut b = reducing();
    b.write_bytes(2_500);
    let pushes = b.left().into_iter();
    let pushes: Vec<bool> = pushes
        .map(|left| left.segment.flags.has(Flags::PSH))
        .collect();
    assert_eq!(pushes, [false, true]);
}

#[test]
fn what_a_writer_pushes_as_it_waits_or_as_a_full_piece_is_first_leaves_however_small() {
    // In both cases Linux calls `tcp_write_xmit` with TCP_NAGLE_PUSH, so a small segment is sent.
    for (push, last) in [
        (Push::Pending, None),
        (Push::Forced, Some(500)),
        (Push::One, Some(500)),
    ] {
        let mut b = reducing();
        b.sender.write_end += 2_500;
        b.run_step(|sender, cx| sender.push_out(cx, push));
        let expected: Vec<u32> = [1_000, 1_000].into_iter().chain(last).collect();
        assert_eq!(lengths(&mut b), expected, "{push:?}");
        // The peer's window shortens the last segment, which is sent nevertheless.
        let mut b = facing(2_500, |config| config.host.nagle = true);
        b.sender.small_end = b.sender.snd_una + 1;
        b.sender.write_end += 20_000;
        b.run_step(|sender, cx| sender.push_out(cx, push));
        assert_eq!(lengths(&mut b), expected, "{push:?}");
    }
}

#[test]
fn a_burst_that_ends_before_a_small_segment_is_paced_by_what_it_sent() {
    let mut b = reducing();
    b.sender.config_mut().host.pacing = crate::tcp::config::Pacing::On;
    // The first ten segments are not paced, so the test begins after them.
    b.sender.statistics.sent_segments = 100;
    b.sender.pacer.rate = Rate::from_bits_per_sec(8_000_000);
    b.sender.pacer.next_at = b.now;
    b.write_bytes(2_500);
    assert_eq!(b.left().len(), 2);
    assert_eq!(
        b.sender.pacer.next_at,
        b.now + ms(2),
        "2000 bytes at 8 Mbit/s"
    );
}

#[test]
fn a_record_that_ends_within_what_is_written_lets_small_segments_go() {
    let config = linux().changed(|tcp| tcp.host.nagle = true);
    for (record, holds) in [
        (None, true),
        (Some(300), true),
        (Some(201), true),
        (Some(200), false),
    ] {
        let mut b = Bench::new(&config);
        b.write_bytes(100);
        assert_eq!(b.sender.small_end, 101);
        b.sender.write_end = 201;
        b.sender.records.extend(record);
        assert_eq!(
            b.sender.holds_small_segment(Push::Pending),
            holds,
            "{record:?}"
        );
    }
}

#[test]
fn a_fin_alone_pushes_nothing_and_says_nothing_of_the_window() {
    let mut b = Bench::with_ecn(&linux(), EcnFeedback::Classic);
    b.write(10);
    b.wait(100);
    let mut echo = b.bare(10);
    echo.flags |= Flags::ECE;
    b.arrive(echo);
    assert_eq!(b.state(), RecoveryState::Cwr);
    b.left();
    b.sender.finish(true);
    b.run_step(|sender, cx| sender.transmit(cx));
    let fin = b.left()[0].segment;
    assert!(fin.flags.has(Flags::FIN) && fin.len == 0);
    assert!(!fin.flags.has(Flags::PSH) && !fin.flags.has(Flags::CWR));
}

#[test]
fn a_reduction_counts_what_left_before_a_small_segment_that_waits() {
    let mut b = reducing();
    b.write_bytes(2_500);
    assert_eq!(lengths(&mut b), [1_000, 1_000]);
    let mut expected = reducing();
    expected.sender.recovery.on_sent(2);
    let recoveries = [&b.sender.recovery, &expected.sender.recovery];
    let [found, expected] = recoveries.map(|recovery| format!("{recovery:?}"));
    assert_eq!(found, expected);
}
