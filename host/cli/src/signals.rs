//! Ctrl-C, requests to end, and the terminal's going away.
//!
//! With each of them the program sums up what it has, and ends as if it were done. SIGHUP is left alone where it is
//! ignored when the program begins, as `nohup` has it.
//!
//! # Test plan
//!
//! `tests/read.rs`: each signal while a board is read; SIGHUP that is ignored. Here: the text in which the system says so.

use crate::exit::Exit;
use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Becomes true with the first of these signals; with the second one the program ends at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(&status, signal) {
            continue;
        }
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|reason| Failure::new(Exit::Input, format!("signals cannot be caught: {reason}")))?;
    }
    Ok(stop)
}

/// Whether a process of this status, as proc(5) has it, ignores a signal.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read() {
        let status = "SigBlk:\t0000000000000001\nSigIgn:\t0000000000001003\nSigCgt:\t00000001000004ff\n";
        let ignored = (1..=64).filter(|signal| is_ignored(status, *signal));
        assert_eq!(ignored.collect::<Vec<_>>(), [1, 2, 13]);
        assert!(!is_ignored("Name:\tdeltaline\n", 1) && !is_ignored("SigIgn:\tx\n", 1));
    }
}
