//! Tests of unnecessary reductions, and of the signs that show that a reduction was unnecessary.

use super::*;

/// Returns a sender that took segments 1 and 2 for lost and retransmitted them.
fn recovering(config: &TcpConfig) -> Bench {
    let mut b = Bench::sent(config, 20);
    b.sack(0, &[(3, 5)]);
    b.sender.window.cwnd = 20.0;
    b.run_step(|sender, cx| sender.retransmit_lost(cx));
    let again: Vec<u64> = b.numbers().into_iter().filter(|&n| n < 11).collect();
    assert_eq!(again, [1, 2]);
    b.sender.window.cwnd = 7.0;
    b.wait(10);
    b
}

/// Sends an ACK with the timestamp echo of an original, or of a retransmission.
fn echoing(b: &mut Bench, segments: u64, blocks: &[(u64, u64)], is_original: bool) {
    let again = b.rows.retransmits[0].time_s.as_millis() as u32;
    let mut ack = b.sacking(segments, blocks);
    ack.has_timestamps = true;
    ack.ts_echo = if is_original { again - 50 } else { again };
    b.arrive(ack);
}

#[test]
fn originals_that_arrive_one_by_one_undo_a_recovery_with_the_last() {
    // The Eifel algorithm detects spurious retransmissions by timestamps (RFC 3522).
    let mut b = recovering(&linux());
    echoing(&mut b, 1, &[(3, 5)], true);
    assert_eq!(b.sender.statistics.undos, 0, "a retransmission is out yet");
    assert_eq!(b.state(), RecoveryState::Recovery);
    assert!(b.sender.rack.reorderings > 0);
    echoing(&mut b, 5, &[], true);
    assert_eq!(b.sender.statistics.undos, 1);
    assert_eq!(b.sender.undo.first_retransmission, None);
    assert_eq!(b.cwnd(), 10.0);
    assert_ne!(b.state(), RecoveryState::Recovery);
}

#[test]
fn acks_of_the_retransmissions_undo_nothing() {
    let config = linux().changed(|tcp| tcp.recovery.undo = false);
    for (config, is_original) in [(linux(), false), (config, true)] {
        let mut b = recovering(&config);
        echoing(&mut b, 1, &[(3, 5)], is_original);
        echoing(&mut b, 5, &[], is_original);
        assert_eq!(b.state(), RecoveryState::Recovery);
        echoing(&mut b, 10, &[], is_original);
        assert_eq!(b.sender.statistics.undos, 0);
    }
}

#[test]
fn an_old_echo_undoes_a_recovery_at_its_end_with_the_window_before_it() {
    let mut b = Bench::sent(&linux(), 10);
    b.sender.window.ssthresh = 8.0;
    b.sack(0, &[(2, 4)]);
    b.wait(10);
    echoing(&mut b, 10, &[], true);
    assert_eq!(
        (b.sender.statistics.undos, b.state()),
        (1, RecoveryState::Open)
    );
    assert_eq!((b.cwnd(), b.sender.window.ssthresh), (10.0, 8.0));
}

#[test]
fn an_old_echo_undoes_a_timeout_without_f_rto() {
    let config = without_probes().changed(|tcp| tcp.recovery.frto = false);
    for (is_original, undos) in [(true, 1), (false, 0)] {
        let mut b = Bench::sent(&config, 10);
        b.wait(250);
        echoing(&mut b, 10, &[], is_original);
        assert_eq!(b.sender.statistics.undos, undos);
        assert_eq!(b.cwnd() == 10.0, is_original);
    }
}

/// Returns a configuration in which only DSACK can undo a reduction.
fn without_timestamps() -> TcpConfig {
    TcpConfig {
        timestamps: false,
        mss: FULL as u32,
        ..linux()
    }
}

