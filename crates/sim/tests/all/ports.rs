//! Tests of flows whose datagrams come from the caller.

use crate::common::{self, build, by_carrier, errors_of};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, DatagramRow, Ecn, FlowEnd, FlowId, Probe, Span, Time};
use fadeout_record::Destination;
use fadeout_scenario::Scenario;
use fadeout_sim::{Arrival, Control, PortEnd, PortError, Simulation, Worlds};
use fadeout_testkit::Cases;
use std::collections::BTreeMap;

const PORT: &str = "[flow.app]\nfrom = \"server\"\nto = \"phone\"\ntransport = \"port\"\n";

/// A wired path that loses no packet.
const LOSSLESS: &str = "duration = \"1 s\"\n[link.path]\nfrom = \"server\"\nto = \"phone\"\n\
                        rate = \"unlimited\"\ndelay = \"1 ms\"\n";

/// A wired path that loses, delays and reorders packets.
const LOSSY: &str = "duration = \"4 s\"\n[link.path]\nfrom = \"server\"\nto = \"phone\"\n\
                     rate = \"3 Mbit/s\"\ndelay = \"9 ms\"\nloss = { probability = 0.1 }\n\
                     jitter = \"3 ms\"\nkeeps-order = false\nqueue = { limit = \"8 packets\" }\n";

/// A drive from an LTE cell to another one.
const CELLS: &str = "duration = \"4 s\"\n\
    [link.core]\nfrom = \"server\"\nto = \"core\"\ndelay = \"4 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.s1-west]\nfrom = \"core\"\nto = \"west\"\ndelay = \"1 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.s1-east]\nfrom = \"core\"\nto = \"east\"\ndelay = \"1 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.x2]\nfrom = \"west\"\nto = \"east\"\ndelay = \"2 ms\"\nrate = \"1 Gbit/s\"\n\
    [cell.west]\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\nradio = \"lte\"\n\
    channel = { path-loss = \"uma\" }\n\
    [cell.east]\nposition = [\"300 m\", \"0 m\"]\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
    radio = \"lte\"\nchannel = { path-loss = \"uma\" }\n\
    [ue.phone]\nposition = [\"100 m\", \"30 m\"]\nmobility = { model = \"line\", x-speed = 30 }\n\
    [mobility-management]\nsignalling = \"given\"\ncore = \"core\"\n\
    events = [{ kind = \"a3\", offset = \"1 dB\", hysteresis = \"0 dB\", time-to-trigger = \"40 ms\" }]\n";

/// An LTE and an NR leg, over which PDCP sends each packet.
const TWO_LEGS: &str = "duration = \"2 s\"\n\
    [link.core]\nfrom = \"server\"\nto = \"macro\"\ndelay = \"3 ms\"\nrate = \"1 Gbit/s\"\n\
    [link.x2]\nfrom = \"macro\"\nto = \"small\"\ndelay = \"2 ms\"\nrate = \"1 Gbit/s\"\n\
    [cell.macro]\nradio = \"lte\"\ncarrier = \"2.1 GHz\"\nbandwidth = \"10 MHz\"\n\
    channel = { path-loss = \"uma\" }\n\
    [cell.small]\nposition = [\"250 m\", \"0 m\"]\nradio = \"nr\"\ncarrier = \"3.5 GHz\"\n\
    bandwidth = \"20 MHz\"\nchannel = { path-loss = \"umi\" }\n\
    [ue.phone]\nposition = [\"200 m\", \"0 m\"]\ncell = \"macro\"\npscell = \"small\"\n\
    split = { duplication = \"both\" }\n";

fn parse(text: &str, overrides: &[&str]) -> Scenario {
    common::parse(text, ".".into(), overrides)
}

