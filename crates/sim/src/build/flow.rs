//! Flows: their endpoints, routes and applications.

use super::outlook::RadioOutlook;
use super::{BuildError, ChooseCongestion, kernel, multipath, prediction, quic};
use crate::directory::{Directory, FlowEntry};
use crate::hop::{Hop, MAX_HOPS};
use crate::notices::{Notices, Outlook};
use crate::routing::{Topology, backward};
use crate::world::{Endpoint, Flow, Parts, PortState, QuicSocket, Recipe, Transport, congestion};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, find};
use fadeout_core::{
    CellId, DATAGRAM_HEADERS, DrbId, EndpointId, FlowEnd, FlowId, Protocol, RouteId, Time, UeId,
};
use fadeout_quic::{QuicConfig, QuicEnd, QuicPaths};
use fadeout_scenario::{self as scenario, LinkInfoSource, Named, Scenario};
use fadeout_traffic::Application;
use fadeout_transport::NamedTransport;
use fadeout_transport::congestion::{CONGESTION_CONTROLS, Congestion};
use fadeout_transport::tcp::{LossRecovery, OutageResponse, TcpConfig};
use fadeout_transport::udp::UdpEndpoint;
use std::sync::Arc;

/// Largest SDU of PDCP in NR, bytes.
///
/// Standard: TS 38.323 §4.3.1.
const NR_LARGEST_SDU: u64 = 9000;
/// Largest SDU of PDCP in LTE, bytes.
///
/// Standard: TS 36.323 §4.3.1.
const LTE_LARGEST_SDU: u64 = 8188;

/// Builder of flows. It adds the flows to a simulation in the order of the scenario file.
pub(super) struct Flows<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) directory: &'a Directory,
    pub(super) topology: &'a mut Topology,
    pub(super) parts: &'a mut Parts,
    /// Future outages of the radio channels. Computed for the first flow that uses notices of
    /// outages.
    pub(super) outlook: Option<RadioOutlook<'a>>,
    /// The last added flow with one path, and the settings from which its endpoints are built.
    /// `None` before the first such flow.
    pub(super) latest: Option<(&'a scenario::Flow, Arc<Recipe>)>,
}

impl<'a> Flows<'a> {
    /// Adds the flow with number `id`, its endpoints and its application.
    pub(super) fn add(
        &mut self,
        id: FlowId,
        flow: &'a scenario::Flow,
        choose: ChooseCongestion<'_>,
    ) -> Result<(), BuildError> {
        let entry = self.directory.flow(id);
        let entry = entry.expect("the directory has every flow").clone();
        debug_assert_eq!(
            entry.sender.index(),
            self.parts.endpoints.len(),
            "endpoints are built in order"
        );
        let random = Stream::new(self.scenario.seed, "application", u64::from(id.0));
        let Named { name, parameters } = &flow.application;
        let application = Application::new(name, parameters, random)
            .ok_or_else(|| unknown(flow, "application", name))?;
        match (&flow.transport, application.protocol(), &flow.multipath) {
            (Some(named), ..) => {
                self.add_named((id, &entry), flow, named, &application, choose)?;
            }
            (None, Protocol::Udp, _) => self.add_datagrams((id, &entry), flow, &application)?,
            (None, Protocol::Tcp, _) if kernel::has_kernel(self.scenario, flow) => {
                kernel::add(self, (id, &entry), flow)?;
            }
            (None, Protocol::Tcp, Some(described)) => {
                let opener = application.opener();
                multipath::add(self, (id, &entry), flow, (described, opener), choose)?;
            }
            (None, Protocol::Tcp, None) => self.add_single(id, &entry, flow, choose)?,
        }
        let ends = (entry.sender, entry.receiver);
        let mut built = Flow::new(application, ends, flow.start);
        built.takes_notices = flow.link_info.is_some();
        self.parts.flows.push(built);
        Ok(())
    }

