//! Construction of the model from checked values. The builder also checks conditions on several
//! values. For example, names must refer to something, intervals must be in order, and routes must
//! exist.

mod attach;
mod blockage;
mod builder;
mod compression;
mod drop;
mod dual;
mod equipment;
mod flow;
mod handover;
mod host;
mod link;
mod mobility;
mod multipath;
mod nodes;
mod radio;
mod route;

use crate::error::Mistakes;
use crate::keys::SCENARIO;
use crate::model::*;
use crate::presets;
use crate::read::{Content, Fields, Item, Reader, is_name};
use crate::table::KeyValue as _;
use crate::tree::{Place, Table, shortened};
use builder::refer_to_nothing;
use drop::Surroundings;
use fadeout_core::{Decibel, Meters, NodeId, Span, Time};
use nodes::Nodes;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) use builder::Builder;

/// Builds a list from all tables of a kind.
fn each<T>(
    tables: &[(String, Fields)],
    mut read: impl FnMut(&str, &Fields) -> Option<T>,
) -> Vec<Option<T>> {
    let tables = tables.iter();
    tables.map(|(name, fields)| read(name, fields)).collect()
}

/// Builds the scenario of a document. `None` if the reader has found mistakes.
pub(crate) fn scenario(
    document: &Table,
    base_dir: &Path,
    reader: &mut Reader<'_>,
) -> Option<Scenario> {
    let mut document = document.clone();
    let names_deployments = document.entry("deployment").is_some();
    let deployed = presets::expand(&mut document, reader);
    let file = reader.fields(&document, SCENARIO, Place::START, "");
    let mut builder = Builder {
        reader,
        names_deployments,
        deployed,
        base_dir,
        duration: Span::ZERO,
        seed: 0,
        nodes: Nodes::default(),
        media: BTreeMap::new(),
        groups: BTreeMap::new(),
        vehicle_groups: Vec::new(),
        is_managed: false,
        has_secondary_node: false,
        files: BTreeMap::new(),
    };
    builder.scenario(&file)
}

impl Builder<'_, '_> {
    /// Reads the tables of nodes. Nodes that only links name get their number later.
    fn read_nodes(&mut self, file: &Fields) -> Vec<Option<Node>> {
        each(file.map("node"), |name, fields| {
            self.nodes.add(name);
            let node = Node::read(fields, Some((name.to_owned(),)), self)?;
            host::check(self, fields, &node);
            Some(node)
        })
    }

    fn scenario(&mut self, file: &Fields) -> Option<Scenario> {
        self.duration = file.span("duration").unwrap_or(Span::ZERO);
        self.seed = file.integer("seed").unwrap_or(0);
        let declared = self.read_nodes(file);
        let links = each(file.map("link"), |name, fields| self.link(name, fields));
        let rabs = each(file.map("rab"), |name, fields| self.rab(name, fields));
        let mut cells = each(file.map("cell"), |name, fields| self.cell(name, fields));
        let bases: Vec<(String, NodeId)> = cells
            .iter()
            .flatten()
            .map(|cell| (cell.name.clone(), cell.node))
            .collect();
        let mobility = file.fields("mobility-management");
        self.is_managed = mobility.is_some();
        self.has_secondary_node =
            mobility.is_some_and(|fields| fields.item("secondary-node").is_some());
        radio::read_offers(self, file.map("cell"), &bases, &mut cells);
        equipment::check(self, file.map("cell"), &cells);
        let mobility = self.mobility(file, !cells.is_empty());
        let prediction = self.prediction(file, !cells.is_empty());
        let buildings = each(file.map("building"), |name, fields| {
            self.building(name, fields)
        });
        let vehicles = each(file.map("vehicles"), |name, fields| {
            VehicleGroup::read(fields, Some((name.to_owned(),)), self)
        });
        self.vehicle_groups = file
            .map("vehicles")
            .iter()
            .map(|one| one.0.clone())
            .collect();
        let surroundings = Surroundings {
            bases: &bases,
            cells: cells.iter().flatten().collect(),
            buildings: buildings.iter().flatten().collect(),
        };
        let ues = self.ues(
            file.map("ue"),
            &surroundings,
            !cells.is_empty() || self.names_deployments,
        );
        let measurements = each(file.map("measurement"), |name, fields| {
            Measurement::read(fields, Some((name.to_owned(),)), self)
        });
        let channel_files = each(file.map("channel-file"), |name, fields| {
            ChannelFile::from_fields(name, fields, self)
        });
        let wired = file.map("link").iter().enumerate();
        let wired = wired.map(|(index, (name, _))| (name.as_str(), Medium::Link(index)));
        let named_rabs = file.map("rab").iter().enumerate();
        let named_rabs = named_rabs.map(|(index, (name, _))| (name.as_str(), Medium::Rab(index)));
        let named: BTreeMap<&str, Medium> = wired.chain(named_rabs).collect();
        let blockages = each(file.map("blockage"), |name, fields| {
            self.blockage(name, fields, &named, &links)
        });
        self.name_media(file, &links, &rabs);
        let handovers = each(file.map("handover"), |name, fields| {
            self.handover(name, fields)
        });
        self.add_bearer_ends(&ues, &bases, file);
        let flows = self.flows(file.map("flow"), &sources(&named, &ues, &bases));
        let probe = file.fields("probe");
        let captures_radio = probe.is_some_and(|fields| !fields.list("radio-capture").is_empty());
        let probe = probe.and_then(|fields| self.probe(fields, (&bases, &ues), &links));
        let managed = mobility.as_ref().and_then(Option::as_ref);
        compression::check(self, file.map("ue"), managed, captures_radio);
        let scenario = Scenario {
            title: file.text("title")?.to_owned(),
            duration: file.span("duration")?,
            seed: file.integer("seed")?,
            worlds: Worlds::read(file, "worlds", self)?,
            nodes: self.all_nodes(declared)?,
            links: links.into_iter().collect::<Option<_>>()?,
            rabs: rabs.into_iter().collect::<Option<_>>()?,
            cells: cells.into_iter().collect::<Option<_>>()?,
            ues,
            mobility: mobility?,
            prediction: prediction?,
            handovers: handovers.into_iter().collect::<Option<_>>()?,
            buildings: buildings.into_iter().collect::<Option<_>>()?,
            vehicles: vehicles.into_iter().collect::<Option<_>>()?,
            measurements: measurements.into_iter().collect::<Option<_>>()?,
            channel_files: channel_files.into_iter().collect::<Option<_>>()?,
            blockages: blockages.into_iter().collect::<Option<_>>()?,
            flows,
            probe: probe?,
            files: self.files_read(),
        };
        self.reader.mistakes.is_empty().then_some(scenario)
    }

