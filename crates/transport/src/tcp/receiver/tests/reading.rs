//! Tests of reads by the application, of the assumed segment size of the peer, and of the timing of
//! ACKs.

use super::*;

#[test]
fn a_fin_alone_and_what_leaves_a_gap_say_nothing_of_the_spacing_of_data() {
    let is_quick = |segment| {
        let mut b = Bench::new(&linux());
        b.receive(segment);
        b.receiver.policy.is_quick()
    };
    assert!(is_quick(data(1, 1000)));
    assert!(!is_quick(add_flags(Flags::FIN, data(1, 0))));
    // A small segment behind a gap does not cause quick ACKs, because it does not let the window
    // grow.
    assert!(!is_quick(data(2001, 100)));
}

#[test]
fn what_is_held_already_takes_no_more_room() {
    let mut b = Bench::new(&linux());
    b.data(2001, 1000);
    let (held, window) = (b.receiver.held(), format!("{:?}", b.receiver.window));
    b.data(2001, 1000);
    assert_eq!(format!("{held:?}"), format!("{:?}", b.receiver.held()));
    assert_eq!(window, format!("{:?}", b.receiver.window));
}

/// Returns a receiver whose ACKs are thinned after many out-of-order segments, and the start of the
/// last segment.
fn thinned() -> (Bench, u64) {
    let mut b = Bench::new(&linux());
    b.receiver.policy.forgo_quick_acks();
    let mut seq = 2001;
    loop {
        let received = b.data(seq, 1000);
        b.receiver.policy.forgo_quick_acks();
        if !received.ack_now {
            return (b, seq);
        }
        b.ack();
        seq += 2000;
        assert!(seq < 40_000, "never");
    }
}

#[test]
fn a_thinned_ack_leaves_after_a_twentieth_of_the_round_trip_and_a_tenth_of_a_millisecond() {
    let (b, _) = thinned();
    // A twentieth of the round-trip time of 100 ms exceeds the largest delay, so the delay is 1 ms
    // plus the slack.
    assert_eq!(b.receiver.wake_at().since(b.now), Span::from_micros(1_100));
}

#[test]
fn thinned_acks_end_where_a_block_could_not_be_repeated() {
    // Linux expects two blocks in each ACK. If a segment extends an older block or begins a new
    // one, the held-back ACK is sent first.
    let (mut b, last) = thinned();
    let ends = |b: &Bench, seq| b.receiver.ends_compression(&data(seq, 1000));
    assert!(ends(&b, last + 10_000));
    assert!(!ends(&b, last + 1000), "it extends the newest");
    assert!(!ends(&b, last - 1000), "it joins the newest two");
    assert!(!ends(&b, 1), "it is in order");
    b.ack();
    assert!(!ends(&b, last + 10_000), "nothing is thinned out");
}

#[test]
fn an_application_that_reads_lets_an_ack_leave_for_a_window_that_doubles() {
    // The receiver offers 10,000 bytes, and the application reads nothing until the window is
    // closed.
    let mut b = Bench::new(&rfc().changed(|tcp| tcp.acks.rule = AckRule::Linux));
    b.receiver.set_reading(b.now, false);
    let mut seq = 1;
    while b.ack().window >= 1000 {
        b.data(seq, 1000);
        seq += 1000;
    }
    b.ack();
    assert!(!b.receiver.read(b.now, 0));
    assert!(!b.receiver.read(b.now, 1), "no window for a segment yet");
    assert!(b.receiver.read(b.now, 6_000));
    assert!(!b.receiver.read(b.now, 0), "there is nothing new to tell");
}

#[test]
fn what_the_receiver_knows_is_told() {
    let mut b = Bench::new(&linux());
    assert_eq!(b.receiver.rtt(), None);
    b.receiver.window.set_rtt(Some(SRTT));
    assert_eq!(b.receiver.rtt(), Some(SRTT));
    assert!(!b.receiver.policy.is_quick());
    b.receiver.set_quick_acks(true);
    assert!(b.receiver.policy.is_quick());
    b.receiver.set_quick_acks(false);
    assert!(!b.receiver.policy.is_quick());
}

#[test]
fn a_receiver_measures_the_round_trip_by_full_segments() {
    for (len, rtt) in [(535, None), (536, Some(SRTT)), (1000, Some(SRTT))] {
        let mut b = Bench::new(&TcpConfig {
            timestamps: true,
            ..linux()
        });
        let echo = b.now.as_millis() as u32;
        b.now += SRTT;
        let segment = Segment {
            has_timestamps: true,
            ts_value: 1,
            ts_echo: echo,
            ..data(1, len)
        };
        b.receive(segment);
        assert_eq!(b.receiver.rtt(), rtt, "{len}");
    }
}

