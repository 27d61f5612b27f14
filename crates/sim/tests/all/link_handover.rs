//! Tests of handover between links: the fate of every packet, against times and counts computed by
//! hand.

use crate::common::build;
use crate::common::parse;
use fadeout_core::{
    DropCause, DropRow, HandoverOutcome, LinkHandoverRow, Probe, Span, Time, WholePacket,
    random::Stream,
};
use fadeout_sim::summary;
use fadeout_testkit::Cases;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Observed rows, drops, and downlink data that reached the phone, with the times of sending.
#[derive(Debug, Default)]
struct Seen {
    rows: Vec<LinkHandoverRow>,
    drops: Vec<DropRow>,
    sent: BTreeMap<(Time, u64), u32>,
    arrived: Vec<(Time, u64)>,
}

impl Probe for Seen {
    fn link_handover(&mut self, row: LinkHandoverRow) {
        self.rows.push(row);
    }
    fn dropped(&mut self, row: DropRow) {
        self.drops.push(row);
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        if packet.segment.len > 0 {
            *self.sent.entry((now, packet.segment.seq)).or_default() += 1;
        }
    }
    fn received(&mut self, _: Time, packet: WholePacket<'_>) {
        if packet.segment.len > 0 {
            self.arrived.push((packet.sent_at, packet.segment.seq));
        }
    }
}

/// Returns a server behind an anchor, two base stations and one phone.
fn network(s1_mbps: u64, rate_mbps: u64, rest: &str) -> String {
    let link = |name: &str, from: &str, to: &str, mbps: u64, ms: u64| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{mbps} Mbit/s\"\n\
             delay = \"{ms} ms\"\nreverse = {{ rate = \"{mbps} Mbit/s\" }}\n"
        )
    };
    format!(
        "duration = \"12 s\"\n{}{}{}{}{}{}{rest}\n\
         [flow.download]\nfrom = \"server\"\nto = \"phone\"\nprofile = \"rfc\"\n\
         congestion-control = \"newreno\"\ntcp = {{ receive-window = 65536, timestamps = false }}\n",
        link("internet", "server", "anchor", 155, 4),
        link("s1", "anchor", "enb", s1_mbps, 1),
        link("iu", "anchor", "rnc", 155, 1),
        link("x", "enb", "rnc", 155, 1),
        link("lte", "enb", "phone", rate_mbps, 0),
        link("umts", "rnc", "phone", rate_mbps, 0),
    )
}

fn handover(data: &str) -> String {
    format!("[handover.to-umts]\nfrom = \"lte\"\nto = \"umts\"\nat = \"6 s\"\n{data}\n")
}

fn run(text: &str) -> (Seen, serde_json::Value) {
    let scenario = parse(text, PathBuf::from("."), &[]);
    let mut world: crate::common::Observed<Seen> =
        build(&scenario, Seen::default()).unwrap_or_else(|error| panic!("{error}"));
    while world.run(Time::ZERO + scenario.duration, u64::MAX) {}
    let summary = summary(&scenario, &world);
    for link in summary["links"].as_array().expect("links") {
        let count = |key: &str| link[key].as_u64().expect("a count");
        assert!(
            count("received_packets") >= count("sent_packets") + count("dropped_packets"),
            "{link}"
        );
    }
    (world.into_probe(), summary)
}

fn retransmitted(summary: &serde_json::Value) -> u64 {
    summary["flows"][0]["retransmitted_segments"]
        .as_u64()
        .expect("a count")
}

fn by_handover(seen: &Seen) -> usize {
    let drops = seen.drops.iter();
    drops.filter(|row| row.cause == DropCause::Handover).count()
}

/// Returns how many downlink packets were lost, arrived twice, and arrived late. Packets of the
/// last second do not count, because they may not have arrived yet.
fn fate(seen: &Seen) -> (usize, usize, usize) {
    let end = Time::ZERO + Span::from_secs(11);
    let mut times: BTreeMap<(Time, u64), u32> = BTreeMap::new();
    for &packet in &seen.arrived {
        *times.entry(packet).or_default() += 1;
    }
    let sent = seen.sent.keys().filter(|(at, _)| *at < end);
    let lost = sent.filter(|packet| !times.contains_key(packet)).count();
    let doubled = times.values().filter(|&&count| count > 1).count();
    let pairs = seen.arrived.windows(2);
    let late = pairs.filter(|pair| pair[1].0 < pair[0].0).count();
    (lost, doubled, late)
}

