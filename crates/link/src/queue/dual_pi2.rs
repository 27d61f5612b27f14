//! DualPI2: coupled queues for classic and scalable traffic, with a proportional integral
//! controller of the delay. The controller's output is squared for the classic queue and multiplied
//! for the low-latency queue. The low-latency queue also has its own threshold.
//!
//! Standard: RFC 9332 §A.

use super::discipline::{ManagedQueue, Start};
use super::fifo::{Fifo, Queued};
use super::{Effects, Limit};
use crate::LinkError;
use fadeout_core::aqm::ecn_step::Ramp;
use fadeout_core::aqm::pie::SHORTEST_UPDATE;
use fadeout_core::aqm::{Even, Threshold, ThresholdError, next_on_grid};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, choice, in_range, number, span};
use fadeout_core::{Ecn, Rate, Span, Time};

fadeout_core::choices! {
    /// Which queue is served when both wait (RFC 9332 section 4.2.2).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DualPi2Scheduler {
        /// Weighted round robin: the low-latency queue first, with a share for the classic queue.
        WeightedRoundRobin = "weighted-round-robin",
        /// The packet that arrived first, as if classic packets had arrived later than they did.
        TimeShifted = "time-shifted",
    }
}

fadeout_core::parameters! {
    /// Parameters of `DualPI2`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct DualPi2Config {
        /// Target delay of the classic queue (RFC 9332 appendix A.1).
        pub target: Span = span("15 ms"),
        /// Longest round-trip time RTT for which the controller is stable. The gains are 0.1 T /
        /// RTT^2 and 0.3 / RTT. The update interval is T = min(target, RTT / 3) (RFC 9332 appendix
        /// A.1).
        pub max_rtt: Span = span("100 ms"),
        /// Coupling factor k between the two queues (RFC 9332 sections 2.1 and 4.2).
        pub coupling: f64 = number((0.1, 100.0, ""), "2"),
        /// Delay of the low-latency queue from which on this queue marks packets, independent of
        /// the classic queue (RFC 9332 appendix A.1).
        pub l4s_min_threshold: Span = span("800 us"),
        /// Range of delay above `l4s-min-threshold` over which the share of marked packets grows
        /// from zero to one. With 0 the share jumps to one at the threshold (RFC 9332 appendix
        /// A.1).
        pub l4s_range: Span = span("400 us"),
        /// Scheduler between the two queues. RFC 9332 section 4.2.2 allows both schedulers.
        pub scheduler: DualPi2Scheduler = choice(DualPi2Scheduler::NAMES, "weighted-round-robin"),
        /// Share of the bytes that weighted round robin gives the classic queue while packets wait
        /// in both queues. The RFC demands a small share. Linux uses 10 %.
        pub classic_share: f64 = number((0.0, 1.0, ""), "0.1"),
        /// Time that the scheduler `time-shifted` adds to the arrival time of classic packets. The
        /// RFC gives no value. The default is twice the target.
        pub shift: Span = span("30 ms"),
    }
}

impl DualPi2Config {
    /// Returns the time between updates (Tupdate).
    fn update_every(&self) -> Span {
        self.target.min(self.max_rtt / 3)
    }
}

impl Registered<Rate> for DualPi2Config {
    const ENTRY: Entry = Entry::new(
        "dualpi2",
        "active",
        "DualPI2: coupled queues for classic and for scalable (L4S) traffic. Packets with ECT(1) \
         or CE enter the low-latency queue.",
        "RFC 9332 appendix A",
    )
    .with_aliases(&["dual-pi2"])
    .with_parameters(DualPi2Config::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Rate) -> Self {
        DualPi2Config::read(settings)
    }
}

impl Start for DualPi2Config {
    type Queue = DualPi2;

    fn start(self, _: Option<Limit>, _: Stream) -> Result<Option<DualPi2>, LinkError> {
        DualPi2::new(self).map(Some)
    }
}

/// Classic or low-latency queue.
#[derive(Debug, Default)]
struct Side {
    queue: Fifo,
    signals: Even,
}

/// Both queues, and the controller that couples them.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    l4s: Side,
    classic: Side,
    /// Bytes that the classic queue may send ahead of the low-latency queue.
    credit: f64,
    control: Control,
    update_every: Span,
    /// Time of the next update on a fixed grid. Updates that are due are made before a queue
    /// changes.
    update_at: Time,
}

/// State of the controller.
#[derive(Debug, Clone, Copy, Default)]
struct Control {
    /// Base probability p', from which both queues derive their probability.
    base: f64,
    old_delay: Span,
}

