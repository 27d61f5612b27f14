//! Link evaluations of UEs that monitor their links. Some evaluations can be skipped when they are
//! due, and computed later with the same result.

use super::path::{InstantCache, PathChannel, Placement};
use super::ue::{INTERFERING_PERIOD, latest};
use super::{Air, AirCell, SinrSource};
use crate::channel::{CommonShadowing, Shadow};
use crate::config::LegId;
use fadeout_core::{Motion, Point, Span, Time};

/// One evaluation of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkEvaluation {
    /// Time at which the evaluation is due.
    pub at: Time,
    /// Number of instants of the common evaluation grid after the due time. Zero if the evaluation
    /// is due at the latest instant.
    pub back: usize,
}

/// Longest delay of a link evaluation that is computed later.
const MOST_DELAY: Span = Span::from_millis(200);

/// Access to the air for UEs that monitor their links.
pub(crate) struct LinkMonitoring<'a>(pub &'a mut Air);

impl LinkMonitoring<'_> {
    /// Stores the present loads of all cells at an instant of the common grid. Evaluations that are
    /// due at this instant can then be computed up to `most` instants later.
    pub(crate) fn keep_loads(&mut self, most: usize) {
        self.0.downlinks.store_means(most);
    }

    /// Returns the time until which link evaluations of a leg may be computed late. Evaluations are
    /// due every `period` from `now`. At most `most` evaluations may be pending.
    pub(crate) fn computable_until<M: Motion>(
        &self,
        leg: LegId,
        now: Time,
        (period, most): (Span, usize),
        motion: &mut M,
    ) -> Time {
        let air = &*self.0;
        let keeps = period * most as u64 <= MOST_DELAY && air.least_period <= period;
        if !keeps || !depends_on_places_only(air, leg, motion) {
            return now;
        }
        let ue = &air.ues[air.legs[leg.index()].ue.index()];
        motion.orderless_until(ue.config.node, latest(now, air.least_period))
    }

    /// Returns the linear downlink SINR of a leg, as [`Air::downlink_quality`] does, with the gains
    /// at the time of the evaluation.
    pub(crate) fn quality<M: Motion>(
        &mut self,
        id: LegId,
        evaluation: LinkEvaluation,
        motion: &mut M,
    ) -> f64 {
        self.evaluate_link((id, evaluation), None, motion).0
    }

    /// Returns a lower bound of the linear downlink SINR, and true if the bound equals the SINR.
    /// For interferers that were not evaluated recently, an upper bound of their power is used. If
    /// the lower bound is below `enough`, the strongest interferers are evaluated, until the bound
    /// reaches `enough` or all are evaluated.
    pub(crate) fn least_quality<M: Motion>(
        &mut self,
        id: LegId,
        evaluation: LinkEvaluation,
        enough: f64,
        motion: &mut M,
    ) -> (f64, bool) {
        self.evaluate_link((id, evaluation), Some(enough), motion)
    }

    fn evaluate_link<M: Motion>(
        &mut self,
        (id, evaluation): (LegId, LinkEvaluation),
        enough: Option<f64>,
        motion: &mut M,
    ) -> (f64, bool) {
        let air = &mut *self.0;
        let leg = &air.legs[id.index()];
        let (serving, first) = match &leg.signal {
            SinrSource::Paths(serving, carrier) if depends_on_places_only(air, id, motion) => {
                (*serving, carrier.start)
            }
            _ => {
                debug_assert_eq!(evaluation.back, 0, "it cannot be made later");
                air.refresh(id, evaluation.at, motion);
                return (air.downlink_quality(id, evaluation.at), true);
            }
        };
        let (own, ue) = (&air.cells[leg.cell.index()], &mut air.ues[leg.ue.index()]);
        let at = latest(evaluation.at, own.config.gain_period);
        let placement = match evaluation.back {
            0 => ue.place(at, motion),
            _ => ue.place_earlier(at, motion),
        };
        let instant = latest(at, INTERFERING_PERIOD);
        let (mut cache, mut grid_cache) = (InstantCache::default(), InstantCache::default());
        let mut common = std::mem::take(&mut ue.common);
        let mut on_grid: Option<Placement> = None;
        if evaluation.back > 0 && (air.past.leg, air.past.instant) != (id, instant) {
            air.past
                .begin((id, instant), air.spectrum.cells_on_carrier(leg.cell).len());
        }
        air.past.bounds.clear();
        air.past.shadows.clear();
        let path = &mut air.paths[serving];
        let found = (&mut air.channels[serving], air.gains[serving]);
        let gain = path.measure_gain(found, (at, &mut cache), &placement, own, motion);
        if evaluation.back > 0 {
            // The stored state of the channel now belongs to the earlier time, so the path must be
            // evaluated again.
            path.due_at = Time::ZERO;
        }
        let mut disturbance_mw = own.levels.thermal_mw * ue.noise_factor;
        let width_hz = own.levels.bandwidth_hz;
        let slot = own.frame.slot_at(evaluation.at);
        for (index, &cell) in (first..).zip(air.spectrum.cells_on_carrier(leg.cell)) {
            if index == serving {
                continue;
            }
            let other = &air.cells[cell.index()];
            let slot = other.frame.slot_as_of(own.frame.slot(), slot);
            let share = air.downlinks.mean_share(cell, slot, evaluation.back);
            if share <= 0.0 {
                continue;
            }
            let path = &mut air.paths[index];
            let due_at = instant.saturating_add(INTERFERING_PERIOD);
            let (channel, known) = (&mut air.channels[index], &mut air.gains[index]);
            let again = || ue.place_earlier(instant, motion);
            let gain = if path.due_at == due_at {
                *known
            } else {
                let place =
                    on_grid.get_or_insert_with(|| ue.place_on_grid(instant).unwrap_or_else(again));
                let when = (instant, &mut grid_cache);
                if enough.is_some() {
                    let place = place.ue.position;
                    let shadows = &mut air.past.shadows;
                    let most_db = most_gain_db(channel, (place, other), shadows, &mut common);
                    let most =
                        power_of_two_above(most_db.min(-other.config.channel.minimum_loss_db));
                    let most_mw = air.downlinks.received_mw((cell, width_hz), most, share);
                    let bound = Bound {
                        index,
                        share,
                        most_mw,
                    };
                    air.past.bounds.push(bound);
                    continue;
                }
                if evaluation.back == 0 {
                    path.evaluate((channel, known), when, place, other, motion);
                    path.due_at = due_at;
                    *known
                } else {
                    let past = &mut air.past.gains[index - first];
                    if past.is_nan() {
                        *past = path.measure_gain((channel, *known), when, place, other, motion);
                    }
                    *past
                }
            };
            disturbance_mw += air.downlinks.received_mw((cell, width_hz), gain, share);
        }
        ue.common = common;
        let sinr = |disturbance_mw| {
            let mean = own.levels.power_mw * gain / disturbance_mw;
            mean * f64::from(own.config.channel.receive_antennas)
        };
        let Some(enough) = enough.filter(|_| !air.past.bounds.is_empty()) else {
            return (sinr(disturbance_mw), true);
        };
        let place = on_grid.unwrap_or(placement);
        loop {
            let bounds_mw = air.past.bounds.iter().map(|bound| bound.most_mw);
            let least = sinr(disturbance_mw + bounds_mw.sum::<f64>());
            if least >= enough || sinr(disturbance_mw) < enough {
                return (least, false);
            }
            let Some(Bound { index, share, .. }) = take_largest(&mut air.past.bounds) else {
                return (least, false);
            };
            let path = &mut air.paths[index];
            let (cell, other) = (path.cell, &air.cells[path.cell.index()]);
            let found = (&mut air.channels[index], &mut air.gains[index]);
            path.evaluate(found, (instant, &mut grid_cache), &place, other, motion);
            path.due_at = instant.saturating_add(INTERFERING_PERIOD);
            let gain = air.gains[index];
            disturbance_mw += air.downlinks.received_mw((cell, width_hz), gain, share);
        }
    }
}

