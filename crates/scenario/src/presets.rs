//! Presets: names for the timing of equipment, for the cells of commercial networks, and for hosts.
//! The keys of a preset are written into the document before it is read. Keys that the file gives
//! take precedence.

use crate::deployment::{self, Deployed, put};
use crate::error::Mistake;
use crate::read::Reader;
use crate::tree::{Place, Table, Value};
use fadeout_core::registry::{Entry, find};

/// Key and value of a preset, in the notation of a scenario.
type Setting = (&'static str, &'static str);

/// Preset that replaces the bounds of the standards by times of equipment.
struct Timing {
    entry: Entry,
    /// Radio technology of the cells. Empty for a preset without settings.
    radio: &'static str,
    /// Keys of `[mobility-management]`.
    mobility: &'static [Setting],
    /// Value of `equipment-delay` of the cells. Empty if the preset has none.
    equipment: &'static str,
}

const TIMING_PRESETS: [Timing; 5] = [
    Timing {
        entry: Entry::new(
            "ideal",
            "standards",
            "The bounds and minima of the standards, without delays of equipment.",
            "the documentation of each key",
        ),
        radio: "",
        mobility: &[],
        equipment: "",
    },
    Timing {
        entry: Entry::new(
            "commercial-lte",
            "measured",
            "LTE of three operators in the USA: admission of 41 ms (90th percentile 87 ms) and \
             interruption of 26 ms. No delay of packets, because public data do not divide it \
             between equipment and internet.",
            "Hassan et al., SIGCOMM 2022, figures 8 and 9; fitted to half of the handovers of \
             `validate measured`, handover-lte, and judged by the other half",
        ),
        radio: "lte",
        mobility: &[
            ("admission-delay", "\"41 ms\""),
            ("admission-delay-p90", "\"87 ms\""),
            ("interruption", "\"26 ms\""),
        ],
        equipment: "",
    },
    Timing {
        entry: Entry::new(
            "commercial-nr-sa",
            "measured",
            "5G standalone below 6 GHz: admission of 35 ms (90th percentile 120 ms) and \
             interruption of 57 ms of a public network, and delays of 3.65 ms in each direction \
             of an industrial network.",
            "Hassan et al., SIGCOMM 2022, figures 8 and 9; DETERMINISTIC6G D4.1, 3.7 GHz; fitted \
             to half of the handovers and to the downlink of `validate measured`, handover-nr-sa \
             and one-way-n78, and judged by the other half and the uplink",
        ),
        radio: "nr",
        mobility: &[
            ("admission-delay", "\"35 ms\""),
            ("admission-delay-p90", "\"120 ms\""),
            ("interruption", "\"57 ms\""),
        ],
        equipment: "{ downlink = \"3.65 ms\", uplink = \"3.65 ms\" }",
    },
    Timing {
        entry: Entry::new(
            "commercial-nr-mmwave",
            "measured",
            "A commercial 5G standalone system at 28 GHz: delays of 1.09 ms down and 1.9 ms up. \
             Handovers have the times of `ideal`.",
            "DETERMINISTIC6G D4.1, commercial 28 GHz; fitted to the medians of `validate \
             measured`, one-way-mmwave, and judged by the uplink's 90th percentile",
        ),
        radio: "nr",
        mobility: &[],
        equipment: "{ downlink = \"1.09 ms\", uplink = \"1.9 ms\" }",
    },
    Timing {
        entry: Entry::new(
            "urllc-testbed",
            "measured",
            "A 28 GHz prototype for URLLC: delays of 0.37 ms in each direction. Handovers have \
             the times of `ideal`.",
            "DETERMINISTIC6G D4.1, 28 GHz prototype; fitted to the downlink of `validate \
             measured`, one-way-urllc, and judged by the uplink",
        ),
        radio: "nr",
        mobility: &[],
        equipment: "{ downlink = \"0.37 ms\", uplink = \"0.37 ms\" }",
    },
];

