//! Checks that any text is a script that passes, fails, is refused or is wrong. None causes a panic
//! or hangs.

#![no_main]

use fadeout_packetdrill::{Outcome, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let report = run(text, "fuzz.pkt");
    assert_eq!(report.outcome == Outcome::Passed, report.line.is_none());
    let _ = report.to_json();
});