fn simulation(text: &str) -> Simulation {
    let scenario = parse(text, &[]);
    Simulation::new(scenario, Destination::Memory).expect("a checked scenario")
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Returns a network with handovers between links, bicasting or forwarding, at random times.
fn changing_links(random: &mut Stream) -> String {
    let link = |name: &str, from: &str, to: &str, mbps: u64, ms: u64| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{mbps} Mbit/s\"\n\
             delay = \"{ms} ms\"\nreverse = {{ rate = \"{mbps} Mbit/s\" }}\n"
        )
    };
    let mut text = "duration = \"4 s\"\n".to_owned();
    text += &link("internet", "server", "anchor", 100, 4);
    text += &link("s1", "anchor", "enb", 1 + random.below(3), 1);
    text += &link("iu", "anchor", "rnc", 100, 1);
    text += &link("x", "enb", "rnc", 100, 1);
    text += &link("lte", "enb", "phone", 1 + random.below(3), 0);
    text += &link("umts", "rnc", "phone", 1 + random.below(3), 0);
    let mut ms = 200 + random.below(500);
    for number in 0..4 {
        let ends = [["lte", "umts"], ["umts", "lte"]][number % 2];
        let data = ["bicasting", "bicasting", "forwarding", "none"][random.below(4) as usize];
        let before = match data {
            "bicasting" => format!("bicast-before = \"{} ms\"\n", random.below(300)),
            _ => String::new(),
        };
        text += &format!(
            "[handover.n{number}]\nfrom = \"{}\"\nto = \"{}\"\nat = \"{ms} ms\"\n\
             interruption = \"{} ms\"\ndata = \"{data}\"\n{before}",
            ends[0],
            ends[1],
            random.below(200)
        );
        ms += 400 + random.below(500);
    }
    text
}

/// Returns a random network with the nodes `server` and `phone`.
fn network(random: &mut Stream) -> String {
    let data = ["bicasting", "bicasting", "forwarding"][random.below(3) as usize];
    match random.below(4) {
        0 => LOSSY.to_owned(),
        1 => changing_links(random),
        2 => format!("{CELLS}data = \"{data}\"\n"),
        _ => TWO_LEGS.to_owned(),
    }
}

/// Datagrams on their way, by their numbers. The first eight bytes of a payload are its number.
#[derive(Default)]
struct Sent {
    datagrams: BTreeMap<u64, (PortEnd, Vec<u8>, Time, Ecn)>,
    /// Number of arrivals of each datagram.
    arrivals: BTreeMap<u64, u32>,
}

impl Sent {
    fn send(&mut self, simulation: &mut Simulation, from: PortEnd, random: &mut Stream) {
        let number = self.datagrams.len() as u64;
        let size = 8 + random.below(1465) as usize;
        let mut bytes = number.to_be_bytes().to_vec();
        bytes.extend((8..size).map(|_| random.below(256) as u8));
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][random.below(3) as usize];
        let sent = simulation.send(from, bytes.clone(), ecn);
        sent.expect("the run goes on, and the datagram is small");
        let entry = (from, bytes, simulation.now(), ecn);
        self.datagrams.insert(number, entry);
    }

    fn check(&mut self, at: PortEnd, arrival: &Arrival, now: Time) {
        let number = arrival.bytes[..8].try_into().expect("eight bytes");
        let number = u64::from_be_bytes(number);
        let (from, bytes, sent_at, ecn) = &self.datagrams[&number];
        assert_ne!(*from, at, "datagram {number} came back");
        assert!(*bytes == arrival.bytes, "datagram {number} has other bytes");
        assert_eq!((*sent_at, *ecn), (arrival.sent_at, arrival.ecn));
        assert!(arrival.sent_at < arrival.arrived_at && arrival.arrived_at <= now);
        *self.arrivals.entry(number).or_default() += 1;
    }
}

/// Runs a schedule of datagrams in both directions. Returns the numbers of datagrams that arrived
/// once and that arrived several times, and the fingerprint of the run.
fn run_schedule(seed: u64) -> (usize, usize, u64) {
    let mut random = Stream::new(seed, "test.ports", 0);
    let text = format!("seed = {seed}\n{}{PORT}", network(&mut random));
    let mut simulation = simulation(&text);
    let ends = simulation.port("app").expect("it has a port");
    let mut sent = Sent::default();
    let last = simulation.progress().duration.as_millis() - 500;
    while simulation.now() < at_ms(last) {
        for _ in 0..random.below(4) {
            let from = ends[random.below(2) as usize];
            sent.send(&mut simulation, from, &mut random);
        }
        let wait = Span::from_micros(random.below(30_000));
        let until = simulation.now().saturating_add(wait);
        // Arrivals are fetched at once, or some time after they arrived.
        let is_late = random.below(4) == 0;
        while let Some(at) = simulation.advance_to_arrival(until) {
            assert_eq!(at, simulation.now());
            let mut newest = None;
            for end in ends.into_iter().filter(|_| !is_late) {
                let mut last = None;
                while let Some(arrival) = simulation.take_arrival(end) {
                    sent.check(end, &arrival, at);
                    last = last.max(Some(arrival.arrived_at));
                }
                newest = newest.max(last);
            }
            assert!(is_late || newest == Some(at), "nothing arrived at {at:?}");
        }
        assert_eq!(simulation.now(), until);
    }
    simulation.advance(Time::NEVER);
    for end in ends {
        while let Some(arrival) = simulation.take_arrival(end) {
            sent.check(end, &arrival, simulation.now());
        }
    }
    let several = sent.arrivals.values().filter(|&&count| count > 1).count();
    let once = sent.arrivals.len() - several;
    assert!(once > 0, "nothing arrived");
    let rest = simulation.payload_memory().0;
    // Only datagrams that a queue or a radio holds at the end are left.
    assert!(rest <= (sent.datagrams.len() - once - several) as u64 * 1600);
    let results = simulation.finish().expect("memory is there");
    (once, several, results.fingerprint.value())
}

