//! Checks that arbitrary text as a script passes, fails, is refused or is malformed. No script
//! causes a panic or runs without end.

#![no_main]

use fadeout_packetdrill::{Outcome, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let report = run(text, "fuzz.pkt");
    assert_eq!(report.outcome == Outcome::Passed, report.line.is_none());
    let _ = report.to_json();
});
