//! Rocketfuel's `.cch` files: a line for each router of a provider,
//!
//! ```text
//! uid @location [+] [bb] (neighbours) [&external] -> <uid> ... {-external} ... =name[!] radius
//! ```
//!
//! and lines `-external =name radius` for what lies outside, which is left out. Links are undirected and named at both ends; they
//! have no costs, so that each costs 1 and the shortest path is the one with fewest hops.
//!
//! # Test plan
//!
//! `tests/formats.rs`.

use crate::error::Wrong;
use crate::{Remark, Topology};

const FORM: &str = "see Rocketfuel's description of its .cch files";

/// Whether a line can be of this form.
pub(crate) fn is_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or("");
    let is_number = first.parse::<i64>().is_ok();
    is_number && words.next().is_some_and(|word| word.starts_with('@') || word.starts_with('='))
}

pub(crate) fn read(text: &str) -> Result<Topology, Wrong> {
    let mut topology = Topology::new();
    let (mut links, mut other_counts) = (vec![], 0);
    for (place, text) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (line, text) = (place + 1, text.trim());
        if text.is_empty() || text.starts_with('#') || text.starts_with('-') {
            continue;
        }
        if !is_line(text) {
            return Err(Wrong::text(line, "no router of a Rocketfuel map", FORM));
        }
        let router = text.split_whitespace().next().unwrap_or("");
        if topology.number(router).is_some() {
            let what = format!("the router {router} is there twice");
            return Err(Wrong::text(line, what, FORM));
        }
        topology.router(router).map_err(|error| Wrong::Link(Some(line), error))?;
        let (before, neighbours) = text.split_once("->").unwrap_or((text, ""));
        let known = neighbours.split_whitespace();
        let known = known.filter_map(|word| word.strip_prefix('<')?.strip_suffix('>'));
        let listed = links.len();
        links.extend(known.map(|neighbour| (line, router, neighbour)));
        let said = before.split_whitespace().find_map(|word| word.strip_prefix('(')?.strip_suffix(')'));
        let said = said.and_then(|number| number.parse::<usize>().ok());
        other_counts += usize::from(said.is_some_and(|said| said != links.len() - listed));
    }
    topology.remarks.push(Remark::NoCosts);
    if other_counts > 0 {
        topology.remarks.push(Remark::Neighbours(other_counts));
    }
    for &(line, router, neighbour) in &links {
        if topology.number(neighbour).is_none() {
            let what = format!("the neighbour {neighbour} of router {router} has no line of its own");
            return Err(Wrong::text(line, what, "give the whole map"));
        }
        // What one end names leads both ways, and the other end may name it again.
        let [from, to] = [router, neighbour].map(|name| topology.number(name).unwrap_or(0));
        for (from, to, names) in [(from, to, (router, neighbour)), (to, from, (neighbour, router))] {
            if !topology.links(from).iter().any(|&(end, _)| end == to) {
                topology.link(names.0, names.1, 1).map_err(|error| Wrong::Link(Some(line), error))?;
            }
        }
    }
    Ok(topology)
}
