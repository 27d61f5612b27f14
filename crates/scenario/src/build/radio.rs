//! Construction of cells, user equipment and buildings.

use super::drop::{Dropped, Surroundings};
use super::*;
use crate::keys::MAX_UES;
use fadeout_core::agreed::MOST_SECONDARY_CELLS;
use fadeout_core::math;
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Lattice, Point, UeId};

/// Maximum number of bearers of a UE beside its default bearer. maxDRB, which counts the default
/// bearer, is 29.
///
/// Standard: TS 38.331 §6.4.
const MAX_DRBS: usize = 28;

/// Checks that the radio interfaces of one node have the same position and movement.
fn check_shared_node(mistakes: &mut Mistakes, fields: &Fields, ue: &Ue, other: &Ue) {
    if other.position != ue.position || other.movement != ue.movement {
        let message = format!(
            "`{}` and `{}` are interfaces of one node, but start or move differently",
            other.name, ue.name
        );
        let expected = "the same position, height and movement";
        mistakes.add(fields.place, message, expected);
    }
}

/// Reads the cells that may become secondary cells beside each cell.
pub(super) fn read_offers(
    builder: &mut Builder<'_, '_>,
    named: &[(String, Fields)],
    bases: &[(String, NodeId)],
    cells: &mut [Option<Cell>],
) {
    for (index, (_, fields)) in named.iter().enumerate() {
        let items = fields.list("secondary-cells");
        if !items.is_empty() && !builder.is_managed {
            let message = "`secondary-cells` of a cell without mobility management, where no UE \
                gets them";
            let expected = "a table [mobility-management], or `secondary-cells` of a UE";
            builder.mistake(fields.place_of("secondary-cells"), message, expected);
            continue;
        }
        let mut all = Vec::new();
        for item in items {
            let Some(other) = builder.cell_index(item, bases) else {
                continue;
            };
            // Indices are valid only if no cell has a mistake.
            let (Some(Some(own)), Some(Some(other_cell))) = (cells.get(index), cells.get(other))
            else {
                continue;
            };
            let (message, expected) = if other == index || all.contains(&other) {
                ("is named twice", "each cell once, and not the cell itself")
            } else if other_cell.radio.name != own.radio.name {
                (
                    "is of another technology",
                    "cells of the technology of this cell",
                )
            } else if other_cell.carrier == own.carrier {
                ("has the carrier of this cell", "cells on other carriers")
            } else {
                all.push(other);
                continue;
            };
            let message = format!("`{}` {message}", bases[other].0);
            builder.mistake(item.place, message, expected);
        }
        if let Some(cell) = &mut cells[index] {
            cell.secondary_cells = all;
        }
    }
}

impl Builder<'_, '_> {
    pub(super) fn cell(&mut self, name: &str, fields: &Fields) -> Option<Cell> {
        let node = self.own_node(name, fields);
        let place = place(fields.item("position")?, fields.meters("height")?)?;
        let repeats = match fields.item("repeats") {
            None => None,
            Some(item) => Some(self.repeats(item)?),
        };
        let cell = Cell::read(
            fields,
            node.map(|node| (name.to_owned(), node, place, repeats, Vec::new())),
            self,
        )?;
        if cell.repeats.is_some() && cell.channel.line_of_sight == LineOfSight::Geometry {
            let message = "`line-of-sight = \"geometry\"` in a network that repeats itself, where \
                buildings do not";
            let expected = "one of `line-of-sight = \"geometry\"` and `repeats`";
            self.mistake(fields.place_of("channel"), message, expected);
        }
        Some(cell)
    }

    fn repeats(&mut self, item: &Item) -> Option<Lattice> {
        let (first, second) = item.pair()?;
        let shift = |item: &Item| {
            let (x, y) = item.pair()?;
            Some((x.meters()?.0, y.meters()?.0))
        };
        let lattice = Lattice::new(shift(first)?, shift(second)?);
        if lattice.is_none() {
            let message = "two shifts along one line";
            self.mistake(item.place, message, "two shifts that span the plane");
        }
        lattice
    }

