//! Content of the frames between the base stations of a split bearer, for captures of links.

use super::{FrameKind, SECONDARY};
use crate::bearer::Drb;
use crate::rlc::Sdu;
use crate::wire::pdcp_header;
use fadeout_core::{Direction, InterfaceFrame, InterfacePdu, UserPlane};

/// Returns the content of a frame that has arrived and was not processed yet. `None` if the frame
/// is obsolete, or if no format is defined for this kind of frame.
///
/// Standard: TS 38.425 §5.5.2.
pub(crate) fn interface_frame(drb: &Drb, kind: FrameKind, number: u64) -> Option<InterfaceFrame> {
    let split = drb.split.as_deref()?;
    let bits = drb.config.pdcp.sn_bits;
    let sn = |count: u32| count & ((1 << bits) - 1);
    let pdu = |sdu: &Sdu, direction: Direction| {
        let ledger = &drb.anchors[direction.index()].ledger;
        let format = drb.format(SECONDARY);
        InterfacePdu {
            header: pdcp_header(format, direction, sdu.count),
            packet: ledger.holds(sdu.serial).then_some(sdu.packet),
            size: sdu.size,
        }
    };
    let data = |number, polls, discards_through| UserPlane::Data {
        number,
        polls,
        discards_through,
    };
    let (user_plane, pdu) = match kind {
        FrameKind::Downlink => {
            let sdu = split.hosting.pdu(number)?;
            let pdu = pdu(&sdu, Direction::Downlink);
            (Some(data(number, false, None)), Some(pdu))
        }
        FrameKind::Poll => (Some(data(number, true, None)), None),
        FrameKind::Discard => {
            // On a bearer with two legs the difference between serial number and COUNT is constant.
            // The oldest PDU gives that difference.
            let oldest = split.hosting.oldest();
            let through = oldest.map(|sdu| {
                let ahead = sdu.count.wrapping_sub(sdu.serial);
                sn((number as u32).wrapping_sub(1).wrapping_add(ahead))
            });
            let next = split.hosting.next_number();
            (Some(data(next, false, through)), None)
        }
        FrameKind::Status => {
            let status = (split.statuses.contains(number)).then(|| &split.statuses[number])?;
            let last = status.through.checked_sub(1);
            let through = last.and_then(|last| split.hosting.pdu(last));
            let status = UserPlane::Status {
                desired: status.desired,
                lost: status.lost().to_vec(),
                through: through.map(|sdu| sn(sdu.count)),
                is_delivered: drb.config.is_acknowledged(),
            };
            (Some(status), None)
        }
        FrameKind::Uplink => {
            let mut rings = std::iter::once(&split.uplink).chain(&split.late);
            let sdu = rings.find_map(|ring| ring.contains(number).then(|| ring[number]))?;
            (None, Some(pdu(&sdu, Direction::Uplink)))
        }
        FrameKind::Failure | FrameKind::Copy => return None,
    };
    Some(InterfaceFrame { user_plane, pdu })
}
