//! Flows between kernels, by what those tell of them.

use super::mean;
use crate::kernels::KernelEnd;
use fadeout_core::FlowRow;

/// The row of a flow, with what the kernel of its sender counted.
pub(super) fn flow_row(row: FlowRow, kernel: &KernelEnd) -> FlowRow {
    let counted = kernel.statistics();
    FlowRow {
        sent_segments: counted.sent_segments,
        retransmitted_segments: counted.retransmitted_segments,
        timeouts: counted.timeouts,
        recoveries: counted.recoveries,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        mean_rtt_s: mean(counted.rtt_sum_s, counted.rtt_samples as f64),
        min_rtt_s: kernel.min_rtt().map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: counted.max_cwnd,
        cwnd_segments: kernel.cwnd(),
        mss_bytes: kernel.mss(),
        ..row
    }
}
