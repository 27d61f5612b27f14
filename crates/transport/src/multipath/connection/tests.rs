//! Tests of two connections over lossy pipes.

mod closing;
mod downloads;
mod fallback;
mod paths;

use super::*;
use crate::multipath::scheduler::{PATH_SCHEDULERS, PathScheduler, PathSchedulerKind};
use crate::tcp::sender::subflow;
use crate::tcp::{Outgoing, ReceiveWindow, TcpConfig};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Flags, FlowEnd, MptcpOption, NullProbe, Span};
use proptest::prelude::*;
use std::collections::{BTreeMap, BinaryHeap};

/// Network path of a subflow, with the same properties in both directions.
#[derive(Debug, Clone)]
struct Pipe {
    /// Transmission time of one packet.
    service: Span,
    delay: Span,
    loss: f64,
    /// Intervals in which the pipe drops every packet.
    blocked: Vec<(Time, Time)>,
    /// Maximum number of waiting packets.
    limit: u64,
    config: PathConfig,
}

fn pipe(service_us: u64, delay_ms: u64) -> Pipe {
    Pipe {
        service: Span::from_micros(service_us),
        delay: Span::from_millis(delay_ms),
        loss: 0.0,
        blocked: Vec::new(),
        limit: 100,
        config: PathConfig::default(),
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn config(scheduler: &str) -> MultipathConfig {
    let path_scheduler =
        PathSchedulerKind::new(scheduler, &Parameters::default()).expect("it exists");
    let is_papers = !path_scheduler.is_upstream();
    MultipathConfig {
        tcp: TcpConfig::linux()
            .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 200_000 }),
        path_scheduler,
        join_delay: Span::ZERO,
        signal_repeats: 0,
        maximum_send_buffer: Bytes(4 << 20),
        opportunistic_retransmission: is_papers,
        penalisation: is_papers,
    }
}

fn reno() -> Congestion {
    Congestion::new("reno", &Parameters::default(), Stream::new(1, "", 0)).expect("it exists")
}

fn connection(config: &MultipathConfig, pipes: &[Pipe]) -> MultipathConnection {
    let subflows = pipes.iter().map(|pipe| Subflow {
        flow: FlowId(0),
        congestion: reno(),
        config: pipe.config.clone(),
    });
    MultipathConnection::new(config.clone(), FlowEnd::Sender, subflows)
}

/// A packet in flight: arrival time, tie breaker, receiving end, and path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival(std::cmp::Reverse<(Time, u64)>, usize, PathId);

/// Two connection ends and the network between them. The invariants are checked in every step.
struct Net {
    now: Time,
    ends: [MultipathConnection; 2],
    pipes: Vec<Pipe>,
    busy_until: Vec<[Time; 2]>,
    air: BinaryHeap<Arrival>,
    segments: BTreeMap<u64, Segment>,
    count: u64,
    random: Stream,
    out: PathOutbox,
    /// Data sequence number of each subflow sequence number that was sent.
    mapped: BTreeMap<(PathId, u64), (u64, u32)>,
    /// Data ranges that have reached the receiving host.
    arrived: BTreeMap<u64, u64>,
    delivered: u64,
    events: Vec<(usize, AppEvent)>,
    sent: Vec<(Time, usize, PathId, Segment)>,
}

