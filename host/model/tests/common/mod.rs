//! Reading the golden vectors.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

/// The control frames of `vectors/frames.hex`.
pub(crate) fn golden_frames() -> Vec<Vec<u8>> {
    lines(include_str!("../../vectors/frames.hex")).map(|(_, columns)| unhex(columns[0])).collect()
}

/// Those of version 2, `vectors/frames-v2.hex`.
pub(crate) fn golden_frames_v2() -> Vec<Vec<u8>> {
    lines(include_str!("../../vectors/frames-v2.hex")).map(|(_, columns)| unhex(columns[0])).collect()
}

/// The lines that are no comments: line number from 1, columns.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.starts_with('#'))
        .map(|(number, line)| (number, line.split(' ').collect()))
}

/// Bytes from hexadecimal digits.
pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "{digits}");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
