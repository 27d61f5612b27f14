//! Proportional-fair scheduler: the UE with the highest ratio of present rate to past throughput is
//! first.

use super::best_first::best_first;
use super::{Candidate, MacScheduler, Share, SlotView};
use fadeout_core::registry::{Entry, Registered, Settings, span};
use fadeout_core::{Span, UeId, math};

fadeout_core::parameters! {
    /// Parameters of [`ProportionalFair`].
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ProportionalFairConfig {
        /// Averaging time t_c of the past throughput, at least one slot.
        pub averaging_time: Span = span("100 ms"),
    }
}

impl Registered for ProportionalFairConfig {
    const ENTRY: Entry = Entry::new(
        "proportional-fair",
        "channel-aware",
        "Serves first the UE with the highest ratio of present rate to past throughput \
         (proportional fair).",
        "A. Jalali, R. Padovani, R. Pankaj, Data throughput of CDMA-HDR, IEEE VTC Spring 2000, \
         section II",
    )
    .with_aliases(&["pf"])
    .with_parameters(ProportionalFairConfig::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        ProportionalFairConfig::read(settings)
    }
}

impl ProportionalFairConfig {
    pub(super) fn start(self, ues: usize, slot: Span) -> ProportionalFair {
        let slots = self.averaging_time.as_secs_f64() / slot.as_secs_f64();
        ProportionalFair::new(slots.max(1.0), ues)
    }
}

/// Proportional-fair scheduler. Its metric is `r / T`, the present rate over the past throughput.
/// In every slot `T` becomes `(1 - 1/t_c) T + b / t_c`, where `b` is the bytes served to the UE in
/// the slot. A UE that was never served has the highest metric.
#[derive(Debug, Clone)]
pub struct ProportionalFair {
    averaging_slots: f64,
    // Powers (1 - 1/t_c)^n for n up to the longest wait so far, at most `MOST_POWERS`.
    decay: Vec<f64>,
    throughput: Vec<Average>,
    metrics: Vec<f64>,
}

/// Number of stored powers at most. With an averaging time of 100 slots, the last of them is 1e-18.
const MOST_POWERS: u64 = 4096;

/// Throughput at the end of slot `slot`.
#[derive(Debug, Clone, Copy, Default)]
struct Average {
    value: f64,
    slot: u64,
}

impl ProportionalFair {
    /// Creates a scheduler for UEs with ids below `ues`. It averages over `averaging_slots` slots.
    pub fn new(averaging_slots: f64, ues: usize) -> ProportionalFair {
        let step = 1.0 - 1.0 / averaging_slots;
        ProportionalFair {
            averaging_slots,
            decay: vec![1.0, step],
            throughput: vec![Average::default(); ues],
            metrics: Vec::new(),
        }
    }

    /// Returns the average throughput of `ue` before `slot`, in bytes per slot.
    pub fn throughput(&self, slot: u64, ue: UeId) -> f64 {
        let average = self.throughput[ue.index()];
        let idle = self.idle_slots(slot, ue);
        let decay = match self.decay.get(usize::try_from(idle).unwrap_or(usize::MAX)) {
            Some(&decay) => decay,
            None => math::pow(self.decay[1], idle as f64),
        };
        debug_assert!((0.0..=1.0).contains(&decay), "an average decays by {decay}");
        average.value * decay
    }

    /// Returns the number of slots before `slot` since a UE was last served.
    #[inline]
    fn idle_slots(&self, slot: u64, ue: UeId) -> u64 {
        slot.saturating_sub(self.throughput[ue.index()].slot + 1)
    }

    /// Stores the powers that the candidates of a slot need.
    fn extend_decay(&mut self, view: &SlotView<'_>) {
        let idle = |candidate: &Candidate| self.idle_slots(view.slot, candidate.ue);
        let longest = view.candidates.iter().map(idle).max().unwrap_or(0);
        let step = self.decay[1];
        for n in self.decay.len() as u64..=longest.min(MOST_POWERS) {
            self.decay.push(math::pow(step, n as f64));
        }
    }

    /// Returns the average throughput for the metric, at least a thousandth of a byte per slot.
    /// This minimum keeps the metric finite before the UE's first service. It has no effect
    /// afterwards.
    fn past(&self, slot: u64, ue: UeId) -> f64 {
        self.throughput(slot, ue).max(1e-3)
    }
}

impl MacScheduler for ProportionalFair {
    fn allocate(&mut self, view: &SlotView<'_>, shares: &mut Vec<Share>) {
        self.extend_decay(view);
        let mut metrics = std::mem::take(&mut self.metrics);
        let metric = |index: usize| {
            let candidate = &view.candidates[index];
            candidate.rate / self.past(view.slot, candidate.ue)
        };
        best_first(view, &mut metrics, shares, metric, |_| 0);
        self.metrics = metrics;
    }

    fn weight(&self, slot: u64, ue: UeId) -> Option<f64> {
        Some(1.0 / self.past(slot, ue))
    }

