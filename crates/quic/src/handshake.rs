//! Handshake with the messages and sizes of TLS 1.3, without encryption.
//!
//! Each message has the type and length of TLS. The transport parameters of QUIC are the first
//! bytes of the messages that carry them, and zeros follow in place of the other contents. The
//! sizes are those of a handshake with X25519, an ECDSA certificate, AES-128-GCM and SHA-256.
//!
//! Standard: RFC 8446 §4; RFC 9001 §4.

use crate::protection::{Level, early_keys, keys, packet_keys};
use noq_proto::crypto::{
    self, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
    UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;

const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const ENCRYPTED_EXTENSIONS: u8 = 8;
const CERTIFICATE: u8 = 11;
const CERTIFICATE_VERIFY: u8 = 15;
const FINISHED: u8 = 20;

/// Length of the type and length of a message, bytes.
const MESSAGE_HEADER: usize = 4;
/// Size of the ClientHello's body without the transport parameters: version, random number, three
/// cipher suites and the extensions of a browser without post-quantum keys.
const CLIENT_HELLO_BODY: usize = 230;
/// Further bytes of a ClientHello that resumes a session: a ticket of 160 bytes with its binder.
const RESUMPTION: usize = 215;
/// Size of the ServerHello's body: version, random number, cipher suite and key share.
const SERVER_HELLO_BODY: usize = 86;
/// Size of the body of EncryptedExtensions without the transport parameters: ALPN.
const EXTENSIONS_BODY: usize = 15;
/// Size of the body of CertificateVerify with an ECDSA signature.
const SIGNATURE_BODY: usize = 76;
/// Size of the body of Finished: a hash of SHA-256.
const FINISHED_BODY: usize = 32;

/// Properties of handshakes that both ends know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Size of the certificates, bytes.
    pub(crate) certificate: usize,
    /// True if the client resumes a session and sends 0-RTT data.
    pub(crate) is_resumed: bool,
}

/// Progress of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// The end has sent nothing. The client sends the ClientHello.
    Start,
    /// The client waits for the ServerHello, the server for the ClientHello.
    Hello,
    /// The hellos are exchanged. The end may get the keys of the handshake.
    Agreed,
    /// The end has the keys of the handshake, and waits for the peer's Finished.
    Keyed,
    /// The peer has finished. The client still has to send its own Finished.
    Answering,
    /// The handshake is complete.
    Done,
}

/// Handshake at one end.
pub(crate) struct Handshake {
    side: Side,
    shape: Shape,
    stage: Stage,
    own_parameters: Vec<u8>,
    peer_parameters: Option<Vec<u8>>,
    /// Bytes of messages that have not arrived completely.
    received: Vec<u8>,
    /// True if the caller knows that the peer's parameters have arrived.
    is_reported: bool,
    /// Number of updates of the 1-RTT keys.
    updates: u64,
}

fn violation(reason: &str) -> TransportError {
    TransportError::new(TransportErrorCode::PROTOCOL_VIOLATION, reason.to_owned())
}

/// Appends a message that begins with `start`, followed by zeros. A message with transport
/// parameters has their length in its first two bytes.
fn write_message(messages: &mut Vec<u8>, kind: u8, start: &[u8], zeros: usize) {
    let length = 2 + start.len() + zeros;
    messages.push(kind);
    messages.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    messages.extend_from_slice(&(start.len() as u16).to_be_bytes());
    messages.extend_from_slice(start);
    messages.resize(messages.len() + zeros, 0);
}

impl Handshake {
    fn new(side: Side, parameters: &TransportParameters, shape: Shape) -> Handshake {
        let mut own_parameters = Vec::new();
        parameters.write(&mut own_parameters);
        // The ends have equal settings. So the client's own parameters are those that it remembers
        // from an earlier connection.
        let is_remembered = shape.is_resumed && side.is_client();
        Handshake {
            side,
            shape,
            stage: Stage::Start,
            peer_parameters: is_remembered.then(|| own_parameters.clone()),
            own_parameters,
            received: Vec::new(),
            is_reported: false,
            updates: 0,
        }
    }

    /// Returns the next whole message: its type and its transport parameters. `None` if no whole
    /// message has arrived.
    fn next_message(&mut self) -> Result<Option<(u8, Vec<u8>)>, TransportError> {
        let Some(header) = self.received.first_chunk::<MESSAGE_HEADER>() else {
            return Ok(None);
        };
        let [kind, high, middle, low] = *header;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        let end = MESSAGE_HEADER + length;
        if self.received.len() < end {
            return Ok(None);
        }
        let body = &self.received[MESSAGE_HEADER..end];
        let start = body.first_chunk::<2>().and_then(|&size| {
            let size = usize::from(u16::from_be_bytes(size));
            body.get(2..2 + size)
        });
        let start = start.ok_or_else(|| violation("a message of the handshake is too short"))?;
        let start = start.to_vec();
        self.received.drain(..end);
        Ok(Some((kind, start)))
    }

