//! Packages: complete, stable, and consistent with the hardware that they hold.
#![allow(clippy::unwrap_used)]

use deltaline_design::{DEFAULT, Design, Parts};
use deltaline_hdl::emit::package::{File, MANIFEST, package, sha256};
use deltaline_hdl::emit::reader::{modules, ports};
use deltaline_hdl::emit::refusal::EmitError;
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn default_package(prefix: &str) -> Vec<File> {
    package(&Design::named(DEFAULT).unwrap(), prefix).unwrap()
}

fn text<'a>(files: &'a [File], name: &str) -> &'a str {
    let found = files.iter().find(|file| file.name == name);
    assert!(found.is_some(), "no {name}");
    &found.unwrap().text
}

/// The default design with a line of its file replaced, and its rate lowered to what any clock carries.
fn variant(from: &str, to: &str) -> Design {
    let shipped =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/configurations/10g.toml")).unwrap();
    let changed = shipped.replace("rate_gbps = 10", "rate_gbps = 0.1").replace(from, to);
    assert!(shipped.contains(from));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("variant.toml");
    fs::write(&file, changed).unwrap();
    Design::complete(&file).unwrap()
}

/// What `cargo xtask verilog --out hdl/golden` writes.
#[test]
fn the_default_package_is_the_golden_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let remedy = "to write it anew: rm -r hdl/golden && cargo xtask verilog --out hdl/golden";
    let files = default_package("deltaline");
    for File { name, text } in &files {
        let golden = fs::read_to_string(folder.join(name)).unwrap_or_default();
        let differs = text.lines().zip(golden.lines()).position(|(emitted, golden)| emitted != golden);
        assert!(*text == golden, "{name} differs behind line {differs:?}; {remedy}");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), files.len(), "a file too many; {remedy}");
}

#[test]
fn two_packages_are_equal_and_every_name_has_the_prefix() {
    let files = default_package("acme_tap");
    assert_eq!(files, default_package("acme_tap"));
    for File { name, text } in &files {
        assert!(name.starts_with("acme_tap") || name == MANIFEST, "{name}");
        assert!(text.ends_with('\n') && !text.contains(" \n") && !text.contains('\r'), "{name}");
    }
    let sources = files.iter().filter(|file| file.name.ends_with(".v"));
    let modules: Vec<&str> = sources.flat_map(|file| modules(&file.text)).map(|module| module.name).collect();
    assert!(modules.iter().all(|module| module.starts_with("acme_tap")));
    let names: BTreeSet<&str> = modules.iter().copied().collect();
    assert_eq!(names.len(), modules.len(), "a module is there twice");
    let refused = package(&Design::named(DEFAULT).unwrap(), "9core");
    assert_eq!(refused, Err(EmitError::Name("9core".into())));
}

#[test]
fn the_manifest_has_every_file_with_its_hash() {
    // From FIPS 180-2, appendix B.1.
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let files = default_package("deltaline");
    let expected: String = files[..files.len() - 1]
        .iter()
        .map(|file| format!("{}  {}\n", sha256(file.text.as_bytes()), file.name))
        .collect();
    assert_eq!(text(&files, MANIFEST), expected);
    assert_eq!(expected.lines().count(), 14);
}