    /// Builds the UEs. A `count` gives several UEs. UEs with mistakes are left out.
    pub(super) fn ues(
        &mut self,
        named: &[(String, Fields)],
        around: &Surroundings<'_>,
        is_any_cell_named: bool,
    ) -> Vec<Ue> {
        let cells = around.bases;
        let mut ues: Vec<Ue> = Vec::new();
        // Index of the first UE of each node.
        let mut firsts: BTreeMap<NodeId, usize> = BTreeMap::new();
        for (index, (name, fields)) in named.iter().enumerate() {
            if cells.is_empty() {
                // A mistake in a cell has been reported already.
                if !is_any_cell_named {
                    let expected = "a table [cell.NAME]";
                    self.mistake(fields.place, "a UE without a cell", expected);
                }
                continue;
            }
            let Some((count, mut dropping)) = self.dropping(name, fields, around) else {
                continue;
            };
            if count.is_some() && fields.item("node").is_some() {
                let message = "both `node` and `count`";
                self.mistake(fields.place_of("node"), message, "one of the two keys");
            }
            if ues.len() as u64 + count.unwrap_or(1) > MAX_UES {
                let message = format!("more than {MAX_UES} UEs");
                self.mistake(fields.place_of("count"), message, "fewer UEs");
                return ues;
            }
            if fields.map("drb").len() > MAX_DRBS {
                let message = format!("{} bearers", fields.map("drb").len());
                let expected = format!("at most {MAX_DRBS} beside the default one");
                self.mistake(fields.place_of("drb"), message, &expected);
                continue;
            }
            let mut places = Stream::new(self.seed, "ue.place", index as u64);
            let mut members = Vec::new();
            let Some(riding) = self.riding(fields) else {
                continue;
            };
            for number in 0..count.unwrap_or(1) {
                let own = match count {
                    Some(_) => format!("{name}-{number}"),
                    None => name.clone(),
                };
                let Some(mut ue) = self.ue(&own, fields, around) else {
                    break;
                };
                if let Some((group, first)) = riding {
                    let number = first + number as u32;
                    ue.movement = Movement::Vehicle { group, number };
                }
                if let Some(Meters(radius)) = fields.meters("spread") {
                    ue.position = spread(ue.position, radius, &mut places);
                }
                if let Some(dropping) = &mut dropping {
                    let Some(dropped) = dropping.next(around) else {
                        let message = "found no place for a UE in this area";
                        let expected = "a larger area, or a smaller `min-distance`";
                        self.mistake(fields.place_of("drop"), message, expected);
                        break;
                    };
                    put(&mut ue, dropped);
                }
                let first = *firsts.entry(ue.node).or_insert(ues.len());
                if let Some(first) = ues.get(first) {
                    check_shared_node(&mut self.reader.mistakes, fields, &ue, first);
                }
                members.push(ue.node);
                ues.push(ue);
            }
            if count.is_some() {
                self.groups.insert(name.clone(), members);
            }
        }
        ues
    }

    fn ue(&mut self, name: &str, fields: &Fields, around: &Surroundings<'_>) -> Option<Ue> {
        let cells = around.bases;
        if !attach::check(self, fields) {
            return None;
        }
        let node = self.own_node(name, fields)?;
        let cell = match fields.item("cell") {
            None => None,
            Some(item) => Some(self.cell_index(item, cells)?),
        };
        let serving = cell.map_or(0..cells.len(), |cell| cell..cell + 1);
        for (_, base) in &cells[serving] {
            if *base == node {
                let message = format!("the node of `{name}` is that of its own base station");
                self.mistake(fields.place, message, "another node");
                return None;
            }
            self.nodes.connect(*base, node);
        }
        let secondary = self.secondary_cells(fields, cell, around)?;
        let pscell = dual::pscell(self, fields, (cell, &secondary), around)?;
        let place = place(fields.item("position")?, fields.meters("height")?)?;
        let drbs = fields.map("drb").iter();
        let drbs = drbs.map(|(name, fields)| Drb::read(fields, Some((name.clone(),)), self));
        let drbs = drbs.collect::<Option<_>>();
        let own = (
            name.to_owned(),
            node,
            cell,
            secondary,
            pscell,
            place,
            self.movement(fields)?,
            given_sinr(self, fields)?,
            drbs?,
        );
        Ue::read(fields, Some(own), self)
    }

