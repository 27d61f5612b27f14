//! The summary rows of a run.

mod completions;
mod datagrams;
mod kernels;
mod numbers;
mod predictions;
mod quic;

use crate::build::{DEFAULT_CONTROL, default_congestion_control, is_datagrams};
use crate::directory::direction_of;
use crate::radio::Accesses;
use crate::world::{Account, Flow, World};
use completions::{Groups, completion, completion_times};
use fadeout_core::agreed::UNCOUPLED;
use fadeout_core::table::SummarySink;
use fadeout_core::{
    Direction, DrbId, FlowRow, HeaderCompressionRow, InterfaceRow, LegRow, LinkRow, NodeId,
    PathRow, Probe, RadioRow, RunRow, Time, UeId,
};
use fadeout_link::LinkStats;
use fadeout_record::Document;
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::multipath::{MultipathConnection, PathId};
use fadeout_transport::tcp::{SenderStatistics, TcpConfig};
use numbers::{mean, rate_mbps};
use serde_json::{Value, json};

/// Adds all summary rows of a run to `sink`.
pub fn sum_up<P: Probe>(scenario: &Scenario, world: &World<P>, sink: &mut impl SummarySink) {
    let duration_s = world.now().as_secs_f64();
    sink.add(&RunRow {
        title: scenario.title.clone(),
        seed: scenario.seed,
        duration_s,
        events: world.events(),
        packets: world.delivered_packets(),
        fingerprint: world.fingerprint().to_string(),
    });
    let flows = || scenario.flows.iter().zip(world.machines().flows);
    for (described, flow) in flows() {
        sink.add(&flow_row(described, flow, world));
        add_paths(described, flow, world, sink);
        datagrams::add(&described.name, flow, world, sink);
        quic::add(&described.name, flow, world.machines().endpoints, sink);
    }
    let links = world
        .machines()
        .directory
        .link_names()
        .zip(world.machines().links.iter());
    for (name, link) in links {
        sink.add(&link_row(name.to_owned(), link.stats(), duration_s));
    }
    if let Some(access) = world.machines().radio {
        add_radio(scenario, access, world, sink);
        add_legs(scenario, access, sink);
        add_compression(scenario, access, sink);
    }
    let groups = Groups::from_flows(scenario.flows.iter().map(|described| &*described.name));
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); groups.len()];
    // Time and index of each completed transfer. Their rows are in the order of completion.
    let mut done: Vec<(Time, usize)> = Vec::new();
    for (index, (_, flow)) in flows().enumerate() {
        done.extend(flow.completed_at.map(|at| (at, index)));
    }
    done.sort();
    for (at, index) in done {
        let (described, flow) = (&scenario.flows[index], &world.machines().flows[index]);
        times[groups.of_flow(index)].push(at.since(flow.start).as_secs_f64());
        let row = flow_row(described, flow, world);
        if let Some(row) = completion(groups.name_of_flow(index), row) {
            sink.add(&row);
        }
    }
    for (group, times) in times.iter_mut().enumerate() {
        if let Some(row) = completion_times(&groups, group, times) {
            sink.add(&row);
        }
    }
    predictions::add(scenario, world, sink);
}

/// Returns the summary rows of a run as JSON. Each table is a list under the table's name. This
/// function is for callers that need only a few rows.
pub fn summary<P: Probe>(scenario: &Scenario, world: &World<P>) -> Value {
    let mut document = Document::default();
    sum_up(scenario, world, &mut document);
    document.into_value()
}

fn seconds(time: Option<Time>) -> Option<f64> {
    time.map(Time::as_secs_f64)
}

/// Returns the time from the start of a flow to its completion or to the end of the run.
fn active_s<P: Probe>(flow: &Flow, world: &World<P>) -> f64 {
    let end = flow.completed_at.unwrap_or(world.now());
    end.since(flow.start).as_secs_f64()
}

/// Adds a row for each path of a multipath flow. Does nothing for other flows.
fn add_paths<P: Probe>(
    described: &scenario::Flow,
    flow: &Flow,
    world: &World<P>,
    sink: &mut impl SummarySink,
) {
    let endpoints = &world.machines().endpoints;
    let active_s = active_s(flow, world);
    if described.multipath.is_some() {
        quic::add_paths(&described.name, flow, endpoints, active_s, sink);
        let ends = kernels::ends(endpoints, described, flow);
        for end in ends.iter().enumerate() {
            sink.add(&kernels::path_row(&described.name, end, active_s));
        }
    }
    let Some(connection) = endpoints.connection(flow.sender) else {
        return;
    };
    let receiver = world
        .machines()
        .endpoints
        .connection(flow.receiver)
        .expect("both ends of a connection are multipath");
    for number in 0..connection.path_count() {
        let id = PathId(number as u8);
        sink.add(&path_row(
            &described.name,
            id,
            connection,
            receiver,
            active_s,
        ));
    }
}

