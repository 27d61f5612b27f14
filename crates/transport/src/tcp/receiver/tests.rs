//! Tests of the receiving half: reactions to segments, and acknowledgments with their windows.

mod prediction;
mod reading;

use super::*;
use crate::congestion::EcnFeedback;
use crate::tcp::config::ReceiveWindow;
use fadeout_core::SackBlock;
use fadeout_core::registry::Parameters;

const RTO: Span = Span::from_millis(300);
const SRTT: Span = Span::from_millis(100);

/// Receiver under test. Its stream begins at sequence number 1.
struct Bench {
    receiver: Receiver,
    now: Time,
}

fn agreed(config: &TcpConfig, ecn: EcnFeedback) -> Agreed {
    Agreed {
        mss: 1000,
        sack: config.recovery.method.uses_sack(),
        timestamps: config.timestamps,
        ecn,
        peer_window: 64_000,
        handshake_rtt: None,
        starts_from_one: false,
        is_crossed: false,
    }
}

/// Returns the Linux profile without timestamps.
fn linux() -> TcpConfig {
    TcpConfig {
        timestamps: false,
        mss: 1000,
        ..TcpConfig::linux()
    }
}

/// Returns the profile `rfc` with a window of 10,000 bytes and an ACK for every second segment.
fn rfc() -> TcpConfig {
    let config = TcpConfig::new("rfc", &Parameters::default()).expect("a profile");
    config.changed(|tcp| {
        tcp.timestamps = false;
        tcp.mss = 1000;
        tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 10_000 };
    })
}

impl Bench {
    fn new(config: &TcpConfig) -> Bench {
        Bench::with_ecn(config, EcnFeedback::None)
    }

    fn with_ecn(config: &TcpConfig, ecn: EcnFeedback) -> Bench {
        let mut receiver = Receiver::new(config);
        let now = Time::ZERO + Span::from_secs(1);
        let terms = SynTerms {
            window_scaling: true,
            timestamps: config.timestamps,
            answer_mss: None,
        };
        receiver.on_syn(&Segment::default(), terms);
        receiver.on_established(now, &agreed(config, ecn));
        receiver.stamp(now, &mut Segment::default());
        Bench { receiver, now }
    }

    fn receive(&mut self, segment: Segment) -> Received {
        self.receiver
            .on_segment(self.now, &segment, Ecn::NotEct, (RTO, SRTT), true)
    }

    /// Passes a segment of `bytes` bytes, beginning at `seq`, to the receiver.
    fn data(&mut self, seq: u64, bytes: u32) -> Received {
        self.receive(data(seq, bytes))
    }

    /// Returns the ACK that is sent now.
    fn ack(&mut self) -> Segment {
        let mut ack = Segment::default();
        self.receiver.stamp(self.now, &mut ack);
        ack
    }
}

fn data(seq: u64, len: u32) -> Segment {
    Segment {
        seq,
        len,
        flags: Flags::ACK,
        ..Segment::default()
    }
}

fn add_flags(flags: Flags, mut segment: Segment) -> Segment {
    segment.flags |= flags;
    segment
}

#[test]
fn a_segment_without_data_below_what_was_acknowledged_is_answered() {
    // RFC 9293 section 3.10.7.4: a segment below the window, such as a keep-alive, is answered with
    // an ACK.
    for (seq, ack_now) in [(1000, true), (1001, false), (1002, false)] {
        let mut b = Bench::new(&rfc());
        b.data(1, 1000);
        b.ack();
        assert_eq!(b.data(seq, 0).ack_now, ack_now, "{seq}");
    }
}

#[test]
fn what_begins_beyond_the_window_is_answered_and_dropped() {
    for (seq, is_taken) in [(10_001, true), (10_002, false)] {
        let mut b = Bench::new(&rfc());
        let received = b.data(seq, 1000);
        assert!(received.ack_now);
        assert_eq!(b.receiver.reassembly.has_gap(), is_taken, "{seq}");
    }
    // The window is counted from the end of the data received since the last ACK.
    let mut b = Bench::new(&rfc());
    b.data(1, 1000);
    b.data(10_002, 1000);
    assert!(!b.receiver.reassembly.has_gap());
}

