//! Tests of ECN between two endpoints: negotiation, each kind of feedback, and its effect on a
//! queue.

mod pipe;

use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{Ecn, Flags, Rate, Span};
use fadeout_transport::tcp::TcpConfig;
use pipe::{Path, Report, run, with_ecn};

const PATH: Path = Path {
    rate: Rate::from_bits_per_sec(20_000_000),
    one_way: Span::from_millis(10),
    mark_above: 15,
    limit: 300,
};

fn both(control: &str, config: &TcpConfig) -> Report {
    let none = Parameters::default();
    run(PATH, control, &none, (config, config), Span::from_secs(20))
}

#[test]
fn naming_dctcp_switches_its_feedback_on_and_keeps_the_queue_at_the_threshold() {
    let dctcp = both("dctcp", &TcpConfig::linux());
    assert_eq!(dctcp.dropped, 0);
    assert!(dctcp.marked > 100);
    // With headers, the link carries 19.1 Mbit/s of data, so DCTCP must nearly fill it.
    assert!(dctcp.delivered_mbps > 18.5, "{}", dctcp.delivered_mbps);
    assert!(
        (5.0..25.0).contains(&dctcp.mean_queue),
        "{}",
        dctcp.mean_queue
    );
    let cubic = both("cubic", &TcpConfig::linux());
    assert!(cubic.sent.iter().all(|&ecn| ecn == Ecn::NotEct));
    assert!(cubic.dropped > 0 && cubic.mean_queue > 5.0 * dctcp.mean_queue);
}

#[test]
fn a_dctcp_receiver_echoes_exactly_the_marked_segments() {
    let report = both("dctcp", &TcpConfig::linux());
    assert_eq!(
        report.dropped, 0,
        "the comparison needs every segment in order"
    );
    let mut received = report.received.iter().peekable();
    let mut up_to = 1;
    let mut checked = 0;
    for ack in &report.acks {
        let echoes = ack.flags.has(Flags::ECE) && !ack.flags.has(Flags::SYN);
        while let Some(&(seq, is_marked)) = received.next_if(|(seq, _)| *seq < ack.ack) {
            assert_eq!(is_marked, echoes, "segment {seq} under an ACK from {up_to}");
            checked += u64::from(is_marked);
        }
        up_to = ack.ack;
    }
    assert!(checked > 100, "{checked} marked segments");
}

#[test]
fn a_dctcp_receiver_sends_more_acks_only_where_the_mark_changes() {
    let report = both("dctcp", &TcpConfig::linux());
    let marks: Vec<bool> = report.received.iter().map(|(_, mark)| *mark).collect();
    let changes = marks.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes > 50, "{changes} changes");
    // Every second segment is acknowledged. A change adds up to two ACKs: the delayed one, and one
    // at once (Linux dctcp_ece_ack_update). The initial window and the growth of the receive window
    // add quick ACKs, which are fewer than 300 in 20 s.
    let (segments, acks) = (marks.len(), report.acks.len());
    assert!(
        acks < segments / 2 + 2 * changes + 300,
        "{acks} of {segments}"
    );
    assert!(acks >= segments / 2);
}

#[test]
fn accurate_feedback_counts_every_mark() {
    let report = both("cubic", &with_ecn("accurate"));
    let reported = report.acks.last().map_or(0, |ack| ack.ce_packets);
    let received = report
        .received
        .iter()
        .filter(|(_, is_marked)| *is_marked)
        .count();
    // The marks of at most 16 packets may be unreported, because ACKs are still in flight.
    assert!(received as u32 - reported <= 16, "{reported} of {received}");
    assert!(reported > 10 && report.dropped == 0);
    assert!(report.sent.contains(&Ecn::Ect0));
}

#[test]
fn prague_sends_ect1_where_feedback_is_accurate_and_falls_back_where_it_is_not() {
    let shallow = Path {
        mark_above: 5,
        ..PATH
    };
    let none = Parameters::default();
    let linux = TcpConfig::linux();
    let duration = Span::from_secs(20);
    let accurate = run(shallow, "prague", &none, (&linux, &linux), duration);
    assert!(accurate.sent.iter().all(|&ecn| ecn != Ecn::Ect0));
    assert_eq!(accurate.dropped, 0);
    assert!(
        accurate.delivered_mbps > 17.5,
        "{}",
        accurate.delivered_mbps
    );
    let classic = with_ecn("classic");
    let fallen = run(shallow, "prague", &none, (&linux, &classic), duration);
    assert!(fallen.sent.iter().all(|&ecn| ecn != Ecn::Ect1));
    assert!(fallen.sent.contains(&Ecn::Ect0));
    // Halving the window at five packets leaves the link idle for a part of each cycle.
    assert!(
        (12.0..accurate.delivered_mbps).contains(&fallen.delivered_mbps),
        "{}",
        fallen.delivered_mbps
    );
}

#[test]
fn a_peer_without_ecn_leaves_packets_unmarked() {
    let none = Parameters::default();
    let ends = (&TcpConfig::linux(), &with_ecn("off"));
    let report = run(PATH, "dctcp", &none, ends, Span::from_secs(3));
    assert_eq!(report.marked, 0);
    assert!(report.sent.iter().all(|&ecn| ecn == Ecn::NotEct));
}

#[test]
fn a_smaller_response_to_marks_keeps_a_larger_window() {
    // RFC 8511: where the queue is short, halving on a mark costs throughput.
    for (control, abe) in [("newreno", 0.8), ("reno", 0.8), ("cubic", 0.85)] {
        let shallow = Path {
            mark_above: 3,
            ..PATH
        };
        let goodput_with = |parameters: &Parameters| {
            let ecn = with_ecn("classic");
            run(
                shallow,
                control,
                parameters,
                (&ecn, &ecn),
                Span::from_secs(30),
            )
            .delivered_mbps
        };
        let plain = goodput_with(&Parameters::default());
        let named = ("beta-ecn".to_owned(), Value::Number(abe));
        let alternative = goodput_with(&Parameters(vec![named]));
        assert!(
            alternative > plain * 1.01,
            "{control}: {plain} {alternative}"
        );
    }
}
