//! Configuration of QUIC connections.

use crate::clock::{Clock, duration};
use crate::control::{AdapterFactory, Make, refusal};
use crate::handshake::Shape;
use crate::identifiers::{Calendar, Identifiers, ResetKey, TokenKey, connection_id, fill};
use crate::observer::{Controllers, ObservedFactory};
use crate::qlog::{self, Log};
use crate::tls::{self, Secrets};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{EndpointId, Span};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::multipath::PathConfig;
use fadeout_transport::quic::{QuicControl, QuicCrypto, QuicSettings};
use noq_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, IdleTimeout, MtuDiscoveryConfig,
    NoneTokenStore, ServerConfig, TransportConfig, VarInt, crypto,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Room for the messages of the handshake, bytes. The largest certificate fits.
const CRYPTO_BUFFER: usize = 1 << 17;

/// Number of receive windows that the send buffer holds, as in the stack's default.
const SEND_WINDOWS: u64 = 8;

/// Shortest initial round-trip time and timeout of a path. The stack's timers have a resolution of
/// 1 ms.
const SHORTEST_TIME: Span = Span::from_millis(1);

/// Number of additional path numbers for each path of the scenario. A path that was given up opens
/// again under a new number while its old number is still in use.
const SPARE_PATHS: u32 = 4;

/// Number of packets that an end sends on a quiet path in the time after which it gives up a path
/// without packets.
const KEEP_ALIVES: u64 = 3;

/// Reason why a congestion control cannot run over QUIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuicConfigError {
    /// No built-in congestion control has this name.
    Unknown,
    /// The congestion control needs something that the QUIC stack does not have.
    Refused(&'static str),
    /// This build has no real encryption.
    NoTls,
    /// 0-RTT with real encryption, which has no earlier session to resume.
    ZeroRtt,
    /// The time of a key is below 1 ms.
    Short(&'static str),
}

/// Places to which the stack of an end writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outputs {
    /// Controllers of the end's paths.
    pub(crate) built: Controllers,
    /// Events in the format qlog.
    pub(crate) log: Log,
    /// Keys of TLS.
    pub(crate) secrets: Secrets,
}

/// Paths of a connection.
#[derive(Debug, Clone)]
pub struct QuicPaths {
    /// Paths, of which the connection opens on the first.
    pub list: Vec<PathConfig>,
    /// Time from the establishment of the connection to the opening of the other paths.
    pub join_delay: Span,
}

impl Default for QuicPaths {
    /// Returns a single path, usable for the whole run.
    fn default() -> Self {
        QuicPaths {
            list: vec![PathConfig::default()],
            join_delay: Span::ZERO,
        }
    }
}

/// Configuration of the ends of a QUIC connection.
#[derive(Debug, Clone)]
pub struct QuicConfig {
    settings: QuicSettings,
    control: (String, Parameters),
    paths: QuicPaths,
    seed: u64,
    has_log: bool,
}

impl QuicConfig {
    /// Returns a configuration. `control` is the flow's congestion control with its parameters, and
    /// `seed` the scenario's seed.
    ///
    /// # Errors
    /// Returns a [`QuicConfigError`] if QUIC cannot use the flow's congestion control, or if a time
    /// is out of range.
    pub fn new(
        settings: QuicSettings,
        (name, given): (&str, &Parameters),
        paths: QuicPaths,
        seed: u64,
    ) -> Result<QuicConfig, QuicConfigError> {
        check_times(&settings)?;
        if settings.crypto == QuicCrypto::Tls && !tls::IS_PRESENT {
            return Err(QuicConfigError::NoTls);
        }
        if settings.zero_rtt && settings.crypto == QuicCrypto::Tls {
            return Err(QuicConfigError::ZeroRtt);
        }
        let config = QuicConfig {
            settings,
            control: (name.to_owned(), given.clone()),
            paths,
            seed,
            has_log: false,
        };
        if settings.control == QuicControl::Flow {
            let control = Congestion::new(name, given, Stream::new(seed, "congestion", 0));
            let control = control.ok_or(QuicConfigError::Unknown)?;
            if let Some(reason) = refusal(&control) {
                return Err(QuicConfigError::Refused(reason));
            }
        }
        Ok(config)
    }

    /// Lets the ends write the events of the connection in the format qlog.
    #[must_use]
    pub fn with_log(self) -> QuicConfig {
        QuicConfig {
            has_log: true,
            ..self
        }
    }

    /// Returns the random numbers of TLS at an end. `None` without real encryption.
    pub(crate) fn tls_random(&self, endpoint: EndpointId) -> Option<Stream> {
        (self.settings.crypto == QuicCrypto::Tls).then(|| self.random("quic.tls", endpoint))
    }

    /// Returns the settings of the scenario.
    pub(crate) fn settings(&self) -> &QuicSettings {
        &self.settings
    }

    pub(crate) fn initial_rtt(&self) -> Span {
        self.settings.initial_rtt
    }

    pub(crate) fn paths(&self) -> &[PathConfig] {
        &self.paths.list
    }

    /// Returns the longest time in which an end sends nothing on one of several paths.
    pub(crate) fn longest_quiet(&self) -> Span {
        self.settings.path_timeout / KEEP_ALIVES
    }

    pub(crate) fn path_timeout(&self) -> Span {
        self.settings.path_timeout
    }

    pub(crate) fn join_delay(&self) -> Span {
        self.paths.join_delay
    }

    fn largest_payload(&self) -> u16 {
        u16::try_from(self.settings.largest_payload().0).unwrap_or(u16::MAX)
    }

    fn shape(&self) -> Shape {
        Shape {
            certificate: self.settings.certificate.0 as usize,
            is_resumed: self.settings.zero_rtt,
        }
    }

