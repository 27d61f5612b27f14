//! A counter that lets threads wait until other threads have incremented it.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Number of times that a thread checks the counter before it sleeps. The checks take some 10 to 50
/// µs, about as long as waking a thread.
const CHECKS_BEFORE_SLEEP: u32 = 4_000;

/// A counter that threads wait for.
#[derive(Debug, Default)]
pub(super) struct Gate {
    value: AtomicU64,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Gate {
    /// Increments the counter and wakes waiting threads. A thread that sees the new value also sees
    /// all earlier writes.
    pub(super) fn add(&self) {
        {
            let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.value.fetch_add(1, Ordering::Release);
        }
        self.changed.notify_all();
    }

    /// Waits until the counter is at least `least`.
    pub(super) fn wait_for(&self, least: u64) {
        let is_there = || self.value.load(Ordering::Acquire) >= least;
        for _ in 0..CHECKS_BEFORE_SLEEP {
            if is_there() {
                return;
            }
            spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_there() {
            let woken = self.changed.wait(guard);
            guard = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_sees_what_was_written_before() {
        let (gate, written) = (Gate::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=1_000 {
                    written.store(number, Ordering::Relaxed);
                    gate.add();
                }
            });
            for number in 1..=1_000 {
                gate.wait_for(number);
                assert!(written.load(Ordering::Relaxed) >= number);
            }
        });
    }
}
