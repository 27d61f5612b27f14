//! Measurements of a UE under mobility management. Chooses the cells to evaluate, and evaluates the
//! measurement events.

use super::gaps::measure_in_gap;
use super::managed::{CellKind, Managed, record_cell_event};
use crate::air::{Air, Bounded, InstantCache};
use crate::config::{Aggregation, Env, MeasurementEvent};
use crate::rrc::filter::Level;
use crate::rrc::level_bounds::LevelBound;
use crate::rrc::measurement_places::MeasurementPlaces;
use crate::rrc::mobility::UeMobility;
use crate::rrc::pace;
use crate::rrc::policy::{HandoverPolicy, Policy};
use fadeout_core::{CellId, MeasurementRow, Motion, Point, Probe, RrcEvent, Span, Time, UeId};

impl Managed<'_> {
    /// Measures the UE's cells, if that is due, and feeds the measurement events.
    pub(crate) fn measure<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        if self.state.survey.next_at() > env.now {
            return;
        }
        let sleep = self.service.sleep(self.ue, env.now);
        let period = pace::measurement_period(self.config, sleep);
        let over = self.state.survey.begin(env.now, period);
        let Some(cell) = self.service.stack.serving_cell(self.ue) else {
            return;
        };
        self.state.survey.set_period(over);
        let Ok(serving) = self.cells.binary_search(&cell) else {
            return;
        };
        let secondaries = self.service.stack.ues[self.ue.index()].config().aggregation;
        let wants_all = env.probe.wants_measurements(self.ue);
        let mut run = MeasurementRun {
            ue: self.ue,
            now: env.now,
            cells: self.cells,
            kinds: self.kinds,
            policy: self.policy,
            loads: self.loads,
            secondaries,
            air: &mut self.service.stack.air,
            state: self.state,
            samples: self.samples,
            visited: self.visited,
            least_db: self.least_db,
            // Bounds by position require constant cell offsets. No bounds exist for the execution
            // conditions of conditional handover and LTM.
            may_set_bounds: !self.policy.has_offsets()
                && self.config.conditional().is_none()
                && self.config.ltm().is_none(),
            past: self.past,
        };
        let nothing = Level::from(f64::NEG_INFINITY);
        run.samples.clear();
        run.samples.resize(run.cells.len(), nothing);
        run.visited.clear();
        let is_bounded = run.state.places.is_some() && !wants_all;
        if is_bounded {
            run.measure_where_needed(serving, over, motion);
        } else {
            run.measure_all(self.config.measurement_error_db, motion);
        }
        let may_set_bounds = run.may_set_bounds && is_bounded;
        measure_in_gap(self, (serving, &secondaries), env);
        self.report_rate(env);
        let Managed {
            ue,
            cells,
            state,
            samples,
            visited,
            kinds,
            policy,
            loads,
            ..
        } = self;
        let offset = neighbour_offset((cells, kinds), serving, policy, loads);
        let levels = (serving, &samples[..]);
        let survey = &mut state.survey;
        let among = (&visited[..], state.level_bounds.shadows_db());
        survey.on_samples(among, (env.now, over), levels, offset, |position, holds| {
            let event = match holds {
                true => RrcEvent::ConditionEntered,
                false => RrcEvent::ConditionLeft,
            };
            record_cell_event((*ue, cells[position]), event, env);
        });
        self.measure_for_node((env.now, over), serving, env);
        if may_set_bounds {
            set_level_bounds(self, (serving, &secondaries), motion);
        }
        if !wants_all {
            return;
        }
        let Managed {
            ue,
            cells,
            state,
            samples,
            ..
        } = self;
        let survey = &state.survey;
        for (position, (&cell, level)) in cells.iter().zip(samples.iter()).enumerate() {
            if level.is_none() {
                continue;
            }
            let filtered = survey.filtered(position);
            env.probe.measurement(MeasurementRow {
                time_s: env.now,
                ue: *ue,
                cell,
                is_serving: position == serving,
                is_secondary: secondaries.cells().contains(&cell),
                rsrp_dbm: level.low,
                filtered_dbm: filtered.unwrap_or(level.low),
            });
        }
    }
}

