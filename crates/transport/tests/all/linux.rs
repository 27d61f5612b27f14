//! Behaviour of Linux that the standards leave open or do not have, segment by segment.

use crate::common::script::{FULL, Script, linux, profile};
use fadeout_core::{Bytes, Flags, SackBlock, Segment, Span};
use fadeout_transport::tcp::{
    AppCommand, LossRecovery, NewRenoVariant, ReceiveWindow, SendBufferConfig, SocketKind,
    SocketOption, TcpConfig,
};

/// Returns `linux` with timers of millisecond precision.
fn exact() -> TcpConfig {
    linux().changed(|tcp| tcp.timers.wheel = false)
}

// --- segments that are dropped whole -------------------------------------------------------------

#[test]
fn data_that_acknowledges_what_was_never_sent_is_dropped() {
    let mut s = Script::connected(&linux());
    let segment = Segment {
        ack: 9_999,
        ..s.data(1)
    };
    s.arrive(segment);
    s.wait(300);
    s.sends_nothing();
    assert_eq!(s.read, 0);
}

#[test]
fn data_with_an_old_timestamp_is_dropped_and_answered() {
    let mut s = Script::connected(&linux());
    let data = s.data(1);
    s.arrive(data);
    s.left();
    s.wait(100);
    let old = Segment {
        ts_value: s.data(2).ts_value - 102,
        ..s.data(2)
    };
    s.arrive(old);
    assert_eq!(s.sends_ack().ack, 1001);
    assert_eq!(s.read, FULL);
    // A timestamp one millisecond older still counts as new.
    let data = Segment {
        ts_value: old.ts_value + 1,
        ..old
    };
    s.arrive(data);
    assert_eq!(s.read, 2 * FULL);
}

#[test]
fn the_newest_timestamp_is_echoed_never_an_older_one() {
    let mut s = Script::connected(&linux());
    let data = s.data(1);
    s.arrive(data);
    let newest = s.sends_ack().ts_echo;
    let data = Segment {
        ts_value: newest - 1,
        ..s.data(2)
    };
    s.arrive(data);
    assert_eq!(s.sends_ack().ts_echo, newest);
}

#[test]
fn an_overtaken_acknowledgment_is_answered_only_when_it_would_change_something() {
    let mut s = Script::connected(&linux());
    s.write(4);
    s.left();
    s.wait(100);
    s.ack(1);
    s.left();
    let same = Segment {
        ts_value: s.bare(1).ts_value - 50,
        ..s.bare(1)
    };
    s.arrive(same);
    s.sends_nothing();
    // A segment that acknowledges more, with an old timestamp, is answered every half a second.
    let more = Segment {
        ack: 1 + 2 * FULL,
        ..same
    };
    s.arrive(more);
    assert_eq!(s.sends_ack().len, 0);
    s.arrive(more);
    s.sends_nothing();
    assert_eq!(s.tcp().acked_bytes(), FULL);
}

// --- what is sent when --------------------------------------------------------------------------

#[test]
fn one_lost_syn_leaves_the_initial_window_and_two_do_not() {
    for (name, lost, cwnd) in [("linux", 1, 10), ("linux", 2, 1), ("rfc", 1, 1)] {
        let config = profile(name).changed(|tcp| {
            tcp.timestamps = false;
            tcp.timers.wheel = false;
        });
        let mut s = Script::closed(&config);
        s.command(AppCommand::Connect);
        s.wait(lost * 1000 + 10);
        let answer = s.syn(Flags::SYN | Flags::ACK, &config);
        s.arrive(answer);
        assert_eq!(s.cwnd(), cwnd, "{name}, {lost} lost");
    }
}

#[test]
fn corked_data_leaves_when_the_probe_would() {
    let mut s = Script::connected(&exact());
    s.set(SocketOption::Cork(true));
    s.command(AppCommand::Write(Bytes(100)));
    s.sends_nothing();
    let since = s.now_ms();
    s.wait(1_000);
    let left = s.left();
    assert_eq!(left[0].segment.len, 100);
    assert_eq!(left[0].at_ms - since, 300, "the timeout, at least 200 ms");
}

#[test]
fn switching_nagle_off_pushes_through_a_cork_once() {
    let mut s = Script::connected(&exact());
    s.set(SocketOption::Cork(true));
    s.command(AppCommand::Write(Bytes(100)));
    s.sends_nothing();
    s.set(SocketOption::NoDelay(true));
    s.command(AppCommand::Write(Bytes(0)));
    assert_eq!(s.left()[0].segment.len, 100);
    s.command(AppCommand::Write(Bytes(100)));
    s.sends_nothing();
}

