//! Multipath TCP options. Keys, tokens, nonces and HMACs are derived from the endpoints' ids,
//! because the simulation does not exchange them.
//!
//! Standard: RFC 8684 §3.

use super::headers::scrambled;
use crate::{EndpointInfo, address_of};
use fadeout_core::{Dss, EndpointId, Flags, MptcpOption, NodeId, Segment};
use sha2::{Digest, Sha256};

/// Kind of the Multipath TCP option.
pub(super) const KIND: u8 = 30;
/// Block size of SHA-256, bytes.
const BLOCK: usize = 64;

/// Identity of one end of a multipath connection, and of one of its subflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity {
    key: [u8; 8],
    token: [u8; 4],
    initial_data_seq: u64,
    nonce: [u8; 4],
    path: u8,
    node: NodeId,
}

impl Identity {
    /// Returns the identity of endpoint `id`. `None` if the endpoint is not a subflow.
    pub(super) fn from_endpoint(id: EndpointId, endpoint: &EndpointInfo) -> Option<Identity> {
        let subflow = endpoint.subflow?;
        let key = scrambled(0x6d70_7463_7000_0000 | u64::from(subflow.first.0)).to_be_bytes();
        let digest = Sha256::digest(key);
        let mut token = [0; 4];
        token.copy_from_slice(&digest[..4]);
        let mut last = [0; 8];
        last.copy_from_slice(&digest[24..]);
        let nonce = scrambled(u64::from(id.0)) as u32;
        Some(Identity {
            key,
            token,
            initial_data_seq: u64::from_be_bytes(last),
            nonce: nonce.to_be_bytes(),
            path: subflow.path,
            node: endpoint.node,
        })
    }

    /// Returns the HMAC that authenticates this end to `peer`.
    ///
    /// Standard: RFC 8684 §3.2.
    fn proof(&self, peer: &Identity) -> [u8; 32] {
        self.authenticated(peer, &[self.nonce, peer.nonce].concat())
    }

    /// Returns the HMAC of `message`. Its key consists of this end's key, followed by the peer's.
    fn authenticated(&self, peer: &Identity, message: &[u8]) -> [u8; 32] {
        let mut inner = [0x36; BLOCK];
        let mut outer = [0x5c; BLOCK];
        for (index, byte) in self.key.iter().chain(&peer.key).enumerate() {
            inner[index] ^= byte;
            outer[index] ^= byte;
        }
        let hash = Sha256::new()
            .chain_update(inner)
            .chain_update(message)
            .finalize();
        Sha256::new()
            .chain_update(outer)
            .chain_update(hash)
            .finalize()
            .into()
    }
}

/// Adds a data sequence signal, which is a DATA_ACK with or without a mapping.
fn put_signal(value: &mut Value, segment: &Segment, dss: Dss, own: &Identity, peer: &Identity) {
    let ack = peer.initial_data_seq.wrapping_add(dss.data_ack);
    let mapping = match (dss.data_len, dss.data_fin) {
        (0, _) => 0,
        (_, false) => 0x0c,
        (_, true) => 0x1c,
    };
    let acks = if dss.has_long_ack { 0x03 } else { 0x01 };
    value.put(&[0x20, mapping | acks]);
    if dss.has_long_ack {
        value.put(&ack.to_be_bytes());
    } else {
        value.put(&(ack as u32).to_be_bytes());
    }
    if dss.data_len > 0 {
        let data_seq = own.initial_data_seq.wrapping_add(dss.data_seq);
        value.put(&data_seq.to_be_bytes());
        // The subflow sequence number counts from the subflow's start. It is zero for a DATA_FIN
        // without data.
        let seq = if segment.len == 0 {
            0
        } else {
            segment.seq as u32
        };
        value.put(&seq.to_be_bytes());
        value.put(&dss.data_len.to_be_bytes());
    }
}

/// Returns the option's value, without kind and length, in a segment from `own` to `peer`.
pub(super) fn value(segment: &Segment, own: &Identity, peer: &Identity) -> Value {
    let mut value = Value {
        bytes: [0; 38],
        len: 0,
    };
    let is_syn = segment.flags.has(Flags::SYN);
    let is_reply = segment.flags.has(Flags::ACK);
    match segment.mptcp {
        MptcpOption::None => {}
        MptcpOption::Capable => {
            value.put(&[0x01, 0x01]); // version 1, with HMAC-SHA256 and without checksums
            if !is_syn || is_reply {
                value.put(&own.key);
            }
            if !is_syn {
                value.put(&peer.key);
            }
        }
        MptcpOption::Join { backup } => {
            let address = if is_syn { own.path } else { 0 };
            value.put(&[0x10 | u8::from(backup && is_syn), address]);
            if !is_syn {
                value.put(&own.proof(peer)[..20]);
            } else if is_reply {
                value.put(&own.proof(peer)[..8]);
                value.put(&own.nonce);
            } else {
                value.put(&peer.token);
                value.put(&own.nonce);
            }
        }
        MptcpOption::Dss(dss) => put_signal(&mut value, segment, dss, own, peer),
        MptcpOption::AddAddress { path, is_echo } => {
            let announcer = if is_echo { peer } else { own };
            let address = address_of(announcer.node, path).octets();
            value.put(&[0x30 | u8::from(is_echo), path]);
            value.put(&address);
            if !is_echo {
                // The HMAC covers the address id, the address and a port of zero (RFC 8684 section
                // 3.4.1). The option carries the last 64 bits of the HMAC.
                let mut message = [path, 0, 0, 0, 0, 0, 0];
                message[1..5].copy_from_slice(&address);
                value.put(&own.authenticated(peer, &message)[24..]);
            }
        }
        MptcpOption::RemoveAddress { path } => value.put(&[0x40, path]),
        MptcpOption::Priority { backup } => value.put(&[0x50 | u8::from(backup)]),
        MptcpOption::FastClose => {
            value.put(&[0x70, 0x00]);
            value.put(&peer.key);
        }
        // The subflow may be set up again later only if the T flag is set.
        MptcpOption::Reset { reason } => value.put(&[0x80, reason]),
    }
    value
}

/// Value of an option. It fits into the space for TCP options.
#[derive(Debug)]
pub(super) struct Value {
    bytes: [u8; 38],
    len: usize,
}

impl Value {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_is_hmac_sha256_over_both_nonces() {
        let end = |key: u8, nonce: u8| Identity {
            key: [key; 8],
            token: [0; 4],
            initial_data_seq: 0,
            nonce: [nonce; 4],
            path: 0,
            node: NodeId(0),
        };
        // The expected value was computed in Python: hmac.new(b"\x01" * 8 + b"\x02" * 8, b"\x03" *
        // 4 + b"\x04" * 4, "sha256").
        let proof = end(1, 3).proof(&end(2, 4));
        assert_eq!(proof[..8], PROOF);
    }

    const PROOF: [u8; 8] = [0x7e, 0x16, 0x98, 0x99, 0x3c, 0x7f, 0x51, 0x80];
}
