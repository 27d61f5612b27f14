//! Cells of LTE.

use super::Carrier;
use super::shared::{Own, Shared};
use crate::config::CellConfig;
use crate::phy::cqi::CqiTable;
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, Numerology};
use fadeout_core::Span;
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer};

fadeout_core::choices! {
    /// Transmission time interval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Tti {
        Whole = "1 ms",
        Half = "0.5 ms",
        Tenth = "0.1 ms",
    }
}

fadeout_core::parameters! {
    /// What a cell of LTE takes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Lte {
        /// Transmission time interval. Processing times scale with it.
        tti: Tti = choice(Tti::NAMES, "1 ms"),
        /// TTIs between two CQI reports.
        cqi_period: u32 = integer((1, 640, "slots"), "5"),
        /// Age of a report at its first use, in TTIs.
        cqi_delay: u32 = integer((0, 640, "slots"), "6"),
        /// HARQ processes in each direction.
        harq_processes: u8 = integer((1, 32, ""), "8"),
        /// TTIs between two SR opportunities.
        sr_period: u32 = integer((1, 640, "slots"), "10"),
        /// What every cell takes.
        shared: Shared = group(),
    }
}

impl Registered for Lte {
    const ENTRY: Entry = Entry::new(
        "lte",
        "3GPP",
        "LTE FDD, also with the shorter transmission time intervals of the latency study.",
        "TS 36.211, 36.213, 36.321; R2-153493 Appendix A for short intervals",
    )
    .with_parameters(Lte::PARAMETERS);

    fn with(settings: &Settings<'_>, (): ()) -> Self {
        Lte::read(settings)
    }
}

impl Lte {
    pub(super) fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        let numerology = Numerology::KHZ_15;
        let blocks = self
            .shared
            .resource_blocks(ChannelKind::Lte, numerology, carrier)?;
        let tti = Span::from_micros(match self.tti {
            Tti::Whole => 1000,
            Tti::Half => 500,
            Tti::Tenth => 100,
        });
        let cell = CellConfig::lte(carrier.site, carrier.carrier, blocks).with_tti(tti);
        // Reports come as many intervals apart, whatever the interval.
        let own = Own {
            cqi_period: self.cqi_period,
            cqi_delay: self.cqi_delay,
            harq_processes: self.harq_processes,
            sr_period: self.sr_period,
            cqi_table: CqiTable::Qam64,
            mcs_table: McsTable::Qam64,
            slot: tti,
        };
        Ok(self.shared.apply(cell, &own))
    }
}
