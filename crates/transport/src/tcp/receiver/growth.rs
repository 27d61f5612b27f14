//! Size of the receive buffer by the data that the application reads in a round trip.

use crate::tcp::config::BufferGrowth;

/// Data that the application reads in one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read {
    /// Number of bytes.
    pub(crate) bytes: u64,
    /// Number of these bytes that are from the first packet.
    pub(crate) first: u64,
    /// Number of bytes from RCV.NXT to the end of the data behind gaps.
    pub(crate) beyond: u64,
}

/// Reads of an application in two consecutive round trips.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// Number of bytes read in the last round trip.
    pub(super) copied: u64,
    /// Number of bytes read in the round trip before.
    pub(super) before: u64,
    /// Segment size that this end advertised, bytes.
    pub(super) mss: u32,
    /// Number of bytes from RCV.NXT to the end of the data behind gaps.
    pub(super) beyond: u64,
}

/// Returns the buffer size in bytes of payload. It is twice the data of a round trip, because the
/// window of an ACK is used a round trip later. If the reads grow, it grows twice as much, so that
/// the buffer does not limit slow start.
///
/// Linux 6.12 adds room for 16 segments (`tcp_rcv_space_adjust`). Linux 6.18 adds the data behind
/// gaps (`tcp_rcvbuf_grow`).
pub(super) fn buffer(rule: BufferGrowth, reading: Reading) -> u64 {
    let Reading {
        copied,
        before,
        mss,
        beyond,
    } = reading;
    let (cushion, behind_gaps) = match rule {
        BufferGrowth::Linux612 => (16 * u64::from(mss), 0),
        BufferGrowth::Linux618 => (0, beyond),
    };
    let window = 2 * copied + cushion;
    let grow = u128::from(window) * u128::from(copied - before) / u128::from(before.max(1));
    let growth = 2 * u64::try_from(grow).unwrap_or(u64::MAX / 4);
    window.saturating_add(growth).saturating_add(behind_gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(copied: u64, before: u64, beyond: u64) -> Reading {
        Reading {
            copied,
            before,
            mss: 1448,
            beyond,
        }
    }

    #[test]
    fn linux_6_12_adds_16_segments_and_linux_6_18_the_data_behind_gaps() {
        let sizes = |rule| {
            let of = |copied, beyond| buffer(rule, reading(copied, 20_000, beyond));
            [of(20_000, 0), of(20_000, 5_000), of(40_000, 0)]
        };
        // The buffer is twice the reads. In the last case the reads grow by 100 %, which adds 200 %
        // to the buffer.
        assert_eq!(sizes(BufferGrowth::Linux612), [63_168, 63_168, 309_504]);
        assert_eq!(sizes(BufferGrowth::Linux618), [40_000, 45_000, 240_000]);
    }

    #[test]
    fn the_size_never_overflows() {
        for rule in [BufferGrowth::Linux612, BufferGrowth::Linux618] {
            assert!(buffer(rule, reading(1 << 40, 1, 1 << 40)) > 1 << 62);
            assert!(buffer(rule, reading(1 << 40, 0, 0)) > 1 << 62);
        }
    }
}
