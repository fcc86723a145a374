//! `cargo xtask test`: every check there is.
//!
//! Cargo's own checks come first, one after the other, for each keeps all processors busy. What other tools are asked is
//! independent of each other and mostly of one thread: as many at a time as there are processors, each a process of this
//! program whose output is shown whole when it ends.
//!
//! # Test plan
//!
//! A task that fails is named, and the others are run all the same; what a task says comes in its order, of both streams.

use crate::{Failure, cargo, registers, supply, tools};
use std::env;
use std::io::{self, Read as _};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// The tasks that ask other tools, longest first.
const TASKS: [&str; 7] = [
    "formal",
    "report --check",
    "package",
    "acceptance",
    "cocotb",
    // Others than those of seed 1, which the full run of a hundred takes.
    "mutate --netlist 6 --seed 4",
    "store --rows 200000",
];

/// Runs every check.
pub(crate) fn run() -> Result<(), Failure> {
    tools::install(tools::Selection::Test)?;
    cargo::format()?;
    supply::notices(true)?;
    supply::check_licences()?;
    registers::generate(true)?;
    cargo::lint()?;
    cargo::document()?;
    cargo::test()?;
    side_by_side(&env::current_exe()?, &TASKS)
}

/// Runs the program once for each task, as many at a time as there are processors; fails with the names of those that do.
fn side_by_side(program: &Path, tasks: &[&str]) -> Result<(), Failure> {
    let (waiting, failed) = (Mutex::new(tasks.iter()), Mutex::new(vec![]));
    let work = || {
        loop {
            let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(task) = task else { return };
            let start = Instant::now();
            let (good, said) = ended(program, task).unwrap_or_else(|error| (false, error.to_string()));
            eprintln!("==> {task}: {:.0} s\n{said}", start.elapsed().as_secs_f64());
            if !good {
                failed.lock().unwrap_or_else(PoisonError::into_inner).push(*task);
            }
        }
    };
    let lanes = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| (0..lanes).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
}

/// Whether the task ends well, and all that it says, in the order in which it does.
fn ended(program: &Path, task: &str) -> io::Result<(bool, String)> {
    let (mut reader, writer) = io::pipe()?;
    let mut child =
        Command::new(program).args(task.split(' ')).stdout(writer.try_clone()?).stderr(writer).spawn()?;
    let mut said = vec![];
    reader.read_to_end(&mut said)?;
    Ok((child.wait()?.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_named_and_the_others_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let (nowhere, last) = (file("none/file"), file("last"));
        let failure = side_by_side(Path::new("touch"), &[&file("first"), &nowhere, &last]).unwrap_err();
        assert_eq!(failure.to_string(), format!("failed: {nowhere}"));
        assert!(Path::new(&file("first")).exists() && Path::new(&last).exists());
        side_by_side(Path::new("touch"), &[&last]).unwrap();
        assert!(side_by_side(Path::new("/none"), &["task"]).unwrap_err().to_string().ends_with("task"));
    }

    #[test]
    fn both_streams_come_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "echo first; echo second >&2; echo third; exit $1").unwrap();
        let said = "first\nsecond\nthird\n".to_string();
        let task = |code: u8| format!("{} {code}", script.display());
        assert_eq!(ended(Path::new("sh"), &task(0)).unwrap(), (true, said.clone()));
        assert_eq!(ended(Path::new("sh"), &task(3)).unwrap(), (false, said));
    }
}
