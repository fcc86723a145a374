//! Cell libraries in the Liberty format: what the report reads from them, and the one it writes for RAM leaves.
//!
//! Reading looks for the few attributes that matter and skips the rest; braces are matched, nothing else is parsed.
//!
//! Test plan: the NAND2 of a library, by either way of naming; worst times of a memory macro; the text written for a
//! RAM leaf has a bus for each wide port.

use crate::Failure;
use deltaline_hdl::emit::reader::Port;
use flate2::read::GzDecoder;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;

/// A standard cell library.
#[derive(Debug, PartialEq)]
pub(crate) struct Library {
    pub(crate) name: String,
    /// Area of the smallest two-input NAND.
    pub(crate) nand2: f64,
    /// Name of the smallest inverter.
    pub(crate) inverter: String,
    /// Process, voltage and temperature that its times are of.
    pub(crate) corner: String,
    /// What OpenSTA takes wires for, as no layout says it.
    pub(crate) wires: String,
}

/// A memory macro.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Macro {
    pub(crate) name: String,
    pub(crate) area: f64,
    pub(crate) words: usize,
    pub(crate) width: usize,
    pub(crate) timing: RamTiming,
}

/// Worst times of a memory, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RamTiming {
    pub(crate) access: f64,
    pub(crate) setup: f64,
}

/// Text of a file, which may be compressed with gzip.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: std::io::Error| {
        format!("{}: cannot be read: {error}; give a Liberty file, plain or with gzip", path.display())
    };
    let bytes = fs::read(path).map_err(unreadable)?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    Ok(text)
}

impl Library {
    /// Reads a standard cell library.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let name = library_name(text)?;
        let smallest = |kind: &str| {
            let cells = groups(text, "cell").filter(|(name, _)| name.to_lowercase().contains(kind));
            let areas =
                cells.filter_map(|(name, cell)| Some((attribute(cell, "area")?.parse::<f64>().ok()?, name)));
            let least = areas.min_by(|a, b| a.0.total_cmp(&b.0));
            least.ok_or_else(|| format!("library '{name}' has no cell with '{kind}' in its name"))
        };
        let ((nand2, _), (_, inverter)) = (smallest("nand2")?, smallest("inv")?);
        let nominal = |key: &str| attribute(text, key).unwrap_or("?");
        let corner = format!(
            "process {}, {} V, {} °C",
            nominal("nom_process"),
            nominal("nom_voltage"),
            nominal("nom_temperature")
        );
        let wires = attribute(text, "default_wire_load")
            .map_or("none".to_string(), |load| format!("wire load '{load}'"));
        Ok(Self { nand2, inverter: inverter.to_string(), corner, wires, name: name.clone() })
    }
}

impl Macro {
    /// Reads the first memory of a library.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| -> Failure { format!("the memory's Liberty file has no {what}").into() };
        let (name, cell) = groups(text, "cell").next().ok_or_else(|| wrong("cell"))?;
        let (_, memory) = groups(cell, "memory").next().ok_or_else(|| wrong("group 'memory'"))?;
        let size = |key: &str| attribute(memory, key).and_then(|size| size.parse::<usize>().ok());
        // Pins of a built-in self test are tied off.
        let worst = |kind: &str, tables: &[&str]| {
            let ports =
                groups(cell, "bus").chain(groups(cell, "pin")).filter(|(name, _)| !name.contains("BIST"));
            let timings = ports.flat_map(|(_, port)| groups(port, "timing"));
            let timings = timings.filter(|(_, timing)| attribute(timing, "timing_type") == Some(kind));
            let tables =
                timings.flat_map(|(_, timing)| tables.iter().flat_map(|table| groups(timing, table)));
            let times = tables.flat_map(|(_, table)| values(table));
            times.reduce(f64::max)
        };
        Ok(Self {
            name: name.to_string(),
            area: attribute(cell, "area").and_then(|area| area.parse().ok()).ok_or_else(|| wrong("area"))?,
            words: 1 << size("address_width").ok_or_else(|| wrong("address_width"))?,
            width: size("word_width").ok_or_else(|| wrong("word_width"))?,
            timing: RamTiming {
                access: worst("rising_edge", &["cell_rise", "cell_fall"])
                    .ok_or_else(|| wrong("access time"))?,
                setup: worst("setup_rising", &["rise_constraint", "fall_constraint"])
                    .ok_or_else(|| wrong("setup time"))?,
            },
        })
    }

    /// How many of them hold `words` of `width` bits.
    pub(crate) fn count(&self, words: usize, width: usize) -> usize {
        words.div_ceil(self.words) * width.div_ceil(self.width)
    }
}

fn library_name(text: &str) -> Result<String, Failure> {
    let library = groups(text, "library").next();
    Ok(library.ok_or("no Liberty file: it has no group 'library'")?.0.to_string())
}

/// Argument and content of all groups called `kind`, at any depth.
fn groups<'a>(text: &'a str, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(kind)?;
            let is_word = !rest[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            rest = &rest[start + kind.len()..];
            let Some(head) = rest.trim_start().strip_prefix('(').filter(|_| is_word) else { continue };
            let (argument, behind) = head.split_once(')')?;
            let Some(body) = behind.trim_start().strip_prefix('{') else { continue };
            let body = &body[..closing(body)];
            rest = &rest[body.as_ptr() as usize - rest.as_ptr() as usize + body.len()..];
            return Some((argument.trim().trim_matches('"'), body));
        }
    })
}

/// Where the group ends whose content `body` begins with.
fn closing(body: &str) -> usize {
    let mut depth = 1;
    for (at, character) in body.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    body.len()
}

