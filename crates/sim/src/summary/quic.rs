//! Summary rows of QUIC connections.

use super::numbers::{mean, rate_mbps};
use crate::world::{Endpoints, Flow};
use fadeout_core::table::SummarySink;
use fadeout_core::{FlowEnd, FlowRow, PathRow, QuicEndRow};
use fadeout_quic::{QuicEnd, Sending};
use fadeout_scenario as scenario;
use fadeout_transport::NamedTransport;
use fadeout_transport::quic::{QuicControl, QuicSettings};

/// Name of the scheduler of the QUIC stack, which sends on the first path that is not blocked.
const SCHEDULER: &str = "noq";

/// Adds a row for each end of a QUIC connection. Does nothing for other flows.
pub(super) fn add(name: &str, flow: &Flow, endpoints: &Endpoints, sink: &mut impl SummarySink) {
    for (id, end) in flow.ends() {
        if let Some(quic) = endpoints.quic(id) {
            sink.add(&row(name, end, quic));
        }
    }
}

fn row(flow: &str, end: FlowEnd, quic: &QuicEnd) -> QuicEndRow {
    let (ended, counted, first) = (quic.statistics(), quic.total(), quic.sending(0));
    let role = if ended.is_client { "client" } else { "server" };
    QuicEndRow {
        flow: flow.to_owned(),
        end: end.name().to_owned(),
        role: role.to_owned(),
        sent_packets: counted.sent_packets,
        sent_bytes: counted.sent_bytes,
        lost_packets: counted.lost_packets,
        lost_bytes: counted.lost_bytes,
        congestion_events: counted.congestion_events,
        spurious_events: counted.spurious_events,
        streams: ended.streams,
        mtu_bytes: first.mtu_bytes,
        cwnd_bytes: paths(quic).map(|sending| sending.cwnd_bytes).sum(),
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        failure: ended.failure.clone(),
    }
}

/// Returns the sending state of each path.
fn paths(quic: &QuicEnd) -> impl Iterator<Item = &Sending> {
    (0..quic.path_count()).map(|path| quic.sending(path))
}

/// Adds a row for each path of a QUIC connection. Does nothing for other flows.
pub(super) fn add_paths(
    name: &str,
    flow: &Flow,
    endpoints: &Endpoints,
    active_s: f64,
    sink: &mut impl SummarySink,
) {
    let ends = [flow.sender, flow.receiver].map(|end| endpoints.quic(end));
    let [Some(sender), Some(receiver)] = ends else {
        return;
    };
    for path in 0..sender.path_count() {
        sink.add(&path_row(name, path, [sender, receiver], active_s));
    }
}

fn path_row(flow: &str, path: usize, ends: [&QuicEnd; 2], active_s: f64) -> PathRow {
    let [sent, arrived] = ends.map(|end| end.path_statistics(path));
    let sending = ends[0].sending(path);
    PathRow {
        flow: flow.to_owned(),
        path: format!("{flow}/{path}"),
        arrived_bytes: arrived.received_bytes,
        goodput_mbps: rate_mbps(arrived.received_bytes, active_s),
        sent_bytes: sent.sent_bytes,
        reinjected_bytes: 0,
        penalties: 0,
        failures: sent.failures,
        sent_segments: sent.sent_packets,
        retransmitted_segments: sent.lost_packets,
        timeouts: 0,
        mean_srtt_s: mean(sent.srtt_integral, sent.srtt_time_s),
        min_rtt_s: sent.min_rtt.map(|rtt| rtt.as_secs_f64()),
        cwnd_segments: sending.datagrams(sending.cwnd_bytes),
        max_cwnd_segments: sending.max_cwnd_datagrams,
    }
}

/// Returns the row of a flow, with the counters of its sender if the flow is a QUIC connection.
pub(super) fn flow_row(row: FlowRow, sender: Option<&QuicEnd>) -> FlowRow {
    let Some(quic) = sender else {
        return row;
    };
    let counted = quic.total();
    FlowRow {
        profile: "quic".to_owned(),
        scheduler: row.scheduler.map(|_| SCHEDULER.to_owned()),
        sent_segments: counted.sent_packets,
        retransmitted_segments: counted.lost_packets,
        recoveries: counted.congestion_events,
        undos: counted.spurious_events,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        mean_rtt_s: mean(counted.rtt_sum_s, counted.rtt_samples as f64),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: paths(quic).map(|sending| sending.max_cwnd_datagrams).sum(),
        cwnd_segments: paths(quic)
            .map(|sending| sending.datagrams(sending.cwnd_bytes))
            .sum(),
        mss_bytes: quic.sending(0).mtu_bytes as u32,
        ..row
    }
}

/// Returns the settings of a QUIC flow. `None` for other flows.
fn settings_of(flow: &scenario::Flow) -> Option<QuicSettings> {
    let transport = flow.transport.as_ref()?;
    match NamedTransport::new(&transport.name, &transport.parameters)? {
        NamedTransport::Quic(settings) => Some(settings),
        NamedTransport::Port(_) => None,
    }
}

/// Returns the name of the QUIC stack's congestion control. `None` if a flow uses its own.
pub(super) fn stack_control(flow: &scenario::Flow) -> Option<&'static str> {
    let control = settings_of(flow)?.control;
    (control != QuicControl::Flow).then(|| control.name())
}
