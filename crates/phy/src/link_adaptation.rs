//! Link adaptation: choice of the modulation and coding scheme from a channel quality report.
//!
//! A [`LinkAdaptation`] serves all users of a cell. It holds the SINR at which each CQI and each
//! scheme reaches the target error rate by the model of [`bler`](super::bler). An [`OuterLoop`] is
//! the correction of one user. [`CsiReporting`] computes the measurement time of the report in
//! force.

use super::code_block::{ChannelCode, TransportCode};
use super::cqi::CqiTable;
use super::error::PhyError;
use super::mcs::Mcs;
use super::mutual_information::Modulation;
use fadeout_core::{Decibel, Span, Time};

/// Parameters of [`LinkAdaptation::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinkAdaptationConfig {
    /// Table of reports.
    pub cqi_table: CqiTable,
    /// Modulation and coding schemes: the rows of an NR table, or
    /// [`lte::rates`](super::lte::rates).
    pub schemes: Vec<Mcs>,
    /// Further schemes for receivers and senders with a limited modulation order:
    /// [`lte::lower_order_rates`](super::lte::lower_order_rates), or empty.
    pub lower_order: Vec<Mcs>,
    /// Channel code.
    pub code: ChannelCode,
    /// Assumed gap between the bound and the code with its receiver.
    pub gap: Decibel,
    /// Largest error rate of a first transmission, in (0, 1). The standard's value is
    /// [`CqiTable::target_error`].
    pub target_error: f64,
    /// Assumed bits of a code block, CRC included, limited to the largest block of the code.
    pub block_bits: f64,
    /// Assumed number of code blocks in a transport block.
    pub blocks: u32,
    /// Index of the MCS to use for any report. `None` for adaptation.
    pub fixed: Option<u32>,
}

/// Measurement of a channel by a receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// CQI, 1 to 15. 0 means out of range.
    pub cqi: u8,
    /// Effective SINR in dB from which the CQI was determined.
    pub sinr_db: f64,
}

/// Modulation orders that limit the schemes.
const LIMITS: [Modulation; 3] = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64];