/// The first attribute called `name`.
fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.match_indices(name).find_map(|(at, _)| {
        let is_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let value = text[at + name.len()..].trim_start().strip_prefix(':').filter(|_| is_word)?;
        Some(value.split([';', '\n']).next()?.trim().trim_matches('"'))
    })
}

/// All numbers of a table's `values`.
fn values(table: &str) -> Vec<f64> {
    let list = table.split_once("values").map_or("", |(_, list)| list);
    let list = list.split_once('(').and_then(|(_, list)| list.split_once(')')).map_or("", |(list, _)| list);
    list.split([',', '"', '\\', ' ', '\n', '\t']).filter_map(|number| number.parse().ok()).collect()
}

/// A library of RAM leaves, each with its ports, with the same times for all.
pub(crate) fn rams(leaves: &[(&str, Vec<Port<'_>>)], timing: RamTiming) -> String {
    let RamTiming { access, setup } = timing;
    let mut text = String::from(
        "library(rams) {
delay_model : table_lookup; nom_voltage : 1.0; nom_process : 1; nom_temperature : 25;
time_unit : \"1ns\"; voltage_unit : \"1V\"; current_unit : \"1uA\"; pulling_resistance_unit : \"1kohm\";
capacitive_load_unit (1,pf);
input_threshold_pct_rise : 50; input_threshold_pct_fall : 50;
output_threshold_pct_rise : 50; output_threshold_pct_fall : 50;
slew_lower_threshold_pct_rise : 20; slew_upper_threshold_pct_rise : 80;
slew_lower_threshold_pct_fall : 20; slew_upper_threshold_pct_fall : 80;
",
    );
    let widths: std::collections::BTreeSet<usize> = leaves
        .iter()
        .flat_map(|(_, ports)| ports.iter().map(|port| port.width))
        .filter(|width| *width > 1)
        .collect();
    for width in widths {
        let high = width - 1;
        let _ = writeln!(
            text,
            "type (bits_{width}) {{ base_type : array; data_type : bit; bit_width : {width}; bit_from : {high}; \
             bit_to : 0; downto : true; }}"
        );
    }
    for (name, ports) in leaves {
        let _ = writeln!(text, "cell({name}) {{ area : 0;");
        for Port { name, width, is_input } in ports {
            if *name == "clk" {
                text += "pin(clk) { direction : input; clock : true; capacitance : 0.01; }\n";
                continue;
            }
            let _ = match width {
                1 => write!(text, "pin({name}) {{ "),
                _ => write!(text, "bus({name}) {{ bus_type : bits_{width}; "),
            };
            let (direction, kind, tables, time) = if *is_input {
                ("input; capacitance : 0.01", "setup_rising", ["rise_constraint", "fall_constraint"], setup)
            } else {
                ("output", "rising_edge", ["cell_rise", "cell_fall"], access)
            };
            let _ = write!(
                text,
                "direction : {direction}; timing() {{ related_pin : \"clk\"; timing_type : {kind}; "
            );
            for table in tables {
                let _ = write!(text, "{table}(scalar) {{ values(\"{time}\"); }} ");
            }
            if !is_input {
                text += "rise_transition(scalar) { values(\"0.1\"); } fall_transition(scalar) { values(\"0.1\"); } ";
            }
            text += "} }\n";
        }
        text += "}\n";
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_nand_is_the_unit() {
        let text = "library(tiny) {\n nom_process : 1; nom_voltage : 1.2; nom_temperature : 25;\n default_wire_load : \"1k\";\n cell (NAND2X1) {\n area : 24;\n pin(A) { } }\n cell (\"my_nand2_2\") { area : 12.5 ; } cell(INVX1) { area : 8; }\n}";
        let expected = Library {
            name: "tiny".into(),
            nand2: 12.5,
            inverter: "INVX1".into(),
            corner: "process 1, 1.2 V, 25 °C".into(),
            wires: "wire load '1k'".into(),
        };
        assert_eq!(Library::parse(text).unwrap(), expected);
        assert!(
            Library::parse("library(empty) { }").unwrap_err().to_string().contains("'empty' has no cell")
        );
        assert!(Library::parse("hello").is_err());
    }

    #[test]
    fn a_macro_is_as_slow_as_its_slowest_pin() {
        let text = "library(L) { default_cell_x : 0; cell(RAM_8x4) {\nmemory() { type : ram; address_width : 3; word_width : 4; }
            area : 100.5 ;
            bus(A) { timing() { timing_type : setup_rising; rise_constraint(\"t\") { index_1(\"9,9\"); values (\"-0.4,0.1\",\\\n\"0.25,0\"); } } }
            bus(BIST_A) { timing() { timing_type : setup_rising; rise_constraint(t) { values (\"7\"); } } }
            bus(D) { timing() { timing_type : rising_edge ; cell_rise(t) { values(\"4.1\"); } cell_fall(t) { values(\"4.5\"); } } } } }";
        let expected = Macro {
            name: "RAM_8x4".into(),
            area: 100.5,
            words: 8,
            width: 4,
            timing: RamTiming { access: 4.5, setup: 0.25 },
        };
        let found = Macro::parse(text).unwrap();
        assert_eq!(found, expected);
        assert_eq!(found.count(16, 9), 6);
    }

    #[test]
    fn a_leaf_has_its_ports() {
        let port = |name, width, is_input| Port { name, width, is_input };
        let ports = vec![port("clk", 1, true), port("address", 3, true), port("data", 4, false)];
        let text = rams(&[("leaf", ports)], RamTiming { access: 2.0, setup: 0.5 });
        assert!(text.contains("type (bits_3)") && text.contains("type (bits_4)"));
        assert!(text.contains("bus(address) { bus_type : bits_3; direction : input;"));
        assert!(text.contains("cell_fall(scalar) { values(\"2\"); }") && text.contains("values(\"0.5\")"));
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }
}
