//! Top-level keys of a scenario file, and shapes that several tables share.

mod deployment;
mod limits;
mod site;

pub(crate) use deployment::{DEPLOYMENT, DROPS, INDOOR, PENETRATION};
pub(crate) use limits::{
    BEAMWIDTH, COORDINATES, FRAMING, LENGTH, LENGTH_OR_ZERO, LOSS_DB, MAX_ELEMENTS, MAX_FLOWS,
    MAX_UES, OUTAGE, PACKETS, POSITIVE_TIME, PROBABILITY, RATE, RATE_OR_ZERO, RENAMED, RRC_TIME,
    SIZE, TIME,
};
pub(crate) use site::{SITE, SITES};

use crate::model::{
    Blockage, BlockagePrediction, Building, Cell, ChannelFile, Flow, Handover, Link, Measurement,
    MobilityManagement, Probe, Rab, Ue, VehicleGroup, Worlds,
};
use crate::shape::{Key, Presence, Shape, key};
use Presence::{Default, Optional, Required};

/// The top-level keys of a file.
pub(crate) static SCENARIO: &[Key] = &[
    key(
        "title",
        Shape::Text,
        Default("\"\""),
        "Title of the scenario, which is also the title of its figures.",
    ),
    key(
        "duration",
        POSITIVE_TIME,
        Required,
        "Simulated time of a run.",
    ),
    key(
        "seed",
        Shape::Integer {
            min: 0,
            max: i64::MAX as u64,
        },
        Default("1"),
        "Seed of all random streams. Runs with the same seed have identical results, bit for bit.",
    ),
    key(
        "worlds",
        Worlds::SHAPE,
        Default("\"one\""),
        "Division of the scenario into worlds: parts that are simulated in parallel on several \
         cores. An option of the run gives the number of cores. The results do not depend on this \
         number.",
    ),
    key(
        "timing",
        Shape::NameOf("timing"),
        Presence::FirstOfKind,
        "Timing of equipment. It gives the keys of admission and interruption in \
         `[mobility-management]`, and `equipment-delay` of the cells of its technology, that the \
         file does not give.",
    ),
    key(
        "node",
        Shape::Map(crate::model::Node::KEYS),
        Optional,
        "Hosts and routers by name. A node that a link names needs no table, unless one of these \
         keys is set.",
    ),
    key("link", Shape::Map(Link::KEYS), Optional, "Links by name."),
    key(
        "rab",
        Shape::Map(Rab::KEYS),
        Optional,
        "Radio access bearers of 2G and 3G by name, from a base station to a phone. A route may \
         contain bearers as well as links.",
    ),
    key(
        "cell",
        Shape::Map(Cell::KEYS),
        Optional,
        "Cells of base stations by name.",
    ),
    key(
        "deployment",
        Shape::Map(DEPLOYMENT),
        Optional,
        "Deployments by name: layouts of sites. Each site becomes one or more cells.",
    ),
    key(
        "ue",
        Shape::Map(Ue::KEYS),
        Optional,
        "Radio interfaces of user equipment by name, each with a bearer to the cell that serves \
         it.",
    ),
    key(
        "mobility-management",
        Shape::Table(MobilityManagement::KEYS),
        Optional,
        "Handover of UEs between cells. Default: each UE stays in the cell in which it starts.",
    ),
    key(
        "blockage-prediction",
        Shape::Table(BlockagePrediction::KEYS),
        Optional,
        "Prediction of blockages from reports of UEs. Default: the predictions of `link-info` are \
         exact, apart from their `error`.",
    ),
    key(
        "handover",
        Shape::Map(Handover::KEYS),
        Optional,
        "Changes of a phone from one link or radio access bearer to another, by name.",
    ),
    key(
        "building",
        Shape::Map(Building::KEYS),
        Optional,
        "Buildings by name. They obstruct lines of sight in channels with `line-of-sight = \
         \"geometry\"`.",
    ),
    key(
        "vehicles",
        Shape::Map(VehicleGroup::KEYS),
        Optional,
        "Groups of vehicles by name. Vehicles obstruct radio paths, and UEs may ride on them.",
    ),
    key(
        "measurement",
        Shape::Map(Measurement::KEYS),
        Optional,
        "Tables of measurements by name. Rates and delays of links, channels and movements may be \
         those of a measurement.",
    ),
    key(
        "channel-file",
        Shape::Map(ChannelFile::KEYS),
        Optional,
        "Channels from files by name: gain or SINR over time for pairs of UE and cell, in place of \
         the channel model.",
    ),
    key(
        "blockage",
        Shape::Map(Blockage::KEYS),
        Optional,
        "Interruptions of links and radio access bearers, by name.",
    ),
    key(
        "flow",
        Shape::Map(Flow::KEYS),
        Optional,
        "Transport connections by name.",
    ),
    key(
        "probe",
        Shape::Table(Probe::KEYS),
        Default("{}"),
        "Tables and captures that a run records.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::limits::MIN_TIME;
    use crate::quantity::Dimension;

    fn check(keys: &[Key], path: &str) {
        for key in keys {
            let path = format!("{path}.{}", key.name);
            assert!(
                key.doc.ends_with('.') || key.doc.ends_with('…'),
                "{path}: {}",
                key.doc
            );
            // Timers and counters of the standards have digits in their names, as t304 and n310.
            let mut bytes = key.name.bytes();
            let named = bytes.next().is_some_and(|b| b.is_ascii_lowercase())
                && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            assert!(named, "{path} is not kebab-case");
            check_shape(&key.shape, &path);
        }
    }

    fn check_shape(shape: &Shape, path: &str) {
        match shape {
            Shape::Table(keys) | Shape::Map(keys) => check(keys, path),
            Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| check_shape(shape, path)),
            Shape::Variants(variants) => {
                for variant in *variants {
                    let own = variant.keys.iter().find(|key| key.name == variant.key);
                    assert!(own.is_some_and(|key| key.presence == Required), "{path}");
                    check(variant.keys, path);
                }
            }
            Shape::List(item) => check_shape(item, path),
            Shape::Pair(first, second) => {
                check_shape(first, path);
                check_shape(second, path);
            }
            Shape::Quantity(Dimension::Time, range) => {
                let has_least = !range.is_open && (range.min <= 0.0 || range.min >= MIN_TIME);
                assert!(has_least, "{path} from {} ns", range.min);
            }
            _ => {}
        }
    }

    #[test]
    fn every_key_is_kebab_case_and_documented_and_its_time_is_none_or_a_microsecond() {
        check(SCENARIO, "");
    }
}
