//! Blockages of links and of 2G and 3G bearers: their times, and the rate and loss during each.

use super::link::{budget, capped, radio_rate, schedule};
use super::{BuildError, surroundings};
use fadeout_core::random::Stream;
use fadeout_core::{Motion, NodeId, Rate, Span, Time};
use fadeout_link as link;
use fadeout_radio as radio;
use fadeout_radio::channel::blockage::Blockage;
use fadeout_radio::channel::knife_edge::clear_beyond;
use fadeout_radio::channel::knife_edges::cascaded_loss;
use fadeout_radio::channel::path_loss::vehicle::foliage_db_per_m;
use fadeout_radio::channel::wavelength;
use fadeout_scenario::{self as scenario, InBetween, Medium, Scenario};

/// Sampling interval of the direct path between the ends of a link. Cells use the same interval.
const SAMPLING_INTERVAL: Span = Span::from_millis(1);

/// Returns the blockages of one direction of a link or bearer until the end of the run.
pub(super) fn blockage(
    scenario: &Scenario,
    medium: Medium,
    is_reverse: bool,
) -> Result<Option<link::BlockageConfig>, BuildError> {
    let link = match medium {
        Medium::Link(link) => Some(&scenario.links[link]),
        Medium::Rab(_) | Medium::RadioBearer(_) => None,
    };
    let mut effect = None;
    let mut intervals = Vec::new();
    for (index, blockage) in scenario.blockages.iter().enumerate() {
        let hits = if is_reverse {
            blockage.direction.has_reverse()
        } else {
            blockage.direction.has_forward()
        };
        if blockage.medium != medium || !hits {
            continue;
        }
        let refuse = |reason: String| BuildError::Blockage {
            blockage: blockage.name.clone(),
            reason,
        };
        let mapped = effect_of(blockage);
        if effect.is_some_and(|known| known != mapped) {
            return Err(refuse(
                "another blockage of this link has a different effect; expected the same effect"
                    .into(),
            ));
        }
        effect = Some(mapped);
        // Both directions use the same random stream. So a blockage begins and ends at the same
        // times in both directions.
        let stream = |name| Stream::new(scenario.seed, name, index as u64);
        let times = times(scenario, blockage, stream("blockage")).map_err(&refuse)?;
        let mut draws = stream("blockage.distance");
        for (start, end) in times {
            let (rate, loss_db) = depth(link, blockage, is_reverse, &mut draws).map_err(&refuse)?;
            intervals.push(link::BlockageInterval {
                start,
                end,
                rate,
                loss_db,
            });
        }
    }
    Ok(effect.map(|effect| link::BlockageConfig { effect, intervals }))
}

fn effect_of(blockage: &scenario::Blockage) -> link::BlockageEffect {
    let limit = blockage.hold_limit.map(|limit| match limit {
        scenario::HoldLimit::Packets(packets) => {
            link::Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
        }
        scenario::HoldLimit::Bytes(bytes) => link::Limit::Bytes(bytes),
    });
    match blockage.effect {
        scenario::BlockageEffect::Held => link::BlockageEffect::Held { limit },
        scenario::BlockageEffect::Lost => link::BlockageEffect::Lost,
        scenario::BlockageEffect::DroppedOnArrival => link::BlockageEffect::DroppedOnArrival,
    }
}

