//! Radio access bearers of 2G and 3G, as links with the properties of their technology.

use super::blockage::blockage;
use super::{BuildError, link::*};
use fadeout_core::{LinkId, Rate};
use fadeout_link::rab::{RabConfig, default_limit};
use fadeout_link::{Link, LinkConfig, RadioStateConfig, RateConfig};
use fadeout_scenario::{self as scenario, Medium, Named, Scenario};

/// Bit that marks the random streams of radio access bearers. No link number has this bit. So the
/// streams do not depend on the number of links.
const RAB_ENTITY: u64 = 1 << 32;

/// Builds downlink and uplink of the radio access bearer `index` as hops with the numbers `ids`.
/// Also returns the radio states of the phone.
pub(super) fn build_rab(
    scenario: &Scenario,
    index: usize,
    ids: [LinkId; 2],
) -> Result<([Link; 2], Option<RadioStateConfig>), BuildError> {
    let described = &scenario.rabs[index];
    let refuse = |reason: String| BuildError::Rab {
        rab: described.name.clone(),
        reason,
    };
    let Named { name, parameters } = &described.technology;
    let config = RabConfig::new(name, parameters)
        .ok_or_else(|| refuse(format!("there is no radio access bearer \"{name}\"")))?
        .map_err(|error| refuse(error.to_string()))?;
    if config.states.is_some() && (is_trace(&described.downlink) || is_trace(&described.uplink)) {
        return Err(refuse(
            "`radio-states` with a trace; expected one of the two".to_owned(),
        ));
    }
    let build = |config, is_uplink: bool, special| -> Result<Link, BuildError> {
        let blockage = blockage(scenario, Medium::Rab(index), is_uplink)?;
        let config = LinkConfig {
            blockage,
            yields: yields(scenario, Medium::Rab(index)),
            ..specialised(config, special).map_err(&refuse)?
        };
        let direction = usize::from(is_uplink);
        let entity = RAB_ENTITY | (2 * index + direction) as u64;
        Link::of_entity(entity, ids[direction], config, scenario.seed)
            .map_err(|error| refuse(error.to_string()))
    };
    let downlink = build(config.downlink, false, &described.downlink)?;
    let uplink = build(config.uplink, true, &described.uplink)?;
    Ok(([downlink, uplink], config.states))
}

fn is_trace(side: &scenario::RabDirection) -> bool {
    matches!(side.rate, Some(scenario::RateModel::Trace { .. }))
}

/// Returns the configuration of one direction: the values of the scenario, and the defaults of the
/// technology for all other values.
fn specialised(
    technology: LinkConfig,
    special: &scenario::RabDirection,
) -> Result<LinkConfig, String> {
    let (rate, mean) = match &special.rate {
        Some(model) => rate(model)?,
        None => {
            let mean = match technology.rate {
                RateConfig::Constant(rate) => rate,
                _ => Rate::UNLIMITED,
            };
            (technology.rate.clone(), mean)
        }
    };
    let mut queue = technology.queue;
    queue.limit = match special.queue.limit {
        Some(given) => limit(given, mean),
        None => Some(default_limit(mean)),
    };
    queue.discipline = discipline(&special.queue.discipline, mean)?;
    Ok(LinkConfig {
        rate,
        queue,
        loss: loss(special.loss.as_ref())?,
        ..technology
    })
}
