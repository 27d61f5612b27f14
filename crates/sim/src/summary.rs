//! `summary.json`: one object a flow and one a direction of a link.

use crate::build::{default_congestion_control, direction_name};
use crate::world::{Flow, World};
use fadeout_core::{DropCause, Probe, Time};
use fadeout_link::LinkStats;
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::tcp::TcpConfig;
use serde_json::{Value, json};

/// Sums up a run.
pub fn summary<P: Probe>(scenario: &Scenario, world: &World<P>) -> Value {
    let flows: Vec<Value> = scenario
        .flows
        .iter()
        .zip(world.flows())
        .map(|(described, flow)| flow_summary(described, flow, world))
        .collect();
    let names = scenario
        .links
        .iter()
        .flat_map(|link| [direction_name(link, false), direction_name(link, true)]);
    let duration = world.now().as_secs_f64();
    let links: Vec<Value> = names
        .zip(world.links())
        .map(|(name, link)| link_summary(&name, link.stats(), duration))
        .collect();
    json!({
        "title": scenario.title,
        "seed": scenario.seed,
        "duration_s": duration,
        "events": world.events(),
        "packets": world.delivered_packets(),
        "fingerprint": world.fingerprint().to_string(),
        "flows": flows,
        "links": links,
    })
}

fn flow_summary<P: Probe>(described: &scenario::Flow, flow: &Flow, world: &World<P>) -> Value {
    let tcp = &world.host(flow.sender).tcp;
    let statistics = tcp.statistics();
    let end = flow.completed_at.unwrap_or(world.now());
    let active_s = end.since(flow.start).as_secs_f64();
    let goodput = if active_s > 0.0 {
        flow.delivered as f64 * 8.0 / active_s / 1e6
    } else {
        0.0
    };
    let ratio = |sum: f64, count: f64| if count > 0.0 { Some(sum / count) } else { None };
    let seconds = |time: Option<Time>| time.map(Time::as_secs_f64);
    let congestion_control = match &described.congestion_control {
        Some(named) => named.name.clone(),
        None => TcpConfig::new(&described.profile, &described.tcp)
            .map_or("", |config| default_congestion_control(config.recovery))
            .to_owned(),
    };
    json!({
        "flow": described.name,
        "application": described.application.name,
        "profile": described.profile,
        "congestion_control": congestion_control,
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
        "mean_srtt_s": ratio(statistics.srtt_integral, statistics.srtt_time_s),
        "mean_rtt_s": ratio(statistics.rtt_sum_s, statistics.rtt_samples as f64),
        "min_rtt_s": tcp.min_rtt().map(|rtt| rtt.as_secs_f64()),
        "max_cwnd_segments": statistics.max_cwnd,
        "cwnd_segments": tcp.window().cwnd,
        "mss_bytes": tcp.window().mss,
    })
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
        "dropped_packets": stats.dropped_total(),
        "dropped_queue_full": dropped(DropCause::QueueFull),
        "dropped_random": dropped(DropCause::Random),
        "dropped_blocked": dropped(DropCause::Blocked),
        "dropped_hold_full": dropped(DropCause::HoldFull),
        "dropped_aqm": dropped(DropCause::Aqm),
    })
}