/// Returns the row of a flow.
fn flow_row<P: Probe>(described: &scenario::Flow, flow: &Flow, world: &World<P>) -> FlowRow {
    let row = connection_row(described, flow, world);
    let endpoints = &world.machines().endpoints;
    match endpoints.udp(flow.sender) {
        Some(udp) => datagrams::flow_row(row, udp),
        None => {
            let row = quic::flow_row(row, endpoints.quic(flow.sender));
            kernels::flow_row(row, &kernels::ends(endpoints, described, flow))
        }
    }
}

/// Returns the row of a flow as one connection. The row of a multipath flow contains the sums over
/// its paths.
fn connection_row<P: Probe>(described: &scenario::Flow, flow: &Flow, world: &World<P>) -> FlowRow {
    let active_s = active_s(flow, world);
    let endpoints = world.machines().endpoints;
    let subflows: Vec<Account> = match endpoints.connection(flow.sender) {
        // Flows of datagrams and flows between Linux kernels have no TCP counters.
        None => endpoints.account(flow.sender).into_iter().collect(),
        Some(connection) => (0..connection.path_count())
            .map(|number| Account::from_tcp(connection.subflow(PathId(number as u8))))
            .collect(),
    };
    let sum: SenderStatistics = subflows.iter().map(|account| account.statistics).sum();
    let multipath = described.multipath.as_ref();
    let of_tcp = multipath.filter(|_| !described.is_quic());
    let coupling = of_tcp.map(|multipath| multipath.coupling.name.as_str());
    let port = described
        .transport
        .as_ref()
        .filter(|_| described.has_port());
    let named = port.unwrap_or(&described.application);
    FlowRow {
        flow: described.name.clone(),
        application: named.name.clone(),
        profile: described.profile.clone(),
        congestion_control: match coupling {
            None | Some(UNCOUPLED) => congestion_control(described),
            Some(coupling) => coupling.to_owned(),
        },
        scheduler: multipath.map(|multipath| multipath.path_scheduler.name.clone()),
        start_s: flow.start.as_secs_f64(),
        established_s: seconds(flow.established_at),
        first_delivery_s: seconds(flow.first_delivery_at),
        completed_at_s: seconds(flow.completed_at),
        flow_completion_time_s: flow
            .completed_at
            .map(|at| at.since(flow.start).as_secs_f64()),
        aborted: flow.aborted_at.is_some(),
        delivered_bytes: flow.delivered,
        goodput_mbps: rate_mbps(flow.delivered, active_s),
        sent_segments: sum.sent_segments,
        retransmitted_segments: sum.retransmitted_segments,
        timeouts: sum.timeouts,
        recoveries: sum.recoveries,
        undos: sum.undos,
        loss_probes: sum.loss_probes,
        mean_srtt_s: mean(sum.srtt_integral, sum.srtt_time_s),
        mean_rtt_s: mean(sum.rtt_sum_s, sum.rtt_samples as f64),
        min_rtt_s: sum.min_rtt.map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: sum.max_cwnd,
        cwnd_segments: subflows.iter().map(|account| account.window.cwnd).sum(),
        mss_bytes: subflows.first().map_or(0, |account| account.window.mss),
    }
}

fn path_row(
    flow: &str,
    id: PathId,
    sender: &MultipathConnection,
    receiver: &MultipathConnection,
    active_s: f64,
) -> PathRow {
    let (tcp, sent) = (sender.subflow(id), sender.statistics(id));
    let statistics = tcp.statistics();
    let arrived_bytes = receiver.statistics(id).arrived_bytes;
    PathRow {
        flow: flow.to_owned(),
        path: format!("{flow}/{}", id.0),
        arrived_bytes,
        goodput_mbps: rate_mbps(arrived_bytes, active_s),
        sent_bytes: sent.sent_bytes,
        reinjected_bytes: sent.reinjected_bytes,
        penalties: sent.penalties,
        failures: 0,
        sent_segments: statistics.sent_segments,
        retransmitted_segments: statistics.retransmitted_segments,
        timeouts: statistics.timeouts,
        mean_srtt_s: mean(statistics.srtt_integral, statistics.srtt_time_s),
        min_rtt_s: statistics.min_rtt.map(|rtt| rtt.as_secs_f64()),
        cwnd_segments: tcp.window().cwnd,
        max_cwnd_segments: statistics.max_cwnd,
    }
}

/// Returns the scenario with all defaults written out, under the keys of the scenario format.
/// Defaults that layers above the scenario reader choose are included. Parameters of named
/// algorithms appear only if they differ from their defaults.
pub fn resolved(scenario: &Scenario) -> Value {
    let mut written = scenario.to_json();
    for flow in &scenario.flows {
        let has_own = flow.congestion_control.is_some() || quic::stack_control(flow).is_some();
        if !has_own && !is_datagrams(flow) {
            let name = congestion_control(flow);
            written["flow"][&flow.name]["congestion-control"] = json!({ "name": name });
        }
    }
    written
}

/// Returns the names of the congestion controls: one for each subflow, or one for a single
/// connection.
fn congestion_control(described: &scenario::Flow) -> String {
    if let Some(name) = quic::stack_control(described) {
        return name.to_owned();
    }
    match &described.congestion_control {
        Some(named) => named.name.clone(),
        None if described.is_quic() => DEFAULT_CONTROL.to_owned(),
        None => TcpConfig::new(&described.profile, &described.tcp)
            .map_or("", |config| {
                default_congestion_control(config.recovery.method)
            })
            .to_owned(),
    }
}

