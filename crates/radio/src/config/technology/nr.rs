//! Cells of NR.

use super::Carrier;
use super::overhead::Overheads;
use super::shared::{Own, Shared};
use super::tdd::Tdd;
use crate::channel::ChannelConfig;
use crate::config::{AirInterface, CellConfig, Sharing, UplinkPower};
use crate::mac::request::request_periods;
use crate::phy::PhyError;
use crate::phy::cqi::CqiTable;
use crate::phy::frame::{Duplex, SpecialSlot, TddPattern};
use crate::phy::mcs::McsTable;
use crate::phy::numerology::{ChannelKind, CyclicPrefix, Numerology};
use crate::phy::sub_band::{SubBandSize, nr_size};
use crate::phy::timing::{NrTimingConfig, Timing};
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer};
use fadeout_core::{Dbm, Decibel, Hertz, Point};

fadeout_core::choices! {
    /// Duplex mode: the division of the carrier between uplink and downlink.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum NrDuplex {
        Default = "default",
        Fdd = "fdd",
        Flexible = "flexible",
        Dddsu = "DDDSU",
        Ddsu = "DDSU",
        Dsuud = "DSUUD",
        Dddddddsuu = "DDDDDDDSUU",
        Tdd = "tdd",
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

fadeout_core::choices! {
    /// Size of sub-bands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum SubBandChoice {
        Small = "small",
        Large = "large",
    }
}

fadeout_core::parameters! {
    /// The parameters of a cell of NR.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Nr {
        /// Numerology mu, with slots of 1 ms / 2^mu. Default: 3 above 6 GHz, and 1 below 6 GHz.
        numerology: Option<u8> = integer((0, 6, ""), "by carrier"),
        /// Duplex mode: FDD, TDD with special slots of 10:2:2 symbols, `tdd` with the pattern of
        /// the parameters `tdd-…`, or slots divided by the scheduler. Default: slots divided by the
        /// scheduler above 6 GHz, and FDD below 6 GHz.
        duplex: NrDuplex = choice(NrDuplex::NAMES, "default"),
        /// Tables of CQI and MCS.
        mcs_table: McsTableKind = choice(McsTableKind::NAMES, "64qam"),
        /// Number of slots between two CQI reports.
        cqi_period: u32 = integer((1, 640, "slots"), "10"),
        /// Age of a CQI report at its first use, in slots.
        cqi_delay: u32 = integer((0, 640, "slots"), "4"),
        /// Size of sub-bands, one of the two that the table gives for the carrier (TS 38.214 Table
        /// 5.2.1.4-2). Used only with a `cqi-format` that has sub-bands.
        sub_band_size: SubBandChoice = choice(SubBandChoice::NAMES, "small"),
        /// Number of HARQ processes in each direction.
        harq_processes: u8 = integer((1, 32, ""), "16"),
        /// Number of slots between two SR opportunities. Default: 8. In TDD the default is the
        /// standard's smallest period of at least 8 slots that is a multiple of the pattern.
        /// Opportunities in slots without PUCCH symbols are not used.
        sr_period: Option<u32> = integer((1, 640, "slots"), "by duplex"),
        /// Control, feedback and reference signals.
        overheads: Overheads = group(),
        /// TDD pattern by counts of slots and symbols.
        tdd: Tdd = group(),
        /// Parameters of every cell.
        shared: Shared = group(),
    }
}

impl Registered for Nr {
    const ENTRY: Entry = Entry::new(
        "nr",
        "3GPP",
        "5G New Radio. Above 6 GHz a cell serves one UE at a time, in slots that the scheduler \
         divides between downlink and uplink. Below 6 GHz it has FDD and divides the band into \
         resource block groups.",
        "TS 38.211, 38.213, 38.214, 38.321",
    )
    .with_parameters(Nr::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Nr::read(settings)
    }
}

impl Nr {
    pub(super) fn cell(&self, carrier: &Carrier) -> Result<CellConfig, String> {
        let (mu, kind) = if is_fr2(carrier.carrier) {
            (3, ChannelKind::NrFr2)
        } else {
            (1, ChannelKind::NrFr1)
        };
        let mu = self.numerology.unwrap_or(mu);
        let text = |error: PhyError| error.to_string();
        let numerology = Numerology::new(mu, CyclicPrefix::Normal).map_err(text)?;
        let blocks = self.shared.resource_blocks(kind, numerology, carrier)?;
        let (beams, most) = (self.overheads.ssb_beams, most_beams(carrier.carrier));
        if beams > most && self.overheads.overhead().ssb.is_some() {
            return Err(format!(
                "{beams} `ssb-beams`; expected 1 to {most} on this carrier"
            ));
        }
        let cell = self.with_blocks(carrier.site, carrier.carrier, mu, blocks);
        let size = match self.sub_band_size {
            SubBandChoice::Small => SubBandSize::Small,
            SubBandChoice::Large => SubBandSize::Large,
        };
        let sub_band_size = |blocks| nr_size(blocks, size);
        self.shared
            .with_sub_bands(cell.map_err(text)?, sub_band_size)
    }

