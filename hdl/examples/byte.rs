//! Prints the byte core of the default configuration with the rows given, 128 without.
#![allow(clippy::unwrap_used)]

use deltaline_model::configuration::{Configuration, Settings};
fn main() {
    let rows = std::env::args().nth(1).and_then(|r| r.parse().ok()).unwrap_or(128);
    let c = Configuration::new(Settings { rows, ..Settings::default() }).unwrap();
    print!("{}", deltaline_hdl::byte::emit(&c, "deltaline").unwrap());
}
