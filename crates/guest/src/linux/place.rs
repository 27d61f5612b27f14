//! The processor on which the guests of a run compute: that of the thread which tells them the time.
//!
//! Of them and that thread one computes at a time, and hands over several times for each packet. To wake
//! a process on another processor costs more than TCP does with the packet. Nor is one that is told
//! something to interrupt who tells it: that has more to tell.

use super::Guest;
use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::fs;

/// After how many rounds another processor may be taken: about a second.
const STAY: u32 = 30_000;

/// Holds a thread and the guests that it starts on one processor, until it is dropped.
#[derive(Debug)]
pub struct Place {
    thread: Pid,
    /// Where the thread was allowed to be.
    allowed: CpuSet,
    processor: usize,
    rounds: u32,
    /// Whether the thread may be woken anywhere at present.
    is_free: bool,
}

impl Place {
    /// Holds this thread where it is; none where the machine does not allow it.
    pub fn take() -> Option<Place> {
        let allowed = sched_getaffinity(None).ok()?;
        let processor = sched_getcpu();
        if allowed.count() < 2 || processor >= CpuSet::MAX_CPU {
            return None;
        }
        sched_setaffinity(None, &only(processor)).ok()?;
        set_policy(0, libc::SCHED_BATCH);
        Some(Place {
            thread: gettid(),
            allowed,
            processor,
            rounds: 0,
            is_free: false,
        })
    }

    /// To be called each time before a guest runs. From time to time the thread is let free for one round,
    /// so that it is woken on a processor that is idle, if there is one; then it stays there, and the
    /// guests follow.
    pub fn look<'a>(&mut self, guests: impl Iterator<Item = &'a Guest>) {
        self.rounds += 1;
        if self.is_free {
            self.is_free = false;
            let processor = sched_getcpu();
            let _ = sched_setaffinity(Some(self.thread), &only(processor));
            if processor != self.processor {
                self.processor = processor;
                guests.for_each(|guest| move_all(guest.process_id(), &only(processor)));
            }
        } else if self.rounds >= STAY && gettid() == self.thread {
            self.rounds = 0;
            self.is_free = sched_setaffinity(None, &self.allowed).is_ok();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = sched_setaffinity(Some(self.thread), &self.allowed);
        set_policy(self.thread.as_raw_nonzero().get(), libc::SCHED_OTHER);
    }
}

/// Whether a thread may interrupt another when it is woken; none that cannot be set is an error.
fn set_policy(thread: i32, policy: i32) {
    // Some systems have more fields.
    #[allow(unsafe_code, reason = "there is no safe call of it")]
    // SAFETY: a structure of numbers, for which zero is right, and a call that reads it.
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

/// Moves a process and all below it.
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
        let mut place = Place::take().expect("there is a choice");
        assert_eq!(sched_getaffinity(None).expect("a set").count(), 1);
        place.rounds = STAY;
        place.look(std::iter::empty());
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
        place.look(std::iter::empty());
        assert_eq!(sched_getaffinity(None).expect("a set").count(), 1);
        drop(place);
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
    }
}