#[test]
fn bytes_that_arrive_are_those_that_were_sent_on_every_network() {
    let cases = Cases::new(200);
    let mut doubled = 0;
    cases.run(|seed| doubled += run_schedule(seed).1);
    assert!(!cases.is_whole() || doubled > 100, "{doubled} doubled");
}

#[test]
fn the_same_schedule_has_the_same_bits_twice() {
    for seed in 0..8 {
        assert_eq!(run_schedule(seed), run_schedule(seed));
    }
}

/// Rows of the datagrams that both ends received.
#[derive(Debug, Default)]
struct Rows(Vec<DatagramRow>);

impl Probe for Rows {
    fn wants_datagram(&self, _: Time, _: FlowId, _: FlowEnd) -> bool {
        true
    }
    fn datagram(&mut self, row: DatagramRow) {
        self.0.push(row);
    }
}

/// Returns the rows and the fingerprint of an echo, by the application or through a port.
fn echo(network: &str, period: Span, has_port: bool) -> (Vec<String>, u64) {
    let application = format!(
        "[flow.app]\nfrom = \"server\"\nto = \"phone\"\n\
         application = {{ kind = \"echo\", period = \"{} us\", size = \"200 B\" }}\n",
        period.as_micros()
    );
    let flow = if has_port { PORT } else { &application };
    let scenario = parse(&format!("{network}{flow}"), &[]);
    let mut world = build(&scenario, Rows::default()).expect("a checked scenario");
    let end = common::end(&scenario);
    if has_port {
        let [server, phone] = world.port(FlowId(0)).expect("it has a port");
        while world.now() < end {
            let sent = world.send(server, vec![0; 200], Ecn::NotEct);
            sent.expect("it is small");
            let until = world.now().saturating_add(period).min(end);
            while world.advance_to_arrival(until).is_some() {
                while let Some(arrival) = world.take_arrival(phone) {
                    let answered = world.send(phone, arrival.bytes, Ecn::NotEct);
                    answered.expect("it is small");
                }
                while world.take_arrival(server).is_some() {}
            }
        }
    } else {
        while world.run(end, u64::MAX) {}
    }
    let fingerprint = world.fingerprint().value();
    let rows = world.into_probe().0;
    let rows = rows.iter().map(|row| format!("{row:?}"));
    (rows.collect(), fingerprint)
}

/// The period is no multiple of a slot. At a slot's own time the application would send before the
/// slot, and the caller after it.
#[test]
fn an_echo_through_a_port_is_timed_as_the_application_to_the_nanosecond() {
    let period = Span::from_micros(20_013);
    let mmwave = "duration = \"2 s\"\n\
        [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"10 Gbit/s\"\ndelay = \"5 ms\"\n\
        [cell.base]\nradio = \"nr\"\ncarrier = \"28 GHz\"\nbandwidth = \"100 MHz\"\n\
        channel = { path-loss = \"umi\" }\n[ue.phone]\nposition = [\"60 m\", \"0 m\"]\n";
    let cells = format!("{CELLS}data = \"forwarding\"\n");
    let bicast = format!("{CELLS}data = \"bicasting\"\n");
    for network in [LOSSY, mmwave, TWO_LEGS, &cells, &bicast] {
        let (rows, fingerprint) = echo(network, period, false);
        assert!(rows.len() > 40, "{rows:?}");
        let (through_port, same_fingerprint) = echo(network, period, true);
        let pairs = through_port.iter().zip(&rows);
        pairs.for_each(|(one, other)| assert_eq!(one, other));
        assert_eq!(through_port.len(), rows.len());
        assert_eq!(same_fingerprint, fingerprint);
    }
}