#[test]
fn the_first_large_segment_shows_how_much_of_the_memory_is_payload() {
    let counted = |len| {
        let mut b = Bench::new(&linux());
        let before = format!("{:?}", b.receiver.window);
        b.receiver.measure_segments(&data(1, len));
        before != format!("{:?}", b.receiver.window)
    };
    assert!(counted(1000) && counted(537));
    assert!(!counted(536), "no more than what it was taken to be");
}

#[test]
fn what_arrives_twice_is_acknowledged_quickly_and_below_the_last_ack_outside_the_count() {
    let mut b = Bench::new(&linux());
    b.data(1, 1000);
    b.ack();
    b.receiver.policy.forgo_quick_acks();
    b.data(1, 999);
    assert!(b.receiver.policy.is_quick());
    assert!(!b.receiver.policy.is_pending());
    b.data(1, 1000);
    assert!(b.receiver.policy.is_pending(), "up to the last ACK itself");
}

#[test]
fn the_ack_of_a_fin_waits_for_a_reply_that_may_come() {
    let ack_now = |config: &TcpConfig, may_reply| {
        let mut b = Bench::new(config);
        b.receiver.policy.forgo_quick_acks();
        let fin = add_flags(Flags::FIN, data(1, 0));
        let received = b
            .receiver
            .on_segment(b.now, &fin, Ecn::NotEct, (RTO, SRTT), may_reply);
        assert!(received.fin);
        received.ack_now
    };
    assert!(!ack_now(&linux(), true));
    assert!(ack_now(&linux(), false));
    assert!(ack_now(&rfc(), true) && ack_now(&rfc(), false));
}

#[test]
fn an_old_timestamp_shows_an_old_segment() {
    let mut b = Bench::new(&TcpConfig {
        timestamps: true,
        ..linux()
    });
    let stamped = |seq, stamp| Segment {
        has_timestamps: true,
        ts_value: stamp,
        ..data(seq, 1000)
    };
    b.receive(stamped(1, 500));
    assert_eq!(b.receiver.ts_recent(), 500);
    let outdated = |b: &Bench, stamp| {
        b.receiver
            .is_outdated(&stamped(1001, stamp), || (true, RTO))
    };
    assert!(outdated(&b, 400) && !outdated(&b, 500));
}

#[test]
fn more_than_a_segment_is_more_than_one() {
    let mut b = Bench::new(&rfc());
    b.receiver.set_reading(b.now, false);
    b.data(1, 1000);
    assert!(!b.receiver.is_more_than_a_segment_unacknowledged());
    b.data(1001, 1);
    assert!(b.receiver.is_more_than_a_segment_unacknowledged());
    b.ack();
    b.data(1002, 1000);
    assert!(!b.receiver.is_more_than_a_segment_unacknowledged());
    b.data(2002, 2000);
    assert!(b.receiver.is_more_than_a_segment_unacknowledged());
}

#[test]
fn without_sack_no_block_is_sent() {
    for (sack, blocks) in [(true, 1), (false, 0)] {
        let mut b = Bench::new(&rfc());
        b.receiver.has_sack = sack;
        b.data(2001, 1000);
        assert_eq!(b.ack().sack.as_slice().len(), blocks);
    }
}

#[test]
fn a_delayed_ack_leaves_when_its_timer_expires() {
    let mut b = Bench::new(&rfc());
    assert!(!b.data(1, 1000).ack_now);
    let at = b.receiver.wake_at();
    assert!(!at.is_never());
    assert!(!b.receiver.on_wake(b.now, RTO));
    assert!(b.receiver.on_wake(at, RTO));
}

#[test]
fn a_syn_offers_the_window_and_its_scale() {
    let syn = |config: &TcpConfig| {
        let receiver = Receiver::new(config);
        (receiver.initial_window(), receiver.window_scale())
    };
    assert_eq!(syn(&rfc()), (10_000, 0));
    assert_eq!(syn(&linux()), (65_000, 7));
}

/// Returns a Linux receiver with quick ACKs and a buffer of `memory` bytes, which counts memory.
fn tight(memory: u64) -> Bench {
    let mut b = Bench::new(&linux().changed(|tcp| tcp.buffers.initial_receive = memory));
    assert!(b.receiver.window.counts_memory());
    b.data(1, 1000);
    b.ack();
    b
}

