//! Advice: warnings about scenarios that are valid, but unlikely to be intended.

mod attach;
mod by_kind;
mod connect;
mod duplex;
mod equipment;
mod forwarding;
mod inside;
mod kernel;
mod mobility;
mod reverse;
mod silence;
mod split;

use crate::build::link::longest_delay;
use crate::build::{self, Bounds};
use crate::routing::Topology;
use crate::world::World;
use by_kind::by_kind;
use fadeout_core::{Bytes, Probe, Span};
use fadeout_radio::rlc::{LONGEST_DATA_FIELD, Mode};
use fadeout_scenario::{Bearer, Flow, Hop, LinkDirection, Medium, QueueLimit, RateModel, Scenario};
use fadeout_traffic::FullBuffer;
use std::collections::BTreeSet;

/// Returns one sentence for each setting that distorts the results without an error:
///
/// - An RLC buffer below the bandwidth-delay product of the cell's peak rate (TS 38.306 clause
///   4.1.2) and the delays of a flow's links. The product leaves out the delay of the radio. So a
///   buffer with a warning is certainly too small.
/// - A queue of the sender's own interface below the same product. A late ACK releases a burst that
///   exceeds the queue. A host would hold the burst back (TSQ), but a link drops packets of the
///   burst.
/// - An RLC window of LTE's acknowledged mode that fills up before the next status report may be
///   sent.
/// - A full buffer whose backlog is too small for the round-trip times of the radio and the links.
/// - Transparent mode, which loses packets that are larger than a transport block.
/// - Mobility management with events that no UE can report, that never occur or that have no
///   neighbour cell.
/// - UEs that begin to attach after the end of the run, or whose T300 expires before a response can
///   arrive.
/// - An `equipment-delay` of a cell whose node has no link to a server.
/// - A split bearer whose secondary node may queue data for longer than t-Reordering.
/// - A period of scheduling requests or configured grants that the cell's duplex pattern lengthens.
/// - A flow path that crosses a link in the reverse direction, from `to` to `from`, if no hop of
///   the path has a limited rate.
/// - A queue that is shorter than one full packet, or a rate at which one packet takes longer than
///   the run.
/// - Vehicles and UEs of traces that are within walls, and traces without vehicles during a part of
///   the run.
/// - Keys of a flow that have no effect on the Linux kernels at its ends.
/// - A scenario without flows.
pub fn advice(scenario: &Scenario) -> Vec<String> {
    let serving = build::serving(scenario);
    let mut topology = Topology::new(scenario, &serving);
    let bearers: Vec<Bearer<'_>> = scenario.bearers().collect();
    let mut sentences = Vec::new();
    let mut named = BTreeSet::new();
    let mut named_links = BTreeSet::new();
    for flow in &scenario.flows {
        for crossing in crossings(scenario, flow, &mut topology) {
            if !named.insert(crossing.bearer) {
                continue;
            }
            let bearer = &bearers[crossing.bearer];
            let Some(bounds) =
                serving[bearer.ue].and_then(|cell| build::bounds(scenario, bearer, cell))
            else {
                continue;
            };
            let delay = crossing.links_delay;
            let found = [
                small_buffer(&bounds, delay),
                short_window(&bounds),
                uncut_packets(&bounds),
                low_backlog(flow, &bounds, delay),
            ];
            let name = bearer.name();
            let found = found.into_iter().flatten();
            sentences.extend(found.map(|what| format!("UE \"{name}\": {what}")));
            if let Some((link, direction)) = crossing.interface(scenario)
                && let Some(what) = small_queue(direction, &bounds, delay)
                && named_links.insert(link)
            {
                sentences.push(format!("link \"{link}\": {what}"));
            }
        }
    }
    if scenario.flows.is_empty() {
        sentences.push("the scenario has no flow, so nothing is sent".to_owned());
    }
    sentences.extend(scenario.links.iter().filter_map(|link| {
        let directions = [&link.forward, &link.reverse];
        let what = directions
            .into_iter()
            .find_map(|direction| narrow_link(scenario, direction))?;
        Some(format!("link \"{}\": {what}", link.name))
    }));
    sentences.extend(reverse::advise(scenario, &mut topology));
    sentences.extend(mobility::advise(scenario));
    sentences.extend(attach::advise(scenario));
    sentences.extend(split::advise(scenario));
    sentences.extend(inside::advise(scenario));
    sentences.extend(equipment::advise(scenario));
    sentences.extend(kernel::advise(scenario));
    let stretched = duplex::stretched(scenario);
    sentences.extend(by_kind("cell", stretched, Clone::clone, |one, _| {
        duplex::describe(one)
    }));
    sentences
}

