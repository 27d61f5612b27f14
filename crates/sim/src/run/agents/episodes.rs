//! Many episodes side by side, in threads.

use super::Episode;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
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

/// Slots that a thread steps, beginning with the number of the first one.
type Job = (usize, Vec<Slot>);

/// Episodes that are stepped together. The order of the threads does not affect results, because
/// episodes share nothing.
#[derive(Debug)]
pub struct Episodes {
    /// Slots in order.
    slots: Vec<Slot>,
    pool: Option<Pool>,
}

/// Threads that step slots.
#[derive(Debug)]
struct Pool {
    jobs: Vec<Sender<Job>>,
    done: Receiver<Job>,
    threads: Vec<JoinHandle<()>>,
}

impl Episodes {
    /// Creates empty slots for `count` episodes of `agents` agents, which `threads` threads step.
    /// With one thread, the caller's thread steps them.
    pub fn new(count: usize, agents: usize, threads: usize) -> Episodes {
        let slot = || Slot {
            actions: vec![0.0; agents],
            ..Slot::default()
        };
        let threads = threads.min(count);
        Episodes {
            slots: (0..count).map(|_| slot()).collect(),
            pool: (threads > 1).then(|| Pool::new(threads)),
        }
    }

    /// Returns the slots in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the slots in order, for changes.
    pub fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// Steps the episodes that take part.
    pub fn step(&mut self) {
        match &self.pool {
            None => self.slots.iter_mut().for_each(Slot::step),
            Some(pool) => pool.step(&mut self.slots),
        }
    }
}

impl Pool {
    fn new(count: usize) -> Pool {
        let (finished, done) = channel::<Job>();
        let mut jobs = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..count {
            let (sender, receiver) = channel::<Job>();
            let finished = finished.clone();
            jobs.push(sender);
            threads.push(thread::spawn(move || {
                while let Ok((first, mut slots)) = receiver.recv() {
                    slots.iter_mut().for_each(Slot::step);
                    if finished.send((first, slots)).is_err() {
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

    /// Steps all slots. Each thread gets consecutive slots.
    fn step(&self, slots: &mut Vec<Slot>) {
        let share = slots.len().div_ceil(self.jobs.len());
        let mut rest = std::mem::take(slots);
        let mut parts: Vec<Vec<Slot>> = Vec::new();
        while !rest.is_empty() {
            let later = rest.split_off(share.min(rest.len()));
            parts.push(std::mem::replace(&mut rest, later));
        }
        let count = parts.len();
        for ((number, part), jobs) in parts.into_iter().enumerate().zip(&self.jobs) {
            jobs.send((number, part))
                .expect("a thread waits for jobs as long as its pool exists");
        }
        let mut finished: Vec<Option<Vec<Slot>>> = (0..count).map(|_| None).collect();
        for _ in 0..count {
            let (number, part) = self.done.recv().expect("each job is finished");
            finished[number] = Some(part);
        }
        slots.extend(finished.into_iter().flatten().flatten());
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
