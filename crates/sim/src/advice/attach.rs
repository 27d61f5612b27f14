//! UEs that are idle at the start and get no connection.

use super::{by_kind, subject};
use crate::radio::Accesses;
use crate::world::World;
use fadeout_core::Probe;
use fadeout_radio::access::{self, AccessConfig, Unattached, Unsuited};
use fadeout_scenario::Scenario;
use std::mem::discriminant;

/// A sentence for UEs that begin to attach when the run is over, and for a T300 that ends before an answer can come.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let attaching = || scenario.ues.iter().filter(|ue| ue.attach_at.is_some());
    let duration = scenario.duration;
    let late = attaching().filter(|ue| ue.attach_at >= Some(duration));
    let mut sentences = Vec::new();
    let names: Vec<&str> = late.clone().map(|ue| ue.name.as_str()).collect();
    if let Some(at) = late.filter_map(|ue| ue.attach_at).min() {
        sentences.push(format!(
            "{}: `attach-at` of {} s is not before the end of the run at {} s, so the UE never \
             connects",
            subject("UE", &names),
            at.as_secs_f64(),
            duration.as_secs_f64()
        ));
    }
    let least = AccessConfig::default().least_answer();
    if let Some(mobility) = &scenario.mobility
        && mobility.t300 <= least
        && attaching().next().is_some()
    {
        sentences.push(format!(
            "mobility-management: `t300` of {} ms expires before the RRC setup can arrive, {} ms \
             after the preamble at the earliest: no UE attaches",
            mobility.t300.as_secs_f64() * 1e3,
            least.as_secs_f64() * 1e3
        ));
    }
    sentences
}

/// A sentence for each reason why UEs that were idle at the start have no connection at the end of the run, which
/// was not told before it.
pub(crate) fn missing<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let unattached = world.machines().radio.and_then(Accesses::whole).into_iter();
    let unattached = unattached.flat_map(access::unattached);
    let named = unattached.map(|(ue, why)| (&scenario.ues[ue.index()], why));
    let untold = named.filter(|(ue, _)| ue.attach_at < Some(scenario.duration));
    let untold = untold.map(|(ue, why)| (ue.name.as_str(), why));
    by_kind("UE", untold, kind, |&why, first| {
        let reason = reason(scenario, why);
        format!("not attached by the end of the run{first}: {reason}")
    })
}

/// What is told apart: reasons, and what a cell lacks, without numbers.
fn kind(why: &Unattached) -> impl PartialEq + use<> {
    let found = match why {
        Unattached::NoCell(found) => Some(discriminant(found)),
        _ => None,
    };
    (discriminant(why), found)
}

fn reason(scenario: &Scenario, why: Unattached) -> String {
    let cell = |number: fadeout_core::CellId| &scenario.cells[number.index()].name;
    match why {
        Unattached::NotBegun(at) => {
            format!(
                "it begins to attach at {:.3} s (`attach-within`)",
                at.since(fadeout_core::Time::ZERO).as_secs_f64()
            )
        }
        Unattached::NoCell(Unsuited::Nothing) => "it measures no cell".to_owned(),
        Unattached::NoCell(Unsuited::Weak(strongest, level_dbm)) => {
            let least = scenario
                .mobility
                .as_ref()
                .map_or(0.0, |it| it.q_rx_lev_min.0);
            format!(
                "no cell is suitable; the strongest, \"{}\", has an RSRP of {level_dbm:.1} dBm, \
                 which is not above `q-rx-lev-min` of {least} dBm",
                cell(strongest)
            )
        }
        Unattached::NoCell(Unsuited::Unread(strongest)) => format!(
            "no cell is suitable; the UE cannot read the system information of the strongest, \
             \"{}\", whose downlink is below `q-in`",
            cell(strongest)
        ),
        Unattached::Failed(count, had_setup) => {
            let attempts = if count == 1 { "attempt" } else { "attempts" };
            let what = match had_setup {
                true => "after the RRC setup, by a link failure or T3410",
                false => "in random access, by `t300`",
            };
            format!("{count} {attempts} failed, the latest {what}")
        }
        Unattached::UnderWay => "the first attempt is under way".to_owned(),
    }
}
