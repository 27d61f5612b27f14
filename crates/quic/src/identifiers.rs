//! Connection IDs, and the secrets of an endpoint, from the seed of the scenario.

use crate::clocks::{Duration, SystemTime, UNIX_EPOCH};
use fadeout_core::random::{Stream, fnv_1a};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey, HmacKey};
use noq_proto::{ConnectionId, ConnectionIdGenerator, TimeSource};

/// Length of a connection ID, bytes.
const ID_LENGTH: usize = 8;

/// Fills `bytes` with random numbers.
pub(crate) fn fill(random: &mut Stream, bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.bits().to_be_bytes()[..chunk.len()]);
    }
}

/// Returns a random connection ID.
pub(crate) fn connection_id(random: &mut Stream) -> ConnectionId {
    ConnectionId::new(&random.bits().to_be_bytes())
}

/// Source of an endpoint's connection IDs.
#[derive(Debug, Clone)]
pub(crate) struct Identifiers(pub(crate) Stream);

impl ConnectionIdGenerator for Identifiers {
    fn generate_cid(&mut self) -> ConnectionId {
        connection_id(&mut self.0)
    }

    fn cid_len(&self) -> usize {
        ID_LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Key of stateless reset tokens. A token is a checksum of the connection ID, because no attacker
/// is simulated.
#[derive(Debug)]
pub(crate) struct ResetKey;

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        let mut hash = fnv_1a(data.iter().copied());
        for chunk in signature.chunks_mut(8) {
            chunk.copy_from_slice(&hash.to_be_bytes()[..chunk.len()]);
            hash = hash.rotate_left(29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature {
            Ok(())
        } else {
            Err(CryptoError)
        }
    }
}

/// Key of address validation tokens, which adds a tag of the usual length.
#[derive(Debug)]
pub(crate) struct TokenKey;

/// Length of the tag of AES-GCM, bytes.
const TOKEN_TAG: usize = 16;

impl HandshakeTokenKey for TokenKey {
    fn seal(&self, _: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        data.extend_from_slice(&[0; TOKEN_TAG]);
        Ok(())
    }

    fn open<'a>(&self, _: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        let length = data.len().checked_sub(TOKEN_TAG).ok_or(CryptoError)?;
        Ok(&data[..length])
    }
}

/// Calendar time in tokens and tickets, always the same.
#[derive(Debug)]
pub(crate) struct Calendar;

impl TimeSource for Calendar {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH
    }
}
