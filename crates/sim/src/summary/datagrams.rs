//! Summary rows of datagram flows, for both directions.

use super::numbers::mean;
use crate::world::{Flow, World};
use fadeout_core::table::SummarySink;
use fadeout_core::{DatagramsRow, FlowEnd, FlowRow, Probe, Span, Time};
use fadeout_transport::udp::{Delays, UdpEndpoint};

/// Adds a row for each direction in which a flow sent datagrams. Does nothing for flows of other
/// protocols.
pub(super) fn add<P: Probe>(
    name: &str,
    flow: &Flow,
    world: &World<P>,
    sink: &mut impl SummarySink,
) {
    let ends = (
        world.machines().endpoints.udp(flow.sender),
        world.machines().endpoints.udp(flow.receiver),
    );
    let (Some(sender), Some(receiver)) = ends else {
        return;
    };
    sink.add(&row((name, FlowEnd::Receiver), sender, receiver));
    if receiver.sent() > 0 {
        sink.add(&row((name, FlowEnd::Sender), receiver, sender));
    }
}

fn row(
    (flow, end): (&str, FlowEnd),
    sending: &UdpEndpoint,
    receiving: &UdpEndpoint,
) -> DatagramsRow {
    let came = receiving.reception();
    let (delays, round_trips) = (came.delays(), came.round_trips());
    let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
    let of_trips = |value: fn(&Delays) -> Option<Span>| seconds(round_trips.and_then(value));
    let gap = came.longest_gap(sending.last_sent_at());
    DatagramsRow {
        flow: flow.to_owned(),
        end: end.name().to_owned(),
        sent_datagrams: sending.sent(),
        received_datagrams: came.received(),
        lost_datagrams: came.lost(),
        loss_ratio: mean(came.lost() as f64, (came.lost() + came.received()) as f64),
        reordered_datagrams: came.reordered(),
        received_bytes: came.bytes(),
        min_delay_s: seconds(delays.smallest()),
        mean_delay_s: delays.mean_s(),
        p50_delay_s: seconds(delays.percentile(0.5)),
        p95_delay_s: seconds(delays.percentile(0.95)),
        p99_delay_s: seconds(delays.percentile(0.99)),
        max_delay_s: seconds(delays.largest()),
        jitter_s: (delays.count() > 0).then(|| came.jitter_s()),
        longest_gap_s: gap.map(|(_, length)| length.as_secs_f64()),
        longest_gap_start_s: gap.map(|(start, _)| Time::as_secs_f64(start)),
        mean_round_trip_s: round_trips.and_then(Delays::mean_s),
        p50_round_trip_s: of_trips(|trips| trips.percentile(0.5)),
        p95_round_trip_s: of_trips(|trips| trips.percentile(0.95)),
        max_round_trip_s: of_trips(Delays::largest),
    }
}

/// Returns the row of a datagram flow. Columns that only connections have stay empty.
pub(super) fn flow_row(row: FlowRow, sender: &UdpEndpoint) -> FlowRow {
    let trips = sender.reception().round_trips();
    FlowRow {
        profile: "udp".to_owned(),
        congestion_control: "none".to_owned(),
        sent_segments: sender.sent(),
        mean_rtt_s: trips.and_then(Delays::mean_s),
        min_rtt_s: trips.and_then(Delays::smallest).map(Span::as_secs_f64),
        ..row
    }
}
