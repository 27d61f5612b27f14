//! Tests of random scenarios over radio bearers: every RLC mode, queue management, blockages,
//! losses and outages, TCP and Multipath TCP. The byte stream must arrive once, complete and in
//! order. The connection must end and leave nothing behind. Every sent packet must have arrived or
//! be counted as lost.
//!
//! A failing case prints the line that runs it again, with its scenario.

use crate::common::build;
use crate::common::parse;
use fadeout_core::random::Stream;
use fadeout_core::{
    DropRow, EndpointId, FlowId, MptcpOption, Probe, RadioDropRow, Span, Time, WholePacket,
};
use fadeout_sim::summary;
use fadeout_testkit::Cases;
use std::collections::BTreeMap;

/// Number of random cases. A case takes one or two milliseconds. `make soak` has more.
const CASES: u64 = 2_500;
/// Longest time of a case. The slowest bearer carries some kbit/s, and timers back off to two
/// minutes.
const LATEST: Time = Time::from_nanos(14_400_000_000_000);

/// Largest retransmission timeout after backoff.
const LONGEST_RTO: Span = Span::from_secs(120);
/// Number of consecutive timeouts that end a connection (`tcp_retries2`).
const MOST_TIMEOUTS: u64 = 16;

/// Sequence numbers that arrived, those in order and those behind gaps.
#[derive(Debug, Default)]
struct Arrived {
    next: u64,
    above: BTreeMap<u64, u64>,
}

impl Arrived {
    fn add_bytes(&mut self, start: u64, end: u64) {
        let kept = self.above.entry(start).or_default();
        *kept = end.max(*kept);
        while let Some(entry) = self.above.first_entry() {
            if *entry.key() > self.next {
                break;
            }
            self.next = self.next.max(entry.remove());
        }
    }
}

/// The fate of packets, and the data delivered to applications.
#[derive(Debug, Default)]
struct Watch {
    is_multipath: bool,
    sent: u64,
    received: u64,
    dropped: u64,
    last_sent_at: Time,
    /// Time of the last arrival that advanced a stream.
    advanced_at: Time,
    /// Highest acknowledgment that each end of a path has received.
    acknowledged: BTreeMap<(FlowId, EndpointId), u64>,
    /// Received data of each direction, indexed by its receiving endpoint. A multipath flow has one
    /// entry for its single direction.
    streams: BTreeMap<EndpointId, Arrived>,
    delivered: u64,
}

impl Probe for Watch {
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, now: Time, _: WholePacket<'_>) {
        self.sent += 1;
        self.last_sent_at = now;
    }
    fn received(&mut self, now: Time, packet: WholePacket<'_>) {
        self.received += 1;
        let segment = &packet.segment;
        // A path whose data has already arrived on another path still has to deliver its own copy.
        let acknowledged = self.acknowledged.entry((packet.flow, packet.to));
        let acknowledged = acknowledged.or_default();
        if segment.ack > *acknowledged {
            *acknowledged = segment.ack;
            self.advanced_at = now;
        }
        let (to, start) = match (self.is_multipath, segment.mptcp) {
            (true, MptcpOption::Dss(dss)) => (EndpointId(0), dss.data_seq),
            _ => (packet.to, segment.seq),
        };
        if segment.len > 0 {
            let stream = self.streams.entry(to).or_insert_with(|| Arrived {
                next: 1,
                above: BTreeMap::new(),
            });
            let before = stream.next;
            stream.add_bytes(start, start + u64::from(segment.len));
            if stream.next > before {
                self.advanced_at = now;
            }
        }
    }
    fn delivered(&mut self, _: Time, flow: FlowId, bytes: u64) {
        if flow == FlowId(0) {
            self.delivered += bytes;
            let in_order: u64 = self.streams.values().map(|stream| stream.next - 1).sum();
            assert!(
                self.delivered <= in_order,
                "{} bytes were handed over, {in_order} had arrived in order",
                self.delivered
            );
        }
    }
    fn dropped(&mut self, _: DropRow) {
        self.dropped += 1;
    }
    fn radio_dropped(&mut self, _: RadioDropRow) {
        self.dropped += 1;
    }
}