/// Interferer whose gain was not evaluated.
#[derive(Debug, Clone, Copy)]
struct Bound {
    index: usize,
    /// Share of the band on which the interferer's cell sends.
    share: f64,
    /// Upper bound of the received power in mW.
    most_mw: f64,
}

/// Returns an upper bound in dB of an interferer's gain without fading, for a UE at `place`.
/// Infinite if no bound is known. The shadowing of a site is computed once for all cells of the
/// site.
fn most_gain_db(
    channel: &PathChannel,
    (place, cell): (Point, &AirCell),
    shadows: &mut Vec<(Shadow, [f64; 2])>,
    common: &mut CommonShadowing,
) -> f64 {
    let Some(smooth) = channel.smooth(cell) else {
        return f64::INFINITY;
    };
    let known = shadows.iter().find(|known| known.0 == smooth.shadow);
    let shadowing_db = known.map_or_else(
        || channel.shadowing_db(place, common),
        |&(_, shadowing_db)| shadowing_db,
    );
    if known.is_none() {
        shadows.push((smooth.shadow, shadowing_db));
    }
    let bounds_db = smooth.bounds_db(place, shadowing_db);
    bounds_db.map_or(f64::INFINITY, |[_, most_db]| most_db)
}

fn take_largest(bounds: &mut Vec<Bound>) -> Option<Bound> {
    let largest = bounds.iter().enumerate();
    let largest = largest.max_by(|(_, one), (_, other)| one.most_mw.total_cmp(&other.most_mw));
    let position = largest?.0;
    Some(bounds.swap_remove(position))
}

