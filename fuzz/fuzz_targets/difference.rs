#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| deltaline_hostile::difference(bytes));
