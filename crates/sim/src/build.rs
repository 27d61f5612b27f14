//! From a scenario to the parts of a world.

pub(crate) mod multipath;

use crate::notices::Notices;
use crate::world::{End, Flow, Host, Parts};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Decibel, EndpointId, FlowId, LinkId, Rate, RouteId, Span, Time, Wake};
use fadeout_link as link;
use fadeout_radio::phy::mcs::McsTable;
use fadeout_radio::phy::rate::{NrMcs, RateModel};
use fadeout_radio::{self as radio, LinkBudget};
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
    /// A blockage's parameters do not make one.
    #[error("blockage \"{blockage}\": {reason}")]
    Blockage {
        /// Its name.
        blockage: String,
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

/// Builds the parts of a world.
///
/// # Errors
/// [`BuildError`] where the scenario passed its own checks but a layer refuses it.
pub(crate) fn parts(
    scenario: &Scenario,
    choose: ChooseCongestion<'_>,
) -> Result<Parts, BuildError> {
    let mut parts = Parts::default();
    for index in 0..scenario.links.len() {
        for is_reverse in [false, true] {
            let id = link_id(index, is_reverse);
            debug_assert_eq!(id.index(), parts.links.len(), "directions alternate");
            parts
                .links
                .push(build_link(scenario, index, is_reverse, id)?);
        }
    }
    let mut path_flows = multipath::PathFlows::new(scenario);
    for flow in &scenario.flows {
        let first = path_flows.take(flow);
        add_flow(scenario, flow, first, &mut parts, choose)?;
    }
    Ok(parts)
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
                link: scenario.links[settings.link].name.clone(),
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
    let (from, to) = if is_reverse {
        (flow.to, flow.from)
    } else {
        (flow.from, flow.to)
    };
    let hops = scenario
        .route(from, to)
        .ok_or_else(|| BuildError::NoRoute(flow.name.clone()))?;
    route_over(flow, &hops, parts)
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

fn build_link(
    scenario: &Scenario,
    index: usize,
    is_reverse: bool,
    id: LinkId,
) -> Result<link::Link, BuildError> {
    let described = &scenario.links[index];
    let direction = if is_reverse {
        &described.reverse
    } else {
        &described.forward
    };
    let refuse = |reason: String| BuildError::Link {
        link: direction_name(described, is_reverse),
        reason,
    };
    let (rate, mean) = rate(&direction.rate).map_err(&refuse)?;
    let config = link::LinkConfig {
        rate,
        delay: direction.delay,
        jitter: direction.jitter,
        framing: direction.framing,
        queue: queue(&direction.queue, mean).map_err(&refuse)?,
        loss: loss(direction.loss),
        blockage: blockage(scenario, index, is_reverse)?,
    };
    link::Link::new(id, config, scenario.seed).map_err(|error| refuse(error.to_string()))
}

/// The rate process and its long-term mean.
fn rate(model: &scenario::RateModel) -> Result<(link::RateConfig, Rate), String> {
    use scenario::RateModel as M;
    Ok(match model {
        M::Constant(rate) => (link::RateConfig::Constant(*rate), *rate),
        M::Steps {
            steps,
            repeat_every,
        } => {
            let mean = mean_of_steps(steps, *repeat_every);
            let steps = steps
                .iter()
                .map(|&(at, rate)| link::RateStep {
                    at: at.since(Time::ZERO),
                    rate,
                })
                .collect();
            (
                link::RateConfig::Steps {
                    steps,
                    repeat_every: *repeat_every,
                },
                mean,
            )
        }
        M::OnOff { rate, off } => {
            let schedule = schedule(off);
            (
                link::RateConfig::OnOff {
                    on: *rate,
                    off: Rate::ZERO,
                    schedule,
                },
                *rate,
            )
        }
        M::Trace(trace) => {
            let parsed = link::Trace::parse(&trace.bytes)
                .map_err(|error| format!("{}: {error}", trace.path))?;
            let mean = parsed.mean_rate();
            (link::RateConfig::Trace(parsed), mean)
        }
        M::Radio(described) => {
            let rate = radio_rate(described, Decibel(0.0))?;
            (link::RateConfig::Constant(rate), rate)
        }
    })
}

fn mean_of_steps(steps: &[(Time, Rate)], repeat_every: Option<Span>) -> Rate {
    let Some(period) = repeat_every else {
        return steps
            .iter()
            .map(|&(_, rate)| rate)
            .max()
            .unwrap_or(Rate::ZERO);
    };
    let ends = steps
        .iter()
        .skip(1)
        .map(|&(at, _)| at)
        .chain([Time::ZERO + period]);
    let bits: f64 = steps
        .iter()
        .zip(ends)
        .map(|(&(at, rate), end)| rate.as_bits_per_sec() as f64 * end.since(at).as_secs_f64())
        .sum();
    Rate::from_bits_per_sec((bits / period.as_secs_f64()) as u64)
}

fn budget(described: &scenario::Radio) -> LinkBudget {
    LinkBudget {
        carrier: described.carrier,
        bandwidth: described.bandwidth,
        tx_power: described.tx_power,
        tx_hpbw_deg: described.tx_beamwidth_deg,
        rx_hpbw_deg: described.rx_beamwidth_deg,
        distance: described.distance,
        tx_height: described.tx_height,
        rx_height: described.rx_height,
        elevation_hpbw_deg: described.elevation_beamwidth_deg,
        antenna_efficiency: described.antenna_efficiency,
        noise_figure: described.noise_figure,
        layers: described.layers,
        overhead: described.overhead,
        adaptation: RateModel::NrMcs(NrMcs {
            table: match described.mcs_table {
                scenario::McsTable::Qam64 => McsTable::Qam64,
                scenario::McsTable::Qam256 => McsTable::Qam256,
                scenario::McsTable::Qam64LowSe => McsTable::Qam64LowSe,
            },
            gap: described.implementation_loss,
            ..NrMcs::default()
        }),
    }
}

/// Rate of a radio link behind an additional loss.
fn radio_rate(described: &scenario::Radio, loss: Decibel) -> Result<Rate, String> {
    let state = budget(described)
        .attenuated(loss)
        .map_err(|error| error.to_string())?;
    if loss.0 == 0.0 && state.rate.is_zero() {
        return Err(format!(
            "the link budget gives an SNR of {:.1} dB, too little for any data; \
             expected more power, a shorter distance or narrower beams",
            state.snr.0
        ));
    }
    Ok(capped(state.rate, described))
}

fn capped(rate: Rate, described: &scenario::Radio) -> Rate {
    described.max_rate.map_or(rate, |most| rate.min(most))
}

fn queue(queue: &scenario::Queue, rate: Rate) -> Result<link::QueueConfig, String> {
    let limit = match queue.limit {
        scenario::QueueLimit::Packets(packets) => Some(link::Limit::Packets(
            u32::try_from(packets).unwrap_or(u32::MAX),
        )),
        scenario::QueueLimit::Bytes(bytes) => Some(link::Limit::Bytes(bytes)),
        scenario::QueueLimit::Time(_) if rate.is_unlimited() => None,
        scenario::QueueLimit::Time(span) => {
            let bytes = rate.as_bytes_per_sec_f64() * span.as_secs_f64();
            // At least one full packet fits, or nothing would ever pass.
            Some(link::Limit::Bytes(fadeout_core::Bytes(
                (bytes as u64).max(1500),
            )))
        }
    };
    let scenario::Named { name, parameters } = &queue.discipline;
    let discipline = link::QueueDiscipline::new(name, parameters, rate)
        .ok_or_else(|| format!("there is no queue discipline \"{name}\""))?;
    Ok(link::QueueConfig {
        limit,
        counts_delay_line: queue.counts_delay_line,
        discipline,
    })
}

fn loss(loss: scenario::Loss) -> link::LossConfig {
    match loss {
        scenario::Loss::None => link::LossConfig::None,
        scenario::Loss::Independent { probability } => {
            link::LossConfig::Independent { probability }
        }
        scenario::Loss::GilbertElliott {
            to_bad,
            to_good,
            loss_good,
            loss_bad,
        } => link::LossConfig::GilbertElliott(link::GilbertElliott {
            good_to_bad: to_bad,
            bad_to_good: to_good,
            loss_good,
            loss_bad,
        }),
    }
}

fn schedule(schedule: &scenario::Schedule) -> link::Schedule {
    match schedule {
        scenario::Schedule::Periodic {
            period,
            duration,
            phase,
        } => link::Schedule::Periodic {
            period: *period,
            duration: *duration,
            phase: match phase {
                scenario::Phase::Fixed(at) => link::Phase::Fixed(*at),
                scenario::Phase::Random => link::Phase::Random,
            },
        },
        scenario::Schedule::Scripted(intervals) => link::Schedule::Scripted(intervals.clone()),
        scenario::Schedule::Exponential {
            mean_clear,
            mean_blocked,
        } => link::Schedule::Exponential {
            mean_gap: *mean_clear,
            mean_length: *mean_blocked,
        },
    }
}

/// The blockages of one direction of a link, drawn up to the end of the run.
fn blockage(
    scenario: &Scenario,
    link: usize,
    is_reverse: bool,
) -> Result<Option<link::BlockageConfig>, BuildError> {
    let mut effect = None;
    let mut intervals = Vec::new();
    for (index, blockage) in scenario.blockages.iter().enumerate() {
        let hits = if is_reverse {
            blockage.direction.has_reverse()
        } else {
            blockage.direction.has_forward()
        };
        if blockage.link != link || !hits {
            continue;
        }
        let refuse = |reason: String| BuildError::Blockage {
            blockage: blockage.name.clone(),
            reason,
        };
        let mapped = map_effect(blockage.effect);
        if effect.is_some_and(|known| known != mapped) {
            return Err(refuse(
                "another blockage of this link has a different effect; expected the same".into(),
            ));
        }
        effect = Some(mapped);
        // Both directions of a blockage share its stream: it hits them at the same times.
        let stream = |name| Stream::new(scenario.seed, name, index as u64);
        let until = Time::ZERO.saturating_add(scenario.duration);
        let times =
            link::schedule::intervals(&schedule(&blockage.schedule), until, stream("blockage"))
                .map_err(|error| refuse(error.to_string()))?;
        let mut draws = stream("blockage.distance");
        for (start, end) in times {
            let (rate, loss_db) =
                depth(&scenario.links[link], blockage, is_reverse, &mut draws).map_err(&refuse)?;
            intervals.push(link::BlockageInterval {
                start,
                end,
                rate,
                loss_db,
            });
        }
    }
    Ok(effect.map(|effect| link::BlockageConfig { effect, intervals }))
}

fn map_effect(effect: scenario::BlockageEffect) -> link::BlockageEffect {
    match effect {
        scenario::BlockageEffect::Held { limit } => link::BlockageEffect::Held {
            limit: limit.map(|limit| match limit {
                scenario::HoldLimit::Packets(packets) => {
                    link::Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
                }
                scenario::HoldLimit::Bytes(bytes) => link::Limit::Bytes(bytes),
            }),
        },
        scenario::BlockageEffect::Lost => link::BlockageEffect::Lost,
        scenario::BlockageEffect::DroppedOnArrival => link::BlockageEffect::DroppedOnArrival,
    }
}

/// Rate and loss while one blockage lasts.
fn depth(
    link: &scenario::Link,
    blockage: &scenario::Blockage,
    is_reverse: bool,
    draws: &mut Stream,
) -> Result<(Rate, f64), String> {
    // A budget belongs to the path, so the reverse direction may borrow the forward one's.
    let own = if is_reverse {
        &link.reverse
    } else {
        &link.forward
    };
    match &blockage.depth {
        scenario::BlockageDepth::Total => Ok((Rate::ZERO, 0.0)),
        scenario::BlockageDepth::Rate(rate) => Ok((*rate, 0.0)),
        scenario::BlockageDepth::Loss(loss) => match own.rate.radio() {
            Some(radio) => Ok((radio_rate(radio, *loss)?, loss.0)),
            None => Ok((Rate::UNLIMITED, loss.0)),
        },
        scenario::BlockageDepth::Geometry(blocker) => {
            let (near, far) = blocker.distance;
            let distance = fadeout_core::Meters(draws.uniform_in(near.0, far.0));
            let Some(described) = own.rate.radio() else {
                return Ok((Rate::UNLIMITED, 0.0));
            };
            let state = budget(described)
                .blocked(&radio::Blocker {
                    width: blocker.width,
                    height: blocker.height,
                    distance_to_rx: distance,
                    offset: blocker.offset,
                })
                .map_err(|error| error.to_string())?;
            Ok((capped(state.rate, described), state.blockage_loss.0))
        }
    }
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
