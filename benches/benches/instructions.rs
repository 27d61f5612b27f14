//! Instruction counts of the hot paths, measured by valgrind. Every benchmark runs [`STEPS`] steps
//! of one kind. `tools/bench.py` divides the count by that number and compares the result with
//! `benches/baseline.csv`. Worlds of many flows run for half a second instead, and their counts are
//! divided by the number of flows.

#![allow(missing_docs, reason = "the macros of gungraun make public items")]

use fadeout_benches::worlds::{checked, over_quic, street, two_cells, world_after};
use fadeout_benches::{Arrival, Pair, RadioLoad, path};
use fadeout_core::random::Stream;
use fadeout_core::{
    Ecn, EventQueue, Kinematics, LinkId, NullProbe, PacketId, PacketPool, Point, Segment, Span,
    Time, Vector,
};
use fadeout_link::{Link, LinkConfig, LossConfig, RateConfig, Trace};
use fadeout_radio::channel::fading::{Fading, MAX_SUB_BANDS, TdlProfile};
use fadeout_radio::channel::{ChannelConfig, Environment, LinkChannel, LinkEnds, LinkKey};
use fadeout_radio::rlc::{Entity, RlcConfig, Sdu, TransportBlock};
use fadeout_scenario::Scenario;
use fadeout_sim::World;
use fadeout_transport::tcp::{Outbox, ReceiveWindow, TcpConfig, TcpEndpoint};
use gungraun::prelude::*;
use std::hint::black_box;

/// Number of steps of a benchmark.
const STEPS: usize = 128;

/// Event of the same size as an event of a world.
type Event = (u32, u32, u32);

struct Events {
    queue: EventQueue<Event>,
    delays: Vec<Span>,
}

fn events(pending: usize) -> Events {
    let mut random = Stream::new(1, "bench", 0);
    let mut delays = |count| -> Vec<Span> {
        (0..count)
            .map(|_| Span::from_nanos(random.below(20_000_000)))
            .collect()
    };
    let mut queue = EventQueue::new();
    for delay in delays(pending) {
        queue.schedule(Time::ZERO + delay, (1, 2, 3));
    }
    let delays = delays(STEPS);
    Events { queue, delays }
}

#[library_benchmark(setup = events)]
#[bench::pending_64(64)]
#[bench::pending_16384(16_384)]
fn event(mut events: Events) -> Events {
    for &delay in &events.delays {
        let (at, event) = events.queue.pop().expect("the queue keeps its length");
        events.queue.schedule(at + delay, black_box(event));
    }
    events
}

struct Replay {
    end: TcpEndpoint,
    arrivals: Vec<Arrival>,
    outbox: Outbox,
}

/// Returns an endpoint with the next [`STEPS`] segments that it receives. `None` if fewer are in
/// flight to the endpoint.
fn replay(mut pair: Pair, end: usize) -> Option<Replay> {
    let mut arrivals = pair.under_way_to(end);
    if arrivals.len() < STEPS {
        return None;
    }
    arrivals.truncate(STEPS);
    let [sender, receiver] = pair.ends;
    let mut outbox = Outbox::default();
    outbox.segments.reserve(STEPS);
    Some(Replay {
        end: if end == 0 { sender } else { receiver },
        arrivals,
        outbox,
    })
}

/// Returns an endpoint in steady state, well after slow start.
fn steady(end: usize) -> Replay {
    let mut pair = Pair::new(&TcpConfig::linux(), LossConfig::None);
    pair.run_until(Time::ZERO + Span::from_millis(1000));
    let replay = replay(pair, end).expect("enough is under way");
    let whole = replay.arrivals.iter().all(|a| a.segment.sack.is_empty());
    assert!(whole, "nothing is lost in the steady state");
    replay
}

/// Returns the sender in its first recovery. The receiver acknowledges every segment, because
/// Linux's ACK compression would leave too few ACKs in flight.
fn recovering() -> Replay {
    let mut config = TcpConfig::linux();
    config.acks.sack_compression = false;
    let mut pair = Pair::new(
        &config,
        LossConfig::Independent {
            probability: 0.0002,
        },
    );
    pair.run_until_selective(16);
    let replay = replay(pair, 0).expect("enough is under way");
    let selective = replay
        .arrivals
        .iter()
        .filter(|a| !a.segment.sack.is_empty());
    assert!(selective.count() > STEPS / 2, "most ACKs carry SACK blocks");
    replay
}

#[library_benchmark]
#[bench::ack_steady(steady(0))]
#[bench::ack_recovery(recovering())]
#[bench::data(steady(1))]
fn endpoint(replay: Replay) -> Replay {
    acknowledge(replay)
}

