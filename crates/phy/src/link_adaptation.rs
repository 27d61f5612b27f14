//! From a report of the channel's quality to a modulation and coding scheme.
//!
//! A [`LinkAdaptation`] holds what is the same for every user of a cell: at which SINR each CQI
//! and each scheme reaches the target error rate by the model of [`bler`](super::bler), computed
//! once. An [`OuterLoop`] is one user's correction. [`CsiReporting`] says which instant a report
//! that is in force now was measured at.

use super::code_block::{ChannelCode, TransportCode};
use super::cqi::CqiTable;
use super::error::PhyError;
use super::mcs::Mcs;
use fadeout_core::{Decibel, Span, Time};

/// The parameters of [`LinkAdaptation::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinkAdaptationConfig {
    /// The table of reports.
    pub cqi_table: CqiTable,
    /// The schemes: an NR table's rows or [`lte::rates`](super::lte::rates).
    pub schemes: Vec<Mcs>,
    /// Channel code.
    pub code: ChannelCode,
    /// Distance of code and receiver from the bound that the choice reckons with.
    pub gap: Decibel,
    /// Most errors of a first transmission, in (0, 1); [`CqiTable::target_error`] has the
    /// standard's.
    pub target_error: f64,
    /// Bits of a code block that the choice reckons with, CRC included; cut to what the code
    /// takes.
    pub block_bits: f64,
    /// Code blocks of a transport block that the choice reckons with.
    pub blocks: u32,
    /// A scheme to use always, whatever is reported: no adaptation.
    pub fixed: Option<u32>,
}

/// Thresholds of a cell's reports and schemes.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkAdaptation {
    schemes: Vec<Mcs>,
    cqi_table: CqiTable,
    // SINR in dB from which each row keeps the target.
    cqi_sinr_db: Vec<f64>,
    scheme_sinr_db: Vec<f64>,
    // From which SINR in dB on which scheme is the most efficient that keeps the target.
    best: Vec<(f64, Mcs)>,
    fixed: Option<Mcs>,
}

impl LinkAdaptation {
    /// Computes the thresholds.
    pub fn new(config: &LinkAdaptationConfig) -> Result<LinkAdaptation, PhyError> {
        let target = config.target_error;
        PhyError::check(
            "target error rate",
            target,
            target > 0.0 && target < 1.0,
            "between 0 and 1",
        )?;
        PhyError::check(
            "code block bits",
            config.block_bits,
            config.block_bits >= 40.0,
            "40 or more",
        )?;
        PhyError::check(
            "code blocks",
            f64::from(config.blocks),
            config.blocks >= 1,
            "1 or more",
        )?;
        let schemes = &config.schemes;
        PhyError::check("number of schemes", 0.0, !schemes.is_empty(), "1 or more")?;
        let fixed = match config.fixed {
            None => None,
            Some(index) => {
                let scheme = schemes.iter().find(|mcs| mcs.index == index);
                let value = f64::from(index);
                PhyError::check(
                    "fixed MCS",
                    value,
                    scheme.is_some(),
                    "an index of the table",
                )?;
                scheme.copied()
            }
        };
        let threshold = |mcs: &Mcs| {
            let code = TransportCode {
                blocks: config.blocks,
                ..TransportCode::single(
                    config.code,
                    config.gap,
                    mcs.modulation,
                    mcs.code_rate,
                    config
                        .block_bits
                        .min(config.code.largest_block(config.block_bits, mcs.code_rate)),
                )
            };
            code.sinr_for(target)
        };
        let cqi_sinr_db = config.cqi_table.rows().iter().map(threshold).collect();
        let scheme_sinr_db: Vec<f64> = schemes.iter().map(threshold).collect();
        Ok(LinkAdaptation {
            best: best_schemes(schemes, &scheme_sinr_db),
            schemes: schemes.clone(),
            cqi_table: config.cqi_table,
            cqi_sinr_db,
            scheme_sinr_db,
            fixed,
        })
    }

    /// The highest CQI that keeps the target at this effective SINR, 1 to 15; 0 when none does.
    pub fn cqi(&self, sinr_db: f64) -> u8 {
        self.cqi_sinr_db.partition_point(|&at| at <= sinr_db) as u8
    }