#[test]
fn a_piece_is_pushed_when_half_the_largest_window_went_without() {
    let config = linux().changed(|tcp| {
        tcp.host.tso_bursts = true;
        tcp.host.minimum_burst = 1;
        tcp.initial_window = 70;
    });
    let mut s = Script::connected(&config);
    s.peer_window = 120_000;
    s.ack(0);
    s.write(70);
    let left = s.left();
    let pushed: Vec<u64> = left
        .iter()
        .filter(|left| left.segment.flags.has(Flags::PSH))
        .map(|left| (left.segment.seq - 1) / FULL + 1)
        .collect();
    // Half of the window is 60 segments. The first segment is sent before the 61st is written, so
    // segment 61 is pushed. The last segment is pushed because it ends the data.
    assert_eq!(pushed, [61, 70]);
}

#[test]
fn a_small_segment_that_is_read_is_acknowledged_at_once() {
    let mut s = Script::connected(&linux());
    s.set(SocketOption::QuickAck(false)); // ACKs are now delayed, as after a reply
    let small = |s: &Script, number: u64| Segment {
        seq: 1 + (number - 1) * 100,
        len: 100,
        flags: Flags::ACK | Flags::PSH,
        ..s.data(1)
    };
    let first = small(&s, 1);
    s.arrive(first);
    s.left();
    s.wait(200);
    s.left();
    // After the delayed-ACK timer has expired, the connection no longer counts as interactive. So
    // each small segment is acknowledged at once.
    for number in 2..=40 {
        let next = small(&s, number);
        s.arrive(next);
        assert_eq!(s.sends_ack().ack, 1 + number * 100);
    }
}

#[test]
fn a_small_burst_waits_for_an_acknowledgment_that_is_due_within_a_millisecond() {
    let config = linux().changed(|tcp| {
        tcp.host.tso_bursts = true;
        tcp.initial_ssthresh = 10.0;
    });
    let mut s = Script::connected(&config);
    s.write(5);
    s.wait(5);
    s.write(35);
    s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    s.wait(95);
    s.ack(1);
    s.sends(&[11]); // the last segment was sent long ago, so the burst does not wait
    s.ack(2);
    s.sends_nothing(); // the ACK of segment 3 is due within a millisecond, so the burst waits
    s.ack(3);
    s.sends(&[12, 13]);
    s.ack(5);
    s.sends(&[14, 15]);
    s.ack(6);
    s.sends(&[16]); // the ACK of segment 7 is due in 5 ms, so the burst does not wait
}

#[test]
fn what_left_in_one_piece_is_repaired_in_one_piece() {
    let config = linux().changed(|tcp| {
        tcp.host.tso_bursts = true;
        tcp.recovery.frto = false;
        tcp.recovery.tail_loss_probe = false;
    });
    let mut s = Script::connected(&config);
    s.write(10); // the segments are sent in pairs
    s.left();
    s.wait(600);
    s.sends(&[1]);
    s.ack(1);
    s.sends(&[2, 3]); // segments 2 and 3 belong to different pairs
    s.ack(3);
    let left = s.left();
    let pushed: Vec<u64> = left
        .iter()
        .filter(|left| left.segment.flags.has(Flags::PSH))
        .map(|left| (left.segment.seq - 1) / FULL + 1)
        .collect();
    assert_eq!(left.len(), 3, "4, then 5 and 6");
    assert_eq!(pushed, [6]);
}

// --- when the receiver answers ------------------------------------------------------------------

/// A receiver whose window does not grow, which has used up its first sixteen quick ACKs.
fn settled_receiver() -> Script {
    let mut s = Script::connected(
        &linux().changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 64_000 }),
    );
    takes_quickly(&mut s, 1);
    s
}

/// Asserts that sixteen segments from `first` on are acknowledged one by one, and the two after
/// them together.
#[track_caller]
fn takes_quickly(s: &mut Script, first: u64) {
    for number in first..first + 16 {
        let data = s.data(number);
        s.arrive(data);
        assert_eq!(s.sends_ack().ack, 1 + number * FULL);
    }
    let data = s.data(first + 16);
    s.arrive(data);
    s.sends_nothing();
    let data = s.data(first + 17);
    s.arrive(data);
    assert_eq!(s.sends_ack().ack, 1 + (first + 17) * FULL);
}

#[test]
fn the_answer_to_data_below_the_last_ack_is_none_of_the_quick_acks_it_grants() {
    let mut s = settled_receiver();
    let old = s.data(1);
    s.arrive(old);
    assert_eq!(s.sends_ack().sack.as_slice().len(), 1);
    takes_quickly(&mut s, 19);
}