impl Net {
    fn new(config: &MultipathConfig, pipes: &[Pipe], seed: u64) -> Net {
        let mut receiver_pipes = pipes.to_vec();
        for pipe in &mut receiver_pipes {
            pipe.config = PathConfig {
                announced: pipe.config.announced,
                ..PathConfig::default()
            };
        }
        Net {
            now: Time::ZERO,
            ends: [
                connection(config, pipes),
                connection(config, &receiver_pipes),
            ],
            pipes: pipes.to_vec(),
            busy_until: vec![[Time::ZERO; 2]; pipes.len()],
            air: BinaryHeap::new(),
            segments: BTreeMap::new(),
            count: 0,
            random: Stream::new(seed, "pipe", 0),
            out: PathOutbox::default(),
            mapped: BTreeMap::new(),
            arrived: BTreeMap::new(),
            delivered: 0,
            events: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn command(&mut self, end: usize, command: AppCommand) {
        self.ends[end].on_app(self.now, command, &mut self.out, &mut NullProbe);
        self.handle_output(end);
    }

    fn transfer(&mut self, bytes: u64) {
        self.command(1, AppCommand::Listen);
        self.command(0, AppCommand::Connect);
        self.command(0, AppCommand::Write(Bytes(bytes)));
        self.command(0, AppCommand::Close);
    }

    /// Runs the simulation to `until`, or until no event is left.
    fn run(&mut self, until: Time) {
        loop {
            let next_air = self.air.peek().map_or(Time::NEVER, |next| next.0.0.0);
            let wakes = [self.ends[0].wake_at(), self.ends[1].wake_at()];
            let at = next_air.min(wakes[0]).min(wakes[1]);
            if at > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(at);
            if next_air == at {
                let Arrival(key, end, path) = self.air.pop().expect("it was there");
                let segment = self.segments.remove(&key.0.1).expect("it was in the air");
                if end == 1 && segment.len > 0 {
                    self.note_arrival(&segment);
                }
                self.ends[end].on_segment(
                    self.now,
                    path,
                    &segment,
                    Ecn::NotEct,
                    &mut self.out,
                    &mut NullProbe,
                );
                self.handle_output(end);
            } else {
                let end = usize::from(wakes[1] == at);
                self.ends[end].on_wake(self.now, &mut self.out, &mut NullProbe);
                assert!(
                    self.ends[end].wake_at() > at,
                    "a wake-up moves on: {:?}",
                    self.ends[end]
                );
                self.handle_output(end);
            }
        }
    }

    fn note_arrival(&mut self, segment: &Segment) {
        let MptcpOption::Dss(dss) = segment.mptcp else {
            panic!("data without a mapping: {segment:?}");
        };
        let end = dss.data_seq + u64::from(segment.len);
        let known = self.arrived.entry(dss.data_seq).or_insert(end);
        *known = (*known).max(end);
    }

    /// Returns the end of the data that reached the host without a gap.
    fn contiguous(&self) -> u64 {
        let mut next = 1;
        for (&start, &end) in &self.arrived {
            if start > next {
                break;
            }
            next = next.max(end);
        }
        next - 1
    }

    fn handle_output(&mut self, end: usize) {
        if end == 1 {
            self.delivered += self.out.delivered_bytes;
        }
        self.events
            .extend(self.out.events.drain(..).map(|event| (end, event)));
        let segments: Vec<(PathId, Outgoing)> = self.out.segments.drain(..).collect();
        self.out.clear();
        for (path, Outgoing { segment, .. }) in segments {
            self.sent.push((self.now, end, path, segment));
            if segment.len > 0 {
                let MptcpOption::Dss(dss) = segment.mptcp else {
                    panic!("data without a mapping: {segment:?}");
                };
                let numbers = segment.len + u32::from(dss.data_fin);
                assert!(
                    u32::from(dss.data_len) >= numbers,
                    "a mapping of {} for {numbers} numbers",
                    dss.data_len
                );
                let mapping = (dss.data_seq, segment.len);
                let known = *self.mapped.entry((path, segment.seq)).or_insert(mapping);
                assert_eq!(known, mapping, "a mapping never changes");
            }
            let pipe = &self.pipes[path.index()];
            let busy = &mut self.busy_until[path.index()][end];
            let waiting = busy.since(self.now).as_nanos() / pipe.service.as_nanos().max(1);
            let is_blocked = pipe
                .blocked
                .iter()
                .any(|&(from, to)| (from..to).contains(&self.now));
            let is_lost = self.random.uniform_in(0.0, 1.0) < pipe.loss;
            if is_blocked || is_lost || waiting >= pipe.limit {
                continue;
            }
            *busy = self.now.max(*busy) + pipe.service;
            let at = *busy + pipe.delay;
            self.count += 1;
            self.segments.insert(self.count, segment);
            let key = std::cmp::Reverse((at, self.count));
            self.air.push(Arrival(key, 1 - end, path));
        }
    }

    fn has(&self, end: usize, event: AppEvent) -> bool {
        self.events.contains(&(end, event))
    }

    /// Returns the amount of new data that a path has carried.
    fn carried(&self, path: u8) -> u64 {
        self.ends[0].statistics(PathId(path)).sent_bytes
    }

    fn reinjected(&self, path: u8) -> u64 {
        self.ends[0].statistics(PathId(path)).reinjected_bytes
    }
}

#[test]
fn a_window_that_a_repeated_ack_does_not_narrow_moves_on_with_the_data_ack() {
    for (scheduler, edge) in [("linux", 5_001), ("lowest-rtt", 1)] {
        let pipes = [pipe(100, 10), pipe(100, 10)];
        let mut sender = connection(&config(scheduler), &pipes);
        subflow::raise_window(sender.paths[0].tcp.sender_mut(), 5_000);
        let segment = Segment {
            window: 1_000,
            mptcp: MptcpOption::Dss(fadeout_core::Dss {
                data_ack: 1,
                ..fadeout_core::Dss::default()
            }),
            ..Segment::default()
        };
        receive::take_data_ack(&mut sender, 0, &segment);
        assert_eq!(sender.outbound.window_end(), edge, "{scheduler}");
    }
}

#[test]
fn a_transfer_arrives_whole_over_two_paths_and_closes() {
    for entry in PATH_SCHEDULERS {
        let mut net = Net::new(&config(entry.name), &[pipe(500, 10), pipe(1000, 25)], 1);
        net.transfer(3_000_000);
        net.run(ms(20_000));
        assert_eq!(net.delivered, 3_000_000, "{}", entry.name);
        assert!(net.carried(0) > 0, "{}", entry.name);
        assert!(
            net.carried(1) + net.reinjected(1) > 0,
            "{}: {:?}",
            entry.name,
            net.ends[0].statistics(PathId(1))
        );
        assert!(net.has(1, AppEvent::PeerClosed), "{}", entry.name);
        net.command(1, AppCommand::Close);
        net.run(ms(40_000));
        assert!(net.has(0, AppEvent::Closed), "{}", entry.name);
        assert!(net.has(1, AppEvent::Closed), "{}", entry.name);
    }
}

#[test]
fn two_paths_carry_their_sum() {
    let mut wide = config("lowest-rtt");
    wide.tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 4 << 20 };
    let mut net = Net::new(&wide, &[pipe(1000, 20), pipe(2000, 20)], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::WriteForever);
    net.run(ms(10_000));
    let packets = net.delivered / 1424;
    // The paths carry 1,000 and 500 packets per second, 15,000 in 10 s. Slow start in the first
    // second costs less than 1,000 packets.
    assert!((14_000..15_001).contains(&packets), "{packets}");
}

#[test]
fn a_join_carries_no_data_before_its_fourth_packet() {
    let mut net = Net::new(&config("round-robin"), &[pipe(100, 10), pipe(100, 20)], 1);
    net.transfer(2_000_000);
    net.run(ms(2_000));
    let on_join = |end: usize| {
        let segments = net.sent.iter();
        segments.filter(move |sent| sent.1 == end && sent.2 == PathId(1))
    };
    let join = MptcpOption::Join { backup: false };
    let own: Vec<&Segment> = on_join(0).map(|sent| &sent.3).take(2).collect();
    assert!(own[0].flags.has(Flags::SYN) && own[0].mptcp == join);
    assert!(own[1].len == 0 && own[1].mptcp == join);
    let fourth = on_join(1).nth(1).expect("the fourth packet");
    let first_data = on_join(0).find(|sent| sent.3.len > 0).expect("data");
    // The path may carry data once the fourth packet has crossed it, 20 ms plus the transmission
    // time later.
    assert!(first_data.0 >= fourth.0 + Span::from_millis(20));
    let first = net.sent.iter().find(|sent| sent.1 == 0).expect("a SYN");
    assert_eq!(first.3.mptcp, MptcpOption::Capable);
}

#[test]
fn an_abort_ends_the_whole_connection_at_the_peer() {
    let mut net = Net::new(&config("linux"), &[pipe(500, 10), pipe(500, 40)], 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::WriteForever);
    net.run(ms(1_000));
    net.command(0, AppCommand::Abort);
    let closes = |sent: &&(Time, usize, PathId, Segment)| sent.3.mptcp == MptcpOption::FastClose;
    assert_eq!(net.sent.iter().filter(closes).count(), 2);
    net.run(ms(1_200));
    assert!(net.has(1, AppEvent::Aborted));
    net.run(ms(5_000));
    let after = net.sent.iter().filter(|sent| sent.0 > ms(1_200));
    assert_eq!(after.count(), 0);
}

#[test]
fn an_application_that_does_not_read_stops_the_sender_and_starts_it_again() {
    let mut net = Net::new(&config("lowest-rtt"), &[pipe(500, 10), pipe(500, 20)], 1);
    net.command(1, AppCommand::PauseReading);
    net.transfer(2_000_000);
    net.run(ms(5_000));
    assert_eq!(net.delivered, 0);
    assert!(net.ends[1].buffered() > 190_000);
    net.command(1, AppCommand::ResumeReading);
    net.run(ms(30_000));
    assert_eq!(net.delivered, 2_000_000);
}

#[test]
fn a_slow_path_that_holds_the_window_is_penalised_and_bypassed() {
    let mut tight = config("lowest-rtt");
    tight.tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 60_000 };
    let mut fast = pipe(1_000, 5);
    fast.limit = 15;
    let pipes = [fast, pipe(5_000, 150)];
    let run = |config: &MultipathConfig| {
        let mut net = Net::new(config, &pipes, 1);
        net.command(1, AppCommand::Listen);
        net.command(0, AppCommand::Connect);
        net.command(0, AppCommand::WriteForever);
        net.run(ms(10_000));
        (net.delivered, net.ends[0].statistics(PathId(1)).penalties)
    };
    let (helped, penalties) = run(&tight);
    tight.opportunistic_retransmission = false;
    let (stuck, _) = run(&tight);
    assert!(penalties > 0);
    assert!(helped > 2 * stuck, "{helped} against {stuck}");
}