    /// Returns the vehicle group that a UE rides in, and the number of its first vehicle. The inner
    /// value is `None` if the UE rides on no vehicle. The outer value is `None` after a mistake.
    fn riding(&mut self, fields: &Fields) -> Option<Option<(usize, u32)>> {
        let Some(item) = fields.item("vehicles") else {
            if fields.item("vehicle").is_some() {
                let message = "`vehicle` without `vehicles`";
                self.mistake(
                    fields.place_of("vehicle"),
                    message,
                    "`vehicles`, the name of a group",
                );
                return None;
            }
            return Some(None);
        };
        for key in ["waypoints", "trace", "drop", "spread"] {
            if fields.item(key).is_some() {
                let message = format!("both `{key}` and `vehicles`");
                self.mistake(fields.place_of(key), message, "one of the two keys");
                return None;
            }
        }
        let Content::Text(name) = &item.content else {
            return None;
        };
        let group = self.vehicle_groups.iter().position(|known| known == name);
        let Some(group) = group else {
            let names = self.vehicle_groups.iter().map(String::as_str);
            refer_to_nothing(&mut self.reader.mistakes, item, "vehicles", names);
            return None;
        };
        Some(Some((group, fields.integer("vehicle").unwrap_or(0) as u32)))
    }

    /// Returns the secondary cells of a UE with the primary cell `primary`. `None` after a mistake.
    fn secondary_cells(
        &mut self,
        fields: &Fields,
        primary: Option<usize>,
        around: &Surroundings<'_>,
    ) -> Option<Vec<usize>> {
        let items = fields.list("secondary-cells");
        let is_given_most = fields.item("max-secondary-cells").is_some();
        if is_given_most && !self.is_managed {
            let message = "`max-secondary-cells` of a UE without mobility management";
            let place = fields.place_of("max-secondary-cells");
            let expected = "a table [mobility-management], or `secondary-cells` alone";
            self.mistake(place, message, expected);
        }
        if items.is_empty() && is_given_most {
            return Some(Vec::new());
        }
        if items.is_empty() {
            for key in [
                "secondary-activation",
                "secondary-deactivation",
                "secondary-uplink",
            ] {
                if fields.item(key).is_some() {
                    let message = format!("`{key}` without `secondary-cells`");
                    self.mistake(fields.place_of(key), message, "both");
                }
            }
            return Some(Vec::new());
        }
        let Some(primary) = primary else {
            let message = "`secondary-cells` of a UE that names no cell";
            let place = fields.place_of("secondary-cells");
            self.mistake(place, message, "a `cell`, the primary cell");
            return None;
        };
        let all = self.carriers(items, primary, around)?;
        if all.len() > MOST_SECONDARY_CELLS {
            let message = format!("{} secondary cells", all.len());
            let expected = format!("at most {MOST_SECONDARY_CELLS}");
            self.mistake(fields.place_of("secondary-cells"), message, &expected);
            return None;
        }
        let most = fields.integer("max-secondary-cells");
        if most.is_some_and(|most| most < all.len() as u64) {
            let message = format!(
                "{} secondary cells, more than `max-secondary-cells`",
                all.len()
            );
            let place = fields.place_of("max-secondary-cells");
            self.mistake(place, message, &format!("at least {}", all.len()));
            return None;
        }
        Some(all)
    }

