//! What is measured: the one list of configurations.

use crate::Failure;
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};

/// A configuration to be measured.
pub(crate) struct Subject {
    /// Its name in tables, options and the budget.
    pub(crate) name: String,
    /// What it is, in a few words.
    pub(crate) description: String,
    /// Its Verilog.
    pub(crate) verilog: String,
    /// The top module, which all modules' names start with.
    pub(crate) top: String,
    /// The clock that its line rate needs.
    pub(crate) clock_mhz: f64,
}

/// All configurations.
pub(crate) fn all() -> Result<Vec<Subject>, Failure> {
    [("default", 1024), ("small", 128)].into_iter().map(|(name, rows)| core(name, rows)).collect()
}

/// The core with 2 x `rows` rows.
pub(crate) fn core(name: &str, rows: usize) -> Result<Subject, Failure> {
    let configuration = Configuration::new(Settings { rows, ..Settings::default() })?;
    let top = "deltaline".to_string();
    Ok(Subject {
        name: name.to_string(),
        description: format!("64-bit stream, 2 x {rows} rows"),
        verilog: emit(&configuration, Module::Core, &top)?,
        top,
        // 10 Gbit/s.
        clock_mhz: 156.25,
    })
}
