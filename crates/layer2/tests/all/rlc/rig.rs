//! Helpers for tests: SDUs, entities, blocks.

use fadeout_core::{Packet, PacketPool, Span, Time};
use fadeout_layer2::rlc::{
    AmConfig, Entity, MacSubheader, Mode, Nack, Pdu, PduKind, RlcConfig, Sdu, TransportBlock,
};

pub(crate) fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Source that numbers SDUs as PDCP does.
#[derive(Default)]
pub(crate) struct Source {
    pool: PacketPool,
    pub(crate) next: u32,
}

impl Source {
    pub(crate) fn sdu(&mut self, now: Time, size: u32) -> Sdu {
        let count = self.next;
        self.next += 1;
        Sdu {
            packet: self.pool.insert(Packet::default()),
            size,
            count,
            serial: count,
            entered_at: now,
        }
    }
    pub(crate) fn push(&mut self, entity: &mut Entity, now: Time, sizes: &[u32]) {
        for &size in sizes {
            let sdu = self.sdu(now, size);
            entity.push_sdu(sdu).expect("the buffer has room");
        }
    }
}

/// Returns `config` with changed parameters and without MAC subheaders, so that RLC gets the whole
/// grant.
pub(crate) fn am(config: RlcConfig, change: impl FnOnce(&mut AmConfig)) -> RlcConfig {
    let Mode::Am(mut am) = config.mode else {
        unreachable!("acknowledged mode");
    };
    change(&mut am);
    RlcConfig {
        mode: Mode::Am(am),
        subheader: MacSubheader::None,
        is_beyond_standard: true,
        ..config
    }
}

pub(crate) fn entity(config: &RlcConfig) -> Entity {
    Entity::new(config).expect("allowed parameters")
}

pub(crate) fn pull(entity: &mut Entity, now: Time, grant: u32) -> TransportBlock {
    let mut block = TransportBlock::new();
    let used = entity.pull(now, grant, &mut block);
    assert!(used <= grant, "{used} bytes in a grant of {grant}");
    assert_eq!(used, block.bytes);
    block
}

/// Returns the COUNTs of the SDUs that `block` completes.
pub(crate) fn receive(entity: &mut Entity, now: Time, block: &TransportBlock) -> Vec<u32> {
    let mut out = Vec::new();
    entity.on_block(now, block, &mut out);
    out.iter().map(|sdu| sdu.count).collect()
}

pub(crate) fn data(block: &TransportBlock) -> Vec<Pdu> {
    let is_data = |pdu: &&Pdu| pdu.kind != PduKind::Status;
    block.pdus.iter().filter(is_data).copied().collect()
}

/// Returns a block with one STATUS PDU.
pub(crate) fn status(ack: u32, nacks: &[Nack]) -> TransportBlock {
    let pdu = Pdu {
        kind: PduKind::Status,
        sn: ack,
        count: nacks.len() as u32,
        ..Pdu::default()
    };
    TransportBlock {
        pdus: vec![pdu],
        nacks: nacks.to_vec(),
        ..TransportBlock::new()
    }
}

/// Returns a NACK for all bytes of one SN.
pub(crate) fn missing(sn: u32) -> Nack {
    Nack {
        sn,
        range: 1,
        segment: None,
    }
}
