//! Tests of both ends of a connection without a network: damaged and invented datagrams.

use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Ecn, EndpointId, Span, Time};
use fadeout_quic::{QuicConfig, QuicDatagram, QuicEnd, QuicOutbox, QuicPaths};
use fadeout_testkit::Cases;
use fadeout_transport::NamedTransport;
use fadeout_transport::multipath::PathConfig;
use fadeout_transport::quic::{QuicCrypto, QuicSettings};
use fadeout_transport::tcp::AppCommand;
use std::collections::VecDeque;
use std::sync::Arc;

fn settings() -> QuicSettings {
    match NamedTransport::new("quic", Parameters::NONE) {
        Some(NamedTransport::Quic(settings)) => settings,
        other => panic!("`quic` is a transport, and not {other:?}"),
    }
}

/// Two ends, and the datagrams between them.
struct Pair {
    ends: [QuicEnd; 2],
    /// Datagrams under way to each end, each with its arrival.
    under_way: [VecDeque<(Time, QuicDatagram)>; 2],
    /// All datagrams that an end has received, for repetitions.
    seen: Vec<Vec<u8>>,
    now: Time,
}

const DELAY: Span = Span::from_millis(10);

impl Pair {
    fn new(random: &mut Stream) -> Pair {
        let paths = 1 + random.below(2) as usize;
        let mut pair = Pair::with(random, paths, settings());
        pair.command(0, AppCommand::Write(Bytes(200_000)));
        pair.command(1, AppCommand::Write(Bytes(50_000)));
        pair
    }

    fn with(random: &mut Stream, paths: usize, settings: QuicSettings) -> Pair {
        let crypto = [QuicCrypto::Null, QuicCrypto::Tls][random.below(2) as usize];
        let settings = QuicSettings { crypto, ..settings };
        let paths = QuicPaths {
            list: vec![PathConfig::default(); paths],
            join_delay: Span::ZERO,
        };
        let seed = random.bits();
        let config = QuicConfig::new(settings, ("cubic", Parameters::NONE), paths, seed);
        let config = Arc::new(config.expect("the settings are valid"));
        let mut pair = Pair {
            ends: [0, 1].map(|end| QuicEnd::new(Arc::clone(&config), EndpointId(end))),
            under_way: Default::default(),
            seen: Vec::new(),
            now: Time::ZERO,
        };
        pair.command(1, AppCommand::Listen);
        pair.command(0, AppCommand::Connect);
        pair
    }

    fn command(&mut self, end: usize, command: AppCommand) {
        let mut out = QuicOutbox::default();
        self.ends[end].on_app(self.now, command, &mut out);
        self.send(end, out);
    }

    fn send(&mut self, from: usize, out: QuicOutbox) {
        let at = self.now + DELAY;
        self.under_way[1 - from].extend(out.datagrams.into_iter().map(|it| (at, it)));
    }

    fn receive(&mut self, end: usize, path: usize, bytes: &[u8], ecn: Ecn) {
        let mut out = QuicOutbox::default();
        self.ends[end].on_datagram(self.now, path, (bytes, ecn), &mut out);
        self.send(end, out);
    }

    /// Takes the next step: hands a datagram to `arrive`, or lets timers expire. Returns false if
    /// nothing is left.
    fn step(&mut self, arrive: &mut impl FnMut(&mut Pair, usize, QuicDatagram)) -> bool {
        let arrivals = [0, 1].map(|end: usize| {
            let first = self.under_way[end].front();
            first.map_or(Time::NEVER, |it| it.0)
        });
        let wakes = [0, 1].map(|end: usize| self.ends[end].wake_at());
        let at = arrivals
            .into_iter()
            .chain(wakes)
            .min()
            .unwrap_or(Time::NEVER);
        if at.is_never() {
            return false;
        }
        self.now = self.now.max(at);
        for end in [0, 1] {
            if arrivals[end] <= self.now
                && let Some((_, datagram)) = self.under_way[end].pop_front()
            {
                arrive(self, end, datagram);
                return true;
            }
        }
        for end in [0, 1] {
            if self.ends[end].wake_at() <= self.now {
                let mut out = QuicOutbox::default();
                self.ends[end].on_wake(self.now, &mut out);
                self.send(end, out);
            }
        }
        true
    }
}

/// Changes a datagram: bytes, length or order. Returns it as often as it arrives.
fn damage(pair: &Pair, random: &mut Stream, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    match random.below(12) {
        0 => bytes.truncate(random.below(bytes.len() as u64 + 1) as usize),
        1 => bytes.extend((0..random.below(40)).map(|_| random.bits() as u8)),
        2 => {
            bytes = (0..random.below(1500))
                .map(|_| random.bits() as u8)
                .collect();
        }
        3 => {
            let old = random.below(pair.seen.len().max(1) as u64) as usize;
            let old = pair.seen.get(old).cloned().unwrap_or_default();
            return vec![bytes, old];
        }
        4 => return Vec::new(),
        5..8 if !bytes.is_empty() => {
            for _ in 0..=random.below(4) {
                let place = random.below(bytes.len() as u64) as usize;
                bytes[place] = random.bits() as u8;
            }
        }
        _ => {}
    }
    vec![bytes]
}

