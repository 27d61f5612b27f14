//! Header compression of a bearer (ROHC): treatment of contexts and compressed packets when the UE
//! changes cells.
//!
//! Standard: TS 38.323 §5.1.2, §5.7; TS 36.323 §5.2, §5.5.

use super::{Anchor, Drb};
use crate::config::Env;
use crate::pdcp::{PdcpConfig, RohcCounts};
use crate::rlc::{Generation, Sdu};
use fadeout_core::{Direction, Probe};

/// Compresses the header of an SDU again, for its retransmission after PDCP re-establishment.
/// Returns the SDU with its new size.
pub(super) fn compress_again(
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

/// Decompresses the packets that the receiver of a direction stores for reordering, before the
/// contexts are reset. Packets whose context is missing are dropped. The PDCP status report then
/// lists them as missing.
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

/// Resets the contexts of both directions, as PDCP re-establishment does.
pub(super) fn reset(drb: &mut Drb) {
    for anchor in &mut drb.anchors {
        if let Some(rohc) = &mut anchor.rohc {
            rohc.reset();
        }
    }
}

/// Resets the contexts at a handover. The contexts are kept if PDCP stays in its base station and
/// the bearer is configured to continue ROHC. On an LTE bearer in acknowledged mode the contexts
/// are always reset.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.4.
pub(super) fn reset_unless_continued(drb: &mut Drb, keeps_station: bool) {
    let config = &drb.config;
    let is_lte = config.rlc.generation == Generation::Lte;
    let may = !(is_lte && config.is_acknowledged());
    let continues = config.pdcp.rohc.is_some_and(|rohc| rohc.continues);
    if !(keeps_station && may && continues) {
        reset(drb);
    }
}

/// Returns the counters of header compression in a direction. `None` if the bearer does not use
/// ROHC.
pub(crate) fn compressed(drb: &Drb, direction: Direction) -> Option<&RohcCounts> {
    let rohc = drb.anchors[direction.index()].rohc.as_ref()?;
    Some(rohc.counts())
}