#[test]
fn a_fin_counts_when_all_before_it_has_arrived() {
    let fin = add_flags(Flags::FIN, data(2001, 1000));
    let mut b = Bench::new(&rfc());
    let received = b.receive(fin);
    assert_eq!((received.bytes, received.fin), (0, false));
    let received = b.data(1, 1000);
    assert_eq!((received.bytes, received.fin), (1000, false));
    assert!(!b.receiver.has_received_fin());
    let received = b.data(1001, 1000);
    assert_eq!((received.bytes, received.fin), (2000, true));
    assert!(b.receiver.has_received_fin());
    assert_eq!(b.ack().ack, 3002);
    let received = b.receive(fin);
    assert_eq!((received.bytes, received.fin), (0, false), "told once");
}

#[test]
fn what_fills_a_part_of_a_gap_is_acknowledged_at_once() {
    // RFC 5681 section 4.2: data that fills a part of a gap is acknowledged at once.
    let mut b = Bench::new(&rfc());
    assert!(!b.data(1, 500).ack_now);
    b.ack();
    assert!(b.data(3001, 500).ack_now);
    b.ack();
    assert!(b.data(501, 500).ack_now);
}

#[test]
fn data_on_a_syn_is_taken_without_an_ack_of_its_own() {
    for (is_reading, has_fin, unread) in [(true, false, 0), (false, false, 700), (false, true, 700)]
    {
        let mut receiver = Receiver::new(&linux());
        receiver.reassembly.begin(1);
        receiver.is_reading = is_reading;
        let mut segment = data(1, 700);
        if has_fin {
            segment.flags |= Flags::FIN;
        }
        let received = receiver.on_early_segment(Time::ZERO, &segment);
        let expected = Received {
            bytes: 700,
            ack_now: false,
            fin: has_fin,
        };
        assert_eq!(received, expected);
        assert_eq!(receiver.rcv_nxt(), 701 + u64::from(has_fin));
        assert_eq!(receiver.packets.unread(), unread);
    }
}

#[test]
fn an_outdated_segment_with_data_is_reported_as_the_duplicate_that_it_is() {
    let mut b = Bench::new(&linux());
    b.data(1, 1000);
    b.ack();
    assert!(b.receiver.answers_outdated(b.now, &data(501, 500)));
    let block = SackBlock {
        start: 501,
        end: 1001,
    };
    assert_eq!(b.ack().sack.as_slice(), [block]);
    // The segment begins at RCV.NXT, so its data is not reported as a duplicate.
    assert!(b.receiver.answers_outdated(b.now, &data(1001, 500)));
    assert_eq!(b.ack().sack.as_slice(), []);
    assert!(b.receiver.answers_outdated(b.now, &data(2001, 500)));
    assert_eq!(b.ack().sack.as_slice(), []);
    // A second segment without data within half a second is not answered.
    let answers = [0, 100, 600].map(|after| {
        let now = b.now + Span::from_millis(after);
        b.receiver.answers_outdated(now, &data(501, 0))
    });
    assert_eq!(answers, [true, false, true]);
}

#[test]
fn full_segments_are_what_the_peer_sends_twice() {
    // Linux `tcp_measure_rcv_mss`: before any data arrived, the assumed segment size is 536 bytes.
    let psh = |len| add_flags(Flags::PSH, data(1, len));
    let plain = |len| data(1, len);
    let fin = |len| add_flags(Flags::FIN, data(1, len));
    let cases: [(&str, &[Segment], u32, u8); 10] = [
        ("a larger one", &[plain(800)], 800, 0),
        ("above the own", &[plain(1400)], 1000, 0),
        ("a larger one with a push", &[psh(800)], 800, 1),
        ("two of a kind", &[plain(400), plain(400)], 400, 1),
        ("two unlike", &[plain(400), plain(399)], 536, 2),
        ("one between", &[plain(400), plain(50), plain(400)], 536, 3),
        ("cut by pushes", &[psh(400), psh(400)], 536, 2),
        ("cut by a FIN", &[plain(400), fin(400)], 536, 2),
        ("too small", &[plain(87), plain(87)], 536, 2),
        ("just not", &[plain(88), plain(88)], 88, 1),
    ];
    for (what, segments, peer_mss, pushes) in cases {
        let mut b = Bench::new(&linux());
        for segment in segments {
            b.receiver.measure_segments(segment);
        }
        assert_eq!(b.receiver.peer_mss(), peer_mss, "{what}");
        assert_eq!(b.receiver.pushes, pushes, "{what}");
    }
}

