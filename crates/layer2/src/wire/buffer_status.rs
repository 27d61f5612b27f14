//! Buffer status reports: the bytes that wait at a UE, and the bytes that the base station assumes.

use std::sync::LazyLock;

/// Format of buffer status reports: their bytes in a transport block, and their steps.
///
/// One report covers all logical channels of the UE. The short report of LTE has the steps of TS
/// 36.321 Table 6.1.3.1-1. For a UE with several uplink carriers it has those of Table 6.1.3.1-2.
/// The formulas of both tables are exact within one byte.
///
/// NR reports use the 8-bit steps of the long format. Here these are an exponential series between
/// the ends of TS 38.321 Table 6.1.3.1-2. The entries of the table differ from it by less than a
/// step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferStatus {
    /// 6 bits: up to 150 kB.
    Lte,
    /// 6 bits: up to 3 MB (extendedBSR-Sizes).
    LteExtended,
    /// 8 bits: up to 81 MB.
    Nr,
}

static LTE_STEPS: LazyLock<Vec<u32>> = LazyLock::new(|| steps(62, 150_000.0));
static LTE_EXTENDED_STEPS: LazyLock<Vec<u32>> = LazyLock::new(|| steps(62, 3_000_000.0));
static NR_STEPS: LazyLock<Vec<u32>> = LazyLock::new(|| steps(254, 81_338_368.0));

// Returns the upper ends of the ranges: 10 bytes to `last` in `count` equal ratios.
fn steps(count: u32, last: f64) -> Vec<u32> {
    let ratio = last / 10.0;
    let bound_of = |n: u32| {
        let exponent = f64::from(n) / f64::from(count - 1);
        // A small amount is subtracted, because rounding of the power could make an exact value one
        // byte higher.
        (10.0 * fadeout_core::math::pow(ratio, exponent) - 1e-6).ceil() as u32
    };
    (0..count).map(bound_of).collect()
}

impl BufferStatus {
    /// Returns the bytes of a report in a transport block, subheader included. It is LTE's short
    /// BSR, or NR's long BSR of one group.
    ///
    /// Standard: TS 36.321 §6.1.3.1; TS 38.321 §6.1.3.1.
    pub const fn size(self) -> u32 {
        match self {
            BufferStatus::Lte | BufferStatus::LteExtended => 2,
            BufferStatus::Nr => 4,
        }
    }

    /// Returns the bytes that the base station assumes for a report of `bytes`, the upper end of
    /// the range. Above the last step it is the last step times 1.5.
    ///
    /// Standard: TS 36.321 §6.1.3.1; TS 38.321 §6.1.3.1.
    pub fn reported(self, bytes: u64) -> u64 {
        let steps = self.steps();
        let last = u64::from(steps[steps.len() - 1]);
        match self.index(bytes) {
            0 => 0,
            index => steps
                .get(usize::from(index) - 1)
                .map_or(last + last / 2, |&step| u64::from(step)),
        }
    }

    /// Returns the buffer size field of a report of `bytes`. It is the index of their range, 0 for
    /// no bytes and one more than the last step for larger values.
    ///
    /// Standard: TS 36.321 §6.1.3.1; TS 38.321 §6.1.3.1.
    pub fn index(self, bytes: u64) -> u8 {
        if bytes == 0 {
            return 0;
        }
        let below = |&step: &u32| u64::from(step) < bytes;
        self.steps().partition_point(below) as u8 + 1
    }

    /// Returns the upper ends of the ranges, from index 1 on.
    fn steps(self) -> &'static [u32] {
        match self {
            BufferStatus::Lte => &LTE_STEPS,
            BufferStatus::LteExtended => &LTE_EXTENDED_STEPS,
            BufferStatus::Nr => &NR_STEPS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lte_reports_have_the_steps_of_the_table() {
        // The table has every fifth entry of TS 36.321 Table 6.1.3.1-1.
        let table = [
            (1, 10),
            (6, 22),
            (11, 49),
            (16, 107),
            (21, 234),
            (26, 515),
            (31, 1132),
            (36, 2490),
            (41, 5476),
            (46, 12_043),
            (51, 26_487),
            (56, 58_255),
            (61, 128_125),
            (62, 150_000),
        ];
        for (index, bytes) in table {
            assert_eq!(LTE_STEPS[index - 1], bytes, "index {index}");
        }
    }

    #[test]
    fn extended_reports_have_the_steps_of_theirs() {
        // The table has entries of TS 36.321 Table 6.1.3.1-2.
        let table = [
            (24, 1_162),
            (31, 4_940),
            (38, 20_999),
            (45, 89_272),
            (52, 379_519),
            (59, 1_613_447),
            (61, 2_439_678),
            (62, 3_000_000),
        ];
        for (index, bytes) in table {
            assert_eq!(LTE_EXTENDED_STEPS[index - 1], bytes, "index {index}");
        }
    }

    #[test]
    fn a_report_never_understates_and_overstates_by_less_than_a_step() {
        for status in [BufferStatus::Lte, BufferStatus::Nr] {
            assert_eq!(status.reported(0), 0);
            for bytes in (1..150_000).step_by(7) {
                let reported = status.reported(bytes);
                let step = if status == BufferStatus::Lte {
                    1.171
                } else {
                    1.066
                };
                assert!(reported >= bytes && reported as f64 <= bytes as f64 * step + 10.0);
            }
        }
        assert_eq!(BufferStatus::Lte.reported(1_000_000), 225_000);
    }

    #[test]
    fn a_report_takes_its_subheader_and_its_fields() {
        assert_eq!(BufferStatus::Lte.size(), 1 + 1);
        assert_eq!(BufferStatus::Nr.size(), 2 + 1 + 1);
    }

    #[test]
    fn the_index_of_a_report_is_that_of_the_table() {
        let lte = [0, 1, 10, 11, 150_000, 150_001].map(|bytes| BufferStatus::Lte.index(bytes));
        assert_eq!(lte, [0, 1, 1, 2, 62, 63]);
        let nr = [0, 10, 81_338_368, 81_338_369].map(|bytes| BufferStatus::Nr.index(bytes));
        assert_eq!(nr, [0, 1, 254, 255]);
        // The assumed size has the same index as its report.
        for status in [BufferStatus::Lte, BufferStatus::Nr] {
            for bytes in (0..90_000_000).step_by(77_777) {
                assert_eq!(status.index(status.reported(bytes)), status.index(bytes));
            }
        }
    }
}