#[test]
fn over_one_path_it_is_tcp() {
    // An MSS larger by 24 bytes, the length of the option, gives the segments of both connections
    // the same length.
    let mut multi = config("linux");
    // Without timestamps each ACK has enough option space for all SACK blocks that a drop-tail
    // queue causes.
    multi.tcp.timestamps = false;
    // In a multipath connection a burst and its PSH end with a mapping. A TCP connection has no
    // mappings, so bursts are off.
    multi.tcp.host.tso_bursts = false;
    multi.tcp.acks.rule = crate::tcp::AckRule::EverySegment;
    let mut path = pipe(1000, 20);
    path.limit = 10_000;
    multi.tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 16 << 20 };
    path.blocked = vec![(ms(1_000), ms(1_003)), (ms(2_500), ms(2_501))];
    let tcp = multi.tcp.clone();
    multi.tcp.mss += MptcpOption::MAPPING_LEN;
    let data = |sent: &[(Time, usize, PathId, Segment)]| -> Vec<(Time, u64, u32)> {
        let of_sender = sent.iter().filter(|sent| sent.1 == 0 && sent.3.len > 0);
        of_sender
            .map(|sent| (sent.0, sent.3.seq, sent.3.len))
            .collect()
    };
    let mut net = Net::new(&multi, std::slice::from_ref(&path), 1);
    net.command(1, AppCommand::Listen);
    net.command(0, AppCommand::Connect);
    net.command(0, AppCommand::WriteForever);
    net.run(ms(4_000));
    let single = single_tcp(&tcp, &path, ms(4_000));
    let multi = data(&net.sent);
    assert!(multi.len() > 3_000);
    let first = multi
        .iter()
        .zip(&single)
        .position(|(one, other)| one != other);
    assert_eq!(first, None, "{:?}", first.map(|n| (multi[n], single[n])));
    assert_eq!(multi.len(), single.len());
}

