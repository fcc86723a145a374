//! Reader of emitted Verilog: its modules, their ports, and which modules they instantiate.
//!
//! RustHDL writes one module per instance, one port declaration a line, and modules that do not nest; the shells are written
//! alike. That is all that is relied on here.
//!
//! # Test plan
//!
//! `hdl/tests/reader.rs`: modules, ports and instances of a text that has all forms. `hdl/tests/package.rs`: every port of the default
//! design is found, with its width.

/// A module of an emitted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module<'a> {
    /// Its name.
    pub name: &'a str,
    /// From `module` to `endmodule`.
    pub text: &'a str,
    /// Where `module` is in the whole text, in bytes.
    pub start: usize,
}

/// A port of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port<'a> {
    /// Its name.
    pub name: &'a str,
    /// Width in bits, at least 1.
    pub width: usize,
    /// Whether it is an input; there are no ports of both directions.
    pub is_input: bool,
}

impl Port<'_> {
    /// `input` or `output`.
    pub fn direction(&self) -> &'static str {
        if self.is_input { "input" } else { "output" }
    }
}

/// The range of a declaration of so many bits, with a space behind it, such as `[63:0] `; nothing for a single bit.
pub fn range(width: usize) -> String {
    if width == 1 { String::new() } else { format!("[{}:0] ", width - 1) }
}

/// All modules of a text, in its order.
pub fn modules(verilog: &str) -> Vec<Module<'_>> {
    const KEYWORD: &str = "module ";
    const END: &str = "\nendmodule";
    let mut modules = vec![];
    let mut at = 0;
    while let Some(rest) = verilog.get(at..) {
        let start = match rest.find("\nmodule ") {
            _ if at == 0 && rest.starts_with(KEYWORD) => 0,
            Some(before) => at + before + 1,
            None => break,
        };
        let text = &verilog[start..];
        let text = &text[..text.find(END).map_or(text.len(), |end| end + END.len())];
        let name = text[KEYWORD.len()..].split(['(', ' ', ';', '\n']).next().unwrap_or_default();
        modules.push(Module { name, text, start });
        at = start + text.len();
    }
    modules
}

/// The module of a name, if the text has it.
pub fn module<'a>(verilog: &'a str, name: &str) -> Option<Module<'a>> {
    modules(verilog).into_iter().find(|module| module.name == name)
}

/// The ports of a module, in the order of their declaration; none if the text does not have it.
pub fn ports<'a>(verilog: &'a str, name: &str) -> Vec<Port<'a>> {
    module(verilog, name).map_or(vec![], |module| module.ports())
}

impl<'a> Module<'a> {
    /// Its ports, in the order of their declaration.
    pub fn ports(&self) -> Vec<Port<'a>> {
        self.text.lines().filter_map(port).collect()
    }

    /// The modules that it instantiates, among `all`.
    pub fn children<'b>(&self, all: &'b [Module<'a>]) -> Vec<&'b Module<'a>> {
        let first_words: Vec<&str> =
            self.text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        all.iter().filter(|module| first_words.contains(&module.name)).collect()
    }
}

/// The port that a line declares, such as `input wire  [63:0] ptp_ts;`.
pub fn port(line: &str) -> Option<Port<'_>> {
    let mut words = line.trim().strip_suffix(';')?.split_whitespace();
    let is_input = match (words.next()?, words.next()?) {
        ("input", "wire") => true,
        ("output", "wire" | "reg") => false,
        _ => return None,
    };
    let (first, second) = (words.next()?, words.next());
    let (width, name) = match first.strip_prefix('[').and_then(|range| range.strip_suffix(":0]")) {
        Some(top) => (top.parse::<usize>().ok()? + 1, second?),
        None => (1, first),
    };
    Some(Port { name, width, is_input })
}