/// SINR thresholds of a cell's CQIs and modulation and coding schemes.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkAdaptation {
    schemes: Vec<Mcs>,
    cqi_table: CqiTable,
    // SINR in dB at which each row reaches the target.
    cqi_sinr_db: Vec<f64>,
    scheme_sinr_db: Vec<f64>,
    // Most efficient MCS that meets the target, and the lowest SINR in dB at which it is used.
    best: Vec<(f64, Mcs)>,
    // Best MCSs and SINRs, as above, up to each modulation order below 256QAM.
    best_up_to: [Vec<(f64, Mcs)>; 3],
    // SINR in dB, and the bits per resource element of one layer at that SINR.
    carried: Vec<(f64, f64)>,
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
        let fixed = fixed_scheme(config)?;
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
        let cqi_rows = config.cqi_table.rows().iter();
        let cqi_sinr_db: Vec<f64> = cqi_rows.clone().map(threshold).collect();
        let scheme_sinr_db: Vec<f64> = schemes.iter().map(threshold).collect();
        let best = best_schemes(schemes, &scheme_sinr_db);
        let further = config.lower_order.iter().map(|mcs| (*mcs, threshold(mcs)));
        let all: Vec<(Mcs, f64)> = (schemes.iter().copied())
            .zip(scheme_sinr_db.iter().copied())
            .chain(further)
            .collect();
        let best_up_to = LIMITS.map(|limit| best_schemes_up_to(limit, &all));
        let steps = best.iter().map(|&(at, scheme)| (at, scheme.efficiency));
        let mut carried = vec![(scheme_sinr_db[0], schemes[0].efficiency)];
        carried.extend(steps);
        carried.sort_by(|one, other| one.0.total_cmp(&other.0));
        // Below the threshold of the lowest MCS, blocks are repeated. Their efficiency is that of a
        // lower CQI.
        let lowest = carried[0];
        let repeated = cqi_sinr_db.iter().copied();
        let repeated = repeated.zip(cqi_rows.map(|row| row.efficiency));
        let repeated = repeated.filter(|at| at.0 < lowest.0 && at.1 < lowest.1);
        let carried = repeated.chain(carried.iter().copied()).collect();
        Ok(LinkAdaptation {
            best,
            best_up_to,
            carried,
            schemes: schemes.clone(),
            cqi_table: config.cqi_table,
            cqi_sinr_db,
            scheme_sinr_db,
            fixed,
        })
    }

    /// Returns the highest CQI that meets the target at this effective SINR, 1 to 15. 0 if none
    /// does.
    pub fn cqi(&self, sinr_db: f64) -> u8 {
        self.cqi_sinr_db.partition_point(|&at| at <= sinr_db) as u8
    }

    /// Returns the wideband CQI and the SINR.
    pub fn quality(&self, sinr_db: f64) -> Quality {
        let cqi = self.cqi(sinr_db);
        Quality { cqi, sinr_db }
    }

    /// Returns the wideband CQI of a channel that differs over the band. It is the highest CQI that
    /// meets the target at the effective SINR of its own MCS. It is 0 if no CQI does.
    /// `effective_db` returns the effective SINR in dB for an MCS. `mean_db` is the SINR of the
    /// mean over the band. The returned SINR is the effective SINR for the MCS of the CQI.
    ///
    /// The effective SINR is at most the mean, and at most that of an MCS of higher order. So the
    /// search starts at the MCS for the mean SINR, goes down, and skips impossible ones.
    ///
    /// Standard: TS 38.214 §5.2.2.1; TS 36.213 §7.2.3.
    pub fn wideband_quality(
        &self,
        mean_db: f64,
        mut effective_db: impl FnMut(&Mcs) -> f64,
    ) -> Quality {
        let rows = self.cqi_table.rows();
        let (mut cqi, mut sinr_db) = (self.cqi(mean_db), mean_db);
        while cqi > 0 {
            sinr_db = effective_db(&rows[usize::from(cqi) - 1]);
            let reached = self.cqi(sinr_db);
            if reached >= cqi {
                break;
            }
            cqi = reached;
        }
        debug_assert!(cqi <= 15, "a CQI of {cqi}");
        Quality { cqi, sinr_db }
    }

    /// Returns the bits per resource element of one layer at a quality, after the outer loop has
    /// converged. The result is interpolated between the thresholds of two schemes. Below the SINR
    /// of the lowest MCS, blocks are repeated, and the result is the efficiency of the CQI.
    pub fn efficiency_at(&self, quality: Quality) -> f64 {
        if quality.cqi == 0 {
            return 0.0;
        }
        let above = self
            .carried
            .partition_point(|&(at, _)| at <= quality.sinr_db);
        let below = above.checked_sub(1).map(|below| self.carried[below]);
        match (below, self.carried.get(above)) {
            (Some((from_db, less)), Some((to_db, more))) => {
                less + (quality.sinr_db - from_db) / (to_db - from_db) * (more - less)
            }
            (Some((_, bits)), None) | (None, Some(&(_, bits))) => bits,
            (None, None) => 0.0,
        }
    }

    /// Returns the SINR threshold of a CQI from 1 to 15 in dB. Negative infinity for 0.
    pub fn sinr_of_cqi(&self, cqi: u8) -> f64 {
        match cqi.min(self.cqi_sinr_db.len() as u8) {
            0 => f64::NEG_INFINITY,
            cqi => self.cqi_sinr_db[usize::from(cqi) - 1],
        }
    }

    /// Returns a CQI and an SINR in dB for reports on several parts of the band. Together these
    /// parts carry `efficiency` bits per element. The CQI is the highest one whose efficiency is no
    /// larger. The SINR is interpolated between the thresholds of this CQI and the next. `None`
    /// below the lowest CQI.
    pub fn report_of_efficiency(&self, efficiency: f64) -> Option<(u8, f64)> {
        let rows = self.cqi_table.rows();
        // The margin prevents that rounding makes the mean of equal efficiencies smaller than these
        // efficiencies.
        let efficiency = efficiency * (1.0 + 1e-12);
        let above = rows.partition_point(|row| row.efficiency <= efficiency);
        let below = above.checked_sub(1)?;
        let sinr_db = self.cqi_sinr_db[below];
        let more_db = rows.get(above).map_or(0.0, |next| {
            let step = next.efficiency - rows[below].efficiency;
            let part = (efficiency - rows[below].efficiency) / step;
            part * (self.cqi_sinr_db[above] - sinr_db)
        });
        Some((above as u8, sinr_db + more_db))
    }

    /// Returns the bits per resource element of one layer with the MCS of a CQI.
    pub fn efficiency_of_cqi(&self, cqi: u8) -> f64 {
        match cqi {
            0 => 0.0,
            cqi => {
                let rows = self.cqi_table.rows();
                rows[usize::from(cqi).min(rows.len()) - 1].efficiency
            }
        }
    }

    /// Returns the MCS for a report, corrected by `offset_db` of the [`OuterLoop`]. It is the most
    /// efficient MCS that meets the target at the SINR of the report, or the lowest MCS if none
    /// does. `None` if the CQI is 0 (out of range). A fixed MCS is always returned.
    pub fn scheme(&self, cqi: u8, offset_db: f64) -> Option<Mcs> {
        self.scheme_up_to(Modulation::Qam256, cqi, offset_db)
    }

    /// Returns the MCS for a report as [`LinkAdaptation::scheme`] does, with a modulation order of
    /// at most `limit`. A fixed MCS has no limit.
    pub fn scheme_up_to(&self, limit: Modulation, cqi: u8, offset_db: f64) -> Option<Mcs> {
        if self.fixed.is_none() && cqi == 0 {
            return None;
        }
        Some(self.scheme_for_sinr(limit, self.sinr_of_cqi(cqi) + offset_db))
    }

    /// Returns the MCS for an SINR in dB that is not quantised, for example the base station's own
    /// measurement of the uplink. The modulation order is at most `limit`.
    pub fn scheme_for_sinr(&self, limit: Modulation, sinr_db: f64) -> Mcs {
        if let Some(fixed) = self.fixed {
            return fixed;
        }
        let limited = LIMITS.iter().position(|&it| it == limit);
        let best = limited.map_or(&self.best, |number| &self.best_up_to[number]);
        debug_assert!(
            best.is_sorted_by(|one, next| one.0 <= next.0),
            "the thresholds of the schemes are not in order"
        );
        let reached = best.partition_point(|&(at, _)| at <= sinr_db);
        best[..reached]
            .last()
            .map_or(self.schemes[0], |&(_, scheme)| scheme)
    }

    /// Returns the SINR in dB at which the MCS number `position` of the table meets the target.
    /// `None` if there is no such MCS.
    pub fn threshold(&self, position: usize) -> Option<f64> {
        self.scheme_sinr_db.get(position).copied()
    }
}

