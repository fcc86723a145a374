//! Design files: read, refused with file, line and reason, written back.
//!
//! # Test plan
//!
//! The shipped designs parse, pass, have hardware, and are listed under their file's name; the default one is the
//! model's default configuration. Entries against entries made by hand. Every refusal, with file, line, key, reason and
//! what is allowed. What is not built. A missing seed: refused, or drawn anew each time. Arbitrary text, and arbitrary
//! values under the right keys, never panic. Any design is the same after it was written and read.
#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_design::{
    CellKind, Class, ClockSource, CoreKind, DEFAULT, Design, DesignError, Measurement, Parts, Refusal, Shell,
    Size, Stream, sizes,
};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::classifier::{Entry, Fields};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::wire::shape::Kind;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const FILE: &str = "my/tap.toml";
const CONFIGURATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../hdl/configurations");

fn parse(text: &str) -> Result<Design, DesignError> {
    Design::parse(FILE, "tap", text)
}

fn default_text() -> &'static str {
    include_str!("../../../hdl/configurations/10g.toml")
}

/// What hardware there is for a text.
fn hardware(text: &str) -> Result<Size, Refusal> {
    let design = parse(text).unwrap();
    design.core()?.size(design.configuration())
}

/// The default design's text with a line replaced.
fn edited(key: &str, line: &str) -> String {
    let text = default_text();
    let start = text.find(&format!("\n{key} = ")).unwrap() + 1;
    let end = start + text[start..].find('\n').unwrap();
    format!("{}{line}{}", &text[..start], &text[end..])
}

/// A stream's design text.
fn with_stream(width: u32, lanes: u32, clock: f64, rate: f64) -> String {
    let measurement = default_text().split_once("[measurement]").unwrap().1;
    format!(
        "description = \"x\"\nshell = \"tap\"\nclock = \"ptp\"\n[stream]\nwidth = {width}\nlanes = {lanes}\nclock_mhz = {clock}\n\
         rate_gbps = {rate}\n[measurement]{measurement}"
    )
}

#[test]
fn shipped_designs_pass_and_have_hardware() {
    let all = Design::all().unwrap();
    for design in &all {
        let name = design.name();
        assert_eq!(&Design::named(name).unwrap(), design);
        let file = Path::new(CONFIGURATIONS).join(format!("{name}.toml"));
        assert_eq!(&Design::load(&file).unwrap(), design);
        assert_eq!(&Design::complete(&file).unwrap(), design);
        assert!(!design.seed_is_drawn());
        design.core().unwrap().size(design.configuration()).unwrap();
    }
    assert_eq!(fs::read_dir(CONFIGURATIONS).unwrap().count(), all.len(), "every file is shipped");
    assert!(all.windows(2).all(|pair| pair[0].stream().rate_gbps <= pair[1].stream().rate_gbps));
}

#[test]
fn the_default_design_is_the_models_default() {
    let design = Design::named(DEFAULT).unwrap();
    assert_eq!(design.configuration(), &Configuration::new(Settings::default()).unwrap());
    let stream = Stream { width: 64, lanes: 1, clock_mhz: 156.25, rate_gbps: 10.0 };
    assert_eq!((design.stream(), design.clock_mhz(), design.shell()), (&stream, 156.25, Shell::Tap));
}

