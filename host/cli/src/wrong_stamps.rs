//! Wrong stamps in recordings: which delays come of them.
//!
//! Packets that were held up alone are far from all others, too. But recorders write packets in the order of their coming, so that only a wrong
//! stamp, or a clock that was set, goes back in time.
//!
//! # Test plan
//!
//! By the commands: `tests/clocks.rs`.

use crate::causes::Surveys;
use deltaline_estimate::{Tame, WRONG_BY};

/// Which delays between two recordings come of wrong stamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrongStamps {
    /// The others, where stamps are known to be wrong.
    tame: Option<Tame>,
}

impl WrongStamps {
    /// As these recordings show them, and these delays in nanoseconds of their packets, of all or of a sample.
    pub(crate) fn of(surveys: &Surveys, delays: &[i64]) -> Self {
        let goes_back = [&surveys.sender, &surveys.receiver]
            .iter()
            .any(|end| end.backward().is_some_and(|backward| backward.most >= WRONG_BY));
        WrongStamps { tame: Tame::of(delays).filter(|_| goes_back) }
    }

    /// Whether they are among these delays in nanoseconds.
    pub(crate) fn are_among(&self, delays: impl IntoIterator<Item = i64>) -> bool {
        self.tame.is_some_and(|tame| !delays.into_iter().all(|delay| tame.holds(delay)))
    }
}