/// Returns the MCS of a fixed index. `None` if link adaptation chooses the MCS.
fn fixed_scheme(config: &LinkAdaptationConfig) -> Result<Option<Mcs>, PhyError> {
    let Some(index) = config.fixed else {
        return Ok(None);
    };
    let scheme = config.schemes.iter().find(|mcs| mcs.index == index);
    PhyError::check(
        "fixed MCS",
        f64::from(index),
        scheme.is_some(),
        "an index of the table",
    )?;
    Ok(scheme.copied())
}

/// Returns the result of [`best_schemes`] for the schemes with a modulation order of at most
/// `limit`. `all` has each scheme with its SINR in dB.
fn best_schemes_up_to(limit: Modulation, all: &[(Mcs, f64)]) -> Vec<(f64, Mcs)> {
    let allowed = all.iter().filter(|(mcs, _)| mcs.modulation <= limit);
    let (allowed, sinr_db): (Vec<Mcs>, Vec<f64>) = allowed.copied().unzip();
    best_schemes(&allowed, &sinr_db)
}

/// Returns the SINR from which each MCS is the most efficient one, sorted by SINR. An MCS with a
/// larger index is not always better. Where the modulation changes, two rows are nearly equal, and
/// the row with the larger index may be less efficient. LTE has equal rows there, and uses the row
/// with the smaller index.
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

/// Parameters of [`OuterLoop`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OuterLoopConfig {
    /// Decrease after an error, in dB. Zero turns the loop off.
    pub step_down_db: f64,
    /// Error rate of first transmissions that the loop converges to, in (0, 1).
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
    /// Parameters that turn the loop off.
    pub const OFF: OuterLoopConfig = OuterLoopConfig {
        step_down_db: 0.0,
        target_error: 0.1,
        range_db: (0.0, 0.0),
    };

    /// Returns the increase after a success, in dB. Both steps cancel at the target error rate.
    pub fn step_up_db(&self) -> f64 {
        self.step_down_db * self.target_error / (1.0 - self.target_error)
    }

    /// Checks the parameters.
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

/// Correction of one user's reports, from the feedback of first transmissions.
///
/// Source: A. Sampath, P. S. Kumar, J. M. Holtzman, "On setting reverse link target SIR in a CDMA
/// system", IEEE VTC 1997.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OuterLoop {
    offset_db: f64,
}

impl OuterLoop {
    /// Returns the correction in dB, which is added to the SINR of a report.
    pub fn offset_db(&self) -> f64 {
        self.offset_db
    }

    /// Updates the correction by the feedback of a first transmission.
    pub fn on_feedback(&mut self, config: &OuterLoopConfig, is_ack: bool) {
        let step = if is_ack {
            config.step_up_db()
        } else {
            -config.step_down_db
        };
        let (low, high) = config.range_db;
        debug_assert!(low <= high, "a range from {low} to {high} dB");
        self.offset_db = (self.offset_db + step).max(low).min(high);
        debug_assert!(
            self.offset_db.is_finite(),
            "a correction of {} dB",
            self.offset_db
        );
    }
}

/// Times of channel measurements and of their use by the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsiReporting {
    /// Time between two measurements. Zero for a measurement at every instant.
    pub period: Span,
    /// Time from the start of the run to the first measurement.
    pub offset: Span,
    /// Time from a measurement to its use.
    pub delay: Span,
}

impl CsiReporting {
    /// Returns the measurement time of the report in force at `at`. `None` before the first report.
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
        let measured_at = first.saturating_add(Span::from_nanos(since_first - phase));
        debug_assert!(
            measured_at.saturating_add(self.delay) <= at,
            "a report is in force before it is known"
        );
        Some(measured_at)
    }
}

#[cfg(test)]
mod tests;
