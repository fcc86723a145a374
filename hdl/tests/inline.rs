//! The emitted text of insertion, at every width: stable, plain, and fit for event-driven simulators.
#![allow(clippy::unwrap_used)]

use crate::common;
use deltaline_hdl::emit::reader::modules;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_hdl::inline::{Width, emit};
use deltaline_model::configuration::{Configuration, Settings};

#[test]
fn every_width_is_emitted_in_plain_names_under_its_prefix() {
    let configuration = Configuration::new(Settings::default()).unwrap();
    for width in Width::ALL {
        let verilog = emit(&configuration, width, "acme_insertion").unwrap();
        assert_eq!(verilog, emit(&configuration, width, "acme_insertion").unwrap());
        assert!(!verilog.contains('$'));
        for module in modules(&verilog) {
            assert!(module.name.starts_with("acme_insertion"), "{}", module.name);
        }
        let data = format!("input wire  [{}:0] s_axis_tdata;", 64 * width.words() - 1);
        let keep = format!("output reg  [{}:0] m_axis_tkeep;", 8 * width.words() - 1);
        assert!(verilog.contains(&data) && verilog.contains(&keep), "{width:?}");
        common::assert_signals_between_processes_are_assigned_once(&verilog);
        let refused = emit(&configuration, width, "a$b");
        assert_eq!(refused, Err(EmitError::Name("a$b".into())));
    }
}