/// Returns the data segments of a single TCP connection over the same pipe.
fn single_tcp(config: &TcpConfig, pipe: &Pipe, until: Time) -> Vec<(Time, u64, u32)> {
    let mut ends = [(); 2].map(|()| TcpEndpoint::new(config, FlowId(0), reno()));
    let mut out = Outbox::default();
    let mut busy = [Time::ZERO; 2];
    let mut air: BinaryHeap<Arrival> = BinaryHeap::new();
    let mut segments = BTreeMap::new();
    let (mut now, mut count, mut sent) = (Time::ZERO, 0, Vec::new());
    let mut handle_output = |now: Time,
                             end: usize,
                             out: &mut Outbox,
                             air: &mut BinaryHeap<Arrival>,
                             segments: &mut BTreeMap<u64, Segment>| {
        for Outgoing { segment, .. } in out.segments.drain(..) {
            if end == 0 && segment.len > 0 {
                sent.push((now, segment.seq, segment.len));
            }
            let waiting = busy[end].since(now).as_nanos() / pipe.service.as_nanos();
            let mut blocked = pipe.blocked.iter();
            let is_blocked = blocked.any(|&(from, to)| (from..to).contains(&now));
            if !is_blocked && waiting < pipe.limit {
                busy[end] = now.max(busy[end]) + pipe.service;
                count += 1;
                segments.insert(count, segment);
                let key = std::cmp::Reverse((busy[end] + pipe.delay, count));
                air.push(Arrival(key, 1 - end, PathId(0)));
            }
        }
        out.clear();
    };
    for (end, command) in [
        (1, AppCommand::Listen),
        (0, AppCommand::Connect),
        (0, AppCommand::WriteForever),
    ] {
        ends[end].on_app(now, command, &mut out, &mut NullProbe);
        handle_output(now, end, &mut out, &mut air, &mut segments);
    }
    loop {
        let next_air = air.peek().map_or(Time::NEVER, |next| next.0.0.0);
        let wakes = [ends[0].wake_at(), ends[1].wake_at()];
        let at = next_air.min(wakes[0]).min(wakes[1]);
        if at > until {
            return sent;
        }
        now = at.max(now);
        let end = if next_air == at {
            let Arrival(key, end, _) = air.pop().expect("it was there");
            let segment = segments.remove(&key.0.1).expect("it was in the air");
            ends[end].on_segment(now, &segment, Ecn::NotEct, &mut out, &mut NullProbe);
            end
        } else {
            let end = usize::from(wakes[1] == at);
            ends[end].on_wake(now, &mut out, &mut NullProbe);
            end
        };
        handle_output(now, end, &mut out, &mut air, &mut segments);
    }
}

