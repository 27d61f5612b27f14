//! Tests of flows over QUIC.

use crate::common::{self, Observed, by_carrier, errors_of, number, run_with};
use fadeout_core::random::Stream;
use fadeout_core::{
    EndpointId, FlowId, LinkId, NullProbe, Probe, QuicRow, Span, Time, WholePacket,
};
use fadeout_record::Destination;
use fadeout_scenario::Scenario;
use fadeout_sim::{Control, Simulation, Worlds, summary};
use fadeout_testkit::Cases;
use serde_json::Value;

/// A link of 100 Mbit/s with a round trip of 20 ms and a queue of 50 ms.
const LINK: &str = "[link.path]\nfrom = \"server\"\nto = \"phone\"\nrate = \"100 Mbit/s\"\n\
                    delay = \"10 ms\"\nqueue = { limit = \"50 ms\" }\n";

/// A wired path that loses, delays and reorders packets.
const LOSSY: &str = "[link.path]\nfrom = \"server\"\nto = \"phone\"\n\
                     rate = \"5 Mbit/s\"\ndelay = \"9 ms\"\nloss = { probability = 0.03 }\n\
                     jitter = \"3 ms\"\nkeeps-order = false\nqueue = { limit = \"20 packets\" }\n";

/// A drive from an LTE cell to another one.
const CELLS: &str = "[link.core]\nfrom = \"server\"\nto = \"core\"\ndelay = \"4 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.s1-west]\nfrom = \"core\"\nto = \"west\"\ndelay = \"1 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.s1-east]\nfrom = \"core\"\nto = \"east\"\ndelay = \"1 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.x2]\nfrom = \"west\"\nto = \"east\"\ndelay = \"2 ms\"\nrate = \"1 Gbit/s\"\n\
    [cell.west]\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\nradio = \"lte\"\n\
    channel = { path-loss = \"uma\" }\n\
    [cell.east]\nposition = [\"300 m\", \"0 m\"]\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
    radio = \"lte\"\nchannel = { path-loss = \"uma\" }\n\
    [ue.phone]\nposition = [\"100 m\", \"30 m\"]\nmobility = { model = \"line\", x-speed = 30 }\n\
    [mobility-management]\nsignalling = \"given\"\ncore = \"core\"\ndata = \"forwarding\"\n\
    events = [{ kind = \"a3\", offset = \"1 dB\", hysteresis = \"0 dB\", time-to-trigger = \"40 ms\" }]\n";

/// Two links, between which the phone changes, with bicasting.
const TWO_LINKS: &str = "[link.internet]\nfrom = \"server\"\nto = \"anchor\"\nrate = \"100 Mbit/s\"\n\
    delay = \"4 ms\"\n[link.s1]\nfrom = \"anchor\"\nto = \"enb\"\nrate = \"100 Mbit/s\"\n\
    delay = \"1 ms\"\n[link.iu]\nfrom = \"anchor\"\nto = \"rnc\"\nrate = \"100 Mbit/s\"\n\
    delay = \"1 ms\"\n[link.x]\nfrom = \"enb\"\nto = \"rnc\"\nrate = \"100 Mbit/s\"\n\
    delay = \"1 ms\"\n[link.lte]\nfrom = \"enb\"\nto = \"phone\"\nrate = \"10 Mbit/s\"\n\
    delay = \"1 ms\"\n[link.umts]\nfrom = \"rnc\"\nto = \"phone\"\nrate = \"4 Mbit/s\"\n\
    delay = \"9 ms\"\n\
    [handover.down]\nfrom = \"lte\"\nto = \"umts\"\nat = \"800 ms\"\ninterruption = \"60 ms\"\n\
    data = \"bicasting\"\nbicast-before = \"200 ms\"\n\
    [handover.up]\nfrom = \"umts\"\nto = \"lte\"\nat = \"2 s\"\ninterruption = \"90 ms\"\n\
    data = \"forwarding\"\n";

/// Two paths that lose packets, the second of which ends or is a backup.
const PAIR: &str = "[link.path]\nfrom = \"server\"\nto = \"phone\"\n\
    rate = \"5 Mbit/s\"\ndelay = \"9 ms\"\nloss = { probability = 0.03 }\n\
    queue = { limit = \"20 packets\" }\n[link.other]\nfrom = \"server\"\nto = \"phone\"\n\
    rate = \"3 Mbit/s\"\ndelay = \"20 ms\"\nloss = { probability = 0.02 }\n\
    jitter = \"5 ms\"\nkeeps-order = false\n";

