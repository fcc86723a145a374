//! Repetita's form (github.com/svissicchio/Repetita): `NODES n`, a header, n lines of `label x y`; `EDGES m`, a header, m lines of
//! `label source destination weight bandwidth delay`, where routers are numbers from 0 on and links lead one way.
//!
//! # Test plan
//!
//! `tests/formats.rs`.

use crate::Topology;
use crate::error::Wrong;

const FORM: &str = "see Repetita's description of its .graph files";

/// Name, source, destination, weight.
const LEAST_COLUMNS: usize = 4;

type Lines<'a> = std::iter::Peekable<Box<dyn Iterator<Item = (usize, &'a str)> + 'a>>;

/// Lines that hold something, with their numbers.
fn lines(text: &str) -> Lines<'_> {
    let numbered = text.lines().enumerate().map(|(place, line)| (place + 1, line.trim()));
    let numbered: Box<dyn Iterator<Item = _>> = Box::new(numbered.filter(|(_, line)| !line.is_empty()));
    numbered.peekable()
}

/// How many lines follow the heading `word` and the header behind it, which says how many columns they have.
fn section(lines: &mut Lines<'_>, word: &str) -> Result<(usize, Option<usize>), Wrong> {
    let Some((line, text)) = lines.next() else {
        return Err(Wrong::whole(format!("the section {word} is missing"), FORM));
    };
    let count = text.strip_prefix(word).and_then(|rest| rest.trim().parse().ok());
    let header = lines.next_if(|(_, text)| text.starts_with("label"));
    let count =
        count.ok_or_else(|| Wrong::text(line, format!("'{text}' is no '{word}' with a number"), FORM))?;
    Ok((count, header.map(|(_, text)| text.split_whitespace().count())))
}

pub(crate) fn read(text: &str) -> Result<Topology, Wrong> {
    let mut lines = lines(text.trim_start_matches('\u{feff}'));
    let mut topology = Topology::new();
    let (routers, _) = section(&mut lines, "NODES")?;
    let mut names = vec![];
    for _ in 0..routers {
        let Some((line, text)) = lines.next_if(|(_, text)| !text.starts_with("EDGES")) else {
            let what = format!("{} routers instead of {routers}", names.len());
            return Err(Wrong::whole(what, FORM));
        };
        let name = text.split_whitespace().next().unwrap_or(text);
        if topology.number(name).is_some() {
            let what = format!("the router '{name}' is there twice");
            return Err(Wrong::text(line, what, "give every router a name of its own"));
        }
        topology.router(name).map_err(|error| Wrong::Link(Some(line), error))?;
        names.push(name);
    }
    let (links, header) = section(&mut lines, "EDGES")?;
    let mut expected = header.filter(|&columns| columns >= LEAST_COLUMNS);
    for found in 0..links {
        let Some((line, text)) = lines.next() else {
            return Err(Wrong::whole(format!("{found} links instead of {links}"), FORM));
        };
        let count = text.split_whitespace().count();
        // A column that is missing moves the others.
        let all = *expected.get_or_insert(count.max(LEAST_COLUMNS));
        if count != all {
            let what = format!("{count} columns instead of {all}");
            return Err(Wrong::text(line, what, "give every link all columns that the header names"));
        }
        let mut columns = text.split_whitespace().skip(1);
        let mut router = || -> Result<&str, Wrong> {
            let column = columns.next().unwrap_or("");
            let number = column.parse::<usize>().ok().and_then(|number| names.get(number));
            number.copied().ok_or_else(|| {
                let what = format!("'{column}' is none of the {routers} routers");
                Wrong::text(line, what, "name routers by their place among NODES, from 0 on")
            })
        };
        let (from, to) = (router()?, router()?);
        let column = columns.next().unwrap_or("");
        let cost = column.parse().map_err(|_| {
            let what = format!("'{column}' is no cost");
            Wrong::text(line, what, "give the weight as a whole number below 2^32")
        })?;
        topology.link(from, to, cost).map_err(|error| Wrong::Link(Some(line), error))?;
    }
    match lines.next() {
        Some((line, _)) => Err(Wrong::text(line, format!("more than {links} links"), FORM)),
        None => Ok(topology),
    }
}