    fn add_datagrams(
        &mut self,
        (id, entry): (FlowId, &FlowEntry),
        flow: &scenario::Flow,
        application: &Application,
    ) -> Result<(), BuildError> {
        let given = [
            ("multipath", flow.multipath.is_some()),
            ("congestion-control", flow.congestion_control.is_some()),
            ("tcp", !flow.tcp.0.is_empty()),
            ("link-info", flow.link_info.is_some()),
        ];
        if let Some((key, _)) = given.into_iter().find(|&(_, is_given)| is_given) {
            return Err(BuildError::Datagrams {
                flow: flow.name.clone(),
                application: flow.application.name.clone(),
                key,
            });
        }
        let largest = (application.largest_datagram().0, "size");
        self.add_ends((id, entry), flow, largest, |end| {
            Transport::Udp(Box::new(UdpEndpoint::new(id, end)))
        })
    }

    /// Adds the ends of a flow that names a transport.
    fn add_named(
        &mut self,
        (id, entry): (FlowId, &FlowEntry),
        flow: &scenario::Flow,
        Named { name, parameters }: &Named,
        application: &Application,
        choose: ChooseCongestion<'_>,
    ) -> Result<(), BuildError> {
        let transport = NamedTransport::new(name, parameters)
            .ok_or_else(|| unknown(flow, "transport", name))?;
        let largest = (transport.largest_payload().0, "mtu");
        match transport {
            NamedTransport::Port(limits) => self.add_ends((id, entry), flow, largest, |end| {
                Transport::Port(Box::new(PortState::new(id, end, limits)))
            }),
            NamedTransport::Quic(settings) => {
                let unsupported = quic::Unsupported {
                    has_datagrams: application.protocol() == Protocol::Udp,
                    has_kernel: kernel::has_kernel(self.scenario, flow),
                    has_own_control: choose(flow).is_some(),
                };
                let paths = quic_paths(flow);
                let config = quic::config(flow, settings, &unsupported, paths, self.scenario)?;
                self.add_quic((id, entry), flow, &Arc::new(config), largest)
            }
        }
    }