#[test]
fn duplicates_of_every_retransmission_undo_once_even_after_everything() {
    let mut b = recovering(&without_timestamps());
    b.ack(11);
    while b.sender.board.packets_out() > 0 {
        let next = (b.sender.snd_nxt - 1) / FULL;
        b.wait(50);
        b.ack(next);
    }
    b.sack(20, &[(1, 1)]);
    assert_eq!(b.sender.statistics.undos, 0, "one of two");
    b.sack(20, &[(2, 2)]);
    assert_eq!(b.sender.statistics.undos, 1);
    b.sack(20, &[(2, 2)]);
    assert_eq!(b.sender.statistics.undos, 1);
}

#[test]
fn duplicates_above_the_ack_count_for_what_was_sent_again() {
    // Segments 1 and 3 are missing, and both are retransmitted. The second copy of 3 arrives first.
    let holes = |duplicate: (u64, u64)| {
        let mut b = Bench::sent(&without_timestamps(), 20);
        b.sack(0, &[(4, 6), (2, 2)]);
        b.sender.window.cwnd = 20.0;
        b.run_step(|sender, cx| sender.retransmit_lost(cx));
        b.wait(10);
        assert_eq!(b.rows.retransmits.len(), 2);
        b.sack(0, &[duplicate, (2, 6)]);
        b
    };
    let mut b = holes((3, 3));
    assert_eq!(b.sender.statistics.undos, 0);
    b.sack(6, &[(1, 1)]);
    assert_eq!(b.sender.statistics.undos, 1);
    // Segment 2 was sent only once, so the network duplicated it. The reduction is not undone.
    let mut b = holes((2, 3));
    assert_eq!(b.sender.statistics.undos, 0);
    b.sack(6, &[]);
    assert_eq!(b.sender.statistics.undos, 0);
    let mut b = holes((2, 2));
    b.sack(6, &[(1, 1)]);
    assert_eq!(b.sender.statistics.undos, 0, "nothing was said of 3");
}

#[test]
fn a_duplicate_from_before_the_recovery_pays_for_nothing() {
    let mut b = Bench::sent(&without_timestamps(), 20);
    b.ack(2);
    b.sack(2, &[(4, 6)]);
    b.sender.statistics.retransmitted_segments = 2;
    b.sack(2, &[(2, 2)]);
    assert_eq!(b.sender.statistics.undos, 0);
    b.sack(6, &[(3, 3)]);
    assert_eq!(b.sender.statistics.undos, 1);
}

#[test]
fn without_undo_duplicates_change_nothing() {
    let config = without_timestamps().changed(|tcp| tcp.recovery.undo = false);
    let mut b = Bench::sent(&config, 20);
    b.sack(0, &[(2, 4)]);
    b.sack(4, &[(1, 1)]);
    assert_eq!(b.sender.statistics.undos, 0);
    assert_eq!(b.state(), RecoveryState::Recovery);
}

#[test]
fn an_undo_pays_for_every_copy_that_was_out_when_the_reduction_began() {
    for (probe, is_retransmission, retransmitted, copies) in [
        (false, false, 0, None),
        (false, true, 0, None),
        (true, false, 0, None),
        (true, true, 0, Some(1)),
        (false, false, 2, Some(2)),
        (true, true, 2, Some(3)),
    ] {
        let mut b = Bench::sent(&linux(), 10);
        b.sender.probe.high_seq = probe.then_some(b.sender.snd_nxt);
        b.sender.probe.is_retransmission = is_retransmission;
        let first = b.sender.board.first();
        for number in first..first + retransmitted {
            b.sender.board.mark_retransmitted(number);
        }
        b.sender.begin_undo();
        b.sender.rack.persist = 5;
        let mut is_undone = |paid| {
            b.sender.undo.repay(paid);
            b.run_step(|sender, cx| sender.undo_by_dsack(cx))
        };
        let mut paid = is_undone(0).then_some(0);
        for count in 1..=4 {
            paid = paid.or_else(|| is_undone(1).then_some(count));
        }
        assert_eq!(paid, copies, "{probe} {is_retransmission} {retransmitted}");
        let persist = if copies.is_some() { 6 } else { 5 };
        assert_eq!(b.sender.rack.persist, persist);
    }
}