fn link_row(link: String, stats: &LinkStats, duration_s: f64) -> LinkRow {
    // If a new cause of drops has no column here, this line does not compile.
    let [queue_full, random, blocked, hold_full, aqm, handover] = stats.dropped_by_cause();
    LinkRow {
        link,
        received_packets: stats.packets_in,
        sent_packets: stats.packets_out,
        sent_bytes: stats.bytes_out.0,
        throughput_mbps: rate_mbps(stats.bytes_out.0, duration_s),
        marked_packets: stats.packets_marked,
        dropped_packets: stats.dropped_total(),
        dropped_queue_full: queue_full,
        dropped_random: random,
        dropped_blocked: blocked,
        dropped_hold_full: hold_full,
        dropped_aqm: aqm,
        dropped_handover: handover,
    }
}

/// Adds the rows of the radio access, with a row for each direction of its interfaces.
fn add_radio<P: Probe>(
    scenario: &Scenario,
    access: Accesses<'_>,
    world: &World<P>,
    sink: &mut impl SummarySink,
) {
    let counters = access.counters();
    sink.add(&RadioRow {
        slots: counters.slots,
        scheduling_requests: counters.requests,
        link_failures: counters.link_failures,
    });
    let traffic_s = traffic_s(scenario, world);
    for (index, ue) in scenario.ues.iter().enumerate() {
        let id = UeId(index as u32);
        let cell = access.serving_cell(id);
        let traffic_s = traffic_s(ue.node);
        let cell = cell.map(|cell| scenario.cells[cell.index()].name.clone());
        for direction in [Direction::Downlink, Direction::Uplink] {
            let counters = access.counters_of(id, direction);
            sink.add(&InterfaceRow {
                interface: direction_of(&ue.name, direction),
                cell: cell.clone(),
                delivered_packets: counters.delivered_packets,
                delivered_bytes: counters.delivered_bytes,
                dropped_packets: counters.dropped_packets,
                dropped_aqm: counters.aqm_dropped_packets,
                marked_packets: counters.marked_packets,
                transport_blocks: counters.blocks,
                harq_retransmissions: counters.retransmissions,
                lost_transport_blocks: counters.lost_blocks,
                rate_mbps: rate_mbps(counters.delivered_bytes, traffic_s),
            });
        }
    }
}

/// Adds a row for each direction of each leg of split bearers.
fn add_legs(scenario: &Scenario, access: Accesses<'_>, sink: &mut impl SummarySink) {
    for (id, bearer) in (0..).map(DrbId).zip(scenario.bearers()) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            for leg in access.legs_of(id, direction).into_iter().flatten() {
                sink.add(&LegRow {
                    bearer: bearer.name(),
                    direction: direction.name().to_owned(),
                    cell: scenario.cells[leg.cell.index()].name.clone(),
                    packets: leg.packets,
                    bytes: leg.bytes,
                    copies: leg.copies,
                    discarded_packets: leg.discarded,
                    useless_packets: leg.useless,
                    transport_blocks: leg.blocks,
                    harq_retransmissions: leg.retransmissions,
                    air_time_s: leg.air_time.as_secs_f64(),
                });
            }
        }
    }
}

/// Adds a row for each direction of bearers with header compression.
fn add_compression(scenario: &Scenario, access: Accesses<'_>, sink: &mut impl SummarySink) {
    for (id, bearer) in (0..).map(DrbId).zip(scenario.bearers()) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            if let Some(counts) = access.header_compression(id, direction) {
                sink.add(&HeaderCompressionRow {
                    bearer: bearer.name(),
                    direction: direction.name().to_owned(),
                    packets: counts.packets,
                    ir_packets: counts.initialisations,
                    header_bytes: counts.header_bytes,
                    compressed_bytes: counts.compressed_bytes,
                    failed_packets: counts.failures,
                    resets: counts.resets,
                });
            }
        }
    }
}

/// Returns a function from nodes to the time with traffic at the node, seconds. This time begins
/// with the first flow that has an end at the node. It ends when the last of these flows completes,
/// or with the run. A node without ends of flows has traffic for the whole run.
fn traffic_s<P: Probe>(scenario: &Scenario, world: &World<P>) -> impl Fn(NodeId) -> f64 {
    let now = world.now();
    let mut spans = vec![None; scenario.nodes.len()];
    for (described, flow) in scenario.flows.iter().zip(world.machines().flows) {
        let (from, to) = (flow.start, flow.completed_at.unwrap_or(now));
        for node in [described.from, described.to] {
            let span: &mut Option<(Time, Time)> = &mut spans[node.index()];
            let (start, end) = span.unwrap_or((from, to));
            *span = Some((start.min(from), end.max(to)));
        }
    }
    move |node| {
        let (start, end) = spans[node.index()].unwrap_or((Time::ZERO, now));
        end.since(start).as_secs_f64()
    }
}