/// Returns the number of datagrams handed to the ends.
fn survive(seed: u64) -> u64 {
    let mut random = Stream::new(seed, "test.damage", 0);
    let mut pair = Pair::new(&mut random);
    let mut handed = 0;
    for _ in 0..600 {
        let is_over = !pair.step(&mut |pair, end, datagram| {
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][random.below(3) as usize];
            for bytes in damage(pair, &mut random, &datagram.bytes) {
                pair.receive(end, datagram.path, &bytes, ecn);
                handed += 1;
                if pair.seen.len() < 50 {
                    pair.seen.push(bytes);
                }
            }
        });
        if is_over {
            break;
        }
    }
    handed
}

#[test]
fn damaged_datagrams_cause_no_panic() {
    let mut handed = 0;
    Cases::new(300).run(|seed| handed += survive(seed));
    println!("{handed} datagrams");
}

/// Runs a pair with two paths and a client that writes, without the datagrams that `is_lost` names
/// by path and second. Returns the pair, and the bytes that arrived at the server in each second
/// on each path.
fn outages(seconds: u64, is_lost: impl Fn(usize, u64) -> bool) -> (Pair, Vec<[u64; 2]>) {
    let mut random = Stream::new(1, "test.failure", 0);
    // The window bounds the rate to 1 MB/s, because the paths have no rate of their own.
    let settings = QuicSettings {
        receive_window: Bytes(20_000),
        ..settings()
    };
    let mut pair = Pair::with(&mut random, 2, settings);
    pair.command(0, AppCommand::WriteForever);
    let mut arrived = vec![[0; 2]; seconds as usize + 1];
    while pair.now < Time::ZERO + Span::from_secs(seconds) {
        let is_busy = pair.step(&mut |pair, end, datagram| {
            let second = pair.now.as_secs_f64() as u64;
            if !is_lost(datagram.path, second) {
                if end == 1 {
                    arrived[second as usize][datagram.path] += datagram.bytes.len() as u64;
                }
                pair.receive(end, datagram.path, &datagram.bytes, datagram.ecn);
            }
        });
        assert!(is_busy, "the connection has ended at {:?}", pair.now);
    }
    (pair, arrived)
}

/// Data of a second. Packets that keep a path open have less than a tenth of it.
const MUCH: u64 = 100_000;

#[test]
fn a_path_that_loses_all_datagrams_for_a_time_opens_again() {
    // The stack sends on the open path with the smallest number. The first path opens again under a
    // larger number, so the second carries all data until it fails.
    let (pair, arrived) = outages(16, |path, second| match path {
        0 => (3..7).contains(&second),
        _ => second >= 11,
    });
    let failures = [0, 1].map(|path| pair.ends[0].path_statistics(path).failures);
    assert_eq!(failures, [1, 1]);
    let first: Vec<u64> = arrived.iter().map(|it| it[0]).collect();
    assert_eq!(first[3..7], [0; 4]);
    assert!(first[9..11].iter().all(|&bytes| bytes > 0), "{first:?}");
    assert!(first[13..16].iter().all(|&bytes| bytes > MUCH), "{first:?}");
}

#[test]
fn a_path_opens_again_after_each_of_many_outages() {
    // Each outage of 10 s is far longer than the timeout of 1 s.
    let (pair, arrived) = outages(300, |path, second| path == 0 && second % 15 >= 5);
    assert_eq!(pair.ends[0].path_statistics(0).failures, 20);
    assert_eq!(pair.ends[0].path_statistics(1).failures, 0);
    for start in (0..300).step_by(15) {
        let times = &arrived[start..start + 15];
        assert!(
            times[3..5].iter().all(|it| it[0] > 0),
            "{start} s: {times:?}"
        );
        assert!(
            times[8..].iter().all(|it| it[1] > MUCH),
            "{start} s: {times:?}"
        );
    }
}

#[test]
fn a_connection_outlasts_an_outage_of_all_its_paths() {
    let (_, arrived) = outages(40, |_, second| (5..25).contains(&second));
    let all: Vec<u64> = arrived.iter().map(|it| it.iter().sum()).collect();
    assert_eq!(all[5..25], [0; 20]);
    assert!(all[30..40].iter().all(|&bytes| bytes > MUCH), "{all:?}");
}

#[test]
fn whole_datagrams_deliver_all_data_in_both_directions() {
    Cases::new(20).run(|seed| {
        let mut random = Stream::new(seed, "test.whole", 0);
        let mut pair = Pair::new(&mut random);
        let mut delivered = [0; 2];
        for _ in 0..3000 {
            pair.step(&mut |pair, end, datagram| {
                let mut out = QuicOutbox::default();
                let received = (&datagram.bytes[..], datagram.ecn);
                pair.ends[end].on_datagram(pair.now, datagram.path, received, &mut out);
                delivered[end] += out.delivered_bytes;
                pair.send(end, out);
            });
        }
        assert_eq!(delivered, [50_000, 200_000]);
    });
}
