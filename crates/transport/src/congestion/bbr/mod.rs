//! BBR: a model of the path, its bandwidth and its round-trip time, sets rate and window.
//!
//! [`v1`] is the kernel's.

mod max_filter;
mod probe_rtt;
mod round;
pub(super) mod v1;
pub(super) mod v3;
mod windowed_max;

use max_filter::MaxFilter;
use probe_rtt::ProbeRttTimer;
use round::Round;
use windowed_max::WindowedMax;