/// Returns one sentence for each warning that only a run can give. The warnings name UEs that never
/// attached, forwarded packets that a queue dropped, and connections that never opened or gave up.
/// They also name flows with a port that sent nothing.
pub(crate) fn remarks<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let mut sentences = attach::missing(scenario, world);
    sentences.extend(connect::missing(scenario, world));
    sentences.extend(forwarding::dropped(world));
    let silent = silence::silent(scenario, world).map(|name| (name, ()));
    let sentence = |(): &(), _: &str| silence::SENTENCE.to_owned();
    sentences.extend(by_kind("flow", silent, |()| (), sentence));
    sentences
}

/// Size of an IP packet with a full segment.
const FULL_PACKET: Bytes = Bytes(1500);

/// Returns the reason why a full packet cannot cross a link. `None` if it can.
fn narrow_link(scenario: &Scenario, link: &LinkDirection) -> Option<String> {
    if let QueueLimit::Bytes(limit) = link.queue.limit
        && limit < FULL_PACKET
    {
        return Some(format!(
            "a queue of {} B cannot hold a full packet, which has about {} B",
            limit.0, FULL_PACKET.0
        ));
    }
    let RateModel::Constant(rate) = link.rate else {
        return None;
    };
    (rate.time_to_send(FULL_PACKET) > scenario.duration).then(|| {
        format!(
            "at {} bit/s a full packet takes longer than the run",
            rate.as_bits_per_sec()
        )
    })
}

fn small_buffer(bounds: &Bounds, links_delay: Span) -> Option<String> {
    let Bounds { peak, rlc, .. } = bounds;
    let round_trip = links_delay.as_secs_f64();
    let product = peak.as_bytes_per_sec_f64() * round_trip;
    let buffer = rlc.buffer.0 as f64;
    (buffer < product).then(|| {
        format!(
            "the RLC buffer of {:.0} kB is below the {:.0} kB that {:.0} Mbit/s and a round trip \
             of {:.0} ms need; TCP cannot use the peak rate of the cell. Increase `rlc.buffer`",
            buffer / 1e3,
            product / 1e3,
            peak.as_mbps(),
            round_trip * 1e3,
        )
    })
}

fn short_window(bounds: &Bounds) -> Option<String> {
    let (Some(tti), Mode::Am(am)) = (bounds.tti, bounds.rlc.mode) else {
        return None;
    };
    let block = bounds.peak.as_bytes_per_sec_f64() * tti.as_secs_f64();
    // A large transport block contains several RLC PDUs, and a small block contains one.
    let pdus = (block / f64::from(LONGEST_DATA_FIELD)).ceil().max(1.0);
    let window = am.window() as f64;
    let lasts = window / pdus * tti.as_secs_f64();
    let prohibit = am.t_status_prohibit.as_secs_f64();
    (prohibit >= lasts).then(|| {
        format!(
            "RLC's window of {window:.0} PDUs lasts {:.0} ms at the peak rate of the cell, but \
             t-StatusProhibit allows acknowledgements only every {:.0} ms; RLC stalls. Decrease \
             `rlc.t-status-prohibit`",
            lasts * 1e3,
            prohibit * 1e3,
        )
    })
}

fn uncut_packets(bounds: &Bounds) -> Option<String> {
    (bounds.rlc.mode == Mode::Tm).then(|| {
        "RLC in transparent mode does not segment packets: a packet larger than a transport block \
         is lost (`no-block` in `radio_drops`), or waits for a better channel. Mode `um` segments \
         packets"
            .to_owned()
    })
}