impl Control {
    /// Updates the controller with the current delay (RFC 9332 appendix A.1, `dualpi2_update`).
    fn update(&mut self, config: &DualPi2Config, delay: Span) {
        let every = config.update_every().as_secs_f64();
        let rtt = config.max_rtt.as_secs_f64();
        let (alpha, beta) = (0.1 * every / (rtt * rtt), 0.3 / rtt);
        let (now, old) = (delay.as_secs_f64(), self.old_delay.as_secs_f64());
        let change = alpha * (now - config.target.as_secs_f64()) + beta * (now - old);
        debug_assert!(change.is_finite(), "the probability changes by {change}");
        self.base = (self.base + change).clamp(0.0, 1.0);
        self.old_delay = delay;
    }

    /// Returns the probability of a signal in the classic queue (p_C).
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// Returns the coupled probability of a mark in the low-latency queue (p_CL).
    fn coupled(&self, config: &DualPi2Config) -> f64 {
        (config.coupling * self.base).min(1.0)
    }

    /// Returns true if the marking of the low-latency queue is saturated, so that packets must be
    /// dropped.
    fn is_saturated(&self, config: &DualPi2Config) -> bool {
        config.coupling * self.base >= 1.0
    }
}

impl DualPi2 {
    pub(crate) fn new(config: DualPi2Config) -> Result<Self, LinkError> {
        let update_every = config.update_every();
        in_range("target", config.target, SHORTEST_UPDATE..)?;
        in_range("max-rtt", config.max_rtt, SHORTEST_UPDATE * 3..)?;
        in_range("coupling", config.coupling, 0.1..=100.0)?;
        in_range("classic-share", config.classic_share, 0.0..=1.0)?;
        Ok(DualPi2 {
            config,
            l4s: Side::default(),
            classic: Side::default(),
            credit: 0.0,
            control: Control::default(),
            update_every,
            update_at: Time::ZERO + update_every,
        })
    }

    /// Returns true if the classic queue is next. `None` if both are empty.
    fn is_classic_next(&mut self) -> Option<bool> {
        let (l4s, classic) = match (self.l4s.queue.front(), self.classic.queue.front()) {
            (Some(l4s), Some(classic)) => (l4s, classic),
            (l4s, classic) => {
                self.credit = 0.0;
                return l4s.or(classic).map(|_| l4s.is_none());
            }
        };
        if self.config.scheduler == DualPi2Scheduler::TimeShifted {
            let shifted = classic.arrived_at.saturating_add(self.config.shift);
            return Some(shifted < l4s.arrived_at);
        }
        let share = self.config.classic_share;
        debug_assert!(
            self.credit >= 0.0 && self.credit.is_finite(),
            "the classic queue has a credit of {} bytes",
            self.credit
        );
        let price = f64::from(classic.size) * (1.0 - share);
        if self.credit >= price {
            self.credit -= price;
            return Some(true);
        }
        self.credit += f64::from(l4s.size) * share;
        Some(false)
    }

    /// Returns the classic packet that leaves. `None` if it is dropped.
    fn dequeue_classic(&mut self, effects: &mut Effects<'_>) -> Option<Queued> {
        let head = self.classic.queue.pop()?;
        let is_signalled = self.classic.signals.is_due(self.control.classic());
        // If the low-latency queue drops, marks alone would favour classic ECN traffic.
        let may_mark = !self.control.is_saturated(&self.config);
        if is_signalled && !(may_mark && effects.mark(head.packet)) {
            effects.drop(head.packet);
            return None;
        }
        Some(head)
    }

    /// Returns the low-latency packet that leaves. `None` if overload drops it.
    fn dequeue_l4s(&mut self, now: Time, effects: &mut Effects<'_>) -> Option<Queued> {
        let is_alone = self.l4s.queue.packets() == 1;
        let head = self.l4s.queue.pop()?;
        if self.control.is_saturated(&self.config) {
            if self.l4s.signals.is_due(self.control.classic()) {
                effects.drop(head.packet);
                return None;
            }
            effects.mark(head.packet);
            return Some(head);
        }
        let native = if is_alone {
            0.0
        } else {
            self.native(now.since(head.arrived_at))
        };
        let probability = native.max(self.control.coupled(&self.config));
        if self.l4s.signals.is_due(probability) {
            effects.mark(head.packet);
        }
        Some(head)
    }

    /// Returns the marking probability of the low-latency queue itself, a ramp or a step.
    fn native(&self, delay: Span) -> f64 {
        let ramp = Ramp {
            threshold: self.config.l4s_min_threshold,
            range: self.config.l4s_range,
        };
        ramp.probability(delay)
    }

