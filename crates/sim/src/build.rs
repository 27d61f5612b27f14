//! From a scenario to the parts of a world.

pub(crate) mod link;
pub(crate) mod multipath;
mod rab;
mod radio;

pub(crate) use radio::Bounds;

use crate::notices::Notices;
use crate::radio::both_directions_of;
use crate::world::{End, Flow, Host, Parts};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{EndpointId, FlowId, LinkId, RouteId, Time, Wake};
use fadeout_link::RadioStates;
use fadeout_record::RadioInfo;
use fadeout_scenario::{self as scenario, Scenario};
use fadeout_traffic::Application;
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{LossRecovery, OutageResponse, TcpConfig, TcpEndpoint};

/// What a checked scenario can still get wrong: only the layers themselves see it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A link's parameters do not make a link.
    #[error("link \"{link}\": {reason}")]
    Link {
        /// Its name.
        link: String,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// A bearer's parameters do not make one.
    #[error("bearer \"{bearer}\": {reason}")]
    Bearer {
        /// Its name.
        bearer: String,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// A blockage's parameters do not make one.
    #[error("blockage \"{blockage}\": {reason}")]
    Blockage {
        /// Its name.
        blockage: String,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// A cell's parameters do not make one.
    #[error("cell \"{cell}\": {reason}")]
    Cell {
        /// Its name.
        cell: String,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// A UE's parameters do not make one.
    #[error("UE \"{ue}\": {reason}")]
    Ue {
        /// Its name.
        ue: String,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// A name that the catalog does not have.
    #[error("flow \"{flow}\": there is no {kind} \"{name}\"")]
    Unknown {
        /// The flow.
        flow: String,
        /// Kind of name.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// No links connect the ends of a flow.
    #[error("flow \"{0}\": no links connect its ends")]
    NoRoute(String),
    /// A link that tells a flow whose data does not cross it.
    #[error(
        "flow \"{flow}\": `link-info` names link \"{link}\", which its data does not cross; \
         expected a link of its path"
    )]
    ForeignLink {
        /// The flow.
        flow: String,
        /// The link.
        link: String,
    },
    /// A response to outages that nobody tells of.
    #[error("flow \"{flow}\": its outage-response is never told of an outage; expected {expected}")]
    Uninformed {
        /// The flow.
        flow: String,
        /// What is missing.
        expected: &'static str,
    },
    /// A route with too many hops.
    #[error("flow \"{0}\": its route has more than 255 links")]
    LongRoute(String),
}

/// Name of a direction of a link in results: the link's own name, and with `/reverse` the other.
pub(crate) fn direction_name(link: &scenario::Link, is_reverse: bool) -> String {
    if is_reverse {
        format!("{}/reverse", link.name)
    } else {
        link.name.clone()
    }
}

/// Names of the directions of links and bearers in results, in the order of their ids.
pub(crate) fn direction_names(scenario: &Scenario) -> impl Iterator<Item = String> {
    let links = scenario.links.iter();
    let links = links.flat_map(|link| [direction_name(link, false), direction_name(link, true)]);
    let rabs = scenario.rabs.iter();
    links.chain(rabs.flat_map(|rab| both_directions_of(&rab.name)))
}

/// Builds the parts of a world.
///
/// # Errors
/// [`BuildError`] where the scenario passed its own checks but a layer refuses it.
pub(crate) fn parts(
    scenario: &Scenario,
    choose: ChooseCongestion<'_>,
) -> Result<Parts, BuildError> {
    let radio = radio::build(scenario)?;
    let mut parts = Parts {
        serving: radio::serving(radio.as_ref(), scenario),
        radio,
        ..Parts::default()
    };
    for index in 0..scenario.links.len() {
        for is_reverse in [false, true] {
            let id = link_id(index, is_reverse);
            debug_assert_eq!(id.index(), parts.links.len(), "directions alternate");
            parts
                .links
                .push(link::build_link(scenario, index, is_reverse, id)?);
        }
    }
    for index in 0..scenario.rabs.len() {
        let hop = scenario.links.len() + index;
        let ids = [link_id(hop, false), link_id(hop, true)];
        let (directions, states) = rab::build_rab(scenario, index, ids)?;
        if let Some(config) = states {
            let states = RadioStates::new(config);
            parts.radio_states.push((ids, states));
        }
        parts.links.extend(directions);
    }
    let mut path_flows = multipath::PathFlows::new(scenario);
    for flow in &scenario.flows {
        let first = path_flows.take(flow);
        add_flow(scenario, flow, first, &mut parts, choose)?;
    }
    Ok(parts)
}

/// What captures of the radio need to know.
pub(crate) fn radio_info(scenario: &Scenario, parts: &Parts) -> RadioInfo {
    radio::info(scenario, parts.radio.as_ref())
}

fn link_id(link: usize, is_reverse: bool) -> LinkId {
    LinkId((2 * link + usize::from(is_reverse)) as u32)
}

fn add_flow(
    scenario: &Scenario,
    flow: &scenario::Flow,
    first_path: FlowId,
    parts: &mut Parts,
    choose: ChooseCongestion<'_>,
) -> Result<(), BuildError> {
    let id = FlowId(parts.flows.len() as u32);
    let sender = EndpointId(parts.hosts.len() as u32);
    let receiver = EndpointId(sender.0 + 1);
    if let Some(described) = &flow.multipath {
        multipath::add(scenario, flow, described, first_path, parts, choose)?;
        return push_flow(scenario, flow, sender, receiver, parts);
    }
    let unknown = |kind, name: &str| BuildError::Unknown {
        flow: flow.name.clone(),
        kind,
        name: name.to_owned(),
    };
    let config = TcpConfig::new(&flow.profile, &flow.tcp)
        .ok_or_else(|| unknown("profile", &flow.profile))?;
    let none = Parameters::default();
    let (name, given) = match &flow.congestion_control {
        Some(named) => (named.name.as_str(), &named.parameters),
        None => (default_congestion_control(config.recovery), &none),
    };
    let forward = route(scenario, flow, false, parts)?;
    let backward = route(scenario, flow, true, parts)?;
    for (endpoint, peer, route) in [(sender, receiver, forward), (receiver, sender, backward)] {
        let random = Stream::new(scenario.seed, "congestion", u64::from(endpoint.0));
        let congestion = match choose(flow) {
            Some(custom) => custom,
            None => Congestion::new(name, given, random)
                .ok_or_else(|| unknown("congestion control", name))?,
        };
        let tcp = TcpEndpoint::new(&config, id, congestion);
        parts
            .hosts
            .push(Host::new(End::Single(tcp), id, peer, route));
    }
    check_outage_response(flow, &config)?;
    if let Some(settings) = &flow.link_info {
        let crossed = parts.routes[forward.index()]
            .iter()
            .find(|link| link.index() / 2 == settings.link);
        let Some(crossed) = crossed else {
            return Err(BuildError::ForeignLink {
                flow: flow.name.clone(),
                link: scenario.hop_name(settings.link),
            });
        };
        let end = Time::ZERO.saturating_add(scenario.duration);
        let random = Stream::new(scenario.seed, "link-info", u64::from(id.0));
        let link = &parts.links[crossed.index()];
        let notices = Notices::new(id, link, settings, end, random);
        parts.notices.push(notices);
    }
    push_flow(scenario, flow, sender, receiver, parts)
}

fn push_flow(
    scenario: &Scenario,
    flow: &scenario::Flow,
    sender: EndpointId,
    receiver: EndpointId,
    parts: &mut Parts,
) -> Result<(), BuildError> {
    let unknown = |kind, name: &str| BuildError::Unknown {
        flow: flow.name.clone(),
        kind,
        name: name.to_owned(),
    };
    let id = FlowId(parts.flows.len() as u32);
    let random = Stream::new(scenario.seed, "application", u64::from(id.0));
    let scenario::Named { name, parameters } = &flow.application;
    let application =
        Application::new(name, parameters, random).ok_or_else(|| unknown("application", name))?;
    parts.flows.push(Flow {
        application,
        sender,
        receiver,
        start: flow.start,
        delivered: 0,
        first_delivery_at: None,
        established_at: None,
        completed_at: None,
        is_aborted: false,
        wake: Wake::default(),
    });
    Ok(())
}

/// A response to outages needs a link that tells of them.
fn check_outage_response(flow: &scenario::Flow, config: &TcpConfig) -> Result<(), BuildError> {
    let has_prediction = flow.link_info.map(|info| info.prediction.is_some());
    let expected = match (config.resilience.outage, has_prediction) {
        (OutageResponse::None, _) | (_, Some(true)) => return Ok(()),
        (_, None) => "a `link-info`",
        (OutageResponse::Freeze, Some(false)) => "a `prediction` in its `link-info`",
        (_, Some(false)) => return Ok(()),
    };
    Err(BuildError::Uninformed {
        flow: flow.name.clone(),
        expected,
    })
}

/// What a stack of that age ran.
pub(crate) fn default_congestion_control(recovery: LossRecovery) -> &'static str {
    match recovery {
        LossRecovery::Rack => "cubic",
        LossRecovery::Sack | LossRecovery::NewReno | LossRecovery::Reno => "newreno",
        LossRecovery::Tahoe => "tahoe",
    }
}

fn route(
    scenario: &Scenario,
    flow: &scenario::Flow,
    is_reverse: bool,
    parts: &mut Parts,
) -> Result<RouteId, BuildError> {
    let hops = match (&flow.route, is_reverse) {
        (Some(given), true) => Some(backward(given)),
        (None, true) => scenario.route(flow.to, flow.from, &parts.serving),
        (_, false) => scenario.route_of(flow, &parts.serving),
    };
    let hops = hops.ok_or_else(|| BuildError::NoRoute(flow.name.clone()))?;
    route_over(flow, &hops, parts)
}

/// The way back over the same hops.
fn backward(hops: &[scenario::Hop]) -> Vec<scenario::Hop> {
    let turned = hops.iter().rev().map(|hop| scenario::Hop {
        is_reverse: !hop.is_reverse,
        ..*hop
    });
    turned.collect()
}

fn route_over(
    flow: &scenario::Flow,
    hops: &[scenario::Hop],
    parts: &mut Parts,
) -> Result<RouteId, BuildError> {
    if hops.len() > usize::from(u8::MAX) {
        return Err(BuildError::LongRoute(flow.name.clone()));
    }
    let links: Vec<LinkId> = hops
        .iter()
        .map(|hop| link_id(hop.link, hop.is_reverse))
        .collect();
    // Flows between the same nodes share a route; with many flows that is most of them.
    if let Some(known) = parts.routes.iter().rposition(|known| *known == links) {
        return Ok(RouteId(known as u32));
    }
    parts.routes.push(links);
    Ok(RouteId(parts.routes.len() as u32 - 1))
}

/// What bounds the rate of a bearer in a cell; `None` where that cannot be built.
pub(crate) fn bounds(
    scenario: &Scenario,
    bearer: &scenario::Bearer<'_>,
    cell: usize,
) -> Option<Bounds> {
    radio::bounds(&scenario.cells[cell], bearer)
}

/// Builds a world that `probe` looks at.
///
/// # Errors
/// As [`BuildError`] says.
pub fn build<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
) -> Result<crate::World<P>, BuildError> {
    build_with(scenario, probe, &mut |_| None)
}

/// Builds a world whose flows may run a congestion control of the user's own: `choose` is asked
/// for each end of each flow, on a multipath flow without coupling for each end of each path, and
/// what the scenario names holds where it answers `None`.
///
/// # Errors
/// As [`BuildError`] says.
pub fn build_with<P: fadeout_core::Probe>(
    scenario: &Scenario,
    probe: P,
    choose: ChooseCongestion<'_>,
) -> Result<crate::World<P>, BuildError> {
    let end = Time::ZERO.saturating_add(scenario.duration);
    Ok(crate::World::new(parts(scenario, choose)?, end, probe))
}

/// Chooses the congestion control of an end of a flow; `None` for the scenario's.
pub type ChooseCongestion<'a> = &'a mut dyn FnMut(&scenario::Flow) -> Option<Congestion>;
