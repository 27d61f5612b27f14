//! Configuration of QUIC connections.

use crate::clock::{Clock, duration};
use crate::control::{AdapterFactory, Make, refusal};
use crate::handshake::Shape;
use crate::identifiers::{Calendar, Identifiers, ResetKey, TokenKey, connection_id};
use crate::observer::{ObservedFactory, Shared};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{EndpointId, Span};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::quic::{QuicControl, QuicSettings};
use noq_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, IdleTimeout, MtuDiscoveryConfig,
    NoneTokenStore, ServerConfig, TransportConfig, VarInt,
};
use std::sync::Arc;

/// Room for the messages of the handshake, bytes. The largest certificate fits.
const CRYPTO_BUFFER: usize = 1 << 17;

/// Number of receive windows that the send buffer holds, as in the stack's default.
const SEND_WINDOWS: u64 = 8;

/// Longest idle timeout. Longer ones are cut, because transport parameters have 62 bits.
const LONGEST_TIMEOUT: Span = Span::from_secs(1_000_000);

/// Reason why a congestion control cannot run over QUIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuicConfigError {
    /// No built-in congestion control has this name.
    Unknown,
    /// The congestion control needs something that the QUIC stack does not have.
    Refused(&'static str),
}

/// Configuration of the ends of a QUIC connection.
#[derive(Debug, Clone)]
pub struct QuicConfig {
    settings: QuicSettings,
    control: (String, Parameters),
    seed: u64,
}

impl QuicConfig {
    /// Returns a configuration. `control` is the flow's congestion control with its parameters, and
    /// `seed` the scenario's seed.
    ///
    /// # Errors
    /// Returns a [`QuicConfigError`] if QUIC cannot use the flow's congestion control.
    pub fn new(
        settings: QuicSettings,
        (name, given): (&str, &Parameters),
        seed: u64,
    ) -> Result<QuicConfig, QuicConfigError> {
        let config = QuicConfig {
            settings,
            control: (name.to_owned(), given.clone()),
            seed,
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

    /// Returns the settings of the scenario.
    pub(crate) fn settings(&self) -> &QuicSettings {
        &self.settings
    }

    pub(crate) fn initial_rtt(&self) -> Span {
        self.settings.initial_rtt.max(Span::from_millis(1))
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
                let random = self.random("congestion", endpoint);
                let make: Make = Arc::new(move || {
                    let control = Congestion::new(&name, &given, random.clone());
                    control.expect("the configuration was checked")
                });
                Arc::new(AdapterFactory { make, clock })
            }
        }
    }

    fn transport(&self, endpoint: EndpointId, clock: Clock, seen: &Shared) -> TransportConfig {
        let settings = &self.settings;
        let window = VarInt::from_u64(settings.receive_window.0).unwrap_or(VarInt::MAX);
        let idle = duration(settings.idle_timeout.min(LONGEST_TIMEOUT));
        let idle = IdleTimeout::try_from(idle).expect("the timeout is limited");
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
                seen: Arc::clone(seen),
            }));
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
        for part in seed.chunks_mut(8) {
            part.copy_from_slice(&random.bits().to_be_bytes());
        }
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
    pub(crate) fn client(&self, endpoint: EndpointId, clock: Clock, seen: &Shared) -> ClientConfig {
        let mut config = ClientConfig::new(Arc::new(self.shape()));
        let first = connection_id(&mut self.random("quic.first", endpoint));
        config
            .transport_config(Arc::new(self.transport(endpoint, clock, seen)))
            .token_store(Arc::new(NoneTokenStore))
            .initial_dst_cid_provider(Arc::new(move || first));
        config
    }

    /// Returns the configuration of the server.
    pub(crate) fn server(&self, endpoint: EndpointId, clock: Clock, seen: &Shared) -> ServerConfig {
        let mut config = ServerConfig::new(Arc::new(self.shape()), Arc::new(TokenKey));
        config
            .transport_config(Arc::new(self.transport(endpoint, clock, seen)))
            .migration(false)
            .time_source(Arc::new(Calendar));
        config
    }
}
