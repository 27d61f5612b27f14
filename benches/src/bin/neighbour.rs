//! Process that fills the cache: it reads a cache line of 64 MiB every 10 ns until it is stopped.
//!
//! `tools/bench.py` measures programs while this process runs on another core.

#![allow(
    clippy::disallowed_methods,
    reason = "it simulates nothing: it keeps pace with the clock of the machine"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

const BYTES: usize = 64 << 20;
const LINE: usize = 64;
const PACE: Duration = Duration::from_nanos(10);
/// Number of cache lines between two readings of the clock.
const AT_ONCE: u32 = 64;

fn main() {
    let mut memory = vec![1_u8; BYTES];
    let mut place = 0;
    let mut due = Instant::now();
    loop {
        for _ in 0..AT_ONCE {
            memory[place] = memory[place].wrapping_add(1);
            // The stride is an odd number of cache lines. So it visits all lines, and no prefetcher
            // can follow it.
            place = (place + 40_503 * LINE) % BYTES;
        }
        black_box(&mut memory);
        due += PACE * AT_ONCE;
        while Instant::now() < due {
            std::hint::spin_loop();
        }
    }
}
