//! Ports: their handles, and how they are found in the header that Verilator generates.

/// Which way a port carries data, seen from the model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// Written by the test bench.
    Input,
    /// Written by the model.
    Output,
    /// Both.
    InOut,
}

/// A resolved port of a [`Model`](crate::Model): valid for all instances of that model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Port {
    /// Distance in bytes from the instance's root object.
    pub(crate) offset: u32,
    pub(crate) width: u32,
    /// Identifies the loaded model, so that a handle is never used on another one.
    pub(crate) model: u32,
    pub(crate) direction: Direction,
    pub(crate) storage: Storage,
}

impl Port {
    /// Width in bits, at least 1.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width
    }

    /// Width in 32-bit words, rounded up: what [`get_wide`](crate::Instance::get_wide) fills.
    #[must_use]
    pub fn words(self) -> usize {
        self.width.div_ceil(32) as usize
    }

    /// Which way the port carries data.
    #[must_use]
    pub fn direction(self) -> Direction {
        self.direction
    }
}

/// A port with its name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamedPort {
    /// The name in the Verilog text.
    pub name: String,
    /// The handle.
    pub port: Port,
}

/// How Verilator stores a value: the smallest C++ type that holds it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Storage {
    U8,
    U16,
    U32,
    U64,
    /// An array of 32-bit words, the least significant first.
    Words,
}

impl Storage {
    /// The type used for `width` bits.
    pub(crate) fn of(width: u32) -> Self {
        match width {
            0..=8 => Storage::U8,
            9..=16 => Storage::U16,
            17..=32 => Storage::U32,
            33..=64 => Storage::U64,
            _ => Storage::Words,
        }
    }

    /// Size in bytes of a port of `width` bits.
    pub(crate) fn bytes(self, width: u32) -> u32 {
        match self {
            Storage::U8 => 1,
            Storage::U16 => 2,
            Storage::U32 => 4,
            Storage::U64 => 8,
            Storage::Words => width.div_ceil(32) * 4,
        }
    }
}

/// One port as the generated header declares it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Declaration {
    /// The name of the C++ member.
    pub(crate) member: String,
    pub(crate) direction: Direction,
    pub(crate) width: u32,
}

/// Finds the port declarations in the text of the model's header, such as `VL_OUTW(&q,319,0,10);`: the lines from
/// `// PORTS` to the next empty line.
///
/// # Errors
///
/// The line of a declaration that has another form, which is that of a port of type `real` or of an unpacked array.
pub(crate) fn parse_header(header: &str) -> Result<Vec<Declaration>, String> {
    let lines = header
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "// PORTS")
        .take_while(|line| !line.is_empty());
    lines
        .filter(|line| !line.starts_with("//"))
        .map(|line| {
            parse_declaration(line).ok_or_else(|| format!("the port declaration `{line}`, not a vector"))
        })
        .collect()
}

fn parse_declaration(line: &str) -> Option<Declaration> {
    let (keyword, rest) = line.split_once('(')?;
    let kind = keyword.strip_prefix("VL_")?.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'W');
    let direction = match kind {
        "IN" => Direction::Input,
        "OUT" => Direction::Output,
        "INOUT" => Direction::InOut,
        _ => return None,
    };
    let mut fields = rest.strip_suffix(");")?.split(',');
    let member = fields.next()?.strip_prefix('&')?;
    let high: u32 = fields.next()?.parse().ok()?;
    let low: u32 = fields.next()?.parse().ok()?;
    let identifier = !member.is_empty() && member.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let width = high.checked_sub(low)?.checked_add(1)?;
    identifier.then(|| Declaration { member: member.to_string(), direction, width })
}

/// The Verilog name of a C++ member: undoes Verilator's encoding of characters that C++ does not allow (`__024` is
/// `$`) and of names that are words of C++ (`__SYM__new`).
pub(crate) fn verilog_name(member: &str) -> String {
    let mut name = String::new();
    let mut rest = member.strip_prefix("__SYM__").unwrap_or(member);
    while let Some(at) = rest.find("__0") {
        let code = rest.get(at + 3..at + 5).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (kept, after) = match code {
            Some(code) => {
                name.push_str(&rest[..at]);
                name.push(char::from(code));
                ("", at + 5)
            }
            None => (&rest[..at + 3], at + 3),
        };
        name.push_str(kept);
        rest = &rest[after..];
    }
    name + rest
}

#[cfg(test)]
mod tests {
    //! Test plan: the macros of all storage classes and directions as Verilator writes them; a form that is not
    //! supported is an error, not a missing port; names with encoded characters.

    use super::*;

    #[test]
    fn declarations_of_all_kinds_are_read() {
        let header = "#include \"verilated.h\"\n  public:\n\n    // PORTS\n    // The application\n    VL_IN8(&clk,0,0);
            VL_INOUT16(&z,11,3);\n    VL_OUT(&d,31,0);\n    VL_OUT64(&s__024x,39,0);\n    VL_OUTW(&q,319,0,10);

            // CELLS\n    Vmodel* p;\n";
        let ports = parse_header(header).unwrap();
        let expected = [
            ("clk", Direction::Input, 1),
            ("z", Direction::InOut, 9),
            ("d", Direction::Output, 32),
            ("s__024x", Direction::Output, 40),
            ("q", Direction::Output, 320),
        ];
        let found: Vec<_> = ports.iter().map(|p| (p.member.as_str(), p.direction, p.width)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_array_port_is_an_error() {
        let header = "// PORTS\nVL_IN8(&clk,0,0);\nVlUnpacked<CData/*7:0*/, 4> &a;\n\n";
        assert!(parse_header(header).unwrap_err().contains("VlUnpacked<CData/*7:0*/, 4> &a"));
    }

    #[test]
    fn encoded_names_are_decoded() {
        assert_eq!(verilog_name("s__024axis__024tdata"), "s$axis$tdata");
        assert_eq!(verilog_name("__SYM__new"), "new");
        assert_eq!(verilog_name("a__0"), "a__0");
        assert_eq!(verilog_name("a__0zz__02D"), "a__0zz-");
        assert_eq!(verilog_name("plain_name"), "plain_name");
    }
}