#[test]
fn options_belong_to_the_size_of_a_segment() {
    let config = TcpConfig {
        timestamps: true,
        mss: 1012,
        ..linux()
    };
    for (len, is_pushed, peer_mss) in [
        (524, true, 524),
        (523, true, 536),
        (76, false, 76),
        (75, false, 536),
    ] {
        let mut b = Bench::new(&config);
        for _ in 0..2 {
            let mut segment = data(1, len);
            if is_pushed {
                segment.flags |= Flags::PSH;
            }
            b.receiver.measure_segments(&segment);
        }
        assert_eq!(b.receiver.peer_mss(), peer_mss, "{len}");
    }
}

#[test]
fn a_full_segment_is_the_agreed_one_without_the_kernels_rule() {
    let mut b = Bench::new(&rfc());
    for _ in 0..2 {
        b.receiver.measure_segments(&data(1, 400));
    }
    assert_eq!(b.receiver.peer_mss(), 1000);
}

#[test]
fn every_arrival_is_measured_but_a_bare_fin() {
    let mut b = Bench::new(&linux());
    b.data(2001, 400);
    b.data(2001, 400);
    assert_eq!(b.receiver.peer_mss(), 400, "held already, and measured");
    let mut b = Bench::new(&linux());
    b.receive(add_flags(Flags::FIN, data(1, 0)));
    assert_eq!(b.receiver.pushes, 0);
}

#[test]
fn large_segments_let_the_window_grow_where_they_are_of_use() {
    // Linux `tcp_grow_window`: segments of at least 128 bytes let the window grow. Without SACK,
    // out-of-order data does not.
    let without_sack =
        linux().changed(|tcp| tcp.recovery.method = crate::tcp::config::LossRecovery::NewReno);
    for (config, seq, len, grows) in [
        (linux(), 1, 1000, true),
        (linux(), 1, 127, false),
        (linux(), 1, 128, true),
        (linux(), 3001, 1000, true),
        (without_sack.clone(), 1, 1000, true),
        (without_sack, 3001, 1000, false),
    ] {
        let mut b = Bench::new(&config);
        b.receiver.peer_mss = 1000;
        b.receiver.window.measure_share(1400);
        let before = b.receiver.window.preview(0, 1000);
        for n in 0..4 {
            b.data(seq + n * u64::from(len), len);
        }
        let grown = b.receiver.window.preview(0, 1000) > before;
        assert_eq!(grown, grows, "{seq} {len}");
    }
}

#[test]
fn an_ack_that_would_shrink_the_window_waits_for_the_reader() {
    // Linux `__tcp_ack_snd_check`: the ACK waits if the window would shrink. Other stacks
    // acknowledge every second segment regardless.
    let fixed =
        linux().changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 10_000 });
    for (config, is_acked) in [(fixed, false), (rfc(), true)] {
        let mut b = Bench::new(&config);
        b.receiver.peer_mss = 1000;
        b.data(1, 10);
        b.ack();
        b.receiver.policy.forgo_quick_acks();
        b.receiver.set_reading(b.now, false);
        let acked = [0, 1, 2, 3].map(|n| b.data(11 + n * 1000, 1000).ack_now);
        assert_eq!(acked.contains(&true), is_acked, "{acked:?}");
    }
}

#[test]
fn a_reader_that_empties_the_buffer_lets_an_ack_go_after_a_burst() {
    // Linux `tcp_cleanup_rbuf`: a push ends a burst, whose ACK is sent after the read. An
    // interactive connection waits for a second push.
    for (pushes, is_interactive, bytes, unread, acks) in [
        (1, false, 10, 0, true),
        (1, true, 10, 0, false),
        (2, true, 10, 0, true),
        (0, false, 10, 0, false),
        (1, false, 0, 0, false),
        (1, false, 5, 5, false),
    ] {
        let mut b = Bench::new(&linux());
        b.receiver.policy.forgo_quick_acks();
        b.receiver.reassembly.insert(1, 11);
        b.receiver.policy.schedule();
        b.receiver.pushes = pushes;
        b.receiver.packets.push(1, 1 + unread, Default::default());
        if is_interactive {
            b.receiver.expect_reply();
        }
        let found = b.receiver.is_answered_read(bytes);
        assert_eq!(found, acks, "{pushes} {is_interactive} {bytes} {unread}");
    }
    // No ACK is sent if no ACK is due, if data is missing, or if the rule for ACKs is not Linux's.
    let mut b = Bench::new(&linux());
    b.receiver.pushes = 1;
    assert!(!b.receiver.is_answered_read(10));
    b.receiver.policy.schedule();
    assert!(b.receiver.is_answered_read(10));
    b.receiver.reassembly.insert(2001, 3001);
    assert!(!b.receiver.is_answered_read(10));
    let mut b = Bench::new(&rfc());
    b.receiver.pushes = 1;
    b.receiver.policy.schedule();
    assert!(!b.receiver.is_answered_read(10));
}

