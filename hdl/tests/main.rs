//! The emitted text, its sizes and its packages.
//!
//! One test program, as linking one for each subject takes long. It also has the tests within the sources: a build of the
//! crate for them would compile every size once more.
#![allow(clippy::unwrap_used)]

mod common;
mod emission;
mod inline;
mod package;
mod reader;
mod sizes;

// Sources with tests of their own, and what they take from the crate.
#[path = "../src/emit"]
mod emit {
    mod frames;
    mod sizes;

    pub(crate) use deltaline_hdl::emit::{package, refusal};
}
#[path = "../src/leaves"]
mod leaves {
    mod shared_parity;
}
