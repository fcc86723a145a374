//! Writes a configuration's Verilog.

use crate::Failure;
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::hash::HashKind;
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder that the file is written to
    #[arg(long, default_value = "out/verilog")]
    out: PathBuf,
    /// Name of the top module, prefix of all others, and name of the file
    #[arg(long, default_value = "deltaline")]
    name: String,
    /// Rows of each bank: a power of two from 8 to 1024
    #[arg(long, default_value_t = 1024)]
    rows: usize,
    /// Prefix lengths of up to four banks, such as 1,6: bank j samples with probability 2^-k
    #[arg(long, value_delimiter = ',', default_value = "1,6", value_name = "LENGTHS")]
    banks: Vec<u8>,
    /// Use Rabin's fingerprint instead of H3
    #[arg(long)]
    rabin: bool,
    /// Seed of the hash
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the measurement segment
    #[arg(long, default_value_t = 0)]
    segment: u32,
}

/// Writes the core of the configuration that the arguments describe.
pub(crate) fn write(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { out, name, rows, banks, rabin, seed, segment } = arguments;
    let hash = if *rabin { HashKind::Rabin } else { HashKind::H3 };
    let settings = Settings { hash, seed: *seed, rows: *rows, prefixes: banks, segment: *segment };
    let verilog = emit(&Configuration::new(settings)?, Module::Core, name)?;
    let path = out.join(format!("{name}.v"));
    let failed = |error| format!("{}: cannot be written: {error}; choose another --out", path.display());
    fs::create_dir_all(out).and_then(|()| fs::write(&path, verilog)).map_err(failed)?;
    println!("{}", path.display());
    Ok(())
}