#[inline]
fn acknowledge(mut replay: Replay) -> Replay {
    for Arrival { at, segment, ecn } in &replay.arrivals {
        let out = &mut replay.outbox;
        replay
            .end
            .on_segment(*at, segment, *ecn, out, &mut NullProbe);
        black_box(&out.segments);
        out.clear();
    }
    replay
}

/// Returns a sender in congestion avoidance, limited by a window of about a bandwidth-delay
/// product.
fn avoiding(control: &str) -> Replay {
    let mut config = TcpConfig::linux();
    config.initial_ssthresh = 1_700.0;
    config.buffers.receive_window = ReceiveWindow::Fixed { bytes: 1 << 26 };
    // ACKs may arrive in bursts. So the benchmark starts at the first instant with enough ACKs in
    // flight.
    let mut instants = (1000..1100).filter_map(|ms| {
        let mut pair = Pair::with_control(control, &config, LossConfig::None);
        pair.run_until(Time::ZERO + Span::from_millis(ms));
        replay(pair, 0)
    });
    instants.next().expect("enough is under way")
}

// Each step processes an ACK at an endpoint with one of the congestion controls.
#[library_benchmark]
#[bench::newreno(avoiding("newreno"))]
#[bench::reno(avoiding("reno"))]
#[bench::tahoe(avoiding("tahoe"))]
#[bench::cubic(avoiding("cubic"))]
#[bench::bic(avoiding("bic"))]
#[bench::highspeed(avoiding("highspeed"))]
#[bench::scalable(avoiding("scalable"))]
#[bench::htcp(avoiding("htcp"))]
#[bench::hybla(avoiding("hybla"))]
#[bench::illinois(avoiding("illinois"))]
#[bench::yeah(avoiding("yeah"))]
#[bench::compound(avoiding("compound"))]
#[bench::vegas(avoiding("vegas"))]
#[bench::veno(avoiding("veno"))]
#[bench::westwood(avoiding("westwood"))]
#[bench::copa(avoiding("copa"))]
#[bench::dctcp(avoiding("dctcp"))]
#[bench::prague(avoiding("prague"))]
#[bench::bbr(avoiding("bbr"))]
#[bench::bbr3(avoiding("bbr3"))]
#[bench::x_tcp(avoiding("x-tcp"))]
#[bench::rtw_tcp(avoiding("rtw-tcp"))]
fn control(replay: Replay) -> Replay {
    acknowledge(replay)
}

struct Carrier {
    link: Link,
    pool: PacketPool,
    out: Vec<PacketId>,
    now: Time,
    spacing: Span,
}

impl Carrier {
    /// Sends one packet over the link and removes all packets that have arrived.
    #[inline]
    fn carry(&mut self) {
        let segment = Segment {
            len: 1448,
            has_timestamps: true,
            ..Segment::default()
        };
        self.now += self.spacing;
        let now = self.now;
        let packet = self
            .pool
            .send(Default::default(), now, Ecn::NotEct, &segment);
        self.link
            .on_packet(now, packet, &mut self.pool, &mut NullProbe);
        while self.link.wake_at() <= now {
            self.link
                .on_wake(now, &mut self.pool, &mut self.out, &mut NullProbe);
        }
        for id in self.out.drain(..) {
            black_box(self.pool.remove(id));
        }
    }
}

fn carrier(rate: RateConfig, spacing: Span) -> Carrier {
    let config = LinkConfig { rate, ..path() };
    let mut carrier = Carrier {
        link: Link::new(LinkId(0), config, 1).expect("a valid link"),
        pool: PacketPool::new(),
        out: Vec::new(),
        now: Time::ZERO,
        spacing,
    };
    // A full delay line delivers one packet for each packet that enters.
    (0..4096).for_each(|_| carrier.carry());
    carrier
}

fn constant_rate() -> Carrier {
    carrier(path().rate, Span::from_micros(12))
}

/// Returns a link with a trace of 120 Mbit/s: bursts of 20 delivery opportunities every 2 ms.
fn trace() -> Carrier {
    let text: String = (1..=500)
        .flat_map(|n| std::iter::repeat_n(2 * n, 20))
        .map(|time_ms| format!("{time_ms}\n"))
        .collect();
    let trace = Trace::parse(text.as_bytes()).expect("a valid trace");
    carrier(RateConfig::Trace(trace), Span::from_micros(100))
}

#[library_benchmark]
#[bench::constant_rate(constant_rate())]
#[bench::trace(trace())]
fn link(mut carrier: Carrier) -> Carrier {
    (0..STEPS).for_each(|_| carrier.carry());
    carrier
}