    fn with_blocks(
        &self,
        site: Point,
        carrier: Hertz,
        mu: u8,
        blocks: u32,
    ) -> Result<CellConfig, PhyError> {
        let numerology = Numerology::new(mu, CyclicPrefix::Normal)?;
        let is_fr2 = is_fr2(carrier);
        let (cqi_table, mcs_table) = match self.mcs_table {
            McsTableKind::Qam64 => (CqiTable::Qam64, McsTable::Qam64),
            McsTableKind::Qam256 => (CqiTable::Qam256, McsTable::Qam256),
        };
        let flexible = Duplex::Flexible {
            guard: self.tdd.guard_symbols,
        };
        let timing = NrTimingConfig {
            control_symbols: self.overheads.pdcch_symbols,
            feedback_symbols: self.overheads.pucch_symbols,
            ..NrTimingConfig::default()
        };
        let duplex = match self.duplex {
            NrDuplex::Default if is_fr2 => flexible,
            NrDuplex::Default | NrDuplex::Fdd => Duplex::Fdd,
            NrDuplex::Flexible => flexible,
            NrDuplex::Tdd => Duplex::Tdd(self.tdd.pattern(numerology)?),
            pattern => {
                let (special, symbols) = (SpecialSlot::default(), numerology.symbols());
                Duplex::Tdd(TddPattern::new(pattern.name(), special, symbols)?)
            }
        };
        let own = Own {
            air: AirInterface::Nr { mu },
            slot: numerology.slot(),
            timing: Timing::nr(numerology, &timing)?,
            overhead: self.overheads.overhead(),
            sr_period: self.sr_period.unwrap_or(default_sr_period(mu, &duplex)),
            duplex,
            division: self.tdd.division(),
            sharing: if is_fr2 {
                Sharing::Time
            } else {
                Sharing::Frequency
            },
            most_ues: if is_fr2 { 4 } else { 16 },
            uplink_power: if is_fr2 {
                UplinkPower::Maximum
            } else {
                UplinkPower::OPEN_LOOP
            },
            channel: ChannelConfig::default(),
            cqi_period: self.cqi_period,
            cqi_delay: self.cqi_delay,
            harq_processes: (self.harq_processes, self.harq_processes),
            cqi_table,
            mcs_table,
        };
        Ok(self.shared.cell((site, carrier, blocks), own))
    }
}

/// Returns the default number of slots between two SR opportunities. It is 8, or in TDD the
/// standard's least period from 8 up that is a multiple of the pattern.
fn default_sr_period(mu: u8, duplex: &Duplex) -> u32 {
    const DEFAULT: u32 = 8;
    let pattern = match duplex {
        Duplex::Tdd(pattern) => pattern.slots().len() as u32,
        _ => 1,
    };
    let periods = request_periods(Some(mu)).iter().copied();
    let mut fitting = periods.filter(|period| *period >= DEFAULT && period.is_multiple_of(pattern));
    fitting.next().unwrap_or(DEFAULT)
}

/// Maximum number of synchronisation signal blocks in a burst.
///
/// Standard: TS 38.213 §4.1.
fn most_beams(carrier: Hertz) -> u8 {
    match carrier.0 {
        hertz if hertz <= 3e9 => 4,
        _ if is_fr2(carrier) => 64,
        _ => 8,
    }
}

/// True if a carrier is in frequency range 2.
fn is_fr2(carrier: Hertz) -> bool {
    carrier.0 > 6e9
}

impl CellConfig {
    /// Returns an NR cell with a street canyon channel. Above 6 GHz (frequency range 2) its
    /// transmit power is 40 dBm and its noise figure 7 dB. There the cell serves one UE at a time,
    /// and its scheduler divides slots between uplink and downlink. Below 6 GHz its transmit power
    /// is 46 dBm, and it uses FDD. All other values are the defaults of an NR cell in a scenario.
    ///
    /// # Errors Returns an error if the numerology is not defined for data channels.
    pub fn nr(
        site: Point,
        carrier: Hertz,
        mu: u8,
        resource_blocks: u32,
    ) -> Result<CellConfig, PhyError> {
        let cell = Nr::default().with_blocks(site, carrier, mu, resource_blocks)?;
        let (power, noise_figure) = match is_fr2(carrier) {
            true => (Dbm(40.0), Decibel(7.0)),
            false => (Dbm(46.0), cell.noise_figure),
        };
        Ok(CellConfig {
            power,
            noise_figure,
            ..cell
        })
    }
}
