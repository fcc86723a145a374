//! Modules, ports and instances, read from a text that has all forms.

use deltaline_hdl::emit::reader::{Port, modules, ports};

const TEXT: &str = "module tap(clk,data,done);
    // Module arguments
    input wire  clk;
    input wire  [3:0] data;
    output reg  done;
    tap_part part(
        .clk(clk)
    );
endmodule // tap

module tap_part #(parameter WIDTH = 1) (input wire clk);
endmodule
module cut(q);
    output wire  [0:0] q;
";

#[test]
fn modules_ports_and_instances() {
    let found = modules(TEXT);
    let names: Vec<&str> = found.iter().map(|module| module.name).collect();
    assert_eq!(names, ["tap", "tap_part", "cut"]);
    assert!(found.iter().all(|module| TEXT[module.start..].starts_with(module.text)));
    assert!(found[0].text.ends_with("\nendmodule"));
    let children: Vec<&str> = found[0].children(&found).iter().map(|child| child.name).collect();
    assert_eq!(children, ["tap_part"]);
    let of_tap: Vec<(&str, &str, usize)> =
        found[0].ports().iter().map(|port| (port.direction(), port.name, port.width)).collect();
    assert_eq!(of_tap, [("input", "clk", 1), ("input", "data", 4), ("output", "done", 1)]);
    assert_eq!(found[2].ports(), [Port { name: "q", width: 1, is_input: false }]);
    assert_eq!(modules("// module a\n"), []);
    assert_eq!(ports(TEXT, "ta"), []);
}