/// Sets a level bound for each evaluated neighbour whose level is far from any event's threshold.
/// The neighbour is evaluated again only when the bound no longer excludes an event.
fn set_level_bounds<M: Motion>(
    managed: &mut Managed<'_>,
    (serving, secondaries): (usize, &Aggregation),
    motion: &M,
) {
    let UeMobility {
        survey,
        level_bounds,
        ..
    } = &mut *managed.state;
    let Some(place) = level_bounds.place() else {
        return;
    };
    let air = &mut managed.service.stack.air;
    for &position in managed.visited.iter() {
        let cell = managed.cells[position];
        let is_needed = position == serving || secondaries.cells().contains(&cell);
        if is_needed || !survey.is_out(position) {
            continue;
        }
        let path = (managed.ue, cell);
        let Some(rise) = Bounded(air).rise(path, place, motion) else {
            continue;
        };
        let (number, is_new) = level_bounds.site(rise.shadow, position);
        if is_new {
            let site = level_bounds.site_mut(number);
            site.shadowing_db = Bounded(air).shadowing_db(path, place);
            survey.add_site(site.shadowing_db[0]);
        }
        if let Some(most_db) = survey.upper_bound_if_out(position, number) {
            let rise = LevelBound {
                level_dbm: rise.level_dbm,
                db_per_m: rise.db_per_m,
                within_m: rise.within_m,
            };
            level_bounds.set_bound((position, managed.cells.len()), (&rise, number), most_db);
        }
    }
}

/// A UE's measurement in progress.
struct MeasurementRun<'a> {
    ue: UeId,
    now: Time,
    cells: &'a [CellId],
    kinds: &'a [CellKind],
    policy: &'a Policy,
    loads: &'a [u32],
    secondaries: Aggregation,
    air: &'a mut Air,
    state: &'a mut UeMobility,
    samples: &'a mut Vec<Level>,
    visited: &'a mut Vec<usize>,
    /// Lowest levels, by site. If a cell is below the lowest level of its site, the cell cannot
    /// meet any event's entering condition.
    least_db: &'a mut Vec<f64>,
    may_set_bounds: bool,
    past: &'a mut Vec<(Span, f64)>,
}

