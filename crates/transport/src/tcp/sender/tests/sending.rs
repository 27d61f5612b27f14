//! Tests of the departure of new data, and of the reduction of an unused window.

use super::*;
use crate::tcp::config::{Pacing, SendBufferConfig};
use crate::tcp::scoreboard::Tags;
use fadeout_core::{CongestionRow, FlowEnd, Rate, RetransmitCause};

// --- whether the window is the limit (RFC 2861, RFC 7661; Linux `tcp_cwnd_validate`)

/// Returns a sender with a window of ten segments, in congestion avoidance or in slow start.
fn with_window(in_slow_start: bool) -> Bench {
    let mut b = Bench::new(&without_probes());
    if !in_slow_start {
        b.sender.window.ssthresh = 5.0;
    }
    b
}

#[test]
fn a_window_is_the_limit_when_it_is_full_and_in_slow_start_when_more_than_half_is() {
    for (in_slow_start, segments, is_limited) in [
        (false, 10, true),
        (false, 9, false),
        (true, 5, false),
        (true, 6, true),
    ] {
        let mut b = with_window(in_slow_start);
        b.write(segments);
        b.wait(100);
        b.ack(1);
        let found = b.sample().is_cwnd_limited;
        assert_eq!(found, is_limited, "{in_slow_start} {segments}");
    }
}

#[test]
fn a_limit_holds_for_the_window_in_which_it_was_met() {
    let mut b = with_window(false);
    b.write(10);
    b.wait(100);
    b.ack(10);
    assert!(b.sample().is_cwnd_limited);
    b.write(3);
    b.wait(100);
    b.ack(13);
    assert!(!b.sample().is_cwnd_limited, "the next window was not full");
    // Once reached, the limit holds for the whole window of data, although the congestion window
    // has grown.
    let mut b = with_window(false);
    b.write(10);
    b.sender.window.cwnd = 20.0;
    b.write(1);
    b.ack(1);
    assert!(b.sample().is_cwnd_limited);
    // The maximum of outstanding data may grow within a window of data.
    let mut b = with_window(true);
    b.write(5);
    b.write(1);
    b.wait(100);
    b.ack(1);
    assert!(b.sample().is_cwnd_limited);
}

#[test]
fn half_of_what_goes_unused_for_a_timeout_is_given_up() {
    // Three of 40 segments are used. The usage counts as at least the initial window of ten.
    for (waits, cwnd, after, ssthresh) in [
        (3, 40.0, 40.0, 20.0),
        (5, 40.0, 25.0, 30.0),
        (5, 10.0, 10.0, 5.0),
        (5, 8.0, 8.0, 4.0),
    ] {
        let mut b = with_window(false);
        b.sender.window.cwnd = cwnd;
        b.sender.window.ssthresh = cwnd / 2.0;
        let mut acked = 0;
        for _ in 0..waits {
            b.write(3);
            assert_eq!(b.numbers().len(), 3);
            b.wait(90);
            acked += 3;
            b.ack(acked);
        }
        let window = (b.cwnd(), b.sender.window.ssthresh);
        assert_eq!(window, (after, ssthresh), "{waits} {cwnd}");
    }
}

#[test]
fn a_window_that_has_just_restarted_is_not_shrunk_as_well() {
    let config = TcpConfig {
        initial_window: 2,
        ..without_probes()
    };
    let mut b = Bench::new(&config);
    b.sender.window.cwnd = 40.0;
    b.sender.window.ssthresh = 20.0;
    b.write(1);
    assert_eq!(b.cwnd(), 40.0, "nor one at the start");
    b.wait(100);
    b.ack(1);
    b.wait(250);
    b.write(1);
    assert_eq!(b.cwnd(), 20.0);
}

// --- requests of the application

#[test]
fn a_pushed_wait_ends_with_the_next_write() {
    // Linux `TCP_NAGLE_PUSH`: switching Nagle off pushes waiting data, corked or not.
    let mut b = Bench::new(&linux());
    b.sender.set_cork(true);
    b.write_bytes(100);
    assert_eq!(b.numbers(), []);
    b.sender.set_nagle(false);
    b.write_bytes(0);
    assert_eq!(b.numbers(), [1], "nothing was written");
    b.write_bytes(100);
    assert_eq!(b.numbers(), []);
}