#[test]
fn what_another_path_completes_lets_an_ack_of_a_bursts_end_go() {
    // The expected answers follow Linux `mptcp_cleanup_rbuf`. Here the end of a burst is
    // unacknowledged, so an ACK is due.
    let answers = |change: fn(&mut Receiver)| {
        let mut b = Bench::new(&linux());
        b.receiver.policy.forgo_quick_acks();
        b.receiver.policy.schedule();
        b.receiver.pushes = 1;
        change(&mut b.receiver);
        shared::answers_reading(&b.receiver, true, false)
    };
    assert!(answers(|_| ()));
    assert!(!answers(|receiver| receiver.pushes = 0));
    // More than a full segment is unacknowledged, so an ACK is sent.
    assert!(answers(|receiver| {
        receiver.pushes = 0;
        receiver.reassembly.insert(1, 3_001);
    }));
    assert!(!answers(|receiver| receiver.expect_reply()));
    assert!(!answers(|receiver| receiver.policy.on_ack_sent()));
    assert!(!answers(|receiver| {
        receiver.reassembly.insert(2_001, 3_001);
    }));
}

#[test]
fn another_mark_needs_an_ack_of_what_was_received_before() {
    // RFC 8257 section 3.2: if the mark changes, an ACK for the earlier segments is sent first.
    for ack_rule in [AckRule::EverySecond, AckRule::Linux] {
        let config = linux().changed(|tcp| tcp.acks.rule = ack_rule);
        let mut b = Bench::with_ecn(&config, EcnFeedback::Dctcp);
        b.receiver.set_quick_acks(false);
        let before = |b: &mut Bench, len, ecn| {
            let segment = data(1001, len);
            b.receiver.must_acknowledge_before(&segment, ecn)
        };
        assert!(!b.receiver.must_acknowledge_before(&data(1, 1000), Ecn::Ce));
        b.data(1, 1000);
        assert!(!before(&mut b, 1000, Ecn::Ect0));
        assert!(before(&mut b, 1000, Ecn::Ce));
        assert!(!before(&mut b, 0, Ecn::Ce));
        let duplicate = data(1, 1000);
        assert!(!b.receiver.must_acknowledge_before(&duplicate, Ecn::Ce));
        b.ack();
        assert!(!before(&mut b, 1000, Ecn::Ce));
    }
}

#[test]
fn an_ack_carries_as_many_blocks_as_its_options_leave_room_for() {
    // RFC 2018 section 3: four blocks fit into the 40 bytes of options, or three with timestamps.
    for (timestamps, multipath, blocks) in [
        (false, false, 4),
        (true, false, 3),
        (false, true, 3),
        (true, true, 1),
    ] {
        let config = TcpConfig {
            timestamps,
            multipath,
            ..TcpConfig::linux()
        };
        let mut b = Bench::new(&config);
        for n in 1..=5 {
            b.data(1 + 2000 * n, 1000);
        }
        let found = b.ack().sack.as_slice().len();
        assert_eq!(found, blocks, "{timestamps} {multipath}");
    }
}

#[test]
fn the_radio_lost_what_a_biased_queue_would_have_kept() {
    // TCP-Casablanca: every second segment is expendable, beginning with the first.
    let mut casablanca = linux();
    casablanca.resilience.loss = LossResponse::Casablanca;
    casablanca.resilience.expendable_every = 2;
    for (config, arrives, is_radio_loss) in [
        (&casablanca, &[1, 2001][..], true),
        (&casablanca, &[1001], false),
        (&casablanca, &[1], false),
        (&linux(), &[1, 2001], false),
    ] {
        let mut b = Bench::new(config);
        for &seq in arrives {
            b.data(seq, 1000);
        }
        assert_eq!(b.ack().is_radio_loss, is_radio_loss, "{arrives:?}");
    }
}

