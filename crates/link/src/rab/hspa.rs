//! HSPA and HSPA+: HSDPA blocks by channel quality and HSUPA blocks by category, both with HARQ.

use super::{Common, Configures, RabConfig, RadioStates, rows};
use crate::{BlockConfig, LinkError};
use fadeout_core::registry::{Entry, OutOfRange, Registered, Settings, flag, integer, number};
use fadeout_core::{Rate, Span};

const CQI_TABLES: &str = include_str!("../../data/hsdpa_cqi_tables.csv");
const CATEGORIES: &str = include_str!("../../data/hsdpa_categories.csv");
const E_DCH_CATEGORIES: &str = include_str!("../../data/e_dch_categories.csv");

/// Blocks of HS-DSCH, with an interval of 2 ms and a HARQ round trip of 12 ms (TS 25.211 clause
/// 5.3.3.13, TS 25.214 clause 6A.1.1).
const HS_DSCH: BlockConfig = BlockConfig {
    interval: Span::from_millis(2),
    processes: 6,
    error: 0.1,
    transmissions: 4,
    residual_error: 0.0,
    repeat_after: Span::ZERO,
};
/// Blocks of E-DCH with the short interval and eight processes.
///
/// Standard: TS 25.321 §11.8.1.1.2.
const E_DCH_2MS: BlockConfig = BlockConfig {
    processes: 8,
    ..HS_DSCH
};
/// Blocks of E-DCH with the long interval and four processes.
const E_DCH_10MS: BlockConfig = BlockConfig {
    interval: Span::from_millis(10),
    processes: 4,
    ..HS_DSCH
};

fadeout_core::parameters! {
    /// HSPA or HSPA+ with its parameters; the defaults are HSPA's.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Hspa {
        /// HS-DSCH category of the phone. The category determines the largest block and the CQI
        /// table (TS 25.306 Table 5.1a). Categories 5 to 10, 12, 13 and 14 are modelled. Categories
        /// that need a pause between blocks are not modelled.
        category: u32 = integer((5, 14, ""), "10"),
        /// Channel quality indicator, which determines the size of a block (TS 25.214 Tables 7A to
        /// 7G). 0 means the indicator that corresponds to `sinr`.
        cqi: u32 = integer((0, 30, ""), "0"),
        /// Signal to interference and noise ratio of the downlink, used if `cqi` is 0 (Brouwer et
        /// al., ISSSTA 2004). CQI 1 corresponds to -15.9 dB, and the CQI grows by one with each
        /// 1.02 dB.
        sinr: f64 = number((-50.0, 50.0, "dB"), "4"),
        /// Share of a block that carries no IP packet: 16 of the 336 bits of an RLC PDU (TS 25.322
        /// clause 9.2.1.4), and the MAC header.
        overhead: f64 = number((0.0, 0.5, ""), "0.05"),
        /// Probability that a transmission fails and HARQ repeats it. A repetition takes 12 ms in
        /// the downlink. In the uplink it takes 16 ms with intervals of 2 ms, and 40 ms with
        /// intervals of 10 ms. A phone reports the CQI for which this probability is 0.1 (TS 25.214
        /// clause 6A.2).
        block_error: f64 = number((0.0, 0.9, ""), "0.1"),
        /// Largest number of HARQ transmissions of a block. After that, RLC repeats the block.
        harq_transmissions: u32 = integer((1, 16, ""), "4"),
        /// E-DCH category of the phone, which sends its largest block in every interval (TS 25.306
        /// Table 5.1g).
        uplink_category: u32 = integer((1, 7, ""), "3"),
        /// True if the uplink's interval is 2 ms, false if it is 10 ms. Categories 2, 4, 6 and 7
        /// can have 2 ms.
        has_2ms as "uplink-2ms": bool = flag("false"),
        common: Common = group(&[
            ("delay", "30 ms"),
            ("rlc-error", "0.001"),
            ("rlc-delay", "100 ms"),
        ]),
        states: RadioStates = group(),
    }
}

