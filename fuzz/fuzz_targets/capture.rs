//! Checks that other readers accept the captures of arbitrary endpoints and radios.

#![no_main]

#[path = "../../crates/record/tests/all/captures/anything.rs"]
mod anything;

libfuzzer_sys::fuzz_target!(|data: &[u8]| anything::check_captures(data));
