//! Construction of the model from checked values. The builder also checks conditions on several
//! values. For example, names must refer to something, intervals must be in order, and routes must
//! exist.

mod attach;
mod blockage;
mod compression;
mod drop;
mod dual;
mod equipment;
mod flow;
mod handover;
mod link;
mod mobility;
mod multipath;
mod radio;
mod route;

use crate::deployment::Deployed;
use crate::error::{Mistake, Mistakes, alternatives};
use crate::keys::SCENARIO;
use crate::model::*;
use crate::presets;
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item, Reader, is_name};
use crate::suggest::nearest;
use crate::table::KeyValue as _;
use crate::tree::{Place, Table, shortened};
use drop::Surroundings;
use fadeout_core::{Decibel, Meters, NodeId, Span, Time};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

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

/// State of the construction, with data about the whole file.
pub(crate) struct Builder<'r, 'c> {
    reader: &'r mut Reader<'c>,
    base_dir: &'r Path,
    /// Length of the run. Zero if the key is missing or wrong.
    pub(crate) duration: Span,
    /// Seed of the run. Zero if the key is missing or wrong.
    seed: u64,
    nodes: Nodes,
    /// Links and bearers without mistakes, with the nodes at both ends, by name.
    media: BTreeMap<String, (Medium, (NodeId, NodeId))>,
    /// Nodes of the UEs that a `count` makes, by the name of their table.
    groups: BTreeMap<String, Vec<NodeId>>,
    /// Deployments whose cells have been written into the file's tables.
    deployed: Vec<Deployed>,
    /// True if the file has deployments, even if they have mistakes.
    names_deployments: bool,
    /// Names of the vehicle groups, including groups with mistakes.
    vehicle_groups: Vec<String>,
    /// True if the file has mobility management, even if it has mistakes.
    is_managed: bool,
    /// True if mobility management may add secondary nodes to UEs.
    has_secondary_node: bool,
    /// Contents of the files read so far, by path.
    files: BTreeMap<String, Arc<[u8]>>,
}

impl Builder<'_, '_> {
    fn read_nodes(&mut self, file: &Fields) {
        for (name, fields) in file.map("node") {
            let id = self.nodes.add(name);
            if let Some(node) = Node::read(fields, Some((name.clone(),)), self) {
                self.nodes.list[id.index()] = node;
            }
        }
    }

    fn scenario(&mut self, file: &Fields) -> Option<Scenario> {
        self.duration = file.span("duration").unwrap_or(Span::ZERO);
        self.seed = file.integer("seed").unwrap_or(0);
        self.read_nodes(file);
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
            nodes: std::mem::take(&mut self.nodes).list,
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

    /// Returns the node that a flow or a probe names. A link must have named the node too. `None`
    /// after a mistake.
    fn node(&mut self, item: &Item) -> Option<NodeId> {
        let Content::Text(name) = &item.content else {
            return None;
        };
        let found = self.nodes.find(name);
        if found.is_none() {
            let names = self.nodes.list.iter().map(|node| node.name.as_str());
            refer_to_nothing(&mut self.reader.mistakes, item, "node", names);
        }
        found
    }

    fn files_read(&mut self) -> Vec<File> {
        std::mem::take(&mut self.files)
            .into_iter()
            .map(|(path, bytes)| File { path, bytes })
            .collect()
    }

    /// Returns the contents of a file that the scenario names at `place`. Each file is read once.
    /// `None` after a mistake.
    pub(crate) fn file(&mut self, path: &str, place: Place, expected: &str) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.files.get(path) {
            return Some(bytes.clone());
        }
        let full = self.base_dir.join(path);
        match read_bounded(&full) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                self.files.insert(path.to_owned(), bytes.clone());
                Some(bytes)
            }
            Err(error) => {
                let shown = full.display();
                let message = format!("cannot read the file `{shown}`: {error}");
                self.mistake(place, message, expected);
                None
            }
        }
    }

    pub(crate) fn mistake(&mut self, place: Place, message: impl Into<String>, expected: &str) {
        self.reader.mistakes.add(place, message, expected);
    }

    /// True if no mistake has been found so far. A missing value was then not given by the user.
    pub(crate) fn is_right_so_far(&self) -> bool {
        self.reader.mistakes.is_empty()
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

/// Adds a mistake for a name that is not among `names`.
fn refer_to_nothing<'a>(
    mistakes: &mut Mistakes,
    item: &Item,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) {
    let Content::Text(name) = &item.content else {
        return;
    };
    let mistake = Mistake::new(
        item.place,
        format!("there is no {what} `{}`", shortened(name)),
    );
    if mistakes.is_full() {
        return mistakes.push(mistake);
    }
    let near = nearest(name, names.clone());
    let expected = match (names.clone().next(), what) {
        (Some(_), _) => alternatives(names),
        (None, "node") => "a node of a link, a cell, a UE or a table [node.NAME]".to_owned(),
        (None, _) => format!(
            "a table [{}.NAME]",
            what.split([',', ' ']).next().unwrap_or(what)
        ),
    };
    mistakes.push(mistake.suggest(near).expected(expected));
}

