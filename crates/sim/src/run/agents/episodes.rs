//! Many episodes side by side, in threads.

use super::Episode;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Episode of several that are stepped together, with its next actions.
#[derive(Debug, Default)]
pub struct Slot {
    /// Episode. `None` before its begin, and after a panic.
    pub episode: Option<Box<Episode>>,
    /// Next action of each agent.
    pub actions: Vec<f64>,
    /// True if the episode takes part in the next step.
    pub is_stepped: bool,
    /// Message of a panic in the latest step. `None` if there was none.
    pub panic: Option<String>,
}

impl Slot {
    fn step(&mut self) {
        let Some(mut episode) = self.episode.take() else {
            return;
        };
        if !self.is_stepped {
            self.episode = Some(episode);
            return;
        }
        let actions = &self.actions;
        // After a panic the episode is dropped, so no broken state is used again.
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            episode.step(actions);
            episode
        }));
        match stepped {
            Ok(episode) => self.episode = Some(episode),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                self.panic = Some(text.unwrap_or("a panic without a message").to_owned());
            }
        }
    }
}

/// Part of the slots, with its number.
type Job = (usize, Vec<Slot>);

/// Episodes that are stepped together. The order of the threads does not affect results, because
/// episodes share nothing. A step allocates no memory outside of the simulations.
#[derive(Debug)]
pub struct Episodes {
    /// Slots in order, one part for each thread.
    parts: Vec<Vec<Slot>>,
    /// Number of slots in a part. The last part may have fewer.
    share: usize,
    /// Threads for all parts but the first, which the caller's thread steps.
    pool: Pool,
}

/// Threads that step slots.
#[derive(Debug)]
struct Pool {
    jobs: Vec<SyncSender<Job>>,
    done: Receiver<Job>,
    threads: Vec<JoinHandle<()>>,
}

impl Episodes {
    /// Creates empty slots for `count` episodes of `agents` agents, which `threads` threads step.
    /// The caller's thread is one of them.
    pub fn new(count: usize, agents: usize, threads: usize) -> Episodes {
        let slot = |_| Slot {
            actions: vec![0.0; agents],
            ..Slot::default()
        };
        let share = count.div_ceil(threads.max(1)).max(1);
        let firsts = (0..count).step_by(share);
        let parts = firsts.map(|first| (first..count.min(first + share)).map(slot).collect());
        let parts: Vec<Vec<Slot>> = parts.collect();
        Episodes {
            pool: Pool::new(parts.len().saturating_sub(1)),
            parts,
            share,
        }
    }

    /// Returns the number of slots.
    pub fn count(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Returns the slots in order.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.parts.iter().flatten()
    }

    /// Returns the slots in order, for changes.
    pub fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.parts.iter_mut().flatten()
    }

    /// Returns the slot with a number.
    pub fn slot_mut(&mut self, place: usize) -> &mut Slot {
        &mut self.parts[place / self.share][place % self.share]
    }

    /// Steps the episodes that take part.
    pub fn step(&mut self) {
        let Some((first, others)) = self.parts.split_first_mut() else {
            return;
        };
        for (number, (part, jobs)) in others.iter_mut().zip(&self.pool.jobs).enumerate() {
            let job = (number, std::mem::take(part));
            jobs.send(job).expect("a thread lives as long as its pool");
        }
        first.iter_mut().for_each(Slot::step);
        for _ in 0..others.len() {
            let (number, part) = self.pool.done.recv().expect("each job is finished");
            others[number] = part;
        }
    }
}

impl Pool {
    fn new(count: usize) -> Pool {
        let (finished, done) = sync_channel::<Job>(count);
        let mut jobs = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..count {
            let (sender, receiver) = sync_channel::<Job>(1);
            let finished = finished.clone();
            jobs.push(sender);
            threads.push(thread::spawn(move || {
                while let Ok((number, mut slots)) = receiver.recv() {
                    slots.iter_mut().for_each(Slot::step);
                    if finished.send((number, slots)).is_err() {
                        return;
                    }
                }
            }));
        }
        Pool {
            jobs,
            done,
            threads,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs.clear();
        for thread in self.threads.drain(..) {
            // A thread ends when no job can arrive. A panic in it was reported already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_its_place_for_every_number_of_threads() {
        for (count, threads) in [(1, 1), (5, 1), (5, 2), (5, 3), (5, 9), (7, 4)] {
            let mut episodes = Episodes::new(count, 1, threads);
            for place in 0..count {
                episodes.slot_mut(place).actions[0] = place as f64;
            }
            episodes.step();
            let found: Vec<f64> = episodes.slots().map(|slot| slot.actions[0]).collect();
            let expected: Vec<f64> = (0..count).map(|place| place as f64).collect();
            assert_eq!(found, expected, "{threads} threads");
            assert_eq!(episodes.count(), count);
            assert!(episodes.pool.threads.len() < threads);
        }
    }
}
