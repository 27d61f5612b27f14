//! Runs the radio access alone under load. Prints the run time for a simulated second and for a
//! transport block, as a line of JSON.
//!
//! See `USAGE`.

use fadeout_benches::RadioLoad;
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: radio_access mmwave UES SECONDS | lte SECONDS";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
    let (load, seconds) = match words.as_slice() {
        ["mmwave", ues, seconds] => (number(ues).map(RadioLoad::mmwave), number(seconds)),
        ["lte", seconds] => (Some(RadioLoad::lte()), number(seconds)),
        _ => (None, None),
    };
    let (Some(load), Some(seconds)) = (load, seconds) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    println!("{}", measure(load, seconds));
    ExitCode::SUCCESS
}

fn measure(mut load: RadioLoad, seconds: u32) -> serde_json::Value {
    #[allow(
        clippy::disallowed_methods,
        reason = "this measures the machine's time"
    )]
    let start = Instant::now();
    load.run_for(u64::from(seconds) * 1_000_000_000);
    let elapsed = start.elapsed().as_secs_f64();
    let counters = load.counters();
    let (sent, lost) = load.blocks();
    let blocks = sent[0] + sent[1];
    json!({
        "milliseconds_per_simulated_second": elapsed * 1e3 / f64::from(seconds),
        "mbps": load.delivered_bits() as f64 / 1e6 / f64::from(seconds),
        "events": counters.events,
        "slots": counters.slots,
        "blocks": blocks,
        "nanoseconds_per_block": elapsed * 1e9 / blocks as f64,
        "requests": counters.requests,
        "lost_blocks": lost,
        "link_failures": counters.link_failures,
    })
}