/// Returns the rate and the loss during one blockage.
fn depth(
    link: Option<&scenario::Link>,
    blockage: &scenario::Blockage,
    is_reverse: bool,
    draws: &mut Stream,
) -> Result<(Rate, f64), String> {
    // A link budget describes the path in both directions. So the reverse direction may use the
    // link budget of the forward direction.
    let own = link.map(|link| {
        if is_reverse {
            &link.reverse
        } else {
            &link.forward
        }
    });
    let own_radio = own.and_then(|own| own.rate.radio());
    match &blockage.depth {
        scenario::BlockageDepth::Total => Ok((Rate::ZERO, 0.0)),
        scenario::BlockageDepth::Rate { rate } => Ok((*rate, 0.0)),
        scenario::BlockageDepth::Loss { loss } => match own_radio {
            Some(radio) => Ok((radio_rate(radio, *loss)?, loss.0)),
            None => Ok((Rate::UNLIMITED, loss.0)),
        },
        scenario::BlockageDepth::Geometry { geometry: blocker } => {
            let scenario::Distances { near, far } = blocker.distance;
            let distance = fadeout_core::Meters(draws.uniform_in(near.0, far.0));
            let Some(described) = own_radio else {
                return Ok((Rate::UNLIMITED, 0.0));
            };
            let state = budget(described)
                .blocked(&radio::Blocker {
                    width: blocker.width,
                    height: blocker.height,
                    distance_to_rx: distance,
                    offset: blocker.offset,
                })
                .map_err(|error| error.to_string())?;
            Ok((capped(state.rate, described), state.blockage_loss.0))
        }
    }
}

/// Returns the start and end of each blockage.
fn times(
    scenario: &Scenario,
    blockage: &scenario::Blockage,
    stream: Stream,
) -> Result<Vec<(Time, Time)>, String> {
    let until = Time::ZERO.saturating_add(scenario.duration);
    if let Some(described) = &blockage.schedule {
        let found = link::schedule::intervals(&schedule(described), until, stream);
        return found.map_err(|error| error.to_string());
    }
    if let Some(model) = &blockage.contention {
        let Some(Blockage::Deafness(model)) = Blockage::new(&model.name, &model.parameters) else {
            unreachable!("checked by the reader");
        };
        let most = link::schedule::MOST;
        let found = model.spells(until, stream, most);
        let found = found.map_err(|error| error.to_string())?;
        let too_many = || {
            format!("more than {most} times at which contention blocks the link; expected fewer")
        };
        return found.ok_or_else(too_many);
    }
    match &blockage.in_between {
        Some(described) => in_between(scenario, blockage.medium, described, until),
        None => unreachable!("checked by the reader"),
    }
}

/// Returns the periods in which an object is on the direct path between the ends of a link.
fn in_between(
    scenario: &Scenario,
    medium: Medium,
    described: &InBetween,
    until: Time,
) -> Result<Vec<(Time, Time)>, String> {
    let Medium::Link(link) = medium else {
        return Err("`in-between` on a radio access bearer; expected a link".to_owned());
    };
    let ends = (scenario.links[link].from, scenario.links[link].to);
    for end in [ends.0, ends.1] {
        if !scenario.ues.iter().any(|ue| ue.node == end) {
            let name = &scenario.nodes[end.index()].name;
            return Err(format!(
                "\"{name}\", an end of the link, has no place; expected a node with a UE at both \
                 ends"
            ));
        }
    }
    let (_, mut places) = surroundings(scenario).map_err(|error| error.to_string())?;
    let wavelength = wavelength(described.carrier);
    let clear = clear_beyond(wavelength);
    let per_m_db = foliage_db_per_m(described.carrier.0 / 1e9);
    let mut is_cut = |ends: (NodeId, NodeId), now: Time| {
        let (from, to) = (
            places.kinematics_at(ends.0, now).position,
            places.kinematics_at(ends.1, now).position,
        );
        let mut lost_db = per_m_db * places.foliage_m(from, to);
        let (depth, vehicles) = places.between(ends, now, clear);
        if !vehicles.is_empty() {
            lost_db += cascaded_loss(vehicles, from.distance_to(to), wavelength.0).0;
        }
        depth > 0.0 || lost_db >= described.threshold.0
    };
    let (mut found, mut began, mut now) = (Vec::new(), None, Time::ZERO);
    while now < until {
        if is_cut(ends, now) {
            began.get_or_insert(now);
        } else if let Some(began) = began.take() {
            found.push((began, now));
        }
        now = now.saturating_add(SAMPLING_INTERVAL);
    }
    found.extend(began.map(|began| (began, now)));
    Ok(found)
}
