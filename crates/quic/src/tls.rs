//! TLS 1.3 by the library rustls, with random numbers of the scenario's seed.
//!
//! The library takes random numbers from static objects. So an end lends its stream to its thread
//! for each step. The only group of the key exchange is X25519, with a secret from this stream. The
//! server signs with Ed25519, whose signatures are a function of key and message. So a handshake
//! has the same bits each time.
//!
//! The certificate is a placeholder of the scenario's size. The client knows the server's key, and
//! checks the signature of the handshake with it.
//!
//! Standard: RFC 8446 §4; RFC 9001 §5.

use crate::identifiers::{self, Calendar};
use fadeout_core::random::Stream;
use noq_proto::crypto;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use noq_proto::rustls::crypto::ring::{cipher_suite, default_provider};
use noq_proto::rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup, verify_tls13_signature_with_raw_key,
};
use noq_proto::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
    UnixTime,
};
use noq_proto::rustls::server::{ClientHello, ResolvesServerCert};
use noq_proto::rustls::sign::{CertifiedKey, SigningKey};
use noq_proto::rustls::time_provider::TimeProvider;
use noq_proto::rustls::version::TLS13;
use noq_proto::rustls::{
    ClientConfig, DigitallySignedStruct, Error, KeyLog, NamedGroup, PeerMisbehaved, ServerConfig,
    SignatureScheme,
};
use std::cell::RefCell;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use x25519_dalek::{PublicKey, StaticSecret};

/// True if connections may have real encryption.
pub(crate) const IS_PRESENT: bool = true;

thread_local! {
    /// Random numbers of the end that takes a step on this thread. `None` outside of a step.
    static RANDOM: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

/// Runs a step with random numbers of a stream. Returns the result of the step, and the stream
/// after it.
pub(crate) fn lend<R>(random: Stream, step: impl FnOnce() -> R) -> (R, Stream) {
    RANDOM.with_borrow_mut(|lent| *lent = Some(random));
    let result = step();
    let random = RANDOM.with_borrow_mut(Option::take);
    (
        result,
        random.expect("a step does not take the stream away"),
    )
}

/// Fills `bytes` with random numbers of the end that takes a step.
fn fill(bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
    RANDOM.with_borrow_mut(|random| {
        let random = random.as_mut().ok_or(GetRandomFailed)?;
        identifiers::fill(random, bytes);
        Ok(())
    })
}

/// Source of random numbers of the library.
#[derive(Debug)]
struct Lent;

impl SecureRandom for Lent {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        fill(bytes)
    }
}

/// Group X25519 of the key exchange.
///
/// Standard: RFC 7748 §6.1.
#[derive(Debug)]
struct X25519;

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut secret = [0; 32];
        fill(&mut secret)?;
        let secret = StaticSecret::from(secret);
        let public = PublicKey::from(&secret);
        Ok(Box::new(Exchange { secret, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// A key exchange that has begun.
struct Exchange {
    secret: StaticSecret,
    public: PublicKey,
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = <[u8; 32]>::try_from(peer).map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let shared = self.secret.diffie_hellman(&PublicKey::from(peer));
        Ok(SharedSecret::from(&shared.as_bytes()[..]))
    }

    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl TimeProvider for Calendar {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::ZERO))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![&X25519],
        secure_random: &Lent,
        ..default_provider()
    })
}

/// First bytes of a private key of Ed25519 in the format PKCS #8, before the 32 bytes of the key.
///
/// Standard: RFC 8410 §7.
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Returns the key of the servers of a scenario.
fn server_key(seed: u64) -> Arc<dyn SigningKey> {
    let mut random = Stream::new(seed, "quic.certificate", 0);
    let mut key = [0; 32];
    identifiers::fill(&mut random, &mut key);
    let document = [&PKCS8[..], &key].concat();
    let document = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(document));
    let key = provider().key_provider.load_private_key(document);
    key.expect("each 32 bytes are a key of Ed25519")
}

/// Bytes of a message Certificate without the certificate: the length of its context, and the
/// lengths of the list, the certificate and its extensions. The settings count two of them.
///
/// Standard: RFC 8446 §4.4.2.
const CERTIFICATE_FRAME: u64 = 7;

/// Certificate of a server, and its key.
#[derive(Debug)]
struct Server(Arc<CertifiedKey>);

impl ResolvesServerCert for Server {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

/// Key that the client expects of the server.
#[derive(Debug)]
struct KnownServer {
    key: SubjectPublicKeyInfoDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for KnownServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has no TLS 1.2".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        _: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &self.key, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// Text of the keys of a connection, which an end shares with its server.
pub(crate) type Secrets = Arc<Mutex<String>>;

/// Log of the keys, in the format of `SSLKEYLOGFILE` that Wireshark reads.
struct Log(Secrets);

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl KeyLog for Log {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(label);
        for bytes in [client_random, secret] {
            text.push(' ');
            for byte in bytes {
                let _ = write!(text, "{byte:02x}");
            }
        }
        text.push('\n');
    }
}

/// Returns the cryptography of a client.
pub(crate) fn client(seed: u64) -> Arc<dyn crypto::ClientConfig> {
    let provider = provider();
    let server = server_key(seed);
    let key = server.public_key();
    let known = KnownServer {
        key: key
            .expect("the library computes the public key")
            .into_owned(),
        provider: Arc::clone(&provider),
    };
    let config = ClientConfig::builder_with_details(provider, Arc::new(Calendar))
        .with_protocol_versions(&[&TLS13])
        .expect("the cipher suite is of TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(known))
        .with_no_client_auth();
    let config = QuicClientConfig::try_from(config);
    Arc::new(config.expect("the cipher suite is that of Initial packets"))
}

/// Returns the cryptography of a server with certificates of a size in bytes. The keys of its
/// connections are appended to `secrets`.
pub(crate) fn server(
    seed: u64,
    certificate: u64,
    secrets: &Secrets,
) -> Arc<dyn crypto::ServerConfig> {
    let size = certificate.saturating_sub(CERTIFICATE_FRAME).max(1);
    let certificate = CertificateDer::from(vec![0; size as usize]);
    let certified = CertifiedKey::new(vec![certificate], server_key(seed));
    let mut config = ServerConfig::builder_with_details(provider(), Arc::new(Calendar))
        .with_protocol_versions(&[&TLS13])
        .expect("the cipher suite is of TLS 1.3")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Server(Arc::new(certified))));
    config.key_log = Arc::new(Log(Arc::clone(secrets)));
    let config = QuicServerConfig::try_from(config);
    Arc::new(config.expect("the cipher suite is that of Initial packets"))
}