    /// Returns the cells that carry a UE's data in addition to its primary cell. Each cell must be
    /// named once, and have the same technology and a carrier of its own. `None` after a mistake.
    fn carriers(
        &mut self,
        items: &[Item],
        primary: usize,
        around: &Surroundings<'_>,
    ) -> Option<Vec<usize>> {
        let mut all = vec![primary];
        for item in items {
            let cell = self.cell_index(item, around.bases)?;
            let described = |cell: usize| around.cells[cell];
            let (own, first) = (described(cell), described(primary));
            let shares = |&other: &usize| described(other).carrier == own.carrier;
            let (message, expected) = if all.contains(&cell) {
                (
                    "is named twice",
                    "each cell once, and not the `cell` itself",
                )
            } else if own.radio.name != first.radio.name {
                (
                    "is of another technology",
                    "cells of the technology of `cell`",
                )
            } else if all.iter().any(shares) {
                (
                    "has the carrier of another cell of the UE",
                    "a different carrier for each cell",
                )
            } else {
                all.push(cell);
                continue;
            };
            let message = format!("`{}` {message}", around.bases[cell].0);
            self.mistake(item.place, message, expected);
            return None;
        }
        all.remove(0);
        Some(all)
    }

    /// Returns the node of a cell or UE, and declares the node. The node has the name of the cell
    /// or UE unless `node` gives another name. `None` after a mistake.
    fn own_node(&mut self, name: &str, fields: &Fields) -> Option<NodeId> {
        match fields.item("node") {
            None => Some(self.nodes.add(name)),
            Some(_) => self.end(fields, "node"),
        }
    }

    pub(super) fn cell_index(&mut self, item: &Item, cells: &[(String, NodeId)]) -> Option<usize> {
        let Content::Text(name) = &item.content else {
            return None;
        };
        let index = cells.iter().position(|(known, _)| known == name);
        if index.is_none() {
            let names = cells.iter().map(|(name, _)| name.as_str());
            refer_to_nothing(&mut self.reader.mistakes, item, "cell", names);
        }
        index
    }

