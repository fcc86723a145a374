//! Writes what sends and receives reference packets on a design's segment.
//!
//! Test plan: both files of a shipped design; a file that is there stays as it is; of 512 bits the receiver alone; several lanes are refused.

use crate::Failure;
use crate::verilog::find;
use deltaline_design::{DEFAULT, Refusal};
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_hdl::inline::Width;
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
    let is_wide = |width: &Width| stream.lanes == 1 && stream.width == 64 * width.words();
    let width = Width::ALL.into_iter().find(is_wide).ok_or(Refusal::References);
    let width = width.map_err(|refusal| format!("{}: {refusal}", arguments.design))?;
    let [sender, receiver] = ["sender", "receiver"].map(|end| format!("{}_reference_{end}", arguments.name));
    let configuration = design.configuration();
    let sending = match emit_sender(configuration, width, &sender) {
        Err(EmitError::Refused(refusal)) => {
            eprintln!("{}: {refusal}; the receiver alone is written", arguments.design);
            None
        }
        sending => Some(sending?),
    };
    let receiving = emit_receiver(configuration, width, &receiver)?;
    fs::create_dir_all(&arguments.out)?;
    for (name, text) in sending.map(|text| (&sender, text)).into_iter().chain([(&receiver, receiving)]) {
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
    fn of_512_bits_the_receiver_alone_is_written() {
        let folder = tempfile::tempdir().unwrap();
        run(&arguments("100g", folder.path().into())).unwrap();
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["acme_reference_receiver.v"]);
    }

    #[test]
    fn other_streams_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = run(&arguments("400g", folder.path().into())).unwrap_err().to_string();
        assert!(refusal.contains("400g") && refusal.contains("one lane"), "{refusal}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