/// Returns a scenario with a flow from `server` to `phone` over QUIC.
fn text(head: &str, network: &str, transport: &str, application: &str) -> String {
    format!(
        "{head}\n{network}[flow.page]\nfrom = \"server\"\nto = \"phone\"\n\
         transport = {{ kind = \"quic\"{transport} }}\napplication = {application}\n"
    )
}

fn parse(text: &str) -> Scenario {
    common::parse(text, ".".into(), &[])
}

/// Returns the world of a scenario at its end.
fn ended(scenario: &Scenario) -> Observed<NullProbe> {
    let mut world = common::world(scenario);
    common::run_to(&mut world, common::end(scenario));
    world
}

/// Runs a scenario. Returns its summary.
fn run(text: &str) -> Value {
    let scenario = parse(text);
    summary(&scenario, &ended(&scenario))
}

const MB_10: &str = "{ kind = \"transfer\", size = \"10 MB\" }";

/// Largest share of stream data in a packet of 1500 B. UDP and IP take 28 B of it. A short header
/// with its tag takes at least 26 B, and a STREAM frame at least 4 B.
const LARGEST_SHARE: f64 = (1500.0 - 28.0 - 26.0 - 4.0) / 1500.0;

#[test]
fn goodput_on_a_clean_link_is_that_of_full_packets() {
    for control in ["flow", "noq:cubic", "noq:new-reno"] {
        let transport = format!(", congestion-control = \"{control}\"");
        let application = "{ kind = \"bulk\" }";
        let head = "duration = \"20 s\"";
        let summary = run(&text(head, LINK, &transport, application));
        let flow = &summary["flows"][0];
        let goodput = number(flow, "goodput_mbps");
        assert!(goodput < 100.0 * LARGEST_SHARE, "{control}: {goodput}");
        // The slow start takes 0.3 s at less than the rate, and its overshoot costs packets.
        assert!(
            goodput > 0.97 * 100.0 * LARGEST_SHARE,
            "{control}: {goodput}"
        );
        assert_eq!(flow["profile"], "quic");
        assert_eq!(number(flow, "mss_bytes"), 1472.0);
    }
}

#[test]
fn every_congestion_control_of_the_stack_and_of_ours_completes_a_transfer() {
    let own = [
        "reno", "cubic", "bbr", "bbr3", "copa", "vegas", "westwood", "bic", "illinois",
    ];
    let own = own.into_iter().filter(|name| {
        let known = fadeout_sim::find_entry("congestion-control", name);
        known.is_some()
    });
    let of_flow = own.map(|name| (String::new(), format!("congestion-control = \"{name}\"\n")));
    let of_stack = ["noq:cubic", "noq:new-reno"];
    let of_stack = of_stack.map(|it| (format!(", congestion-control = \"{it}\""), String::new()));
    let mut count = 0;
    for (transport, key) in of_flow.chain(of_stack) {
        let text = text("duration = \"20 s\"", LINK, &transport, MB_10);
        let summary = run(&format!("{text}{key}"));
        let flow = &summary["flows"][0];
        let took = number(flow, "flow_completion_time_s");
        // 10 MB take 0.83 s in full packets at the rate of the link.
        assert!(took > 0.83 && took < 3.0, "{transport}{key}: {took} s");
        assert_eq!(number(flow, "delivered_bytes"), 1e7);
        count += 1;
    }
    assert!(count >= 9, "{count}");
}

#[test]
fn the_same_scenario_has_the_same_bits_and_another_seed_has_others() {
    let networks = [LOSSY, CELLS, TWO_LINKS];
    for (network, control) in networks
        .into_iter()
        .zip(["flow", "noq:new-reno", "noq:cubic"])
    {
        let transport = format!(", congestion-control = \"{control}\"");
        let fingerprint = |seed: u64| {
            let head = format!("duration = \"4 s\"\nseed = {seed}");
            let scenario = parse(&text(&head, network, &transport, "{ kind = \"bulk\" }"));
            ended(&scenario).fingerprint().value()
        };
        let first = fingerprint(1);
        for _ in 0..5 {
            assert_eq!(fingerprint(1), first, "{control}");
        }
        if network == LOSSY {
            assert_ne!(fingerprint(2), first);
        }
    }
}