#[test]
fn the_core_file_is_yaml_that_fusesoc_can_use() {
    let files = default_package("deltaline");
    let core = text(&files, "deltaline.core");
    assert!(core.starts_with("CAPI=2:\n"));
    let documents = Yaml::load_from_str(core).unwrap();
    let core = &documents[0];
    assert!(core["CAPI=2"].is_null());
    let name = format!("deltaline:generated:deltaline:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(core["name"].as_str(), Some(name.as_str()));
    assert_eq!(core["description"].as_str(), Some(Design::named(DEFAULT).unwrap().description()));
    let keys = |yaml: &Yaml| -> BTreeSet<String> {
        yaml.as_mapping().unwrap().keys().map(|key| key.as_str().unwrap().to_string()).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(keys(core), set(&["CAPI=2", "name", "description", "filesets", "targets"]));
    for (name, fileset) in core["filesets"].as_mapping().unwrap() {
        assert!(fileset["file_type"].as_str().is_some(), "{name:?}");
        for file in fileset["files"].as_sequence().unwrap() {
            text(&files, file.as_str().unwrap());
        }
    }
    let filesets = keys(&core["filesets"]);
    assert_eq!(keys(&core["targets"]), set(&["default", "lint", "elaborate", "synthesise"]));
    for target in core["targets"].as_mapping().unwrap().values() {
        for fileset in target["filesets"].as_sequence().unwrap() {
            // Perhaps with a condition: tool_x? (name).
            let fileset = fileset.as_str().unwrap();
            let fileset =
                fileset.split_once("? (").map_or(fileset, |(_, name)| name.strip_suffix(')').unwrap());
            assert!(filesets.contains(fileset), "{fileset}");
        }
    }
    for (target, flow, tool, toplevel) in
        [("lint", "lint", "verilator", "deltaline"), ("elaborate", "sim", "icarus", "deltaline_template")]
    {
        let target = &core["targets"][target];
        let found = [&target["flow"], &target["flow_options"]["tool"], &target["toplevel"]];
        assert_eq!(found.map(|value| value.as_str()), [Some(flow), Some(tool), Some(toplevel)]);
    }
}

#[test]
fn any_description_is_one_yaml_string() {
    let design = variant("description = \"", r#"description = "a \"b\": \\ #c "#);
    let files = package(&design, "tap").unwrap();
    let documents = Yaml::load_from_str(text(&files, "tap.core")).unwrap();
    assert_eq!(documents[0]["description"].as_str(), Some(design.description()));
    assert!(design.description().starts_with(r#"a "b": \ #c "#));
}

#[test]
fn every_port_is_explained_and_connected() {
    let files = default_package("tap");
    let ports = ports(text(&files, "tap.v"), "tap");
    let declared = text(&files, "tap.v").split_once("module tap(").unwrap().1.split_once(')').unwrap().0;
    let names: Vec<&str> = ports.iter().map(|port| port.name).collect();
    assert_eq!(names, declared.split(',').collect::<Vec<_>>());
    let (readme, template) = (text(&files, "tap.md"), text(&files, "tap_template.v"));
    for port in &ports {
        let row = format!("| {} | {} | {} | ", port.name, port.direction(), port.width);
        let meaning = readme.lines().find_map(|line| line.strip_prefix(&row)).unwrap();
        assert_ne!(meaning, " |", "{}", port.name);
        assert!(template.contains(meaning.strip_suffix(" |").unwrap()), "{}", port.name);
        assert_eq!(template.matches(&format!("        .{}(", port.name)).count(), 1, "{}", port.name);
    }
    let width = |name: &str| ports.iter().find(|port| port.name == name).map(|port| port.width);
    let widths = ["clk", "s_axis_tdata", "s_axis_tuser", "s_axil_awaddr"].map(width);
    assert_eq!(widths, [Some(1), Some(64), Some(65), Some(12)]);
}

#[test]
fn the_readme_states_the_designs_figures() {
    let design = Design::named(DEFAULT).unwrap();
    let files = default_package("tap");
    let readme = text(&files, "tap.md");
    for figure in [
        "| stream | 1 x 64 bits at 156.25 MHz |",
        "| banks | 2, prefix lengths 1, 6 |",
        "| digests | none |",
        &format!("`{:#018x}`", design.configuration().id()),
        // 2 x 1024 words, two cycles each; 16 control frames of 160 + 9 x 128 bytes; 8 cycles a
        // cell and 200 a frame.
        "cleared in 4096 cycles",
        "16 control frames of 1312 bytes",
        "19584 cycles (125.3 µs) behind the last one or later is never refused",
        "| 64 | 14880952 | 19531250 |",
    ] {
        assert!(readme.contains(figure), "no '{figure}'");
    }
    for memory in ["lower_ram_0", "lower_ram_1", "upper_ram_0", "upper_ram_1"] {
        assert!(
            readme.contains(&format!("| tap_core_aggregator_lane_0_lda_{memory} | 36 | 2048 = 2^11 |")),
            "{memory}"
        );
    }
    for File { name, .. } in files.iter().filter(|file| file.name != MANIFEST) {
        assert!(readme.contains(&format!("`{name}`")) || name == "tap.md", "{name} is not explained");
    }
    let small = package(&variant("rows = 1024", "rows = 16"), "tap").unwrap();
    for figure in ["2 control frames of 304 bytes", "cleared in 64 cycles", "| 36 | 32 = 2^5 |"] {
        assert!(text(&small, "tap.md").contains(figure), "no '{figure}'");
    }
}

#[test]
fn constraints_have_the_clock_of_the_design() {
    for (clock, period, families) in [
        ("156.25", "6.400", &["lpf"][..]),
        ("100", "10.000", &["lpf", "pcf"]),
        // 3.1030303 ns: never longer than the period.
        ("322.265625", "3.103", &[]),
    ] {
        let files = package(&variant("clock_mhz = 156.25", &format!("clock_mhz = {clock}")), "tap").unwrap();
        let line = format!("\ncreate_clock -name clk -period {period} [get_ports clk]\n");
        for ending in ["sdc", "xdc"] {
            assert!(text(&files, &format!("tap.{ending}")).ends_with(&line), "{ending} at {clock} MHz");
        }
        for (family, line) in [
            ("lpf", format!("\nFREQUENCY PORT \"clk\" {clock} MHZ;\n")),
            ("pcf", format!("\nset_frequency clk {clock}\n")),
        ] {
            let file = files.iter().find(|file| file.name == format!("tap.{family}"));
            assert_eq!(file.is_some(), families.contains(&family), "{family} at {clock} MHz");
            assert!(file.is_none_or(|file| file.text.ends_with(&line)), "{family} at {clock} MHz");
        }
    }
}

/// A design without a seed is completed: the package has its file, which is the same design to everybody.
#[test]
fn a_drawn_seed_is_in_the_package() {
    let design = variant("seed = 1\n", "");
    assert!(design.seed_is_drawn());
    let files = package(&design, "tap").unwrap();
    let toml = text(&files, "tap.toml");
    let read = Design::parse("tap.toml", design.name(), toml).unwrap();
    assert_eq!((read.parts(), read.configuration()), (design.parts(), design.configuration()));
    let seed = format!("seed = {}\n", design.configuration().seed());
    assert!(
        toml.contains(&seed) && toml.starts_with("# The design, with the seed that was drawn."),
        "{toml}"
    );
    assert!(text(&files, MANIFEST).contains("  tap.toml\n"));
    assert!(text(&files, "tap.md").contains("`tap.toml`"));
    // The hardware that is made of that file is the same one, and its package needs no copy of the file.
    let again = package(&read, "tap").unwrap();
    assert_eq!(text(&again, "tap.v"), text(&files, "tap.v"));
    assert!(again.iter().all(|file| file.name != "tap.toml"));
}

#[test]
fn ports_of_reference_packets_are_explained() {
    for (name, ports) in [("10g", 3), ("40g", 3), ("100g", 3), ("10g-inline", 5)] {
        let design = Design::named(name).unwrap();
        let parts = Parts { references: true, ..design.parts().clone() };
        let files = package(&Design::new("tap", parts).unwrap(), "tap").unwrap();
        let rows: Vec<&str> =
            text(&files, "tap.md").lines().filter(|line| line.starts_with("| reference_")).collect();
        assert_eq!(rows.len(), ports, "{rows:?}");
        assert!(rows.iter().all(|row| row.split('|').nth(4).unwrap().trim().len() > 10), "{rows:?}");
        assert!(text(&files, "tap.md").contains("`reference_spacing` is a port"));
        assert!(text(&files, "tap_template.v").contains(".reference_there("));
    }
}