/// The largest payload of UDP over IPv4 has 65,507 bytes (RFC 768, RFC 791).
#[test]
fn a_datagram_of_any_size_arrives_or_is_refused() {
    let text = "duration = \"1000 s\"\n[link.path]\nfrom = \"server\"\nto = \"phone\"\nrate = \"unlimited\"\ndelay = \"1 ms\"\n\
                [flow.app]\nfrom = \"server\"\nto = \"phone\"\n\
                transport = { kind = \"port\", mtu = \"65535 B\" }\n";
    let mut simulation = simulation(text);
    let [server, phone] = simulation.port("app").expect("it has a port");
    assert_eq!(simulation.largest_payload(server), Ok(Bytes(65_507)));
    let mut random = Stream::new(1, "test.ports", 0);
    let edges = [0, 1, 65_506, 65_507, 65_508, 1 << 20];
    let sizes = (0..200).map(|_| random.below(70_000) as usize);
    for size in edges.into_iter().chain(sizes) {
        let bytes = vec![size as u8; size];
        let sent = simulation.send(server, bytes.clone(), Ecn::NotEct);
        assert_eq!(sent.is_ok(), size <= 65_507, "{size}: {sent:?}");
        let until = simulation.now() + Span::from_millis(5);
        let arrived = simulation.advance_to_arrival(until);
        assert_eq!(arrived.is_some(), sent.is_ok());
        let arrival = simulation.take_arrival(phone).map(|it| it.bytes);
        assert!(arrival == sent.is_ok().then_some(bytes), "{size}");
    }
}

#[test]
fn lost_datagrams_leave_no_memory() {
    let text = format!(
        "duration = \"100 s\"\n[link.path]\nfrom = \"server\"\nto = \"phone\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nloss = {{ probability = 1 }}\n{PORT}"
    );
    let mut simulation = simulation(&text);
    let [server, _] = simulation.port("app").expect("it has a port");
    for _ in 0..1000 {
        for _ in 0..100 {
            let sent = simulation.send(server, vec![1; 1000], Ecn::NotEct);
            sent.expect("lost datagrams are no longer in flight");
        }
        let until = simulation.now() + Span::from_millis(10);
        assert_eq!(simulation.advance_to_arrival(until), None);
    }
    assert_eq!(simulation.payload_memory().0, 0);
}

#[test]
fn too_many_bytes_are_refused_until_their_receiver_fetches_them() {
    let text = "duration = \"10 s\"\n[link.path]\nfrom = \"server\"\nto = \"phone\"\nrate = \"unlimited\"\ndelay = \"1 ms\"\n\
         [flow.app]\nfrom = \"server\"\nto = \"phone\"\n\
         transport = { kind = \"port\", memory = \"10 kB\" }\n";
    let mut simulation = simulation(text);
    let [server, phone] = simulation.port("app").expect("it has a port");
    let datagram = || vec![0; 936];
    for _ in 0..10 {
        let sent = simulation.send(server, datagram(), Ecn::NotEct);
        sent.expect("each counts as 1000 bytes");
    }
    let refused = simulation.send(server, datagram(), Ecn::NotEct);
    let (held, most) = (10_000, 10_000);
    assert_eq!(refused, Err(PortError::Full { held, most }));
    simulation.advance(at_ms(5));
    // The datagrams have arrived, but they are still in memory.
    assert!(simulation.send(phone, datagram(), Ecn::NotEct).is_err());
    while simulation.take_arrival(phone).is_some() {}
    assert_eq!(simulation.payload_memory().0, 0);
    assert_eq!(simulation.send(phone, datagram(), Ecn::NotEct), Ok(()));
}