    /// The wideband CQI of a channel that differs over the band: the highest that keeps the target
    /// at the effective SINR of its own scheme; 0 when none does. `effective_db` gives that SINR in
    /// dB, and `mean_db` is the SINR of the mean over the band.
    ///
    /// An effective SINR is at most the mean, and at most that of a scheme of higher order: the
    /// search goes down from what the mean would allow and passes over what cannot be.
    ///
    /// Standard: TS 38.214 §5.2.2.1; TS 36.213 §7.2.3.
    pub fn wideband_cqi(&self, mean_db: f64, effective_db: impl Fn(&Mcs) -> f64) -> u8 {
        let rows = self.cqi_table.rows();
        let mut cqi = self.cqi(mean_db);
        while cqi > 0 {
            let reached = self.cqi(effective_db(&rows[usize::from(cqi) - 1]));
            if reached >= cqi {
                break;
            }
            cqi = reached;
        }
        cqi
    }

    /// The SINR in dB that a CQI from 1 to 15 stands for, its threshold; negative infinity for 0.
    pub fn sinr_of_cqi(&self, cqi: u8) -> f64 {
        match cqi.min(self.cqi_sinr_db.len() as u8) {
            0 => f64::NEG_INFINITY,
            cqi => self.cqi_sinr_db[usize::from(cqi) - 1],
        }
    }

    /// Bits that a resource element of one layer carries with the scheme that a CQI stands for.
    pub fn efficiency_of_cqi(&self, cqi: u8) -> f64 {
        match cqi {
            0 => 0.0,
            cqi => {
                let rows = self.cqi_table.rows();
                rows[usize::from(cqi).min(rows.len()) - 1].efficiency
            }
        }
    }

    /// The scheme for a report, corrected by `offset_db` of the [`OuterLoop`]: the most efficient
    /// that keeps the target at the SINR the report stands for. The lowest scheme when none does;
    /// nothing when the report is 0, out of range. A fixed scheme is always the answer.
    pub fn scheme(&self, cqi: u8, offset_db: f64) -> Option<Mcs> {
        if self.fixed.is_none() && cqi == 0 {
            return None;
        }
        Some(self.scheme_for_sinr(self.sinr_of_cqi(cqi) + offset_db))
    }

    /// The scheme for an SINR in dB known without the steps of a report, for example by the base
    /// station's own measurement of the uplink.
    pub fn scheme_for_sinr(&self, sinr_db: f64) -> Mcs {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let reached = self.best.partition_point(|&(at, _)| at <= sinr_db);
        self.best[..reached]
            .last()
            .map_or(self.schemes[0], |&(_, scheme)| scheme)
    }

    /// The SINR in dB from which scheme number `position` of the table keeps the target.
    pub fn threshold(&self, position: usize) -> Option<f64> {
        self.scheme_sinr_db.get(position).copied()
    }
}

/// Where each scheme becomes the most efficient, in the order of SINR. Not simply where it works:
/// where the modulation changes, two rows are nearly equal, and the one with the greater index may
/// carry less. Of two that carry the same, as LTE's do there, it is the one with the lesser index.
fn best_schemes(schemes: &[Mcs], sinr_db: &[f64]) -> Vec<(f64, Mcs)> {
    let mut order: Vec<usize> = (0..schemes.len()).collect();
    order.sort_by(|&a, &b| sinr_db[a].total_cmp(&sinr_db[b]));
    let (mut best, mut steps) = (0, Vec::new());
    for position in order {
        let (scheme, than) = (&schemes[position], &schemes[best]);
        let is_equal = scheme.efficiency == than.efficiency;
        if scheme.efficiency > than.efficiency || (is_equal && position < best) {
            best = position;
            steps.push((sinr_db[position], *scheme));
        }
    }
    steps
}

/// The parameters of [`OuterLoop`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterLoopConfig {
    /// Decrease after an error, in dB; zero switches the loop off.
    pub step_down_db: f64,
    /// Error rate of first transmissions that the loop settles at, in (0, 1).
    pub target_error: f64,
    /// Bounds of the correction, in dB.
    pub range_db: (f64, f64),
}

impl Default for OuterLoopConfig {
    fn default() -> Self {
        OuterLoopConfig {
            step_down_db: 0.5,
            target_error: 0.1,
            range_db: (-10.0, 10.0),
        }
    }
}

impl OuterLoopConfig {
    /// No loop.
    pub const OFF: OuterLoopConfig = OuterLoopConfig {
        step_down_db: 0.0,
        target_error: 0.1,
        range_db: (0.0, 0.0),
    };

    /// Increase after a success, in dB: the two steps cancel at the target error rate.
    pub fn step_up_db(&self) -> f64 {
        self.step_down_db * self.target_error / (1.0 - self.target_error)
    }

