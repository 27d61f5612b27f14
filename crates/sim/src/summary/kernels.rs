//! Summary rows of flows between Linux kernels, from the kernels' reports.

use super::numbers::{mean, rate_mbps};
use crate::kernels::KernelEnd;
use crate::world::{Endpoints, Flow};
use fadeout_core::{EndpointId, FlowRow, PathRow};
use fadeout_scenario as scenario;
use fadeout_transport::tcp::SenderStatistics;

/// Returns sender and receiver of each path of a flow between kernels. The list is empty for a flow
/// without kernels.
pub(super) fn ends<'a>(
    endpoints: &'a Endpoints,
    described: &scenario::Flow,
    flow: &Flow,
) -> Vec<[&'a KernelEnd; 2]> {
    let paths = described.multipath.as_ref().map_or(1, |it| it.paths.len());
    // The identifiers are those of the first path's sender and receiver, then of the second path's,
    // and so on.
    let kernel_of = |number: usize, first: EndpointId| {
        endpoints.kernel(EndpointId(first.0 + 2 * number as u32))
    };
    let paths = (0..paths).map_while(|number| {
        Some([
            kernel_of(number, flow.sender)?,
            kernel_of(number, flow.receiver)?,
        ])
    });
    paths.collect()
}

/// Returns the row of a flow, with the counters of its sender's kernel.
pub(super) fn flow_row(row: FlowRow, ends: &[[&KernelEnd; 2]]) -> FlowRow {
    let Some(&[first, _]) = ends.first() else {
        return row;
    };
    let counted: SenderStatistics = ends.iter().map(|[sender, _]| sender.statistics()).sum();
    // Without `..row`, so that a new column does not compile until a kernel's flow has it.
    FlowRow {
        flow: row.flow,
        application: row.application,
        profile: row.profile,
        congestion_control: row.congestion_control,
        scheduler: row.scheduler,
        start_s: row.start_s,
        established_s: row.established_s,
        first_delivery_s: row.first_delivery_s,
        completed_at_s: row.completed_at_s,
        flow_completion_time_s: row.flow_completion_time_s,
        aborted: row.aborted,
        delivered_bytes: row.delivered_bytes,
        goodput_mbps: row.goodput_mbps,
        sent_segments: counted.sent_segments,
        retransmitted_segments: counted.retransmitted_segments,
        timeouts: counted.timeouts,
        recoveries: counted.recoveries,
        undos: row.undos,
        loss_probes: row.loss_probes,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        mean_rtt_s: mean(counted.rtt_sum_s, counted.rtt_samples as f64),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: counted.max_cwnd,
        cwnd_segments: ends.iter().map(|[sender, _]| sender.cwnd()).sum(),
        mss_bytes: first.mss(),
    }
}

/// Returns the row of a path of a flow. Reinjections are not counted, because Linux does not report
/// them.
pub(super) fn path_row(
    flow: &str,
    (number, [sender, receiver]): (usize, &[&KernelEnd; 2]),
    active_s: f64,
) -> PathRow {
    let counted = sender.statistics();
    let arrived_bytes = receiver.arrivals.in_order();
    PathRow {
        flow: flow.to_owned(),
        path: format!("{flow}/{number}"),
        arrived_bytes,
        goodput_mbps: rate_mbps(arrived_bytes, active_s),
        sent_bytes: sender.numbers.highest.saturating_sub(1),
        reinjected_bytes: 0,
        penalties: 0,
        failures: 0,
        sent_segments: counted.sent_segments,
        retransmitted_segments: counted.retransmitted_segments,
        timeouts: counted.timeouts,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        cwnd_segments: sender.cwnd(),
        max_cwnd_segments: counted.max_cwnd,
    }
}
