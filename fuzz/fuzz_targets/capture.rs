//! Checks that captures of any endpoints and radios are files that other readers accept.

#![no_main]

#[path = "../../crates/record/tests/all/captures/anything.rs"]
mod anything;

libfuzzer_sys::fuzz_target!(|data: &[u8]| anything::check_captures(data));
