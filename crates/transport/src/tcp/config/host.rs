//! Calls of the application, and the division of its data into packets by the host.

use fadeout_core::Rate;

/// Rules for the calls of the application, and for the division of its data into packets by the
/// host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostConfig {
    /// True if small segments wait for outstanding data (Nagle, RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// True if an application that writes and closes before the connection is established does
    /// both in one call. The last data segment then carries the FIN.
    pub fin_with_data: bool,
    /// True if the connecting end opens the connection by Fast Open with a known cookie (RFC 7413).
    pub fast_open: bool,
    /// Rule for the spacing of segments in time.
    pub pacing: Pacing,
    /// Upper bound of the pacing rate (`SO_MAX_PACING_RATE`).
    pub maximum_pacing_rate: Rate,
    /// True if the sender gathers data for a segmentation-offload burst of about a millisecond
    /// (Linux `tcp_tso_should_defer`).
    pub tso_bursts: bool,
    /// Smallest segmentation-offload burst, segments (Linux `tcp_min_tso_segs`).
    pub minimum_burst: u32,
    /// Divisor of the window. A sender stops gathering once this fraction of the window may be sent
    /// (Linux `tcp_tso_win_divisor`).
    pub burst_window_divisor: u32,
}

fadeout_core::choices! {
    /// Rule for the spacing of segments in time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Pacing {
        /// Segments are paced only if the congestion control asks for it.
        Automatic = "automatic",
        /// Segments are always paced, as with the fq queueing discipline of Linux.
        On = "on",
    }
}