/// Returns a world with `flows` transfers that have run for three seconds. Each transfer has 100
/// kbit/s of a link over 600 ms, so the work of a flow does not depend on the number of flows.
fn flows(flows: u32) -> World<NullProbe> {
    let text = format!(
        r#"
title = "{flows} transfers at a time"
duration = "10 s"
[link.path]
from = "server"
to = "client"
rate = "{rate} kbit/s"
delay = "300 ms"
queue.limit = "1 s"
[flow.file]
from = "server"
to = "client"
application = {{ kind = "transfer", size = "1 MB" }}
count = {flows}
start-spacing = "{spacing_us} us"
congestion-control = "cubic"
"#,
        rate = 100 * flows,
        spacing_us = 1_000_000 / flows,
    );
    world_after(&text, Span::from_millis(3000))
}

/// Returns a checked scenario of `flows` flows that start later.
fn later_flows(flows: u32) -> Scenario {
    checked(&format!(
        r#"
title = "{flows} transfers later"
duration = "10 s"
[link.path]
from = "server"
to = "client"
rate = "1 Gbit/s"
delay = "10 ms"
[flow.file]
from = "server"
to = "client"
start = "5 s"
application = {{ kind = "transfer", size = "1 kB" }}
count = {flows}
"#
    ))
}

/// Returns a checked scenario of `ues` UEs in one cell, each with a flow.
fn ues_in_a_cell(ues: u32) -> Scenario {
    checked(&format!(
        r#"
title = "{ues} UEs in a cell"
duration = "10 s"
[link.core]
from = "server"
to = "base"
rate = "100 Gbit/s"
delay = "10 ms"
[cell.base]
radio = "lte"
carrier = "2 GHz"
bandwidth = "20 MHz"
channel = {{ path-loss = "uma", fading = "rician", k-factor = "9 dB" }}
[ue.phone]
count = {ues}
position = ["100 m", "0 m"]
spread = "500 m"
[flow.bulk]
from = "server"
to = "phone"
"#
    ))
}

#[library_benchmark]
#[bench::flows_1000(later_flows(1_000))]
#[bench::flows_100000(later_flows(100_000))]
#[bench::ues_1000(ues_in_a_cell(1_000))]
#[bench::ues_8000(ues_in_a_cell(8_000))]
fn build(scenario: Scenario) -> (World<NullProbe>, Scenario) {
    let world = World::unobserved(&scenario).expect("the scenario is right");
    (world, scenario)
}

#[library_benchmark]
#[bench::flows_100(flows(100))]
#[bench::flows_1000(flows(1_000))]
#[bench::flows_10000(flows(10_000))]
fn world(mut world: World<NullProbe>) -> World<NullProbe> {
    let end = world.now() + Span::from_millis(500);
    black_box(world.run(end, u64::MAX));
    world
}

const TWO_LEGS: &str = "[ue.phone]\ncell = \"master\"\npscell = \"other\"\nsplit = {}\n\
    downlink-sinr = \"15 dB\"\nuplink-sinr = \"12 dB\"\n";
const TWO_UES: &str = "[ue.phone]\ncell = \"master\"\n\
    downlink-sinr = \"15 dB\"\nuplink-sinr = \"12 dB\"\n\
    [ue.pad]\ncell = \"other\"\ndownlink-sinr = \"15 dB\"\nuplink-sinr = \"12 dB\"\n";

// A step is a 128th of half a second.
#[library_benchmark]
#[bench::one_ue_two_legs(two_cells(TWO_LEGS, false, &[("phone", Some(100))]))]
#[bench::two_ues(two_cells(TWO_UES, true, &[("phone", Some(50)), ("pad", Some(50))]))]
#[bench::two_ues_one_over_xn(two_cells(TWO_UES, false, &[("phone", Some(50)), ("pad", Some(50))]))]
#[bench::tcp_one_ue_two_legs(two_cells(TWO_LEGS, false, &[("phone", None)]))]
#[bench::tcp_two_ues(two_cells(TWO_UES, true, &[("phone", None), ("pad", None)]))]
fn legs(mut world: World<NullProbe>) -> World<NullProbe> {
    let end = world.now() + Span::from_millis(500);
    black_box(world.run(end, u64::MAX));
    world
}

// Runs until 128 handovers have ended after 2 s. A step is a handover, with the measurements and
// channel evaluations of its UE in the 3.7 s between two handovers.
#[library_benchmark]
#[bench::street(street())]
fn handover(mut world: World<NullProbe>) -> World<NullProbe> {
    let end = Time::ZERO + Span::from_millis(31_360);
    black_box(world.run(end, u64::MAX));
    world
}

/// Number of SDUs in a transport block.
const SDUS: u32 = 50;

/// Bearer in acknowledged mode with both ends, and the transport block in flight between them.
struct Bearer {
    ends: [Entity; 2],
    block: TransportBlock,
    delivered: Vec<Sdu>,
    now: Time,
    count: u32,
}

