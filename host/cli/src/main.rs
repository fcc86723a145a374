//! The program `deltaline`; everything is in the library beside it, where checks reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    deltaline::main()
}