    /// Makes the updates due by `now`, each with the larger delay of both heads at its time. No
    /// packet has entered or left since the last update.
    ///
    /// Standard: RFC 9332 §A.2.
    fn catch_up(&mut self, now: Time) {
        while self.update_at <= now {
            let at = self.update_at;
            let delay = self.classic.queue.age(at).max(self.l4s.queue.age(at));
            let is_settled =
                self.packets() == 0 && self.control.base == 0.0 && self.control.old_delay.is_zero();
            self.control.update(&self.config, delay);
            self.update_at += self.update_every;
            if is_settled {
                self.update_at = next_on_grid(self.update_at, self.update_every, now);
            }
        }
        debug_assert!(self.update_at > now, "an update is left in the past");
    }
}

impl ManagedQueue for DualPi2 {
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool {
        self.catch_up(arrival.arrived_at);
        match effects.ecn(arrival.packet) {
            Ecn::Ect1 | Ecn::Ce => self.l4s.queue.push(arrival),
            Ecn::NotEct | Ecn::Ect0 => self.classic.queue.push(arrival),
        }
        true
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects<'_>) -> Option<Queued> {
        self.catch_up(now);
        loop {
            let packet = if self.is_classic_next()? {
                self.dequeue_classic(effects)
            } else {
                self.dequeue_l4s(now, effects)
            };
            if packet.is_some() {
                return packet;
            }
        }
    }

    fn set_threshold(&mut self, now: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        let target = match threshold {
            Threshold::Target(target) => target,
            Threshold::Marking(delay) => {
                self.config.l4s_min_threshold = delay;
                return Ok(());
            }
            Threshold::Minimum(_) | Threshold::Maximum(_) => return Err(ThresholdError::Absent),
        };
        in_range("target", target, SHORTEST_UPDATE..)?;
        self.catch_up(now);
        self.config.target = target;
        // The next update keeps its time, and the later ones have the new distance.
        self.update_every = self.config.update_every();
        Ok(())
    }

    fn packets(&self) -> u64 {
        self.l4s.queue.packets() + self.classic.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.l4s.queue.bytes() + self.classic.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, ms, us};
    use super::*;

    fn dual(config: DualPi2Config) -> DualPi2 {
        DualPi2::new(config).expect("valid")
    }

    /// Returns a queue whose base probability stays at `base`, with `n` packets of each kind.
    fn frozen(base: f64, config: DualPi2Config, rig: &mut Rig, n: usize) -> DualPi2 {
        let mut dual = dual(config);
        dual.update_at = Time::NEVER;
        dual.control.base = base;
        for _ in 0..n {
            for ecn in [Ecn::Ect1, Ecn::NotEct] {
                let arrival = rig.packet(ms(0), 1500, ecn, 0);
                dual.enqueue(arrival, &mut rig.effects());
            }
        }
        dual
    }