#[test]
fn settings_reach_the_configuration() {
    let mut text = edited("hash", "hash = \"rabin\"");
    for (from, to) in [
        ("seed = 1\n", "seed = 0xffff_ffff_ffff_fffe\n"),
        ("rows = 1024", "rows = 8"),
        ("[1, 6]", "[0, 3, 16]"),
        ("adaptive = false", "adaptive = true"),
        ("segment = 0", "segment = 4294967295"),
        ("digest = false", "digest = true\nmixing = true"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let settings = Settings {
        hash: HashKind::Rabin,
        seed: u64::MAX - 1,
        rows: 8,
        prefixes: &[0, 3, 16],
        adaptive: true,
        segment: u32::MAX,
        digest: true,
        mixing: true,
        ..Settings::default()
    };
    assert_eq!(*parse(&text).unwrap().configuration(), Configuration::new(settings).unwrap());
}

#[test]
fn the_core_of_8_bits_does_not_adapt() {
    let text = with_stream(8, 1, 125.0, 1.0).replace("adaptive = false", "adaptive = true");
    let message = parse(&text).unwrap_err().to_string();
    for part in [FILE, "measurement.adaptive = true", "fixed prefix lengths", "wider stream"] {
        assert!(message.contains(part), "{message}");
    }
    let configuration = Configuration::new(Settings { adaptive: true, ..Settings::default() }).unwrap();
    assert_eq!(CoreKind::Byte.size(&configuration), Err(Refusal::NotAdaptive));
}

#[test]
fn the_core_of_8_bits_has_no_mixing() {
    let text = with_stream(8, 1, 125.0, 1.0).replace("digest = false", "digest = false\nmixing = true");
    let message = parse(&text).unwrap_err().to_string();
    for part in [FILE, "measurement.mixing = true", "core of 8 bits", "wider stream"] {
        assert!(message.contains(part), "{message}");
    }
    let configuration = Configuration::new(Settings { mixing: true, ..Settings::default() }).unwrap();
    assert_eq!(CoreKind::Byte.size(&configuration), Err(Refusal::NoMixing));
}

#[test]
fn every_refusal_names_file_key_reason_and_what_is_allowed() {
    for (key, line, fragments) in [
        ("description", "", &["description", "missing"][..]),
        ("description", "description = \"\"", &["description = \"\"", "one line"]),
        ("description", "description = \"a\\nb\"", &["description = \"a\\nb\"", "one line"]),
        ("description", "description = 7", &["description", "7", "expected a string"]),
        ("shell", "", &["shell", "missing"]),
        ("clock", "", &["clock", "missing"]),
        ("clock", "clock = \"quartz\"", &["clock", "quartz", "`ptp`, `time-of-day`, `built-in`"]),
        ("shell", "shell = \"mirror\"", &["shell", "mirror", "`tap` or `inline`"]),
        ("width", "", &["width", "missing"]),
        ("width", "width = 32", &["stream.width = 32", "[8, 64, 256, 512]"]),
        ("width", "width = -8", &["stream.width = -8", "[8, 64, 256, 512]"]),
        ("width", "width = \"64\"", &["width = \"64\"", "string", "expected a whole number"]),
        ("lanes", "", &["lanes", "missing"]),
        ("lanes", "lanes = 0", &["stream.lanes = 0", "at least one"]),
        ("lanes", "lanes = -1", &["stream.lanes = -1", "at least one"]),
        ("clock_mhz", "", &["clock_mhz", "missing"]),
        ("clock_mhz", "clock_mhz = true", &["clock_mhz = true", "boolean", "expected a number"]),
        ("clock_mhz", "clock_mhz = 0", &["stream.clock_mhz = 0", "above 0"]),
        ("clock_mhz", "clock_mhz = nan", &["stream.clock_mhz = NaN", "above 0"]),
        ("clock_mhz", "clock_mhz = inf", &["stream.clock_mhz = inf", "above 0"]),
        ("rate_gbps", "", &["rate_gbps", "missing"]),
        ("rate_gbps", "rate_gbps = -10", &["stream.rate_gbps = -10", "above 0"]),
        ("hash", "", &["hash", "missing"]),
        ("hash", "hash = \"crc\"", &["hash", "crc", "`h3` or `rabin`"]),
        ("adaptive", "adaptive = 1", &["adaptive", "1", "boolean"]),
        ("seed", "", &["measurement.seed is missing", "draws one"]),
        ("seed", "seed = 1.5", &["seed = 1.5", "expected a whole number"]),
        ("seed", "seed = -1", &["measurement.seed = -1", "0 to 2^64 - 1"]),
        ("seed", "seed = 18446744073709551616", &["seed = 18446744073709551616", "0 to 2^64 - 1"]),
        ("rows", "", &["rows", "missing"]),
        ("rows", "rows = 1000", &["measurement.rows = 1000", "power of two from 8 to 1024"]),
        ("rows", "rows = 4", &["measurement.rows = 4", "power of two from 8 to 1024"]),
        ("rows", "rows = 2048", &["measurement.rows = 2048", "power of two from 8 to 1024"]),
        ("rows", "rows = -8", &["measurement.rows = -8", "power of two from 8 to 1024"]),
        ("prefixes", "", &["prefixes", "missing"]),
        ("prefixes", "prefixes = []", &["measurement.prefixes = []", "0 banks", "1 to 4 ascending"]),
        ("prefixes", "prefixes = [0, 1, 2, 3, 4]", &["measurement.prefixes", "5 banks", "1 to 4 ascending"]),
        ("prefixes", "prefixes = [6, 1]", &["prefixes = [6, 1]", "1 follows 6", "ascending", "0 to 16"]),
        ("prefixes", "prefixes = [17]", &["prefixes = [17]", "17 is too long", "0 to 16"]),
        ("prefixes", "prefixes = [-1]", &["prefixes = [-1]", "-1 is no prefix length", "0 to 16"]),
        ("prefixes", "prefixes = [257]", &["prefixes = [257]", "257 is no prefix length", "0 to 16"]),
        ("segment", "", &["segment", "missing"]),
        ("segment", "segment = -1", &["measurement.segment = -1", "0 to 2^32 - 1"]),
        ("segment", "segment = 4294967296", &["measurement.segment = 4294967296", "0 to 2^32 - 1"]),
        ("digest", "digest = 1", &["digest = 1", "integer", "boolean"]),
        ("segment", "segment = 0\nsegments = 0", &["segments", "unknown field", "`segment`"]),
        ("segment", "segment = 0\n[extra]", &["extra", "unknown field", "`measurement`"]),
        ("segment", "segment = 0\nsegment = 0", &["segment", "duplicate"]),
        ("segment", "segment =", &["segment ="]),
    ] {
        let message = parse(&edited(key, line)).unwrap_err().to_string();
        for fragment in fragments.iter().chain(&[FILE]) {
            assert!(message.contains(fragment), "'{line}' for {key}: no '{fragment}' in:\n{message}");
        }
        let remedy = message.contains(" = ") || message.contains("10g.toml shows every key");
        assert!(remedy || line.is_empty() && key == "seed", "{message}");
    }
    let message = Design::parse(FILE, "a\nb", default_text()).unwrap_err().to_string();
    assert!(message.contains("the file's name = \"a\\nb\": give one line"), "{message}");
}

#[test]
fn reference_packets_are_for_one_wide_lane_and_not_sent_at_512_bits() {
    for (name, shell, refusal) in [
        ("10g", Shell::Tap, None),
        ("10g", Shell::Inline, None),
        ("40g", Shell::Tap, None),
        ("40g", Shell::Inline, None),
        ("100g", Shell::Tap, None),
        ("100g", Shell::Inline, Some(Refusal::ReferenceSender)),
        ("1g", Shell::Tap, Some(Refusal::References)),
        ("400g", Shell::Tap, Some(Refusal::References)),
    ] {
        let parts = Parts { references: true, shell, ..Design::named(name).unwrap().parts().clone() };
        let design = Design::new(name, parts).unwrap();
        assert_eq!(design.core().err(), refusal, "{name} {shell}");
    }
}

/// The line of a refused value, counted here by the text that stands in it.
#[test]
fn refusals_name_the_line() {
    let line_with = |text: &str, part: &str| text.lines().position(|line| line == part).unwrap() + 1;
    for (key, line) in [
        ("width", "width = 32"),
        ("rate_gbps", "rate_gbps = -10"),
        ("clock_mhz", "clock_mhz = 100"),
        ("rows", "rows = 4"),
        ("prefixes", "prefixes = [6, 1]"),
        ("segment", "segment = -1"),
        ("seed", "seed = -1"),
        ("description", "description = \"\""),
    ] {
        let text = edited(key, line);
        let message = parse(&text).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{FILE}:{}: ", line_with(&text, line))), "{message}");
    }
    let message = parse(&edited("seed", "")).unwrap_err().to_string();
    let table = line_with(default_text(), "[measurement]");
    assert!(message.starts_with(&format!("{FILE}:{table}: measurement.seed is missing")), "{message}");
    let text = with_entries("[[entry]]\nclass = 0\nversion = 4\n[[entry]]\nclass = 0\nprotocol = 256\n");
    let message = parse(&text).unwrap_err().to_string();
    let expected = format!("{FILE}:{}: entry[1].protocol = 256", line_with(&text, "protocol = 256"));
    assert!(message.starts_with(&expected), "{message}");
    // Of the parser's own messages too.
    let message = parse(&edited("lanes", "lanes = ?")).unwrap_err().to_string();
    assert!(message.contains(&format!("line {}", line_with(default_text(), "lanes = 1"))), "{message}");
}

#[test]
fn a_missing_seed_is_drawn_anew_each_time_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tap.toml");
    fs::write(&file, edited("seed", "")).unwrap();
    assert!(matches!(Design::load(&file), Err(DesignError::NoSeed { .. })));
    let designs: Vec<Design> = (0..8).map(|_| Design::complete(&file).unwrap()).collect();
    for (i, design) in designs.iter().enumerate() {
        assert!(design.seed_is_drawn());
        assert!(
            designs[..i].iter().all(|other| other.configuration().seed() != design.configuration().seed())
        );
        // The completed file is the same design to everybody.
        fs::write(&file, design.to_toml().unwrap()).unwrap();
        let again = Design::load(&file).unwrap();
        assert_eq!((again.parts(), again.configuration()), (design.parts(), design.configuration()));
        assert!(!again.seed_is_drawn());
    }
    // All 64 bits: eight seeds below 2^63 are one chance in 256, eight and eight more one in 65,536, and so on.
    let high = |_| deltaline_design::random_seed().unwrap() >> 63;
    assert!((0..64).map(high).any(|bit| bit == 1) && (0..64).map(high).any(|bit| bit == 0));
}

/// The default design's text with entries.
fn with_entries(entries: &str) -> String {
    default_text().to_string() + entries
}

#[test]
fn entries_reach_the_configuration() {
    let text = with_entries(
        "[[entry]]\nclass = 1\nsource = \"10.1.0.0/16\"\ndestination = \"10.2.3.4\"\nprotocol = 17\n\
         source_port = 0x1234\ndestination_port = 53\n\
         [[entry]]\nclass = 0\nversion = 6\nprotocol = 6\n\
         [[entry]]\nclass = 0\ndestination = \"2001:db8::/33\"\n",
    );
    let v4 = Entry {
        class: 1,
        value: [0x4000_0000, 0, 0x11_0000, 0x0a01_0000, 0x0a02_0304, 0, 0, 0, 0, 0, 0x1234_0035],
        mask: [0xf000_0000, 0x1fff, 0xff_0000, 0xffff_0000, u32::MAX, 0, 0, 0, 0, 0, u32::MAX],
    };
    let tcp = Entry {
        class: 0,
        value: [0x6000_0000, 0x600, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        mask: [0xf000_0000, 0xff00, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    };
    let v6 = Entry {
        class: 0,
        value: [0x6000_0000, 0, 0, 0, 0, 0, 0x2001_0db8, 0, 0, 0, 0],
        mask: [0xf000_0000, 0, 0, 0, 0, 0, u32::MAX, 0x8000_0000, 0, 0, 0],
    };
    let settings = Settings { entries: &[v4, tcp, v6], ..Settings::default() };
    assert_eq!(*parse(&text).unwrap().configuration(), Configuration::new(settings).unwrap());
}

#[test]
fn every_refused_entry_names_file_key_and_reason() {
    let ten = "source = \"10.0.0.0/8\"";
    for (entries, fragments) in [
        ("source = \"::/0\"", &["class", "missing"][..]),
        ("class = 0\nport = 7", &["port", "unknown field", "`source_port`"]),
        ("class = -1", &["entry[0].class = -1:", "0 to 3"]),
        ("class = 4", &["entry[0] = { class = 4 }:", "0 to 3"]),
        ("class = 1", &["entry.class = [1]:", "class 0", "without holes"]),
        ("class = 0\nversion = 5", &["entry[0] = { class = 0, version = 5 }:", "4 or 6"]),
        ("class = 0\nsource = \"10.0.0/8\"", &["entry[0].source = \"10.0.0/8\":", "10.1.0.0/16"]),
        ("class = 0\ndestination = \"10.0.0.1/8\"", &["entry[0] =", "10.0.0.1/8", "give 10.0.0.0/8"]),
        ("class = 0\nprotocol = 256", &["entry[0].protocol = 256:", "0 to 255"]),
        ("class = 0\nprotocol = 17", &["entry[0] =", "give the version"]),
        ("class = 0\nversion = 4\nsource = \"::1\"", &["entry[0] =", "not of one IP version"]),
        ("class = 0\nversion = 4\nsource_port = 65536", &["entry[0].source_port = 65536:", "0 to 65535"]),
        ("class = 0\nversion = 4\nsource_port = 1", &["entry[0] =", "source_port = 1 }", "protocol 6 (TCP)"]),
        (
            &format!("class = 0\n{ten}\n[[entry]]\nclass = 1\ndestination = \"11.0.0.0/8\""),
            &[
                "entry[1] = { class = 1, destination = \"11.0.0.0/8\" }:",
                "entries 0 and 1",
                "exclude each other",
            ],
        ),
        (
            "class = 0\n[[entry]]\n".repeat(9).trim_end_matches("[[entry]]\n"),
            &["entry.class", "9 entries", "at most 8"],
        ),
    ] {
        let message = parse(&with_entries(&format!("[[entry]]\n{entries}\n"))).unwrap_err().to_string();
        for fragment in fragments.iter().chain(&[FILE]) {
            assert!(message.contains(fragment), "'{entries}': no '{fragment}' in:\n{message}");
        }
    }
    let last = edited("segment", "segment = 0xffff_ffff")
        + "[[entry]]\nclass = 0\nversion = 4\n[[entry]]\nclass = 1\nversion = 6\n";
    let message = parse(&last).unwrap_err().to_string();
    assert!(
        message.contains("measurement.segment = 4294967295: segment 4294967295 with 2 classes"),
        "{message}"
    );
}

#[test]
fn classes_that_are_not_built_say_so() {
    let classes = "[[entry]]\nclass = 0\nversion = 4\n[[entry]]\nclass = 1\nversion = 6\n";
    let text = with_entries(classes).replace("rows = 1024", "rows = 32");
    let message = hardware(&text).unwrap_err().to_string();
    assert!(
        message.contains("no core of one lane of 64 bits for 2 classes with 32 rows and 2 banks"),
        "{message}"
    );
    let message = hardware(&(with_stream(512, 2, 400.0, 1.0) + classes)).unwrap_err().to_string();
    assert!(message.contains("no core of 2 lanes of 512 bits for 2 classes"), "{message}");
    let entry = "[[entry]]\nclass = 0\nversion = 4\n";
    let message = hardware(&(with_stream(8, 1, 125.0, 1.0) + entry)).unwrap_err().to_string();
    assert!(message.contains("8 bits has no classifier"), "{message}");
    hardware(&(with_stream(512, 2, 400.0, 1.0) + entry)).unwrap();
}

#[test]
fn names_and_files_that_are_not_there() {
    let message = Design::named("11g").unwrap_err().to_string();
    assert!(message.contains("'11g'") && message.contains("10g") && message.contains(".toml"), "{message}");
    let message = Design::load(Path::new("/nowhere/tap.toml")).unwrap_err().to_string();
    assert!(
        message.starts_with("/nowhere/tap.toml: cannot be read: ") && message.contains("10g"),
        "{message}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("binary.toml");
    fs::write(&file, [0xff, 0xfe]).unwrap();
    assert!(matches!(Design::load(&file), Err(DesignError::Read { .. })));
}

#[test]
fn a_stream_that_does_not_keep_up_is_refused() {
    for (width, lanes, clock, rate, fragments) in [
        (64, 1, 155.9, 10.0, &["10 Gbit/s", "clock_mhz = 155.9:", "1 x 64 bits"][..]),
        (
            512,
            2,
            402.83203125,
            400.0,
            &["frames of 69 bytes need 561797753 frames/s, possible are 402832031;", "561.798 MHz"],
        ),
        (256, 1, 156.25, 40.0, &["40 Gbit/s", "possible are", "give a clock of at least"]),
        (8, 1, 100.0, 1.0, &["1 Gbit/s"]),
    ] {
        let message = parse(&with_stream(width, lanes, clock, rate)).unwrap_err().to_string();
        for fragment in fragments.iter().chain(&[FILE, "stream.clock_mhz"]) {
            assert!(message.contains(fragment), "no '{fragment}' in:\n{message}");
        }
    }
}

#[test]
fn what_is_not_built_says_so() {
    for (width, lanes, shell) in [(8, 1, "inline"), (64, 2, "tap"), (512, 4, "inline"), (512, 3, "tap")] {
        let text = with_stream(width, lanes, 400.0, 1.0).replace("\"tap\"", &format!("\"{shell}\""));
        let message = hardware(&text).unwrap_err().to_string();
        for fragment in
            [shell, &format!("{lanes} lanes"), &format!("{width} bits"), "built are one lane of 8 bits"]
        {
            assert!(message.contains(fragment), "{message}");
        }
    }
    for clock in ["time-of-day", "built-in"] {
        let text = with_stream(8, 1, 125.0, 1.0).replace("\"ptp\"", &format!("{clock:?}"));
        let message = hardware(&text).unwrap_err().to_string();
        assert!(message.contains(&format!("the clock {clock} yet")), "{message}");
    }
}

#[test]
fn times_of_day_are_for_taps() {
    let text = with_stream(64, 1, 400.0, 1.0).replace("\"ptp\"", "\"time-of-day\"");
    hardware(&text).unwrap();
    let message = hardware(&text.replace("\"tap\"", "\"inline\"")).unwrap_err().to_string();
    assert!(
        message.contains("time-of-day") && message.contains("inline") && message.contains("give"),
        "{message}"
    );
}

#[test]
fn digests_may_be_left_out_and_are_not_built_for_every_stream() {
    let design = parse(default_text()).unwrap();
    assert!(!design.configuration().has_digests());
    assert_eq!(parse(&edited("digest", "")).unwrap(), design);
    assert!(Design::named("10g-quantiles").unwrap().configuration().has_digests());
    let text = with_stream(8, 1, 125.0, 1.0).replace("digest = false", "digest = true");
    let message = hardware(&text).unwrap_err().to_string();
    assert!(message.contains("no 8-bit core with digests") && message.contains("64 bits"), "{message}");
    let text = edited("digest", "digest = true").replace("rows = 1024", "rows = 64");
    let message = hardware(&text).unwrap_err().to_string();
    assert!(
        message.contains("with digests of one lane of 64 bits for 64 rows and 2 banks")
            && message.contains("16, 256 or 1024 rows"),
        "{message}"
    );
}

#[test]
fn other_synopses_are_built_for_one_lane_of_64_bits_and_one_class() {
    let synopsis = |name: &str, prefixes: &str| {
        let text = edited("synopsis", &format!("synopsis = \"{name}\""));
        text.replace("[1, 6]", prefixes)
    };
    for (name, prefixes, size) in [
        ("finecomb", "[1, 6]", Size { rows: 1024, banks: 2, classes: 1 }),
        ("identity", "[0]", Size { rows: 1024, banks: 4, classes: 1 }),
    ] {
        let text = synopsis(name, prefixes);
        assert_eq!(hardware(&text), Ok(size));
        let wide = text.replace("width = 64", "width = 256").replace("156.25", "400");
        let byte = text.replace("width = 64", "width = 8").replace("rate_gbps = 10", "rate_gbps = 1");
        for (text, core) in [(wide, "of 256 bits"), (byte, "of 8 bits")] {
            let message = hardware(&text).unwrap_err().to_string();
            assert!(
                message.contains(core) && message.contains("built is that of one lane of 64 bits"),
                "{message}"
            );
        }
        let entries = "[[entry]]\nclass = 0\nversion = 4\n[[entry]]\nclass = 1\nversion = 6\n";
        let message = hardware(&(text.clone() + entries)).unwrap_err().to_string();
        assert!(message.contains("for 2 classes") && message.contains("for 1 class"), "{message}");
        let message = hardware(&text.replace("rows = 1024", "rows = 512")).unwrap_err().to_string();
        assert!(message.contains("for 512 rows") && message.contains("16 or 1024 rows"), "{message}");
    }
}

/// What is refused is what is not in the table, whatever is asked for.
#[test]
fn sizes_are_those_of_the_table() {
    let entries: Vec<String> = (0..4)
        .map(|class| format!("[[entry]]\nclass = {class}\nversion = 4\nprotocol = {class}\n"))
        .collect();
    for core in CoreKind::ALL.into_iter().filter(|core| *core != CoreKind::Byte) {
        for rows in (3..=10).map(|bits| 1 << bits) {
            for (banks, prefixes) in [(1, "[1]"), (2, "[1, 2]"), (3, "[1, 2, 3]"), (4, "[1, 2, 3, 4]")] {
                for classes in 1..=4 {
                    for digest in [false, true] {
                        let text = with_stream(core.width() as u32, core.lanes() as u32, 400.0, 1.0)
                            .replace("rows = 1024", &format!("rows = {rows}"))
                            .replace("[1, 6]", prefixes)
                            .replace("digest = false", &format!("digest = {digest}"))
                            + &entries[..classes].concat();
                        let size = Size::of(rows, banks, classes);
                        let cells = if digest { CellKind::Digests } else { CellKind::Lda };
                        let expected = match sizes(core, cells).contains(&size) {
                            true => Ok(size),
                            false => Err(Refusal::Size { core, cells, rows, banks, classes }),
                        };
                        assert_eq!(hardware(&text), expected);
                        assert_eq!(core.is_built(rows, banks, classes, cells), expected.is_ok());
                    }
                }
            }
        }
    }
}

/// Any design that passes.
fn designs() -> impl Strategy<Value = Parts> {
    let stream = (
        prop_oneof![Just(8usize), Just(64), Just(256), Just(512)],
        1usize..5,
        // One byte a cycle takes 0.05 Gbit/s from 6.3 MHz on.
        8.0f64..1000.0,
        prop_oneof![0.001f64..0.05, Just(1e-3)],
    );
    let clocks =
        prop_oneof![Just(ClockSource::Ptp), Just(ClockSource::TimeOfDay), Just(ClockSource::BuiltIn)];
    let kinds = (prop_oneof![Just(Shell::Tap), Just(Shell::Inline)], clocks);
    let prefixes = prop::collection::btree_set(0u8..17, 1..5);
    let measurement =
        (any::<bool>(), any::<u64>(), 3u32..11, prefixes, any::<bool>(), any::<u32>(), any::<[bool; 2]>());
    ("[ -~äµ😀]{0,20}x", kinds, stream, measurement, prop::collection::vec(fields(), 0..4)).prop_map(
        |(description, (shell, clock), (width, lanes, clock_mhz, rate_gbps), measurement, fields)| {
            let (h3, seed, row_bits, prefixes, adaptive, segment, [digest, mixing]) = measurement;
            let measurement = Measurement {
                synopsis: Kind::LDA,
                hash: if h3 { HashKind::H3 } else { HashKind::Rabin },
                seed,
                rows: 1 << row_bits,
                prefixes: prefixes.into_iter().collect(),
                adaptive: adaptive && width > 8,
                segment: segment.min(u32::MAX - 4),
                digest,
                mixing: mixing && width > 8,
                // One class: entries of several would have to exclude each other.
                classes: fields.into_iter().map(|fields| Class { class: 0, fields }).collect(),
            };
            let stream = Stream { width, lanes, clock_mhz, rate_gbps };
            Parts {
                description,
                shell,
                clock,
                authentication: adaptive,
                references: digest,
                stream,
                measurement,
            }
        },
    )
}

fn fields() -> impl Strategy<Value = Fields> {
    let v4 = any::<Option<(u32, u32)>>();
    let v6 = any::<Option<(u128, u128)>>();
    let ports = (any::<Option<u16>>(), any::<Option<u16>>());
    (any::<bool>(), v4, v6, any::<Option<u8>>(), ports, 0u8..33).prop_map(
        |(is_v6, v4, v6, protocol, ports, length)| {
            let net = |address: std::net::IpAddr| Some(ipnet::IpNet::new(address, length).unwrap().trunc());
            let (source, destination) = match (is_v6, v4, v6) {
                (true, _, Some((a, b))) => (
                    net(std::net::Ipv6Addr::from_bits(a).into()),
                    net(std::net::Ipv6Addr::from_bits(b).into()),
                ),
                (false, Some((a, b)), _) => (
                    net(std::net::Ipv4Addr::from_bits(a).into()),
                    net(std::net::Ipv4Addr::from_bits(b).into()),
                ),
                _ => (None, None),
            };
            let with_ports = ports.0.is_some() || ports.1.is_some();
            Fields {
                version: Some(if is_v6 { 6 } else { 4 }),
                source,
                destination,
                protocol: if with_ports { Some(17) } else { protocol },
                source_port: ports.0,
                destination_port: ports.1,
            }
        },
    )
}

proptest! {
    #[test]
    fn any_design_is_the_same_after_it_was_written_and_read(parts in designs()) {
        let design = Design::new("tap", parts.clone()).unwrap();
        let text = design.to_toml().unwrap();
        let read = parse(&text).unwrap();
        prop_assert_eq!(read.parts(), &parts);
        prop_assert_eq!(&read, &design);
        prop_assert_eq!(read.to_toml().unwrap(), text);
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".*") {
        let _ = parse(&text);
    }

    #[test]
    fn arbitrary_values_never_panic_and_what_passes_is_sound(
        width in prop_oneof![Just(8i64), Just(64), Just(256), Just(512), any::<i64>()],
        lanes in prop_oneof![1i64..4, any::<i64>()],
        clock in prop_oneof![1.0f64..1000.0, any::<f64>()],
        rate in prop_oneof![0.1f64..100.0, any::<f64>()],
        seed in any::<i64>(),
        rows in prop_oneof![(0u32..12).prop_map(|bits| 1i64 << bits), any::<i64>()],
        prefixes in prop::collection::vec(prop_oneof![0i64..18, any::<i64>()], 0..6),
        segment in any::<i64>(),
    ) {
        let text = format!(
            "description = \"x\"\nshell = \"tap\"\nclock = \"ptp\"\n[stream]\nwidth = {width}\nlanes = {lanes}\n\
             clock_mhz = {clock:e}\nrate_gbps = {rate:e}\n[measurement]\nhash = \"h3\"\nseed = {seed}\nrows = {rows}\n\
             prefixes = {prefixes:?}\nsegment = {segment}\n"
        ).replace("NaN", "nan");
        match parse(&text) {
            Ok(design) => {
                prop_assert_eq!(parse(&design.to_toml().unwrap()).unwrap(), design.clone());
                let stream = design.stream();
                prop_assert!([64, 1518, 9000].into_iter().all(
                    |length| stream.frames_possible(length) >= stream.frames_needed(length)
                ));
                prop_assert_eq!(design.configuration().rows() as i64, rows);
            }
            Err(error) => prop_assert!(error.to_string().contains(FILE)),
        }
    }
}