    /// Checks the values.
    pub fn validate(&self) -> Result<(), PhyError> {
        let (step, target) = (self.step_down_db, self.target_error);
        let (low, high) = self.range_db;
        let step_ok = (0.0..=20.0).contains(&step);
        PhyError::check("outer loop step in dB", step, step_ok, "0 to 20")?;
        let target_ok = target > 0.0 && target < 1.0;
        PhyError::check("outer loop target", target, target_ok, "between 0 and 1")?;
        PhyError::check(
            "outer loop range in dB",
            high - low,
            low <= 0.0 && high >= 0.0,
            "a range around zero",
        )
    }
}

/// A user's correction of what reports promise, from the feedback of first transmissions
/// (A. Sampath, P. S. Kumar, J. M. Holtzman, "On setting reverse link target SIR in a CDMA system",
/// IEEE VTC 1997).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OuterLoop {
    offset_db: f64,
}

impl OuterLoop {
    /// The correction in dB, added to the SINR that a report stands for.
    pub fn offset_db(&self) -> f64 {
        self.offset_db
    }

    /// Feedback for a first transmission.
    pub fn on_feedback(&mut self, config: &OuterLoopConfig, is_ack: bool) {
        let step = if is_ack {
            config.step_up_db()
        } else {
            -config.step_down_db
        };
        let (low, high) = config.range_db;
        self.offset_db = (self.offset_db + step).max(low).min(high);
    }
}

/// When reports are measured and when they are known to the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsiReporting {
    /// Between two measurements; zero means that every instant is measured.
    pub period: Span,
    /// From the start of the run to the first measurement.
    pub offset: Span,
    /// From a measurement to its use.
    pub delay: Span,
}