#[test]
fn thinned_acks_that_a_new_block_drives_out_answer_for_it() {
    let mut s = settled_receiver();
    for number in [20, 21, 22] {
        let data = s.data(number);
        s.arrive(data);
        s.sends_ack();
    }
    let second_block = s.data(24);
    s.arrive(second_block);
    s.sends_nothing();
    let third_block = s.data(26);
    s.arrive(third_block);
    assert_eq!(s.sends_ack().sack.as_slice().len(), 2);
    s.wait(30);
    s.sends_nothing();
    let data = s.data(27);
    s.arrive(data);
    s.wait(2);
    assert_eq!(s.sends_ack().sack.as_slice().len(), 3);
}

// --- what acknowledgments tell ------------------------------------------------------------------

#[test]
fn a_sack_of_part_of_a_segment_tells_nothing_of_it() {
    let mut s = Script::connected(&linux());
    s.write(10);
    s.left();
    s.wait(100);
    let mut ack = s.bare(0);
    // The block covers the second half of segment 2, segment 3, and the first half of segment 4.
    // Only segment 3 counts as SACKed.
    ack.sack.push(SackBlock {
        start: 1501,
        end: 3501,
    });
    s.arrive(ack);
    assert_eq!(s.tcp().info().sacked, 1);
}

#[test]
fn one_report_of_three_duplicates_undoes_three_retransmissions() {
    let config = TcpConfig {
        timestamps: false,
        mss: 1000,
        ..linux()
    };
    let mut s = Script::connected(&config);
    s.write(20);
    s.left();
    s.wait(100);
    for last in 6..=10 {
        s.sack(0, &[(4, last)]);
    }
    let again = s.left();
    let again = again.iter().filter(|left| left.segment.seq < 10 * FULL);
    assert_eq!(again.count(), 3);
    // The DSACK reports that all three original segments had arrived, so the reduction is undone.
    s.sack(10, &[(1, 3)]);
    assert!(s.log.events.contains(&"undo"), "{:?}", s.log.events);
}

#[test]
fn without_sack_duplicates_are_deliveries_that_their_acknowledgment_does_not_repeat() {
    let config = exact().changed(|tcp| tcp.recovery.method = LossRecovery::NewReno);
    let mut s = Script::connected(&config);
    s.write(30);
    s.left();
    s.wait(100);
    s.ack(0);
    s.ack(0);
    // After two duplicate ACKs all ten segments are acknowledged, of which eight count as newly
    // delivered.
    let before = s.tcp().info().delivered;
    s.ack(10);
    assert_eq!(s.tcp().info().delivered - before, 8);
}

#[test]
fn an_impatient_newreno_times_out_where_a_slow_but_steady_one_goes_on() {
    for (variant, timeouts) in [
        (NewRenoVariant::Impatient, 1),
        (NewRenoVariant::SlowButSteady, 0),
    ] {
        let config = profile("newreno").changed(|tcp| {
            tcp.initial_window = 10;
            tcp.recovery.newreno_variant = variant;
        });
        let mut s = Script::connected(&config);
        s.write(10);
        s.wait(100);
        (0..3).for_each(|_| s.ack(0));
        // Each retransmission is acknowledged after 400 ms. The timer expires after one second.
        for repaired in 1..=4 {
            s.wait(400);
            s.ack(repaired);
        }
        assert_eq!(s.log.timeouts.len(), timeouts, "{variant:?}");
        assert!(s.log.timeouts.iter().all(|&rto| rto == Span::from_secs(1)));
    }
}

// --- the send buffer -----------------------------------------------------------------------------

#[test]
fn an_endless_source_writes_what_the_memory_of_two_windows_holds() {
    // As in the recorded runs: 32 segments at first, in sk_buffs of half the peer's window. Then
    // nothing until a third of the memory is free.
    let send_buffer = SocketKind::Linux(SendBufferConfig {
        initial: 16_384,
        maximum: u64::MAX,
        header: 256,
        head: 256,
    });
    let config = TcpConfig::linux().changed(|tcp| tcp.buffers.send = send_buffer);
    let mut s = Script::closed(&config);
    s.peer_window = 65_160;
    s.command(AppCommand::Connect);
    s.wait(60);
    let syn_ack = s.syn(Flags::SYN | Flags::ACK, &config);
    s.arrive(syn_ack);
    s.command(AppCommand::WriteForever);
    let info = s.tcp().info();
    assert_eq!((info.unacked, info.notsent_bytes), (10, 22 * 1_448));
    s.wait(60);
    let mut written = 32;
    for acked in 1..=14 {
        let ack = Segment {
            ack: 1 + acked * 1_448,
            ..s.bare(0)
        };
        s.arrive(ack);
        let info = s.tcp().info();
        written = acked + u64::from(info.unacked) + info.notsent_bytes / 1_448;
        if acked == 1 {
            assert_eq!(written, 32);
        }
    }
    assert!(written > 32);
}
