//! Flows between kernels, by what those tell of them.

use super::{mean, rate_mbps, sum};
use crate::kernels::KernelEnd;
use crate::world::{Endpoints, Flow};
use fadeout_core::{EndpointId, FlowRow, PathRow};
use fadeout_scenario as scenario;

/// The senders of a flow between kernels, one a path, and the receivers; none of another flow.
pub(super) fn ends<'a>(
    endpoints: &'a Endpoints,
    described: &scenario::Flow,
    flow: &Flow,
) -> Vec<[&'a KernelEnd; 2]> {
    let paths = described.multipath.as_ref().map_or(1, |it| it.paths.len());
    // Sender and receiver of each path in turn.
    let at = |number: usize, first: EndpointId| {
        endpoints.kernel(EndpointId(first.0 + 2 * number as u32))
    };
    let paths =
        (0..paths).map_while(|number| Some([at(number, flow.sender)?, at(number, flow.receiver)?]));
    paths.collect()
}

/// The row of a flow, with what the kernel of its sender counted.
pub(super) fn flow_row(row: FlowRow, ends: &[[&KernelEnd; 2]]) -> FlowRow {
    let Some(&[first, _]) = ends.first() else {
        return row;
    };
    let counted = sum(ends.iter().map(|[sender, _]| sender.statistics()));
    FlowRow {
        sent_segments: counted.sent_segments,
        retransmitted_segments: counted.retransmitted_segments,
        timeouts: counted.timeouts,
        recoveries: counted.recoveries,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        mean_rtt_s: mean(counted.rtt_sum_s, counted.rtt_samples as f64),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: counted.max_cwnd,
        cwnd_segments: ends.iter().map(|[sender, _]| sender.cwnd()).sum(),
        mss_bytes: first.mss(),
        ..row
    }
}

/// The row of a path of a flow. What was sent again on another path is not known: Linux does not say.
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
        sent_segments: counted.sent_segments,
        retransmitted_segments: counted.retransmitted_segments,
        timeouts: counted.timeouts,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        cwnd_segments: sender.cwnd(),
        max_cwnd_segments: counted.max_cwnd,
    }
}
