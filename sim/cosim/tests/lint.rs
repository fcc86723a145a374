//! Verilator -Wall finds nothing in the emitted Verilog but what `hdl/lint/verilator.vlt` explains, and every
//! waiver there is needed.
#![allow(clippy::unwrap_used)]

use deltaline_design::{DEFAULT, Design};
use deltaline_hdl::emit::package::package;
use verilator_sys::{LintOptions, Source, Toolchain, Warning, lint};

fn warnings(verilog: &str, waivers: &str) -> Vec<Warning> {
    let source = Source { top: "deltaline", verilog };
    lint(&Toolchain::find().unwrap(), &source, LintOptions { waivers, arguments: &[] }).unwrap()
}

/// The synopses that no shipped design has: their name, and prefix lengths.
const SYNOPSES: [(&str, &str); 6] = [
    ("finecomb", "[1, 6]"),
    ("identity", "[0]"),
    ("lda-identity", "[0]"),
    ("lds", "[0]"),
    ("colate", "[0]"),
    ("slices", "[6]"),
];
/// What no shipped design has, and the table beside whose heading it is said.
const OPTIONS: [(&str, &str); 3] =
    [("authentication", "[stream]"), ("references", "[stream]"), ("mixing", "[measurement]")];

/// The default design with another synopsis.
fn synopsis((name, prefixes): (&str, &str)) -> Design {
    let text = include_str!("../../../hdl/configurations/10g.toml").replace("[1, 6]", prefixes);
    let text = text.replace("synopsis = \"lda\"", &format!("synopsis = \"{name}\""));
    Design::parse("tap.toml", name, &text).unwrap()
}

/// A design with tags, reference packets or a mixing.
fn with((option, table): (&str, &str), text: &str) -> Design {
    let lines = text.lines().filter(|line| !line.starts_with(option));
    let mut lines: Vec<&str> = lines.collect();
    let line = format!("{option} = true");
    let place = lines.iter().position(|line| *line == table).unwrap();
    lines.insert(place + usize::from(option == "mixing"), &line);
    Design::parse("tap.toml", option, &lines.join("\n")).unwrap()
}

#[test]
fn nothing_but_what_is_waived_and_no_waiver_too_many() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    let mut not_waived = vec![];
    // A file that holds all modules under one name other than theirs is what the last rule is about.
    let is_searched = |line: &&str| line.starts_with("lint_off") && !line.contains("DECLFILENAME");
    let mut unneeded: Vec<&str> = waivers.lines().filter(is_searched).collect();
    let texts = [
        include_str!("../../../hdl/configurations/10g.toml"),
        include_str!("../../../hdl/configurations/10g-inline.toml"),
    ];
    let wide = [
        include_str!("../../../hdl/configurations/40g.toml"),
        include_str!("../../../hdl/configurations/100g.toml"),
    ];
    let options = OPTIONS.into_iter().flat_map(|option| texts.map(|text| with(option, text)));
    let options = options.chain(wide.map(|text| with(("references", "[stream]"), text)));
    for design in Design::all().unwrap().into_iter().chain(SYNOPSES.map(synopsis)).chain(options) {
        let verilog = deltaline_hdl::emit::design::emit(&design, "deltaline").unwrap();
        let left = warnings(&verilog, waivers);
        if !left.is_empty() {
            not_waived.push((design.name().to_string(), left));
        }
        if !unneeded.is_empty() {
            let found = warnings(&verilog, "");
            unneeded.retain(|waiver| !found.iter().any(|warning| covers(waiver, warning)));
        }
    }
    assert!(not_waived.is_empty(), "{not_waived:#?}");
    assert!(unneeded.is_empty(), "{unneeded:#?}");
}