#[test]
fn what_waits_at_the_source_is_forwarded_first_and_nothing_is_lost_doubled_or_late() {
    let (seen, summary) = run(&network(155, 1, &handover("data = \"forwarding\"")));
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    assert_eq!(row.outcome, HandoverOutcome::Success);
    // All 44 segments of the window wait at the source, except those whose ACKs are on the way. At
    // 12 ms a segment and 10 ms of round trip this is one segment.
    assert!((42..=44).contains(&row.forwarded_waiting), "{row:?}");
    assert_eq!(
        (row.lost_waiting, row.lost_later, row.lost_forwarding),
        (0, 0, 0)
    );
    assert_eq!((row.bicast, row.doubled, row.reordered), (0, 0, 0));
    assert_eq!(
        (row.commanded_s, row.resumed_s, row.switched_s),
        (6.0, 6.1, 6.1)
    );
    // No packet arrives for 100 ms. Then a whole segment arrives at 1 Mbit/s.
    let segment_s = 1500.0 * 8.0 / 1e6;
    assert!(
        row.downlink_gap_s > 0.1 && row.downlink_gap_s < 0.1 + 2.0 * segment_s,
        "{row:?}"
    );
    // The end marker takes 1 ms to the source and 1 ms to the target.
    assert!((row.end_marker_s - 6.102).abs() < 1e-4, "{row:?}");
    assert_eq!(fate(&seen), (0, 0, 0));
    assert_eq!(retransmitted(&summary), 0);
}

#[test]
fn with_bicasting_what_came_before_is_lost_and_what_comes_later_waits_at_the_target() {
    let bicast = "data = \"bicasting\"\nbicast-before = \"10 ms\"";
    let (seen, _) = run(&network(155, 1, &handover(bicast)));
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    // A segment is sent every 12 ms, so at most one arrived within the 10 ms.
    assert!(row.bicast <= 2, "{row:?}");
    assert!((41..=44).contains(&row.lost_waiting), "{row:?}");
    assert_eq!(fate(&seen).0 as u32, row.lost_waiting + row.lost_later);
    assert_eq!(row.forwarded_waiting + row.forwarded_later, 0);
    assert!(by_handover(&seen) as u32 >= row.lost_waiting);
}

#[test]
fn bicast_from_long_before_everything_comes_and_some_of_it_twice() {
    let bicast = "data = \"bicasting\"\nbicast-before = \"1 s\"";
    let (seen, _) = run(&network(155, 1, &handover(bicast)));
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    assert_eq!((row.lost_waiting, row.lost_later), (0, 0));
    assert!(row.doubled > 30 && row.bicast >= row.doubled, "{row:?}");
    assert_eq!(fate(&seen).0, 0);
    assert_eq!(fate(&seen).1 as u32, row.doubled);
}

#[test]
fn bicasting_copies_the_datagrams_of_a_sender_at_the_anchor() {
    let bicast = "data = \"bicasting\"\nbicast-before = \"1 s\"";
    let download = network(155, 1, &handover(bicast));
    let (others, _) = download.split_once("[flow.download]").expect("a flow");
    // 50 datagrams leave the anchor within the second before the command.
    let text = format!(
        "{others}[flow.stream]\nfrom = \"anchor\"\nto = \"phone\"\n\
         application = {{ kind = \"packet-stream\", rate = \"400 kbit/s\", size = \"1000 B\" }}\n"
    );
    let (seen, _) = run(&text);
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    assert!(row.bicast >= 50, "{row:?}");
}

#[test]
fn without_either_what_is_there_and_what_comes_until_the_switch_is_lost() {
    let (seen, _) = run(&network(1, 1, &handover("data = \"none\"")));
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    // Link S1 has the same rate as the radio, so the segments of the window wait for S1 at the
    // anchor. All of them reach the source after the command.
    assert!(row.lost_waiting <= 2, "{row:?}");
    assert!((40..=44).contains(&row.lost_later), "{row:?}");
    assert_eq!(by_handover(&seen) as u32, row.lost_waiting + row.lost_later);
}

#[test]
fn a_full_link_between_the_base_stations_loses_forwarded_packets_and_they_are_counted() {
    let text = network(155, 1, &handover("data = \"forwarding\"")).replace(
        "[link.x]\n",
        "[link.x]\nqueue = { limit = \"10 packets\" }\n",
    );
    let (seen, _) = run(&text);
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    assert_eq!(row.lost_forwarding, row.forwarded_waiting - 10, "{row:?}");
    assert_eq!(fate(&seen).0 as u32, row.lost_forwarding);
}

#[test]
fn in_one_queue_forwarded_packets_come_after_those_of_the_anchor() {
    // The route between the base stations takes longer than the new path. So forwarded packets
    // reach the target after packets from the anchor.
    let text = network(
        155,
        10,
        &handover("data = \"forwarding\"\ntarget-order = \"arrival\""),
    )
    .replace(
        "rate = \"155 Mbit/s\"\ndelay = \"1 ms\"\nreverse = { rate = \"155 Mbit/s\" }\n[link.lte]",
        "rate = \"155 Mbit/s\"\ndelay = \"150 ms\"\n[link.lte]",
    );
    let (seen, _) = run(&text);
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    assert_eq!(fate(&seen).0, 0);
    assert!(row.end_marker_s > 6.25, "{row:?}");
}

