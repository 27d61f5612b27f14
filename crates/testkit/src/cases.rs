//! Number and seed of the cases of a random test, and the replay of a failing case.
//!
//! Every random test has two numbers of cases: its own, and a larger one that `make soak` sets by
//! `FADEOUT_CASES`. The seed comes from `FADEOUT_SEED`, so that a test takes the same cases in each
//! run unless this variable is set.

use proptest::test_runner::{Config, FailurePersistence, PersistedSeed, RngSeed};
use std::any::Any;
use std::fmt::Debug;

const CASES: &str = "FADEOUT_CASES";
const SEED: &str = "FADEOUT_SEED";

/// The cases of a random test. Each case has a seed.
///
/// ```
/// use fadeout_testkit::Cases;
/// let mut seeds = Vec::new();
/// Cases::new(100).run(|seed| seeds.push(seed));
/// assert_eq!(seeds.len() as u64, Cases::new(100).count());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cases {
    first: u64,
    count: u64,
    usual: u64,
}

impl Cases {
    /// Returns as many cases as `FADEOUT_CASES` says, or `usual` cases without it. The first seed
    /// is that of `FADEOUT_SEED`, or zero without it.
    ///
    /// # Panics
    /// Panics if a variable is not a whole number.
    pub fn new(usual: u64) -> Cases {
        Cases {
            first: variable(SEED).unwrap_or(0),
            count: variable(CASES).unwrap_or(usual),
            usual,
        }
    }

    /// Keeps only the first `most` cases of a usual run, for tests whose cases take seconds.
    ///
    /// `make soak` still runs its own number. Such a shortened run is not
    /// [complete](Cases::is_whole), so claims on the frequency of an event are checked only in the
    /// soak.
    #[must_use]
    pub fn first(mut self, most: u64) -> Cases {
        if variable(CASES).is_none() {
            self.count = self.count.min(most);
        }
        self
    }

    /// Returns the number of cases.
    pub fn count(self) -> u64 {
        self.count
    }

    /// True if there are at least as many cases as usual, so that a test may require that it has
    /// seen every situation.
    pub fn is_whole(self) -> bool {
        self.count >= self.usual
    }

    /// True if a single case is replayed, so that a test may print its steps.
    pub fn is_replay(self) -> bool {
        self.count == 1
    }

    /// Divides the cases among `parts` tests, rounded up.
    #[must_use]
    pub fn among(self, parts: usize) -> Cases {
        let part = |count: u64| count.div_ceil(parts.max(1) as u64);
        Cases {
            first: self.first,
            count: part(self.count),
            usual: part(self.usual),
        }
    }

    /// Calls `case` with each seed. If it panics, prints the line that runs this seed alone.
    pub fn run(self, mut case: impl FnMut(u64)) {
        for n in 0..self.count {
            let replay = Replay {
                seed: self.first.wrapping_add(n),
                cases: 1,
            };
            case(replay.seed);
            std::mem::forget(replay);
        }
    }

    /// Returns the configuration of a `proptest!` block with these cases. All cases are drawn from
    /// one seed, and no file is written. For a failing case, proptest prints its smallest form and
    /// the line that repeats the test up to this case.
    ///
    /// ```
    /// use fadeout_testkit::Cases;
    /// use proptest::prelude::*;
    /// proptest! {
    ///     #![proptest_config(Cases::new(1000).proptest())]
    ///     // A test has #[test] here.
    ///     fn a_square_is_not_negative(x in -1e3..1e3_f64) {
    ///         prop_assert!(x * x >= 0.0);
    ///     }
    /// }
    /// a_square_is_not_negative();
    /// ```
    pub fn proptest(self) -> Config {
        let cases = u32::try_from(self.count).unwrap_or(u32::MAX);
        let replay = Replay {
            seed: self.first,
            cases: self.count,
        };
        Config {
            cases,
            // The default limits of proptest are for 256 cases.
            max_global_rejects: cases.saturating_mul(16).max(1024),
            max_local_rejects: cases.saturating_mul(256).max(65_536),
            rng_seed: RngSeed::Fixed(self.first),
            failure_persistence: Some(Box::new(PrintReplay(replay.line()))),
            ..Config::default()
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
}

/// Seed and number of cases that repeat a case. It prints its line when it is dropped, but not when
/// it is forgotten.
struct Replay {
    seed: u64,
    cases: u64,
}

impl Replay {
    fn line(&self) -> String {
        let Replay { seed, cases } = self;
        // Cargo sets the name of the package, and the test harness names threads after their tests.
        let package = std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "PACKAGE".to_owned());
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("TEST");
        format!(
            "replay with: {SEED}={seed} {CASES}={cases} cargo test -p {package} {test} -- --nocapture"
        )
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        eprintln!("{}", self.line());
    }
}

/// Prints a line where proptest would write the seed of a failure to a file.
#[derive(Debug, Clone, PartialEq)]
struct PrintReplay(String);

impl FailurePersistence for PrintReplay {
    fn load_persisted_failures2(&self, _source_file: Option<&'static str>) -> Vec<PersistedSeed> {
        Vec::new()
    }
    fn save_persisted_failure2(
        &mut self,
        _source_file: Option<&'static str>,
        _seed: PersistedSeed,
        _shrunken_value: &dyn Debug,
    ) {
        eprintln!("{}", self.0);
    }
    fn box_clone(&self) -> Box<dyn FailurePersistence> {
        Box::new(self.clone())
    }
    fn eq(&self, other: &dyn FailurePersistence) -> bool {
        other.as_any().downcast_ref::<Self>() == Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The tests of a process share the environment variables, so only facts that do not depend on
    // them are checked.

    #[test]
    fn the_cases_have_the_seeds_that_follow_the_first() {
        let cases = Cases {
            first: 7,
            count: 3,
            usual: 3,
        };
        let mut seeds = Vec::new();
        cases.run(|seed| seeds.push(seed));
        assert_eq!(seeds, [7, 8, 9]);
        assert_eq!(cases.among(2).count(), 2);
        assert!(cases.is_whole() && !cases.is_replay());
    }

    #[test]
    fn a_case_that_panics_says_the_line_that_runs_it_alone() {
        let replay = Replay { seed: 42, cases: 1 };
        let line = replay.line();
        std::mem::forget(replay);
        assert!(
            line.contains("FADEOUT_SEED=42 FADEOUT_CASES=1 cargo test -p fadeout-testkit"),
            "{line}"
        );
        assert!(
            line.contains("a_case_that_panics_says_the_line_that_runs_it_alone"),
            "{line}"
        );
    }

    #[test]
    fn the_same_seed_draws_the_same_cases() {
        use proptest::strategy::{Strategy, ValueTree};
        use proptest::test_runner::TestRunner;
        let draws = || -> Vec<u64> {
            let mut runner = TestRunner::new(Cases::new(10).proptest());
            let draw = |_| {
                let tree = proptest::num::u64::ANY.new_tree(&mut runner);
                tree.expect("any number will do").current()
            };
            (0..10).map(draw).collect()
        };
        assert_eq!(draws(), draws());
    }
}