#[test]
fn an_ack_that_is_due_leaves_before_the_application_reads() {
    // Received data uses memory until its ACK was sent. After that, or when more data arrives, the
    // application reads it.
    let mut b = tight(131_072);
    assert!(b.data(1001, 1000).ack_now);
    assert_eq!(b.receiver.packets.unread(), 1000);
    b.ack();
    assert_eq!(b.receiver.packets.unread(), 0);
    assert!(b.data(2001, 1000).ack_now);
    b.receiver.read_what_waits();
    assert_eq!(b.receiver.packets.unread(), 0);
    // If no ACK is due, the application reads at once. Data behind a gap cannot be read.
    b.receiver.policy.forgo_quick_acks();
    b.ack();
    assert!(!b.data(3001, 1000).ack_now);
    assert_eq!(b.receiver.packets.unread(), 0);
    assert!(b.data(9001, 1000).ack_now);
    assert_eq!(b.receiver.reads_since, None);
}

#[test]
fn a_window_that_reading_doubles_is_told_again_behind_the_ack_that_left_before() {
    // In a device's buffers each packet keeps its memory even when packets are merged.
    let mut b = Bench::new(&linux().changed(|tcp| {
        tcp.buffers.packet_memory = crate::tcp::config::PacketMemory {
            alone: 1_128,
            joined: 872,
        }
    }));
    b.data(1, 1000);
    b.ack();
    b.receiver.policy.forgo_quick_acks();
    // Many segments arrive behind a gap. The segment that fills the gap makes them readable. The
    // ACK is sent first, then the application reads.
    let behind = 60_001;
    for seq in (2001..behind).step_by(1000) {
        b.data(seq, 1000);
        b.ack();
    }
    assert!(!b.receiver.take_update());
    assert!(b.data(1001, 1000).ack_now);
    let ack = b.ack();
    assert_eq!((ack.ack, b.receiver.packets.unread()), (behind, 0));
    assert!(b.receiver.take_update() && !b.receiver.take_update());
    assert!(b.ack().window >= 2 * ack.window);
    // The read of the next segment does not double the window, so no window update is due.
    b.data(behind, 1000);
    b.ack();
    assert!(!b.receiver.take_update());
}

#[test]
fn a_fin_alone_takes_no_memory() {
    for seq in [1, 2001] {
        let mut b = Bench::new(&linux());
        b.receiver.set_reading(b.now, false);
        b.receive(add_flags(Flags::FIN, data(seq, 0)));
        assert_eq!(b.receiver.held(), Held::Memory(0), "{seq}");
    }
}

#[test]
fn behind_a_gap_a_packet_of_its_own_is_charged_after_the_window_has_grown() {
    // Linux `tcp_data_queue_ofo`: a merged segment is charged to the buffer before the window
    // grows, a separate packet after it.
    for starts in [[2001, 4001, 6001], [2001, 3001, 5001], [4001, 2001, 5001]] {
        let mut b = Bench::new(&linux());
        let mut by_hand = Bench::new(&linux());
        for seq in starts {
            b.data(seq, 1000);
            let receiver = &mut by_hand.receiver;
            receiver.measure_segments(&data(seq, 1000));
            let before = receiver.held();
            let joins = receiver.packets.insert(seq, seq + 1000, Default::default());
            let held = if joins { receiver.held() } else { before };
            receiver.window.grow(1000, receiver.mss, held);
            assert_eq!(b.receiver.held(), receiver.held(), "{seq}");
            let windows = [&b.receiver.window, &receiver.window];
            let [window, expected] = windows.map(|window| format!("{window:?}"));
            assert_eq!(window, expected, "{seq} of {starts:?}");
        }
    }
}

#[test]
fn an_ack_that_would_offer_less_waits_until_the_application_has_read() {
    for (unread, waits) in [(0, false), (40, true)] {
        let mut b = Bench::new(&linux());
        b.receiver.set_reading(b.now, false);
        for number in 0..unread {
            b.data(1 + 1000 * number, 1000);
        }
        b.receiver.is_reading = true;
        b.ack();
        b.receiver.policy.forgo_quick_acks();
        b.data(1 + 1000 * unread, 1000);
        b.receiver.policy.forgo_quick_acks();
        assert!(b.data(1001 + 1000 * unread, 1000).ack_now);
        assert_eq!(b.receiver.reads_since.is_none(), waits, "{unread}");
    }
}
