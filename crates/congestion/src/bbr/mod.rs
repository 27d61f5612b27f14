//! BBR: congestion control that sets rate and window from a model of the path's bandwidth and
//! round-trip time.
//!
//! [`v1`] is the version of the Linux kernel, [`v3`] that of the Internet-Draft.

mod max_filter;
mod probe_rtt;
mod round;
pub(super) mod v1;
pub(super) mod v3;
mod windowed_max;

use max_filter::MaxFilter;
use probe_rtt::ProbeRttTimer;
use round::RoundCounter;
use windowed_max::WindowedMax;

/// Smallest window, in segments.
const MIN_WINDOW: f64 = 4.0;
/// Window at the start of a connection, in segments (TCP_INIT_CWND).
const INITIAL_WINDOW: f64 = 10.0;
/// Number of microseconds in a second.
const USEC: f64 = 1e6;
