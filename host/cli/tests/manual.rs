//! Pages of `man` and completions of shells, read by `man` and bash where they are.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, run};
use std::fs;
use std::process::{Command, Output};

/// Runs a program, if it is there.
fn foreign(command: &mut Command) -> Option<Output> {
    command.output().ok()
}

#[test]
fn every_command_has_a_page() {
    let folder = Folder::new();
    let pages = folder.path("man1");
    run(&["manual", &pages]).told(0, &[]);
    for (page, parts) in [
        ("deltaline", &["measure", "exit codes", "an output cannot be written"][..]),
        ("deltaline-measure", &["keep", "500ms", "Every half second, for a program to read"]),
        ("deltaline-read", &["prometheus", "serial port"]),
        ("deltaline-board-selftest", &["settings"]),
    ] {
        let path = format!("{pages}/{page}.1");
        let text = fs::read_to_string(&path).unwrap();
        for part in parts {
            assert!(text.to_lowercase().contains(&part.to_lowercase()), "{part} is not in {text}");
        }
        if let Some(shown) = foreign(Command::new("man").args(["--warnings", "-l", &path])) {
            let complaints = String::from_utf8(shown.stderr).unwrap();
            assert!(shown.status.success() && complaints.is_empty(), "{complaints}");
        }
    }
    let blocked = folder.write("file", "");
    run(&["manual", &blocked]).failed(7, &["cannot be written"]);
}

#[test]
fn shells_complete() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        script.told(0, &[]);
        assert!(script.output.contains("keep-going") && script.output.contains("measure"), "{shell}");
    }
    let script = run(&["completions", "bash"]).output;
    let ask = format!(
        "{script}\nCOMP_WORDS=(deltaline measure --keep); COMP_CWORD=2; _deltaline deltaline --keep measure; \
         echo \"${{COMPREPLY[@]}}\""
    );
    if let Some(answer) = foreign(Command::new("bash").args(["-c", &ask])) {
        assert_eq!(String::from_utf8(answer.stdout).unwrap().trim(), "--keep-going");
    }
    run(&["completions", "tcsh"]).told(2, &["bash"]);
}
