//! Two endpoints and the links between them, without a simulated world.

use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{
    Ecn, EndpointId, FlowId, LinkId, NullProbe, Packet, PacketId, PacketPool, Rate, RouteId,
    Segment, Span, Time,
};
use fadeout_link::{DelayConfig, Link, LinkConfig, LossConfig, RateConfig};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{AppCommand, Outbox, TcpConfig, TcpEndpoint};

/// Segment in flight, with its arrival time.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// Arrival time of the segment.
    pub at: Time,
    /// Segment that arrives.
    pub segment: Segment,
    /// ECN field of the segment's packet.
    pub ecn: Ecn,
}

/// Returns one direction of the path, with 1 Gbit/s, 10 ms and an unlimited queue.
pub fn path() -> LinkConfig {
    LinkConfig {
        rate: RateConfig::Constant(Rate::from_bits_per_sec(1_000_000_000)),
        delay: DelayConfig::Constant(Span::from_millis(10)),
        ..LinkConfig::default()
    }
}

/// Bulk flow over [`path`]. End 0 sends data, and end 1 receives it.
#[derive(Debug)]
pub struct Pair {
    /// Endpoints of the flow.
    pub ends: [TcpEndpoint; 2],
    /// Links. Each link leads from the end with the same number to the other end.
    links: [Link; 2],
    pool: PacketPool,
    outbox: Outbox,
    arrivals: Vec<PacketId>,
    now: Time,
    selective: u32,
}

impl Pair {
    /// Creates the flow at its first SYN, with CUBIC. Both stacks use `config`, and `loss` applies
    /// to data.
    pub fn new(config: &TcpConfig, loss: LossConfig) -> Pair {
        Pair::with_control("cubic", config, loss)
    }

    /// Creates the flow with the congestion control called `control`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such congestion control.
    pub fn with_control(control: &str, config: &TcpConfig, loss: LossConfig) -> Pair {
        let end = |n: u32| {
            let random = Stream::new(1, "congestion", u64::from(n));
            let control = Congestion::new(control, &Parameters::default(), random)
                .expect("the registry has the congestion control");
            TcpEndpoint::new(config, FlowId(0), control)
        };
        let link = |n, loss| {
            let config = LinkConfig { loss, ..path() };
            Link::new(LinkId(n), config, 1).expect("the path is a valid link")
        };
        let mut pair = Pair {
            ends: [end(0), end(1)],
            links: [link(0, loss), link(1, LossConfig::None)],
            pool: PacketPool::new(),
            outbox: Outbox::default(),
            arrivals: Vec::new(),
            now: Time::ZERO,
            selective: 0,
        };
        pair.command(1, AppCommand::Listen);
        pair.command(0, AppCommand::Connect);
        pair.command(0, AppCommand::WriteForever);
        pair
    }

    /// Runs the flow to `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.next_at() <= until {
            self.process_next();
        }
    }

    /// Runs the flow until `count` more ACKs with SACK blocks have reached the sender.
    pub fn run_until_selective(&mut self, count: u32) {
        let enough = self.selective + count;
        while self.selective < enough {
            self.process_next();
        }
    }

    /// Removes the segments in flight to end `to` from their link and returns them.
    pub fn under_way_to(&mut self, to: usize) -> Vec<Arrival> {
        let mut taken = Vec::new();
        let link = &mut self.links[1 - to];
        while !link.wake_at().is_never() {
            let at = link.wake_at();
            link.on_wake(at, &mut self.pool, &mut self.arrivals, &mut NullProbe);
            taken.extend(self.arrivals.drain(..).map(|id| {
                let packet = self.pool.remove(id);
                Arrival {
                    at,
                    segment: packet.segment,
                    ecn: packet.ecn,
                }
            }));
        }
        taken
    }

    fn next_at(&self) -> Time {
        let links = self.links[0].wake_at().min(self.links[1].wake_at());
        links
            .min(self.ends[0].wake_at())
            .min(self.ends[1].wake_at())
    }

    fn process_next(&mut self) {
        self.now = self.next_at().max(self.now);
        for n in 0..2 {
            if self.links[n].wake_at() <= self.now {
                self.arrive(n);
                return;
            }
        }
        let n = usize::from(self.ends[0].wake_at() > self.now);
        self.ends[n].on_wake(self.now, &mut self.outbox, &mut NullProbe);
        self.send_from(n);
    }

    fn arrive(&mut self, link: usize) {
        let to = 1 - link;
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.links[link].on_wake(self.now, &mut self.pool, &mut arrivals, &mut NullProbe);
        for id in arrivals.drain(..) {
            let Packet { segment, ecn, .. } = self.pool.remove(id);
            self.selective += u32::from(to == 0 && !segment.sack.is_empty());
            self.ends[to].on_segment(self.now, &segment, ecn, &mut self.outbox, &mut NullProbe);
            self.send_from(to);
        }
        self.arrivals = arrivals;
    }

    fn command(&mut self, end: usize, command: AppCommand) {
        self.ends[end].on_app(self.now, command, &mut self.outbox, &mut NullProbe);
        self.send_from(end);
    }

    fn send_from(&mut self, end: usize) {
        for outgoing in self.outbox.segments.drain(..) {
            let ids = (
                FlowId::default(),
                EndpointId(1 - end as u32),
                RouteId::default(),
            );
            let (ecn, segment) = (outgoing.ecn, &outgoing.segment);
            let packet = self.pool.send(ids, self.now, ecn, segment);
            self.links[end].on_packet(self.now, packet, &mut self.pool, &mut NullProbe);
        }
        self.outbox.clear();
    }
}