/// Draws a network, settings and a size of a transfer.
fn draw(seed: u64) -> (String, u64) {
    let mut random = Stream::new(seed, "test.quic", 0);
    let network = [LOSSY, PAIR, CELLS, TWO_LINKS][random.below(4) as usize];
    let control = ["flow", "flow", "noq:cubic", "noq:new-reno"];
    let transport = format!(
        ", congestion-control = \"{}\", zero-rtt = {}, mtu-discovery = {}, ack-frequency = {}, \
         certificate = \"{} B\", streams = \"{}\", receive-window = \"{} B\", \
         path-timeout = \"300 ms\"",
        control[random.below(4) as usize],
        random.below(2) == 0,
        random.below(2) == 0,
        random.below(20),
        random.below(20_000),
        ["one", "per-write"][random.below(2) as usize],
        1_000 + random.below(1_000_000),
    );
    let size = 1 + random.below(400_000);
    let requests = 1 + random.below(6);
    let (application, delivered) = match random.below(2) {
        0 => (
            format!("{{ kind = \"transfer\", size = \"{size} B\" }}"),
            size,
        ),
        _ => (
            format!(
                "{{ kind = \"request-response\", requests = {requests}, size = \"{size} B\" }}"
            ),
            requests * size,
        ),
    };
    let head = format!("duration = \"60 s\"\nseed = {seed}");
    let mut text = text(&head, network, &transport, &application);
    if network == PAIR {
        let change = ["backup = true", "until = \"900 ms\"", "from = \"300 ms\""];
        let change = change[random.below(3) as usize];
        text += &format!(
            "multipath = {{ paths = [[\"path\"], {{ links = [\"other\"], {change} }}] }}\n"
        );
    }
    (text, delivered)
}

/// A debug assertion of the crate `quic` compares each byte with the byte that was sent at its
/// offset.
#[test]
fn bytes_delivered_are_bytes_sent_on_every_network() {
    Cases::new(60).run(|seed| {
        let (text, size) = draw(seed);
        let summary = run(&text);
        let flow = &summary["flows"][0];
        assert_eq!(number(flow, "delivered_bytes"), size as f64, "{text}");
        assert_eq!(flow["aborted"], false, "{text}");
    });
}

/// Times, receivers and lengths of all datagrams sent, and the rows of the QUIC table.
#[derive(Default)]
struct Sent {
    times: Vec<(Time, EndpointId, u32)>,
    rows: Vec<QuicRow>,
}

impl Probe for Sent {
    fn wants_packets(&self) -> bool {
        true
    }
    fn wants_congestion(&self, _: Time, _: FlowId) -> bool {
        true
    }
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        assert_eq!(packet.payload.len(), packet.segment.len as usize);
        self.times.push((now, packet.to, packet.segment.len));
    }
    fn quic(&mut self, row: QuicRow) {
        self.rows.push(row);
    }
    fn wants_link(&self, _: LinkId) -> bool {
        false
    }
}

#[test]
fn a_client_without_an_answer_repeats_its_first_packet_as_rfc_9002_says() {
    let network = LINK.replace("queue", "loss = { probability = 1 }\nqueue");
    let scenario = parse(&text("duration = \"60 s\"", &network, "", MB_10));
    let (sent, _) = run_with(&scenario, Sent::default());
    // Each timeout sends two probes, and the pacer lets some milliseconds pass between them. The
    // timer starts again with the second.
    let times = sent.times.windows(2).map(|pair| pair[1].0.since(pair[0].0));
    let waits: Vec<Span> = times.filter(|wait| wait.as_millis() > 500).collect();
    // The timeout is 333 ms + 4 · 166.5 ms, and doubles each time (section 6.2.2).
    assert_eq!(waits[..3], [999, 1998, 3996].map(Span::from_millis));
    // An Initial fills a datagram of 1200 bytes (RFC 9000 section 14.1).
    assert!(sent.times.iter().all(|it| it.2 >= 1200), "{:?}", sent.times);
    let summary = run(&text("duration = \"60 s\"", &network, "", MB_10));
    assert_eq!(summary["flows"][0]["aborted"], true);
    assert_eq!(summary["quic_ends"][0]["failure"], "timed out");
}