    /// Returns the nodes of tables, which have the first numbers, and those that only links name.
    /// `None` after a mistake.
    fn all_nodes(&mut self, declared: Vec<Option<Node>>) -> Option<Vec<Node>> {
        let names = std::mem::take(&mut self.nodes).names;
        let others = names.into_iter().skip(declared.len());
        let others = others.map(|name| Some(Node::named(name)));
        let mut nodes = declared
            .into_iter()
            .chain(others)
            .collect::<Option<Vec<Node>>>()?;
        host::share(&mut nodes, &self.groups);
        Some(nodes)
    }

    /// Records links and radio access bearers by name, so that routes can name them.
    fn name_media(&mut self, file: &Fields, links: &[Option<Link>], rabs: &[Option<Rab>]) {
        for (index, link) in links.iter().enumerate() {
            if let Some(link) = link {
                let ends = (Medium::Link(index), (link.from, link.to));
                self.media.insert(link.name.clone(), ends);
            }
        }
        for (index, rab) in rabs.iter().enumerate() {
            let Some(rab) = rab else { continue };
            let ends = (Medium::Rab(index), (rab.from, rab.to));
            let is_taken = self.media.insert(rab.name.clone(), ends).is_some();
            if is_taken {
                let message = format!("a link and a RAB have the same name `{}`", rab.name);
                self.mistake(file.place_of("rab"), message, "different names");
            }
        }
    }

    fn probe(
        &mut self,
        fields: &Fields,
        (cells, ues): (&[(String, NodeId)], &[Ue]),
        links: &[Option<Link>],
    ) -> Option<ProbeSettings> {
        let mut capture = Vec::new();
        for item in fields.list("capture") {
            capture.push(self.node(item)?);
        }
        let mut link_capture = Vec::new();
        for item in fields.list("link-capture") {
            let Content::Text(name) = &item.content else {
                continue;
            };
            let is_it = |link: &Option<Link>| link.as_ref().is_some_and(|it| it.name == *name);
            match links.iter().position(is_it) {
                Some(index) => link_capture.push(index),
                None => {
                    let names = links.iter().flatten().map(|link| link.name.as_str());
                    refer_to_nothing(&mut self.reader.mistakes, item, "link", names);
                }
            }
        }
        let mut radio_capture = Vec::new();
        for item in fields.list("radio-capture") {
            self.radio_subjects(item, cells, ues, &mut radio_capture)?;
        }
        Probe::read(fields, Some((capture, link_capture, radio_capture)), self)
    }

    fn files_read(&mut self) -> Vec<File> {
        std::mem::take(&mut self.files)
            .into_iter()
            .map(|(path, bytes)| File { path, bytes })
            .collect()
    }
}

/// Returns the objects that can send link information, by name: links, bearers and cells. If a UE
/// or link has the same name as a cell, the name means the UE or link.
fn sources(
    media: &BTreeMap<&str, Medium>,
    ues: &[Ue],
    cells: &[(String, NodeId)],
) -> BTreeMap<String, LinkInfoSource> {
    let cells = cells.iter().enumerate();
    let cells = cells.map(|(index, (name, _))| (name.clone(), LinkInfoSource::Cell(index)));
    let bearers = bearers(ues).enumerate().map(|(index, bearer)| {
        let medium = Medium::RadioBearer(index);
        (bearer.name(), LinkInfoSource::Medium(medium))
    });
    let media = media.iter();
    let media = media.map(|(&name, &medium)| (name.to_owned(), LinkInfoSource::Medium(medium)));
    cells.chain(bearers).chain(media).collect()
}