prop_compose! {
    fn any_pipe()(
        service_us in 100_u64..3_000,
        delay_ms in 1_u64..120,
        loss in prop_oneof![Just(0.0), 0.0..0.08],
        blocked in proptest::collection::vec((0_u64..4_000, 1_u64..1_500), 0..3),
        limit in 5_u64..200,
        backup in proptest::bool::weighted(0.2),
        changes in proptest::collection::btree_set(0_u64..4_000, 0..3),
        announced in proptest::bool::weighted(0.2),
        from in prop_oneof![2 => Just(0_u64), 1 => 0_u64..3_000],
        life in proptest::option::weighted(0.3, 200_u64..3_000),
    ) -> Pipe {
        Pipe {
            service: Span::from_micros(service_us),
            delay: Span::from_millis(delay_ms),
            loss,
            blocked: blocked.into_iter().map(|(at, length)| (ms(at), ms(at + length))).collect(),
            limit,
            config: PathConfig {
                backup,
                backup_changes: changes.into_iter().map(ms).collect(),
                announced,
                from: ms(from),
                until: life.map_or(Time::NEVER, |life| ms(from + life)),
            },
        }
    }
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(500).proptest())]

    /// Asserts that the stream arrives once, complete and in order while paths change at any time.
    /// One path always stays. The buffered data must never exceed the receive window.
    #[test]
    fn the_stream_arrives_once_whole_and_in_order(
        mut pipes in proptest::collection::vec(any_pipe(), 1..5),
        scheduler in 0..PATH_SCHEDULERS.len(),
        window in 10_000_u64..300_000,
        size in 1_u64..1_500_000,
        seed in any::<u64>(),
        closes_early in any::<bool>(),
    ) {
        // The first path opens the connection at time zero. The last path stays until the end.
        pipes[0].config.from = Time::ZERO;
        let last = pipes.len() - 1;
        pipes[last].config.until = Time::NEVER;
        // A path that stays must not depend on an announcement, which may be lost with the path
        // that carries it.
        pipes[last].config.announced = false;
        let mut config = config(PATH_SCHEDULERS[scheduler].name);
        config.tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: window };
        let mut net = Net::new(&config, &pipes, seed);
        net.command(1, AppCommand::Listen);
        net.command(0, AppCommand::Connect);
        net.command(0, AppCommand::Write(Bytes(size)));
        // No path joins after the application has closed, so a connection that closes early may
        // lose its last path.
        if closes_early {
            net.command(0, AppCommand::Close);
        }
        for step in 1..=600 {
            net.run(ms(500 * step));
            prop_assert!(net.delivered <= net.contiguous());
            prop_assert!(net.ends[1].buffered() <= window);
            if net.delivered == size && !closes_early {
                net.command(0, AppCommand::Close);
            }
            if net.delivered == size && net.has(1, AppEvent::PeerClosed) {
                break;
            }
            if net.has(0, AppEvent::Aborted) {
                break;
            }
        }
        // If the first path ends early, the connection may fail before it is established or before
        // other paths can join.
        let joined = net.sent.iter().any(|sent| sent.1 == 0 && sent.2 != PathId(0));
        let is_alone = (!joined || closes_early) && net.has(0, AppEvent::Aborted);
        let opened = net.has(0, AppEvent::Established) && !is_alone;
        prop_assert!(!opened || net.delivered == size, "{} of {}", net.delivered, size);
        // A connection that closes while it has no path is aborted.
        let is_over = net.has(1, AppEvent::PeerClosed) || net.has(0, AppEvent::Aborted);
        prop_assert!(!opened || is_over);
    }
}
