//! Test pipe: a bulk sender over one bottleneck, with a minimal transport for tests of an
//! algorithm.
//!
//! Every transmission has its own number, as in QUIC, and its own ACK. A transmission counts as
//! lost once three later transmissions have arrived. The window then falls to its target at once.
//! The real stack recovers more gently, so results are similar but not equal.

use super::super::{
    AckArrival, AckSample, CongestionControl, CongestionEvent, CongestionKind, RateSample,
    RecoveryState, Window,
};
use fadeout_core::{Rate, Span, Time};
use std::collections::VecDeque;

/// Path of the test. As in netem, the limit of packets includes the packets in the delay line.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Pipe {
    pub rate: Rate,
    pub one_way: Span,
    pub limit: usize,
    /// Distance between lost packets. Every n-th packet is lost, and none if zero.
    pub lose_every: u64,
    /// Number of waiting packets above which arriving packets are marked instead of dropped. Zero
    /// for no marks.
    pub mark_above: usize,
}

/// Measurements of a test run.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Report {
    pub received_mbps: f64,
    pub mean_rtt_ms: f64,
    pub max_cwnd: f64,
    /// Largest number of segments in flight in the second half of the run.
    pub late_in_flight: u32,
    pub lost: u64,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    in_flight: u32,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Outstanding,
    Delivered,
    Lost,
}

const MSS: u32 = 1448;
const WIRE_BITS: u64 = 1514 * 8;

struct Sender<'a, C> {
    control: &'a mut C,
    pipe: Pipe,
    window: Window,
    prior: Window,
    /// Outstanding transmissions, beginning with number `una`.
    sent: VecDeque<Sent>,
    una: u64,
    in_flight: u32,
    /// Acknowledgments in flight: arrival time, number, and true if marked.
    acks: VecDeque<(Time, u64, bool)>,
    /// Time at which each packet in the bottleneck leaves its queue.
    departures: VecDeque<Time>,
    link_free_at: Time,
    send_at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    recovery_end: Option<u64>,
    echo_end: u64,
    srtt: Span,
    min_rtt: Span,
    arrivals: u64,
}

impl Pipe {
    /// Returns a pipe with 20 Mbit/s, 25 ms in each direction and a limit of 100 packets, as in the
    /// recorded runs of the kernel.
    pub(in super::super) fn clean_20m() -> Pipe {
        Pipe {
            rate: Rate::from_bits_per_sec(20_000_000),
            one_way: Span::from_millis(25),
            limit: 100,
            lose_every: 0,
            mark_above: 0,
        }
    }

    /// Runs a bulk sender with `control` for `duration`. Returns the measurements.
    pub(in super::super) fn run<C: CongestionControl>(
        self,
        control: &mut C,
        duration: Span,
    ) -> Report {
        let mut sender = Sender {
            control,
            pipe: self,
            window: Window {
                cwnd: 10.0,
                ssthresh: f64::INFINITY,
                mss: MSS,
            },
            prior: Window {
                cwnd: 10.0,
                ssthresh: f64::INFINITY,
                mss: MSS,
            },
            sent: VecDeque::new(),
            una: 0,
            in_flight: 0,
            acks: VecDeque::new(),
            departures: VecDeque::new(),
            link_free_at: Time::ZERO,
            send_at: Time::ZERO,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            lost: 0,
            recovery_end: None,
            echo_end: 0,
            srtt: Span::ZERO,
            min_rtt: Span::MAX,
            arrivals: 0,
        };
        sender.run(Time::ZERO + duration)
    }
}