pub(super) const HSPA_PLUS: Entry = Entry::new(
    "hspa-plus",
    "3G",
    "HSPA+ with one carrier: 64QAM in the downlink, intervals of 2 ms in the uplink.",
    "TS 25.214 clause 6A.2, TS 25.306; delay for a round trip of 40 to 60 ms",
)
.with_aliases(&["hspa+"])
.with_parameters(&Hspa::with_defaults(&[
    ("category", "14"),
    ("sinr", "10"),
    ("uplink-category", "6"),
    ("uplink-2ms", "true"),
    ("delay", "20 ms"),
]));

impl Registered for Hspa {
    const ENTRY: Entry = Entry::new(
        "hspa",
        "3G",
        "HSDPA and HSUPA: block sizes by channel quality, with HARQ.",
        "TS 25.214 clause 6A.2, TS 25.306; delay for a round trip of 60 to 100 ms",
    )
    .with_aliases(&["hsdpa"])
    .with_parameters(Hspa::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Hspa::read(settings)
    }
}

impl Configures for Hspa {
    fn configured(&self) -> Result<RabConfig, LinkError> {
        let cqi = match self.cqi {
            0 => cqi_of(self.sinr)?,
            given => given,
        };
        let downlink_bits = block_bits(self.category, cqi)?;
        let uplink_bits = uplink_bits(self.uplink_category, self.has_2ms)?;
        let payload = 1.0 - self.overhead;
        let direction = |bits: u32, blocks: BlockConfig| {
            let rate = f64::from(bits) * payload / blocks.interval.as_secs_f64();
            let blocks = BlockConfig {
                error: self.block_error,
                transmissions: self.harq_transmissions,
                ..blocks
            };
            // The rate is rounded, so that a block without overhead carries exactly its bits.
            let rate = Rate::from_bits_per_sec(rate.round() as u64);
            self.common.direction(rate, blocks)
        };
        let e_dch = if self.has_2ms { E_DCH_2MS } else { E_DCH_10MS };
        Ok(RabConfig {
            downlink: direction(downlink_bits, HS_DSCH),
            uplink: direction(uplink_bits, e_dch),
            states: self.states.config(),
        })
    }
}

/// Returns the CQI that a phone reports. The source is equation 3 of F. Brouwer et al., "Usage of
/// link-level performance indicators for HSDPA network-level simulations in E-UMTS", ISSSTA 2004.
fn cqi_of(sinr_db: f64) -> Result<u32, LinkError> {
    let cqi = (sinr_db / 1.02 + 16.62).floor().clamp(0.0, 30.0);
    if sinr_db <= -16.0 || cqi < 1.0 {
        let expected = "more than -15.9 dB; below it the CQI is 0, out of range";
        return Err(refused("sinr", format!("{sinr_db} dB"), expected));
    }
    Ok(cqi as u32)
}

/// Returns the bits of a block at this CQI.
fn block_bits(category: u32, cqi: u32) -> Result<u32, LinkError> {
    let number = category.to_string();
    let row = rows(CATEGORIES).find(|row| row[0] == number);
    let row = row.ok_or_else(|| refused("category", number, "5 to 10, 12, 13 or 14"))?;
    let (largest, table) = (parse(row[1]), row[2]);
    let header = CQI_TABLES.lines().find(|line| line.starts_with("cqi,"));
    let column = header.and_then(|line| line.split(',').position(|name| name == table));
    let column = column.expect("a category's CQI table is in the file");
    let row = rows(CQI_TABLES)
        .nth(cqi as usize - 1)
        .expect("a CQI is 1 to 30");
    Ok(parse(row[column]).min(largest))
}

