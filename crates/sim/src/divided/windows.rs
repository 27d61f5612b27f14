//! Parallel simulation of worlds in time windows. The method is conservative synchronous
//! simulation, and the length of a window is the lookahead.
//!
//! In each window a world accepts the packets from other worlds and processes its events. Then it
//! hands over the packets that reach other worlds by the end of the next window. Each of these
//! packets has already left its transmitter, because every link between worlds has a delay of at
//! least the lookahead. So the results do not depend on the thread that runs a world, or on the
//! order of the worlds within a window.

use super::gate::Gate;
use crate::run::Control;
use crate::world::{Mail, World, hand_over, take_over, work};
use fadeout_core::{Probe, Span, Time};
use std::any::Any;
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The worlds, the packets between them, and the current window.
#[derive(Debug)]
pub(super) struct Windows<P> {
    worlds: Vec<Mutex<World<P>>>,
    /// Report of each world at the end of its latest window.
    reports: Vec<Report>,
    /// Packets between worlds. The index consists of the parity of the window in which they were
    /// handed over, the receiving world, and the sending world.
    mail: Vec<Mutex<Vec<Mail>>>,
    lookahead: Span,
    end: Time,
    /// Earliest start of the next window.
    start: Time,
    window: Window,
}

/// Report of a world at the end of a window.
#[derive(Debug)]
struct Report {
    /// Earliest time of the world's own next event and of the arrival of its packets in other
    /// worlds, nanoseconds.
    next_at: AtomicU64,
    /// Number of events that the world has processed so far, as a measure of its work.
    work: AtomicU64,
    events: AtomicU64,
    packets: AtomicU64,
}

