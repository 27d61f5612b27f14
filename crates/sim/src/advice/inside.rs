//! Advice about movement that does not fit the map: vehicles and UEs within walls, and traces
//! without vehicles.

use crate::build::{holds, surroundings};
use fadeout_core::{Motion, Point, Span, Time};
use fadeout_mobility::Places;
use fadeout_scenario::{Building, Movement, Road, Scenario};
use std::collections::BTreeMap;

/// Number of instants of the run at which positions are examined.
const INSTANTS: u64 = 200;
/// Share of positions within walls above which a sentence warns. Maps and traffic of one place have
/// fewer, for example in passages of buildings.
const MOST_INSIDE: f64 = 0.005;
/// Share of the run without any vehicle above which a sentence warns.
const MOST_EMPTY: f64 = 0.05;
/// Side length of the index squares, metres.
const SQUARE_M: f64 = 100.0;
/// Largest number of squares that a building is listed in. Larger buildings are always examined.
const MOST_SQUARES: f64 = 400.0;

/// Returns one sentence for each group of vehicles and each UE that is within walls for more than
/// 0.5 % of its positions. Another sentence names groups without vehicles during a part of the run.
/// Only movements of traces and waypoints are examined.
pub(super) fn advise(scenario: &Scenario) -> Vec<String> {
    let is_traced = |group: usize| matches!(scenario.vehicles[group].road, Road::Trace { .. });
    let groups: Vec<usize> = (0..scenario.vehicles.len())
        .filter(|&it| is_traced(it))
        .collect();
    let ues: Vec<usize> = (0..scenario.ues.len())
        .filter(|&it| is_given(scenario, it))
        .collect();
    let walls = Walls::new(scenario);
    if groups.is_empty() && (ues.is_empty() || walls.buildings.is_empty()) {
        return Vec::new();
    }
    let Ok((_, mut places)) = surroundings(scenario) else {
        return Vec::new();
    };
    let mut of_groups = vec![Count::default(); groups.len()];
    let mut of_ues = vec![Count::default(); ues.len()];
    let step = Span::from_nanos(scenario.duration.as_nanos() / INSTANTS);
    for instant in 0..=INSTANTS {
        let now = Time::ZERO.saturating_add(step.saturating_mul(instant));
        // UEs with a trace or waypoints ride on no vehicle.
        if !groups.is_empty() {
            places.advance(now);
        }
        for (count, &group) in of_groups.iter_mut().zip(&groups) {
            count.add_vehicles(&places, group, now, &walls);
        }
        for (count, &ue) in of_ues.iter_mut().zip(&ues) {
            let at = places.kinematics_at(scenario.ues[ue].node, now).position;
            count.add(at, now, &walls);
        }
    }
    let named = groups
        .iter()
        .map(|&it| ("vehicles", &scenario.vehicles[it].name));
    let named_ues = ues.iter().map(|&it| ("UE", &scenario.ues[it].name));
    let counted = named.zip(&of_groups).chain(named_ues.zip(&of_ues));
    counted
        .flat_map(|((what, name), count)| {
            let sentences = [count.inside_sentence(), count.empty_sentence()];
            let sentences = sentences.into_iter().flatten();
            sentences.map(move |sentence| format!("{what} \"{name}\": {sentence}"))
        })
        .collect()
}

/// True if a trace or waypoints give the movement of a UE.
fn is_given(scenario: &Scenario, ue: usize) -> bool {
    matches!(
        scenario.ues[ue].movement,
        Movement::Trace(_) | Movement::Waypoints(_)
    )
}

/// Counted positions of a vehicle group or a UE.
#[derive(Debug, Clone, Default)]
struct Count {
    positions: u64,
    inside: u64,
    /// Number of instants without a vehicle.
    empty: u64,
    /// First position within walls, with its time.
    first: Option<(Point, Time)>,
}

impl Count {
    fn add(&mut self, at: Point, now: Time, walls: &Walls<'_>) {
        self.positions += 1;
        if walls.hold(at) {
            self.inside += 1;
            self.first.get_or_insert((at, now));
        }
    }

    fn add_vehicles(&mut self, places: &Places, group: usize, now: Time, walls: &Walls<'_>) {
        let fleet = &places.fleets()[group];
        let before = self.positions;
        for vehicle in 0..fleet.len() {
            if let Some(obstacle) = fleet.obstacle(vehicle, now) {
                let (x, y) = obstacle.center;
                self.add(Point::new(x, y, obstacle.height / 2.0), now, walls);
            }
        }
        self.empty += u64::from(self.positions == before);
    }

