//! `summary.json`: one object a flow, one a direction of a link, and what the radio access did.

use crate::build::default_congestion_control;
use crate::directory::direction_of;
use crate::world::{Flow, World};
use fadeout_core::{Direction, DropCause, Probe, Time, UeId};
use fadeout_link::LinkStats;
use fadeout_radio::access::RadioAccess;
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::multipath::{MultipathConnection, PathId};
use fadeout_transport::tcp::{SenderStatistics, TcpConfig};
use serde_json::{Value, json};

/// Sums up a run.
pub fn summary<P: Probe>(scenario: &Scenario, world: &World<P>) -> Value {
    let flows: Vec<Value> = scenario
        .flows
        .iter()
        .zip(world.flows())
        .map(|(described, flow)| flow_summary(described, flow, world))
        .collect();
    let duration = world.now().as_secs_f64();
    let links: Vec<Value> = world
        .directory()
        .link_names()
        .zip(world.links())
        .map(|(name, link)| link_summary(name, link.stats(), duration))
        .collect();
    let mut summary = json!({
        "title": scenario.title,
        "seed": scenario.seed,
        "duration_s": duration,
        "events": world.events(),
        "packets": world.delivered_packets(),
        "fingerprint": world.fingerprint().to_string(),
        "flows": flows,
        "links": links,
    });
    if let Some(access) = world.radio_access() {
        summary["radio"] = radio_summary(scenario, access, duration);
    }
    summary
}

/// What the radio access did, and each direction of its interfaces.
fn radio_summary(scenario: &Scenario, access: &RadioAccess, duration: f64) -> Value {
    let interfaces: Vec<Value> = scenario
        .ues
        .iter()
        .enumerate()
        .flat_map(|(index, ue)| {
            let id = UeId(index as u32);
            let cell = access.serving_cell(id);
            [Direction::Downlink, Direction::Uplink].map(|direction| {
                let counters = access.counters_of(id, direction);
                json!({
                    "interface": direction_of(&ue.name, direction),
                    "cell": cell.map(|cell| scenario.cells[cell.index()].name.clone()),
                    "delivered_packets": counters.delivered_packets,
                    "delivered_bytes": counters.delivered_bytes,
                    "dropped_packets": counters.dropped_packets,
                    "dropped_aqm": counters.aqm_dropped_packets,
                    "marked_packets": counters.marked_packets,
                    "transport_blocks": counters.blocks,
                    "harq_retransmissions": counters.retransmissions,
                    "lost_transport_blocks": counters.lost_blocks,
                    "rate_mbps": if duration > 0.0 {
                        counters.delivered_bytes as f64 * 8.0 / duration / 1e6
                    } else {
                        0.0
                    },
                })
            })
        })
        .collect();
    let counters = access.counters();
    json!({
        "slots": counters.slots,
        "scheduling_requests": counters.requests,
        "link_failures": counters.link_failures,
        "interfaces": interfaces,
    })
}

fn flow_summary<P: Probe>(described: &scenario::Flow, flow: &Flow, world: &World<P>) -> Value {
    if let Some(connection) = world.connection(flow.sender) {
        return multipath_summary(described, flow, world, connection);
    }
    let tcp = world.endpoint(flow.sender);
    let statistics = tcp.statistics();
    let end = flow.completed_at.unwrap_or(world.now());
    let active_s = end.since(flow.start).as_secs_f64();
    let goodput = if active_s > 0.0 {
        flow.delivered as f64 * 8.0 / active_s / 1e6
    } else {
        0.0
    };
    json!({
        "flow": described.name,
        "application": described.application.name,
        "profile": described.profile,
        "congestion_control": congestion_control(described),
        "start_s": flow.start.as_secs_f64(),
        "established_s": seconds(flow.established_at),
        "first_delivery_s": seconds(flow.first_delivery_at),
        "completed_at_s": seconds(flow.completed_at),
        "flow_completion_time_s":
            flow.completed_at.map(|at| at.since(flow.start).as_secs_f64()),
        "aborted": flow.is_aborted,
        "delivered_bytes": flow.delivered,
        "goodput_mbps": goodput,
        "sent_segments": statistics.sent_segments,
        "retransmitted_segments": statistics.retransmitted_segments,
        "timeouts": statistics.timeouts,
        "recoveries": statistics.recoveries,
        "undos": statistics.undos,
        "loss_probes": statistics.loss_probes,
        "mean_srtt_s": mean(statistics.srtt_integral, statistics.srtt_time_s),
        "mean_rtt_s": mean(statistics.rtt_sum_s, statistics.rtt_samples as f64),
        "min_rtt_s": tcp.min_rtt().map(|rtt| rtt.as_secs_f64()),
        "max_cwnd_segments": statistics.max_cwnd,
        "cwnd_segments": tcp.window().cwnd,
        "mss_bytes": tcp.window().mss,
    })
}