/// Cell of a commercial network.
struct CellPreset {
    entry: Entry,
    /// Keys of the carrier: frequency, bandwidth and radio.
    carrier: &'static [Setting],
    /// Keys of the site: height, power and antenna. A deployment has its own.
    site: &'static [Setting],
    path_loss: &'static str,
}

const PRESETS_OF_CELLS: [CellPreset; 3] = [
    CellPreset {
        entry: Entry::new(
            "lte-20mhz",
            "commercial",
            "LTE macro cell on 20 MHz at 2 GHz with 2 x 2 MIMO: 49 dBm, a sector antenna towards \
             the east at 32 m.",
            "TR 36.814 Tables A.2.1.1-1 and A.2.1.1-2, case 1: 46 dBm in 10 MHz, here with the \
             same density",
        ),
        carrier: &[
            ("radio", "{ kind = \"lte\", layers = 2 }"),
            ("carrier", "\"2 GHz\""),
            ("bandwidth", "\"20 MHz\""),
        ],
        site: &[
            ("height", "\"32 m\""),
            ("tx-power", "\"49 dBm\""),
            ("antenna", "{ kind = \"sector\" }"),
        ],
        path_loss: "\"lte-macro\"",
    },
    CellPreset {
        entry: Entry::new(
            "n78-100mhz",
            "commercial",
            "5G macro cell on 100 MHz of band n78 at 3.5 GHz: TDD with DDDSU, four layers and \
             256QAM, 51 dBm, a column of elements towards the east at 25 m.",
            "GSMA, 5G TDD Synchronisation, 2020 (DDDSU); TS 38.101-1 clause 7.2 (four receive \
             antennas); ITU-R M.2412 Table 5, dense urban (44 dBm in 20 MHz, here with the same \
             density); TR 38.901 Table 7.8-1 (antenna, height)",
        ),
        carrier: &[
            (
                "radio",
                "{ kind = \"nr\", duplex = \"DDDSU\", layers = 4, mcs-table = \"256qam\" }",
            ),
            ("carrier", "\"3.5 GHz\""),
            ("bandwidth", "\"100 MHz\""),
        ],
        site: &[
            ("height", "\"25 m\""),
            ("tx-power", "\"51 dBm\""),
            ("antenna", "{ kind = \"column\" }"),
        ],
        path_loss: "\"uma\"",
    },
    CellPreset {
        entry: Entry::new(
            "n261-100mhz",
            "commercial",
            "One carrier of 100 MHz of a 5G micro cell in band n261 at 28 GHz: TDD with DDDSU \
             and two layers, 34 dBm, an array of 8 x 8 elements towards the east at 10 m. A UE \
             aggregates several such cells with `secondary-cells`.",
            "GSMA, 5G TDD Synchronisation, 2020 (DDDSU); ITU-R M.2412 Table 5, dense urban micro \
             (33 dBm in 80 MHz, here with the same density; 256 elements, here 64 for each \
             polarisation of a panel); TR 38.901 Table 7.2-1 (height)",
        ),
        carrier: &[
            ("radio", "{ kind = \"nr\", duplex = \"DDDSU\", layers = 2 }"),
            ("carrier", "\"28 GHz\""),
            ("bandwidth", "\"100 MHz\""),
        ],
        site: &[
            ("height", "\"10 m\""),
            ("tx-power", "\"34 dBm\""),
            ("antenna", "{ kind = \"array\" }"),
        ],
        path_loss: "\"umi\"",
    },
];

/// Host with the offloads and queues of a device.
struct HostPreset {
    entry: Entry,
    keys: &'static [Setting],
}

