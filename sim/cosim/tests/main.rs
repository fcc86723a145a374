//! The emitted Verilog against the model.
//!
//! One test program, as linking one for each subject takes long, and a long test holds up no other.

mod adaptive;
mod authentication;
mod board_rmii_tap;
mod board_selftest;
mod byte;
mod byte_tags;
mod clock;
mod delimiter_tags;
mod digest;
mod ecp5;
mod forgery;
mod inline;
mod lint;
mod mixing;
mod mutations;
mod reference;
mod registers;
mod rusthdl;
mod shell;
mod signed_byte;
mod succession;
mod synopses;
mod twins;
mod vectors;
