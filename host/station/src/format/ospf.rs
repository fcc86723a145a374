//! The OSPF database as FRR's vtysh writes it: `show ip ospf database router json`.
//!
//! Each router's own LSA (RFC 2328, section 12.4.1) says what it is connected to: other routers (point to point, or by a virtual
//! link), and networks, which bear their designated router's address. All routers of a network reach each other over it at the
//! cost of whoever sends. Links count if both ends name them, as RFC 2328 demands (section 16.1, step 2 b). A router of several areas is one
//! router; paths between areas are taken as if there were none. What is of the greatest age is being withdrawn, and does not count (section 14).
//!
//! # Test plan
//!
//! `tests/formats.rs`: point to point, parallel, a network of three, a neighbour that is gone, metrics that differ by
//! direction; the summary, which says nothing of links, is refused.

use crate::error::Wrong;
use crate::{Remark, Topology};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const FORM: &str = "give what `vtysh -c 'show ip ospf database router json'` writes";

/// A metric that says: no way through here (RFC 6987).
const LAST_RESORT: u32 = 0xffff;

/// An age that says: withdrawn.
const MAX_AGE: u32 = 3600;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Database {
    router_link_states: States,
}

#[derive(Deserialize)]
struct States {
    areas: BTreeMap<String, Vec<RouterLsa>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RouterLsa {
    #[serde(default)]
    lsa_age: u32,
    advertising_router: String,
    #[serde(default)]
    router_links: BTreeMap<String, RouterLink>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RouterLink {
    link_type: String,
    neighbor_router_id: Option<String>,
    designated_router_address: Option<String>,
    tos0_metric: Option<u32>,
}

pub(crate) fn read(text: &str) -> Result<Topology, Wrong> {
    let database: Database = serde_json::from_str(text)
        .map_err(|error| Wrong::text(error.line(), format!("no OSPF database: {error}"), FORM))?;
    let mut topology = Topology::new();
    // Of each link its area, its ends, its cost; of each network whom it connects.
    let mut links: Vec<(&str, &str, &str, u32)> = vec![];
    let mut networks: BTreeMap<(&str, &str), Vec<(&str, u32)>> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for (area, lsas) in &database.router_link_states.areas {
        for RouterLsa { advertising_router: router, router_links, .. } in
            lsas.iter().filter(|lsa| lsa.lsa_age < MAX_AGE)
        {
            if !told.insert((area, router)) {
                return Err(Wrong::whole(format!("router {router} is there twice in area {area}"), FORM));
            }
            topology.router(router).map_err(|error| Wrong::Link(None, error))?;
            for (name, link) in router_links {
                let is_network = match link.link_type.as_str() {
                    "Stub Network" => continue,
                    "a Transit Network" => true,
                    "another Router (point-to-point)" | "a Virtual Link" => false,
                    kind => {
                        let what = format!("{name} of router {router} is of the unknown type '{kind}'");
                        return Err(Wrong::whole(what, FORM));
                    }
                };
                let end = if is_network { &link.designated_router_address } else { &link.neighbor_router_id };
                let (Some(end), Some(cost)) = (end.as_deref(), link.tos0_metric) else {
                    let what = format!("{name} of router {router} lacks its other end or its tos0Metric");
                    return Err(Wrong::whole(what, FORM));
                };
                match is_network {
                    true => networks.entry((area, end)).or_default().push((router, cost)),
                    false => links.push((area, router, end, cost)),
                }
            }
        }
    }
    for (&(area, _), routers) in &networks {
        for &(from, cost) in routers {
            let others = routers.iter().filter(|&&(to, _)| to != from);
            links.extend(others.map(|&(to, _)| (area, from, to, cost)));
        }
    }
    let named: BTreeSet<_> = links.iter().map(|&(area, from, to, _)| (area, from, to)).collect();
    for (area, from, to, cost) in links {
        if named.contains(&(area, to, from)) && cost < LAST_RESORT {
            topology.link(from, to, cost).map_err(|error| Wrong::Link(None, error))?;
        }
    }
    let areas: BTreeSet<_> = told.iter().map(|(area, _)| area).collect();
    if areas.len() > 1 {
        topology.remarks.push(Remark::Areas(areas.len()));
    }
    match topology.is_empty() {
        true => Err(Wrong::whole("no router in the database", FORM)),
        false => Ok(topology),
    }
}
