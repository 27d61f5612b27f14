//! The overheads of a cell of NR.

use crate::phy::overhead::{CsiRs, Overhead, Ssb};
use fadeout_core::Span;
use fadeout_core::registry::{choice, integer};

fadeout_core::choices! {
    /// Time between two bursts of synchronisation signal blocks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum SsbPeriod {
        None = "none",
        Five = "5 ms",
        Ten = "10 ms",
        Twenty = "20 ms",
        Forty = "40 ms",
        Eighty = "80 ms",
        HundredAndSixty = "160 ms",
    }
}

fadeout_core::parameters! {
    /// The parameters of overheads.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Overheads {
        /// Number of PDCCH symbols, for control, at the beginning of a slot.
        pub(super) pdcch_symbols: u8 = integer((1, 3, "symbols"), "1"),
        /// Number of PUCCH symbols, for feedback and requests, at the end of a slot. Short formats
        /// have 1 or 2 symbols, long formats at least 4.
        pub(super) pucch_symbols: u8 = integer((1, 13, "symbols"), "2"),
        /// Number of resource elements of each resource block that CSI-RS and similar signals
        /// occupy (xOverhead): 0, 6, 12 or 18. Transport block sizes do not count these elements.
        x_overhead: u32 = integer((0, 18, ""), "0"),
        /// Time between two sweeps of synchronisation signal blocks. With `none`, no such blocks
        /// are sent.
        ssb_period: SsbPeriod = choice(SsbPeriod::NAMES, "none"),
        /// Number of beams in a sweep of synchronisation signal blocks. Each beam has one block.
        /// The largest number is 4 up to 3 GHz, 8 up to 6 GHz and 64 above 6 GHz.
        pub(super) ssb_beams: u8 = integer((1, 64, ""), "4"),
        /// Number of slots between two CSI-RS occasions. With 0, no CSI-RS is sent.
        csi_rs_period: u32 = integer((0, 640, "slots"), "0"),
        /// Number of symbols of each CSI-RS occasion.
        csi_rs_symbols: u8 = integer((1, 8, "symbols"), "1"),
    }
}

impl Overheads {
    pub(super) fn overhead(&self) -> Overhead {
        let name = self.ssb_period.name();
        let ms = name.split(' ').next().and_then(|ms| ms.parse().ok());
        Overhead {
            x_overhead: self.x_overhead,
            csi_rs: (self.csi_rs_period > 0).then_some(CsiRs {
                period: u64::from(self.csi_rs_period),
                symbols: self.csi_rs_symbols,
            }),
            ssb: ms.map(|ms| Ssb {
                period: Span::from_millis(ms),
                blocks: self.ssb_beams,
            }),
        }
    }
}
