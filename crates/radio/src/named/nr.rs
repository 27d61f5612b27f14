//! Cells of NR.

use super::Carrier;
use super::shared::{Own, Shared};
use crate::config::CellConfig;
use crate::phy::PhyError;
use crate::phy::cqi::CqiTable;
use crate::phy::frame::{Duplex, SpecialSlot, TddPattern};
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, CyclicPrefix, Numerology};
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer};

fadeout_core::choices! {
    /// How the directions share the carrier.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum DuplexKind {
        Default = "default",
        Fdd = "fdd",
        Flexible = "flexible",
        Dddsu = "DDDSU",
        Ddsu = "DDSU",
        Dsuud = "DSUUD",
        Dddddddsuu = "DDDDDDDSUU",
    }
}

fadeout_core::choices! {
    /// Tables of CQI and MCS.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum McsTableKind {
        Qam64 = "64qam",
        Qam256 = "256qam",
    }
}

fadeout_core::parameters! {
    /// What a cell of NR takes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Nr {
        /// Numerology mu: slots of 1 ms / 2^mu. By default 3 above 6 GHz and 1 below.
        numerology: Option<u8> = integer((0, 6, ""), "by carrier"),
        /// FDD, slots divided by the scheduler, or a TDD pattern with special slots of 10:2:2
        /// symbols.
        duplex: DuplexKind = choice(DuplexKind::NAMES, "default"),
        /// Tables of CQI and MCS.
        mcs_table: McsTableKind = choice(McsTableKind::NAMES, "64qam"),
        /// Slots between two CQI reports.
        cqi_period: u32 = integer((1, 640, "slots"), "10"),
        /// Age of a report at its first use.
        cqi_delay: u32 = integer((0, 640, "slots"), "4"),
        /// HARQ processes in each direction.
        harq_processes: u8 = integer((1, 32, ""), "16"),
        /// Slots between two SR opportunities.
        sr_period: u32 = integer((1, 640, "slots"), "8"),
        /// What every cell takes.
        shared: Shared = group(),
    }
}

impl Registered for Nr {
    const ENTRY: Entry = Entry::new(
        "nr",
        "3GPP",
        "5G New Radio: one UE at a time and slots divided by the scheduler above 6 GHz, FDD and \
         resource block groups below.",
        "TS 38.211, 38.213, 38.214, 38.321",
    )
    .with_parameters(Nr::PARAMETERS);

    fn with(settings: &Settings<'_>, (): ()) -> Self {
        Nr::read(settings)
    }
}

impl Nr {
    pub(super) fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        let is_fr2 = carrier.carrier.0 > 6e9;
        let (mu, kind) = if is_fr2 {
            (3, ChannelKind::NrFr2)
        } else {
            (1, ChannelKind::NrFr1)
        };
        let mu = self.numerology.unwrap_or(mu);
        let text = |error: PhyError| error.to_string();
        let numerology = Numerology::new(mu, CyclicPrefix::Normal).map_err(text)?;
        let blocks = self.shared.resource_blocks(kind, numerology, carrier)?;
        let mut cell = CellConfig::nr(carrier.site, carrier.carrier, mu, blocks).map_err(text)?;
        cell.duplex = match self.duplex {
            DuplexKind::Default => cell.duplex,
            DuplexKind::Fdd => Duplex::Fdd,
            DuplexKind::Flexible => Duplex::Flexible { guard: 0 },
            pattern => {
                let symbols = numerology.symbols();
                let pattern = TddPattern::new(pattern.name(), SpecialSlot::default(), symbols);
                Duplex::Tdd(pattern.map_err(text)?)
            }
        };
        let (cqi_table, mcs_table) = match self.mcs_table {
            McsTableKind::Qam64 => (CqiTable::Qam64, McsTable::Qam64),
            McsTableKind::Qam256 => (CqiTable::Qam256, McsTable::Qam256),
        };
        let own = Own {
            cqi_period: self.cqi_period,
            cqi_delay: self.cqi_delay,
            harq_processes: self.harq_processes,
            sr_period: self.sr_period,
            cqi_table,
            mcs_table,
            slot: numerology.slot(),
        };
        Ok(self.shared.apply(cell, &own))
    }
}