#[test]
fn a_sender_that_hears_nothing_probes_after_its_probe_timeout() {
    let blockage = "[blockage.wall]\nlink = \"path\"\ndirection = \"both\"\n\
        schedule = { period = \"100 s\", duration = \"50 s\", phase = \"2 s\" }\n\
        effect = \"dropped-on-arrival\"\n";
    // Packets of an application that sends less than the window leave the sender idle.
    let application = "{ kind = \"request-response\", size = \"20 kB\", think = \"5 ms\" }";
    let text = text(
        "duration = \"4 s\"",
        &format!("{LINK}{blockage}"),
        "",
        application,
    );
    let scenario = parse(&text);
    let (sent, _) = run_with(&scenario, Sent::default());
    let last = sent
        .rows
        .last()
        .expect("the sender heard ACKs before the blockage");
    assert!(last.time_s > Time::ZERO + Span::from_millis(1900));
    // The receiver of the sender's datagrams is the second endpoint.
    let data = sent.times.iter().filter(|it| it.1 == EndpointId(1));
    let data = data.map(|it| it.0).filter(|&at| at >= last.time_s);
    let mut data: Vec<Time> = data.collect();
    data.dedup();
    let burst = data
        .iter()
        .take_while(|&&at| at.since(data[0]) < last.pto_s / 2)
        .count();
    assert!(data.len() > burst, "no probe: {data:?}");
    let waited = data[burst].since(data[burst - 1]);
    // The variation is known within a few nanoseconds, because the stack rounds.
    let difference = waited.as_nanos().abs_diff(last.pto_s.as_nanos());
    assert!(difference < 1_000, "{waited:?} and {:?}", last.pto_s);
}

#[test]
fn a_certificate_beyond_three_times_the_first_flight_takes_a_further_round_trip() {
    let established = |size: u32| {
        // With the initial time of 333 ms, the stack would pace the first flight over more than the
        // round trip.
        let transport = format!(", certificate = \"{size} B\", initial-rtt = \"20 ms\"");
        let summary = run(&text("duration = \"2 s\"", LINK, &transport, MB_10));
        number(&summary["flows"][0], "established_s")
    };
    let (small, large) = (established(1_000), established(9_000));
    // The server may send 3 · 1200 bytes until it hears from the client a second time.
    assert!((0.020..0.022).contains(&small), "{small}");
    assert!((0.040..0.043).contains(&large), "{large}");
}

#[test]
fn zero_rtt_saves_a_round_trip() {
    let first = |zero_rtt: bool| {
        let transport =
            format!(", certificate = \"1 kB\", initial-rtt = \"20 ms\", zero-rtt = {zero_rtt}");
        let application = "{ kind = \"transfer\", size = \"1 kB\" }";
        let summary = run(&text("duration = \"2 s\"", LINK, &transport, application));
        number(&summary["flows"][0], "flow_completion_time_s")
    };
    let (with, without) = (first(true), first(false));
    assert!((0.010..0.011).contains(&with), "{with}");
    assert!((0.030..0.033).contains(&without), "{without}");
}

#[test]
fn writes_after_an_idle_timeout_are_not_sent_and_the_flow_is_aborted() {
    let application = "{ kind = \"request-response\", size = \"1 kB\", think = \"2 s\" }";
    let transport = ", idle-timeout = \"500 ms\"";
    let scenario = parse(&text("duration = \"9 s\"", LINK, transport, application));
    let run = Simulation::new(scenario, Destination::Memory).expect("a checked scenario");
    let results = run.run(|_| Control::Continue).expect("memory is there");
    assert!(results.is_complete);
    let remarks = results.remarks.join("\n");
    assert!(remarks.contains("the connection was given up"), "{remarks}");
    assert!(remarks.contains("(QUIC: timed out)"), "{remarks}");
}

#[test]
fn a_run_of_many_handshakes_can_be_stopped_early() {
    // All connections open at one instant, and their handshakes take most of the computing.
    let text = text("duration = \"1 s\"", LINK, "", MB_10).replace(
        "[flow.page]",
        "[flow.page]\ncount = 2000\nstart-spacing = \"0 s\"",
    );
    let run = Simulation::new(parse(&text), Destination::Memory).expect("a checked scenario");
    let results = run.run(|_| Control::Stop).expect("memory is there");
    assert!(!results.is_complete);
    assert!(results.events < 2_000, "{}", results.events);
}

#[test]
fn a_flow_over_quic_continues_through_handovers() {
    let head = "duration = \"6 s\"\nseed = 4";
    let summary = run(&text(head, CELLS, "", "{ kind = \"bulk\" }"));
    let flow = &summary["flows"][0];
    assert_eq!(flow["aborted"], false);
    // A cell of 10 MHz carries at most 37 Mbit/s to a UE with one antenna (TS 36.213 Table
    // 7.1.7.2.1-1: 36,696 bits in 50 resource blocks).
    let goodput = number(flow, "goodput_mbps");
    assert!(goodput > 5.0 && goodput < 2.0 * 36.7, "{goodput}");
}