/// Whether the waiver is for this warning: it names a rule, and what the message holds between its asterisks.
fn covers(waiver: &str, warning: &Warning) -> bool {
    let message = waiver.split_once("-match \"*").map_or("", |(_, pattern)| pattern);
    let mut parts = message.trim_end_matches(['"', '*']).split('?');
    waiver.split_whitespace().any(|word| word == warning.rule)
        && parts.all(|part| warning.message.contains(part))
}

/// What a package's file says behind its first line, with which the linter starts the file itself.
fn waivers_of(text: &str) -> &str {
    text.strip_prefix("`verilator_config\n").unwrap()
}

/// A package passes its own lint target, whatever its clock, and its waivers are for its own file.
#[test]
fn waivers_are_for_every_clock_and_for_no_other_file() {
    for clock in ["ptp", "time-of-day", "built-in"] {
        let text = include_str!("../../../hdl/configurations/10g.toml");
        let text = text.replace("clock = \"ptp\"", &format!("clock = \"{clock}\""));
        let files = package(&Design::parse("tap.toml", clock, &text).unwrap(), "deltaline").unwrap();
        let text = |name: &str| files.iter().find(|file| file.name == name).unwrap().text.as_str();
        assert_eq!(warnings(text("deltaline.v"), waivers_of(text("deltaline.vlt"))), [], "{clock}");
        let renamed = waivers_of(text("deltaline.vlt")).replace("*deltaline.v", "*another.v");
        assert!(warnings(text("deltaline.v"), &renamed).len() > 100, "{clock}");
    }
}

/// With the core, its template, and the model of its memory macro in one file.
#[test]
fn a_package_is_as_clean_with_and_without_memory_macros() {
    let files = package(&Design::named(DEFAULT).unwrap(), "tap").unwrap();
    let text = |name: &str| files.iter().find(|file| file.name == name).unwrap().text.as_str();
    // They are for the package's file alone, which here is part of another.
    let waivers = &waivers_of(text("tap.vlt")).replace("*tap.v", "*tap_template.v");
    let core = format!("{}{}", text("tap_template.v"), text("tap.v"));
    let with_model = format!("{core}{}", text("tap_ram_macro.v"));
    for (verilog, arguments) in [(&core, &[][..]), (&with_model, &["-DDELTALINE_RAM_MACRO"])] {
        let source = Source { top: "tap_template", verilog };
        let options = LintOptions { waivers, arguments };
        assert_eq!(lint(&Toolchain::find().unwrap(), &source, options).unwrap(), [], "{arguments:?}");
    }
    // The macro is the user's: without one there is nothing to build.
    let source = Source { top: "tap_template", verilog: &core };
    let options = LintOptions { waivers, arguments: &["-DDELTALINE_RAM_MACRO"] };
    let warnings = lint(&Toolchain::find().unwrap(), &source, options);
    assert!(warnings.is_err() || warnings.is_ok_and(|warnings| !warnings.is_empty()));
}

/// The memory of ECP5's block RAMs, with words that fill them and words that do not, few and as many as one holds. Of the
/// block RAM's model beside it nothing is said.
#[test]
fn the_memory_of_block_rams_is_clean() {
    let memory = include_str!("../../../hdl/ecp5/registered_ram_macro.v");
    let quiet = ["DECLFILENAME", "UNUSED", "WIDTH"].map(|rule| format!("/* verilator lint_off {rule} */"));
    let verilog = format!("{memory}{}{}", quiet.concat(), include_str!("dp16kd.v"));
    let top = "deltaline_registered_ram_macro";
    for (width, address) in [(36, 11), (36, 4), (36, 10), (17, 10), (35, 12), (3, 13), (2, 14)] {
        let (width, address) = (format!("-GWIDTH={width}"), format!("-GADDRESS={address}"));
        let arguments = &[width.as_str(), address.as_str()];
        let options = LintOptions { waivers: "", arguments };
        assert_eq!(
            lint(&Toolchain::find().unwrap(), &Source { top, verilog: &verilog }, options).unwrap(),
            [],
            "{arguments:?}"
        );
    }
}