/// Returns true if the SINR of a leg depends only on positions and on the transmissions of cells.
/// All cells must also have the same gain period.
fn depends_on_places_only(air: &Air, leg: LegId, motion: &impl Motion) -> bool {
    air.has_one_period
        && air.cross_link.is_none()
        && air.legs[leg.index()].follows_from_the_places
        && !motion.has_vehicles()
}

/// Gains of interferers at an earlier instant of their grid, as far as they were computed.
#[derive(Debug)]
pub(super) struct PastGains {
    leg: LegId,
    instant: Time,
    /// Gains, indexed by the cells on the leg's carrier. NaN if not computed.
    gains: Vec<f64>,
    /// Scratch space for one evaluation.
    bounds: Vec<Bound>,
    /// Scratch space for one evaluation: bounds in dB of each site's shadowing loss at the UE's
    /// position.
    shadows: Vec<(Shadow, [f64; 2])>,
}

impl PastGains {
    pub(super) const fn new() -> PastGains {
        PastGains {
            leg: LegId(u32::MAX),
            instant: Time::NEVER,
            gains: Vec::new(),
            bounds: Vec::new(),
            shadows: Vec::new(),
        }
    }

    fn begin(&mut self, (leg, instant): (LegId, Time), cells: usize) {
        (self.leg, self.instant) = (leg, instant);
        self.gains.clear();
        self.gains.resize(cells, f64::NAN);
    }
}

/// Returns a power of two that is at least the ratio in dB, and less than about twice the ratio.
fn power_of_two_above(ratio_db: f64) -> f64 {
    // The added 1e-3 exceeds the rounding error of a bound, so the result is never below the bound.
    let exponent = (ratio_db * (0.1 / std::f64::consts::LOG10_2) + 1e-3).ceil();
    let exponent = exponent.clamp(-1000.0, 1000.0) as i64;
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::from_db;

    #[test]
    fn a_power_of_two_is_above_its_ratio_by_less_than_a_factor_of_two() {
        for step in -20_000..20_000 {
            let ratio_db = f64::from(step) * 0.011;
            let (found, exact) = (power_of_two_above(ratio_db), from_db(ratio_db));
            assert!(found > exact && found < 2.002 * exact, "{ratio_db}");
        }
    }
}