    fn on_message(&mut self, kind: u8, start: Vec<u8>) -> Result<bool, TransportError> {
        let (stage, has_parameters) = match (self.side, self.stage, kind) {
            (Side::Server, Stage::Start, CLIENT_HELLO) => (Stage::Hello, true),
            (Side::Client, Stage::Hello, SERVER_HELLO) => (Stage::Agreed, false),
            (Side::Client, Stage::Keyed, ENCRYPTED_EXTENSIONS) => (Stage::Keyed, true),
            (Side::Client, Stage::Keyed, CERTIFICATE | CERTIFICATE_VERIFY) => (Stage::Keyed, false),
            (Side::Client, Stage::Keyed, FINISHED) => (Stage::Answering, false),
            (Side::Server, Stage::Keyed, FINISHED) => (Stage::Done, false),
            _ => return Err(violation("a message of the handshake is out of order")),
        };
        self.stage = stage;
        if has_parameters {
            self.peer_parameters = Some(start);
        }
        Ok(has_parameters)
    }

    fn write_server_flight(&self, messages: &mut Vec<u8>) {
        write_message(
            messages,
            ENCRYPTED_EXTENSIONS,
            &self.own_parameters,
            EXTENSIONS_BODY,
        );
        if !self.shape.is_resumed {
            write_message(messages, CERTIFICATE, &[], self.shape.certificate);
            write_message(messages, CERTIFICATE_VERIFY, &[], SIGNATURE_BODY);
        }
        write_message(messages, FINISHED, &[], FINISHED_BODY);
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: ConnectionId, side: Side) -> Keys {
        keys(Level::Initial, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.is_reported.then(|| Box::new(()) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.shape.is_resumed.then(early_keys)
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.shape.is_resumed.then_some(true)
    }

    fn is_handshaking(&self) -> bool {
        self.stage < Stage::Answering
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(bytes);
        let mut is_new = false;
        while let Some((kind, start)) = self.next_message()? {
            is_new |= self.on_message(kind, start)?;
            // The keys of the next level are written before its messages are read.
            if self.stage == Stage::Agreed {
                break;
            }
        }
        let is_first = is_new && !self.is_reported;
        self.is_reported |= is_new;
        Ok(is_first)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(bytes) = &self.peer_parameters else {
            return Ok(None);
        };
        let read = TransportParameters::read(self.side, &mut &bytes[..]);
        read.map(Some)
            .map_err(|_| violation("the transport parameters cannot be read"))
    }

    fn write_handshake(&mut self, messages: &mut Vec<u8>) -> Option<Keys> {
        let (stage, level) = match (self.side, self.stage) {
            (Side::Client, Stage::Start) => {
                let resumption = if self.shape.is_resumed { RESUMPTION } else { 0 };
                let zeros = CLIENT_HELLO_BODY + resumption;
                write_message(messages, CLIENT_HELLO, &self.own_parameters, zeros);
                self.stage = Stage::Hello;
                return None;
            }
            (Side::Client, Stage::Agreed) => (Stage::Keyed, Level::Handshake),
            (Side::Client, Stage::Answering) => {
                write_message(messages, FINISHED, &[], FINISHED_BODY);
                (Stage::Done, Level::OneRtt(0))
            }
            (Side::Server, Stage::Hello) => {
                write_message(messages, SERVER_HELLO, &[], SERVER_HELLO_BODY);
                (Stage::Agreed, Level::Handshake)
            }
            (Side::Server, Stage::Agreed) => {
                self.write_server_flight(messages);
                (Stage::Keyed, Level::OneRtt(0))
            }
            _ => return None,
        };
        self.stage = stage;
        Some(keys(level, self.side))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.updates += 1;
        Some(packet_keys(Level::OneRtt(self.updates), self.side))
    }

    fn is_valid_retry(&self, _: ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

impl crypto::ClientConfig for Shape {
    fn start_session(
        &self,
        _: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, parameters, *self)))
    }
}

impl crypto::ServerConfig for Shape {
    fn initial_keys(&self, _: u32, _: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys(Level::Initial, Side::Server))
    }

    fn retry_tag(&self, _: u32, _: ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, parameters, *self))
    }
}
