//! Dual connectivity: the second leg of a UE, and its split bearers.

use super::*;
use fadeout_core::agreed::MOST_LEGS;

/// Returns the cell of a UE's second leg. The inner value is `None` if the UE has no second leg.
/// `cell` and `secondary` are the cells of the first leg. `None` after a mistake in the second leg
/// or in the split bearers.
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
    if !check_legs(builder, &bearers, (cell, secondary, fields), around) {
        return None;
    }
    let Some(item) = fields.item("pscell") else {
        return check_without_pscell(builder, &bearers, is_doubled, cell).then_some(None);
    };
    let own = builder.cell_index(item, around.bases)?;
    let name = &around.bases[own].0;
    let Some(master) = cell else {
        let message = "a `pscell` of a UE that names no cell";
        builder.mistake(
            item.place,
            message,
            "a `cell`, which belongs to the master node",
        );
        return None;
    };
    let described = |cell: usize| around.cells[cell];
    let is_lte = |cell: usize| described(cell).radio.name != "nr";
    let others = std::iter::once(&master).chain(secondary);
    let mut carriers = others.map(|&other| described(other).carrier);
    let (message, expected) = if own == master {
        (
            format!("`{name}` is both `cell` and `pscell`"),
            "another `pscell`, on another carrier",
        )
    } else if secondary.contains(&own) {
        (
            format!("`{name}` is also one of the `secondary-cells`"),
            "a `pscell` that is not a secondary cell",
        )
    } else if carriers.any(|carrier| carrier == described(own).carrier) {
        (
            match is_doubled {
                true => format!(
                    "PDCP duplication over a single carrier: another cell of the UE has the \
                     carrier of `{name}`"
                ),
                false => format!("another cell of the UE has the carrier of `{name}`"),
            },
            "a different carrier for each cell",
        )
    } else if is_lte(own) && is_lte(master) {
        (
            format!(
                "`{name}` and `{}` are both LTE cells",
                around.bases[master].0
            ),
            "an LTE and an NR cell, or two NR cells",
        )
    } else if fields.item("rrc-states").is_some() {
        (
            "`rrc-states` of a UE with a `pscell`".to_owned(),
            "one of `rrc-states` and `pscell`",
        )
    } else {
        return check_split(builder, &bearers).then_some(Some(own));
    };
    builder.mistake(item.place, message, expected);
    None
}

/// Checks the split bearers of a UE without a `pscell`.
fn check_without_pscell(
    builder: &mut Builder<'_, '_>,
    bearers: &[&Fields],
    is_doubled: bool,
    cell: Option<usize>,
) -> bool {
    let carriers = |bearer: &&Fields| match bearer.item("split").map(|it| &it.content) {
        Some(Content::Fields(split)) => !split.list("carriers").is_empty(),
        _ => false,
    };
    if builder.has_secondary_node && !bearers.is_empty() {
        // The network may add a secondary node during the run.
        if cell.is_none() {
            let message = "a split bearer of a UE that names no cell";
            let place = bearers[0].place_of("split");
            builder.mistake(place, message, "a `cell`, that of the master node");
            return false;
        }
    } else if let Some(bearer) = bearers.iter().find(|bearer| !carriers(bearer)) {
        let (message, expected) = if is_doubled {
            (
                "PDCP duplication with one leg: the UE has one cell",
                "a `pscell` of the UE, or `carriers` of the `split`",
            )
        } else {
            (
                "a split bearer of a UE with one cell",
                "a `pscell` of the UE, or `secondary-node` in [mobility-management], which gives it one",
            )
        };
        builder.mistake(bearer.place_of("split"), message, expected);
        return false;
    }
    check_split(builder, bearers)
}

/// Returns true if bearers with these RLC modes can be split.
fn check_split(builder: &mut Builder<'_, '_>, bearers: &[&Fields]) -> bool {
    let mut is_right = true;
    for bearer in bearers {
        let is_tm = |item: &Item| matches!(&item.content, Content::Named(rlc) if rlc.name == "tm");
        if bearer.item("rlc").is_some_and(is_tm) {
            let message =
                "a split bearer in transparent mode, which has no PDCP to reorder packets";
            builder.mistake(bearer.place_of("rlc"), message, "\"am\" or \"um\"");
            is_right = false;
        }
    }
    is_right
}

