//! Subcarrier spacing, slots and symbols, and the number of resource blocks of a channel.
//!
//! Slots start on a uniform grid of 1 ms / 2^mu, which is a whole number of nanoseconds for every
//! mu. Symbols divide a slot evenly. The standard makes the first symbol of every half millisecond
//! 0.52 us longer, which is not modelled.
//!
//! Standard: TS 38.211 §4.2, §4.3.

use super::error::PhyError;
use fadeout_core::{Hertz, Span};
use std::sync::LazyLock;

/// Number of subcarriers in a resource block.
///
/// Standard: TS 38.211 §4.4.4.1.
pub const SUBCARRIERS: u32 = 12;

/// Length of the cyclic prefix.
///
/// Standard: TS 38.211 Table 4.2-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CyclicPrefix {
    /// 14 symbols in a slot.
    #[default]
    Normal,
    /// 12 symbols in a slot, at 60 kHz only.
    Extended,
}

/// Subcarrier spacing of 15 kHz times 2^mu, with its cyclic prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numerology {
    mu: u8,
    prefix: CyclicPrefix,
}

impl Numerology {
    /// Numerology of LTE, and the first one of NR: 15 kHz.
    pub const KHZ_15: Numerology = Numerology {
        mu: 0,
        prefix: CyclicPrefix::Normal,
    };

    /// Returns numerology `mu` from 0 to 6. The extended prefix is valid for 2 only.
    ///
    /// Standard: TS 38.211 Table 4.2-1.
    pub fn new(mu: u8, prefix: CyclicPrefix) -> Result<Numerology, PhyError> {
        PhyError::check("numerology", f64::from(mu), mu <= 6, "0 to 6")?;
        if prefix == CyclicPrefix::Extended {
            PhyError::check(
                "numerology with extended cyclic prefix",
                f64::from(mu),
                mu == 2,
                "2 (60 kHz)",
            )?;
        }
        Ok(Numerology { mu, prefix })
    }

    /// Returns the number mu of the numerology.
    pub fn mu(self) -> u8 {
        self.mu
    }

    /// Returns the subcarrier spacing.
    pub fn spacing(self) -> Hertz {
        Hertz(f64::from(self.spacing_khz()) * 1e3)
    }

    /// Returns the subcarrier spacing in kHz.
    pub fn spacing_khz(self) -> u32 {
        15 << self.mu
    }

    /// Returns the length of a slot.
    pub fn slot(self) -> Span {
        Span::from_nanos(1_000_000 >> self.mu)
    }

    /// Returns the number of symbols in a slot.
    pub fn symbols(self) -> u8 {
        match self.prefix {
            CyclicPrefix::Normal => 14,
            CyclicPrefix::Extended => 12,
        }
    }

    /// Returns the time from a slot's start to the start of its symbol `symbol`, rounded down to
    /// the nanosecond.
    pub fn symbol_offset(self, symbol: u8) -> Span {
        self.slot() * u64::from(symbol) / u64::from(self.symbols())
    }

    /// Returns the bandwidth that `resource_blocks` occupy.
    pub fn occupied(self, resource_blocks: u32) -> Hertz {
        Hertz(self.spacing().0 * f64::from(SUBCARRIERS * resource_blocks))
    }
}

/// Table of channel bandwidths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// NR below 7.125 GHz (TS 38.101-1 Table 5.3.2-1).
    NrFr1,
    /// NR from 24.25 to 71 GHz (TS 38.101-2 Table 5.3.2-1).
    NrFr2,
    /// LTE (TS 36.101 Table 5.6-1).
    Lte,
}

impl ChannelKind {
    fn name(self) -> &'static str {
        match self {
            ChannelKind::NrFr1 => "NR_FR1",
            ChannelKind::NrFr2 => "NR_FR2",
            ChannelKind::Lte => "LTE",
        }
    }

    fn text(self) -> &'static str {
        match self {
            ChannelKind::NrFr1 => "NR FR1",
            ChannelKind::NrFr2 => "NR FR2",
            ChannelKind::Lte => "LTE",
        }
    }
}

struct ChannelRow {
    kind: &'static str,
    spacing_khz: u32,
    bandwidth_mhz: f64,
    resource_blocks: u32,
}

static CHANNELS: LazyLock<Vec<ChannelRow>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut fields = line.split(',');
        Some(ChannelRow {
            kind: fields.next()?,
            spacing_khz: fields.next()?.parse().ok()?,
            bandwidth_mhz: fields.next()?.parse().ok()?,
            resource_blocks: fields.next()?.parse().ok()?,
        })
    };
    let table = include_str!("../data/n_rb.csv");
    table.lines().filter_map(row).collect()
});

/// Returns the largest number of resource blocks of a channel (N_RB). A bandwidth that the standard
/// does not list is an error, whose text lists the valid ones. Aggregated channels have their own
/// number of blocks, and do not use this function.
///
/// Standard: TS 38.101-1 Table 5.3.2-1; TS 38.101-2 Table 5.3.2-1; TS 36.101 Table 5.6-1.
pub fn resource_blocks(
    kind: ChannelKind,
    numerology: Numerology,
    bandwidth_mhz: f64,
) -> Result<u32, PhyError> {
    let spacing_khz = numerology.spacing_khz();
    if let Some(listed) = listed_blocks(kind, numerology, bandwidth_mhz) {
        return Ok(listed);
    }
    let of_kind = || CHANNELS.iter().filter(|row| row.kind == kind.name());
    let of_spacing = || of_kind().filter(|row| row.spacing_khz == spacing_khz);
    let mut valid: Vec<String> = of_spacing()
        .map(|row| format!("{} MHz", row.bandwidth_mhz))
        .collect();
    if valid.is_empty() {
        valid = of_kind()
            .map(|row| format!("{} kHz", row.spacing_khz))
            .collect();
        valid.dedup();
    }
    Err(PhyError::Bandwidth {
        kind: kind.text(),
        bandwidth_mhz,
        spacing_khz,
        valid: valid.join(", "),
    })
}