/// Nodes by name, with the groups of nodes that links connect.
#[derive(Debug, Default)]
struct Nodes {
    list: Vec<Node>,
    ids: BTreeMap<String, NodeId>,
    /// Union-find forest: each node points to another node of its connected group, or to itself.
    parent: Vec<u32>,
}

impl Nodes {
    fn find(&self, name: &str) -> Option<NodeId> {
        self.ids.get(name).copied()
    }

    fn add(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = NodeId(self.list.len() as u32);
        self.list.push(Node {
            name: name.to_owned(),
            kernel: None,
            receive_offload: false,
            command: None,
            path_manager: PathManager::Kernel,
        });
        self.ids.insert(name.to_owned(), id);
        self.parent.push(id.0);
        id
    }

    fn root(&mut self, node: NodeId) -> u32 {
        let mut node = node.0;
        while self.parent[node as usize] != node {
            let above = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = above;
            node = above;
        }
        node
    }

    fn connect(&mut self, one: NodeId, other: NodeId) {
        let (one, other) = (self.root(one), self.root(other));
        self.parent[one as usize] = other;
    }

    fn are_connected(&mut self, one: NodeId, other: NodeId) -> bool {
        self.root(one) == self.root(other)
    }
}

/// Returns values in the units of the model. A value is `None` if its key is absent or wrong.
impl Fields {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.item(key)?.content {
            Content::Text(text) => Some(text),
            Content::Word(word) => Some(word),
            _ => None,
        }
    }
    pub(crate) fn integer(&self, key: &str) -> Option<u64> {
        match self.item(key)?.content {
            Content::Integer(number) => Some(number),
            _ => None,
        }
    }
    pub(crate) fn quantity(&self, key: &str) -> Option<f64> {
        match self.item(key)?.content {
            Content::Quantity(_, value) => Some(value),
            _ => None,
        }
    }
    pub(crate) fn span(&self, key: &str) -> Option<Span> {
        self.item(key)?.span()
    }
    pub(crate) fn meters(&self, key: &str) -> Option<Meters> {
        self.quantity(key).map(Meters)
    }
    pub(crate) fn decibel(&self, key: &str) -> Option<Decibel> {
        self.quantity(key).map(Decibel)
    }
    pub(crate) fn fields(&self, key: &str) -> Option<&Fields> {
        match &self.item(key)?.content {
            Content::Fields(fields) => Some(fields),
            _ => None,
        }
    }
    pub(crate) fn map(&self, key: &str) -> &[(String, Fields)] {
        match self.item(key).map(|item| &item.content) {
            Some(Content::Map(named)) => named,
            _ => &[],
        }
    }
    pub(crate) fn list(&self, key: &str) -> &[Item] {
        match self.item(key).map(|item| &item.content) {
            Some(Content::List(items)) => items,
            _ => &[],
        }
    }
    pub(crate) fn named(&self, key: &str) -> Option<Named> {
        match &self.item(key)?.content {
            Content::Named(named) => Some(named.clone()),
            _ => None,
        }
    }
}

impl Item {
    pub(crate) fn span(&self) -> Option<Span> {
        match self.content {
            Content::Quantity(Dimension::Time, nanos) => Some(Span::from_nanos(nanos as u64)),
            _ => None,
        }
    }
    /// Returns the two items of a pair. `None` for other items.
    pub(crate) fn pair(&self) -> Option<(&Item, &Item)> {
        match &self.content {
            Content::List(items) => match items.as_slice() {
                [first, second] => Some((first, second)),
                _ => None,
            },
            _ => None,
        }
    }
    /// Returns the positions in a list of pairs of lengths, in metres. `None` for other items.
    pub(crate) fn places(&self) -> Option<Vec<(f64, f64)>> {
        let Content::List(items) = &self.content else {
            return None;
        };
        let place = |item: &Item| {
            let (x, y) = item.pair()?;
            Some((x.meters()?.0, y.meters()?.0))
        };
        items.iter().map(place).collect()
    }
    pub(crate) fn meters(&self) -> Option<Meters> {
        match self.content {
            Content::Quantity(Dimension::Length, meters) => Some(Meters(meters)),
            _ => None,
        }
    }
}