impl MeasurementRun<'_> {
    /// Measures every cell, with measurement errors.
    fn measure_all<M: Motion>(&mut self, error_db: f64, motion: &mut M) {
        self.visited.extend(0..self.cells.len());
        let MeasurementRun { cells, samples, .. } = self;
        let report = |cell, level_dbm: f64| {
            if let Ok(position) = cells.binary_search(&cell) {
                samples[position] = level_dbm.into();
            }
        };
        self.air.measure_levels(self.ue, self.now, motion, report);
        if error_db > 0.0 {
            for sample in self.samples.iter_mut() {
                *sample = (sample.low + error_db * self.state.draws.normal()).into();
            }
        }
    }

    /// Measures the serving cell, and the neighbours for which no bound excludes an event. An
    /// earlier measurement that was skipped is computed now if an event needs its value.
    fn measure_where_needed<M: Motion>(&mut self, serving: usize, over: Span, motion: &mut M) {
        let place = Bounded(self.air).place(self.ue, self.now, motion);
        let MeasurementRun { ue, cells, air, .. } = self;
        self.state.level_bounds.move_to(place, |site| {
            let path = (*ue, cells[site.position]);
            Bounded(air).shadowing_db(path, place)
        });
        let cache = &mut InstantCache::default();
        self.remove_bound(serving);
        let path = (self.ue, self.cells[serving]);
        if let Some(level_dbm) = self
            .air
            .measure_level(path, (self.now, &mut *cache), motion)
        {
            self.samples[serving] = level_dbm.into();
        }
        self.compute_skipped(serving, serving, motion);
        self.list_visited(serving);
        // Events compare neighbours with the serving and secondary cells, so serving and secondary
        // cells are measured first.
        for nth in 0..self.visited.len() {
            let position = self.visited[nth];
            self.remove_bound(position);
            if position != serving {
                self.find_bounds((position, place), cache, motion);
            }
        }
        let mut nth = 0;
        while let Some(position) = self.secondary(nth) {
            self.measure_one(position, cache, motion);
            self.compute_skipped(position, serving, motion);
            nth += 1;
        }
        for nth in 0..self.visited.len() {
            let position = self.visited[nth];
            if position == serving || !self.is_open(position, serving) {
                continue;
            }
            self.measure_one(position, cache, motion);
            self.compute_skipped(position, serving, motion);
        }
        if let Some(places) = &mut self.state.places {
            places.push(over, place);
        }
    }

    /// Lists the cells to evaluate: the serving cell, secondary cells, and cells whose bound does
    /// not exclude an event.
    fn list_visited(&mut self, serving: usize) {
        let UeMobility {
            level_bounds,
            survey,
            ..
        } = &*self.state;
        let least_db = &mut *self.least_db;
        least_db.clear();
        if self.may_set_bounds {
            let known = (serving, &self.samples[..]);
            survey.least_entering(known, &level_bounds.shadows_db(), least_db);
        }
        let secondaries = self.secondaries;
        let is_secondary = |position: usize| secondaries.cells().contains(&self.cells[position]);
        let all = 0..self.cells.len();
        let needed = all.filter(|&position| {
            position == serving
                || !level_bounds.is_below(position, least_db)
                || is_secondary(position)
        });
        self.visited.extend(needed);
    }

    /// Removes the bound of a cell that is evaluated again. The bound becomes an upper bound of the
    /// filtered values that were not computed.
    fn remove_bound(&mut self, position: usize) {
        let UeMobility {
            level_bounds,
            survey,
            ..
        } = &mut *self.state;
        if let Some(most) = level_bounds.remove_bound(position) {
            survey.restore_bounds(position, most);
        }
    }

    fn find_bounds<M: Motion>(
        &mut self,
        (position, place): (usize, Point),
        cache: &mut InstantCache,
        motion: &mut M,
    ) {
        let path = (self.ue, self.cells[position]);
        let known = |shadow| self.state.level_bounds.shadowing_db(shadow);
        match Bounded(self.air).bound_level(path, place, motion, known) {
            Some([low, high]) => self.samples[position] = Level { low, high },
            None => self.measure_level(position, cache, motion),
        }
    }

    fn measure_one<M: Motion>(
        &mut self,
        position: usize,
        cache: &mut InstantCache,
        motion: &mut M,
    ) {
        if !self.samples[position].is_known() {
            self.measure_level(position, cache, motion);
        }
    }

    fn measure_level<M: Motion>(
        &mut self,
        position: usize,
        cache: &mut InstantCache,
        motion: &mut M,
    ) {
        let path = (self.ue, self.cells[position]);
        if let Some(level_dbm) = self.air.measure_level(path, (self.now, cache), motion) {
            self.samples[position] = level_dbm.into();
        }
    }

    /// Returns the index of a secondary cell in the list of measured cells. `None` if the UE does
    /// not measure the cell.
    fn secondary(&self, nth: usize) -> Option<usize> {
        let cell = self.secondaries.cells().get(nth)?;
        self.cells.binary_search(cell).ok()
    }

    fn is_open(&self, position: usize, serving: usize) -> bool {
        let offset = neighbour_offset((self.cells, self.kinds), serving, self.policy, self.loads);
        let known = (serving, &self.samples[..]);
        self.state.survey.needs_exact_level(known, position, offset)
    }

    /// Computes skipped earlier measurements of a cell, as far back as needed to decide its events.
    fn compute_skipped<M: Motion>(&mut self, position: usize, serving: usize, motion: &mut M) {
        let places = self.state.places.as_ref().map_or(0, MeasurementPlaces::len);
        self.past.clear();
        self.past.resize(places, (Span::ZERO, 0.0));
        let (mut known_from, mut depth) = (places, 0);
        while known_from > 0 && self.is_open(position, serving) {
            let UeMobility {
                places: stored,
                survey,
                ..
            } = &mut *self.state;
            let Some(stored) = stored else {
                return;
            };
            depth = (2 * depth).max(stored.first_guess());
            let from = places.saturating_sub(depth);
            let found = &mut self.past[from..known_from];
            for (sample, (over, _)) in found.iter_mut().zip(stored.places(from..known_from)) {
                sample.0 = over;
            }
            let mut found = found.iter_mut();
            self.air.levels_at(
                (self.ue, self.cells[position]),
                stored.places(from..known_from).map(|(_, place)| place),
                (self.now, &mut *motion),
                |level_dbm| {
                    if let Some((_, sample)) = found.next() {
                        *sample = level_dbm;
                    }
                },
            );
            survey.replay(position, (&self.past[from..], stored.before(from)));
            known_from = from;
        }
    }
}

/// Returns a function that computes the offset in dB of a neighbour for an event. The function
/// returns `None` if the event does not apply to the neighbour.
fn neighbour_offset<'a>(
    (cells, kinds): (&'a [CellId], &'a [CellKind]),
    serving: usize,
    policy: &'a Policy,
    loads: &'a [u32],
) -> impl Fn(&MeasurementEvent, usize) -> Option<f64> + 'a {
    let has_offsets = policy.has_offsets();
    move |event, position| {
        let [here, there] = [serving, position].map(|position| kinds[position]);
        let has_utra = here.is_utra || there.is_utra;
        let is_other = has_utra || here.generation != there.generation;
        if event.kind.is_about_secondaries() {
            return Some(0.0);
        }
        let is_meant = event.kind.is_inter_rat() == is_other
            && event.scope.fits(here.is_utra)
            && event.scope.has_utra() == has_utra
            && event.scope.holds(here.carrier, there.carrier);
        is_meant.then(|| match has_offsets {
            true => policy.offset_db(loads, cells[serving], cells[position]),
            false => 0.0,
        })
    }
}
