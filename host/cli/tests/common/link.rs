//! Pairs of interfaces, which root alone may make, as a rule.
#![allow(dead_code, reason = "not every test needs all")]

use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

/// Two interfaces, of which each hears what the other one sends.
pub(crate) struct Pair(pub(crate) [String; 2]);

impl Pair {
    pub(crate) fn new() -> Option<Self> {
        static PAIRS: AtomicU32 = AtomicU32::new(0);
        let number = PAIRS.fetch_add(1, Ordering::Relaxed);
        let pair = Pair(["a", "b"].map(|end| format!("dl{}{end}{number}", process::id())));
        pair.create().then_some(pair)
    }

    pub(crate) fn create(&self) -> bool {
        let [one, other] = &self.0;
        ip(&["link", "add", one, "type", "veth", "peer", "name", other])
            && [one, other].iter().all(|end| ip(&["link", "set", end, "up"]))
    }

    pub(crate) fn remove(&self) -> bool {
        ip(&["link", "delete", &self.0[0]])
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.remove();
    }
}

pub(crate) fn ip(arguments: &[&str]) -> bool {
    Command::new("ip").args(arguments).output().is_ok_and(|output| output.status.success())
}