    fn inside_sentence(&self) -> Option<String> {
        let (at, now) = self.first?;
        let share = self.inside as f64 / self.positions as f64;
        (share > MOST_INSIDE).then(|| {
            format!(
                "{:.1} % of {} positions are within walls of buildings, such as {:.0} m, {:.0} m at \
                 {:.1} s; check that map and movement have the same `origin`, or give the `net` of \
                 SUMO's network",
                100.0 * share,
                self.positions,
                at.x,
                at.y,
                now.as_secs_f64()
            )
        })
    }

    fn empty_sentence(&self) -> Option<String> {
        let share = self.empty as f64 / (INSTANTS + 1) as f64;
        (share > MOST_EMPTY).then(|| {
            format!(
                "the trace has no vehicle during {:.0} % of the run; check `start` and `duration`",
                100.0 * share
            )
        })
    }
}

/// Buildings, with an index of squares of the ground.
struct Walls<'s> {
    buildings: Vec<&'s Building>,
    squares: BTreeMap<(i64, i64), Vec<usize>>,
    /// Buildings that are too large for the index.
    large: Vec<usize>,
}

impl<'s> Walls<'s> {
    fn new(scenario: &'s Scenario) -> Walls<'s> {
        let buildings = scenario.buildings.iter().filter(|one| !one.foliage);
        let mut walls = Walls {
            buildings: buildings.collect(),
            squares: BTreeMap::new(),
            large: Vec::new(),
        };
        for (index, one) in walls.buildings.iter().enumerate() {
            let (low, high) = (square(one.low.0, one.low.1), square(one.high.0, one.high.1));
            let count = (high.0 - low.0 + 1) as f64 * (high.1 - low.1 + 1) as f64;
            if count > MOST_SQUARES {
                walls.large.push(index);
                continue;
            }
            for east in low.0..=high.0 {
                for north in low.1..=high.1 {
                    walls.squares.entry((east, north)).or_default().push(index);
                }
            }
        }
        walls
    }

    /// True if a position is within the walls of a building.
    fn hold(&self, at: Point) -> bool {
        let near = self.squares.get(&square(at.x, at.y));
        let mut near = near.into_iter().flatten().chain(&self.large);
        near.any(|&index| holds(self.buildings[index], at))
    }
}

fn square(x: f64, y: f64) -> (i64, i64) {
    ((x / SQUARE_M).floor() as i64, (y / SQUARE_M).floor() as i64)
}

#[cfg(test)]
mod tests {
    use crate::advice;

    fn sentences(more: &str) -> Vec<String> {
        let text = format!(
            "duration = \"20 s\"\n[link.core]\nfrom = \"server\"\nto = \"macro\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
             [cell.macro]\nposition = [\"-50 m\", \"0 m\"]\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
             channel = {{ path-loss = \"umi\" }}\n[building.hall]\ncorner = [\"50 m\", \"-20 m\"]\n\
             opposite = [\"150 m\", \"20 m\"]\nheight = \"10 m\"\n[flow.bulk]\nfrom = \"server\"\nto = \"phone\"\n{more}"
        );
        let source = fadeout_scenario::Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        let parsed = fadeout_scenario::parse(&text, &source, &[], crate::catalog());
        let found = advice(&parsed.unwrap_or_else(|errors| panic!("{errors}")));
        let is_ours = |one: &String| one.contains("within walls");
        found.into_iter().filter(is_ours).collect()
    }

    #[test]
    fn a_way_through_a_building_is_named_with_its_share() {
        let through =
            "[ue.phone]\nwaypoints = [{ position = [\"200 m\", \"0 m\"], speed = \"10 m/s\" }]\n";
        let [found] = &sentences(through)[..] else {
            panic!("one sentence");
        };
        // Half of the way is in the hall: 5 s to 15 s.
        assert!(
            found.starts_with("UE \"phone\": 49.3 % of 201 positions"),
            "{found}"
        );
        assert!(found.contains("51 m, 0 m at 5.1 s"), "{found}");
        let around = through.replace("\"0 m\"], speed", "\"200 m\"], speed");
        assert!(sentences(&around).is_empty());
    }
}
