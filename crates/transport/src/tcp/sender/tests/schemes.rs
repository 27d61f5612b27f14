//! Tests of the sender's schemes for links that fail, or that lose packets without congestion.

use super::*;
use crate::tcp::config::{LossResponse, OutageResponse};
use fadeout_core::Rate;

fn responding(loss: LossResponse) -> TcpConfig {
    let mut config = without_probes();
    config.resilience.loss = loss;
    config
}

fn outlasting(outage: OutageResponse) -> TcpConfig {
    let mut config = without_probes();
    config.resilience.outage = outage;
    config
}

fn report_link_info(b: &mut Bench, info: LinkInfo) {
    b.run_step(|sender, cx| sender.on_link_info(cx, &info));
}

// --- apparent losses

#[test]
fn a_delay_is_counted_in_round_trips() {
    let mut config = responding(LossResponse::Delayed);
    config.resilience.loss_delay_rtts = 2.0;
    let mut b = Bench::sent(&config, 20);
    b.sack(0, &[(2, 4)]);
    assert_eq!(b.timer(), Some((TimerKind::LossDelay, ms(200))));
    b.wait(199);
    assert_ne!(b.state(), RecoveryState::Recovery);
    b.wait(1);
    assert_eq!(b.state(), RecoveryState::Recovery);
}

#[test]
fn the_delay_of_a_hole_begins_anew_when_the_one_before_it_is_filled() {
    let mut config = responding(LossResponse::Delayed);
    config.resilience.loss_delay_rtts = 2.0;
    let mut b = Bench::sent(&config, 20);
    b.sack(0, &[(2, 4), (6, 7)]);
    b.wait(150);
    b.sack(4, &[(6, 7)]);
    let wait = b.sender.rtt.srtt() * 2;
    assert_eq!(b.timer(), Some((TimerKind::LossDelay, wait)));
    b.wait(100);
    assert_ne!(b.state(), RecoveryState::Recovery, "the first delay's end");
    b.wait(wait.as_millis() - 100 + 1);
    assert_eq!(b.state(), RecoveryState::Recovery);
}

#[test]
fn reordering_is_told_from_loss_by_a_share_of_the_window() {
    // RFC 4653 section 3.2: the careful variant uses two thirds and sends a new segment for two
    // duplicates. The aggressive variant uses one half and sends one for each.
    for (response, threshold, new) in [
        (LossResponse::NcrCareful, 20, 9),
        (LossResponse::NcrAggressive, 15, 14),
    ] {
        let config = TcpConfig {
            initial_window: 30,
            ..responding(response)
        };
        let mut b = Bench::sent(&config, 90);
        for count in 1..threshold {
            b.sack(0, &[(2, 1 + count)]);
            assert_eq!(b.state(), RecoveryState::Disorder, "{count}");
        }
        let sent = b.numbers();
        assert!(sent.iter().all(|number| *number > 30));
        assert_eq!(sent.len(), new, "{response:?}");
        b.sack(0, &[(2, 1 + threshold)]);
        assert_eq!(b.state(), RecoveryState::Recovery);
    }
}

#[test]
fn an_episode_that_was_reordering_ends_without_a_burst() {
    // RFC 4653 section 3.2, rules T.1 and T.2: the episode ends without a burst.
    let config = TcpConfig {
        initial_window: 30,
        ..responding(LossResponse::NcrCareful)
    };
    let mut b = Bench::sent(&config, 30);
    b.sender.window.ssthresh = 8.0;
    b.sack(0, &[(2, 9)]);
    b.ack(9);
    assert_eq!((b.cwnd(), b.sender.window.ssthresh), (22.0, 30.0));
    assert_eq!(b.state(), RecoveryState::Open);
    // An episode continues if its hole is only partly filled.
    let mut b = Bench::sent(&config, 30);
    b.sack(0, &[(2, 9), (11, 12)]);
    b.ack(9);
    assert_eq!(b.cwnd(), 30.0);
}

#[test]
fn the_window_is_spared_where_the_radio_lost() {
    for (response, is_radio_loss, cuts) in [
        (LossResponse::Casablanca, true, 0),
        (LossResponse::Casablanca, false, 1),
        (LossResponse::Standard, true, 1),
    ] {
        let mut b = Bench::sent(&responding(response), 20);
        let mut ack = b.sacking(0, &[(2, 4)]);
        ack.is_radio_loss = is_radio_loss;
        b.arrive(ack);
        assert_eq!(b.state(), RecoveryState::Recovery);
        assert_eq!(b.numbers()[0], 1);
        assert_eq!(
            b.control_calls().events.len(),
            cuts,
            "{response:?} {is_radio_loss}"
        );
        b.ack(10);
        assert_eq!(b.state(), RecoveryState::Open);
        assert_eq!(b.cwnd() == 10.0, cuts == 0);
    }
}

