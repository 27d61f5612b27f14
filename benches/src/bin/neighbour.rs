//! A process that fills the cache: it walks over 64 MiB, a cache line each 10 ns, until it is
//! stopped.
//!
//! `tools/bench.py` times programs while it runs on another core.

#![allow(
    clippy::disallowed_methods,
    reason = "it simulates nothing: it keeps pace with the clock of the machine"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

const BYTES: usize = 64 << 20;
const LINE: usize = 64;
const PACE: Duration = Duration::from_nanos(10);
/// Number of lines between two readings of the clock.
const AT_ONCE: u32 = 64;

fn main() {
    let mut memory = vec![1_u8; BYTES];
    let mut place = 0;
    let mut due = Instant::now();
    loop {
        for _ in 0..AT_ONCE {
            memory[place] = memory[place].wrapping_add(1);
            // The stride is an odd number of lines. No prefetcher follows it, and it visits all
            // lines.
            place = (place + 40_503 * LINE) % BYTES;
        }
        black_box(&mut memory);
        due += PACE * AT_ONCE;
        while Instant::now() < due {
            std::hint::spin_loop();
        }
    }
}
