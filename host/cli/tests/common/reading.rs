//! A run of `deltaline read`, and its lines of JSON.
#![allow(clippy::unwrap_used, dead_code, reason = "helpers of tests are tests, and not every test needs all")]

use super::{Run, command};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

pub(crate) fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn of<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

/// A run of the program that goes on.
pub(crate) struct Reading {
    pub(crate) child: Child,
    output: BufReader<ChildStdout>,
    messages: BufReader<ChildStderr>,
    /// What has been written so far.
    pub(crate) text: String,
}

impl Reading {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(&mut command(arguments))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let messages = BufReader::new(child.stderr.take().unwrap());
        Reading { child, output, messages, text: String::new() }
    }

    /// Reads on until so many lines of this event have come.
    pub(crate) fn wait_for(&mut self, event: &str, count: usize) {
        let event = format!(r#"{{"event":"{event}""#);
        while self.text.matches(&event).count() < count {
            assert!(
                self.output.read_line(&mut self.text).unwrap() > 0,
                "no {event} {count} times in {}",
                self.text
            );
        }
    }

    pub(crate) fn message(&mut self) -> String {
        let mut message = String::new();
        self.messages.read_line(&mut message).unwrap();
        message
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the program's end by a signal; what it had written.
    pub(crate) fn killed(mut self) -> String {
        self.output.read_to_string(&mut self.text).unwrap();
        self.child.wait().unwrap();
        self.text
    }

    /// Waits for the program to end by itself.
    pub(crate) fn end(mut self) -> Run {
        let (mut output, mut messages) = (self.text, String::new());
        self.output.read_to_string(&mut output).unwrap();
        self.messages.read_to_string(&mut messages).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        Run { code, output, messages }
    }
}
