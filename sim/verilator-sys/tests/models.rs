//! Real models, built by the installed Verilator and the system's C++ compiler.
//!
//! Test plan: ports of every storage class and of the widths 40, 72 and 320 against arithmetic in Rust; masking to the
//! width; registers, clock edges and a memory; several instances and models; names with `$`; random initial values;
//! waveforms; what the cache saves; every error that a user of the crate can cause.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use verilator_sys::{
    Direction, Effort, Error, Instance, LintOptions, Model, Options, Port, Source, Toolchain, Trace, lint,
};

fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| Toolchain::find().unwrap_or_else(|error| panic!("{error}")))
}

fn build(top: &str, verilog: &str) -> Model {
    Model::build(toolchain(), &Source { top, verilog }, Options::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn tick(instance: &mut Instance, clock: Port) {
    for level in [0, 1] {
        instance.set(clock, level);
        instance.eval().unwrap();
    }
}

/// A fixed sequence of well mixed numbers (splitmix64).
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Widths at the limits of how Verilator stores a value, and between them.
const WIDTHS: [u32; 13] = [1, 7, 8, 9, 12, 16, 17, 31, 32, 33, 40, 63, 64];

/// For each width, an adder `y = a + 1`.
fn adders() -> String {
    let ports = WIDTHS.map(|width| format!("input [{0}:0] a{width}, output [{0}:0] y{width}", width - 1));
    let sums = WIDTHS.map(|width| format!("  assign y{width} = a{width} + {width}'d1;\n"));
    format!("module adders(\n  {});\n{}endmodule\n", ports.join(",\n  "), sums.concat())
}

#[test]
fn narrow_ports_hold_values_modulo_their_width() {
    let model = build("adders", &adders());
    let mut instance = model.instantiate().unwrap();
    let mut next = numbers(1);
    for width in WIDTHS {
        let a = instance.port(&format!("a{width}")).unwrap();
        let y = instance.port(&format!("y{width}")).unwrap();
        assert_eq!((a.width(), a.direction(), y.direction()), (width, Direction::Input, Direction::Output));
        for _ in 0..200 {
            let value = next();
            instance.set(a, value);
            instance.eval().unwrap();
            let mask = u64::MAX >> (64 - width);
            assert_eq!(instance.get(a), value & mask);
            assert_eq!(instance.get(y), (value & mask).wrapping_add(1) & mask, "{width} bits of {value:x}");
        }
    }
}

#[test]
fn wide_ports_hold_all_their_words() {
    let verilog = "module wide(input [71:0] a, input [319:0] b, output [71:0] na, output [319:0] rb, output [31:0] top);
        assign na = ~a; assign rb = {b[0], b[319:1]}; assign top = b[319:288];
        endmodule";
    let mut instance = build("wide", verilog).instantiate().unwrap();
    let [a, b, na, rb, top] = ["a", "b", "na", "rb", "top"].map(|name| instance.port(name).unwrap());
    assert_eq!((a.width(), a.words(), b.width(), b.words()), (72, 3, 320, 10));
    let mut next = numbers(2);
    for _ in 0..200 {
        let words: [u32; 10] = std::array::from_fn(|_| next() as u32);
        // More bits than the port has: the rest must not reach the model.
        instance.set_wide(a, &words);
        instance.set_wide(b, &words);
        instance.eval().unwrap();
        let (mut got_a, mut got_na, mut got_rb) = ([0xffff_ffff; 4], [0; 3], [0; 10]);
        instance.get_wide(a, &mut got_a);
        instance.get_wide(na, &mut got_na);
        instance.get_wide(rb, &mut got_rb);
        assert_eq!(got_a, [words[0], words[1], words[2] & 0xff, 0]);
        assert_eq!(got_na, [!words[0], !words[1], !words[2] & 0xff]);
        let rotated: [u32; 10] = std::array::from_fn(|i| words[i] >> 1 | words[(i + 1) % 10] << 31);
        assert_eq!(got_rb, rotated);
        assert_eq!(instance.get(top), u64::from(words[9]));
        // The low part, alone, clears the rest.
        assert_eq!(instance.get(a), u64::from(words[0]) | u64::from(words[1]) << 32);
        instance.set(a, 0x1_2345_6789);
        instance.get_wide(a, &mut got_a);
        assert_eq!(got_a, [0x2345_6789, 1, 0, 0]);
        // Missing words count as 0.
        instance.set_wide(b, &[7]);
        instance.get_wide(b, &mut got_rb);
        assert_eq!(got_rb, [7, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn word_access_works_on_narrow_ports() {
    let mut instance = build("adders", &adders()).instantiate().unwrap();
    let [a7, a40] = ["a7", "a40"].map(|name| instance.port(name).unwrap());
    instance.set_wide(a7, &[0xff, 0xff]);
    instance.set_wide(a40, &[0x1234_5678, 0xffff_ffff, 9]);
    let mut words = [5; 3];
    instance.get_wide(a7, &mut words);
    assert_eq!(words, [0x7f, 0, 0]);
    instance.get_wide(a40, &mut words);
    assert_eq!(words, [0x1234_5678, 0xff, 0]);
    instance.get_wide(a40, &mut []);
}

const COUNTER: &str = "module counter(input clk, input rst, output reg [39:0] \\s$count );
    always @(posedge clk) if (rst) \\s$count <= 40'hff_ffff_fffe; else \\s$count <= \\s$count + 40'd1;
    endmodule";

#[test]
fn a_counter_counts_clock_edges_and_instances_are_independent() {
    let model = build("counter", COUNTER);
    let [clk, rst, count] = ["clk", "rst", "s$count"].map(|name| model.port(name).unwrap());
    let mut instances = [model.instantiate().unwrap(), model.instantiate().unwrap()];
    for (index, instance) in instances.iter_mut().enumerate() {
        instance.set(rst, 1);
        tick(instance, clk);
        assert_eq!(instance.get(count), 0xff_ffff_fffe);
        instance.set(rst, 0);
        for _ in 0..5 + index {
            tick(instance, clk);
        }
        // No edge, no step.
        instance.eval().unwrap();
    }
    assert_eq!(instances.each_ref().map(|instance| instance.get(count)), [3, 4]);
}

#[test]
fn threads_can_share_a_model() {
    let model = build("counter", COUNTER);
    let [clk, rst, count] = ["clk", "rst", "s$count"].map(|name| model.port(name).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let model = model.clone();
            scope.spawn(move || {
                for round in 0..20 {
                    let mut instance = model.instantiate().unwrap();
                    instance.set(rst, 1);
                    tick(&mut instance, clk);
                    instance.set(rst, 0);
                    (0..thread * 100 + round + 2).for_each(|_| tick(&mut instance, clk));
                    assert_eq!(instance.get(count), thread * 100 + round);
                }
            });
        }
    });
}

const RAM: &str = "module ram(input clk, input we, input [7:0] wa, input [7:0] ra, input [71:0] wd,
    output reg [71:0] rd);
    reg [71:0] cells [0:255];
    always @(posedge clk) begin if (we) cells[wa] <= wd; rd <= cells[ra]; end
    endmodule";

#[test]
fn a_memory_returns_what_was_written() {
    let mut instance = build("ram", RAM).instantiate().unwrap();
    let [clk, we, wa, ra, wd, rd] =
        ["clk", "we", "wa", "ra", "wd", "rd"].map(|name| instance.port(name).unwrap());
    let mut truth = vec![[0_u32; 3]; 256];
    let mut next = numbers(3);
    for _ in 0..5000 {
        let draw = next();
        let (write, write_at, read_at) = (draw & 1, (draw >> 8) & 0xff, (draw >> 16) & 0xff);
        let word = [next() as u32, next() as u32, next() as u32 & 0xff];
        instance.set(we, write);
        instance.set(wa, write_at);
        instance.set(ra, read_at);
        instance.set_wide(wd, &word);
        tick(&mut instance, clk);
        let mut read = [0; 3];
        instance.get_wide(rd, &mut read);
        // Reading while writing the same cell gives the old contents.
        assert_eq!(read, truth[read_at as usize]);
        if write == 1 {
            truth[write_at as usize] = word;
        }
    }
}

#[test]
fn initial_values_are_zero_or_random_by_seed() {
    let model = build("ram", RAM);
    let [clk, ra, rd] = ["clk", "ra", "rd"].map(|name| model.port(name).unwrap());
    let contents = |mut instance: Instance| -> Vec<[u32; 3]> {
        let read = |address| {
            instance.set(ra, address);
            tick(&mut instance, clk);
            let mut word = [0; 3];
            instance.get_wide(rd, &mut word);
            word
        };
        (0..256).map(read).collect()
    };
    assert!(contents(model.instantiate().unwrap()).iter().all(|word| *word == [0; 3]));
    let random = |seed| contents(model.instantiate_random(seed).unwrap());
    assert!(random(1).iter().flatten().filter(|word| **word != 0).count() > 500);
    assert_eq!(random(1), random(1));
    assert_eq!(random(0), random(0));
    assert_ne!(random(1), random(2));
}

#[test]
fn all_ports_are_listed() {
    let model = build("counter", COUNTER);
    let mut ports: Vec<_> = model
        .ports()
        .iter()
        .map(|named| (named.name.as_str(), named.port.width(), named.port.direction()))
        .collect();
    ports.sort_by_key(|port| port.0);
    let expected =
        [("clk", 1, Direction::Input), ("rst", 1, Direction::Input), ("s$count", 40, Direction::Output)];
    assert_eq!(ports, expected);
    assert_eq!(model.top(), "counter");
}

#[test]
fn an_unknown_port_is_an_error_that_lists_the_others() {
    let error = build("counter", COUNTER).port("clock").unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::UnknownPort { .. }));
    assert!(text.contains("`clock`") && text.contains("clk") && text.contains("s$count"), "{text}");
}

#[test]
#[should_panic(expected = "a port of another model was used on an instance of `counter`")]
fn a_port_of_another_model_is_rejected() {
    let foreign = build("adders", &adders()).port("a64").unwrap();
    build("counter", COUNTER).instantiate().unwrap().set(foreign, 0);
}

#[test]
fn faulty_verilog_is_an_error_with_the_message_of_verilator() {
    let verilog = "module broken(input a, output y);\n  assign y = a + ;\nendmodule";
    let error =
        Model::build(toolchain(), &Source { top: "broken", verilog }, Options::default()).unwrap_err();
    assert!(matches!(error, Error::Verilator { .. }));
    let text = error.to_string();
    assert!(text.contains("broken.v:2:") && text.contains("syntax error"), "{text}");
    let missing =
        Model::build(toolchain(), &Source { top: "absent", verilog: &adders() }, Options::default());
    assert!(missing.unwrap_err().to_string().contains("absent"));
}

#[test]
fn an_array_port_and_a_wrong_name_are_errors() {
    let verilog = "module arrays(input [7:0] a [3:0], output y); assign y = a[0][0]; endmodule";
    let error =
        Model::build(toolchain(), &Source { top: "arrays", verilog }, Options::default()).unwrap_err();
    assert!(matches!(error, Error::Translation { .. }), "{error}");
    for top in ["", "7up", "a b", "../x"] {
        let error = Model::build(toolchain(), &Source { top, verilog }, Options::default()).unwrap_err();
        assert!(matches!(error, Error::TopName(_)), "{error}");
    }
}

#[test]
fn a_design_that_stops_returns_an_error_and_stays_stopped() {
    let verilog = "module stopper(input clk, input [1:0] how, output reg [7:0] n);
        always @(posedge clk) begin
            n <= n + 8'd1;
            if (how == 1) $finish; else if (how == 2) $fatal(1, \"enough\"); else if (how == 3) $stop;
        end
        endmodule";
    let model = build("stopper", verilog);
    let [clk, how, n] = ["clk", "how", "n"].map(|name| model.port(name).unwrap());
    for reason in 1..=3 {
        let mut instance = model.instantiate().unwrap();
        tick(&mut instance, clk);
        instance.set(how, reason);
        instance.set(clk, 0);
        instance.eval().unwrap();
        instance.set(clk, 1);
        let error = instance.eval().unwrap_err();
        assert!(matches!(error, Error::Simulation { .. }));
        assert!(error.to_string().contains("stopper.v:4"), "{error}");
        // Taking the reason away does not help.
        instance.set(how, 0);
        instance.set(clk, 0);
        assert_eq!(instance.eval().unwrap_err().to_string(), error.to_string());
    }
    // Others go on.
    let mut instance = model.instantiate().unwrap();
    (0..3).for_each(|_| tick(&mut instance, clk));
    assert_eq!(instance.get(n), 3);
}

#[test]
fn a_loop_that_does_not_settle_is_an_error() {
    let verilog = "module ring(input en, output y); assign y = en & ~y; endmodule";
    let model = build("ring", verilog);
    let en = model.port("en").unwrap();
    let mut instance = model.instantiate().unwrap();
    instance.eval().unwrap();
    instance.set(en, 1);
    assert!(instance.eval().unwrap_err().to_string().contains("converge"));
}

#[test]
fn a_waveform_holds_the_changes_of_the_signals() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source { top: "counter", verilog: COUNTER };
    let model =
        Model::build(toolchain(), &source, Options { trace: Trace::Vcd, ..Options::default() }).unwrap();
    let clk = model.port("clk").unwrap();
    let mut instance = model.instantiate().unwrap();
    for name in ["first.vcd", "second.vcd"] {
        let path = folder.path().join(name);
        instance.trace_open(&path).unwrap();
        for time in 0..8 {
            instance.set(clk, time & 1);
            instance.eval().unwrap();
            instance.trace_dump(time * 1551).unwrap();
        }
        assert!(matches!(instance.trace_dump(7 * 1551), Err(Error::Trace { .. })));
        instance.trace_close().unwrap();
        instance.trace_dump(0).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("$timescale") && text.contains("1ps"), "{text}");
        assert!(text.contains("s$count") && text.contains("#10857\n"), "{text}");
    }
    let error = instance.trace_open(&folder.path().join("absent/x.vcd")).unwrap_err();
    assert!(matches!(error, Error::Trace { .. }), "{error}");
    instance.eval().unwrap();

    let mut untraced = build("counter", COUNTER).instantiate().unwrap();
    let error = untraced.trace_open(&folder.path().join("x.vcd")).unwrap_err();
    assert!(error.to_string().contains("built without a trace format"), "{error}");
    untraced.trace_dump(1).unwrap();
}

