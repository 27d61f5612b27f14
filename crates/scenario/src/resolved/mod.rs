//! Output of a resolved scenario in the format of scenario files, as JSON for a run's manifest.
//! JSON can also be converted to TOML, so that programs can create scenarios.

mod radio;

use crate::model::*;
use crate::quantity::Dimension;
use crate::table::{named, span};
use fadeout_core::{Decibel, Meters, NodeId};
use serde_json::{Map, Value, json};

impl Scenario {
    /// Returns the scenario in the keys of the format, with the defaults of all keys written out.
    /// Parameters of catalog entries are an exception. They are included only if they differ from
    /// their defaults. If [`crate::parse`] reads [`toml_from_json`] of the result, it returns the
    /// same scenario.
    pub fn to_json(&self) -> Value {
        let mut file = json!({
            "title": self.title,
            "duration": span(self.duration),
            "seed": self.seed,
        });
        // The default of this key is left out. Older results do not have the key, and results are
        // named after their scenario.
        if self.worlds != Worlds::One {
            file["worlds"] = json!(self.worlds.word());
        }
        for (key, table) in self.lists() {
            file[key] = Value::Object(table);
        }
        if let Some(mobility) = &self.mobility {
            let mut table = mobility.written();
            if let Some(core) = mobility.core {
                table.insert("core".to_owned(), self.node_name(core).into());
            }
            file["mobility-management"] = Value::Object(table);
        }
        if let Some(prediction) = &self.prediction {
            file["blockage-prediction"] = Value::Object(prediction.written());
        }
        file["probe"] = self.probe(|id| self.node_name(id));
        file
    }

    /// Returns the tables of each kind by their names, with the key of the kind.
    fn lists(&self) -> [(&'static str, Map<String, Value>); 12] {
        let name = |id: NodeId| self.node_name(id);
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|node| (node.name.clone(), Value::Object(node.written())));
        let links = self.links.iter().map(|link| {
            let mut table = self.ends(link.from, link.to);
            table.extend(link.written());
            table.extend(link.forward.whole());
            table.insert("reverse".to_owned(), Value::Object(link.reverse.whole()));
            (link.name.clone(), Value::Object(table))
        });
        let rabs = self.rabs.iter();
        let rabs = rabs.map(|rab| {
            let mut table = self.ends(rab.from, rab.to);
            table.extend(rab.written());
            (rab.name.clone(), Value::Object(table))
        });
        let cells = self.cells.iter();
        let cells = cells.map(|cell| (cell.name.clone(), radio::cell(cell, &self.cells, name)));
        let ues = self.ues.iter();
        let ues = ues.map(|ue| {
            (
                ue.name.clone(),
                radio::ue(ue, (&self.cells, &self.vehicles), name),
            )
        });
        let buildings = self.buildings.iter();
        let buildings = buildings.map(|one| (one.name.clone(), radio::building(one)));
        let vehicles = self.vehicles.iter();
        let vehicles = vehicles.map(|one| (one.name.clone(), Value::Object(one.written())));
        let measurements = self.measurements.iter();
        let measurements = measurements.map(|one| (one.name.clone(), json!(one.written())));
        let channel_files = self.channel_files.iter();
        let channel_files = channel_files.map(|one| {
            let mut table = one.written();
            table.insert("file".to_owned(), json!(one.file.path));
            (one.name.clone(), Value::Object(table))
        });
        let blockages = self.blockages.iter().map(|blockage| {
            let mut table = blockage.written();
            table.insert("link".to_owned(), json!(self.medium_name(blockage.medium)));
            (blockage.name.clone(), Value::Object(table))
        });
        let handovers = self.handovers.iter();
        let handovers = handovers.map(|one| (one.name.clone(), self.handover(one)));
        let flows = self.flows.iter();
        let flows = flows.map(|flow| (flow.name.clone(), self.flow(flow)));
        [
            ("node", nodes.collect::<Map<_, _>>()),
            ("link", links.collect()),
            ("rab", rabs.collect()),
            ("cell", cells.collect()),
            ("ue", ues.collect()),
            ("handover", handovers.collect()),
            ("building", buildings.collect()),
            ("vehicles", vehicles.collect()),
            ("measurement", measurements.collect()),
            ("channel-file", channel_files.collect()),
            ("blockage", blockages.collect()),
            ("flow", flows.collect()),
        ]
    }

    fn node_name(&self, id: NodeId) -> &str {
        &self.nodes[id.index()].name
    }

    /// Returns the keys `from` and `to` of a link or bearer.
    fn ends(&self, from: NodeId, to: NodeId) -> Map<String, Value> {
        let ends = [("from", from), ("to", to)];
        Map::from_iter(ends.map(|(key, end)| (key.to_owned(), json!(self.node_name(end)))))
    }