const PRESETS_OF_HOSTS: [HostPreset; 2] = [
    HostPreset {
        entry: Entry::new(
            "phone",
            "measured",
            "A phone with a modem by Qualcomm: receive offload, a queue of 1000 packets, and a \
             modem that takes 768 kB.",
            "receive offload: SIGCOMM21-5G/artifact, Web-Browsing, captures in phones, of which \
             89 % of the data over LTE arrived in merged packets; queue: Linux 6.12, \
             RMNET_TX_QUEUE_LEN of drivers/net/ethernet/qualcomm/rmnet; modem: the same, \
             drivers/net/ipa/data, 512 transfers (tre_count) of 1500 bytes",
        ),
        keys: &[
            ("receive-offload", "true"),
            ("send-queue", "\"1000 packets\""),
            ("device-queue", "\"768 kB\""),
        ],
    },
    HostPreset {
        entry: Entry::new(
            "phone-download",
            "measured",
            "The receive offload of a phone, without its queues.",
            "SIGCOMM21-5G/artifact, Web-Browsing, captures in phones, of which 89 % of the data \
             over LTE arrived in merged packets",
        ),
        keys: &[("receive-offload", "true")],
    },
];

/// Array of the catalog entries of presets, for a constant.
macro_rules! entries_of {
    ($presets:ident) => {{
        let mut entries = [$presets[0].entry; $presets.len()];
        let mut index = 1;
        while index < entries.len() {
            entries[index] = $presets[index].entry;
            index += 1;
        }
        entries
    }};
}

/// Presets of timing, for the key `timing`.
pub static TIMINGS: &[Entry] = &entries_of!(TIMING_PRESETS);

/// Presets of cells, for the key `cell.NAME.preset`.
pub static CELL_PRESETS: &[Entry] = &entries_of!(PRESETS_OF_CELLS);

/// Presets of hosts, for the key `node.NAME.preset`.
pub static HOST_PRESETS: &[Entry] = &entries_of!(PRESETS_OF_HOSTS);

/// Writes the presets, sites and deployments that the document names into its tables. The reader
/// reports unknown names.
pub(crate) fn expand(document: &mut Table, reader: &mut Reader<'_>) -> Vec<Deployed> {
    for cell in tables_of(document, "cell") {
        complete(cell, Part::Whole);
    }
    // A site turns the antenna of a preset, too.
    deployment::expand_sites(document, reader);
    for node in tables_of(document, "node") {
        equip(node);
    }
    for deployment in tables_of(document, "deployment") {
        if let Some(cell) = deployment.table_mut("cell") {
            complete(cell, Part::Carrier);
        }
    }
    let deployed = deployment::expand(document, reader);
    set_timing(document, reader);
    deployed
}

/// Part of a cell's preset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The keys of carrier and site.
    Whole,
    /// The keys of the carrier. The layout of a deployment has those of the site.
    Carrier,
}

/// Adds the keys of the preset that a cell names.
fn complete(cell: &mut Table, part: Part) {
    let Some((name, place)) = name_of(cell, "preset") else {
        return;
    };
    let mut known = PRESETS_OF_CELLS.iter();
    let found = known.find(|preset| preset.entry.name == name);
    // The reader refuses an unknown name. The values of another preset avoid further errors about
    // missing keys.
    let preset = found.unwrap_or(&PRESETS_OF_CELLS[0]);
    for (key, value) in preset.carrier {
        put(cell, key, place, value);
    }
    if part == Part::Carrier {
        return;
    }
    for (key, value) in preset.site {
        put(cell, key, place, value);
    }
    put(cell, "channel", place, "{}");
    if let Some(channel) = cell.table_mut("channel") {
        put(channel, "path-loss", place, preset.path_loss);
    }
}

/// Adds the keys of the preset that a node names. The reader refuses an unknown name.
fn equip(node: &mut Table) {
    let Some((name, place)) = name_of(node, "preset") else {
        return;
    };
    let mut known = PRESETS_OF_HOSTS.iter();
    let Some(preset) = known.find(|preset| preset.entry.name == name) else {
        return;
    };
    for (key, value) in preset.keys {
        put(node, key, place, value);
    }
}