    fn random(&self, domain: &str, endpoint: EndpointId) -> Stream {
        Stream::new(self.seed, domain, u64::from(endpoint.0))
    }

    fn controllers(
        &self,
        endpoint: EndpointId,
        clock: Clock,
    ) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self.settings.control {
            QuicControl::NewReno => Arc::new(NewRenoConfig::default()),
            QuicControl::Cubic => Arc::new(CubicConfig::default()),
            QuicControl::Flow => {
                let (name, given) = self.control.clone();
                let (seed, built) = (self.seed, AtomicU64::new(0));
                let make: Make = Arc::new(move || {
                    // Each path has random numbers of its own.
                    let number = built.fetch_add(1, Ordering::Relaxed);
                    let entity = u64::from(endpoint.0) | number << 32;
                    let random = Stream::new(seed, "congestion", entity);
                    let control = Congestion::new(&name, &given, random);
                    control.expect("the configuration was checked")
                });
                Arc::new(AdapterFactory { make, clock })
            }
        }
    }

    fn transport(&self, endpoint: EndpointId, clock: Clock, outputs: &Outputs) -> TransportConfig {
        let settings = &self.settings;
        let window = VarInt::from_u64(settings.receive_window.0).unwrap_or(VarInt::MAX);
        let idle = IdleTimeout::try_from(duration(settings.idle_timeout));
        // Transport parameters have 62 bits, and a time of a scenario is at most 1,000,000 s.
        let idle = idle.expect("the timeout fits into a transport parameter");
        let mut config = TransportConfig::default();
        config
            .max_idle_timeout((!settings.idle_timeout.is_zero()).then_some(idle))
            .stream_receive_window(window)
            .send_window(SEND_WINDOWS * settings.receive_window.0)
            .initial_rtt(duration(self.initial_rtt()))
            .crypto_buffer_size(CRYPTO_BUFFER)
            .mtu_discovery_config(settings.mtu_discovery.then(|| {
                let mut discovery = MtuDiscoveryConfig::default();
                discovery.upper_bound(self.largest_payload());
                discovery
            }))
            // Every datagram leaves by itself, at the time at which the pacer allows it.
            .enable_segmentation_offload(false)
            .congestion_controller_factory(Arc::new(ObservedFactory {
                inner: self.controllers(endpoint, clock),
                built: outputs.built.clone(),
            }));
        if self.has_log {
            qlog::attach(&mut config, &outputs.log, clock);
        }
        if self.paths.list.len() > 1 {
            config.max_concurrent_multipath_paths(self.paths.list.len() as u32 * (1 + SPARE_PATHS));
        }
        if let Some(between) = settings.ack_frequency.checked_sub(1) {
            let mut frequency = AckFrequencyConfig::default();
            frequency.ack_eliciting_threshold(VarInt::from_u32(between));
            config.ack_frequency_config(Some(frequency));
        }
        config
    }

    /// Returns the configuration of an end, without the role.
    pub(crate) fn endpoint(&self, endpoint: EndpointId) -> EndpointConfig {
        let mut config = EndpointConfig::new(Arc::new(ResetKey));
        let mut random = self.random("quic", endpoint);
        let mut seed = [0; 32];
        fill(&mut random, &mut seed);
        let identifiers = Identifiers(random);
        config
            .rng_seed(Some(seed))
            // A capture is easier to read with the fixed bit of RFC 9000.
            .grease_quic_bit(false)
            .cid_generator(Arc::new(move || Box::new(identifiers.clone())));
        let sized = config.max_udp_payload_size(self.largest_payload());
        debug_assert!(sized.is_ok(), "an MTU is at least 1228 bytes");
        config
    }

    /// Returns the configuration of the client.
    pub(crate) fn client(
        &self,
        endpoint: EndpointId,
        clock: Clock,
        outputs: &Outputs,
    ) -> ClientConfig {
        let crypto: Arc<dyn crypto::ClientConfig> = match self.settings.crypto {
            QuicCrypto::Null => Arc::new(self.shape()),
            QuicCrypto::Tls => tls::client(self.seed),
        };
        let mut config = ClientConfig::new(crypto);
        let first = connection_id(&mut self.random("quic.first", endpoint));
        config
            .transport_config(Arc::new(self.transport(endpoint, clock, outputs)))
            .token_store(Arc::new(NoneTokenStore))
            .initial_dst_cid_provider(Arc::new(move || first));
        config
    }

    /// Returns the configuration of the server.
    pub(crate) fn server(
        &self,
        endpoint: EndpointId,
        clock: Clock,
        outputs: &Outputs,
    ) -> ServerConfig {
        let certificate = self.settings.certificate.0;
        let crypto: Arc<dyn crypto::ServerConfig> = match self.settings.crypto {
            QuicCrypto::Null => Arc::new(self.shape()),
            QuicCrypto::Tls => tls::server(self.seed, certificate, &outputs.secrets),
        };
        let mut config = ServerConfig::new(crypto, Arc::new(TokenKey));
        config
            .transport_config(Arc::new(self.transport(endpoint, clock, outputs)))
            .migration(false)
            .time_source(Arc::new(Calendar));
        config
    }
}

/// Checks the times that the stack restricts.
fn check_times(settings: &QuicSettings) -> Result<(), QuicConfigError> {
    let times = [
        ("initial-rtt", settings.initial_rtt),
        ("path-timeout", settings.path_timeout),
    ];
    match times.into_iter().find(|&(_, time)| time < SHORTEST_TIME) {
        Some((key, _)) => Err(QuicConfigError::Short(key)),
        None => Ok(()),
    }
}
