//! Writes the Verilog of the default configuration's core to standard output.
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(1024), |rows| rows.parse())?;
    let configuration = Configuration::new(Settings { rows, ..Settings::default() })?;
    print!("{}", emit(&configuration, Module::Core, "deltaline")?);
    Ok(())
}
