//! Header compression of a bearer (ROHC): what becomes of contexts and of compressed packets where the UE goes.
//!
//! Standard: TS 38.323 §5.1.2, §5.7; TS 36.323 §5.2, §5.5.

use super::{Anchor, Drb};
use crate::config::Env;
use crate::pdcp::{PdcpConfig, RohcCounts};
use crate::rlc::{Generation, Sdu};
use fadeout_core::{Direction, Probe};

/// An SDU that is sent once more after PDCP was re-established: its header is compressed anew.
pub(super) fn anew(
    (anchor, pdcp): (&mut Anchor, &PdcpConfig),
    sdu: Sdu,
    env: &Env<'_, impl Probe>,
) -> Sdu {
    match &mut anchor.rohc {
        Some(rohc) if anchor.ledger.holds(sdu.serial) => {
            let packet = &env.pool.packet(sdu.packet);
            let size = rohc.compress_again(env.now, sdu.serial, packet) + pdcp.header();
            Sdu { size, ..sdu }
        }
        _ => sdu,
    }
}

/// What the receiver of a direction holds is decompressed before contexts are reset. What is not found has not
/// arrived: its status report says so.
///
/// Standard: TS 38.323 §5.1.2, §5.4.1; TS 36.323 §5.2.
pub(super) fn decompress_held(drb: &mut Drb, direction: Direction) {
    let [downlink, uplink] = &mut drb.anchors;
    let (sender, receiver) = match direction {
        Direction::Downlink => (downlink, uplink),
        Direction::Uplink => (uplink, downlink),
    };
    if let Some(rohc) = &mut sender.rohc {
        receiver.rx.retain_held(|sdu| rohc.decompress(sdu.serial));
    }
}

/// PDCP is re-established: both directions begin without contexts.
pub(super) fn reset(drb: &mut Drb) {
    for anchor in &mut drb.anchors {
        if let Some(rohc) = &mut anchor.rohc {
            rohc.reset();
        }
    }
}

/// The same at a handover, which may leave contexts as they are where PDCP `stays` in its base station.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.4.
pub(super) fn reset_unless_continued(drb: &mut Drb, stays: bool) {
    let config = &drb.config;
    let is_lte = config.rlc.generation == Generation::Lte;
    let may = !(is_lte && config.is_acknowledged());
    let continues = config.pdcp.rohc.is_some_and(|rohc| rohc.continues);
    if !(stays && may && continues) {
        reset(drb);
    }
}

/// What header compression did in a direction; none without it.
pub(crate) fn compressed(drb: &Drb, direction: Direction) -> Option<&RohcCounts> {
    let rohc = drb.anchors[direction.index()].rohc.as_ref()?;
    Some(rohc.counts())
}