/// Checks the legs over `carriers`. Each must have a carrier of its own, and the UE must use the
/// carrier.
fn check_carriers(
    builder: &mut Builder<'_, '_>,
    items: &[Item],
    (cell, secondary): (Option<usize>, &[usize]),
    around: &Surroundings<'_>,
) {
    let mut named = Vec::new();
    for item in items {
        let Some(own) = builder.cell_index(item, around.bases) else {
            continue;
        };
        let name = &around.bases[own].0;
        let (message, expected) = if Some(own) == cell {
            (
                format!(
                    "PDCP duplication over one carrier: `{name}` is the `cell`, which has the first leg"
                ),
                "one of the `secondary-cells`",
            )
        } else if !secondary.contains(&own) {
            (
                format!("`{name}` is a leg over a carrier that the UE does not have"),
                "one of its `secondary-cells`",
            )
        } else if named.contains(&own) {
            (
                format!("`{name}` is a leg twice: copies go over carriers of their own"),
                "each carrier once",
            )
        } else {
            named.push(own);
            continue;
        };
        builder.mistake(item.place, message, expected);
    }
}

/// Returns true if the legs over `carriers` are valid. Changes of duplication must name existing
/// legs.
fn check_legs(
    builder: &mut Builder<'_, '_>,
    bearers: &[&Fields],
    (cell, secondary, ue): (Option<usize>, &[usize], &Fields),
    around: &Surroundings<'_>,
) -> bool {
    let mut is_right = true;
    let pscell = match ue.item("pscell").map(|item| &item.content) {
        Some(Content::Text(name)) => Some(name.as_str()),
        _ => None,
    };
    for bearer in bearers {
        let Some(Content::Fields(split)) = bearer.item("split").map(|it| &it.content) else {
            continue;
        };
        let before = builder.reader.mistakes.count();
        let items = split.list("carriers");
        check_carriers(builder, items, (cell, secondary), around);
        let place = split.place_of("carriers");
        let most = MOST_LEGS - 1 - usize::from(pscell.is_some());
        let is_acknowledged = match bearer.item("rlc").map(|item| &item.content) {
            Some(Content::Named(rlc)) => rlc.name == "am",
            _ => true,
        };
        let is_up = match split.item("duplication").map(|item| &item.content) {
            Some(Content::Word(word)) => *word != "downlink",
            _ => false,
        };
        let has_uplink = matches!(
            ue.item("secondary-uplink").map(|item| &item.content),
            Some(Content::Bool(true))
        );
        if items.len() > most {
            let message = format!("{} legs over further carriers", items.len());
            let expected = format!("at most {most}, as PDCP has at most {MOST_LEGS} legs");
            builder.mistake(place, message, &expected);
        } else if !items.is_empty() && split.item("duplication").is_none() {
            let message = "legs over carriers without duplication";
            builder.mistake(place, message, "`duplication`, or no `carriers`");
        } else if !items.is_empty() && !has_uplink && (is_acknowledged || is_up) {
            let message = "legs over carriers without an uplink for status reports and copies";
            builder.mistake(place, message, "`secondary-uplink = true` of the UE");
        }
        check_changes(builder, split, pscell);
        is_right &= builder.reader.mistakes.count() == before;
    }
    is_right
}

/// Checks that changes of duplication name legs of the bearer.
fn check_changes(builder: &mut Builder<'_, '_>, split: &Fields, pscell: Option<&str>) {
    let changes = split.list("duplication-changes");
    if !changes.is_empty() && split.item("duplication").is_none() {
        let place = split.place_of("duplication-changes");
        let message = "changes of duplication without duplication";
        builder.mistake(place, message, "`duplication`, or no `duplication-changes`");
        return;
    }
    let carriers = split.list("carriers").iter();
    let carriers = carriers.filter_map(|item| match &item.content {
        Content::Text(name) => Some(name.as_str()),
        _ => None,
    });
    let known: Vec<&str> = pscell.into_iter().chain(carriers).collect();
    for change in changes {
        let Content::Fields(change) = &change.content else {
            continue;
        };
        for item in change.list("legs") {
            if let Content::Text(name) = &item.content
                && !known.contains(&name.as_str())
            {
                let names = known.iter().copied();
                refer_to_nothing(&mut builder.reader.mistakes, item, "leg", names);
            }
        }
    }
}
