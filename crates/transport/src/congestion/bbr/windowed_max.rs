//! The kernel's estimate of the largest value in a window.

/// The largest value of the last rounds, from three samples: the best, the best since then, and the best
/// since that one (Linux `lib/win_minmax.c`, after K. Nichols). It costs three words, and forgets sooner
/// than an exact window: the second choice is taken anew after a quarter of the window, the third after
/// half of it, so what came before them is lost when the best one leaves.
#[derive(Debug, Clone)]
pub(in super::super) struct WindowedMax {
    /// Best first; each no older than the one before it.
    choices: [Sample; 3],
    length: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    round: u64,
    value: f64,
}

impl WindowedMax {
    /// Of `length` rounds.
    pub(in super::super) fn new(length: u64) -> Self {
        WindowedMax {
            choices: [Sample::default(); 3],
            length,
        }
    }

    /// Takes `value` in `round`, which never goes back.
    pub(in super::super) fn update(&mut self, round: u64, value: f64) {
        let sample = Sample { round, value };
        let [best, second, third] = &mut self.choices;
        if value >= best.value || round - third.round > self.length {
            self.choices = [sample; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (sample, sample);
        } else if value >= third.value {
            *third = sample;
        }
        self.age(sample);
    }

    /// Lets the best go when its window is over, and renews choices that are as old as the one before.
    fn age(&mut self, newest: Sample) {
        let [best, second, third] = &mut self.choices;
        let age = newest.round - best.round;
        if age > self.length {
            self.choices = [*second, *third, newest];
            if newest.round - self.choices[0].round > self.length {
                self.choices = [self.choices[1], newest, newest];
            }
        } else if second.round == best.round && age > self.length / 4 {
            (*second, *third) = (newest, newest);
        } else if third.round == second.round && age > self.length / 2 {
            *third = newest;
        }
    }

    /// The largest, zero before any.
    pub(in super::super) fn max(&self) -> f64 {
        self.choices[0].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_leaves_with_its_window_and_the_second_follows() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100.0);
        for round in 1..=10 {
            filter.update(round, 50.0);
            assert_eq!(filter.max(), 100.0);
        }
        filter.update(11, 40.0);
        assert_eq!(filter.max(), 50.0);
        filter.update(1000, 1.0);
        assert_eq!(filter.max(), 1.0);
    }

    #[test]
    fn what_came_before_the_second_choice_is_forgotten() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100.0);
        // A quarter of the window has not passed: the second choice is still the best itself.
        filter.update(1, 90.0);
        filter.update(3, 60.0);
        filter.update(6, 70.0);
        assert_eq!(filter.max(), 100.0);
        filter.update(11, 50.0);
        assert_eq!(filter.max(), 70.0);
    }
}
