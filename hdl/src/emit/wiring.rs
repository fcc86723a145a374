//! Wiring: a Verilog module made of parts and of what drives each of their inputs.
//!
//! The parts are emitted by themselves. Port p of part x is the wire x_p. Every input of every part must be driven, and
//! nothing else may be, or there is no text.
//!
//! # Test plan
//!
//! Every shell (`shell.rs`) is made by it.

use crate::emit::reader::{ports, range};
use crate::emit::refusal::EmitError;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Whether an expression names a wire.
fn mentions(expression: &str, wire: &str) -> bool {
    expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == wire)
}

/// Name, direction and width of a part's ports.
type PartPorts = Vec<(String, &'static str, usize)>;

/// A module under construction: instances, and what drives which wire.
pub(crate) struct Wiring {
    prefix: String,
    ports: Vec<(&'static str, usize, String)>,
    parts: Vec<(&'static str, PartPorts)>,
    drivers: BTreeMap<String, String>,
    modules: String,
}

impl Wiring {
    /// An empty module, `prefix` its name and that of all its parts.
    pub(crate) fn new(prefix: &str) -> Self {
        Wiring {
            prefix: prefix.to_string(),
            ports: vec![],
            parts: vec![],
            drivers: BTreeMap::new(),
            modules: String::new(),
        }
    }

    /// Adds a port to the module.
    pub(crate) fn port(&mut self, direction: &'static str, width: usize, name: &str) {
        self.ports.push((direction, width, name.to_string()));
    }

    /// Adds an instance; port p of part x is the wire x_p.
    pub(crate) fn part(&mut self, part: &'static str, verilog: String) {
        let ports = ports(&verilog, &format!("{}_{part}", self.prefix));
        self.parts.push((
            part,
            ports.iter().map(|port| (port.name.to_string(), port.direction(), port.width)).collect(),
        ));
        for name in ["clk", "rst"] {
            self.connect(&format!("{part}_{name}"), name);
        }
        // A part that is emitted with a header of its own needs none here.
        let start = verilog.find("\nmodule ").map_or(0, |start| start + 1);
        let verilog = ["ram_macro", "registered_ram_macro"].into_iter().fold(verilog, |verilog, name| {
            verilog.replace(&format!("{}_{part}_{name}", self.prefix), &format!("{}_{name}", self.prefix))
        });
        self.modules.push_str(if verilog.starts_with("module ") { &verilog } else { &verilog[start..] });
        self.modules.push('\n');
    }

    /// Drives a wire, an output of the module or `part_input`, by an expression.
    pub(crate) fn connect(&mut self, wire: &str, expression: &str) {
        self.drivers.insert(wire.to_string(), expression.to_string());
    }

    /// The width of a part's port in bits.
    pub(crate) fn width(&self, part: &str, port: &str) -> usize {
        let ports = self.parts.iter().find(|(name, _)| *name == part).map(|(_, ports)| ports.as_slice());
        ports.unwrap_or(&[]).iter().find(|(name, ..)| name == port).map_or(0, |(_, _, width)| *width)
    }

    /// The part's input becomes an input of the shell, under the same name.
    pub(crate) fn input_of_part(&mut self, part: &str, port: &str) {
        self.port("input", self.width(part, port), port);
        self.connect(&format!("{part}_{port}"), port);
    }

    /// The part's output becomes an output of the shell, under the same name.
    pub(crate) fn output_of_part(&mut self, part: &str, port: &str) {
        self.port("output", self.width(part, port), port);
        self.connect(port, &format!("{part}_{port}"));
    }

    /// All ports of a part that nothing is connected to, and nobody reads.
    pub(crate) fn other_ports(&mut self, part: &'static str) {
        let found = self.parts.iter().find(|(name, _)| *name == part).map(|(_, ports)| ports.clone());
        for (name, direction, _) in found.unwrap_or_default() {
            let wire = format!("{part}_{name}");
            let is_free = match direction {
                "input" => !self.drivers.contains_key(&wire),
                _ => !self.drivers.values().any(|driver| mentions(driver, &wire)),
            };
            match direction {
                "input" if is_free => self.input_of_part(part, &name),
                _ if is_free => self.output_of_part(part, &name),
                _ => {}
            }
        }
    }

    /// All ports of a part whose name starts so.
    pub(crate) fn bus(&mut self, part: &'static str, start: &str) {
        let found = self.parts.iter().find(|(name, _)| *name == part).map(|(_, ports)| ports.clone());
        for (name, direction, _) in
            found.unwrap_or_default().iter().filter(|(name, ..)| name.starts_with(start))
        {
            match *direction {
                "input" => self.input_of_part(part, name),
                _ => self.output_of_part(part, name),
            }
        }
    }

    /// The module's Verilog, followed by its parts.
    pub(crate) fn text(mut self) -> Result<String, EmitError> {
        let names: Vec<&str> = self.ports.iter().map(|(_, _, name)| name.as_str()).collect();
        let mut text = format!("module {}({});\n\n    // Module arguments\n", self.prefix, names.join(","));
        for (direction, width, name) in &self.ports {
            let _ = writeln!(text, "    {direction} wire  {}{name};", range(*width));
        }
        text += &self.instances();
        let unread: String = self.unread().iter().map(|wire| format!(", {wire}")).collect();
        let _ = writeln!(text, "\n    wire unused = &{{1'b0{unread}}};");
        text += &self.assignments()?;
        let _ = writeln!(text, "\nendmodule // {}\n\n{}", self.prefix, self.modules.trim_end());
        Ok(text)
    }

    /// The wires of all parts, and the parts.
    fn instances(&self) -> String {
        let mut text = String::new();
        for (part, ports) in &self.parts {
            text.push('\n');
            for (name, _, width) in ports {
                let _ = writeln!(text, "    wire {}{part}_{name};", range(*width));
            }
        }
        for (part, ports) in &self.parts {
            let _ = writeln!(text, "\n    {}_{part} {part}(", self.prefix);
            let connections: Vec<String> =
                ports.iter().map(|(name, ..)| format!("        .{name}({part}_{name})")).collect();
            let _ = writeln!(text, "{}\n    );", connections.join(",\n"));
        }
        text
    }

    /// The outputs that nobody reads; together they are one wire, a form that linters take for intended.
    fn unread(&self) -> Vec<String> {
        let outputs = self.parts.iter().flat_map(|(part, ports)| {
            let outputs = ports.iter().filter(|(_, direction, _)| *direction == "output");
            outputs.map(move |(name, ..)| format!("{part}_{name}"))
        });
        let is_read = |wire: &str| self.drivers.values().any(|driver| mentions(driver, wire));
        outputs.filter(|wire| !is_read(wire)).collect()
    }

    /// What drives the parts' inputs, then what drives the module's outputs.
    fn assignments(&mut self) -> Result<String, EmitError> {
        let mut text = String::new();
        for (part, ports) in &self.parts {
            for (name, ..) in ports.iter().filter(|(_, direction, _)| *direction == "input") {
                let wire = format!("{part}_{name}");
                let Some(driver) = self.drivers.remove(&wire) else {
                    return Err(EmitError::Design(format!("nothing drives {wire}")));
                };
                let _ = writeln!(text, "    assign {wire} = {driver};");
            }
        }
        for (wire, driver) in &self.drivers {
            if !self.ports.iter().any(|(direction, _, name)| *direction == "output" && name == wire) {
                return Err(EmitError::Design(format!("{wire} is driven but is no input of a part")));
            }
            let _ = writeln!(text, "    assign {wire} = {driver};");
        }
        Ok(text)
    }
}
