//! A progress bar for what takes long.
//!
//! # Test plan
//!
//! At a pseudo-terminal, what takes two seconds shows how far it is, and standard error in a file gets nothing
//! (`tests/inputs.rs`).

use deltaline_capture::Capture;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// What is done faster needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// Packets from one look at the clock to the next.
const STRIDE: u32 = 256;

/// Shows on standard error, if that is a terminal, how far captures have been read.
pub(crate) struct Progress {
    what: &'static str,
    started: Instant,
    packets: u32,
    bar: Option<ProgressBar>,
    /// Bytes read of each capture.
    consumed: Vec<u64>,
    /// Bytes of all captures, if known.
    total: Option<u64>,
}

impl Progress {
    /// Nothing is shown yet.
    pub(crate) fn new(what: &'static str, captures: &[&Capture]) -> Self {
        Progress {
            what,
            started: Instant::now(),
            packets: 0,
            bar: None,
            consumed: vec![0; captures.len()],
            total: captures.iter().map(|capture| capture.progress().total).sum(),
        }
    }

    /// To be called at every packet of `capture`, the one at `position` among those given.
    pub(crate) fn packet(&mut self, position: usize, capture: &Capture) {
        self.packets = self.packets.wrapping_add(1);
        if !self.packets.is_multiple_of(STRIDE) || self.started.elapsed() < PATIENCE {
            return;
        }
        if let Some(consumed) = self.consumed.get_mut(position) {
            *consumed = capture.progress().consumed;
        }
        let (what, total) = (self.what, self.total);
        // A bar draws nothing unless standard error is a terminal.
        let bar = self.bar.get_or_insert_with(|| match total {
            Some(total) => {
                let template = "{msg} {bar:40} {bytes}/{total_bytes} ({eta} left)";
                let style = ProgressStyle::with_template(template);
                let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
                ProgressBar::new(total).with_style(style).with_message(what)
            }
            None => ProgressBar::new_spinner().with_message(what),
        });
        bar.set_position(self.consumed.iter().sum());
    }
}

/// Does something of which it is not known how far it is, and shows that it goes on.
pub(crate) fn working<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let bar = ProgressBar::new_spinner().with_message(what);
    // The first tick comes when patience is over.
    bar.enable_steady_tick(PATIENCE);
    let result = work();
    bar.finish_and_clear();
    result
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