#[test]
fn no_segment_reaches_beyond_a_record() {
    let mut b = Bench::new(&linux());
    b.sender.end_record_after(1500);
    b.write_bytes(2200);
    let sent = b.left().into_iter().map(|left| {
        let segment = left.segment;
        (segment.seq, segment.len, segment.flags.has(Flags::PSH))
    });
    let expected = [(1, 1000, false), (1001, 500, true), (1501, 700, true)];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_followed_by_more_is_not_pushed() {
    let pushes = |follows| {
        let mut b = Bench::new(&linux());
        b.sender.set_more(follows);
        b.write(2);
        let pushes = b
            .left()
            .into_iter()
            .map(|left| left.segment.flags.has(Flags::PSH));
        pushes.collect::<Vec<_>>()
    };
    assert_eq!(pushes(false), [false, true]);
    assert_eq!(pushes(true), [false, false]);
}

#[test]
fn small_segments_wait_for_small_ones_alone() {
    // Minshall's rule: a small segment waits only while another small segment is outstanding.
    let config = linux().changed(|tcp| tcp.host.nagle = true);
    let mut b = Bench::new(&config);
    b.write_bytes(1000);
    b.write_bytes(100);
    assert_eq!(b.left().len(), 2, "a full one is no small one");
    b.write_bytes(100);
    assert_eq!(b.left().len(), 0);
    b.write_bytes(900);
    assert_eq!(b.left()[0].segment.len, 1000, "a full one may go");
    b.write_bytes(50);
    assert_eq!(b.left().len(), 0);
    let mut ack = b.bare(0);
    ack.ack = 1101;
    b.wait(100);
    b.arrive(ack);
    assert_eq!(b.left()[0].segment.len, 50);
    // The FIN is sent together with the remaining data, so that the small segment does not wait.
    b.write_bytes(10);
    b.sender.finish(true);
    b.run_step(|sender, cx| sender.transmit(cx));
    let last = b.left()[0].segment;
    assert!(last.len == 10 && last.flags.has(Flags::FIN));
    assert!(b.sender.has_sent_fin());
}

#[test]
fn options_and_reports_are_the_senders_own() {
    let mut b = Bench::sent(&linux(), 3);
    assert!(!b.sender.has_sent_fin());
    assert_eq!(
        (b.sender.segments_in_flight(), b.sender.timeouts_in_a_row()),
        (3, 0)
    );
    assert_eq!(b.sender.pacing_rate(), b.sender.info().pacing_rate);
    assert_eq!(b.sender.recovery_state(), RecoveryState::Open);
    b.sender.set_user_timeout(Some(ms(1500)));
    b.wait(2000);
    assert_eq!(b.sender.recovery_state(), RecoveryState::Loss);
    assert!(b.sender.timeouts_in_a_row() > 1);
    assert!(b.gave_up_at.is_some());
    for end in [FlowEnd::Sender, FlowEnd::Receiver] {
        b.sender.set_end(end);
        assert_eq!(b.sender.end(), end);
        for is_wanted in [true, false] {
            let mut rows = States {
                is_wanted,
                count: 0,
            };
            b.sender.record_state(b.now, &mut rows);
            let is_recorded = is_wanted && end == FlowEnd::Sender;
            assert_eq!(rows.count, u32::from(is_recorded));
        }
    }
}

/// A probe that counts the rows of the congestion table.
struct States {
    is_wanted: bool,
    count: u32,
}

impl Probe for States {
    fn wants_congestion(&self, _now: Time, _flow: FlowId) -> bool {
        self.is_wanted
    }
    fn congestion(&mut self, _row: CongestionRow) {
        self.count += 1;
    }
}

#[test]
fn another_congestion_control_takes_over_with_the_window_as_it_is() {
    let mut b = Bench::sent(&linux(), 10);
    let random = fadeout_core::random::Stream::new(1, "sending", 0);
    let reno = Congestion::new("reno", &Parameters::default(), random);
    b.sender
        .set_congestion(b.now, reno.expect("reno is registered"));
    b.ack(10);
    assert_eq!(b.control_calls().acks.len(), 0);
    assert_eq!(b.cwnd(), 20.0, "slow start");
}

#[test]
fn the_window_is_taken_from_segments_that_are_not_older() {
    // RFC 9293 section 3.10.7.4. Linux `tcp_may_update_window` also accepts the window of a new ACK
    // with an older sequence number.
    let mut b = Bench::sent(&linux(), 10);
    let mut last = b.bare(2);
    last.seq = 500;
    b.arrive(last);
    for (seq, segments, window, may) in [
        (499, 3, 64_000, true),
        (499, 2, 90_000, false),
        (501, 2, 64_000, true),
        (500, 2, 64_001, true),
        (500, 2, 63_999, false),
        (500, 2, 0, true),
        (499, 1, 90_000, false),
    ] {
        let segment = Segment {
            seq,
            window,
            ..b.bare(segments)
        };
        let found = b.sender.may_update_window(&segment);
        assert_eq!(found, may, "{seq} {segments} {window}");
    }
}

// --- pacing, bursts, and the limit of the window

#[test]
fn slow_start_is_paced_at_twice_the_window_up_to_half_the_threshold() {
    // Linux `tcp_update_pacing_rate`: ten segments of 8000 bits are sent in 100 ms.
    for (ssthresh, ratio) in [(f64::INFINITY, 2.0), (21.0, 2.0), (20.0, 1.2), (5.0, 1.2)] {
        let mut b = Bench::new(&linux());
        b.sender.window.ssthresh = ssthresh;
        b.sender.update_pacing_rate();
        let rate = Rate::from_bits_per_sec((ratio * 800_000.0) as u64);
        assert_eq!(b.sender.pacing_rate(), rate, "{ssthresh}");
    }
}

#[test]
fn what_pacing_held_back_of_a_repair_goes_before_new_data() {
    let config = without_probes().changed(|tcp| tcp.host.pacing = Pacing::On);
    let mut b = Bench::new(&config);
    b.write(30);
    b.wait(200);
    b.sender.window.cwnd = 20.0;
    b.left();
    b.sack(0, &[(4, 10)]);
    b.sender.window.cwnd = 20.0;
    b.wait(100);
    let sent = b.numbers();
    assert_eq!(sent[..3], [1, 2, 3]);
    assert!(sent.len() > 3);
    assert!(sent[3..].iter().all(|number| *number > 10), "{sent:?}");
    assert_eq!(b.rows.retransmits[0].cause, RetransmitCause::Rack);
}

#[test]
fn a_timer_that_displaced_the_retransmission_timer_counts_as_waited() {
    // RFC 8985 section 7.2: the oldest segment was sent 100 ms ago.
    let mut b = Bench::sent(&without_probes(), 3);
    for (timer, left) in [
        (None, 300),
        (Some(TimerKind::Rto), 300),
        (Some(TimerKind::LossProbe), 200),
        (Some(TimerKind::Reordering), 200),
    ] {
        b.sender.timer = timer.map(|kind| (kind, b.now));
        b.sender.rearm_rto(b.now);
        assert_eq!(b.timer(), Some((TimerKind::Rto, ms(left))), "{timer:?}");
    }
}

#[test]
fn a_probe_moves_only_when_something_leaves() {
    let mut b = Bench::new(&linux());
    b.write(10);
    let before = b.sender.timer;
    b.wait(50);
    b.write(1);
    assert_eq!(b.sender.timer, before, "the window is full");
}

#[test]
fn a_segment_is_limited_by_the_application_while_that_has_nothing_more() {
    let is_limited = |first, then| {
        let mut b = Bench::new(&without_probes());
        b.write(first);
        b.write(then);
        b.wait(100);
        b.ack(first);
        b.control_calls();
        b.ack(first + 1);
        b.sample().rate.is_app_limited
    };
    assert!(is_limited(3, 1));
    assert!(!is_limited(10, 10), "it was full when the data ended");
}

#[test]
fn a_custom_control_is_told_of_data_and_not_of_a_bare_fin() {
    let mut b = Bench::new(&linux());
    b.write_bytes(1500);
    let calls: Vec<(u64, u32, u32, bool)> = b
        .control_calls()
        .sent
        .iter()
        .map(|sent| (sent.seq, sent.len, sent.in_flight, sent.is_retransmission))
        .collect();
    assert_eq!(calls, [(1, 1000, 1, false), (1001, 500, 2, false)]);
    b.sender.finish(true);
    b.run_step(|sender, cx| sender.transmit(cx));
    assert_eq!(b.left().len(), 3);
    assert_eq!(b.control_calls().sent.len(), 0);
    // The retransmission of the FIN is recorded without payload.
    b.wait(400);
    assert!(
        b.control_calls()
            .sent
            .iter()
            .all(|sent| sent.is_retransmission)
    );
    let fin = b
        .rows
        .retransmits
        .iter()
        .find(|row| row.offset_bytes == 1500);
    assert_eq!(fin.map(|row| row.payload_bytes), Some(0));
}

#[test]
fn after_idle_the_control_is_told_how_long_it_was() {
    let mut b = Bench::sent(&linux(), 10);
    b.control_calls();
    b.ack(5);
    b.write(1);
    assert_eq!(b.control_calls().idle, []);
    b.ack(11);
    b.wait(150);
    b.write(2);
    assert_eq!(b.control_calls().idle, [ms(150)]);
}

// --- data on the SYN (RFC 7413)

#[test]
fn what_of_a_syns_data_was_not_acknowledged_goes_again_without_a_reduction() {
    for (acked, again) in [(0, &[1, 2, 3][..]), (1000, &[2, 3]), (2500, &[])] {
        let mut b = Bench::new(&without_probes());
        let sent_at = b.now;
        b.write_bytes(2500);
        b.left();
        b.sender.board = Default::default();
        b.now += ms(100);
        let end = 2501;
        b.run_step(|sender, cx| sender.on_early_answer(cx, (1 + acked, end), sent_at));
        assert_eq!(b.numbers(), again, "{acked}");
        assert_eq!(
            (b.cwnd(), b.sender.snd_nxt, b.sender.snd_una),
            (10.0, end, 1 + acked)
        );
        let is_lost = !again.is_empty();
        let state = if is_lost {
            RecoveryState::Loss
        } else {
            RecoveryState::Open
        };
        assert_eq!(b.state(), state);
        assert!(b.sender.window.ssthresh.is_infinite());
        assert_eq!(b.sender.undo.prior_ssthresh, None);
        let board = &b.sender.board;
        let lens: Vec<u32> = (board.first()..board.end())
            .map(|n| board.get(n).len)
            .collect();
        assert_eq!(lens.iter().sum::<u32>() as u64, end - 1 - acked);
        assert!(lens.iter().all(|len| *len <= FULL as u32));
        if is_lost {
            assert_eq!(board.retrans_out as usize, again.len());
            assert_eq!(board.get(board.first()).sent_at, b.now);
            let mut ack = b.bare(0);
            ack.ack = end;
            b.arrive(ack);
            assert_eq!(b.state(), RecoveryState::Open);
        }
    }
}

#[test]
fn a_handshake_with_data_measures_too() {
    let mut b = Bench::new(&linux());
    let before = b.sender.statistics.rtt_samples;
    b.sender.on_early_established(b.now, Some(ms(40)));
    assert_eq!(b.sender.statistics.rtt_samples, before + 1);
    assert_eq!(b.sender.rtt().latest(), ms(40));
}

// --- marks

#[test]
fn an_ack_is_previewed_in_whole_segments_without_what_was_sacked_before() {
    // Linux `tcp_accecn_process`: accurate ECN's counts are compared with this preview.
    let mut b = Bench::sent(&linux(), 10);
    b.sack(0, &[(4, 5)]);
    for (segments, blocks, bytes) in [
        (0, &[(4, 5)][..], 0),
        (0, &[(4, 6)], 1000),
        (2, &[(4, 6)], 3000),
        (5, &[(4, 5)], 3000),
        (5, &[], 3000),
        (99, &[], 8000),
    ] {
        let found = b.sender.preview_delivery(&b.sacking(segments, blocks));
        assert_eq!((found.bytes, found.packets), (bytes, bytes as u32 / 1000));
        assert_eq!(found.is_progress, bytes > 0);
    }
    let mut part = b.bare(0);
    part.ack = 501;
    let b = Bench::sent(&linux(), 10);
    assert_eq!(b.sender.preview_delivery(&part).packets, 1);
}

#[test]
fn an_undone_reduction_is_not_announced() {
    // RFC 3168 section 6.1.2: CWR says that the window was reduced.
    for is_undone in [false, true] {
        let config = linux().changed(|tcp| tcp.recovery.undo = is_undone);
        let mut b = Bench::with_ecn(&config, EcnFeedback::Classic);
        assert!(b.sender.info().ecn);
        b.write(10);
        b.wait(100);
        b.sack(0, &[(2, 4)]);
        b.sack(4, &[(1, 1)]);
        b.ack(10);
        b.left();
        b.write(1);
        let flags = b.left()[0].segment.flags;
        assert_eq!(flags.has(Flags::CWR), !is_undone);
    }
    assert!(!Bench::new(&linux()).sender.info().ecn);
}

#[test]
fn the_feedback_that_is_asked_for_is_the_controls() {
    let random = fadeout_core::random::Stream::new(1, "sending", 0);
    let dctcp = Congestion::new("dctcp", &Parameters::default(), random);
    let dctcp = dctcp.expect("dctcp is registered");
    let sender = Sender::new(&Arc::new(linux()), FlowId(0), dctcp);
    assert_eq!(sender.needs_ecn(), EcnFeedback::Dctcp);
    assert_eq!(Bench::new(&linux()).sender.needs_ecn(), EcnFeedback::None);
}

// --- operations of a multipath connection on a subflow

#[test]
fn a_penalty_halves_the_window_and_past_slow_start_the_threshold() {
    // Raiciu et al., NSDI 2012, section 4.2: a penalty halves the window.
    for (cwnd, ssthresh, after) in [
        (11.0, 20.0, (5.0, 20.0)),
        (20.0, 20.0, (10.0, 10.0)),
        (21.0, 9.0, (10.0, 4.0)),
        (3.0, 2.0, (1.0, 2.0)),
    ] {
        let mut b = Bench::new(&linux());
        b.sender.window.cwnd = cwnd;
        b.sender.window.ssthresh = ssthresh;
        b.sender.penalise();
        assert_eq!((b.cwnd(), b.sender.window.ssthresh), after);
    }
}

#[test]
fn what_of_a_syns_data_waits_in_the_buffer_is_taken_out_of_it() {
    // The SYN carried 2500 bytes, of which `written` were in the buffer. So 1500 of the 4000 bytes
    // remain to be written.
    for written in [0, 1_000, 2_500] {
        let mut config = without_probes();
        config.buffers.send = SocketKind::Linux(SendBufferConfig {
            initial: 1 << 20,
            maximum: 1 << 20,
            header: 256,
            head: 256,
        });
        let mut b = Bench::new(&config);
        b.sender.write(b.now, 4_000 - written);
        b.sender.write_end = 1 + written;
        let sent_at = b.now;
        b.now += ms(100);
        b.run_step(|sender, cx| sender.on_early_answer(cx, (1, 2_501), sent_at));
        assert_eq!(b.sender.write_end, 2_501, "{written}");
        assert_eq!(b.sender.backlog(), 1_500, "{written}");
    }
}

#[test]
fn a_fin_follows_when_the_syn_carried_all_data_of_a_closed_writer() {
    for (written, fins) in [(2_500, 1), (4_000, 0)] {
        let mut config = without_probes();
        config.buffers.send = SocketKind::Linux(SendBufferConfig {
            initial: 1 << 20,
            maximum: 1 << 20,
            header: 256,
            head: 256,
        });
        let mut b = Bench::new(&config);
        b.sender.write(b.now, written);
        b.sender.finish(true);
        let sent_at = b.now;
        b.now += ms(100);
        b.run_step(|sender, cx| sender.on_early_answer(cx, (2_501, 2_501), sent_at));
        assert_eq!(u32::from(b.sender.fin_queued), fins, "{written}");
    }
}

#[test]
fn a_syns_data_is_one_piece_with_a_push_at_its_end_and_was_sent_with_the_syn() {
    let mut b = Bench::new(&without_probes());
    let sent_at = b.now;
    b.now += ms(100);
    b.run_step(|sender, cx| sender.on_early_answer(cx, (2_501, 2_501), sent_at));
    assert!(b.sender.board.is_empty());
    let mut b = Bench::new(&without_probes());
    b.sender.window.cwnd = 1.0;
    let sent_at = b.now;
    b.now += ms(100);
    b.run_step(|sender, cx| sender.on_early_answer(cx, (1, 2_501), sent_at));
    // The first segment was retransmitted, so it now has an sk_buff of its own.
    assert_eq!(b.numbers(), [1]);
    let board = &b.sender.board;
    let known: Vec<_> = (board.first()..board.end())
        .map(|number| board.get(number))
        .map(|segment| {
            let tags = segment.tags;
            (
                segment.sent_at == sent_at,
                tags.has(Tags::JOINED),
                tags.has(Tags::PUSHED),
            )
        })
        .collect();
    assert_eq!(
        known,
        [
            (false, false, false),
            (true, false, false),
            (true, true, true)
        ]
    );
}
