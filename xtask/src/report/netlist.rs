//! What synthesis is given of the emitted Verilog: a part of it, a wrapper for placement, RAM leaves as black boxes.
//!
//! A module is a flip-flop or a RAM leaf when it has the ports of one.
//!
//! # The wrapper
//!
//! A core has more ports than a device has pins. `wrapped` has three pins: a clock, an input that feeds a shift
//! register as long as all inputs of the core together, and an output to which the outputs are folded:
//!
//! ```text
//! serial_in -> shift register -> core -> register -> xor chain with a register behind each xor -> serial_out
//! ```
//!
//! So every path is from register to register, none of the core is optimised away, and the wrapper's own paths
//! hold one xor. The core keeps its hierarchy: cells of the core are named `core.*`, and are counted apart.
//!
//! Test plan: flip-flops and RAM leaves are known; the wrapper connects every port once and its registers are as
//! wide as the ports; black boxes keep ports and lose content.

use crate::Failure;
use deltaline_hdl::emit::reader::{self, Module, modules};
use std::fmt::Write as _;

/// Name of the wrapper's module.
pub(crate) const WRAPPER: &str = "wrapped";

/// Ports of a RAM leaf.
const RAM: [&str; 6] = ["clk", "read_address", "read_data", "write_enable", "write_address", "write_data"];

/// Whether a module is a register with reset, and nothing else.
pub(crate) fn is_flop(module: &Module) -> bool {
    module.ports().iter().map(|port| port.name).eq(["clock", "rst", "d", "q"])
}

/// Whether a module is a memory, which an ASIC has as a macro.
pub(crate) fn is_ram(module: &Module) -> bool {
    module.ports().iter().map(|port| port.name).eq(RAM)
}

/// The module called `top`.
pub(crate) fn find<'a, 'b>(modules: &'b [Module<'a>], top: &str) -> Result<&'b Module<'a>, Failure> {
    let found = modules.iter().find(|module| module.name == top);
    Ok(found.ok_or_else(|| format!("the Verilog has no module '{top}': name its top module"))?)
}

/// The part of a file that `top` needs.
pub(crate) fn part(verilog: &str, top: &str) -> Result<String, Failure> {
    let modules = modules(verilog);
    let mut needed = vec![find(&modules, top)?.name];
    let mut done = 0;
    while let Some(name) = needed.get(done) {
        for child in find(&modules, name)?.children(&modules) {
            if !needed.contains(&child.name) {
                needed.push(child.name);
            }
        }
        done += 1;
    }
    let kept = modules.iter().filter(|module| needed.contains(&module.name));
    Ok(kept.fold(String::new(), |text, module| text + "\n" + module.text + "\n"))
}

/// The Verilog of the wrapper around `top`.
pub(crate) fn wrapper(verilog: &str, top: &str) -> Result<String, Failure> {
    let modules = modules(verilog);
    let ports = find(&modules, top)?.ports();
    if !ports.iter().any(|port| port.name == "clk") {
        return Err(format!("module '{top}' has no port 'clk' for the wrapper to clock").into());
    }
    let (mut connections, mut inputs, mut outputs) = (String::new(), 0, 0);
    for port in ports.iter().filter(|port| port.name != "clk") {
        let (bus, used) = if port.is_input { ("feed", &mut inputs) } else { ("out", &mut outputs) };
        let _ = write!(connections, ", .{}({bus}[{}:{used}])", port.name, *used + port.width - 1);
        *used += port.width;
    }
    Ok(format!(
        "module {WRAPPER}(input clk, input serial_in, output reg serial_out);
reg [{feed}:0] feed;
wire [{fold}:0] out;
reg [{fold}:0] held, folded;
always @(posedge clk) begin
    feed <= {{feed, serial_in}};
    held <= out;
    folded <= (folded >> 1) ^ held;
    serial_out <= folded[0];
end
(* keep_hierarchy *) {top} core(.clk(clk){connections});
endmodule
",
        feed = inputs - 1,
        fold = outputs - 1,
    ))
}

/// The Verilog with RAM leaves reduced to their ports.
pub(crate) fn without_rams(verilog: &str) -> String {
    let mut text = verilog.to_string();
    for ram in modules(verilog).iter().filter(|module| is_ram(module)) {
        let mut lines = ram.text.lines();
        let mut hollow = String::from("(* blackbox *)\n");
        hollow += lines.next().unwrap_or_default();
        for line in lines.filter(|line| reader::port(line).is_some()) {
            hollow += "\n";
            hollow += line;
        }
        text = text.replace(ram.text, &(hollow + "\nendmodule"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// header
module tap(clk,data,done);
    // Module arguments
    input wire  clk;
    input wire  [3:0] data;
    output reg  done;
    tap_ram_0 ram_0(
        .clk(clk)
    );
    tap_kept kept(
        .d(done)
    );
endmodule // tap

module tap_ram_0(clk,read_address,read_data,write_enable,write_address,write_data);
    input wire  clk;
    input wire  [2:0] read_address;
    output reg  [35:0] read_data;
    input wire  write_enable;
    input wire  [2:0] write_address;
    input wire  [35:0] write_data;
    reg [35:0] words [0:7];
endmodule // tap_ram_0

module tap_kept(clock,rst,d,q);
    input wire  clock;
    input wire  rst;
    input wire  d;
    output reg  q;
endmodule // tap_kept
";

    #[test]
    fn kinds_of_modules() {
        let modules = modules(TEXT);
        assert_eq!(modules.iter().map(is_ram).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(modules.iter().map(is_flop).collect::<Vec<_>>(), [false, false, true]);
        assert!(find(&modules, "tub").is_err());
    }

    #[test]
    fn the_wrapper_connects_every_port() {
        let wrapper = wrapper(TEXT, "tap").unwrap();
        assert!(wrapper.contains("tap core(.clk(clk), .data(feed[3:0]), .done(out[0:0]));"), "{wrapper}");
        assert!(wrapper.contains("reg [3:0] feed;") && wrapper.contains("reg [0:0] held, folded;"));
        assert!(super::wrapper(TEXT, "tap_kept").unwrap_err().to_string().contains("no port 'clk'"));
    }

    #[test]
    fn a_part_holds_what_it_needs() {
        let names =
            |part: String| modules(&part).iter().map(|module| module.name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(part(TEXT, "tap").unwrap()).len(), 3);
        assert_eq!(names(part(TEXT, "tap_kept").unwrap()), ["tap_kept"]);
    }

    #[test]
    fn rams_become_hollow() {
        let hollow = without_rams(TEXT);
        assert!(hollow.contains("(* blackbox *)\nmodule tap_ram_0(clk,read_address,"));
        assert!(hollow.contains("    output reg  [35:0] read_data;"));
        assert!(!hollow.contains("words") && hollow.contains("tap_kept kept("));
        assert_eq!(modules(&hollow).len(), 3);
    }
}