    #[test]
    fn ect1_and_ce_go_to_the_low_latency_queue() {
        let mut dual = dual(DualPi2Config::default());
        let mut rig = Rig::default();
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::Ce] {
            let arrival = rig.packet(ms(0), 1500, ecn, 0);
            dual.enqueue(arrival, &mut rig.effects());
        }
        assert_eq!(dual.classic.queue.packets(), 2);
        assert_eq!(dual.l4s.queue.packets(), 3);
        assert_eq!((dual.packets(), dual.bytes()), (5, 7500));
    }

    #[test]
    fn the_controller_has_the_gains_of_the_rfc() {
        // The update interval T is 15 ms. The gains are alpha = 0.1 T / RTT^2 = 0.15 Hz and beta =
        // 0.3 / RTT = 3 Hz.
        let mut control = Control {
            base: 0.1,
            old_delay: Span::from_millis(20),
        };
        control.update(&DualPi2Config::default(), Span::from_millis(25));
        let expected = 0.1 + 0.15 * 0.010 + 3.0 * 0.005;
        assert!((control.base - expected).abs() < 1e-12);
    }

    #[test]
    fn scalable_traffic_is_marked_k_p_and_classic_dropped_p_squared() {
        let mut rig = Rig::default();
        let n = 10_000;
        let mut dual = frozen(0.1, DualPi2Config::default(), &mut rig, n);
        let mut left = 0;
        // Packets leave at the instant of their arrival, so the low-latency queue's own threshold
        // has no effect.
        while dual.dequeue(ms(0), &mut rig.effects()).is_some() {
            left += 1;
        }
        // Signals are spread evenly, so each count is exact to one signal.
        assert!(rig.marked.abs_diff(2_000) <= 1, "{}", rig.marked);
        assert!(
            rig.dropped.len().abs_diff(100) <= 1,
            "{}",
            rig.dropped.len()
        );
        assert_eq!(left + rig.dropped.len(), 2 * n);
    }

    #[test]
    fn classic_ecn_traffic_is_marked_where_other_is_dropped() {
        let mut rig = Rig::default();
        let mut dual = frozen(0.1, DualPi2Config::default(), &mut rig, 0);
        for _ in 0..10_000 {
            let arrival = rig.packet(ms(0), 1500, Ecn::Ect0, 0);
            dual.enqueue(arrival, &mut rig.effects());
        }
        while dual.dequeue(ms(0), &mut rig.effects()).is_some() {}
        assert!(rig.marked.abs_diff(100) <= 1 && rig.dropped.is_empty());
    }

    #[test]
    fn the_threshold_is_a_ramp_or_a_step() {
        let ramp = dual(DualPi2Config::default());
        let probability_at = |queue: &DualPi2, micros| queue.native(Span::from_micros(micros));
        assert_eq!(probability_at(&ramp, 799), 0.0);
        assert!((probability_at(&ramp, 900) - 0.25).abs() < 1e-12);
        assert_eq!(probability_at(&ramp, 1_200), 1.0);
        let step = dual(DualPi2Config {
            l4s_min_threshold: Span::from_millis(1),
            l4s_range: Span::ZERO,
            ..DualPi2Config::default()
        });
        assert_eq!(
            (probability_at(&step, 999), probability_at(&step, 1_000)),
            (0.0, 1.0)
        );
    }

    #[test]
    fn a_lone_packet_is_never_marked_for_its_delay() {
        let mut rig = Rig::default();
        let mut dual = frozen(0.0, DualPi2Config::default(), &mut rig, 0);
        for n in 0..100 {
            let arrival = rig.packet(ms(n), 1500, Ecn::Ect1, 0);
            dual.enqueue(arrival, &mut rig.effects());
            dual.dequeue(ms(n + 50), &mut rig.effects());
        }
        assert_eq!(rig.marked, 0);
    }

    #[test]
    fn the_round_robin_leaves_the_classic_queue_its_share_of_the_bytes() {
        let mut rig = Rig::default();
        let mut dual = frozen(0.0, DualPi2Config::default(), &mut rig, 10_000);
        let mut classic = 0;
        for _ in 0..10_000 {
            let queued = dual.dequeue(ms(0), &mut rig.effects()).expect("a backlog");
            classic += u32::from(rig.pool[queued.packet].ecn == Ecn::NotEct);
        }
        assert!(classic.abs_diff(1_000) <= 1, "{classic}");
    }

    #[test]
    fn the_time_shifted_scheduler_takes_classic_packets_to_be_later() {
        let config = DualPi2Config {
            scheduler: DualPi2Scheduler::TimeShifted,
            ..DualPi2Config::default()
        };
        let mut rig = Rig::default();
        let mut dual = frozen(0.0, config, &mut rig, 0);
        let arrivals = [
            (0, Ecn::NotEct),
            (1, Ecn::NotEct),
            (30, Ecn::Ect1),
            (31, Ecn::Ect1),
        ];
        for (at, ecn) in arrivals {
            let arrival = rig.packet(ms(at), 1500, ecn, at as u32);
            dual.enqueue(arrival, &mut rig.effects());
        }
        let mut order = Vec::new();
        while let Some(queued) = dual.dequeue(ms(31), &mut rig.effects()) {
            order.push(rig.pool[queued.packet].flow.0);
        }
        assert_eq!(order, [30, 0, 31, 1]);
    }

    #[test]
    fn overload_drops_from_both_queues_with_the_classic_probability() {
        let mut rig = Rig::default();
        // If the coupled probability k p' is 1, the marks of the low-latency queue are saturated.
        let mut dual = frozen(0.5, DualPi2Config::default(), &mut rig, 4_000);
        while dual.dequeue(ms(0), &mut rig.effects()).is_some() {}
        let l4s = rig
            .dropped
            .iter()
            .filter(|id| rig.pool[**id].ecn == Ecn::Ect1)
            .count();
        let classic = rig.dropped.len() - l4s;
        assert!(
            l4s.abs_diff(1_000) <= 1 && classic.abs_diff(1_000) <= 1,
            "{l4s} {classic}"
        );
        assert_eq!(rig.marked, 4_000 - l4s as u64);
    }

    #[test]
    fn updates_missed_while_nothing_happened_are_made_up_for() {
        let mut rig = Rig::default();
        let mut lazy = dual(DualPi2Config::default());
        let mut eager = dual(DualPi2Config::default());
        let arrival = rig.packet(ms(1_000), 1500, Ecn::NotEct, 0);
        lazy.enqueue(arrival, &mut rig.effects());
        eager.enqueue(arrival, &mut rig.effects());
        (1_000..2_000).for_each(|n| eager.catch_up(ms(n)));
        lazy.catch_up(ms(1_999));
        assert_eq!(lazy.control.base, eager.control.base);
        assert!(lazy.control.base > 0.5 && lazy.update_at == eager.update_at);
        assert!(lazy.update_at > us(1_999_000));
    }
}
