//! `summary.json`: the rows that a run is summed up in.

mod completions;

use crate::build::default_congestion_control;
use crate::directory::direction_of;
use crate::kernels::KernelEnd;
use crate::world::{Flow, Transport, World};
use completions::{completion_times, completions};
use fadeout_core::{
    CompletionRow, CompletionTimesRow, Direction, DropCause, FlowRow, InterfaceRow, LinkRow,
    NodeId, PathRow, Probe, RadioRow, RunRow, Span, Time, UeId,
};
use fadeout_link::LinkStats;
use fadeout_radio::access::RadioAccess;
use fadeout_record::{object, objects};
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_transport::multipath::{MultipathConnection, PathId};
use fadeout_transport::tcp::{SenderStatistics, TcpConfig, TcpEndpoint};
use serde_json::{Value, json};

/// The rows of a run's summary.
#[derive(Debug)]
struct Summary {
    run: RunRow,
    /// Each flow with its paths; none but of a multipath flow.
    flows: Vec<(FlowRow, Vec<PathRow>)>,
    links: Vec<LinkRow>,
    radio: Option<(RadioRow, Vec<InterfaceRow>)>,
    completions: Vec<CompletionRow>,
    completion_times: Vec<CompletionTimesRow>,
}

/// Sums up a run: the contents of `summary.json`.
pub fn summary<P: Probe>(scenario: &Scenario, world: &World<P>) -> Value {
    let duration_s = world.now().as_secs_f64();
    let flows: Vec<(FlowRow, Vec<PathRow>)> = scenario
        .flows
        .iter()
        .zip(world.flows())
        .map(|(described, flow)| flow_rows(described, flow, world))
        .collect();
    let grouped = completions::with_groups(flows.iter().map(|(flow, _)| flow));
    let completions = completions(&grouped);
    let summary = Summary {
        run: RunRow {
            title: scenario.title.clone(),
            seed: scenario.seed,
            duration_s,
            events: world.events(),
            packets: world.delivered_packets(),
            fingerprint: world.fingerprint().to_string(),
        },
        links: world
            .directory()
            .link_names()
            .zip(world.links())
            .map(|(name, link)| link_row(name.to_owned(), link.stats(), duration_s))
            .collect(),
        radio: world
            .radio_access()
            .map(|access| radio_rows(scenario, access, world)),
        completion_times: completion_times(&grouped, &completions),
        completions,
        flows,
    };
    summary.to_json()
}

impl Summary {
    /// Each row where its table's [`Place`](fadeout_core::table::Place) says.
    fn to_json(&self) -> Value {
        let mut file = object(&self.run);
        let flows = self.flows.iter().map(|(flow, paths)| {
            let mut flow = object(flow);
            if !paths.is_empty() {
                flow["paths"] = objects(paths);
            }
            flow
        });
        file["flows"] = flows.collect();
        file["links"] = objects(&self.links);
        if let Some((radio, interfaces)) = &self.radio {
            file["radio"] = object(radio);
            file["radio"]["interfaces"] = objects(interfaces);
        }
        file["completions"] = objects(&self.completions);
        file["completion_times"] = objects(&self.completion_times);
        file
    }
}

/// Mean rate of `bytes` over `seconds`, Mbit/s; zero over no time.
fn rate_mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds / 1e6
    } else {
        0.0
    }
}

fn mean(sum: f64, count: f64) -> Option<f64> {
    (count > 0.0).then(|| sum / count)
}

fn seconds(time: Option<Time>) -> Option<f64> {
    time.map(Time::as_secs_f64)
}

/// A flow, and its paths where it has several.
fn flow_rows<P: Probe>(
    described: &scenario::Flow,
    flow: &Flow,
    world: &World<P>,
) -> (FlowRow, Vec<PathRow>) {
    let end = flow.completed_at.unwrap_or(world.now());
    let active_s = end.since(flow.start).as_secs_f64();
    let Some(connection) = world.connection(flow.sender) else {
        let sender = match world.transport(flow.sender) {
            Transport::Tcp(tcp) => Some(Sending::from(tcp)),
            Transport::Kernel(kernel) => Some(Sending::of_kernel(kernel)),
            Transport::Subflow { .. } => None,
        };
        let senders: Vec<Sending> = sender.into_iter().collect();
        return (flow_row(described, flow, &senders, active_s), Vec::new());
    };
    let receiver = world
        .connection(flow.receiver)
        .expect("both ends of a connection are multipath");
    let ids = (0..connection.path_count()).map(|number| PathId(number as u8));
    let subflows = ids.clone().map(|id| connection.subflow(id).into());
    let subflows: Vec<Sending> = subflows.collect();
    let paths = ids.map(|id| path_row(&described.name, id, connection, receiver, active_s));
    let row = flow_row(described, flow, &subflows, active_s);
    (row, paths.collect())
}

