//! A progress bar for what takes long.
//!
//! # Test plan
//!
//! At a pseudo-terminal, what takes two seconds shows how far it is, and standard error in a file gets nothing
//! (`tests/inputs.rs`).

use deltaline_capture::Capture;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// What is done faster needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// Packets from one look at the clock to the next.
const STRIDE: u32 = 256;

/// Shows on standard error, if that is a terminal, how far captures have been read. One for each capture: clones share a bar.
#[derive(Clone)]
pub(crate) struct Progress {
    shared: Arc<Shared>,
    packets: u32,
    /// Bytes of this capture that the bar shows.
    consumed: u64,
}

struct Shared {
    what: &'static str,
    started: Instant,
    bar: OnceLock<ProgressBar>,
    /// Bytes of all captures, if known.
    total: Option<u64>,
    /// Packets of all captures, in strides.
    strides: AtomicU64,
}

impl Progress {
    /// Nothing is shown yet.
    pub(crate) fn new(what: &'static str, captures: &[&Capture]) -> Self {
        let total = captures.iter().map(|capture| capture.progress().total).sum();
        let shared =
            Shared { what, started: Instant::now(), bar: OnceLock::new(), total, strides: AtomicU64::new(0) };
        Progress { shared: Arc::new(shared), packets: 0, consumed: 0 }
    }

    /// To be called at every packet of `capture`.
    pub(crate) fn packet(&mut self, capture: &Capture) {
        self.packets = self.packets.wrapping_add(1);
        if !self.packets.is_multiple_of(STRIDE) {
            return;
        }
        let packets = u64::from(STRIDE) * (1 + self.shared.strides.fetch_add(1, Ordering::Relaxed));
        if self.shared.started.elapsed() < PATIENCE {
            return;
        }
        let Shared { what, total, .. } = *self.shared;
        // A bar draws nothing unless standard error is a terminal.
        let bar = self.shared.bar.get_or_init(|| match total {
            Some(total) => {
                let template = "{msg} {bar:40} {bytes}/{total_bytes} ({eta} left)";
                let style = ProgressStyle::with_template(template);
                let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
                ProgressBar::new(total).with_style(style).with_message(what)
            }
            None => ProgressBar::new_spinner().with_message(what),
        });
        // A small file may hold very many packets: its bytes are read long before these are.
        bar.set_message(format!("{what}: {:.1} million packets", packets as f64 / 1e6));
        let consumed = capture.progress().consumed;
        bar.inc(consumed.saturating_sub(std::mem::replace(&mut self.consumed, consumed)));
    }
}

/// Does something of which it is not known how far it is, and shows that it goes on.
pub(crate) fn working<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    working_aloud(what, |_| work())
}

/// The same for what prints meanwhile: while the bar is [suspended](ProgressBar::suspend).
pub(crate) fn working_aloud<T>(what: &'static str, work: impl FnOnce(&ProgressBar) -> T) -> T {
    let bar = ProgressBar::new_spinner().with_message(what);
    // The first tick comes when patience is over.
    bar.enable_steady_tick(PATIENCE);
    let result = work(&bar);
    bar.finish_and_clear();
    result
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