#[test]
fn data_soon_after_what_it_answers_makes_a_connection_interactive() {
    for (len, is_interactive) in [(0, false), (10, true)] {
        let mut b = Bench::new(&linux());
        b.data(1, 100);
        b.receiver.stamp(b.now, &mut data(1, len));
        assert_eq!(b.receiver.policy.is_interactive(), is_interactive);
    }
}

#[test]
fn a_reader_that_comes_back_announces_an_opening_worth_it() {
    // RFC 9293 section 3.8.6.2.2: a window update is sent if the window grows by a full segment or
    // by half of the buffer.
    let small =
        rfc().changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 1_200 });
    for (config, bytes, announces) in [
        (rfc(), 999, false),
        (rfc(), 1000, true),
        (small.clone(), 599, false),
        (small, 600, true),
    ] {
        let mut b = Bench::new(&config);
        b.receiver.set_reading(b.now, false);
        b.data(1, bytes);
        b.ack();
        assert_eq!(b.receiver.set_reading(b.now, true), announces, "{bytes}");
        assert!(!b.receiver.set_reading(b.now, true), "nothing more to read");
    }
    let mut b = Bench::new(&rfc());
    b.receiver.set_reading(b.now, false);
    b.data(1, 5000);
    b.ack();
    assert!(!b.receiver.set_reading(b.now, false), "it does not read");
    assert_eq!(b.receiver.packets.unread(), 5000);
}

#[test]
fn reading_announces_a_window_that_doubles() {
    for (held, read, announces) in [(8000, 1000, false), (8000, 2000, true), (10_000, 0, false)] {
        let mut b = Bench::new(&rfc());
        b.receiver.set_reading(b.now, false);
        b.data(1, held);
        b.ack();
        assert_eq!(b.receiver.read(b.now, read), announces, "{read} of {held}");
        assert_eq!(b.receiver.packets.unread(), u64::from(held) - read);
    }
    // Out-of-order data uses the buffer too, so it reduces the window.
    let mut b = Bench::new(&rfc());
    b.receiver.set_reading(b.now, false);
    b.data(1, 4000);
    b.data(6001, 2000);
    b.ack();
    assert!(!b.receiver.read(b.now, 3000));
}

#[test]
fn a_number_is_in_the_window_above_the_next_up_to_its_edge() {
    // RFC 5961 section 3.2: a reset within the window causes a challenge ACK.
    let mut b = Bench::new(&rfc());
    b.data(1, 1000);
    b.ack();
    let found = [1000, 1001, 1002, 11_001, 11_002].map(|seq| b.receiver.is_within_window(seq));
    assert_eq!(found, [false, false, true, true, false]);
    b.data(1001, 500);
    assert!(b.receiver.is_within_window(11_001), "the edge stays");
    assert!(!b.receiver.is_within_window(11_002));
    assert_eq!(b.receiver.rcv_nxt(), 1501);
}

#[test]
fn freezing_announces_a_closed_window_ahead_of_an_outage() {
    let mut config = linux();
    config.resilience.outage = OutageResponse::Freeze;
    config.resilience.freeze_lead_rtts = 2.0;
    let predicted = |after_ms: u64| LinkInfo::BlockagePredicted {
        starts_at: Time::ZERO + Span::from_millis(1000 + after_ms),
        lasts: Span::from_secs(1),
    };
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    let mut b = Bench::new(&config);
    // The outage is predicted more than one round trip of 100 ms ahead, so the window does not
    // close yet.
    assert_eq!(b.receiver.on_link_info(b.now, &predicted(1000), SRTT), 0);
    assert_eq!(b.receiver.wake_at(), ms(1800));
    assert_ne!(b.ack().window, 0);
    assert_eq!(
        b.receiver.on_link_info(b.now, &predicted(150), SRTT),
        1,
        "now"
    );
    assert_eq!(b.ack().window, 0);
    let announcements = b
        .receiver
        .on_link_info(b.now, &LinkInfo::BlockageEnded, SRTT);
    assert!(announcements > 1);
    assert_ne!(b.ack().window, 0);
    let mut b = Bench::new(&linux());
    assert_eq!(b.receiver.on_link_info(b.now, &predicted(150), SRTT), 0);
    assert_ne!(b.ack().window, 0);
}
