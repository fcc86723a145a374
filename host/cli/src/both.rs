//! Both recordings at once, the receiver's on a thread of its own.
//!
//! # Test plan
//!
//! The failure of the sender comes first, whichever end is done first. Results are those of one end after the other: every test of
//! `measure` and `truth`.

use crate::failure::Failure;
use std::panic::resume_unwind;
use std::thread;

/// Does the sender's work and the receiver's.
///
/// # Errors
///
/// The sender's failure, or else the receiver's.
pub(crate) fn both<S, R: Send>(
    sender: impl FnOnce() -> Result<S, Failure>,
    receiver: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<(S, R), Failure> {
    thread::scope(|scope| {
        let receiver = scope.spawn(receiver);
        let sender = sender();
        let receiver = receiver.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok((sender?, receiver?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    fn failing(name: &str) -> Result<(), Failure> {
        Err(Failure::new(Exit::Input, name))
    }

    #[test]
    fn the_senders_failure_comes_first() {
        let message = |result: Result<((), ()), Failure>| result.unwrap_err().message;
        assert_eq!(message(both(|| failing("sender"), || failing("receiver"))), "sender");
        assert_eq!(message(both(|| Ok(()), || failing("receiver"))), "receiver");
        assert!(both(|| Ok(()), || Ok(())).is_ok());
    }
}
