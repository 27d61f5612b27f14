//! Programs that a test needs and a machine may lack.

/// Environment variable that forbids tests to be skipped for want of a tool. `.ci/run` sets it.
const REQUIRED: &str = "FADEOUT_REQUIRE_TOOLS";

/// Says that a test is skipped because `tool` is not installed.
///
/// # Panics
/// Panics where `FADEOUT_REQUIRE_TOOLS` is set: a check that is skipped there is not made at all.
pub fn skip_without(tool: &str) {
    assert!(
        std::env::var_os(REQUIRED).is_none(),
        "{tool} is not installed, and {REQUIRED} forbids to skip this test"
    );
    eprintln!("skipped: {tool} is not installed");
}