/// A flow whose sender has these subflows; just one, unless it is multipath.
fn flow_row(
    described: &scenario::Flow,
    flow: &Flow,
    subflows: &[Sending],
    active_s: f64,
) -> FlowRow {
    let sum = sum(subflows.iter().map(|sender| sender.statistics));
    let multipath = described.multipath.as_ref();
    let coupling = multipath.map(|multipath| multipath.coupling.name.as_str());
    FlowRow {
        flow: described.name.clone(),
        application: described.application.name.clone(),
        profile: described.profile.clone(),
        congestion_control: match coupling {
            None | Some("uncoupled") => congestion_control(described),
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
        aborted: flow.is_aborted,
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
        min_rtt_s: subflows
            .iter()
            .filter_map(|sender| sender.min_rtt)
            .min()
            .map(|rtt| rtt.as_secs_f64()),
        max_cwnd_segments: sum.max_cwnd,
        cwnd_segments: subflows.iter().map(|sender| sender.cwnd).sum(),
        mss_bytes: subflows.first().map_or(0, |sender| sender.mss),
    }
}

/// What is summed up of one that sends.
#[derive(Debug)]
struct Sending {
    statistics: SenderStatistics,
    min_rtt: Option<Span>,
    cwnd: f64,
    mss: u32,
}

impl From<&TcpEndpoint> for Sending {
    fn from(tcp: &TcpEndpoint) -> Sending {
        Sending {
            statistics: tcp.statistics(),
            min_rtt: tcp.info().min_rtt,
            cwnd: tcp.window().cwnd,
            mss: tcp.window().mss,
        }
    }
}

impl Sending {
    fn of_kernel(kernel: &KernelEnd) -> Sending {
        Sending {
            statistics: kernel.statistics(),
            min_rtt: kernel.min_rtt(),
            cwnd: kernel.cwnd(),
            mss: kernel.mss(),
        }
    }
}

fn sum(subflows: impl Iterator<Item = SenderStatistics>) -> SenderStatistics {
    let mut sum = SenderStatistics::default();
    for statistics in subflows {
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
    }
    sum
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
        sent_segments: statistics.sent_segments,
        retransmitted_segments: statistics.retransmitted_segments,
        timeouts: statistics.timeouts,
        mean_srtt_s: mean(statistics.srtt_integral, statistics.srtt_time_s),
        min_rtt_s: tcp.info().min_rtt.map(|rtt| rtt.as_secs_f64()),
        cwnd_segments: tcp.window().cwnd,
        max_cwnd_segments: statistics.max_cwnd,
    }
}

/// The scenario with every default written out, in the keys of the format; also those that layers
/// above the reader of scenarios choose. Parameters of what the catalog lists stand there where they
/// differ from their defaults.
pub fn resolved(scenario: &Scenario) -> Value {
    let mut written = scenario.to_json();
    for flow in &scenario.flows {
        if flow.congestion_control.is_none() {
            let name = congestion_control(flow);
            written["flow"][&flow.name]["congestion-control"] = json!({ "name": name });
        }
    }
    written
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

fn link_row(link: String, stats: &LinkStats, duration_s: f64) -> LinkRow {
    LinkRow {
        link,
        received_packets: stats.packets_in,
        sent_packets: stats.packets_out,
        sent_bytes: stats.bytes_out.0,
        throughput_mbps: rate_mbps(stats.bytes_out.0, duration_s),
        marked_packets: stats.packets_marked,
        dropped_packets: stats.dropped_total(),
        dropped_queue_full: stats.dropped(DropCause::QueueFull),
        dropped_random: stats.dropped(DropCause::Random),
        dropped_blocked: stats.dropped(DropCause::Blocked),
        dropped_hold_full: stats.dropped(DropCause::HoldFull),
        dropped_aqm: stats.dropped(DropCause::Aqm),
    }
}

/// The radio access, and each direction of its interfaces.
fn radio_rows<P: Probe>(
    scenario: &Scenario,
    access: &RadioAccess,
    world: &World<P>,
) -> (RadioRow, Vec<InterfaceRow>) {
    let counters = access.counters();
    let radio = RadioRow {
        slots: counters.slots,
        scheduling_requests: counters.requests,
        link_failures: counters.link_failures,
    };
    let interfaces = scenario.ues.iter().enumerate().flat_map(|(index, ue)| {
        let id = UeId(index as u32);
        let cell = access.serving_cell(id);
        let traffic_s = traffic_s(scenario, world, ue.node);
        let cell = cell.map(|cell| scenario.cells[cell.index()].name.clone());
        [Direction::Downlink, Direction::Uplink].map(|direction| {
            let counters = access.counters_of(id, direction);
            InterfaceRow {
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
            }
        })
    });
    (radio, interfaces.collect())
}

/// How long there was traffic at `node`: from the start of the first flow that begins or ends there
/// to the completion of the last, or the end of the run. A node that only passes packets on has
/// traffic all the time.
fn traffic_s<P: Probe>(scenario: &Scenario, world: &World<P>, node: NodeId) -> f64 {
    let there = scenario.flows.iter().zip(world.flows());
    let there = there.filter(|(described, _)| described.from == node || described.to == node);
    let spans = there.map(|(_, flow)| (flow.start, flow.completed_at.unwrap_or(world.now())));
    let whole = spans.reduce(|(start, end), (from, to)| (start.min(from), end.max(to)));
    let (start, end) = whole.unwrap_or((Time::ZERO, world.now()));
    end.since(start).as_secs_f64()
}