/// A toolchain with an empty cache in `folder` whose compiler writes a line to the returned file for each call.
fn counting_toolchain(folder: &Path) -> (Toolchain, impl Fn() -> usize) {
    let (script, log) = (folder.join("compiler"), folder.join("calls"));
    let text = format!(
        "#!/bin/sh\ncase $1 in --version) ;; *) echo call >> '{}';; esac\nexec c++ \"$@\"\n",
        log.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let tools = toolchain().cache().parent().unwrap();
    let counting = Toolchain::at(tools, script.to_str().unwrap()).unwrap().with_cache(&folder.join("cache"));
    (counting, move || fs::read_to_string(&log).map_or(0, |text| text.lines().count()))
}

#[test]
fn the_cache_saves_the_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let (counting, calls) = counting_toolchain(folder.path());
    let source = Source { top: "counter", verilog: COUNTER };
    // Two at once build once.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| Model::build(&counting, &source, Options::default()).unwrap());
        }
    });
    // Two parts of Verilator's runtime, its header at two levels, two parts of the model, one link.
    assert_eq!(calls(), 7);
    let model = Model::build(&counting, &source, Options::default()).unwrap();
    assert_eq!(calls(), 7);
    assert!(model.path().starts_with(folder.path()));
    // Other text, other model; the runtime is not compiled again.
    let changed = COUNTER.replace("40'd1", "40'd2");
    let other =
        Model::build(&counting, &Source { top: "counter", verilog: &changed }, Options::default()).unwrap();
    assert_eq!(calls(), 10);
    assert_ne!(model.path(), other.path());
    // Built in less time it is another, which has the runtime in common, and the header at one level.
    let options = Options { effort: Effort::Build, ..Options::default() };
    let quick = Model::build(&counting, &source, options).unwrap();
    assert_eq!(calls(), 14);
    assert_ne!(model.path(), quick.path());
    let clk = other.port("clk").unwrap();
    let mut instance = other.instantiate().unwrap();
    (0..3).for_each(|_| tick(&mut instance, clk));
    assert_eq!(instance.get(other.port("s$count").unwrap()), 6);
    // Nothing half done is left behind.
    let hidden = fs::read_dir(counting.cache()).unwrap().flatten();
    assert_eq!(hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count(), 0);
}