#[test]
fn each_write_may_be_a_stream() {
    let application = "{ kind = \"request-response\", requests = 7, size = \"30 kB\" }";
    let streams = |streams: &str| {
        let transport = format!(", streams = \"{streams}\"");
        let summary = run(&text("duration = \"9 s\"", LINK, &transport, application));
        assert_eq!(number(&summary["flows"][0], "delivered_bytes"), 210_000.0);
        let ends = summary["quic_ends"].as_array().expect("two rows").clone();
        [0, 1].map(|end| number(&ends[end], "streams"))
    };
    assert_eq!(streams("per-write"), [7.0, 7.0]);
    assert_eq!(streams("one"), [1.0, 1.0]);
}

#[test]
fn a_fixed_size_of_datagrams_is_kept() {
    let summary = run(&text(
        "duration = \"3 s\"",
        LINK,
        ", mtu-discovery = false",
        MB_10,
    ));
    assert_eq!(number(&summary["quic_ends"][0], "mtu_bytes"), 1200.0);
    let summary = run(&text(
        "duration = \"3 s\"",
        LINK,
        ", mtu = \"1400 B\"",
        MB_10,
    ));
    assert_eq!(number(&summary["quic_ends"][0], "mtu_bytes"), 1372.0);
}

#[test]
fn settings_that_quic_does_not_have_are_refused() {
    let flow = text("duration = \"1 s\"", LINK, "", "\"bulk\"");
    for line in [
        "profile = \"rfc\"",
        "tcp = { receive-window = 65536 }",
        "link-info = { link = \"path\" }",
    ] {
        let key = line.split(' ').next().expect("a key");
        let error = errors_of(&format!("{flow}{line}\n"));
        let expected = format!("`{key}` of a flow with the transport `quic`, which is not TCP");
        assert!(error.contains(&expected), "{error}");
    }
    let cases = [
        (flow.replace("\"bulk\"", "\"echo\""), "sends datagrams"),
        (
            format!("{flow}congestion-control = \"dctcp\"\n"),
            "`dctcp` does not run over QUIC",
        ),
        (
            format!("{flow}congestion-control = \"tahoe\"\n"),
            "`tahoe` does not run over QUIC",
        ),
        (
            flow.replace("\"quic\"", "\"quic\", congestion-control = \"noq:cubic\"")
                + "congestion-control = \"cubic\"\n",
            "expected one of the two",
        ),
        (
            flow.replace("\"quic\"", "\"quic\", congestion-control = \"noq:cubik\""),
            "noq:cubic",
        ),
        (
            flow.replace("\"quic\"", "\"quic\", certificat = \"1 kB\""),
            "certificate",
        ),
        (
            flow.replace("\"quic\"", "\"quic\", mtu = \"1000 B\""),
            "1228",
        ),
        (
            flow.replace(
                "{ kind = \"quic\" }",
                "{ kind = \"port\", certificate = \"1 kB\" }",
            ),
            "certificate",
        ),
    ];
    for (text, expected) in cases {
        let error = errors_of(&text);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn quic_and_several_worlds_exclude_each_other() {
    let flow = "[flow.page]\nfrom = \"server\"\nto = \"phone-1\"\ntransport = \"quic\"\n";
    let text = format!("{}{flow}", by_carrier());
    let error = Worlds::unobserved(&parse(&text)).map(|_| ());
    let error = error
        .expect_err("payload bytes stay in one world")
        .to_string();
    assert!(error.contains("`flow.page.transport`"), "{error}");
}

#[test]
fn the_written_scenario_has_the_keys_of_quic_and_no_keys_of_tcp() {
    for (transport, name) in [
        ("", "cubic"),
        (", congestion-control = \"noq:cubic\"", "noq:cubic"),
    ] {
        let scenario = parse(&text("duration = \"1 s\"", LINK, transport, "\"bulk\""));
        let written = fadeout_sim::resolved(&scenario);
        let flow = &written["flow"]["page"];
        assert_eq!(flow["transport"]["kind"], "quic", "{flow}");
        assert!(
            flow.get("tcp").is_none() && flow.get("profile").is_none(),
            "{flow}"
        );
        let summary = summary(&scenario, &ended(&scenario));
        assert_eq!(summary["flows"][0]["congestion_control"], name);
    }
}