/// The current window of all worlds.
#[derive(Debug)]
struct Window {
    /// Number of the window.
    number: AtomicU64,
    /// Last instant of the window, nanoseconds.
    until: AtomicU64,
    /// The worlds in the order in which threads start to simulate them. The world with the most
    /// work is first.
    order: Vec<AtomicUsize>,
    /// Number of worlds that threads have started to simulate in the current window.
    taken: AtomicUsize,
    /// Number of windows opened so far.
    opened: Gate,
    /// Number of times that a thread has finished a window, over the whole run.
    done: Gate,
    is_over: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Work of a world in the latest window.
#[derive(Debug, Clone, Default)]
struct Latest {
    index: usize,
    cost: u64,
    /// Total number of events that the world has processed so far.
    work: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Probe + Send> Windows<P> {
    /// Creates the simulation of `worlds` until `end`. Every link between two worlds has a delay of
    /// at least `lookahead`.
    pub(super) fn new(worlds: Vec<World<P>>, lookahead: Span, end: Time) -> Windows<P> {
        let report = |world: &World<P>| Report {
            next_at: AtomicU64::new(world.next_at().unwrap_or(Time::NEVER).as_nanos()),
            work: AtomicU64::new(0),
            events: AtomicU64::new(0),
            packets: AtomicU64::new(0),
        };
        let count = worlds.len();
        Windows {
            reports: worlds.iter().map(report).collect(),
            worlds: worlds.into_iter().map(Mutex::new).collect(),
            mail: (0..2 * count * count).map(|_| Mutex::default()).collect(),
            lookahead,
            end,
            start: Time::ZERO,
            window: Window {
                number: AtomicU64::new(0),
                until: AtomicU64::new(0),
                order: (0..count).map(AtomicUsize::new).collect(),
                taken: AtomicUsize::new(0),
                opened: Gate::default(),
                done: Gate::default(),
                is_over: AtomicBool::new(false),
                panic: Mutex::new(None),
            },
        }
    }

    /// Simulates to the end on a number of threads, or until `check` returns [`Control::Stop`]. The
    /// calling thread is one of the threads, and it calls `check` after each window. Returns true
    /// if the end was reached.
    ///
    /// # Panics
    /// Panics if the simulation of a world panics.
    pub(super) fn run(&mut self, threads: usize, check: &mut dyn FnMut(&Self) -> Control) -> bool {
        let others = threads.clamp(1, self.worlds.len()) - 1;
        let mut start = self.start;
        let mut latest = vec![Latest::default(); self.worlds.len()];
        for (index, world) in latest.iter_mut().enumerate() {
            world.index = index;
        }
        let this = &*self;
        let is_whole = std::thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| this.help());
            }
            let mut opened = 0;
            let is_whole = loop {
                let Some(until) = this.open(start, &mut latest) else {
                    break true;
                };
                opened += 1;
                this.window.opened.add();
                this.take_part();
                this.window.done.wait_for(opened * others as u64);
                start = until.saturating_add(Span::from_nanos(1));
                if lock(&this.window.panic).is_some() || check(this) == Control::Stop {
                    break false;
                }
            };
            this.window.is_over.store(true, Ordering::Relaxed);
            this.window.opened.add();
            is_whole
        });
        if let Some(panic) = lock(&self.window.panic).take() {
            resume_unwind(panic);
        }
        self.start = start;
        if is_whole {
            for world in &self.worlds {
                // No event is left, so the call only advances the time to the end.
                let is_left = lock(world).run(self.end, u64::MAX);
                debug_assert!(!is_left);
            }
        }
        is_whole
    }

    /// Opens the next window. The window begins with the next event and is as long as the
    /// lookahead. Returns the last instant of the window. `None` if no event is left.
    fn open(&self, start: Time, latest: &mut [Latest]) -> Option<Time> {
        let next_at = |report: &Report| report.next_at.load(Ordering::Relaxed);
        let next = self.reports.iter().map(next_at).min()?;
        let start = start.max(Time::from_nanos(next));
        if start > self.end {
            return None;
        }
        let last = self.lookahead.saturating_sub(Span::from_nanos(1));
        let until = start.saturating_add(last).min(self.end);
        debug_assert!(start <= until, "a window from {start} to {until}");
        let window = &self.window;
        window.until.store(until.as_nanos(), Ordering::Relaxed);
        window.number.fetch_add(1, Ordering::Relaxed);
        // The work of a world in the latest window is the best estimate of its work in the next
        // window.
        for world in latest.iter_mut() {
            let work = self.reports[world.index].work.load(Ordering::Relaxed);
            world.cost = work - std::mem::replace(&mut world.work, work);
        }
        latest.sort_unstable_by_key(|world| (Reverse(world.cost), world.index));
        for (place, world) in window.order.iter().zip(latest.iter()) {
            place.store(world.index, Ordering::Relaxed);
        }
        window.taken.store(0, Ordering::Relaxed);
        Some(until)
    }

    /// Simulates worlds in each window. Runs on a thread of its own.
    fn help(&self) {
        for number in 1.. {
            self.window.opened.wait_for(number);
            if self.window.is_over.load(Ordering::Relaxed) {
                return;
            }
            self.take_part();
            self.window.done.add();
        }
    }

    /// Runs worlds through the current window until none is left.
    fn take_part(&self) {
        while let Some(world) = {
            let taken = self.window.taken.fetch_add(1, Ordering::Relaxed);
            self.window.order.get(taken)
        } {
            let index = world.load(Ordering::Relaxed);
            // A panic is caught here. Otherwise the other threads would wait forever for the
            // panicking thread.
            let step = catch_unwind(AssertUnwindSafe(|| self.run_world(index)));
            if let Err(panic) = step {
                lock(&self.window.panic).get_or_insert(panic);
            }
        }
    }

    /// Runs one world through the current window.
    fn run_world(&self, index: usize) {
        let number = self.window.number.load(Ordering::Relaxed);
        let until = Time::from_nanos(self.window.until.load(Ordering::Relaxed));
        let world = &mut *lock(&self.worlds[index]);
        for from in 0..self.worlds.len() {
            take_over(world, &mut lock(self.mail(number + 1, index, from)));
        }
        debug_assert!(world.now() <= until, "a world is ahead of its window");
        while world.run(until, u64::MAX) {}
        let handed = until.saturating_add(self.lookahead).min(self.end);
        let (arrives_at, later_at) = hand_over(world, handed, |to, mail| {
            lock(self.mail(number, to, index)).push(mail);
        });
        let report = &self.reports[index];
        let own = world.next_at().unwrap_or(Time::NEVER).min(arrives_at);
        // The next packet that has not been handed over limits the next window. The packet must be
        // handed over in a window that ends before the packet arrives.
        let later = match later_at.is_never() {
            true => later_at,
            false => later_at.saturating_sub(self.lookahead),
        };
        let next_at = own.min(later).as_nanos();
        report.next_at.store(next_at, Ordering::Relaxed);
        report.work.store(work(world), Ordering::Relaxed);
        report.events.store(world.events(), Ordering::Relaxed);
        report
            .packets
            .store(world.delivered_packets(), Ordering::Relaxed);
    }

    /// Returns the packets from one world to another that were handed over in window `number`.
    fn mail(&self, number: u64, to: usize, from: usize) -> &Mutex<Vec<Mail>> {
        let parity = (number % 2) as usize;
        let count = self.worlds.len();
        &self.mail[(parity * count + to) * count + from]
    }

    /// Returns the last instant of the latest window.
    pub(super) fn now(&self) -> Time {
        Time::from_nanos(self.window.until.load(Ordering::Relaxed))
    }

    /// Returns the number of events processed, and of packets that reached an endpoint.
    pub(super) fn progress(&self) -> (u64, u64) {
        let sum = |of: fn(&Report) -> &AtomicU64| {
            let values = self
                .reports
                .iter()
                .map(|one| of(one).load(Ordering::Relaxed));
            values.sum()
        };
        (sum(|it| &it.events), sum(|it| &it.packets))
    }

    /// Calls `visit` for each world between two windows.
    pub(super) fn each(&self, mut visit: impl FnMut(&mut World<P>)) {
        self.worlds.iter().for_each(|world| visit(&mut lock(world)));
    }

    /// Returns the parts of the simulation ([`World`]) at the end of a run.
    pub(super) fn into_worlds(self) -> Vec<World<P>> {
        let worlds = self.worlds.into_iter();
        let inner = worlds.map(|world| world.into_inner().unwrap_or_else(PoisonError::into_inner));
        inner.collect()
    }
}