#[test]
fn a_recovery_in_the_middle_of_a_reduction_for_a_mark_is_part_of_it() {
    let config = responding(LossResponse::Casablanca);
    let mut b = Bench::with_ecn(&config, EcnFeedback::Classic);
    b.write(20);
    b.wait(100);
    let mut echo = b.bare(1);
    echo.flags |= Flags::ECE;
    b.arrive(echo);
    assert_eq!(b.state(), RecoveryState::Cwr);
    let mut ack = b.sacking(1, &[(3, 6)]);
    ack.is_radio_loss = true;
    b.arrive(ack);
    assert_eq!(b.state(), RecoveryState::Recovery);
    assert_eq!(b.control_calls().events.len(), 1, "for the mark");
    b.ack(12);
    assert_eq!(b.cwnd(), 5.0);
    // A mark together with a loss also causes a reduction.
    let mut b = Bench::with_ecn(&config, EcnFeedback::Classic);
    b.write(20);
    b.wait(100);
    let mut ack = b.sacking(0, &[(2, 4)]);
    ack.is_radio_loss = true;
    ack.flags |= Flags::ECE;
    b.arrive(ack);
    assert_eq!(b.control_calls().events.len(), 1);
}

#[test]
fn one_segment_of_a_few_is_expendable() {
    let mut config = responding(LossResponse::Casablanca);
    config.resilience.expendable_every = 3;
    let expendable = |config: &TcpConfig| {
        let mut b = Bench::new(config);
        b.write(7);
        let left = b.left().into_iter().map(|left| left.segment.is_expendable);
        left.collect::<Vec<_>>()
    };
    let every_third = [true, false, false, true, false, false, true];
    assert_eq!(expendable(&config), every_third);
    config.resilience.loss = LossResponse::Standard;
    assert_eq!(expendable(&config), [false; 7]);
}

// --- outages

#[test]
fn a_snooze_sends_nothing_and_goes_on_paced_with_the_window_it_had() {
    let mut b = Bench::sent(&outlasting(OutageResponse::Feedback), 30);
    report_link_info(&mut b, LinkInfo::BlockageBegan);
    b.wait(3000);
    b.write(1);
    assert_eq!(b.numbers(), []);
    assert_eq!(b.sender.statistics.timeouts, 0);
    // SACKs of segments in flight are recorded, but do not show that other segments are lost.
    b.sack(0, &[(2, 8)]);
    assert_eq!((b.numbers(), b.sender.board.lost_out), (vec![], 0));
    assert!(!b.sender.is_pacing());
    report_link_info(&mut b, LinkInfo::BlockageEnded);
    assert_eq!((b.cwnd(), b.control_calls().events.len()), (10.0, 0));
    assert!(
        b.sender.is_pacing(),
        "a window at once would overflow a queue"
    );
    b.wait(80);
    let sent = b.numbers();
    assert_eq!(sent[..3], [1, 9, 10]);
    // The sender is paced until the window of the restart is acknowledged.
    let end = b.sender.snd_nxt.max(1 + 20 * FULL);
    let mut segments = 10;
    while 1 + segments * FULL < 1 + 20 * FULL {
        assert!(b.sender.is_pacing(), "{segments} {end}");
        segments += 1;
        b.ack(segments);
        b.wait(20);
    }
    assert!(!b.sender.is_pacing());
}

#[test]
fn a_snooze_with_nothing_outstanding_ends_without_a_timer() {
    let mut b = Bench::new(&outlasting(OutageResponse::Feedback));
    b.sender.timer = Some((TimerKind::Persist, b.now + ms(200)));
    report_link_info(&mut b, LinkInfo::BlockageBegan);
    report_link_info(&mut b, LinkInfo::BlockageEnded);
    assert_eq!(b.timer(), None);
    // With outstanding data, the timer continues with its remaining time.
    let mut b = Bench::sent(&outlasting(OutageResponse::Feedback), 10);
    b.sender.window.cwnd = 1.0;
    assert_eq!(b.timer(), Some((TimerKind::Rto, ms(200))));
    report_link_info(&mut b, LinkInfo::BlockageBegan);
    b.wait(1000);
    b.run_step(|sender, cx| sender.on_link_info(cx, &LinkInfo::Rate(Rate::UNLIMITED)));
    assert!(b.sender.is_suspended());
}

#[test]
fn a_standby_asks_at_intervals_until_an_answer_comes() {
    // ELFN probes with the oldest segment, with new data, or with a window probe if the window is
    // closed.
    let mut config = outlasting(OutageResponse::Elfn);
    config.resilience.probe_interval = Span::from_secs(2);
    let mut b = Bench::sent(&config, 20);
    report_link_info(&mut b, LinkInfo::BlockageBegan);
    b.wait(5000);
    assert_eq!(b.numbers(), [1, 1]);
    b.ack(1);
    assert!(!b.sender.is_suspended());
    assert_eq!(b.numbers()[0], 2);
    assert_eq!((b.cwnd(), b.control_calls().events.len()), (10.0, 0));

    let mut b = Bench::new(&config);
    b.peer_window = 0;
    b.ack(0);
    b.write(1);
    report_link_info(&mut b, LinkInfo::BlockageBegan);
    b.wait(2000);
    let asked = b.left();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].segment.seq, asked[0].segment.len), (0, 0));
    // Without data there are no probes.
    let mut b = Bench::new(&config);
    report_link_info(&mut b, LinkInfo::BlockageBegan);
    b.wait(2000);
    assert_eq!(b.left().len(), 0);
    b.write(1);
    b.wait(2000);
    assert_eq!(b.numbers(), [1]);
}