fn uplink_bits(category: u32, has_2ms: bool) -> Result<u32, LinkError> {
    let row = rows(E_DCH_CATEGORIES)
        .nth(category as usize - 1)
        .expect("a category is 1 to 7");
    match parse(row[if has_2ms { 2 } else { 1 }]) {
        0 => {
            let expected = "2, 4, 6 or 7 with `uplink-2ms`";
            Err(refused("uplink-category", category.to_string(), expected))
        }
        bits => Ok(bits),
    }
}

fn refused(name: &'static str, value: String, expected: &str) -> LinkError {
    LinkError::OutOfRange(OutOfRange {
        name,
        value,
        expected: expected.to_owned(),
    })
}

fn parse(field: &str) -> u32 {
    field.parse().expect("the tables hold whole numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateConfig;
    use fadeout_core::registry::{Parameters, Value};

    fn hspa(given: &Parameters) -> Result<RabConfig, LinkError> {
        Hspa::from_settings(&Settings::new(&Hspa::ENTRY, given), ()).configured()
    }

    fn given(list: &[(&str, f64)]) -> Parameters {
        let numbers = list
            .iter()
            .map(|&(name, number)| (name.to_owned(), Value::Number(number)));
        Parameters(numbers.collect())
    }

    #[test]
    fn blocks_are_those_of_the_standard() {
        // The expected values are those of TS 25.214 Table 7D, with the CQI by the formula of
        // Brouwer et al.
        for (sinr_db, cqi, bits) in [(0.0, 16, 3565), (10.0, 26, 17237), (-10.0, 6, 461)] {
            assert_eq!(cqi_of(sinr_db), Ok(cqi));
            assert_eq!(block_bits(10, cqi), Ok(bits));
        }
        assert_eq!(cqi_of(14.0), Ok(30));
        assert_eq!(cqi_of(50.0), Ok(30));
        assert_eq!(cqi_of(-15.9), Ok(1));
    }

    #[test]
    fn a_category_ends_its_cqi_table() {
        let at_best = |category| block_bits(category, 30);
        let known = [
            (6, 7168),
            (8, 14411),
            (9, 17237),
            (10, 25558),
            (12, 3319),
            (13, 32264),
            (14, 38576),
        ];
        for (category, bits) in known {
            assert_eq!(at_best(category), Ok(bits));
        }
    }

    #[test]
    fn a_better_cqi_never_has_a_smaller_block() {
        for category in [5, 6, 7, 8, 9, 10, 12, 13, 14] {
            let bits: Vec<_> = (1..=30).map(|cqi| block_bits(category, cqi)).collect();
            assert!(bits.iter().all(Result::is_ok));
            assert!(bits.is_sorted_by_key(|bits| bits.clone().ok()));
        }
    }

    #[test]
    fn the_rate_is_a_block_in_each_interval_less_the_overhead() {
        let rab = hspa(&given(&[("cqi", 20.0), ("overhead", 0.0)])).expect("valid");
        let rate = |bits| RateConfig::Constant(Rate::from_bits_per_sec(bits));
        assert_eq!(rab.downlink.rate, rate(5887 * 500));
        assert_eq!(rab.uplink.rate, rate(14484 * 100));
        let rab = hspa(&given(&[("cqi", 20.0), ("overhead", 0.5)])).expect("valid");
        assert_eq!(rab.downlink.rate, rate(5887 * 250));
    }

    #[test]
    fn what_the_standard_does_not_have_is_refused() {
        let refused = |list: &[(&str, f64)]| hspa(&given(list)).unwrap_err().to_string();
        assert!(refused(&[("category", 11.0)]).contains("5 to 10, 12, 13 or 14"));
        assert!(refused(&[("sinr", -16.0)]).contains("more than -15.9 dB"));
        let mut short = given(&[("uplink-category", 5.0)]);
        short.0.push(("uplink-2ms".into(), Value::Bool(true)));
        let error = hspa(&short).unwrap_err().to_string();
        assert!(error.contains("2, 4, 6 or 7"), "{error}");
    }
}