/// A scenario as text, and the data that it has to deliver.
struct Case {
    text: String,
    is_multipath: bool,
    /// True if the radio may be too poor to carry any packets.
    is_hard: bool,
    bytes: u64,
}

fn pick<'a>(draw: &mut Stream, among: &[&'a str]) -> &'a str {
    among[draw.below(among.len() as u64) as usize]
}

/// Returns a link from the server to a base station or to a node.
fn link(draw: &mut Stream, name: &str, to: &str) -> String {
    let (rate, delay) = (200 << draw.below(9), draw.below(40));
    let limit = 3 + draw.below(100);
    let discipline = pick(
        draw,
        &["drop-tail", "codel", "pie", "red", "fq-codel", "dual-pi2"],
    );
    let loss = if draw.chance(0.3) {
        format!(
            "loss = {{ probability = {} }}\n",
            draw.uniform_in(0.0, 0.05)
        )
    } else {
        String::new()
    };
    let blockage = if draw.chance(0.4) {
        let period = 500 + draw.below(5_000);
        let effect = pick(draw, &["held", "lost", "dropped-on-arrival"]);
        format!(
            "[blockage.{name}]\nlink = \"{name}\"\neffect = \"{effect}\"\nschedule = {{ \
             period = \"{period} ms\", duration = \"{} ms\", phase = \"{} ms\" }}\n",
            1 + draw.below(period * 6 / 10),
            draw.below(period)
        )
    } else {
        String::new()
    };
    format!(
        "[link.{name}]\nfrom = \"server\"\nto = \"{to}\"\nrate = \"{rate} kbit/s\"\n\
         delay = \"{delay} ms\"\n{loss}queue = {{ limit = \"{limit} packets\", \
         discipline = \"{discipline}\" }}\n{blockage}"
    )
}

/// Returns a cell with one UE at this distance. A hard cell has an SINR that may be too low for any
/// packet.
fn cell(
    draw: &mut Stream,
    hard: Option<&mut Stream>,
    is_lte: bool,
    [name, ue, rest]: [&str; 3],
    metres: u64,
) -> String {
    let mode = pick(draw, &["am", "um", "tm"]);
    let is_transparent = mode == "tm";
    let (carrier, bandwidth, radio, path_loss) = if is_lte {
        let narrow = if is_transparent { "10 MHz" } else { "1.4 MHz" };
        let bandwidth = pick(draw, &[narrow, "5 MHz", "10 MHz"]);
        ("2 GHz", bandwidth, "kind = \"lte\"", "uma")
    } else if draw.chance(0.5) {
        ("3.5 GHz", "20 MHz", "kind = \"nr\", numerology = 1", "uma")
    } else {
        ("28 GHz", "50 MHz", "kind = \"nr\", numerology = 3", "umi")
    };
    // A fixed MCS on a poor channel loses blocks that HARQ cannot repair.
    let adaptation = if draw.chance(0.3) && !is_transparent {
        format!(", adaptation = \"fixed-mcs\", mcs = {}", draw.below(12))
    } else {
        String::new()
    };
    let blockage = match draw.below(4) {
        0 => format!(
            ", blockage = {{ model = \"two-state\", mean-blocked = \"{} ms\", \
             mean-clear = \"{} ms\", loss = {} }}",
            10 + draw.below(800),
            200 + draw.below(3_000),
            draw.below(50)
        ),
        1 => format!(
            ", blockage = {{ model = \"periodic\", period = \"{} ms\", duration = \"{} ms\", \
             loss = {} }}",
            2_000 + draw.below(1_500),
            draw.below(1_500),
            draw.below(80)
        ),
        _ => String::new(),
    };
    // A given SINR has no channel, and so no blockages. Transparent mode does not segment packets,
    // and loses those that fit into no block.
    let air = if let Some(hard) = hard {
        let [down, up] = [(); 2].map(|()| hard.uniform_in(-12.0, 20.0));
        format!("downlink-sinr = \"{down} dB\"\nuplink-sinr = \"{up} dB\"\n")
    } else if draw.chance(0.4) || is_transparent {
        let least = if is_transparent { 20.0 } else { 2.0 };
        let sinr = draw.uniform_in(least, 28.0);
        format!("downlink-sinr = \"{sinr} dB\"\nuplink-sinr = \"{sinr} dB\"\n")
    } else {
        String::new()
    };
    let aqm = pick(draw, &["drop-tail", "codel", "pie", "ecn-step"]);
    let kilobytes = 4 + draw.below(150);
    let rlc = match mode {
        "am" => format!(
            "mode = \"am\", max-retx-threshold = {}",
            [1, 4, 32][draw.below(3) as usize]
        ),
        mode => format!("mode = \"{mode}\""),
    };
    format!(
        "[cell.{name}]\nradio = {{ {radio}{adaptation} }}\ncarrier = \"{carrier}\"\n\
         bandwidth = \"{bandwidth}\"\nchannel = {{ path-loss = \"{path_loss}\"{blockage} }}\n\
         [ue.{ue}]\n{rest}cell = \"{name}\"\nposition = [\"{metres} m\", \"10 m\"]\n{air}\
         rlc = {{ {rlc}, buffer = \"{kilobytes} kB\", aqm = \"{aqm}\" }}\n"
    )
}

