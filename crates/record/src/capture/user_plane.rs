//! The user plane protocol between the base stations of a split bearer (NR-U). It is carried in the
//! RAN container of GTP-U.
//!
//! Standard: TS 38.425 §5.5.2, §5.5.3; TS 29.281 §5.2.2.6.

use fadeout_core::UserPlane;

/// PDU types, in the upper half of the first octet.
mod kind {
    pub(super) const DATA: u8 = 0 << 4;
    pub(super) const STATUS: u8 = 1 << 4;
}

/// Flags of the first octet of DL USER DATA.
const DL_FLUSH: u8 = 0x02;
const REPORT_POLLING: u8 = 0x01;
/// Flags of the first octet of DL DATA DELIVERY STATUS.
const HIGHEST_TRANSMITTED: u8 = 0x08;
const HIGHEST_DELIVERED: u8 = 0x04;
const LOST_PACKETS: u8 = 0x01;

/// Writes a frame without padding. The flags of the second octet are not used, so they are zero.
pub(super) fn write(out: &mut Vec<u8>, frame: &UserPlane) {
    match frame {
        &UserPlane::Data {
            number,
            polls,
            discards_through,
        } => {
            let flush = discards_through.map_or(0, |_| DL_FLUSH);
            let poll = if polls { REPORT_POLLING } else { 0 };
            out.extend([kind::DATA | flush | poll, 0]);
            out.extend(number_of_three(number));
            out.extend(
                discards_through
                    .map(u64::from)
                    .map(number_of_three)
                    .into_iter()
                    .flatten(),
            );
        }
        UserPlane::Status {
            desired,
            lost,
            through,
            is_delivered,
        } => {
            let highest = match (through, is_delivered) {
                (None, _) => 0,
                (Some(_), true) => HIGHEST_DELIVERED,
                (Some(_), false) => HIGHEST_TRANSMITTED,
            };
            let has_lost = if lost.is_empty() { 0 } else { LOST_PACKETS };
            out.extend([kind::STATUS | highest | has_lost, 0]);
            let desired = u32::try_from(*desired).unwrap_or(u32::MAX);
            out.extend(desired.to_be_bytes());
            if !lost.is_empty() {
                out.push(u8::try_from(lost.len()).unwrap_or(u8::MAX));
            }
            for &(first, end) in lost.iter().take(usize::from(u8::MAX)) {
                out.extend(number_of_three(first));
                out.extend(number_of_three(end.saturating_sub(1)));
            }
            out.extend(
                through
                    .map(u64::from)
                    .map(number_of_three)
                    .into_iter()
                    .flatten(),
            );
        }
    }
}

/// Returns a sequence number in three octets, modulo 2^24.
fn number_of_three(number: u64) -> [u8; 3] {
    let [.., high, middle, low] = number.to_be_bytes();
    [high, middle, low]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(frame: &UserPlane) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, frame);
        bytes
    }

    /// The expected octets were written by hand from the figures of clauses 5.5.2.1 and 5.5.2.2.
    #[test]
    fn frames_have_the_octets_of_the_figures() {
        let data = |number, polls, discards_through| UserPlane::Data {
            number,
            polls,
            discards_through,
        };
        assert_eq!(written(&data(0x0001_0203, false, None)), [0, 0, 1, 2, 3]);
        assert_eq!(
            written(&data(0x0100_0000, true, None)),
            [1, 0, 0, 0, 0],
            "it starts over"
        );
        assert_eq!(
            written(&data(5, false, Some(0x0003_ffff))),
            [2, 0, 0, 0, 5, 3, 255, 255]
        );
        let status = |lost: &[(u64, u64)], through, is_delivered| UserPlane::Status {
            desired: 0x0102_0304,
            lost: lost.to_vec(),
            through,
            is_delivered,
        };
        assert_eq!(written(&status(&[], None, true)), [0x10, 0, 1, 2, 3, 4]);
        let lost = [(7, 8), (0x10_0000, 0x10_0010)];
        assert_eq!(
            written(&status(&lost, Some(9), true)),
            [
                0x15, 0, 1, 2, 3, 4, 2, 0, 0, 7, 0, 0, 7, 16, 0, 0, 16, 0, 15, 0, 0, 9
            ]
        );
        assert_eq!(
            written(&status(&[], Some(9), false)),
            [0x18, 0, 1, 2, 3, 4, 0, 0, 9]
        );
    }
}
