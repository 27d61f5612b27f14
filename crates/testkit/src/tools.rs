//! Programs that a test needs and that a machine may lack.

/// Environment variable that turns a skipped test into a failure. `.ci/run` sets it.
const REQUIRED: &str = "FADEOUT_REQUIRE_TOOLS";

/// Prints that a test is skipped because `tool` is not installed.
///
/// # Panics
/// Panics if `FADEOUT_REQUIRE_TOOLS` is set, because no other machine would make the check.
pub fn skip_without(tool: &str) {
    assert!(
        std::env::var_os(REQUIRED).is_none(),
        "{tool} is not installed, and {REQUIRED} forbids to skip this test"
    );
    eprintln!("skipped: {tool} is not installed");
}
