//! Drives two endpoints over two adversarial directions until both have closed.

use super::model::Direction;
use fadeout_core::random::Stream;
use fadeout_core::{Ecn, EventQueue, FlowId, LinkInfo, NullProbe, Packet, Segment, Time, Wake};
use fadeout_testkit::{Adversary, Notation};
use fadeout_transport::congestion::{Congestion, CongestionControl, EcnFeedback};
use fadeout_transport::tcp::{
    AppCommand, AppEvent, ConnectionState, EcnMode, LossRecovery, LossResponse, Outbox, TcpConfig,
    TcpEndpoint,
};

/// Maximum number of events. Every schedule that ends needs fewer.
const MOST_EVENTS: u64 = 1_000_000;

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A command, by its number.
    Command {
        end: u32,
        number: u32,
    },
    /// A packet, by its number.
    Arrival {
        end: u32,
        number: u32,
    },
    Wake {
        end: u32,
        generation: u32,
    },
}

/// Endpoint of the connection, with a record of its traffic.
struct End {
    tcp: TcpEndpoint,
    recovery: LossRecovery,
    waits: bool,
    read: u64,
    written: u64,
    has_closed: bool,
    is_established: bool,
    ended: u32,
    wake: Wake,
}

/// Two endpoints, the path between them, and the model that checks them.
pub(crate) struct Pair {
    ends: [End; 2],
    paths: [Adversary; 2],
    /// Directions of the connection. Direction `n` carries the data of end `n`.
    directions: [Direction; 2],
    events: EventQueue<Event>,
    commands: Vec<Command>,
    packets: Vec<(Segment, Ecn)>,
    out: Outbox,
    now: Time,
    is_traced: bool,
}

/// Configuration of one end.
pub(crate) struct EndConfig {
    pub(crate) config: TcpConfig,
    pub(crate) congestion: Congestion,
    pub(crate) path: Adversary,
}

/// Input of an end besides segments and timers.
#[derive(Debug, Clone, Copy)]
enum Command {
    App(AppCommand),
    Notice(LinkInfo),
}

impl Pair {
    /// Creates two ends. End 0 connects, and end 1 listens.
    pub(crate) fn new(ends: [EndConfig; 2], is_traced: bool) -> Pair {
        let mut directions: [Direction; 2] = Default::default();
        for (direction, receiver) in directions.iter_mut().zip([&ends[1], &ends[0]]) {
            direction.ends_runs = receiver.config.acks.ecn == EcnMode::Dctcp
                || receiver.congestion.needs_ecn() == EcnFeedback::Dctcp;
        }
        let [first, second] = ends;
        let end = |made: EndConfig| {
            let end = End {
                tcp: TcpEndpoint::new(&made.config, FlowId(0), made.congestion),
                recovery: made.config.recovery.method,
                waits: made.config.resilience.loss != LossResponse::Standard,
                read: 0,
                written: 0,
                has_closed: false,
                is_established: false,
                ended: 0,
                wake: Wake::default(),
            };
            (end, made.path)
        };
        let ((first, there), (second, back)) = (end(first), end(second));
        let mut pair = Pair {
            ends: [first, second],
            paths: [there, back],
            directions,
            events: EventQueue::new(),
            commands: Vec::new(),
            packets: Vec::new(),
            out: Outbox::default(),
            now: Time::ZERO,
            is_traced,
        };
        pair.schedule_command(Time::ZERO, 1, AppCommand::Listen);
        pair.schedule_command(Time::ZERO, 0, AppCommand::Connect);
        pair
    }

    /// Schedules a command of the application at end `end`.
    pub(crate) fn schedule_command(&mut self, at: Time, end: usize, command: AppCommand) {
        self.schedule(at, end, Command::App(command));
    }

    /// Schedules a notice of a link to end `end`.
    pub(crate) fn schedule_notice(&mut self, at: Time, end: usize, info: LinkInfo) {
        self.schedule(at, end, Command::Notice(info));
    }

