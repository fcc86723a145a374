//! Twins: the model's side of a bench.
//!
//! What the hardware is given, its twin is given too; what comes out of the hardware is what the twin says is due, in that
//! order. When it must come out, the bench knows, or a twin that counts cycles.
//!
//! # Test plan
//!
//! The delay of a pipeline, below; every check, on sound modules and on those with planted faults.

use crate::bench::Bench;
use crate::error::{CheckError, same};
use std::collections::VecDeque;
use std::fmt::Debug;

/// The model beside a piece of hardware.
pub(crate) trait Twin {
    /// What goes in at once: the inputs of a cycle, a frame, the end of an interval.
    type Input<'a>;
    /// What comes out at once.
    type Output: PartialEq + Debug;

    /// Takes what the hardware is given.
    fn take(&mut self, input: Self::Input<'_>);

    /// What is due next, if anything is.
    fn due(&mut self) -> Option<Self::Output>;

    /// Compares what came out, if anything did, with what is due.
    ///
    /// # Errors
    ///
    /// [`CheckError::Mismatch`].
    fn compare(
        &mut self,
        stage: &'static str,
        at: u64,
        what: &'static str,
        found: Option<Self::Output>,
    ) -> Result<(), CheckError> {
        same(stage, at, what, &self.due(), &found)
    }
}

/// The twin of a stage that takes an input in every cycle and answers it a fixed number of cycles later.
pub(crate) struct Pipeline<'f, I, O> {
    stage: &'static str,
    latency: usize,
    function: Box<dyn FnMut(I) -> O + 'f>,
    answers: VecDeque<O>,
}

impl<'f, I: Copy, O: PartialEq + Debug> Pipeline<'f, I, O> {
    /// A stage that answers by `function` behind so many clock edges, the one that takes the input among them.
    pub(crate) fn new(stage: &'static str, latency: usize, function: impl FnMut(I) -> O + 'f) -> Self {
        Pipeline { stage, latency, function: Box::new(function), answers: VecDeque::new() }
    }

    /// Shows one input a cycle to the module, and compares what is found behind each clock edge that must bring an answer;
    /// returns the number of answers.
    ///
    /// # Errors
    ///
    /// [`CheckError::Mismatch`] with the first difference.
    pub(crate) fn follow(
        mut self,
        bench: &mut Bench,
        inputs: impl IntoIterator<Item = I>,
        show: impl Fn(&mut Bench, I),
        found: impl Fn(&Bench) -> O,
    ) -> Result<u64, CheckError> {
        let mut answers = 0;
        for input in inputs {
            show(bench, input);
            self.take(input);
            bench.tick()?;
            if self.answers.len() == self.latency {
                self.compare(self.stage, answers, "output", Some(found(bench)))?;
                answers += 1;
            }
        }
        Ok(answers)
    }
}

impl<I: Copy, O: PartialEq + Debug> Twin for Pipeline<'_, I, O> {
    type Input<'a> = I;
    type Output = O;

    fn take(&mut self, input: I) {
        self.answers.push_back((self.function)(input));
    }

    fn due(&mut self) -> Option<O> {
        if self.answers.len() == self.latency { self.answers.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_when_they_are_due() {
        let mut twin = Pipeline::new("doubling", 3, |input: u32| 2 * input);
        let mut due = vec![];
        for input in 1..6 {
            twin.take(input);
            due.push(twin.due());
        }
        assert_eq!(due, [None, None, Some(2), Some(4), Some(6)]);
        twin.take(6);
        assert!(twin.compare("doubling", 5, "output", Some(9)).is_err());
    }
}
