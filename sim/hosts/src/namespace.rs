//! A network namespace, made by `ip`.
//!
//! # Test plan
//!
//! With the paths that are made of them.

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// A network namespace, which goes with this.
pub(crate) struct Namespace(String);

impl Namespace {
    pub(crate) fn new(role: &str) -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let namespace = Namespace(format!("deltaline-{}-{number}-{role}", process::id()));
        command("ip", &["netns", "add", namespace.name()])?;
        namespace.ip(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// `ip` in this namespace.
    pub(crate) fn ip(&self, arguments: &[&str]) -> io::Result<()> {
        command("ip", &[&["-n", self.name()][..], arguments].concat()).map(|_| ())
    }

    /// Does this in the namespace, where the threads and the sockets that it makes stay.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        let file = File::open(format!("/run/netns/{}", self.name()))?;
        let worked = thread::scope(|scope| {
            let worker = scope.spawn(|| setns(file, CloneFlags::CLONE_NEWNET).map(|()| work()));
            worker.join().map_err(|_| io::Error::other("a thread in a network namespace has panicked"))
        })?;
        Ok(worked?)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // If it stays, so be it.
        let _ = command("ip", &["netns", "delete", self.name()]);
    }
}

/// What a command prints.
pub(crate) fn command(program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{program} {}: {}", arguments.join(" "), said.trim())))
}
