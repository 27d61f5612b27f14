//! Numbers that several rows share.

/// Returns the mean of `count` values with the sum `sum`. `None` without values.
pub(super) fn mean(sum: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| sum / count)
}

/// Returns the mean rate of `bytes` over `seconds`, Mbit/s. The rate is zero if `seconds` is zero.
pub(super) fn rate_mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds / 1e6
    } else {
        0.0
    }
}