/// Estimated delay of a packet through NR at 30 kHz under load. The measured mean is 2.4 ms, and
/// the estimate has a margin above the mean. One block in ten is retransmitted, and later blocks
/// wait for the retransmission.
const RADIO_TIME: Span = Span::from_millis(3);

fn low_backlog(flow: &Flow, bounds: &Bounds, links_delay: Span) -> Option<String> {
    if flow.application.name != "full-buffer" {
        return None;
    }
    let most = FullBuffer::MOST.0 as f64;
    let backlog = flow.application.parameters.number("backlog", most);
    let least_s = RADIO_TIME.as_secs_f64() + links_delay.as_secs_f64() / 2.0;
    let product = bounds.peak.as_bytes_per_sec_f64() * least_s;
    (backlog < product).then(|| {
        format!(
            "a full buffer with {:.0} kB on the way is none at {:.0} Mbit/s, which take {:.0} kB in {:.0} ms. A larger \
             `backlog` is one, where `rlc.buffer` and `queue.limit` hold it",
            backlog / 1e3,
            bounds.peak.as_mbps(),
            product / 1e3,
            least_s * 1e3,
        )
    })
}

fn small_queue(direction: &LinkDirection, bounds: &Bounds, links_delay: Span) -> Option<String> {
    let RateModel::Constant(rate) = direction.rate else {
        return None;
    };
    let (limit, text) = match direction.queue.limit {
        QueueLimit::Packets(packets) => (packets as f64 * 1500.0, format!("{packets} packets")),
        QueueLimit::Bytes(bytes) => (bytes.0 as f64, format!("{:.0} kB", bytes.0 as f64 / 1e3)),
        QueueLimit::Time(span) => {
            let bytes = rate.as_bytes_per_sec_f64() * span.as_secs_f64();
            (bytes, format!("{:.0} ms", span.as_secs_f64() * 1e3))
        }
    };
    let product = bounds.peak.as_bytes_per_sec_f64() * links_delay.as_secs_f64();
    (rate > bounds.peak && limit < product).then(|| {
        format!(
            "the queue of {text} in front of it is below the {:.0} kB that an ACK may release \
             after the radio has delayed it; the sender loses packets at its own interface. \
             Increase `queue.limit`, as a host would",
            product / 1e3,
        )
    })
}

/// A radio bearer on the route of a flow.
struct Crossing {
    /// Number of the bearer.
    bearer: usize,
    /// Sum of the delays of the route's links, in both directions.
    links_delay: Span,
    /// First hop of the route.
    first: Hop,
}

impl Crossing {
    /// Returns the name and the direction of the link that is the sender's own interface. `None` if
    /// the first hop is not a link.
    fn interface<'a>(&self, scenario: &'a Scenario) -> Option<(&'a str, &'a LinkDirection)> {
        let Medium::Link(link) = self.first.medium else {
            return None;
        };
        let link = &scenario.links[link];
        let direction = if self.first.is_reverse {
            &link.reverse
        } else {
            &link.forward
        };
        Some((link.name.as_str(), direction))
    }
}

/// Returns the bearers on the routes of a flow.
fn crossings(scenario: &Scenario, flow: &Flow, topology: &mut Topology) -> Vec<Crossing> {
    let mut crossed = Vec::new();
    for hops in topology.routes_of(flow) {
        let links = hops.iter().filter_map(|hop| match hop.medium {
            Medium::Link(link) => Some(&scenario.links[link]),
            Medium::Rab(_) | Medium::RadioBearer(_) => None,
        });
        let links_delay = links
            .map(|link| longest_delay(&link.forward) + longest_delay(&link.reverse))
            .fold(Span::ZERO, |sum, delay| sum + delay);
        let bearers = hops.iter().filter_map(|hop| match hop.medium {
            Medium::RadioBearer(bearer) => Some(bearer),
            Medium::Link(_) | Medium::Rab(_) => None,
        });
        crossed.extend(bearers.map(|bearer| Crossing {
            bearer,
            links_delay,
            first: hops[0],
        }));
    }
    crossed
}
