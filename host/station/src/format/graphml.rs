//! GraphML, as the Topology Zoo has it: `node` and `edge`, `data` of both described by `key`.
//!
//! A router is called by its data `label` where all labels differ, else by label and identifier. A link's cost is its data named
//! `weight`, `cost` or `metric`, or that key's default; where no link has one, as in the Topology Zoo, each costs 1.
//!
//! # Test plan
//!
//! `tests/formats.rs`; documents that expand without end are refused by the parser, which takes no entities of their own.

use crate::error::Wrong;
use crate::{Remark, Topology};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, HashMap};

const FORM: &str = "see graphml.graphdrawing.org";

pub(crate) fn read(text: &str) -> Result<Topology, Wrong> {
    let text = text.trim_start_matches('\u{feff}');
    let document = Document::parse(text).map_err(|error| {
        Wrong::text(error.pos().row as usize, format!("no XML: {error}"), "give a whole GraphML file")
    })?;
    let line = |node: Node| document.text_pos_at(node.range().start).row as usize;
    let mut keys = BTreeMap::new();
    for key in document.descendants().filter(|node| node.has_tag_name_local("key")) {
        if let (Some(id), Some(name)) = (key.attribute("id"), key.attribute("attr.name")) {
            let default = key.children().find(|child| child.has_tag_name_local("default"));
            let default = default.and_then(|default| default.text()).unwrap_or("");
            keys.insert((id, key.attribute("for").unwrap_or("all")), (name, default));
        }
    }
    let data = |node: Node, kind: &'static str, names: &[&str]| -> Option<String> {
        let is_known = |name: &str| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let named = node.children().filter(|child| child.has_tag_name_local("data")).find(|child| {
            let id = child.attribute("key").unwrap_or("");
            let key = keys.get(&(id, kind)).or_else(|| keys.get(&(id, "all")));
            key.is_some_and(|(name, _)| is_known(name))
        });
        let default = || {
            let mut all =
                keys.iter().filter(|((_, of), (name, _))| [kind, "all"].contains(of) && is_known(name));
            all.find_map(|(_, (_, default))| Some(*default).filter(|default| !default.trim().is_empty()))
        };
        let text = named.and_then(|named| named.text()).filter(|text| !text.trim().is_empty());
        text.or_else(default).map(|text| text.trim().to_string())
    };
    let mut graphs = document.descendants().filter(|node| node.has_tag_name_local("graph"));
    let (Some(graph), None) = (graphs.next(), graphs.next()) else {
        return Err(Wrong::whole("not exactly one graph", "give one graph in a file"));
    };
    let is_directed = graph.attribute("edgedefault") == Some("directed");
    let mut labels = vec![];
    for node in graph.children().filter(|node| node.has_tag_name_local("node")) {
        let Some(id) = node.attribute("id") else {
            return Err(Wrong::text(line(node), "a node without an identifier", FORM));
        };
        labels.push((line(node), id, data(node, "node", &["label"])));
    }
    let mut uses: HashMap<&str, usize> = HashMap::new();
    labels
        .iter()
        .filter_map(|(_, _, label)| label.as_deref())
        .for_each(|label| *uses.entry(label).or_default() += 1);
    let (mut topology, mut names) = (Topology::new(), BTreeMap::new());
    for (line, id, label) in &labels {
        let name = match label {
            Some(label) if uses[label.as_str()] == 1 => label.clone(),
            Some(label) => format!("{label} ({id})"),
            None => id.to_string(),
        };
        if topology.number(&name).is_some() {
            return Err(Wrong::text(*line, format!("the node '{name}' is there twice"), FORM));
        }
        topology.router(&name).map_err(|error| Wrong::Link(Some(*line), error))?;
        names.insert(*id, name);
    }
    if let Some(edge) = graph.children().find(|node| node.has_tag_name_local("hyperedge")) {
        return Err(Wrong::text(
            line(edge),
            "a link between more than two routers",
            "give an edge for each pair of them",
        ));
    }
    let mut costs = vec![];
    for edge in graph.children().filter(|node| node.has_tag_name_local("edge")) {
        let line = line(edge);
        let end = |which: &str| {
            let id = edge.attribute(which).unwrap_or("");
            names
                .get(id)
                .ok_or_else(|| Wrong::text(line, format!("the {which} '{id}' of an edge is no node"), FORM))
        };
        let cost = data(edge, "edge", &["weight", "cost", "metric"]);
        let is_directed = match edge.attribute("directed") {
            Some(directed) => directed == "true",
            None => is_directed,
        };
        costs.push((line, end("source")?, end("target")?, cost, is_directed));
    }
    let have_costs = costs.iter().any(|(.., cost, _)| cost.is_some());
    if !have_costs {
        topology.remarks.push(Remark::NoCosts);
    }
    for (line, from, to, cost, is_directed) in costs {
        let cost = match cost {
            None if have_costs => {
                let what = format!("the edge from '{from}' to '{to}' has no cost, as others have");
                return Err(Wrong::text(line, what, "give every edge a cost, or none"));
            }
            None => 1,
            Some(text) => whole(&text).ok_or_else(|| {
                let what = format!("'{text}' is no cost");
                Wrong::text(line, what, "give a whole number below 2^32")
            })?,
        };
        topology.link(from, to, cost).map_err(|error| Wrong::Link(Some(line), error))?;
        if !is_directed {
            topology.link(to, from, cost).map_err(|error| Wrong::Link(Some(line), error))?;
        }
    }
    Ok(topology)
}

/// A whole number, also written as 2.0.
fn whole(text: &str) -> Option<u32> {
    let digits = text
        .split_once('.')
        .map_or(text, |(digits, rest)| if rest.bytes().all(|digit| digit == b'0') { digits } else { "" });
    digits.parse().ok()
}

/// Elements by name, in whatever name space: some writers leave it out.
trait LocalName {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}