impl CsiReporting {
    /// When the report in force at `at` was measured; nothing before the first is known.
    pub fn measured_at(&self, at: Time) -> Option<Time> {
        let first = Time::ZERO.saturating_add(self.offset);
        let known = first.saturating_add(self.delay);
        if at < known {
            return None;
        }
        let since_first = at.since(known).as_nanos();
        let phase = match self.period.as_nanos() {
            0 => 0,
            period => since_first % period,
        };
        Some(first.saturating_add(Span::from_nanos(since_first - phase)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bler::LDPC_GAP;
    use crate::effective_sinr::EffectiveSinr;
    use crate::lte::{self, LteAllocation, LteElements};
    use crate::mcs::McsTable;
    use fadeout_core::Direction;
    use fadeout_core::math::{from_db, to_db};
    use fadeout_core::random::Stream;
    use std::cell::Cell;

    fn config(schemes: McsTable) -> LinkAdaptationConfig {
        LinkAdaptationConfig {
            cqi_table: CqiTable::Qam64,
            schemes: schemes.rows().to_vec(),
            code: ChannelCode::Ldpc,
            gap: LDPC_GAP,
            target_error: 0.1,
            block_bits: 1000.0,
            blocks: 1,
            fixed: None,
        }
    }

    fn adaptation(schemes: McsTable) -> LinkAdaptation {
        LinkAdaptation::new(&config(schemes)).expect("valid values")
    }

    #[test]
    fn each_report_leads_to_the_scheme_of_its_efficiency() {
        let adaptation = adaptation(McsTable::Qam64);
        let scheme = |cqi| adaptation.scheme(cqi, 0.0).map(|mcs| mcs.index);
        let found: Vec<u32> = (1..16).filter_map(scheme).collect();
        assert_eq!(
            found,
            [0, 0, 2, 4, 6, 8, 11, 13, 15, 18, 20, 22, 24, 26, 28]
        );
        assert_eq!(scheme(0), None);
        assert_eq!(scheme(200), Some(28));
    }

    #[test]
    fn reports_change_where_the_error_model_says() {
        // SINR for 10 % errors of 1000 bits by quadrature; the model uses fits to it. The first
        // three rates are below the mother code's, 1/5.
        let reference = [
            -7.87, -6.00, -3.93, -1.55, 0.62, 2.59, 4.34, 6.23, 8.22, 9.86, 11.85, 13.75, 15.82,
            17.94, 19.83,
        ];
        let adaptation = adaptation(McsTable::Qam64);
        for (index, at) in reference.into_iter().enumerate() {
            let cqi = index as u8 + 1;
            assert!((adaptation.sinr_of_cqi(cqi) - at).abs() < 0.05, "CQI {cqi}");
            assert_eq!(adaptation.cqi(at + 0.05), cqi);
            assert_eq!(adaptation.cqi(at - 0.05), cqi - 1);
        }
        assert_eq!(adaptation.cqi(f64::NEG_INFINITY), 0);
        assert_eq!(adaptation.cqi(f64::INFINITY), 15);
    }

    #[test]
    fn a_wideband_report_is_the_highest_that_keeps_the_target_at_its_own_effective_sinr() {
        let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
            cqi_table: CqiTable::Qam256,
            schemes: McsTable::Qam256.rows().to_vec(),
            ..config(McsTable::Qam256)
        })
        .expect("valid values");
        let rows = CqiTable::Qam256.rows();
        let mut stream = Stream::new(1, "test.wideband", 0);
        let (mut looks, mut below_mean) = (0_u32, 0_u32);
        let trials = 4000;
        for trial in 0..trials {
            let method = [EffectiveSinr::Miesm, EffectiveSinr::Eesm][trial % 2];
            let mean = from_db(stream.uniform_in(-12.0, 40.0));
            // Sub-bands of Rayleigh fading, in some trials hardly any.
            let spread = stream.uniform();
            let gains: Vec<f32> = (0..16)
                .map(|_| (1.0 - spread + spread * stream.exponential(1.0)) as f32)
                .collect();
            let band = gains.iter().sum::<f32>() / 16.0;
            let mean_db = to_db(mean * f64::from(band));
            let asked = Cell::new(0);
            let effective_db = |scheme: &Mcs| {
                asked.set(asked.get() + 1);
                to_db(method.effective(scheme, mean, &gains))
            };
            let found = adaptation.wideband_cqi(mean_db, effective_db);
            looks += asked.take();
            let all = (1..=15_u8).rev();
            let keeps = |&cqi: &u8| {
                effective_db(&rows[usize::from(cqi) - 1]) >= adaptation.sinr_of_cqi(cqi)
            };
            assert_eq!(found, { all }.find(keeps).unwrap_or(0), "trial {trial}");
            below_mean += u32::from(found < adaptation.cqi(mean_db));
        }
        // It makes a difference, and takes two looks or so.
        assert!(below_mean > 500, "{below_mean}");
        assert!(looks < 2 * trials as u32, "{looks}");
    }

    #[test]
    fn a_stricter_target_or_more_code_blocks_need_more_signal() {
        let base = adaptation(McsTable::Qam64).sinr_of_cqi(9);
        let of = |config: LinkAdaptationConfig| {
            let adaptation = LinkAdaptation::new(&config).expect("valid values");
            adaptation.sinr_of_cqi(9)
        };
        let strict = of(LinkAdaptationConfig {
            target_error: 1e-5,
            ..config(McsTable::Qam64)
        });
        let many = of(LinkAdaptationConfig {
            blocks: 18,
            ..config(McsTable::Qam64)
        });
        assert!(
            strict > base + 0.3 && many > base + 0.1,
            "{base} {strict} {many}"
        );
    }

    #[test]
    fn lte_schemes_follow_the_signal_from_the_lowest_to_the_highest() {
        let allocation = LteAllocation {
            resource_blocks: 50,
            layers: 1,
            tti: Span::from_millis(1),
        };
        let elements = LteElements::default();
        let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
            schemes: lte::rates(Direction::Downlink, &allocation, elements),
            code: ChannelCode::Turbo,
            gap: ChannelCode::Turbo.gap(),
            block_bits: 6144.0,
            ..config(McsTable::Qam64)
        })
        .expect("valid values");
        let found: Vec<u32> = (-10..30)
            .map(|db| adaptation.scheme_for_sinr(f64::from(db)).index)
            .collect();
        assert!(found.is_sorted(), "{found:?}");
        assert_eq!((found[0], found[39]), (0, 28));
    }

    #[test]
    fn the_best_scheme_is_the_one_that_a_look_at_all_finds() {
        let allocation = LteAllocation {
            resource_blocks: 50,
            layers: 1,
            tti: Span::from_millis(1),
        };
        let elements = LteElements::default();
        for schemes in [
            McsTable::Qam64.rows().to_vec(),
            McsTable::Qam256.rows().to_vec(),
            lte::rates(Direction::Downlink, &allocation, elements),
            lte::rates(Direction::Uplink, &allocation, elements),
        ] {
            let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
                schemes,
                ..config(McsTable::Qam64)
            })
            .expect("valid values");
            for step in -200..700 {
                let sinr_db = f64::from(step) / 20.0;
                let mut best = adaptation.schemes[0];
                for (scheme, &at) in adaptation.schemes.iter().zip(&adaptation.scheme_sinr_db) {
                    if at <= sinr_db && scheme.efficiency > best.efficiency {
                        best = *scheme;
                    }
                }
                assert_eq!(adaptation.scheme_for_sinr(sinr_db), best, "{sinr_db} dB");
            }
        }
    }

    #[test]
    fn a_fixed_scheme_ignores_the_report() {
        let fixed = |index| LinkAdaptationConfig {
            fixed: Some(index),
            ..config(McsTable::Qam64)
        };
        let adaptation = LinkAdaptation::new(&fixed(16)).expect("valid values");
        for cqi in [0, 3, 15] {
            assert_eq!(adaptation.scheme(cqi, -3.0).map(|mcs| mcs.index), Some(16));
        }
        let error = LinkAdaptation::new(&fixed(29)).expect_err("reserved");
        assert!(error.to_string().starts_with("fixed MCS is 29"), "{error}");
    }

    #[test]
    fn an_error_costs_nine_successes_and_the_range_holds() {
        let (config, mut outer) = (OuterLoopConfig::default(), OuterLoop::default());
        outer.on_feedback(&config, false);
        assert_eq!(outer.offset_db(), -0.5);
        for _ in 0..9 {
            assert!(outer.offset_db() < -0.04);
            outer.on_feedback(&config, true);
        }
        // The steps of 0.5 / 9 dB add up but for rounding.
        assert!(outer.offset_db().abs() < 1e-12, "{}", outer.offset_db());
        for (is_ack, end) in [(false, -10.0), (true, 10.0)] {
            for _ in 0..400 {
                outer.on_feedback(&config, is_ack);
            }
            assert_eq!(outer.offset_db(), end);
        }
    }

    #[test]
    fn the_outer_loop_settles_at_its_target() {
        // Reports promise 2 dB too much.
        let (adaptation, loop_config) = (adaptation(McsTable::Qam64), OuterLoopConfig::default());
        let mut outer = OuterLoop::default();
        let mut stream = Stream::new(1, "test.errors", 0);
        let sinr = 12.0;
        let mut errors = 0;
        let (warm_up, blocks) = (2_000, 40_000);
        for block in 0..warm_up + blocks {
            let cqi = adaptation.cqi(sinr + 2.0);
            let scheme = adaptation.scheme(cqi, outer.offset_db()).expect("in range");
            let code = TransportCode::single(
                ChannelCode::Ldpc,
                LDPC_GAP,
                scheme.modulation,
                scheme.code_rate,
                1000.0,
            );
            let is_ack = stream.uniform() >= code.error_rate(sinr);
            outer.on_feedback(&loop_config, is_ack);
            errors += u32::from(block >= warm_up && !is_ack);
        }
        let rate = f64::from(errors) / f64::from(blocks);
        // All steps add up to at most the range, 20 dB: an error of 20 / (40,000 x 0.556).
        assert!((rate - 0.1).abs() < 0.001, "{rate}");
        assert!(outer.offset_db() < 0.0);
    }

    #[test]
    fn a_report_is_as_old_as_its_period_and_delay_make_it() {
        let millis = |n| Time::ZERO + Span::from_millis(n);
        let reporting = CsiReporting {
            period: Span::from_millis(5),
            offset: Span::from_millis(2),
            delay: Span::from_millis(4),
        };
        for (at, measured) in [
            (0, None),
            (5, None),
            (6, Some(2)),
            (10, Some(2)),
            (11, Some(7)),
            (1006, Some(1002)),
        ] {
            assert_eq!(
                reporting.measured_at(millis(at)),
                measured.map(millis),
                "{at} ms"
            );
        }
        let at_once = CsiReporting {
            period: Span::ZERO,
            offset: Span::ZERO,
            delay: Span::ZERO,
        };
        assert_eq!(at_once.measured_at(millis(3)), Some(millis(3)));
    }

    #[test]
    fn values_without_meaning_are_errors() {
        let broken = [
            LinkAdaptationConfig {
                target_error: 1.0,
                ..config(McsTable::Qam64)
            },
            LinkAdaptationConfig {
                block_bits: f64::NAN,
                ..config(McsTable::Qam64)
            },
            LinkAdaptationConfig {
                blocks: 0,
                ..config(McsTable::Qam64)
            },
            LinkAdaptationConfig {
                schemes: Vec::new(),
                ..config(McsTable::Qam64)
            },
        ];
        for config in broken {
            assert!(LinkAdaptation::new(&config).is_err(), "{config:?}");
        }
        let outer = OuterLoopConfig {
            step_down_db: -1.0,
            ..OuterLoopConfig::default()
        };
        assert!(outer.validate().is_err());
        assert!(OuterLoopConfig::OFF.validate().is_ok());
    }
}
