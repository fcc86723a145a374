//! The emitted text: stable, plain, and fit for event-driven simulators.
#![allow(clippy::unwrap_used)]

mod common;

use deltaline_hdl::byte;
use deltaline_hdl::emit::design::Design;
use deltaline_hdl::emit::verilog::{EmitError, Module, emit};
use deltaline_model::configuration::{Configuration, Settings};

fn default_core(name: &str) -> String {
    emit(&Configuration::new(Settings::default()).unwrap(), Module::Core, name).unwrap()
}

#[test]
fn every_module_carries_the_prefix_and_every_name_is_plain() {
    let verilog = default_core("acme_tap");
    assert_eq!(verilog, default_core("acme_tap"));
    assert!(!verilog.contains('$'));
    for line in verilog.lines().filter_map(|line| line.strip_prefix("module ")) {
        assert!(line.starts_with("acme_tap"), "{line}");
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
    assert_eq!(refused, Err(EmitError::Unsupported { rows: 2048, banks: 2 }));
    let configuration = Configuration::new(Settings::default()).unwrap();
    let digests = Configuration::new(Settings { rows: 64, digest: true, ..Settings::default() }).unwrap();
    let refused = emit(&digests, Module::Core, "core");
    assert_eq!(refused, Err(EmitError::UnsupportedDigest { rows: 64, banks: 2 }));
    let refused = emit(&digests, Module::FourLanes512, "core");
    assert_eq!(refused, Err(EmitError::UnsupportedDigest { rows: 64, banks: 2 }));
    assert_eq!(byte::emit(&digests, "core"), Err(EmitError::ByteDigest));
    for name in ["", "9core", "my core", "a$b"] {
        assert_eq!(emit(&configuration, Module::Core, name), Err(EmitError::Name(name.into())));
    }
}

#[test]
fn signals_between_processes_are_assigned_once() {
    for design in Design::all().unwrap() {
        common::assert_signals_between_processes_are_assigned_once(&design.emit("deltaline").unwrap());
    }
    let settings = Settings { rows: 16, prefixes: &[0, 2, 4], digest: true, ..Settings::default() };
    let verilog = emit(&Configuration::new(settings).unwrap(), Module::TwoLanes512, "deltaline").unwrap();
    common::assert_signals_between_processes_are_assigned_once(&verilog);
}