impl Case {
    fn new(seed: u64) -> Case {
        let draw = &mut Stream::new(seed, "radio streams", 0);
        let hard = &mut Stream::new(seed, "radio streams", 1);
        let is_hard = hard.chance(0.1);
        let is_multipath = draw.chance(0.4);
        let is_pair = is_multipath && draw.chance(0.5);
        let mut text = format!("duration = \"14400 s\"\nseed = {seed}\n");
        let is_lte = draw.chance(0.5);
        // The UE is near enough for every carrier to work between blockages.
        let metres = 10 + draw.below(40);
        text += &link(draw, "core", "base");
        if is_pair {
            let node = "node = \"phone\"\n";
            let names = ["base", "first", node];
            text += &cell(draw, is_hard.then_some(&mut *hard), is_lte, names, metres);
            text += &link(draw, "other", "second-base");
            let names = ["second-base", "second", node];
            text += &cell(draw, is_hard.then_some(&mut *hard), !is_lte, names, metres);
        } else {
            let names = ["base", "phone", ""];
            text += &cell(draw, is_hard.then_some(&mut *hard), is_lte, names, metres);
        }
        if is_multipath && !is_pair {
            text += &link(draw, "wifi", "phone");
        }
        let most = 1 << (8 + draw.below(10));
        let mut bytes = 1 + draw.below(most);
        let application = match draw.below(3) {
            0 if !is_multipath => {
                let (requests, size) = (1 + draw.below(5), 1 + bytes / 5);
                bytes = requests * size;
                format!(
                    "{{ kind = \"request-response\", requests = {requests}, size = {size}, \
                     think = \"{} ms\" }}",
                    draw.below(500)
                )
            }
            1 if !is_multipath => format!("{{ kind = \"ftp\", size = {bytes} }}"),
            _ => format!("{{ kind = \"transfer\", size = {bytes} }}"),
        };
        let (from, to) = if draw.chance(0.6) {
            ("server", "phone")
        } else {
            ("phone", "server")
        };
        text +=
            &format!("[flow.f]\nfrom = \"{from}\"\nto = \"{to}\"\napplication = {application}\n");
        let controls = ["cubic", "reno", "bbr", "vegas", "westwood", "dctcp"];
        text += &format!("congestion-control = \"{}\"\n", pick(draw, &controls));
        // In transparent mode the segments fit into a block of every cell, unless the case is hard.
        if text.contains("\"tm\"") && !is_hard {
            text += &format!("tcp = {{ mss = {} }}\n", 200 + draw.below(300));
        }
        if is_multipath {
            let mut paths = match (is_pair, from) {
                (true, "server") => [r#"["core", "first"]"#, r#"["other", "second"]"#],
                (true, _) => [r#"["first", "core"]"#, r#"["second", "other"]"#],
                (false, "server") => [r#"["core", "phone"]"#, r#"["wifi"]"#],
                (false, _) => [r#"["phone", "core"]"#, r#"["wifi"]"#],
            };
            if draw.chance(0.3) {
                paths.reverse();
            }
            let scheduler = pick(
                draw,
                &[
                    "linux",
                    "linux",
                    "lowest-rtt",
                    "round-robin",
                    "redundant",
                    "blest",
                    "ecf",
                ],
            );
            text += &format!(
                "multipath = {{ paths = [{}, {}], path-scheduler = \"{scheduler}\" }}\n",
                paths[0], paths[1]
            );
        } else {
            let profile = pick(draw, &["linux", "linux", "rfc", "newreno", "reno", "tahoe"]);
            text += &format!("profile = \"{profile}\"\n");
        }
        Case {
            text,
            is_multipath,
            is_hard,
            bytes,
        }
    }

    /// Runs the case to its end. Returns the world, and true if the connection was given up or is
    /// still active at the limit.
    fn run(&self) -> (crate::common::Observed<Watch>, bool) {
        let scenario = parse(&self.text, ".".into(), &[]);
        let watch = Watch {
            is_multipath: self.is_multipath,
            ..Watch::default()
        };
        let mut world = build(&scenario, watch).unwrap_or_else(|error| panic!("{error}"));
        while world.run(LATEST, u64::MAX) {}
        let flow = &summary(&scenario, &world)["flows"][0];
        let watch = world.probe();
        let is_aborted = flow["aborted"] == true;
        // On a very lossy link a segment may take minutes of timeouts. Such a connection is still
        // active: it sends, and has made progress within the timeouts after which it would give up.
        // An endless exchange of the same packets makes no progress and loses little.
        let is_at_it = watch.last_sent_at + LONGEST_RTO > LATEST
            && watch.advanced_at + LONGEST_RTO * MOST_TIMEOUTS > LATEST;
        if is_at_it && !is_aborted && watch.dropped * 10 >= watch.sent {
            return (world, true);
        }
        assert_eq!(
            world.next_at(),
            None,
            "nothing is left to do: {watch:?} {flow}"
        );
        if !is_aborted {
            assert_eq!(watch.delivered, self.bytes, "the stream is whole: {flow}");
            assert!(flow["completed_at_s"].is_number(), "it is complete: {flow}");
        }
        assert_eq!(
            watch.sent,
            watch.received + watch.dropped,
            "every packet has arrived or is counted as lost: {watch:?}"
        );
        (world, is_aborted)
    }
}

#[test]
fn streams_over_bearers_arrive_whole_and_connections_end() {
    let cases = Cases::new(CASES);
    let mut aborted = 0;
    cases.run(|seed| {
        let case = Case::new(seed);
        if cases.is_replay() {
            println!("{}", case.text);
        }
        let (world, is_aborted) = case.run();
        aborted += u64::from(is_aborted && !case.is_hard);
        // One case in fifty is run twice, and must have the same trajectory.
        if seed % 50 == 0 || cases.is_replay() {
            let (again, _) = case.run();
            assert_eq!(again.fingerprint(), world.fingerprint(), "the same bits");
        }
    });
    // Retransmissions may meet blockages fifteen times in a row, but nearly all connections
    // survive.
    assert!(
        aborted <= 1 + cases.count() / 50,
        "{aborted} connections were given up or take longer"
    );
}