impl Bearer {
    /// Runs a slot: SDUs enter, a transport block is sent, and a STATUS PDU returns if one is due.
    #[inline]
    fn carry(&mut self) {
        let [sender, receiver] = &mut self.ends;
        self.now += Span::from_micros(125);
        for _ in 0..SDUS {
            let sdu = Sdu {
                size: 1503,
                count: self.count,
                entered_at: self.now,
                ..Sdu::default()
            };
            self.count += 1;
            sender.push_sdu(sdu).expect("the buffer is empty");
        }
        self.block.clear();
        sender.pull(self.now, SDUS * 1509, &mut self.block);
        receiver.on_block(self.now, &self.block, &mut self.delivered);
        self.block.clear();
        receiver.pull(self.now, 100, &mut self.block);
        sender.on_block(self.now, &self.block, &mut self.delivered);
        assert_eq!(self.delivered.len(), SDUS as usize);
        self.delivered.clear();
    }
}

fn acknowledged() -> Bearer {
    let end = || Entity::new(&RlcConfig::NR_AM).expect("allowed parameters");
    let mut bearer = Bearer {
        ends: [end(), end()],
        block: TransportBlock::new(),
        delivered: Vec::new(),
        now: Time::ZERO,
        count: 0,
    };
    (0..256).for_each(|_| bearer.carry());
    bearer
}

#[library_benchmark]
#[bench::block_of_50(acknowledged())]
fn rlc(mut bearer: Bearer) -> Bearer {
    (0..STEPS).for_each(|_| bearer.carry());
    bearer
}

/// Returns a link to a UE that walks past the base station, with the same fading in LOS and NLOS.
fn faded(fading: Fading) -> LinkChannel {
    let config = ChannelConfig {
        los_fading: fading,
        nlos_fading: fading,
        ..ChannelConfig::default()
    };
    let environment = Environment::new(config, 1).expect("a valid channel");
    let (site, cell, ue) = (0, 0, 0);
    let mut link = environment.link(LinkKey { site, cell, ue });
    let mast = Kinematics::at_rest(Point::new(0.0, 0.0, 10.0));
    let walker = Kinematics {
        position: Point::new(100.0, 20.0, 1.5),
        velocity: Vector::new(0.0, 2.0, 0.0),
    };
    link.large_scale_db(Time::ZERO, &LinkEnds::new(mast, walker));
    link
}

const TDL_A: Fading = Fading::Tdl {
    profile: TdlProfile::A,
    delay_spread: Span::from_nanos(100),
};

// A step is an evaluation in one slot. The count shows whether the compiler vectorises the sum of
// waves.
#[library_benchmark]
#[bench::flat(faded(Fading::Rayleigh))]
#[bench::tdl_a(faded(TDL_A))]
fn fading(link: LinkChannel) -> LinkChannel {
    let mut gains = [0.0; MAX_SUB_BANDS];
    for step in 0..STEPS as u64 {
        let slot = Time::from_nanos(step * 125_000);
        match link.sub_bands() {
            None => gains[0] = link.fading_flat(slot) as f32,
            Some(sub_bands) => link.fading(slot, &mut gains[..sub_bands]),
        }
        black_box(&gains);
    }
    link
}

/// Returns a load after every buffer and HARQ process has been used. All UEs evaluate interferers
/// every 100 ms. The benchmark runs between two of these instants, because a run of 10 ms would
/// otherwise include the whole cost of one.
fn loaded(mut load: RadioLoad) -> RadioLoad {
    load.run_for(237_000_000);
    load
}

// A step is a slot of 125 us at 630 Mbit/s, with six or seven downlink packets and three uplink
// packets. For LTE it is a hundredth of a subframe of ten cells.
#[library_benchmark]
#[bench::mmwave_1_ue(loaded(RadioLoad::mmwave(1)), 125_000)]
#[bench::mmwave_10_ues(loaded(RadioLoad::mmwave(10)), 125_000)]
#[bench::lte_1000_ues(loaded(RadioLoad::lte()), 10_000)]
fn radio(mut load: RadioLoad, step_nanos: u64) -> RadioLoad {
    load.run_for(STEPS as u64 * step_nanos);
    load
}

// A step is the time of a packet of 1,500 bytes on the link, with its share of the ACKs.
#[library_benchmark]
#[bench::packet(over_quic())]
fn quic(mut world: World<NullProbe>) -> World<NullProbe> {
    let end = world.now() + Span::from_micros(STEPS as u64 * 120);
    black_box(world.run(end, u64::MAX));
    world
}

library_benchmark_group!(
    name = hot_paths,
    benchmarks = [
        event, endpoint, control, link, fading, radio, rlc, world, build, legs, handover, quic
    ]
);
main!(library_benchmark_groups = hot_paths);
