//! Packet protection that changes no byte of a packet and adds a tag of the usual length.
//!
//! The tag contains the packet number, the number of the key and a checksum of header and payload.
//! A damaged packet is refused, and so is a packet under another key, as with real encryption.

use bytes::BytesMut;
use noq_proto::crypto::{CryptoError, HeaderKey, KeyPair, Keys, PacketKey};
use noq_proto::{PathId, Side};

/// Length of the tag of AES-GCM and ChaCha20-Poly1305, bytes.
///
/// Standard: RFC 9001 §5.3.
const TAG: usize = 16;

/// Level of encryption: the keys of a packet number space, or of 0-RTT. Each update of the 1-RTT
/// keys is a further level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Initial,
    Early,
    Handshake,
    OneRtt(u64),
}

impl Level {
    fn number(self) -> u64 {
        match self {
            Level::Initial => 0,
            Level::Early => 1,
            Level::Handshake => 2,
            Level::OneRtt(update) => 3 + update,
        }
    }
}

/// Key of the packets of one side at one level.
#[derive(Debug)]
struct Seal(u64);

impl Seal {
    fn tag(&self, packet: u64, header: &[u8], payload: &[u8]) -> [u8; TAG] {
        let sum = checksum(checksum(self.0, header), payload);
        let mut tag = [0; TAG];
        tag[..8].copy_from_slice(&packet.to_be_bytes());
        tag[8..].copy_from_slice(&sum.to_be_bytes());
        tag
    }
}

/// Returns the checksum of bytes that follow others with the checksum `before`. Each change of a
/// single byte changes the checksum, because the factor is odd. The rotation mixes the upper bits
/// of a word, which the factor alone leaves at the top.
fn checksum(before: u64, bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |sum: u64, word: u64| (sum.rotate_left(29) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words
        .iter()
        .fold(before, |sum, &word| add(sum, u64::from_le_bytes(word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(add(sum, u64::from_le_bytes(last)), bytes.len() as u64)
}

impl PacketKey for Seal {
    fn encrypt(&self, _: PathId, packet: u64, bytes: &mut [u8], header: usize) {
        let (header, rest) = bytes.split_at_mut(header);
        let (payload, tag) = rest.split_at_mut(rest.len() - TAG);
        tag.copy_from_slice(&self.tag(packet, header, payload));
    }

    fn decrypt(
        &self,
        _: PathId,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        let (content, tag) = payload.split_at(length);
        if tag != self.tag(packet, header, content) {
            return Err(CryptoError);
        }
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

/// Header protection that changes nothing.
#[derive(Debug)]
struct OpenHeader;

impl HeaderKey for OpenHeader {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    /// Returns the sample size of AES and ChaCha20, which sets the length of the shortest packet.
    ///
    /// Standard: RFC 9001 §5.4.2.
    fn sample_size(&self) -> usize {
        16
    }
}

/// Returns the key of the packets that `from` sends at a level.
fn packet_key(level: Level, from: Side) -> Box<dyn PacketKey> {
    Box::new(Seal(2 * level.number() + from as u64))
}

fn header_key() -> Box<dyn HeaderKey> {
    Box::new(OpenHeader)
}

/// Returns the packet keys that `side` uses at a level.
pub(crate) fn packet_keys(level: Level, side: Side) -> KeyPair<Box<dyn PacketKey>> {
    KeyPair {
        local: packet_key(level, side),
        remote: packet_key(level, !side),
    }
}

/// Returns all keys that `side` uses at a level.
pub(crate) fn keys(level: Level, side: Side) -> Keys {
    Keys {
        header: KeyPair {
            local: header_key(),
            remote: header_key(),
        },
        packet: packet_keys(level, side),
    }
}

/// Returns the keys of 0-RTT packets, which only the client sends.
pub(crate) fn early_keys() -> (Box<dyn HeaderKey>, Box<dyn PacketKey>) {
    (header_key(), packet_key(Level::Early, Side::Client))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_packet_number_open_a_packet() {
        let client = packet_keys(Level::Handshake, Side::Client);
        let server = packet_keys(Level::Handshake, Side::Server);
        let later = packet_keys(Level::OneRtt(0), Side::Server);
        let mut sealed = vec![7; 40];
        client.local.encrypt(PathId::ZERO, 5, &mut sealed, 4);
        let opens = |key: &dyn PacketKey, number| {
            let mut payload = BytesMut::from(&sealed[4..]);
            let opened = key.decrypt(PathId::ZERO, number, &sealed[..4], &mut payload);
            opened.map(|()| payload.to_vec()).ok()
        };
        assert_eq!(opens(&*server.remote, 5), Some(vec![7; 20]));
        assert_eq!(opens(&*server.remote, 6), None);
        assert_eq!(opens(&*server.local, 5), None);
        assert_eq!(opens(&*later.remote, 5), None);
    }

    #[test]
    fn a_packet_with_one_changed_byte_is_refused() {
        let key = packet_key(Level::OneRtt(0), Side::Client);
        let mut sealed: Vec<u8> = (0..77).collect();
        key.encrypt(PathId::ZERO, 5, &mut sealed, 11);
        let opens = |bytes: &[u8]| {
            let mut payload = BytesMut::from(&bytes[11..]);
            key.decrypt(PathId::ZERO, 5, &bytes[..11], &mut payload)
                .is_ok()
        };
        assert!(opens(&sealed));
        for index in 0..sealed.len() {
            for change in 1..=255 {
                let mut damaged = sealed.clone();
                damaged[index] ^= change;
                assert!(!opens(&damaged), "byte {index} with {change}");
            }
        }
    }

    #[test]
    fn a_packet_without_room_for_a_tag_is_refused() {
        let key = packet_key(Level::Initial, Side::Client);
        let mut payload = BytesMut::from(&[0; TAG - 1][..]);
        assert!(key.decrypt(PathId::ZERO, 0, &[], &mut payload).is_err());
    }
}
