//! Ctrl-C and requests to end.

use crate::exit::Exit;
use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Becomes true with Ctrl-C or a request to end; with the second one the program ends at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|reason| Failure::new(Exit::Input, format!("signals cannot be caught: {reason}")))?;
    }
    Ok(stop)
}