impl<C: CongestionControl> Sender<'_, C> {
    fn run(&mut self, end: Time) -> Report {
        let (mut rtt_sum, mut max_cwnd, mut late_in_flight) = (0.0, 0.0_f64, 0);
        let half = end.as_secs_f64() / 2.0;
        self.control
            .on_established(&mut self.window, Time::ZERO, Some(self.pipe.one_way * 2));
        self.srtt = self.pipe.one_way * 2;
        let mut now = Time::ZERO;
        while now < end {
            self.send(now);
            if now.as_secs_f64() > half {
                late_in_flight = late_in_flight.max(self.in_flight);
            }
            let may_send = self.in_flight < self.window.cwnd as u32;
            let ack_at = self.acks.front().map_or(Time::NEVER, |ack| ack.0);
            let next = if may_send {
                ack_at.min(self.send_at.max(now))
            } else {
                ack_at
            };
            if next.is_never() {
                now += Span::from_millis(300);
                self.time_out(now);
                continue;
            }
            now = next;
            if ack_at == now {
                let (_, number, is_marked) = self.acks.pop_front().expect("the front was seen");
                rtt_sum += self.receive(now, number, is_marked).as_secs_f64();
                max_cwnd = max_cwnd.max(self.window.cwnd);
                assert!(self.window.cwnd.is_finite() && self.window.cwnd >= 1.0);
            }
        }
        let seconds = end.as_secs_f64();
        Report {
            received_mbps: self.delivered as f64 * f64::from(MSS * 8) / 1e6 / seconds,
            mean_rtt_ms: rtt_sum * 1e3 / self.delivered.max(1) as f64,
            max_cwnd,
            late_in_flight,
            lost: self.lost,
        }
    }

    fn send(&mut self, now: Time) {
        while self.in_flight < self.window.cwnd as u32 && self.send_at <= now {
            if self.in_flight == 0 {
                self.first_sent_at = now;
                self.delivered_at = now;
            }
            self.in_flight += 1;
            let number = self.una + self.sent.len() as u64;
            self.sent.push_back(Sent {
                at: now,
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                first_sent_at: self.first_sent_at,
                lost: self.lost,
                in_flight: self.in_flight,
                outcome: Outcome::Outstanding,
            });
            self.enter_link(now, number);
            if let Some(rate) = self.control.pacing_rate() {
                let gap = rate.time_to_send(fadeout_core::Bytes(u64::from(MSS)));
                self.send_at = now.saturating_add(gap);
            }
        }
    }

    fn enter_link(&mut self, now: Time, number: u64) {
        let one_way = self.pipe.one_way;
        while self
            .departures
            .front()
            .is_some_and(|&leaves| leaves + one_way <= now)
        {
            self.departures.pop_front();
        }
        self.arrivals += 1;
        let every = self.pipe.lose_every;
        if self.departures.len() >= self.pipe.limit || self.arrivals.is_multiple_of(every) {
            return;
        }
        let waiting = self
            .departures
            .iter()
            .rev()
            .take_while(|&&leaves| leaves > now)
            .count();
        let is_marked = self.pipe.mark_above > 0 && waiting > self.pipe.mark_above;
        let bits_nanos = WIRE_BITS * 1_000_000_000 / self.pipe.rate.as_bits_per_sec();
        self.link_free_at = self.link_free_at.max(now) + Span::from_nanos(bits_nanos);
        self.departures.push_back(self.link_free_at);
        self.acks
            .push_back((self.link_free_at + one_way * 2, number, is_marked));
    }

    fn receive(&mut self, now: Time, number: u64, is_marked: bool) -> Span {
        let prior_in_flight = self.in_flight;
        let index = (number - self.una) as usize;
        let sent = self.sent[index];
        self.sent[index].outcome = Outcome::Delivered;
        if sent.outcome == Outcome::Outstanding {
            self.in_flight -= 1;
        }
        self.delivered += 1;
        self.delivered_at = now;
        self.first_sent_at = sent.at;
        let rtt = now - sent.at;
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = (self.srtt * 7 + rtt) / 8;

        let mut lost_now = 0;
        for older in self.sent.iter_mut().take(index.saturating_sub(2)) {
            if older.outcome == Outcome::Outstanding {
                older.outcome = Outcome::Lost;
                lost_now += 1;
            }
        }
        self.in_flight -= lost_now;
        self.lost += u64::from(lost_now);
        while self
            .sent
            .front()
            .is_some_and(|sent| sent.outcome != Outcome::Outstanding)
        {
            self.sent.pop_front();
            self.una += 1;
        }
        self.recover(now, number, lost_now, is_marked);

        let interval = (sent.at - sent.first_sent_at).max(now - sent.delivered_at);
        let in_recovery = self.recovery_end.is_some();
        let ack = AckSample {
            now,
            acked: 1,
            delivered_now: 1,
            delivered_ce_now: u32::from(is_marked),
            lost_now,
            rtt: Some(rtt),
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            in_flight: self.in_flight,
            prior_in_flight,
            snd_una: self.una,
            snd_nxt: self.una + self.sent.len() as u64,
            delivered: self.delivered,
            lost: self.lost,
            rate: RateSample {
                delivered: self.delivered - sent.delivered,
                interval: Some(interval),
                prior_delivered: sent.delivered,
                is_app_limited: false,
                tx_in_flight: sent.in_flight,
                lost: (self.lost - sent.lost) as u32,
                delivered_ce: u32::from(is_marked),
            },
            is_cwnd_limited: true,
            // An algorithm that returns to slow start after a loss (Tahoe) grows also during
            // recovery.
            may_grow: !in_recovery || self.window.in_slow_start(),
            ece: is_marked,
            is_paced: self.control.pacing_rate().is_some(),
            departs_in: Span::ZERO,
            pacing_rate: Rate::from_bits_per_sec(100_000_000),
            state: if in_recovery {
                RecoveryState::Recovery
            } else {
                RecoveryState::Open
            },
        };
        self.control.on_ack_arrival(&AckArrival {
            now: ack.now,
            snd_una: ack.snd_una * u64::from(self.window.mss),
            mss: self.window.mss,
            rtt: ack.rtt,
            is_plain: !in_recovery && !is_marked,
        });
        self.control.on_ack(&mut self.window, &ack);
        rtt
    }

    fn recover(&mut self, now: Time, number: u64, lost_now: u32, is_marked: bool) {
        let nxt = self.una + self.sent.len() as u64;
        let leaves = self.recovery_end.is_some_and(|end| self.una >= end);
        if leaves {
            self.recovery_end = None;
            self.control.on_recovered(&mut self.window, now);
        }
        if lost_now > 0 && self.recovery_end.is_none() {
            self.recovery_end = Some(nxt);
            self.reduce(now, CongestionKind::FastRecovery);
        } else if is_marked && number >= self.echo_end && self.recovery_end.is_none() {
            self.echo_end = nxt;
            self.reduce(now, CongestionKind::Ecn);
        }
    }

    fn reduce(&mut self, now: Time, kind: CongestionKind) {
        self.prior = self.window;
        let event = CongestionEvent {
            now,
            kind,
            flight_size: self.sent.len() as u32,
            in_flight: self.in_flight,
            snd_una: self.una,
            snd_nxt: self.una + self.sent.len() as u64,
        };
        self.control.on_congestion(&mut self.window, &event);
        if !self.control.controls_window() {
            let target = if kind == CongestionKind::Rto {
                1.0
            } else {
                self.window.ssthresh
            };
            self.window.cwnd = self.window.cwnd.min(target);
        }
    }

    /// Handles a timeout. All outstanding transmissions are then lost.
    fn time_out(&mut self, now: Time) {
        self.lost += u64::from(self.in_flight);
        self.una += self.sent.len() as u64;
        self.sent.clear();
        self.in_flight = 0;
        self.reduce(now, CongestionKind::Rto);
        self.recovery_end = None;
        self.control.on_recovered(&mut self.window, now);
    }
}