#[test]
fn over_links_the_preparation_takes_their_delays_and_a_lost_message_ends_it() {
    let signalling = "signalling = \"links\"\npreparation-timeout = \"500 ms\"";
    let (seen, _) = run(&network(155, 1, &handover(signalling)));
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    // The messages from source to anchor, target, anchor and source take 1 ms each. The target
    // requests the path switch 1 ms after it began to serve the phone. Each message takes 10 µs at
    // 155 Mbit/s, and on S1 it may wait for a segment.
    assert!((row.commanded_s - 6.004).abs() < 5e-4, "{row:?}");
    assert!(
        (row.resumed_s - row.commanded_s - 0.1).abs() < 1e-9,
        "{row:?}"
    );
    assert!(
        (row.switched_s - row.resumed_s - 0.001).abs() < 1e-4,
        "{row:?}"
    );
    assert_eq!(fate(&seen), (0, 0, 0));
    // The link to the target loses everything, so the request is lost.
    let lossy = network(155, 1, &handover(signalling))
        .replace("[link.iu]\n", "[link.iu]\nloss = { probability = 1.0 }\n");
    let (seen, _) = run(&lossy);
    let [row] = seen.rows[..] else {
        panic!("{:?}", seen.rows)
    };
    assert_eq!(row.outcome, HandoverOutcome::Cancelled);
    assert!((row.time_s.as_secs_f64() - 6.5).abs() < 1e-9, "{row:?}");
    assert_eq!(fate(&seen), (0, 0, 0));
}

#[test]
fn in_random_schedules_with_forwarding_nothing_is_lost_or_doubled_and_all_others_are_counted() {
    Cases::new(40).run(|seed| {
        let mut random = Stream::new(seed, "test.link-handover", 0);
        let data = ["forwarding", "bicasting", "none"][random.below(3) as usize];
        let signalling = ["given", "links"][random.below(2) as usize];
        let mut tables = String::new();
        let mut at_ms = 500 + random.below(1000);
        for number in 0..8 {
            let ends = [["lte", "umts"], ["umts", "lte"]][number % 2];
            let interruption = random.below(200);
            tables += &format!(
                "[handover.n{number}]\nfrom = \"{}\"\nto = \"{}\"\nat = \"{at_ms} ms\"\n\
                 interruption = \"{interruption} ms\"\ndata = \"{data}\"\n\
                 signalling = \"{signalling}\"\n",
                ends[0], ends[1]
            );
            at_ms += 300 + random.below(900);
        }
        let s1 = [1, 2, 155][random.below(3) as usize];
        let rate = [1, 2, 10][random.below(3) as usize];
        let text = network(s1, rate, &tables);
        let (seen, _) = run(&text);
        assert_eq!(seen.rows.len(), 8, "seed {seed}: {:#?}\n{text}", seen.rows);
        assert!(
            seen.rows
                .iter()
                .all(|row| row.outcome == HandoverOutcome::Success),
            "seed {seed}: {:#?}\n{text}",
            seen.rows
        );
        let (lost, doubled, _) = fate(&seen);
        if data == "forwarding" {
            assert_eq!((lost, doubled), (0, 0), "seed {seed}\n{text}");
        }
        let counted: u32 = seen
            .rows
            .iter()
            .map(|row| row.lost_waiting + row.lost_later + row.lost_forwarding + row.lost_at_target)
            .sum();
        assert_eq!(
            lost as u32, counted,
            "seed {seed}: {:#?}\n{text}",
            seen.rows
        );
        // The flow continues to the end.
        let newest = seen.arrived.iter().map(|(at, _)| *at).max();
        assert!(
            newest > Some(Time::ZERO + Span::from_secs(11)),
            "seed {seed}\n{text}"
        );
    });
}

#[test]
fn a_limit_in_round_trips_of_no_flow_is_refused() {
    let limited = |flows: &str| {
        let text = network(155, 10, &handover("source-limit = 1"));
        let whole = text
            .split_once("[flow.download]")
            .expect("a flow")
            .0
            .to_owned();
        let scenario = parse(&(whole + flows), PathBuf::from("."), &[]);
        let built = build(&scenario, Seen::default()).map(|_| ());
        built.err().map(|error| error.to_string())
    };
    // The flow begins on the other link, so its round-trip time over this link is unknown and the
    // scenario is refused.
    let other_route = "[flow.download]\nfrom = \"server\"\nto = \"phone\"\nroute = [\"internet\", \"iu\", \"umts\"]\n";
    let error = limited(other_route).expect("no flow uses the link");
    assert!(error.contains("lte"), "{error}");
    assert!(
        error.contains("`source-limit` in round trips") && error.contains("its `queue`"),
        "{error}"
    );
    let through = other_route.replace("\"iu\", \"umts\"", "\"s1\", \"lte\"");
    assert_eq!(limited(&through), None);
}