    /// Adds the endpoints of a QUIC connection: the sender and the receiver of the first path, then
    /// of the second path, and so on.
    fn add_quic(
        &mut self,
        (id, entry): (FlowId, &FlowEntry),
        flow: &scenario::Flow,
        config: &Arc<QuicConfig>,
        largest: (u64, &'static str),
    ) -> Result<(), BuildError> {
        let mut paths: Vec<(FlowId, [RouteId; 2])> = Vec::new();
        match &flow.multipath {
            Some(described) => {
                for (path_id, path) in entry.paths().zip(&described.paths) {
                    let there = self.route_over(flow, &path.hops)?;
                    let back = self.route_over(flow, &backward(&path.hops))?;
                    paths.push((path_id, [there, back]));
                }
            }
            None => paths.push((id, self.ends(entry, flow)?.map(|(.., route)| route))),
        }
        // The sender and the receiver of a path have consecutive numbers.
        let firsts = [entry.sender, entry.receiver];
        let endpoint = |first: EndpointId, number: usize| EndpointId(first.0 + 2 * number as u32);
        for (number, (path_id, routes)) in paths.iter().enumerate() {
            for (side, &route) in routes.iter().enumerate() {
                self.check_datagrams(flow, largest, route)?;
                let first = firsts[side];
                let transport = match number {
                    0 => {
                        let quic = QuicEnd::new(Arc::clone(config), first);
                        let ends = (0..paths.len()).map(|number| endpoint(first, number));
                        Transport::Quic(Box::new(QuicSocket::new(quic, id, ends)))
                    }
                    _ => Transport::QuicPath {
                        first,
                        path: number as u8,
                    },
                };
                debug_assert_eq!(endpoint(first, number).index(), self.parts.endpoints.len());
                let peer = endpoint(firsts[1 - side], number);
                let endpoint = Endpoint::new(transport, *path_id, peer, route);
                self.parts.endpoints.push(endpoint);
            }
        }
        Ok(())
    }

    /// Adds the ends of a flow that sends datagrams on one path. `largest` has the payload of the
    /// largest datagram, and the key that determines it. `make` returns the transport of an end.
    fn add_ends(
        &mut self,
        (id, entry): (FlowId, &FlowEntry),
        flow: &scenario::Flow,
        largest: (u64, &'static str),
        make: impl Fn(FlowEnd) -> Transport,
    ) -> Result<(), BuildError> {
        for (end, endpoint, peer, route) in self.ends(entry, flow)? {
            self.check_datagrams(flow, largest, route)?;
            debug_assert_eq!(endpoint.index(), self.parts.endpoints.len());
            let endpoint = Endpoint::new(make(end), id, peer, route);
            self.parts.endpoints.push(endpoint);
        }
        Ok(())
    }

    /// Refuses datagrams that are larger than the largest SDU of PDCP, because IP packets are not
    /// fragmented. The arguments have the payload of the largest datagram, and the key that
    /// determines it.
    ///
    /// Standard: TS 38.323 §4.3.1; TS 36.323 §4.3.1.
    fn check_datagrams(
        &self,
        flow: &scenario::Flow,
        (payload, key): (u64, &'static str),
        route: RouteId,
    ) -> Result<(), BuildError> {
        let size = payload + u64::from(DATAGRAM_HEADERS);
        for &hop in self.parts.routes.hops(route) {
            let Hop::Bearer { bearer, .. } = hop else {
                continue;
            };
            let ue = self.directory.ue_of(bearer);
            let cell = self.serving(ue).map(|it| &self.scenario.cells[it.index()]);
            let most = match cell {
                Some(cell) if cell.radio.name == "nr" => NR_LARGEST_SDU,
                _ => LTE_LARGEST_SDU,
            };
            if size > most {
                return Err(BuildError::LongDatagram {
                    flow: flow.name.clone(),
                    ue: self.scenario.ues[ue.index()].name.clone(),
                    size,
                    most,
                    key,
                });
            }
        }
        Ok(())
    }

    /// Returns the two ends of a flow with one path, the sender first. Each end contains its peer
    /// and its route.
    pub(super) fn ends(
        &mut self,
        entry: &FlowEntry,
        flow: &scenario::Flow,
    ) -> Result<[(FlowEnd, EndpointId, EndpointId, RouteId); 2], BuildError> {
        let (sender, receiver) = (entry.sender, entry.receiver);
        let no_route = || BuildError::NoRoute(flow.name.clone());
        let there = self.topology.route_of(flow).ok_or_else(no_route)?;
        let forward = self.route_over(flow, &there)?;
        let back = self.topology.return_route_of(flow).ok_or_else(no_route)?;
        let backward = self.route_over(flow, &back)?;
        Ok([
            (FlowEnd::Sender, sender, receiver, forward),
            (FlowEnd::Receiver, receiver, sender, backward),
        ])
    }

    fn add_single(
        &mut self,
        id: FlowId,
        entry: &FlowEntry,
        flow: &'a scenario::Flow,
        choose: ChooseCongestion<'_>,
    ) -> Result<(), BuildError> {
        let recipe = self.recipe(flow)?;
        let ends = self.ends(entry, flow)?;
        let [(.., forward), _] = ends;
        for (end, endpoint, peer, route) in ends {
            let built = match choose(flow) {
                Some(custom) => Some(recipe.build_with(custom, (id, end))),
                None if !recipe.is_known => {
                    return Err(unknown_control(flow, recipe.config().recovery.method));
                }
                // The endpoint of a flow with notices is built at once, because notices may arrive
                // before the flow starts.
                None if flow.link_info.is_some() => Some(recipe.build(endpoint, (id, end))),
                None => None,
            };
            let tcp = match built {
                Some(built) => Transport::Tcp(Box::new(built)),
                None => Transport::Waiting(Arc::clone(&recipe)),
            };
            let endpoint = Endpoint::new(tcp, id, peer, route);
            self.parts.endpoints.push(endpoint);
        }
        check_outage_response(self.scenario, flow, recipe.config())?;
        if let Some(settings) = &flow.link_info {
            let notices = self.notices(id, flow, settings, forward)?;
            self.parts.notices.push(notices);
        }
        Ok(())
    }

    /// Returns the settings from which the endpoints of a flow with one path are built. Consecutive
    /// flows with equal settings share one recipe, such as all flows that one `count` creates.
    fn recipe(&mut self, flow: &'a scenario::Flow) -> Result<Arc<Recipe>, BuildError> {
        let is_alike = |other: &scenario::Flow| {
            (&other.profile, &other.tcp, &other.congestion_control)
                == (&flow.profile, &flow.tcp, &flow.congestion_control)
        };
        if let Some((other, recipe)) = &self.latest
            && is_alike(other)
        {
            return Ok(Arc::clone(recipe));
        }
        let config = TcpConfig::new(&flow.profile, &flow.tcp)
            .ok_or_else(|| unknown(flow, "profile", &flow.profile))?;
        let control = control_of(flow, config.recovery.method);
        let recipe = Arc::new(Recipe::new(config, control, self.scenario.seed));
        self.latest = Some((flow, Arc::clone(&recipe)));
        Ok(recipe)
    }

    /// Returns the notices to a flow from the source that `settings` name. The source must be a hop
    /// of `forward`.
    fn notices(
        &mut self,
        id: FlowId,
        flow: &scenario::Flow,
        settings: &scenario::LinkInfoSettings,
        forward: RouteId,
    ) -> Result<Notices, BuildError> {
        let crossed = self.parts.routes.hops(forward).iter();
        let mut sources = crossed
            .copied()
            .filter(|&hop| self.is_source(hop, settings));
        let Some(hop) = sources.next() else {
            return Err(BuildError::ForeignLink {
                flow: flow.name.clone(),
                link: self.scenario.source_name(settings.source),
            });
        };
        let end = Time::ZERO.saturating_add(self.scenario.duration);
        let outlook = match hop {
            Hop::Link(link) => Outlook::of_link(&self.parts.links[link.index()], end),
            // Notices are not known in advance if the UE changes cells or if vehicles report
            // blockages. Such notices are added during the run.
            Hop::Bearer { bearer, .. } if self.is_predicted(settings) => {
                self.refuse_given(flow, bearer)?;
                Outlook::default()
            }
            Hop::Bearer { bearer, .. } if self.is_managed(bearer) => Outlook::default(),
            Hop::Bearer { bearer, .. } => self.radio_outlook(flow, bearer, end)?,
            Hop::Backhaul(_) | Hop::Signal { .. } | Hop::Target { .. } => {
                unreachable!("no flow's route ends within a handover")
            }
        };
        let streams = ["link-info", "link-info-loss"]
            .map(|domain| Stream::new(self.scenario.seed, domain, u64::from(id.0)));
        Ok(Notices::new(id, outlook, settings, streams.into()))
    }

    /// True if the hop is the source that `settings` name.
    fn is_source(&self, hop: Hop, settings: &scenario::LinkInfoSettings) -> bool {
        match settings.source {
            LinkInfoSource::Medium(medium) => [false, true]
                .map(|is_reverse| self.directory.hop(scenario::Hop { medium, is_reverse }))
                .contains(&hop),
            LinkInfoSource::Cell(cell) => match hop {
                Hop::Bearer { bearer, .. } => {
                    self.serving(self.directory.ue_of(bearer))
                        .map(CellId::index)
                        == Some(cell)
                }
                _ => false,
            },
        }
    }

    /// True if base stations predict the blockages of the source that `settings` name.
    fn is_predicted(&self, settings: &scenario::LinkInfoSettings) -> bool {
        prediction::prediction_of(self.scenario, settings.source).is_some()
    }

    /// True if the UE of the bearer is under mobility management.
    fn is_managed(&self, bearer: DrbId) -> bool {
        let ue = self.directory.ue_of(bearer);
        self.scenario.mobility.is_some() && self.scenario.ues[ue.index()].sinr.is_none()
    }

    fn serving(&self, ue: UeId) -> Option<CellId> {
        self.parts.radio.as_ref()?.access.serving_cell(ue)
    }

    /// Returns the future outages between the UE of a bearer and its serving cell at the start.
    fn radio_outlook(
        &mut self,
        flow: &scenario::Flow,
        bearer: DrbId,
        end: Time,
    ) -> Result<Outlook, BuildError> {
        self.refuse_given(flow, bearer)?;
        let ue = self.directory.ue_of(bearer);
        let cell = self.serving(ue).expect("every UE of a route is served");
        let outlook = match &mut self.outlook {
            Some(outlook) => outlook,
            unknown => unknown.insert(RadioOutlook::new(self.scenario)?),
        };
        Ok(Outlook {
            rates: Vec::new(),
            outages: outlook.outages(ue, cell, end)?,
        })
    }

    /// Refuses notices from a UE whose SINR or gain is given in the scenario. Such a UE has no
    /// blockages.
    fn refuse_given(&self, flow: &scenario::Flow, bearer: DrbId) -> Result<(), BuildError> {
        let ue = self.directory.ue_of(bearer);
        let described = &self.scenario.ues[ue.index()];
        let is_recorded = |cell| {
            self.parts
                .radio
                .as_ref()
                .is_some_and(|radio| radio.access.is_recorded(ue, cell))
        };
        if described.sinr.is_some() || self.serving(ue).is_some_and(is_recorded) {
            return Err(BuildError::NeverBlocked {
                flow: flow.name.clone(),
                ue: described.name.clone(),
            });
        }
        Ok(())
    }

    /// Returns the congestion control of an endpoint: the one in the scenario, or the default of
    /// the endpoint's TCP stack.
    pub(super) fn congestion(
        &self,
        flow: &scenario::Flow,
        recovery: LossRecovery,
        endpoint: EndpointId,
    ) -> Result<Congestion, BuildError> {
        congestion(control_of(flow, recovery), self.scenario.seed, endpoint)
            .ok_or_else(|| unknown_control(flow, recovery))
    }

    /// Returns the number of the route over a list of hops.
    pub(super) fn route_over(
        &mut self,
        flow: &scenario::Flow,
        hops: &[scenario::Hop],
    ) -> Result<RouteId, BuildError> {
        if hops.is_empty() {
            return Err(BuildError::NoRoute(flow.name.clone()));
        }
        if hops.len() > MAX_HOPS {
            return Err(BuildError::LongRoute(flow.name.clone()));
        }
        let hops = hops.iter().map(|&hop| self.directory.hop(hop));
        let hops: Vec<Hop> = hops.collect();
        Ok(self.parts.routes.over(&hops))
    }
}

/// Returns name and parameters of a flow's congestion control: the one in the scenario, or the
/// default of the flow's TCP stack.
fn control_of(flow: &scenario::Flow, recovery: LossRecovery) -> (&str, &Parameters) {
    match &flow.congestion_control {
        Some(named) => (&named.name, &named.parameters),
        None => (default_congestion_control(recovery), Parameters::NONE),
    }
}

fn unknown_control(flow: &scenario::Flow, recovery: LossRecovery) -> BuildError {
    unknown(flow, "congestion control", control_of(flow, recovery).0)
}

/// Returns the error for a name that the catalog does not have.
pub(super) fn unknown(flow: &scenario::Flow, kind: &'static str, name: &str) -> BuildError {
    BuildError::Unknown {
        flow: flow.name.clone(),
        kind,
        name: name.to_owned(),
    }
}

/// Checks that a flow with an `outage-response` receives notices of outages.
fn check_outage_response(
    scenario: &Scenario,
    flow: &scenario::Flow,
    config: &TcpConfig,
) -> Result<(), BuildError> {
    let has_prediction = flow.link_info.map(|info| {
        info.prediction.is_some() || prediction::prediction_of(scenario, info.source).is_some()
    });
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

/// Returns the paths of a flow over QUIC.
fn quic_paths(flow: &scenario::Flow) -> QuicPaths {
    match &flow.multipath {
        Some(described) => QuicPaths {
            list: described.paths.iter().map(multipath::own_path).collect(),
            join_delay: described.join_delay,
        },
        None => QuicPaths::default(),
    }
}

/// True if the flow sends UDP datagrams instead of a TCP stream or QUIC streams.
pub(crate) fn is_datagrams(flow: &scenario::Flow) -> bool {
    if flow.transport.is_some() {
        return flow.has_port();
    }
    let Named { name, parameters } = &flow.application;
    let application = Application::new(name, parameters, Stream::new(0, "application", 0));
    application.is_some_and(|application| application.protocol() == Protocol::Udp)
}

/// True if the flow is a TCP stream with BBR.
pub(crate) fn has_bbr(flow: &scenario::Flow) -> bool {
    let control = flow.congestion_control.as_ref();
    let control = control.filter(|_| flow.transport.is_none());
    let entry = control.and_then(|control| find(CONGESTION_CONTROLS, &control.name));
    entry.is_some_and(|entry| entry.family == "model-based")
}

/// Returns the default congestion control of a TCP stack with this loss recovery.
pub(crate) fn default_congestion_control(recovery: LossRecovery) -> &'static str {
    match recovery {
        LossRecovery::Rack => "cubic",
        LossRecovery::Sack | LossRecovery::NewReno | LossRecovery::Reno => "newreno",
        LossRecovery::Tahoe => "tahoe",
    }
}
