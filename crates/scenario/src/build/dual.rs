//! Dual connectivity: the second leg of a UE, and bearers that use it.

use super::*;

/// The cell of the second leg of a UE that `cell` and `secondary` serve on its first. Nothing where something is
/// wrong, with it or with the bearers that are split between the two.
pub(super) fn pscell(
    builder: &mut Builder<'_, '_>,
    fields: &Fields,
    (cell, secondary): (Option<usize>, &[usize]),
    around: &Surroundings<'_>,
) -> Option<Option<usize>> {
    let drbs = fields.map("drb").iter().map(|(_, drb)| drb);
    let split = |table: &&Fields| table.item("split").is_some();
    let bearers: Vec<&Fields> = std::iter::once(fields).chain(drbs).filter(split).collect();
    let duplicates = |bearer: &&&Fields| match bearer.item("split").map(|it| &it.content) {
        Some(Content::Fields(split)) => split.item("duplication").is_some(),
        _ => false,
    };
    let is_doubled = bearers.iter().any(|bearer| duplicates(&bearer));
    let Some(item) = fields.item("pscell") else {
        // It may get one.
        if builder.has_secondary_node && !bearers.is_empty() {
            if cell.is_none() {
                let message = "a split bearer of a UE that names no cell";
                let place = bearers[0].place_of("split");
                builder.mistake(place, message, "a `cell`, that of the master node");
                return None;
            }
            return check_split(builder, &bearers).then_some(None);
        }
        if let Some(bearer) = bearers.first() {
            let message = match is_doubled {
                true => "PDCP duplication with one leg: the UE has one cell",
                false => "a split bearer of a UE with one cell",
            };
            let expected = "a `pscell` of the UE, or `secondary-node` in [mobility-management], which gives it one";
            builder.mistake(bearer.place_of("split"), message, expected);
            return None;
        }
        return Some(None);
    };
    let own = builder.cell_index(item, around.bases)?;
    let name = &around.bases[own].0;
    let Some(master) = cell else {
        let message = "a `pscell` of a UE that names no cell";
        builder.mistake(item.place, message, "a `cell`, that of the master node");
        return None;
    };
    let described = |cell: usize| around.cells[cell];
    let is_lte = |cell: usize| described(cell).radio.name != "nr";
    let others = std::iter::once(&master).chain(secondary);
    let mut carriers = others.map(|&other| described(other).carrier);
    let (message, expected) = if own == master {
        (
            format!("`{name}` is both the master's cell and the secondary one's"),
            "another cell than `cell`, on another carrier",
        )
    } else if secondary.contains(&own) {
        (
            format!("`{name}` is one of the `secondary-cells` too"),
            "a cell of its own",
        )
    } else if carriers.any(|carrier| carrier == described(own).carrier) {
        (
            match is_doubled {
                true => format!(
                    "PDCP duplication over one carrier: `{name}` has that of another cell of the UE"
                ),
                false => format!("`{name}` has the carrier of another cell of the UE"),
            },
            "a carrier for each cell",
        )
    } else if is_lte(own) && is_lte(master) {
        (
            format!("`{name}` and `{}` are both of LTE", around.bases[master].0),
            "LTE and NR, or NR twice",
        )
    } else if fields.item("rrc-states").is_some() {
        (
            "`rrc-states` of a UE with a `pscell`".to_owned(),
            "one of the two",
        )
    } else {
        return check_split(builder, &bearers).then_some(Some(own));
    };
    builder.mistake(item.place, message, expected);
    None
}

/// Whether split bearers have modes that can be split.
fn check_split(builder: &mut Builder<'_, '_>, bearers: &[&Fields]) -> bool {
    let mut is_right = true;
    for bearer in bearers {
        let is_tm = |item: &Item| matches!(&item.content, Content::Named(rlc) if rlc.name == "tm");
        if bearer.item("rlc").is_some_and(is_tm) {
            let message =
                "a split bearer in transparent mode, which has no PDCP to put it in order";
            builder.mistake(bearer.place_of("rlc"), message, "\"am\" or \"um\"");
            is_right = false;
        }
    }
    is_right
}
