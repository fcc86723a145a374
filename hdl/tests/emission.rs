//! The emitted text: stable, plain, and fit for event-driven simulators.
#![allow(clippy::unwrap_used)]

use crate::common;
use deltaline_design::{CellKind, CoreKind, Design, Refusal};
use deltaline_hdl::byte;
use deltaline_hdl::emit::design;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_hdl::emit::reader::modules;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::shape::Kind;

fn default_core(name: &str) -> String {
    emit(&Configuration::new(Settings::default()).unwrap(), Module::Core, name).unwrap()
}

#[test]
fn every_module_carries_the_prefix_and_every_name_is_plain() {
    let verilog = default_core("acme_tap");
    assert_eq!(verilog, default_core("acme_tap"));
    assert!(!verilog.contains('$'));
    for module in modules(&verilog) {
        assert!(module.name.starts_with("acme_tap"), "{}", module.name);
    }
    for port in
        ["s_axis_tdata", "s_axis_tkeep", "s_axis_tlast", "s_axis_tuser", "m_axis_tdata", "m_axis_tready"]
    {
        let listed = |line: &str| line.starts_with("//") && line.split_whitespace().any(|word| word == port);
        assert!(verilog.lines().any(listed), "{port}");
    }
}

#[test]
fn illegal_requests_are_refused() {
    let configuration = Configuration::new(Settings { rows: 2048, ..Settings::default() }).unwrap();
    let refused = emit(&configuration, Module::Core, "core");
    let size = |core, cells, rows| {
        Err(EmitError::Refused(Refusal::Size { core, cells, rows, banks: 2, classes: 1 }))
    };
    assert_eq!(refused, size(CoreKind::Bits64, CellKind::Lda, 2048));
    let configuration = Configuration::new(Settings::default()).unwrap();
    let digests = Configuration::new(Settings { rows: 64, digest: true, ..Settings::default() }).unwrap();
    assert_eq!(emit(&digests, Module::Core, "core"), size(CoreKind::Bits64, CellKind::Digests, 64));
    assert_eq!(
        emit(&digests, Module::FourLanes512, "core"),
        size(CoreKind::FourLanes512, CellKind::Digests, 64)
    );
    assert_eq!(byte::emit(&digests, "core"), Err(Refusal::NoDigests.into()));
    for name in ["", "9core", "my core", "a$b"] {
        assert_eq!(emit(&configuration, Module::Core, name), Err(EmitError::Name(name.into())));
    }
}

#[test]
fn signals_between_processes_are_assigned_once() {
    for design in Design::all().unwrap() {
        common::assert_signals_between_processes_are_assigned_once(
            &design::emit(&design, "deltaline").unwrap(),
        );
    }
    let settings = Settings { rows: 16, prefixes: &[0, 2, 4], digest: true, ..Settings::default() };
    let verilog = emit(&Configuration::new(settings).unwrap(), Module::TwoLanes512, "deltaline").unwrap();
    common::assert_signals_between_processes_are_assigned_once(&verilog);
    for (synopsis, prefixes, rows) in [
        (Kind::FINECOMB, &[1, 6][..], 16),
        (Kind::IDENTITY_TABLE, &[0], 16),
        (Kind::LDA_IDENTITY, &[0], 32),
        (Kind::FLOW_ROWS, &[0], 16),
        (Kind::FLOW_VECTOR, &[0], 128),
        (Kind::SLICES, &[1], 16),
    ] {
        let settings = Settings { synopsis, prefixes, rows, ..Settings::default() };
        let verilog = emit(&Configuration::new(settings).unwrap(), Module::Core, "deltaline").unwrap();
        common::assert_signals_between_processes_are_assigned_once(&verilog);
    }
}

/// The default design with a part of its file replaced.
fn variant(from: &str, to: &str) -> Design {
    let text = include_str!("../configurations/10g.toml");
    assert!(text.contains(from));
    Design::parse("tap.toml", "tap", &text.replace(from, to)).unwrap()
}

#[test]
fn times_of_day_are_ports_of_taps() {
    let verilog = design::emit(&variant("clock = \"ptp\"", "clock = \"time-of-day\""), "core").unwrap();
    let top = verilog.split("endmodule").next().unwrap();
    assert!(top.contains("[95:0] ptp_ts_96;") && top.contains("input wire  [96:0] s_axis_tuser;"), "{top}");
}

#[test]
fn a_design_without_hardware_is_refused_as_its_file_says() {
    for (from, to) in [("lanes = 1", "lanes = 2"), ("rows = 1024", "rows = 64\ndigest = true\n#")] {
        let text = include_str!("../configurations/10g.toml").replace("digest = false", "").replace(from, to);
        let design = Design::parse("tap.toml", "tap", &text).unwrap();
        let refusal = design.core().and_then(|core| core.size(design.configuration())).unwrap_err();
        assert_eq!(design::emit(&design, "core"), Err(refusal.into()));
    }
}
