//! Small text files: designs and keys. What goes on for ever, as devices do, is refused.
//!
//! # Test plan
//!
//! A file of the greatest length, one longer by a byte, a device without an end, what is no text, a byte order mark.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Most bytes of a file.
const MOST: u64 = 1 << 20;
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file of at most [`MOST`] bytes.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "longer than 1 MiB"));
    }
    // Editors of some systems begin every text with a byte order mark.
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (length, is_read) in [(0, true), (MOST, true), (MOST + 1, false)] {
            std::fs::write(&file, vec![b'x'; length as usize]).unwrap();
            assert_eq!(read(&file).is_ok(), is_read, "{length}");
        }
        assert_eq!(read(Path::new("/dev/zero")).unwrap_err().kind(), ErrorKind::FileTooLarge);
        std::fs::write(&file, "\u{feff}seed = 1").unwrap();
        assert_eq!(read(&file).unwrap(), "seed = 1");
        std::fs::write(&file, [0xff]).unwrap();
        assert_eq!(read(&file).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