    fn handover(&self, handover: &Handover) -> Value {
        let mut table = handover.written();
        table.insert("from".to_owned(), json!(self.medium_name(handover.from)));
        table.insert("to".to_owned(), json!(self.medium_name(handover.to)));
        if let Some(route) = &handover.forwarding {
            let names = route.iter().map(|hop| json!(self.medium_name(hop.medium)));
            table.insert("forwarding-route".to_owned(), names.collect());
        }
        Value::Object(table)
    }

    fn flow(&self, flow: &Flow) -> Value {
        let mut table = self.ends(flow.from, flow.to);
        table.extend(flow.written());
        let mut table = Value::Object(table);
        if let Some(route) = &flow.route {
            table["route"] = route
                .iter()
                .map(|hop| self.medium_name(hop.medium))
                .collect();
        }
        if let Some(multipath) = &flow.multipath {
            table["multipath"] = self.multipath(multipath, flow.is_quic());
        }
        if let Some(info) = &flow.link_info {
            table["link-info"] = Value::Object(info.written());
            table["link-info"]["link"] = json!(self.source_name(info.source));
        }
        if let (Some(transport), Value::Object(table)) = (&flow.transport, &mut table) {
            let keys = Flow::keys_without_effect(&transport.name);
            table.retain(|key, _| !keys.contains(&key.as_str()));
        }
        table
    }
}

impl Scenario {
    fn probe<'a>(&'a self, name: impl Fn(NodeId) -> &'a str) -> Value {
        let probe = &self.probe;
        let capture: Vec<&str> = probe.capture.iter().map(|&node| name(node)).collect();
        let of_links = probe.link_capture.iter();
        let link_capture = of_links.map(|&link| self.links[link].name.as_str());
        let radio_capture: Vec<&str> = probe
            .radio_capture
            .iter()
            .map(|&subject| match subject {
                RadioSubject::Cell(cell) => self.cells[cell.index()].name.as_str(),
                RadioSubject::Ue(ue) => self.ues[ue.index()].name.as_str(),
            })
            .collect();
        let names = |names: Vec<&str>| {
            if names.is_empty() {
                json!(false)
            } else {
                json!(names)
            }
        };
        let mut table = Value::Object(Probe::written(probe));
        table["capture"] = names(capture);
        table["link-capture"] = names(link_capture.collect());
        table["radio-capture"] = names(radio_capture);
        table
    }

    fn multipath(&self, multipath: &Multipath, is_quic: bool) -> Value {
        let paths = multipath.paths.iter().map(|path| {
            let links = path
                .hops
                .iter()
                .map(|hop| json!(self.medium_name(hop.medium)));
            let mut table = path.written();
            table.insert("links".to_owned(), links.collect());
            table
        });
        let mut table = multipath.written();
        if is_quic {
            let keys = Flow::KEYS_OF_MULTIPATH_TCP;
            table.retain(|key, _| !keys.contains(&key.as_str()));
        }
        table.insert("paths".to_owned(), paths.collect());
        Value::Object(table)
    }
}

fn length(length: Meters) -> Value {
    json!(Dimension::Length.format(length.0))
}

fn ratio(ratio: Decibel) -> Value {
    json!(Dimension::Ratio.format(ratio.0))
}

/// Returns a TOML document with the contents of a JSON object. Null values are left out. If `value`
/// is no object, the document is empty.
pub fn toml_from_json(value: &Value) -> String {
    let mut text = String::new();
    if let Value::Object(table) = value {
        write_table(&mut text, &mut Vec::new(), table);
    }
    text
}

/// Maximum depth of tables with their own header. Deeper tables are inline.
const HEADER_DEPTH: usize = 2;

fn write_table(text: &mut String, path: &mut Vec<String>, table: &Map<String, Value>) {
    let is_section = |value: &Value| value.is_object() && path.len() < HEADER_DEPTH;
    let (sections, values): (Vec<_>, Vec<_>) = table
        .iter()
        .filter(|(_, value)| !value.is_null())
        .partition(|(_, value)| is_section(value));
    for (key, value) in values {
        *text += &format!("{} = {}\n", bare(key), inline(value));
    }
    for (key, value) in sections {
        path.push(bare(key));
        *text += &format!("\n[{}]\n", path.join("."));
        if let Value::Object(inner) = value {
            write_table(text, path, inner);
        }
        path.pop();
    }
}

fn inline(value: &Value) -> String {
    match value {
        // TOML has no null in a list. The reader rejects the empty string that replaces it.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(inline).collect::<Vec<_>>().join(", ")
            )
        }
        Value::Object(table) => {
            let entries = table.iter().filter(|(_, value)| !value.is_null());
            let entries: Vec<String> = entries
                .map(|(key, value)| format!("{} = {}", bare(key), inline(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// Returns a TOML key, without quotes if possible.
fn bare(key: &str) -> String {
    if crate::read::is_name(key) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

/// Returns `text` as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => out += &format!("\\u{:04X}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