#[test]
fn what_cannot_be_sent_is_an_error_and_the_run_goes_on() {
    let tcp = "[flow.tcp]\nfrom = \"server\"\nto = \"phone\"\n";
    let mut simulation = simulation(&format!("{LOSSLESS}{PORT}{tcp}"));
    let text = |error: PortError| error.to_string();
    let unknown = simulation.port("ap").expect_err("no such flow");
    assert_eq!(
        text(unknown),
        "there is no flow \"ap\"; expected one with a port, such as \"app\""
    );
    let without = simulation.port("tcp").expect_err("no port");
    assert!(text(without).contains("expected `transport = \"port\"`"));
    let [server, phone] = simulation.port("app").expect("it has a port");
    let large = simulation.send(server, vec![0; 1473], Ecn::NotEct);
    let (size, most) = (1473, 1472);
    assert_eq!(large, Err(PortError::TooLarge { size, most }));
    assert_eq!(simulation.send(server, vec![7; 1472], Ecn::NotEct), Ok(()));
    assert_eq!(simulation.send(server, Vec::new(), Ecn::NotEct), Ok(()));
    assert_eq!(simulation.advance_to_arrival(Time::NEVER), Some(at_ms(1)));
    simulation.advance(Time::NEVER);
    let sizes = std::iter::from_fn(|| simulation.take_arrival(phone));
    let sizes: Vec<usize> = sizes.map(|it| it.bytes.len()).collect();
    assert_eq!(sizes, [1472, 0]);
    let at = at_ms(1000);
    let late = simulation.send(server, vec![0], Ecn::NotEct);
    assert_eq!(late, Err(PortError::Ended { at }));
    assert_eq!(simulation.advance_to_arrival(Time::NEVER), None);
    let summary = simulation.summary();
    let results = simulation.finish().expect("memory is there");
    assert!(results.is_complete && results.remarks.is_empty());
    let row = &summary["datagram_flows"][0];
    assert_eq!(
        (
            row["sent_datagrams"].as_u64(),
            row["lost_datagrams"].as_u64()
        ),
        (Some(2), Some(0))
    );
    let flow = &summary["flows"][0];
    assert_eq!(
        (flow["application"].as_str(), flow["profile"].as_str()),
        (Some("port"), Some("udp"))
    );
}

#[test]
fn an_end_of_another_simulation_is_refused() {
    let first = simulation(&format!("{LOSSLESS}{PORT}"));
    let [server, _] = first.port("app").expect("it has a port");
    let tcp = "[flow.tcp]\nfrom = \"server\"\nto = \"phone\"\n";
    for text in [LOSSLESS.to_owned(), format!("{LOSSLESS}{tcp}")] {
        let mut other = simulation(&text);
        let sent = other.send(server, vec![0], Ecn::NotEct);
        assert_eq!(sent, Err(PortError::Foreign));
        assert_eq!(other.take_arrival(server), None);
    }
}

#[test]
fn keys_of_connections_and_divided_worlds_are_refused() {
    for line in [
        "application = \"bulk\"",
        "profile = \"rfc\"",
        "tcp = { receive-window = 65536 }",
        "congestion-control = \"cubic\"",
        "multipath = { paths = [[\"path\"]] }",
        "link-info = { link = \"path\" }",
        "start = \"1 s\"",
    ] {
        let key = line.split(' ').next().expect("a key");
        let error = errors_of(&format!("{LOSSLESS}{PORT}{line}\n"));
        assert!(
            error.contains(&format!("`{key}` of a flow with the transport `port`")),
            "{error}"
        );
        assert!(
            error.contains(&format!("expected no `{key}`, or no `transport`")),
            "{error}"
        );
        assert!(error.contains("test:11:"), "{error}");
    }
    let error = errors_of(&format!(
        "{LOSSLESS}{}",
        PORT.replace("\"port\"", "\"prot\"")
    ));
    assert!(error.contains("unknown transport `prot`"), "{error}");
    let larger = "transport = { kind = \"port\", mtu = \"9100 B\" }\n";
    let flow = PORT.replace("transport = \"port\"\n", larger);
    let scenario = parse(&format!("{TWO_LEGS}{flow}"), &[]);
    let error = Simulation::new(scenario, Destination::Memory).expect_err("PDCP takes less");
    assert!(
        error.to_string().contains("expected a smaller mtu"),
        "{error}"
    );
}

#[test]
fn a_port_and_several_worlds_exclude_each_other() {
    let flow = PORT.replace("\"phone\"", "\"phone-1\"");
    let text = format!("{}{flow}", by_carrier());
    let error = Worlds::unobserved(&parse(&text, &[])).map(|_| ());
    let error = error.expect_err("a port acts between events");
    assert!(
        error.to_string().contains("`flow.app.transport`"),
        "{error}"
    );
}

#[test]
fn a_run_without_a_caller_says_that_nothing_was_sent() {
    let run = simulation(&format!("{LOSSLESS}{PORT}"));
    let results = run.run(|_| Control::Continue).expect("memory is there");
    assert_eq!(results.remarks.len(), 1);
    assert!(results.remarks[0].contains("flow \"app\": nothing was sent"));
}
