//! Summary rows of QUIC connections.

use super::numbers::mean;
use crate::world::{Endpoints, Flow};
use fadeout_core::table::SummarySink;
use fadeout_core::{FlowEnd, FlowRow, QuicEndRow};
use fadeout_quic::QuicEnd;
use fadeout_scenario as scenario;
use fadeout_transport::NamedTransport;
use fadeout_transport::quic::{QuicControl, QuicSettings};

/// Adds a row for each end of a QUIC connection. Does nothing for other flows.
pub(super) fn add(name: &str, flow: &Flow, endpoints: &Endpoints, sink: &mut impl SummarySink) {
    for (id, end) in flow.ends() {
        if let Some(quic) = endpoints.quic(id) {
            sink.add(&row(name, end, quic));
        }
    }
}

fn row(flow: &str, end: FlowEnd, quic: &QuicEnd) -> QuicEndRow {
    let counted = quic.statistics();
    let role = if counted.is_client {
        "client"
    } else {
        "server"
    };
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
        streams: counted.streams,
        mtu_bytes: counted.mtu_bytes,
        cwnd_bytes: counted.cwnd_bytes,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        failure: counted.failure.clone(),
    }
}

/// Returns the row of a flow, with the counters of its sender if the flow is a QUIC connection.
pub(super) fn flow_row(row: FlowRow, sender: Option<&QuicEnd>) -> FlowRow {
    let Some(quic) = sender else {
        return row;
    };
    let counted = quic.statistics();
    FlowRow {
        profile: "quic".to_owned(),
        sent_segments: counted.sent_packets,
        retransmitted_segments: counted.lost_packets,
        recoveries: counted.congestion_events,
        undos: counted.spurious_events,
        mean_srtt_s: mean(counted.srtt_integral, counted.srtt_time_s),
        mean_rtt_s: mean(counted.rtt_sum_s, counted.rtt_samples as f64),
        min_rtt_s: counted.min_rtt.map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: counted.max_cwnd_datagrams,
        cwnd_segments: counted.datagrams(counted.cwnd_bytes),
        mss_bytes: counted.mtu_bytes as u32,
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
