//! Whatever endpoints and radios send, its captures are files that other readers take.

#![no_main]

#[path = "../../crates/record/tests/all/captures/anything.rs"]
mod anything;

libfuzzer_sys::fuzz_target!(|data: &[u8]| anything::check_captures(data));
