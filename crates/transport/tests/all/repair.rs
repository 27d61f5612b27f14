//! Tests of the effects of ACKs on the scoreboard, the window and the timers: tail loss probes,
//! duplicate ACKs without SACK, SACK and DSACK, marks.

use crate::common::script::{Script, linux, profile};
use fadeout_core::{Flags, Rate, SackBlock, Segment, Span};
use fadeout_transport::congestion::RecoveryState;
use fadeout_transport::tcp::{EcnMode, TcpConfig};

/// Returns `linux` with timers of millisecond precision.
fn exact() -> TcpConfig {
    linux().changed(|tcp| tcp.timers.wheel = false)
}

// --- tail loss probes (RFC 8985 section 7)

/// Returns a sender after a tail loss probe. Four segments were sent and three arrived. The probe,
/// which repeated the last one, is not acknowledged.
fn probed() -> Script {
    let mut s = Script::connected(&exact());
    s.write(4);
    s.sends(&[1, 2, 3, 4]);
    s.wait(100);
    s.ack(3);
    s.sends_nothing();
    s.wait(350);
    s.sends(&[4]);
    assert_eq!(s.tcp().statistics().loss_probes, 1);
    s
}

/// Returns true if the window is smaller after two more segments were acknowledged.
fn is_reduced(mut s: Script) -> bool {
    let before = s.row().cwnd_segments;
    s.write(2);
    s.sends(&[5, 6]);
    s.wait(100);
    s.ack(6);
    let row = s.row();
    assert_eq!(row.state, "open");
    let is_reduced = row.ssthresh_segments.is_finite();
    assert_eq!(row.cwnd_segments < before, is_reduced);
    is_reduced
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window_once() {
    let mut s = probed();
    s.ack(4);
    assert!(is_reduced(s), "nothing said that both copies arrived");
}

#[test]
fn a_probe_of_which_both_copies_arrived_does_not() {
    let mut s = probed();
    s.sack(4, &[(4, 4)]);
    assert!(!is_reduced(s), "a DSACK");
    let mut s = probed();
    s.ack(4);
    s.sack(4, &[(4, 4)]);
    assert!(!is_reduced(s), "a DSACK that comes later");
    let mut s = probed();
    s.ack(4);
    s.ack(4);
    assert!(!is_reduced(s), "a duplicate ACK");
}

#[test]
fn only_an_ack_that_says_nothing_else_is_a_duplicate_of_the_probes() {
    let changes: [fn(&mut Segment); 2] = [|ack| ack.len = 10, |ack| ack.window *= 2];
    for change in changes {
        let mut s = probed();
        s.ack(4);
        let mut ack = s.bare(4);
        change(&mut ack);
        s.arrive(ack);
        assert!(is_reduced(s));
    }
}

#[test]
fn a_probe_of_new_data_is_no_loss() {
    let mut s = Script::connected(&exact());
    s.write(11);
    s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    s.wait(250);
    s.sends(&[11]);
    s.ack(11);
    s.write(1);
    s.wait(100);
    s.ack(12);
    assert!(s.row().ssthresh_segments.is_infinite());
}

#[test]
fn the_probe_of_a_single_segment_is_no_later_than_the_retransmission_timeout() {
    let mut s = Script::connected(&exact());
    s.write(1);
    s.sends(&[1]);
    s.wait(500);
    // Two round trips plus the smallest timeout would be 400 ms. The probe is sent after 300 ms,
    // the retransmission timeout.
    let left = s.left();
    assert_eq!(left[0].at_ms, 100 + 300);
}

// --- duplicate ACKs without SACK (RFC 5681 section 3.2, RFC 6582)

/// Returns a sender without SACK with ten outstanding segments and more data.
fn without_sack(name: &str) -> Script {
    let mut s = Script::connected(&profile(name).changed(|tcp| {
        tcp.recovery.limited_transmit = false;
        tcp.initial_window = 10;
    }));
    s.write(30);
    s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    s.wait(100);
    s
}

#[test]
fn newreno_inflates_deflates_and_leaves_with_half_of_the_window() {
    let mut s = without_sack("newreno");
    for _ in 0..3 {
        s.ack(0);
    }
    s.sends(&[1]);
    assert_eq!(
        (s.row().ssthresh_segments, s.row().cwnd_segments),
        (5.0, 8.0)
    );
    for cwnd in [9.0, 10.0, 11.0] {
        s.ack(0);
        assert_eq!(
            s.row().cwnd_segments,
            cwnd,
            "each duplicate left the network"
        );
    }
    s.sends(&[11]);
    // Three old segments are acknowledged, so the window shrinks by three segments and grows by
    // one.
    s.ack(3);
    assert_eq!(s.row().cwnd_segments, 11.0 - 3.0 + 1.0);
    assert_eq!(s.row().state, "recovery");
    s.sends(&[4, 12]);
    // All segments outstanding at the start of the recovery are acknowledged, so the recovery ends.
    // Two newer segments are outstanding.
    s.ack(10);
    assert_eq!((s.row().state, s.row().cwnd_segments), ("open", 3.0));
    assert_eq!(s.tcp().statistics().recoveries, 1);
}

#[test]
fn reno_leaves_with_half_of_the_window_at_the_first_new_ack() {
    let mut s = without_sack("reno");
    for _ in 0..5 {
        s.ack(0);
    }
    assert_eq!(s.row().cwnd_segments, 10.0);
    s.ack(1);
    assert_eq!((s.row().state, s.row().cwnd_segments), ("open", 5.0));
}

#[test]
fn an_ack_with_data_or_another_window_is_no_duplicate() {
    let changes: [fn(&mut Segment, u64); 2] = [
        |ack, n| ack.window += n,
        |ack, n| (ack.seq, ack.len) = (1 + 10 * (n - 1), 10),
    ];
    for change in changes {
        let mut s = without_sack("newreno");
        for n in 1..=5 {
            let mut ack = s.bare(0);
            change(&mut ack, n);
            s.arrive(ack);
        }
        s.sends(&[]);
        assert_eq!(s.row().state, "open");
    }
}

#[test]
fn a_recovery_follows_another_once_more_is_acknowledged() {
    // RFC 6582 section 3.2, step 2: the third duplicate must cover more than `recover`.
    let mut s = without_sack("newreno");
    for _ in 0..3 {
        s.ack(0);
    }
    s.left();
    s.ack(10);
    assert_eq!(s.row().state, "open");
    let next: Vec<u64> = s.left().iter().map(|left| left.segment.seq).collect();
    assert_eq!(next[0], 10_001);
    for (segments, state) in [(10, "open"), (11, "recovery")] {
        for _ in 0..4 {
            s.ack(segments);
        }
        assert_eq!(s.row().state, state, "{segments}");
    }
    assert_eq!(s.tcp().statistics().recoveries, 2);
}

#[test]
fn a_timeout_without_sack_ends_when_all_is_acknowledged() {
    let mut s = without_sack("newreno");
    s.wait(2000);
    assert_eq!(s.row().state, "loss");
    s.ack(4);
    assert_eq!(s.row().state, "loss");
    s.ack(10);
    assert_eq!(s.row().state, "open");
}

// --- information in an ACK (RFC 2018, RFC 2883, RFC 8985 section 6)

/// Returns a sender with ten of twenty segments outstanding for a round trip.
fn outstanding() -> Script {
    let mut s = Script::connected(&exact());
    s.write(20);
    s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    s.wait(100);
    s
}

/// Sends a SACK of these byte ranges of the stream, counted from 1. The end of a range is excluded.
fn sack_bytes(s: &mut Script, blocks: &[(u64, u64)]) {
    let mut ack = s.bare(0);
    for &(start, end) in blocks {
        ack.sack.push(SackBlock { start, end });
    }
    s.arrive(ack);
}

#[test]
fn the_state_of_a_connection_is_what_was_sent_and_measured() {
    let mut s = outstanding();
    let ms = Span::from_millis;
    let info = s.tcp().info();
    assert_eq!(
        (info.rtt, info.rttvar, info.rto),
        (ms(100), ms(50), ms(300))
    );
    assert_eq!(info.min_rtt, Some(ms(100)));
    assert_eq!(
        (info.unacked, info.sacked, info.lost, info.retrans),
        (10, 0, 0, 0)
    );
    assert_eq!((info.notsent_bytes, info.data_segs_out), (10_000, 10));
    assert_eq!((info.bytes_acked, info.total_retrans), (0, 0));
    // Slow start: two windows of 10,000 bytes in 100 ms.
    assert_eq!(info.pacing_rate, Rate::from_bits_per_sec(1_600_000));
    s.sack(0, &[(2, 4)]);
    let info = s.tcp().info();
    assert_eq!(info.ca_state, RecoveryState::Recovery);
    assert_eq!(
        (info.unacked, info.sacked, info.lost, info.retrans),
        (11, 3, 1, 1)
    );
    assert_eq!((info.total_retrans, info.reordering), (1, 3));
    assert_eq!(s.tcp().statistics().recoveries, 1);
    s.ack(10);
    let info = s.tcp().info();
    assert_eq!((info.bytes_acked, info.lost, info.retrans), (10_000, 0, 0));
    // After the recovery, the pacing rate is 1.2 windows of five segments in a round trip. The
    // window has grown by a fifth of a segment.
    assert_eq!((info.snd_cwnd, info.snd_ssthresh), (5.2, 5.0));
    let rate = 1.2 * 5.2 * 8000.0 / info.rtt.as_secs_f64();
    assert!((info.pacing_rate.as_bits_per_sec() as f64 - rate).abs() <= 1.0);
}

#[test]
fn round_trips_are_summed_and_the_smoothed_one_is_weighed_with_its_time() {
    let mut s = outstanding();
    s.ack(10);
    s.wait(50);
    s.ack(14);
    let statistics = s.tcp().statistics();
    // The three samples are 100 ms from the handshake, 100 ms, and 50 ms.
    assert_eq!(statistics.rtt_samples, 3);
    assert!((statistics.rtt_sum_s - 0.25).abs() < 1e-9, "{statistics:?}");
    assert!(
        (statistics.srtt_time_s - 0.15).abs() < 1e-9,
        "{statistics:?}"
    );
    assert!(
        (statistics.srtt_integral - 0.015).abs() < 1e-9,
        "{statistics:?}"
    );
}

#[test]
fn what_arrives_late_without_a_retransmission_was_overtaken() {
    let mut s = outstanding();
    s.sack(0, &[(8, 8)]);
    let info = s.tcp().info();
    assert_eq!((info.reordering, info.reord_seen, info.sacked), (3, 0, 1));
    s.sack(0, &[(2, 2), (8, 8)]);
    let info = s.tcp().info();
    assert_eq!((info.reordering, info.reord_seen, info.sacked), (7, 1, 2));
    assert_eq!((s.row().state, info.lost), ("disorder", 0));
    s.ack(8);
    let info = s.tcp().info();
    assert_eq!((info.reordering, info.reord_seen), (8, 2));
    assert_eq!(s.row().state, "open");
}

#[test]
fn a_segment_is_sacked_when_blocks_cover_all_of_it() {
    let sacked = |blocks: &[&[(u64, u64)]]| {
        let mut s = outstanding();
        let counts = blocks.iter().map(|blocks| {
            sack_bytes(&mut s, blocks);
            s.tcp().info().sacked
        });
        counts.collect::<Vec<_>>()
    };
    // The first block begins or ends inside a segment, and only whole segments count as SACKed. The
    // second block covers both segments.
    assert_eq!(sacked(&[&[(1501, 3001)], &[(1001, 3001)]]), [1, 2]);
    assert_eq!(sacked(&[&[(1001, 2501)], &[(1001, 3001)]]), [1, 2]);
    // A block that joins two earlier blocks adds the segments between them. A repeated block adds
    // nothing.
    assert_eq!(
        sacked(&[&[(1001, 3001), (5001, 7001)], &[(1001, 7001)]]),
        [4, 6]
    );
    assert_eq!(
        sacked(&[&[(5001, 7001)], &[(2001, 3001), (5001, 7001)]]),
        [2, 3]
    );
    assert_eq!(sacked(&[&[(5001, 7001)], &[(5001, 7001)]]), [2, 2]);
    // Blocks of unsent data and invalid blocks are ignored.
    assert_eq!(
        sacked(&[&[(8001, 12_001)], &[(3001, 3001)], &[(4001, 3001)]]),
        [0, 0, 0]
    );
    assert_eq!(sacked(&[&[(9001, 10_001)]]), [1], "the last one sent");
}

#[test]
fn a_duplicate_that_was_never_sent_again_is_the_networks() {
    let mut s = outstanding();
    let before = s.tcp().info().delivered;
    s.sack(2, &[(1, 1)]);
    let info = s.tcp().info();
    assert_eq!((info.delivered, info.dsack_dups), (before + 2, 1));
    assert_eq!(s.row().state, "open");
}

#[test]
fn a_duplicate_of_a_retransmission_counts_as_a_delivery() {
    let mut s = outstanding();
    s.sack(0, &[(2, 4)]);
    s.sends(&[1, 11]);
    let before = s.tcp().info().delivered;
    s.ack(4);
    assert_eq!(s.tcp().info().delivered, before + 1);
    s.sack(4, &[(1, 1)]);
    let info = s.tcp().info();
    assert_eq!((info.delivered, info.dsack_dups), (before + 2, 1));
}

// --- reductions for a mark (RFC 3168 section 6.1.2)

#[test]
fn a_reduction_for_a_mark_ends_above_what_was_outstanding() {
    let mut s = Script::connected(&exact().changed(|tcp| tcp.acks.ecn = EcnMode::Classic));
    s.write(40);
    s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    s.wait(100);
    let echo = Segment {
        flags: Flags::ACK | Flags::ECE,
        ..s.bare(2)
    };
    s.arrive(echo);
    assert_eq!((s.row().state, s.row().ssthresh_segments), ("cwr", 4.0));
    s.ack(6);
    assert!(s.row().cwnd_segments > 4.0, "on its way down");
    s.ack(10);
    assert_eq!(s.row().state, "cwr", "one window has to pass");
    s.ack(11);
    assert_eq!((s.row().state, s.row().cwnd_segments), ("open", 4.25));
}