    fn on_served(&mut self, slot: u64, ue: UeId, bytes: u32) {
        let before = self.throughput(slot, ue);
        self.throughput[ue.index()] = Average {
            value: before * self.decay[1] + f64::from(bytes) / self.averaging_slots,
            slot,
        };
        debug_assert!(
            before >= 0.0 && before.is_finite(),
            "a past throughput of {before} bytes per slot"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::scheduler::{BuiltInScheduler, Candidate, MacSchedulerKind, RoundRobin};
    use fadeout_core::random::Stream;
    use fadeout_core::registry::{Parameters, Value};

    /// Returns the mean bytes per slot of each UE, if the first share gets all units. Rates are
    /// exponential with the given means, which models Rayleigh fading with a rate linear in the
    /// SNR.
    fn run(scheduler: &mut impl MacScheduler, means: &[f64], slots: u64) -> Vec<f64> {
        let mut random = Stream::new(7, "rayleigh", 0);
        let mut total = vec![0.0; means.len()];
        let mut shares = Vec::new();
        for slot in 0..slots {
            let candidates: Vec<Candidate> = (0..)
                .map(UeId)
                .zip(means)
                .map(|(ue, &mean)| Candidate {
                    ue,
                    wanted: 1,
                    rate: random.exponential(mean),
                    reported: 1.0,
                })
                .collect();
            let view = SlotView {
                slot,
                units: 1,
                least: 1,
                most_ues: 1,
                candidates: &candidates,
            };
            scheduler.allocate(&view, &mut shares);
            let chosen = shares[0].candidate;
            total[chosen] += candidates[chosen].rate;
            scheduler.on_served(slot, candidates[chosen].ue, candidates[chosen].rate as u32);
        }
        total.iter().map(|bytes| bytes / slots as f64).collect()
    }

    #[test]
    fn the_gain_over_round_robin_is_the_harmonic_sum() {
        // K equal users have a rate linear in an exponential SNR, and t_c is long. The scheduler
        // serves the user with the largest of K draws. The mean of that draw is the common mean
        // times the sum of 1/k for k up to K (D. Tse's multi-user diversity).
        for (users, slots) in [(2_u32, 60_000), (4, 60_000), (8, 60_000)] {
            let means = vec![1e6; users as usize];
            let fair = run(
                &mut ProportionalFair::new(2000.0, users as usize),
                &means,
                slots,
            );
            let blind = run(&mut RoundRobin::default(), &means, slots);
            let gain = fair.iter().sum::<f64>() / blind.iter().sum::<f64>();
            let expected: f64 = (1..=users).map(|k| 1.0 / f64::from(k)).sum();
            // The mean of 60,000 draws has a standard error of 0.4 %. A finite t_c lowers the mean
            // by a share of about users / t_c.
            assert!(
                (gain / expected - 1.0).abs() < 0.02,
                "{gain} beside {expected}"
            );
        }
    }

    #[test]
    fn unequal_users_get_equal_time_and_the_gain_on_their_own_mean() {
        let means = [1e5, 1e6, 1e7];
        let found = run(&mut ProportionalFair::new(2000.0, 3), &means, 120_000);
        for (found, mean) in found.iter().zip(means) {
            // Each user gets a third of the slots, at (1 + 1/2 + 1/3) times its mean.
            let expected = mean * (11.0 / 6.0) / 3.0;
            assert!(
                (found / expected - 1.0).abs() < 0.03,
                "{found} beside {expected}"
            );
        }
    }

    #[test]
    fn the_average_is_over_a_time_whatever_the_slot() {
        let config = ProportionalFairConfig::default();
        for slot_us in [1000, 500, 125] {
            let slot = Span::from_micros(slot_us);
            let mut scheduler = config.start(1, slot);
            // The rate is 8 Mbit/s in each slot of a second. After another 100 ms without data, the
            // average throughput has fallen to 1/e.
            let (slots, bytes) = (1_000_000 / slot_us, slot_us);
            for number in 0..slots {
                scheduler.on_served(number, UeId(0), bytes as u32);
            }
            let full = scheduler.throughput(slots, UeId(0));
            // After ten averaging times the throughput is 1 - e^-10 of the rate.
            assert!((full / bytes as f64 - 1.0).abs() < 1e-4, "{full}");
            let left = scheduler.throughput(slots + slots / 10, UeId(0)) / full;
            // (1 - 1/n)^n is below 1/e by a relative amount of 1/(2n), which is 0.5 % for 100
            // slots.
            assert!((left / math::exp(-1.0) - 1.0).abs() < 0.006, "{left}");
        }
        let kind = "proportional-fair";
        let scheduler_with = |time: u64| {
            let given = (
                "averaging-time".to_owned(),
                Value::Span(Span::from_millis(time)),
            );
            MacSchedulerKind::new(kind, &Parameters(vec![given])).expect(kind)
        };
        let slot = Span::from_millis(1);
        let BuiltInScheduler::ProportionalFair(short) = scheduler_with(0).start(1, slot) else {
            panic!("{kind}");
        };
        assert_eq!(short.averaging_slots, 1.0, "a slot at least");
    }

    #[test]
    fn the_average_decays_in_slots_without_service() {
        let mut scheduler = ProportionalFair::new(100.0, 1);
        scheduler.throughput[0] = Average {
            value: 10.0,
            slot: 9,
        };
        scheduler.on_served(10, UeId(0), 20);
        assert!((scheduler.throughput(11, UeId(0)) - 10.1).abs() < 1e-12);
        let later = scheduler.throughput(11 + 100, UeId(0));
        assert!((later - 10.1 * math::pow(0.99, 100.0)).abs() < 1e-9);
    }
}
