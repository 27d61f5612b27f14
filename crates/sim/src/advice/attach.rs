//! Warnings about UEs without a connection: UEs that never attach, and UEs that lost their
//! connection.

use super::by_kind::{by_kind, subject};
use crate::radio::Accesses;
use crate::world::World;
use fadeout_core::Probe;
use fadeout_radio::access::{self, AccessConfig, Unattached, Unsuited};
use fadeout_scenario::Scenario;
use std::mem::discriminant;

/// Returns a sentence for UEs that begin to attach after the end of the run. Returns another
/// sentence if T300 expires before a response can arrive.
pub(super) fn advise(scenario: &Scenario) -> Vec<String> {
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

/// Returns a sentence for each reason why UEs have no connection at the end of the run.
pub(crate) fn missing<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let mut sentences = never_attached(scenario, world);
    sentences.extend(disconnected(scenario, world));
    sentences
}

/// Returns sentences for UEs that lost their connection and found no cell again.
fn disconnected<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let radio = world.machines().radio.and_then(Accesses::whole);
    let lost = radio.into_iter().flat_map(access::unconnected);
    let named = lost.map(|(ue, found)| (scenario.ues[ue.index()].name.as_str(), found));
    let kind = |found: &Option<Unsuited>| found.as_ref().map(discriminant);
    by_kind("UE", named, kind, |&found, first| {
        let reason = match found {
            Some(found) => no_cell(scenario, found),
            None => "it is selecting a cell".to_owned(),
        };
        format!("lost its connection, and has none at the end of the run{first}: {reason}")
    })
}

/// Returns sentences for UEs that were idle at the start and never attached. UEs that begin to
/// attach after the end of the run are left out, because [`advise`] warns of them before the run.
fn never_attached<P: Probe>(scenario: &Scenario, world: &World<P>) -> Vec<String> {
    let radio = world.machines().radio.and_then(Accesses::whole);
    let unattached = radio.into_iter().flat_map(access::unattached);
    let named = unattached.map(|(ue, why)| (&scenario.ues[ue.index()], why));
    let untold = named.filter(|(ue, _)| ue.attach_at < Some(scenario.duration));
    let untold = untold.map(|(ue, why)| (ue.name.as_str(), why));
    by_kind("UE", untold, kind, |&why, first| {
        let reason = reason(scenario, why);
        format!("not attached by the end of the run{first}: {reason}")
    })
}

/// Returns the key of a group. UEs share a sentence if they have the same reason, and if cells lack
/// the same property for them. Levels and counts in the reason do not separate groups.
fn kind(why: &Unattached) -> impl PartialEq + use<> {
    let found = match why {
        Unattached::NoCell(found) => Some(discriminant(found)),
        _ => None,
    };
    (discriminant(why), found)
}

fn reason(scenario: &Scenario, why: Unattached) -> String {
    match why {
        Unattached::NotBegun(at) => {
            format!(
                "it begins to attach at {:.3} s (`attach-within`)",
                at.since(fadeout_core::Time::ZERO).as_secs_f64()
            )
        }
        Unattached::NoCell(found) => no_cell(scenario, found),
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

/// Returns the reason why a UE has selected no cell.
fn no_cell(scenario: &Scenario, found: Unsuited) -> String {
    let cell = |number: fadeout_core::CellId| &scenario.cells[number.index()].name;
    match found {
        Unsuited::Nothing => "it measures no cell".to_owned(),
        Unsuited::Weak(strongest, level_dbm) => {
            let mobility = scenario.mobility.as_ref();
            let least = mobility.map_or(0.0, |it| it.q_rx_lev_min.0);
            format!(
                "no cell is suitable; the strongest, \"{}\", has an RSRP of {level_dbm:.1} dBm, \
                 which is not above `q-rx-lev-min` of {least} dBm",
                cell(strongest)
            )
        }
        Unsuited::Unread(strongest) => format!(
            "no cell is suitable; the UE cannot read the system information of the strongest, \
             \"{}\", whose downlink is below `q-in`",
            cell(strongest)
        ),
    }
}