fn listed_blocks(kind: ChannelKind, numerology: Numerology, bandwidth_mhz: f64) -> Option<u32> {
    let is_it = |row: &&ChannelRow| {
        row.kind == kind.name()
            && row.spacing_khz == numerology.spacing_khz()
            && row.bandwidth_mhz == bandwidth_mhz
    };
    CHANNELS.iter().find(is_it).map(|row| row.resource_blocks)
}

/// Checks that a channel contains this many resource blocks. The limit is that of the standard's
/// table. If the table does not list the bandwidth, for example of aggregated carriers, the limit
/// is the number of blocks that fit.
///
/// # Errors
/// Returns an error if the channel has fewer blocks, or if `blocks` is zero.
///
/// Standard: TS 38.101-1 §5.3.2; TS 38.101-2 §5.3.2; TS 36.101 §5.6.
pub fn check_blocks(
    kind: ChannelKind,
    numerology: Numerology,
    bandwidth_mhz: f64,
    blocks: u32,
) -> Result<(), PhyError> {
    let spacing_khz = numerology.spacing_khz();
    let one_mhz = numerology.occupied(1).0 / 1e6;
    // The margin prevents that rounding reduces a whole number of blocks by one.
    let fitting = || (bandwidth_mhz / one_mhz + 1e-9) as u32;
    let most = listed_blocks(kind, numerology, bandwidth_mhz).unwrap_or_else(fitting);
    if (1..=most).contains(&blocks) {
        return Ok(());
    }
    let text = kind.text();
    Err(PhyError::Blocks {
        blocks,
        channel: format!("an {text} channel of {bandwidth_mhz} MHz at {spacing_khz} kHz"),
        most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_symbols_have_their_lengths() {
        for (mu, slot_ns, symbol_ns) in [
            (0, 1_000_000, 71_428),
            (1, 500_000, 35_714),
            (2, 250_000, 17_857),
            (3, 125_000, 8_928),
            (5, 31_250, 2_232),
            (6, 15_625, 1_116),
        ] {
            let numerology = Numerology::new(mu, CyclicPrefix::Normal).expect("a numerology");
            assert_eq!(numerology.slot().as_nanos(), slot_ns);
            assert_eq!(numerology.symbol_offset(1).as_nanos(), symbol_ns);
            assert_eq!(numerology.symbol_offset(14), numerology.slot());
        }
    }

    #[test]
    fn the_extended_prefix_goes_with_60_khz_alone() {
        let extended = |mu| Numerology::new(mu, CyclicPrefix::Extended);
        assert_eq!(extended(2).map(Numerology::symbols), Ok(12));
        assert!(extended(1).is_err() && extended(3).is_err());
        assert!(Numerology::new(7, CyclicPrefix::Normal).is_err());
    }

    #[test]
    fn an_unlisted_bandwidth_is_an_error_that_names_the_listed_ones() {
        let mu = |mu| Numerology::new(mu, CyclicPrefix::Normal).expect("a numerology");
        assert_eq!(resource_blocks(ChannelKind::NrFr1, mu(1), 100.0), Ok(273));
        assert_eq!(resource_blocks(ChannelKind::NrFr2, mu(3), 100.0), Ok(66));
        assert_eq!(resource_blocks(ChannelKind::Lte, mu(0), 1.4), Ok(6));
        let error = resource_blocks(ChannelKind::NrFr2, mu(3), 1000.0).expect_err("no such row");
        assert_eq!(
            error.to_string(),
            "no NR FR2 channel of 1000 MHz at 120 kHz; there are 50 MHz, 100 MHz, 200 MHz, 400 MHz"
        );
        let error = resource_blocks(ChannelKind::Lte, mu(1), 20.0).expect_err("no such spacing");
        assert!(error.to_string().ends_with("there are 15 kHz"), "{error}");
    }

    #[test]
    fn a_channel_has_no_more_blocks_than_its_table_or_its_width_says() {
        let mu = |mu| Numerology::new(mu, CyclicPrefix::Normal).expect("a numerology");
        let fr2 = |mhz, blocks| check_blocks(ChannelKind::NrFr2, mu(3), mhz, blocks);
        assert_eq!((fr2(400.0, 264), fr2(400.0, 1)), (Ok(()), Ok(())));
        let error = fr2(400.0, 1000).expect_err("264 at most").to_string();
        assert_eq!(
            error,
            "1000 resource blocks; an NR FR2 channel of 400 MHz at 120 kHz has 1 to 264"
        );
        // The table does not list this aggregated channel, so 694 blocks of 1.44 MHz fit.
        assert_eq!(fr2(1000.0, 694), Ok(()));
        assert!(fr2(1000.0, 695).is_err() && fr2(400.0, 0).is_err());
        assert_eq!(fr2(1.44, 1), Ok(()));
        assert!(
            fr2(1.0, 1)
                .expect_err("no room")
                .to_string()
                .ends_with("1 to 0")
        );
        let lte = |blocks| check_blocks(ChannelKind::Lte, mu(0), 20.0, blocks);
        assert!(lte(100).is_ok() && lte(101).is_err());
    }
}
