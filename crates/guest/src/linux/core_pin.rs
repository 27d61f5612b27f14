//! The processor core for all guests of a run, which is that of the thread that controls them.
//!
//! Either the thread or one of the guests runs at any time, and control changes several times for
//! each packet. Waking a process on another core would cost more than TCP does for the packet. A
//! guest that is woken must not interrupt the thread either, because the thread has more messages
//! to send.

use super::Guest;
use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::fs;

/// Number of rounds after which another core may be chosen, about one second.
const ROUNDS_ON_CORE: u32 = 30_000;

/// Guard that keeps a thread and its guests on one processor core until the guard is dropped.
#[derive(Debug)]
pub struct CorePin {
    thread: Pid,
    /// Cores that the thread was allowed to use before.
    allowed: CpuSet,
    processor: usize,
    rounds: u32,
    /// True while the thread may be woken on any core.
    is_free: bool,
}

impl CorePin {
    /// Keeps the calling thread on its current core. `None` if the machine does not allow it.
    pub fn pin_thread() -> Option<CorePin> {
        let allowed = sched_getaffinity(None).ok()?;
        let processor = sched_getcpu();
        if allowed.count() < 2 || processor >= CpuSet::MAX_CPU {
            return None;
        }
        sched_setaffinity(None, &only(processor)).ok()?;
        set_policy(0, libc::SCHED_BATCH);
        Some(CorePin {
            thread: gettid(),
            allowed,
            processor,
            rounds: 0,
            is_free: false,
        })
    }

    /// Must be called each time before a guest runs. From time to time the thread may use any core
    /// for one round, so that the system wakes it on an idle one. It then stays on this core, and
    /// the guests follow.
    pub fn update_core<'a>(&mut self, guests: impl Iterator<Item = &'a Guest>) {
        self.rounds += 1;
        if self.is_free {
            self.is_free = false;
            let processor = sched_getcpu();
            let _ = sched_setaffinity(Some(self.thread), &only(processor));
            if processor != self.processor {
                self.processor = processor;
                guests.for_each(|guest| move_all(guest.process_id(), &only(processor)));
            }
        } else if self.rounds >= ROUNDS_ON_CORE && gettid() == self.thread {
            self.rounds = 0;
            self.is_free = sched_setaffinity(None, &self.allowed).is_ok();
        }
    }
}

impl Drop for CorePin {
    fn drop(&mut self) {
        let _ = sched_setaffinity(Some(self.thread), &self.allowed);
        set_policy(self.thread.as_raw_nonzero().get(), libc::SCHED_OTHER);
    }
}

/// Sets the scheduling policy of a thread, which decides if it interrupts others when it is woken.
/// Errors are ignored.
fn set_policy(thread: i32, policy: i32) {
    // The structure has more fields on some systems.
    #[allow(unsafe_code, reason = "there is no safe call of it")]
    // SAFETY: zero is valid for all fields of this structure, and the call only reads it.
    unsafe {
        let parameters: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(thread, policy, &raw const parameters);
    }
}

fn only(processor: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(processor);
    set
}

/// Moves a process and all its descendants to other cores.
fn move_all(process: Pid, to: &CpuSet) {
    let _ = sched_setaffinity(Some(process), to);
    let number = process.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
    for child in children.unwrap_or_default().split_whitespace() {
        if let Some(child) = child.parse().ok().and_then(Pid::from_raw) {
            move_all(child, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_held_and_let_go_again() {
        let before = sched_getaffinity(None).expect("there is a set");
        if before.count() < 2 {
            return;
        }
        let mut pin = CorePin::pin_thread().expect("there is a choice");
        assert_eq!(sched_getaffinity(None).expect("a set").count(), 1);
        pin.rounds = ROUNDS_ON_CORE;
        pin.update_core(std::iter::empty());
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
        pin.update_core(std::iter::empty());
        assert_eq!(sched_getaffinity(None).expect("a set").count(), 1);
        drop(pin);
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
    }
}