/// A multipath connection: the flow's own numbers, sums over its paths, and each path.
fn multipath_summary<P: Probe>(
    described: &scenario::Flow,
    flow: &Flow,
    world: &World<P>,
    connection: &MultipathConnection,
) -> Value {
    let Some(multipath) = &described.multipath else {
        return Value::Null;
    };
    let receiver = world
        .connection(flow.receiver)
        .expect("both ends of a connection are multipath");
    let end = flow.completed_at.unwrap_or(world.now());
    let active_s = end.since(flow.start).as_secs_f64();
    let rate = |bytes: u64| {
        if active_s > 0.0 {
            bytes as f64 * 8.0 / active_s / 1e6
        } else {
            0.0
        }
    };
    let mut sum = SenderStatistics::default();
    let mut paths = Vec::new();
    for number in 0..connection.path_count() {
        let id = PathId(number as u8);
        let (tcp, sent) = (connection.subflow(id), connection.statistics(id));
        let statistics = tcp.statistics();
        let arrived = receiver.statistics(id).arrived_bytes;
        sum.sent_segments += statistics.sent_segments;
        sum.retransmitted_segments += statistics.retransmitted_segments;
        sum.timeouts += statistics.timeouts;
        sum.recoveries += statistics.recoveries;
        sum.undos += statistics.undos;
        sum.loss_probes += statistics.loss_probes;
        sum.srtt_integral += statistics.srtt_integral;
        sum.srtt_time_s += statistics.srtt_time_s;
        sum.rtt_sum_s += statistics.rtt_sum_s;
        sum.rtt_samples += statistics.rtt_samples;
        sum.max_cwnd += statistics.max_cwnd;
        paths.push(json!({
            "path": format!("{}/{number}", described.name),
            "arrived_bytes": arrived,
            "goodput_mbps": rate(arrived),
            "sent_bytes": sent.sent_bytes,
            "reinjected_bytes": sent.reinjected_bytes,
            "penalties": sent.penalties,
            "sent_segments": statistics.sent_segments,
            "retransmitted_segments": statistics.retransmitted_segments,
            "timeouts": statistics.timeouts,
            "mean_srtt_s": mean(statistics.srtt_integral, statistics.srtt_time_s),
            "min_rtt_s": tcp.min_rtt().map(|rtt| rtt.as_secs_f64()),
            "cwnd_segments": tcp.window().cwnd,
            "max_cwnd_segments": statistics.max_cwnd,
        }));
    }
    let ids = (0..connection.path_count()).map(|number| PathId(number as u8));
    let cwnd: f64 = ids
        .clone()
        .map(|id| connection.subflow(id).window().cwnd)
        .sum();
    let min_rtt = ids.filter_map(|id| connection.subflow(id).min_rtt()).min();
    json!({
        "flow": described.name,
        "application": described.application.name,
        "profile": described.profile,
        "congestion_control": if multipath.coupling.name == "uncoupled" {
            congestion_control(described)
        } else {
            multipath.coupling.name.clone()
        },
        "scheduler": multipath.scheduler.name,
        "start_s": flow.start.as_secs_f64(),
        "established_s": seconds(flow.established_at),
        "first_delivery_s": seconds(flow.first_delivery_at),
        "completed_at_s": seconds(flow.completed_at),
        "flow_completion_time_s":
            flow.completed_at.map(|at| at.since(flow.start).as_secs_f64()),
        "aborted": flow.is_aborted,
        "delivered_bytes": flow.delivered,
        "goodput_mbps": rate(flow.delivered),
        "sent_segments": sum.sent_segments,
        "retransmitted_segments": sum.retransmitted_segments,
        "timeouts": sum.timeouts,
        "recoveries": sum.recoveries,
        "undos": sum.undos,
        "loss_probes": sum.loss_probes,
        "mean_srtt_s": mean(sum.srtt_integral, sum.srtt_time_s),
        "mean_rtt_s": mean(sum.rtt_sum_s, sum.rtt_samples as f64),
        "min_rtt_s": min_rtt.map(|rtt| rtt.as_secs_f64()),
        "max_cwnd_segments": sum.max_cwnd,
        "cwnd_segments": cwnd,
        "mss_bytes": connection.subflow(PathId(0)).window().mss,
        "paths": paths,
    })
}

fn mean(sum: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| sum / count)
}

fn seconds(time: Option<Time>) -> Option<f64> {
    time.map(Time::as_secs_f64)
}

/// What each subflow, or the single connection, runs.
fn congestion_control(described: &scenario::Flow) -> String {
    match &described.congestion_control {
        Some(named) => named.name.clone(),
        None => TcpConfig::new(&described.profile, &described.tcp)
            .map_or("", |config| default_congestion_control(config.recovery))
            .to_owned(),
    }
}

fn link_summary(name: &str, stats: &LinkStats, duration: f64) -> Value {
    let dropped = |cause| stats.dropped(cause);
    let rate = if duration > 0.0 {
        stats.bytes_out.0 as f64 * 8.0 / duration / 1e6
    } else {
        0.0
    };
    json!({
        "link": name,
        "received_packets": stats.packets_in,
        "sent_packets": stats.packets_out,
        "sent_bytes": stats.bytes_out.0,
        "throughput_mbps": rate,
        "marked_packets": stats.packets_marked,
        "dropped_packets": stats.dropped_total(),
        "dropped_queue_full": dropped(DropCause::QueueFull),
        "dropped_random": dropped(DropCause::Random),
        "dropped_blocked": dropped(DropCause::Blocked),
        "dropped_hold_full": dropped(DropCause::HoldFull),
        "dropped_aqm": dropped(DropCause::Aqm),
    })
}