/// Adds the keys of the timing that the document names.
fn set_timing(document: &mut Table, reader: &mut Reader<'_>) {
    let Some((name, place)) = name_of(document, "timing") else {
        return;
    };
    let mut known = TIMING_PRESETS.iter();
    let Some(timing) = known.find(|timing| timing.entry.name == name) else {
        return;
    };
    if let Some(mobility) = document.table_mut("mobility-management") {
        // A median of the file does not fit the preset's 90th percentile.
        let has_median = mobility.entry("admission-delay").is_some();
        for (key, value) in timing.mobility {
            if !(has_median && *key == "admission-delay-p90") {
                put(mobility, key, place, value);
            }
        }
    }
    if timing.radio.is_empty() {
        return;
    }
    let radios = reader.catalog.entries("radio");
    let mut has_cell = false;
    for cell in tables_of(document, "cell") {
        if radio_of(cell, radios) == Some(timing.radio) {
            has_cell = true;
            if !timing.equipment.is_empty() {
                put(cell, "equipment-delay", place, timing.equipment);
            }
        }
    }
    if !has_cell {
        let radio = timing.radio;
        let message =
            format!("`{name}` is the timing of cells with the radio `{radio}`, but there are none");
        let expected = format!("a cell with `radio = \"{radio}\"`, or no `timing`");
        reader
            .mistakes
            .push(Mistake::new(place, message).expected(&expected));
    }
}

/// Returns the radio technology of a cell. `None` if its name is not known.
fn radio_of(cell: &Table, radios: &'static [Entry]) -> Option<&'static str> {
    let name = match cell.entry("radio").map(|entry| &entry.node.value) {
        None => return radios.first().map(|entry| entry.name),
        Some(Value::Text(name)) => name,
        Some(Value::Table(radio)) => match radio.entry("kind").map(|entry| &entry.node.value) {
            Some(Value::Text(name)) => name,
            _ => return None,
        },
        Some(_) => return None,
    };
    find(radios, name).map(|entry| entry.name)
}

/// Returns the text of a key with the place of the text. `None` if the key has no text.
fn name_of(table: &Table, key: &str) -> Option<(String, Place)> {
    let node = &table.entry(key)?.node;
    match &node.value {
        Value::Text(name) => Some((name.clone(), node.place)),
        _ => None,
    }
}

/// Returns all named tables of a kind.
fn tables_of<'a>(document: &'a mut Table, kind: &str) -> impl Iterator<Item = &'a mut Table> {
    let named = document.table_mut(kind).map(|named| named.0.iter_mut());
    named
        .into_iter()
        .flatten()
        .filter_map(|entry| match &mut entry.node.value {
            Value::Table(inner) => Some(inner),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers with their units in a value of a preset.
    fn quantities(value: &str) -> impl Iterator<Item = &str> {
        let parts = value.split('"');
        parts.filter(|part| part.starts_with(|first: char| first.is_ascii_digit()))
    }

    #[test]
    fn the_summary_of_a_timing_names_each_of_its_times() {
        for timing in &TIMING_PRESETS {
            let values = timing.mobility.iter().map(|(_, value)| *value);
            for value in values.chain([timing.equipment]) {
                for quantity in quantities(value) {
                    let summary = timing.entry.summary;
                    assert!(summary.contains(quantity), "{quantity}: {summary}");
                }
            }
        }
    }

    #[test]
    fn the_summary_of_a_host_names_each_size() {
        for preset in &PRESETS_OF_HOSTS {
            for (_, value) in preset.keys {
                for quantity in quantities(value) {
                    let summary = preset.entry.summary;
                    assert!(summary.contains(quantity), "{quantity}: {summary}");
                }
            }
        }
    }

    #[test]
    fn the_summary_of_a_cell_names_carrier_bandwidth_height_and_power() {
        for preset in &PRESETS_OF_CELLS {
            for (_, value) in preset.carrier.iter().chain(preset.site) {
                for quantity in quantities(value).filter(|text| text.contains(' ')) {
                    let summary = preset.entry.summary;
                    assert!(summary.contains(quantity), "{quantity}: {summary}");
                }
            }
        }
    }
}