    fn schedule(&mut self, at: Time, end: usize, command: Command) {
        let number = self.commands.len() as u32;
        self.commands.push(command);
        let end = end as u32;
        self.events.schedule(at, Event::Command { end, number });
    }

    /// Runs until no event is left. Asserts that all data arrived once, complete and in order, and
    /// that both ends are closed.
    pub(crate) fn run(&mut self) {
        let mut events = 0;
        while let Some((at, event)) = self.events.pop() {
            events += 1;
            assert!(events < MOST_EVENTS, "the connection does not end");
            assert!(at >= self.now, "time goes back");
            self.now = at;
            self.handle(event);
        }
        for (n, end) in self.ends.iter().enumerate() {
            let (state, peer) = (end.tcp.state(), &self.ends[1 - n]);
            assert!(
                matches!(state, ConnectionState::Closed | ConnectionState::TimeWait),
                "end {n} is left in {state:?}"
            );
            assert_eq!(end.ended, 1, "end {n} is told once that it is closed");
            assert_eq!(
                end.read, peer.written,
                "end {n} reads all that its peer wrote"
            );
            assert!(self.directions[n].has_ended(), "the FIN of end {n} arrived");
            assert_eq!(self.directions[n].sent_bytes(), end.written);
        }
    }

    /// Returns the simulated time.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    fn handle(&mut self, event: Event) {
        let number = match event {
            Event::Command { end, .. } | Event::Arrival { end, .. } | Event::Wake { end, .. } => {
                end
            }
        } as usize;
        let mut out = std::mem::take(&mut self.out);
        match event {
            Event::Command {
                number: command, ..
            } => {
                self.command(number, self.commands[command as usize], &mut out);
            }
            Event::Arrival { number: packet, .. } => {
                let (segment, ecn) = self.packets[packet as usize];
                self.trace(number, "<", &segment);
                let rto = self.ends[number].tcp.info().rto;
                let [first, second] = &mut self.directions;
                let (data, acks) = if number == 0 {
                    (second, first)
                } else {
                    (first, second)
                };
                if !data.drops_as_old(&segment, acks, rto) {
                    data.on_data_arrived(&segment);
                    acks.on_ack_arrived(&segment);
                }
                let tcp = &mut self.ends[number].tcp;
                tcp.on_segment(self.now, &segment, ecn, &mut out, &mut NullProbe);
            }
            Event::Wake { generation, .. } => {
                if !self.ends[number].wake.fire(generation) {
                    self.out = out;
                    return;
                }
                if self.is_traced {
                    println!("{:?} {number} wakes", self.now);
                }
                let tcp = &mut self.ends[number].tcp;
                tcp.on_wake(self.now, &mut out, &mut NullProbe);
            }
        }
        let sent = self.process_output(number, &mut out);
        self.out = out;
        self.check_output(number, sent);
        let end = &mut self.ends[number];
        let at = end.tcp.wake_at();
        if !at.is_never()
            && let Some(generation) = end.wake.arm(at)
        {
            let end = number as u32;
            let event = Event::Wake { end, generation };
            self.events.schedule(at.max(self.now), event);
        }
    }

    fn command(&mut self, end: usize, command: Command, out: &mut Outbox) {
        if self.is_traced {
            println!("{:?} {end} {command:?}", self.now);
        }
        let this = &mut self.ends[end];
        let command = match command {
            Command::App(command) => command,
            Command::Notice(info) => {
                return this.tcp.on_link_info(self.now, &info, out, &mut NullProbe);
            }
        };
        match command {
            AppCommand::Write(bytes) => this.written += bytes.0,
            AppCommand::Close => this.has_closed = true,
            _ => {}
        }
        this.tcp.on_app(self.now, command, out, &mut NullProbe);
    }

    /// Carries out the output of end `number`. Returns its number of data segments.
    fn process_output(&mut self, number: usize, out: &mut Outbox) -> u32 {
        let mut data = 0;
        let mut closes = false;
        let end = &mut self.ends[number];
        end.read += out.delivered_bytes;
        assert_eq!(
            end.read,
            self.directions[1 - number].readable(),
            "what is delivered is what arrived in order"
        );
        for event in out.events.drain(..) {
            match event {
                AppEvent::Established => {
                    assert!(!end.is_established, "established once");
                    end.is_established = true;
                }
                AppEvent::Closed => end.ended += 1,
                AppEvent::Aborted => panic!("end {number} gives up at {:?}", self.now),
                AppEvent::PeerClosed => {
                    assert!(self.directions[1 - number].has_ended());
                    if !end.has_closed {
                        end.has_closed = true;
                        closes = true;
                    }
                }
                AppEvent::AllAcknowledged => {}
            }
        }
        for outgoing in out.segments.drain(..) {
            let (segment, mut ecn) = (outgoing.segment, outgoing.ecn);
            data += u32::from(segment.len > 0);
            self.directions[number].on_data_sent(&segment);
            self.directions[1 - number].on_ack_sent(&segment);
            let size = Packet {
                segment,
                ..Packet::default()
            }
            .size();
            let arrivals = self.paths[number].pass(self.now, size);
            if arrivals.is_marked && ecn != Ecn::NotEct {
                ecn = Ecn::Ce;
            }
            if self.is_traced {
                let lost = if arrivals.at == [None; 2] {
                    " lost"
                } else {
                    ""
                };
                println!("{:?} {number} > {}{lost}", self.now, Notation(&segment));
            }
            let packet = self.packets.len();
            self.packets.push((segment, ecn));
            for at in arrivals.at.into_iter().flatten() {
                let arrival = Event::Arrival {
                    end: 1 - number as u32,
                    number: packet as u32,
                };
                self.events.schedule(at, arrival);
            }
        }
        if closes {
            self.schedule_command(self.now, number, AppCommand::Close);
        }
        out.clear();
        data
    }

    /// Compares the sender's own state with that of the model.
    fn check_output(&self, number: usize, sent: u32) {
        let end = &self.ends[number];
        let row = end.tcp.congestion_row(self.now);
        let mut counts = self.directions[number].counts();
        assert!(
            row.cwnd_segments >= 1.0 && row.cwnd_segments.is_finite(),
            "cwnd is {}",
            row.cwnd_segments
        );
        assert!(row.ssthresh_segments >= 1.0, "{}", row.ssthresh_segments);
        if !end.is_established {
            return;
        }
        if !matches!(end.recovery, LossRecovery::Rack | LossRecovery::Sack) {
            assert_eq!(counts.sacked, 0);
        }
        // The sender's scoreboard does not contain the SYN.
        let in_flight = row.in_flight_segments;
        let unsacked = counts.packets - counts.sacked;
        if counts.resent == 0 && matches!(row.state, "open" | "disorder" | "cwr") {
            assert_eq!(
                in_flight, unsacked,
                "nothing is lost or sent again: {counts:?}"
            );
        }
        counts.resent = counts.resent.min(counts.packets);
        assert!(
            in_flight <= unsacked + counts.resent,
            "{in_flight} in flight of {counts:?}"
        );
        // Limited transmit sends two segments beyond the window. If the response to a loss waits,
        // it sends one for each duplicate ACK. One segment may always be sent: a probe, or the
        // first retransmission.
        let beyond = if end.waits { in_flight } else { 2 };
        let room = row.cwnd_segments as u32 + beyond;
        assert!(
            sent <= 1 || in_flight <= room,
            "{in_flight} in flight of {counts:?} after {sent} were sent, window {}",
            row.cwnd_segments
        );
    }

    fn trace(&self, end: usize, arrow: &str, segment: &Segment) {
        if self.is_traced {
            let row = self.ends[end].tcp.congestion_row(self.now);
            println!(
                "{:?} {end} {arrow} {}   [{} cwnd {:.1} in flight {} rto {:?}]",
                self.now,
                Notation(segment),
                row.state,
                row.cwnd_segments,
                row.in_flight_segments,
                row.rto_s,
            );
        }
    }
}

/// Returns the random stream for one purpose of a schedule.
pub(crate) fn stream(seed: u64, concern: &str, end: usize) -> Stream {
    Stream::new(seed, concern, end as u64)
}
