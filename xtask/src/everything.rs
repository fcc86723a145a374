//! `cargo xtask test`: every check there is.
//!
//! Cargo's checks without tests come first, one after the other. What other tools are asked is independent of each other and
//! mostly of one thread: as many at a time as there are processors, each a process of this program whose output is shown
//! whole when it ends. Cargo's tests run beside them, for they leave processors idle where crates wait for each other to be
//! compiled and where tests wait for a network.
//!
//! # Test plan
//!
//! A task that fails is named, and the others are run all the same; what a task says comes in its order, of both streams.
//! Of what runs beside tasks, the same: what fails is told, with the tasks that do.

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
const TASKS: [&str; 6] = [
    // Faults that take longer to show take minutes to find.
    "formal --faults-within 40",
    "report --check",
    "acceptance",
    "cocotb",
    // Others than those of seed 1, which the full run of a hundred takes.
    "mutate --netlist 6 --seed 4",
    "store --rows 200000",
];
/// The task that builds the operator's program as it is shipped, in place of the one that tests run.
const AFTER_TESTS: [&str; 1] = ["package"];

/// Runs every check.
pub(crate) fn run() -> Result<(), Failure> {
    tools::install(tools::Selection::Test)?;
    cargo::format()?;
    supply::notices(true)?;
    supply::check_licences()?;
    registers::generate(true)?;
    cargo::lint()?;
    cargo::document()?;
    let program = env::current_exe()?;
    let told = |result: Result<(), Failure>| result.map_err(|failure| failure.to_string());
    both(
        || told(cargo::test().and_then(|()| side_by_side(&program, &AFTER_TESTS))),
        || told(side_by_side(&program, &TASKS)),
    )
}

/// Runs the one beside the other; fails with what each says that fails.
fn both(
    one: impl FnOnce() -> Result<(), String> + Send,
    other: impl FnOnce() -> Result<(), String>,
) -> Result<(), Failure> {
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|_| Err("panicked".into())), other)
    });
    let failures: Vec<String> = [one, other].into_iter().filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("; ").into()) }
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
    fn what_fails_beside_another_is_told_with_it() {
        let failed = |name: &str| Err(name.to_string());
        assert_eq!(both(|| failed("tests"), || failed("tasks")).unwrap_err().to_string(), "tests; tasks");
        assert_eq!(both(|| failed("tests"), || Ok(())).unwrap_err().to_string(), "tests");
        assert_eq!(both(|| Ok(()), || failed("tasks")).unwrap_err().to_string(), "tasks");
        both(|| Ok(()), || Ok(())).unwrap();
        // Each waits for the other: one after the other would hang.
        let meeting = std::sync::Barrier::new(2);
        let wait = || {
            meeting.wait();
            Ok(())
        };
        both(wait, wait).unwrap();
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
