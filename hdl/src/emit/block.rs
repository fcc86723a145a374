//! A RustHDL block as one flat Verilog text.
//!
//! RustHDL writes a top module called `top` and one module for each instance, named by its path with `$` in
//! between. Emission makes of that: a chosen name prefix, and plain identifiers (`$` becomes `_`, checked to stay unique).
//! The text depends on the block and the name alone.
//!
//! # Test plan
//!
//! `hdl/tests/emission.rs`: two emissions are equal, every module carries the prefix, no `$` is left, names that are no
//! identifiers are refused.

use crate::emit::refusal::EmitError;
use rust_hdl_core::prelude::*;
use std::collections::BTreeMap;

/// Refuses what is no plain identifier.
pub(crate) fn check_name(name: &str) -> Result<(), EmitError> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(EmitError::Name(name.to_string()));
    }
    Ok(())
}

/// The Verilog of any block, without a header; all names are prefixed by `name`.
///
/// # Errors
///
/// [`EmitError`] when `name` is no identifier or the block is not connected.
pub fn emit_block<T: Block>(block: &mut T, name: &str) -> Result<String, EmitError> {
    check_name(name)?;
    block.connect_all();
    check_all(block).map_err(|error| EmitError::Design(format!("{error:?}")))?;
    flatten(&generate_verilog_unchecked(block), name)
}

/// The name of a lane's port: `s_axis_tdata` if there is one lane, else `s0_axis_tdata` and so on.
fn lane_port(token: &str, has_lanes: bool) -> Option<String> {
    let (port, lane) = token.strip_prefix("s_axis_")?.split_once('$')?;
    Some(if has_lanes { format!("s{lane}_axis_{port}") } else { format!("s_axis_{port}") })
}

/// Renames `top` to `name` and makes every identifier plain.
fn flatten(raw: &str, name: &str) -> Result<String, EmitError> {
    let has_lanes = raw.contains("s_axis_tdata$1");
    let mut plain: BTreeMap<String, String> = BTreeMap::new();
    let mut flat = String::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '\'';
    let mut rest = raw;
    while let Some(start) = rest.find(is_word) {
        flat.push_str(&rest[..start]);
        let token = &rest[start..];
        let (token, behind) = token.split_at(token.find(|c| !is_word(c)).unwrap_or(token.len()));
        rest = behind;
        let is_identifier = token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_identifier {
            flat.push_str(token);
            continue;
        }
        let renamed = renamed(token, name, has_lanes);
        match plain.get(&renamed) {
            Some(first) if first != token => {
                return Err(EmitError::Collision(first.clone(), token.to_string(), renamed));
            }
            Some(_) => {}
            None => {
                plain.insert(renamed.clone(), token.to_string());
            }
        }
        flat.push_str(&renamed);
    }
    flat.push_str(rest);
    Ok(tidy(&flat))
}

/// The plain name of an identifier.
fn renamed(token: &str, name: &str, has_lanes: bool) -> String {
    match token.strip_prefix("top") {
        Some("") => name.to_string(),
        Some(path) if path.starts_with('$') => format!("{name}{}", path.replace('$', "_")),
        _ => lane_port(token, has_lanes).unwrap_or_else(|| token.replace('$', "_")),
    }
}

/// Without the trailing blanks and runs of empty lines that RustHDL leaves.
fn tidy(flat: &str) -> String {
    let mut tidy = String::new();
    let mut empty = true;
    for line in flat.lines().map(str::trim_end) {
        if !line.is_empty() || !empty {
            tidy.push_str(line);
            tidy.push('\n');
        }
        empty = line.is_empty();
    }
    tidy
}
