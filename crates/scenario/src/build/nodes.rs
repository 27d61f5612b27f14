//! Nodes by name.

use fadeout_core::NodeId;
use std::collections::BTreeMap;

/// Nodes by name, with the groups of nodes that links connect.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// Names in the order of the [`NodeId`]s.
    pub(super) names: Vec<String>,
    ids: BTreeMap<String, NodeId>,
    /// Union-find forest: each node points to another node of its connected group, or to itself.
    parent: Vec<u32>,
}

impl Nodes {
    pub(super) fn find(&self, name: &str) -> Option<NodeId> {
        self.ids.get(name).copied()
    }

    pub(super) fn add(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = NodeId(self.names.len() as u32);
        self.names.push(name.to_owned());
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

    pub(super) fn connect(&mut self, one: NodeId, other: NodeId) {
        let (one, other) = (self.root(one), self.root(other));
        self.parent[one as usize] = other;
    }

    pub(super) fn are_connected(&mut self, one: NodeId, other: NodeId) -> bool {
        self.root(one) == self.root(other)
    }
}
