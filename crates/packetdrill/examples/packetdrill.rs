//! Runs packetdrill scripts: `cargo run --release --example packetdrill -- FILE…`.

use fadeout_packetdrill::{Outcome, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut all_passed = true;
    for path in std::env::args().skip(1) {
        let report = match std::fs::read_to_string(&path) {
            Ok(text) => run(&text, &path),
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        };
        println!("{}", report.render());
        for line in &report.output {
            println!("  {line}");
        }
        all_passed &= report.outcome == Outcome::Passed;
    }
    ExitCode::from(u8::from(!all_passed))
}
