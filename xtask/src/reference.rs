//! Writes what sends and receives reference packets on a design's segment.
//!
//! Test plan: both files of a shipped design; a file that is there stays as it is; a stream of other than 64 bits is refused.

use crate::Failure;
use crate::verilog::find;
use deltaline_design::DEFAULT;
use deltaline_hdl::reference::{emit_receiver, emit_sender};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A shipped design (see `verilog --list`), or the path of a file that ends in .toml: its segment and configuration
    #[arg(default_value = DEFAULT, value_name = "CONFIG")]
    design: String,
    /// Folder of the two files
    #[arg(long, default_value = "out/reference", value_name = "DIR")]
    out: PathBuf,
    /// What the names of modules and files begin with
    #[arg(long, default_value = "deltaline", value_name = "PREFIX")]
    name: String,
}

/// Does what the arguments ask for.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = find(&arguments.design)?;
    let stream = design.stream();
    if (stream.width, stream.lanes) != (64, 1) {
        return Err(format!(
            "{}: reference packets are sent and received on one lane of 64 bits, this design has {} x {}",
            arguments.design, stream.lanes, stream.width
        )
        .into());
    }
    let [sender, receiver] = ["sender", "receiver"].map(|end| format!("{}_reference_{end}", arguments.name));
    let configuration = design.configuration();
    fs::create_dir_all(&arguments.out)?;
    for (name, text) in [
        (&sender, emit_sender(configuration, &sender)?),
        (&receiver, emit_receiver(configuration, &receiver)?),
    ] {
        let path = arguments.out.join(format!("{name}.v"));
        let failed = |error| format!("{}: {error}; choose another --out, or move it away", path.display());
        let mut file = fs::File::create_new(&path).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        println!("{}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(design: &str, out: PathBuf) -> Arguments {
        Arguments { design: design.into(), out, name: "acme".into() }
    }

    #[test]
    fn both_files_are_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/folder");
        run(&arguments("10g", out.clone())).unwrap();
        for end in ["sender", "receiver"] {
            let text = fs::read_to_string(out.join(format!("acme_reference_{end}.v"))).unwrap();
            assert!(text.contains(&format!("module acme_reference_{end}(")));
        }
        let refusal = run(&arguments("10g", out)).unwrap_err().to_string();
        assert!(refusal.contains("acme_reference_sender.v") && refusal.contains("--out"), "{refusal}");
    }

    #[test]
    fn other_streams_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = run(&arguments("400g", folder.path().into())).unwrap_err().to_string();
        assert!(refusal.contains("4 x 512"), "{refusal}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