#[test]
fn a_hold_repeats_the_head_without_backing_off_until_the_link_is_back() {
    // RTW-TCP retransmits the oldest segment at each timeout, without backoff.
    let ends: [fn(&mut Bench); 2] = [
        |b| report_link_info(b, LinkInfo::BlockageEnded),
        |b| b.ack(1),
    ];
    for end in ends {
        let mut b = Bench::sent(&without_probes(), 20);
        b.hold(true);
        b.wait(850);
        assert_eq!(b.numbers(), [1, 1, 1], "every 300 ms");
        assert_eq!(b.sender.statistics.timeouts, 0);
        assert_eq!((b.cwnd(), b.control_calls().events.len()), (10.0, 0));
        report_link_info(&mut b, LinkInfo::BlockageBegan);
        assert_eq!(b.numbers(), []);
        end(&mut b);
        assert_eq!(
            b.control_calls().idle[0],
            ms(650),
            "the control's clock stood still"
        );
        b.wait(80);
        assert!(b.numbers().len() > 3, "everything goes again");
        assert_eq!(b.cwnd(), 10.0);
    }
    let mut b = Bench::sent(&without_probes(), 20);
    report_link_info(&mut b, LinkInfo::BlockageEnded);
    assert_eq!(b.numbers(), [], "nothing was held");
}

#[test]
fn a_frozen_sender_waits_for_the_window_and_goes_on_with_its_own() {
    // Freeze-TCP waits until the peer's window opens, and keeps its congestion window.
    for (outage, timeouts) in [(OutageResponse::Freeze, 0), (OutageResponse::None, 1)] {
        let mut b = Bench::sent(&outlasting(outage), 20);
        b.peer_window = 0;
        b.ack(0);
        b.wait(250);
        assert_eq!(b.numbers(), [1]);
        assert_eq!(b.sender.statistics.timeouts, timeouts);
        b.peer_window = 64_000;
        b.ack(0);
        let goes_on = outage == OutageResponse::Freeze;
        assert_eq!(b.cwnd() == 10.0, goes_on);
        b.wait(80);
        assert_eq!(b.numbers().len() > 3, goes_on);
    }
    // A repeated ACK restarts the sender neither while the peer's window is open nor while it is
    // closed.
    let mut b = Bench::sent(&outlasting(OutageResponse::Freeze), 20);
    b.ack(0);
    assert_eq!(b.sender.board.lost_out, 0);
    b.peer_window = 0;
    b.ack(0);
    b.ack(0);
    assert_eq!(b.sender.board.lost_out, 0);
    b.wait(250);
    assert_eq!(b.sender.statistics.timeouts, 0);
    // A timeout while the peer's window is open counts as usual.
    let mut b = Bench::sent(&outlasting(OutageResponse::Freeze), 20);
    b.wait(250);
    assert_eq!(b.sender.statistics.timeouts, 1);
}

#[test]
fn after_an_outage_without_sack_duplicates_of_old_data_begin_nothing() {
    for (acked, begins) in [(9, false), (10, false), (11, true)] {
        let mut config = profile("newreno");
        config.resilience.outage = OutageResponse::Feedback;
        let mut b = Bench::sent(&config, 40);
        report_link_info(&mut b, LinkInfo::BlockageBegan);
        b.wait(500);
        report_link_info(&mut b, LinkInfo::BlockageEnded);
        b.wait(200);
        assert_eq!(b.state(), RecoveryState::Loss);
        b.ack(acked);
        b.wait(100);
        for _ in 0..3 {
            b.ack(acked);
        }
        assert_eq!(b.sender.statistics.recoveries == 1, begins, "{acked}");
    }
}

#[test]
fn the_congestion_control_hears_every_notice() {
    let mut b = Bench::new(&linux());
    let rate = LinkInfo::Rate(Rate::from_bits_per_sec(1_000_000));
    b.sender.notify_congestion_control(b.now, &rate);
    b.sender
        .notify_congestion_control(b.now, &LinkInfo::BlockageBegan);
    assert_eq!(b.control_calls().notices, [rate, LinkInfo::BlockageBegan]);
}

#[test]
fn with_sack_each_hole_waits_for_a_round_trip_of_its_own() {
    // TCP-DCR: segments 1 and 5 are missing, and 1 is retransmitted after 60 ms.
    let mut config = profile("rfc");
    config.resilience.loss = crate::tcp::config::LossResponse::Delayed;
    let mut b = Bench::sent(&config, 10);
    b.sack(0, &[(2, 4), (6, 8)]);
    assert_eq!(b.timer(), Some((TimerKind::LossDelay, ms(100))));
    b.wait(60);
    b.sack(4, &[(6, 8)]);
    let (kind, left) = b.timer().expect("a timer");
    assert_eq!(kind, TimerKind::LossDelay);
    assert!(left > ms(80), "{left:?}");
}