    /// Returns the cell or UE that `item` names, or all UEs of a `count`. `None` after a mistake.
    pub(super) fn radio_subjects(
        &mut self,
        item: &Item,
        cells: &[(String, NodeId)],
        ues: &[Ue],
        subjects: &mut Vec<RadioSubject>,
    ) -> Option<()> {
        let Content::Text(name) = &item.content else {
            return None;
        };
        let of_group = self.groups.get(name).map_or(&[][..], Vec::as_slice);
        let is_member = |ue: &Ue| {
            let number = ue.name.strip_prefix(name.as_str());
            of_group.contains(&ue.node) && number.is_some_and(|number| number.starts_with('-'))
        };
        let cell = cells.iter().position(|(known, _)| known == name);
        let named_ues = (0..).zip(ues);
        let named_ues = named_ues.filter(|(_, ue)| ue.name == *name || is_member(ue));
        let found: Vec<RadioSubject> = cell
            .map(|index| RadioSubject::Cell(CellId(index as u32)))
            .into_iter()
            .chain(named_ues.map(|(index, _)| RadioSubject::Ue(UeId(index))))
            .collect();
        if found.is_empty() {
            let names = cells.iter().map(|(name, _)| name.as_str());
            let names = names.chain(ues.iter().map(|ue| ue.name.as_str()));
            refer_to_nothing(&mut self.reader.mistakes, item, "cell or UE", names);
            return None;
        }
        for subject in found {
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        Some(())
    }

    /// Adds the radio bearers to the names that routes of flows may use.
    pub(super) fn add_bearer_ends(
        &mut self,
        ues: &[Ue],
        cells: &[(String, NodeId)],
        file: &Fields,
    ) {
        for (index, bearer) in bearers(ues).enumerate() {
            let ue = bearer.described;
            let bases = ue.cell.map_or(cells, |cell| &cells[cell..cell + 1]);
            let Some(((_, base), others)) = bases.split_first() else {
                continue;
            };
            let ends = (Medium::RadioBearer(index), (*base, ue.node));
            let is_settled = others.iter().all(|(_, other)| other == base);
            if is_settled && self.media.insert(bearer.name(), ends).is_some() {
                let message = format!("a link or RAB and a UE have the same name `{}`", ue.name);
                self.mistake(file.place_of("ue"), message, "two different names");
            }
        }
    }

    fn movement(&mut self, fields: &Fields) -> Option<Movement> {
        let waypoints = fields.item("waypoints");
        let trace = fields.item("trace");
        if waypoints.is_some() && trace.is_some() {
            let message = "both `waypoints` and `trace`";
            self.mistake(fields.place_of("trace"), message, "one of the two keys");
        }
        if let Some(trace) = trace {
            return MovementTrace::from_item(trace, self).map(Movement::Trace);
        }
        if waypoints.is_none() {
            return fields.named("mobility").map(Movement::Model);
        }
        let list = fields.list("waypoints").iter().map(|item| {
            let Content::Fields(waypoint) = &item.content else {
                return None;
            };
            let (x, y) = waypoint.item("position")?.pair()?;
            let place = (x.meters()?, y.meters()?);
            Waypoint::read(waypoint, Some((place,)), self)
        });
        list.collect::<Option<_>>().map(Movement::Waypoints)
    }

    pub(super) fn building(&mut self, name: &str, fields: &Fields) -> Option<Building> {
        let (x, y) = fields.item("corner")?.pair()?;
        let (Meters(x0), Meters(y0)) = (x.meters()?, y.meters()?);
        let (x, y) = fields.item("opposite")?.pair()?;
        let (Meters(x1), Meters(y1)) = (x.meters()?, y.meters()?);
        if x0 == x1 || y0 == y1 {
            let message = "the corners of a building do not span a rectangle";
            let expected = "corners that differ in both coordinates";
            self.mistake(fields.place_of("opposite"), message, expected);
        }
        let low = (x0.min(x1), y0.min(y1));
        let high = (x0.max(x1), y0.max(y1));
        let rings = fields.list("outline").iter();
        let rings = rings.map(|ring| ring.places().filter(|ring| ring.len() >= 3));
        let Some(outline) = rings.collect::<Option<Vec<_>>>() else {
            let expected = "at least three places in each ring";
            self.mistake(
                fields.place_of("outline"),
                "walls that enclose no area",
                expected,
            );
            return None;
        };
        let building = Building::read(fields, Some((name.to_owned(), low, high, outline)), self)?;
        if building.foliage && !building.outline.is_empty() {
            let message = "both `foliage` and `outline`";
            self.mistake(
                fields.place_of("outline"),
                message,
                "`corner` and `opposite` alone",
            );
        }
        if building.base.0 >= building.height.0 {
            let message = "the underside of a building is not below its roof";
            self.mistake(fields.place_of("base"), message, "a `base` below `height`");
        }
        Some(building)
    }
}

fn place(position: &Item, height: Meters) -> Option<Point> {
    let (x, y) = position.pair()?;
    Some(Point::new(x.meters()?.0, y.meters()?.0, height.0))
}

/// Sets the position and the movement of a dropped UE.
fn put(ue: &mut Ue, dropped: Dropped) {
    (ue.position.x, ue.position.y) = dropped.place;
    ue.position.z += dropped.up_m;
    if let Some(penetration) = dropped.penetration {
        ue.penetration = penetration;
    }
    if let Some(movement) = dropped.movement {
        ue.movement = movement;
    }
}

/// Returns a position drawn uniformly from the disc of `radius` metres around `center`.
fn spread(center: Point, radius: f64, random: &mut Stream) -> Point {
    let distance = radius * random.uniform().sqrt();
    let angle = 2.0 * std::f64::consts::PI * random.uniform();
    Point {
        x: center.x + distance * math::cos(angle),
        y: center.y + distance * math::sin(angle),
        ..center
    }
}

/// Returns the SINR of both directions that the scenario gives. The inner value is `None` if it
/// gives none. `None` after a mistake, such as a SINR for one direction only.
fn given_sinr(
    builder: &mut Builder<'_, '_>,
    fields: &Fields,
) -> Option<Option<(Decibel, Decibel)>> {
    match (
        fields.decibel("downlink-sinr"),
        fields.decibel("uplink-sinr"),
    ) {
        (Some(downlink), Some(uplink)) => Some(Some((downlink, uplink))),
        (None, None) => Some(None),
        _ => {
            let message = "a given SINR of one direction only";
            let expected = "both `downlink-sinr` and `uplink-sinr`, or neither";
            builder.mistake(fields.place, message, expected);
            None
        }
    }
}