#[test]
fn missing_tools_are_errors_that_name_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let error = Toolchain::at(folder.path(), "c++").unwrap_err().to_string();
    assert!(error.contains("cargo xtask tools"), "{error}");
    let tools = toolchain().cache().parent().unwrap();
    let error = Toolchain::at(tools, "no-such-compiler").unwrap_err().to_string();
    assert!(error.contains("no-such-compiler") && error.contains("apt-get install g++"), "{error}");
    let failing = Toolchain::at(tools, "c++ -fno-such-option").unwrap_or_else(|error| panic!("{error}"));
    let failing = failing.with_cache(&folder.path().join("cache"));
    let error = Model::build(&failing, &Source { top: "adders", verilog: &adders() }, Options::default())
        .unwrap_err();
    assert!(
        matches!(error, Error::Compiler { .. }) && error.to_string().contains("no-such-option"),
        "{error}"
    );
}

#[test]
fn lint_finds_a_planted_width_mismatch_unless_waived() {
    let verilog = "module planted(input [7:0] a, output [3:0] y);\n  assign y = a;\nendmodule\n";
    let source = Source { top: "planted", verilog };
    let rules = |options| -> Vec<(String, u32)> {
        let warnings = lint(toolchain(), &source, options).unwrap();
        warnings.into_iter().map(|warning| (warning.rule, warning.line)).collect()
    };
    let found = rules(LintOptions::default());
    assert!(found.contains(&("WIDTHTRUNC".to_string(), 2)), "{found:?}");
    let waivers = "lint_off -rule WIDTHTRUNC -file \"*planted.v\" -lines 2\nlint_off -rule UNUSEDSIGNAL -file \"*\" -match \"*'a'*\"";
    assert_eq!(rules(LintOptions { waivers, arguments: &[] }), []);
    let without = rules(LintOptions { waivers: "", arguments: &["-Wno-WIDTHTRUNC"] });
    assert!(without.iter().all(|(rule, _)| rule != "WIDTHTRUNC"), "{without:?}");

    let clean = Source { top: "adders", verilog: &adders() };
    assert_eq!(lint(toolchain(), &clean, LintOptions::default()).unwrap(), []);
    let broken = Source { top: "planted", verilog: "module planted(; endmodule" };
    assert!(matches!(lint(toolchain(), &broken, LintOptions::default()), Err(Error::Verilator { .. })));
}

/// Rights can be given by root alone, and the copy's folder may not allow any.
#[test]
fn a_program_with_rights_of_its_own_loads_nothing() {
    const NAME: &str = "a_program_with_rights_of_its_own_loads_nothing";
    const COPY: &str = "DELTALINE_TEST_COPY";
    if env::var_os(COPY).is_some() {
        let source = Source { top: "top", verilog: "module top; endmodule" };
        let built = Model::build(toolchain(), &source, Options::default());
        assert!(matches!(built, Err(Error::Privileged)), "{built:?}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("copy");
    fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    let given = Command::new("setcap").arg("cap_net_raw+ep").arg(&copy).output();
    if !given.is_ok_and(|given| given.status.success()) {
        return;
    }
    let mut run = Command::new("setpriv");
    run.args(["--reuid=65534", "--clear-groups"]).arg(&copy).args(["--exact", NAME]).env(COPY, "yes");
    let result = run.output().unwrap();
    assert!(result.status.success(), "{result:?}");
}
