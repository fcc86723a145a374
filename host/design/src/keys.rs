//! Key files: the secrets that authenticate a measurement's frames.
//!
//! A line is a key: its identifier, 1 to 65535, and its 128 bits as 32 hexadecimal digits. What follows a `#` is a comment.
//! Readers take every key; who signs takes the last one. So a key is changed by adding a line: first where frames are read,
//! then at the points.
//!
//! ```text
//! # segments 1 to 4, north
//! 1 000102030405060708090a0b0c0d0e0f
//! 2 8e3c55a0b4d1f7629a0c1d2e3f405162
//! ```
//!
//! Whoever can read the file can forge frames, so a file that others may read is refused.
//!
//! # Test plan
//!
//! Files written here are read back; hand-written ones with comments, spaces and capitals; each error by its line; what others may
//! read is refused, and what is no file; adding keeps what is there, takes the next identifier, of many that add at once each its own, and never leaves half a file.

use crate::small_file;
use deltaline_model::wire::authentication::{KEY_BYTES, Key, Keys};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::path::Path;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read or written.
    #[error("{file}: {source}; `deltaline key FILE` makes a file with a key")]
    File {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// Others may read the file.
    #[error("{file}: others may read it (mode {mode:03o}), and forge frames: chmod 600 {file}")]
    Open {
        /// The file.
        file: String,
        /// Its permissions.
        mode: u32,
    },
    /// It is no file, but something that may make whoever reads it wait for ever.
    #[error(
        "{file}: is a folder, a pipe or a device; keys are read from files: `deltaline key FILE` makes one"
    )]
    Special {
        /// What it is called.
        file: String,
    },
    /// A line is not a key.
    #[error("{file}:{line}: {why}; a line is an identifier from 1 to 65535 and 32 hexadecimal digits")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1 on.
        line: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// There is no key in it.
    #[error("{file}: there is no key in it; `deltaline key {file}` adds one")]
    Empty {
        /// The file.
        file: String,
    },
    /// No identifier is left, or no random number to be had.
    #[error("{file}: no key can be added: {why}")]
    Exhausted {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
}

/// The keys of a file, in its order; one at least.
///
/// # Errors
///
/// [`KeyFileError`] with the line that is wrong.
pub fn load_keys(path: &Path) -> Result<Keys, KeyFileError> {
    let file = || path.display().to_string();
    check_is_file(path)?;
    let read = small_file::read(path);
    let text = read.map_err(|source| KeyFileError::File { file: file(), source })?;
    check_permissions(path)?;
    parse_keys(&file(), &text)
}

/// The keys of a file with this name and text, as [`load_keys`] reads them.
///
/// # Errors
///
/// [`KeyFileError`] with the line that is wrong.
pub fn parse_keys(file: &str, text: &str) -> Result<Keys, KeyFileError> {
    let keys = parse(file, text)?;
    if keys.last().is_none() {
        return Err(KeyFileError::Empty { file: file.into() });
    }
    Ok(keys)
}

/// Adds a random key to a file, which is made if there is none; returns its identifier, one above the highest there is.
///
/// # Errors
///
/// [`KeyFileError`] if the file is not one of keys, or cannot be written; it stays as it is then.
pub fn add_key(path: &Path) -> Result<u16, KeyFileError> {
    let file = || path.display().to_string();
    let failed = |source| KeyFileError::File { file: file(), source };
    check_is_file(path)?;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut written = options.open(path).map_err(failed)?;
    // One process after the other: the next identifier is that of what the one before has written. It is free again when the file is closed.
    written.lock().map_err(failed)?;
    let text = small_file::read(path).map_err(failed)?;
    if !text.is_empty() {
        check_permissions(path)?;
    }
    let highest = parse(&file(), &text)?.ids().max().unwrap_or(0);
    let exhausted = |why: String| KeyFileError::Exhausted { file: file(), why };
    let id = highest.checked_add(1).ok_or_else(|| exhausted("identifier 65535 is taken".into()))?;
    let mut secret = [0; KEY_BYTES];
    getrandom::fill(&mut secret).map_err(|error| exhausted(error.to_string()))?;
    let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let separator = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    // One write of a line: a file that is cut in it has a last line that is refused, and no wrong key.
    let line = format!("{separator}{id} {digits}\n");
    written.write_all(line.as_bytes()).and_then(|()| written.sync_all()).map_err(failed)?;
    Ok(id)
}

/// Refuses what is there and is no file.
fn check_is_file(path: &Path) -> Result<(), KeyFileError> {
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(KeyFileError::Special { file: path.display().to_string() });
    }
    Ok(())
}

/// Refuses a file that others than its owner may read.
///
/// # Errors
///
/// [`KeyFileError::Open`] and [`KeyFileError::File`].
pub fn check_permissions(path: &Path) -> Result<(), KeyFileError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = || path.display().to_string();
        let read = fs::metadata(path);
        let mode =
            read.map_err(|source| KeyFileError::File { file: file(), source })?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyFileError::Open { file: file(), mode });
        }
    }
    Ok(())
}

fn parse(file: &str, text: &str) -> Result<Keys, KeyFileError> {
    let mut keys = Keys::default();
    for (line, content) in (1..).zip(text.lines()) {
        let refuse = |why| KeyFileError::Line { file: file.to_string(), line, why };
        let mut words = content.split('#').next().unwrap_or_default().split_whitespace();
        let Some(id) = words.next() else { continue };
        let id: NonZeroU16 =
            id.parse().map_err(|_| refuse("the identifier is not a number from 1 to 65535"))?;
        let digits = words.next().ok_or_else(|| refuse("the key is missing"))?;
        let secret = parse_secret(digits).ok_or_else(|| refuse("the key is not 32 hexadecimal digits"))?;
        if words.next().is_some() {
            return Err(refuse("something follows the key"));
        }
        if secret == [0; KEY_BYTES] {
            return Err(refuse("the key is all zeros, which is no secret"));
        }
        if !keys.add(Key::new(id, secret)) {
            return Err(refuse("the identifier is there already"));
        }
    }
    Ok(keys)
}

fn parse_secret(digits: &str) -> Option<[u8; KEY_BYTES]> {
    let is_hexadecimal =
        digits.len() == 2 * KEY_BYTES && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u128::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
    Some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    /// What a file with this text gives.
    fn of(text: &str) -> Result<Keys, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let place = folder.path().display().to_string();
        load_keys(&path).map_err(|error| error.to_string().replace(&format!("{place}/"), ""))
    }

    #[test]
    fn written_by_hand() {
        let keys =
            of("# north\n\n 1\t000102030405060708090A0B0C0D0E0F # old\n2 ffffffffffffffffffffffffffffffff")
                .unwrap();
        assert_eq!(keys.ids().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(keys.get(1).unwrap().secret(), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(keys.last().unwrap().id(), 2);
    }

    #[test]
    fn errors_name_the_line() {
        let ones = "11111111111111111111111111111111";
        for (text, expected) in [
            (format!("1 {ones}\n0 {ones}"), "keys:2: the identifier is not a number"),
            (format!("65536 {ones}"), "keys:1: the identifier is not a number"),
            ("1".into(), "keys:1: the key is missing"),
            (format!("1 {}", &ones[1..]), "keys:1: the key is not 32"),
            (format!("1 +{}", &ones[1..]), "keys:1: the key is not 32"),
            (format!("1 {ones} 2"), "keys:1: something follows"),
            (format!("1 {ones}\n\n1 {ones}"), "keys:3: the identifier is there already"),
            (format!("1 {ones}\n2 {}", "0".repeat(32)), "keys:2: the key is all zeros"),
            ("# nothing".into(), "keys: there is no key in it"),
        ] {
            let error = of(&text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    /// A pipe that nobody writes to.
    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            assert!(matches!(load_keys(path), Err(KeyFileError::Special { .. })), "{path:?}");
            assert!(matches!(add_key(path), Err(KeyFileError::Special { .. })), "{path:?}");
        }
    }

    #[test]
    fn keys_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        assert_eq!([1, 2].map(|_| add_key(&path).unwrap()), [1, 2]);
        let keys = load_keys(&path).unwrap();
        assert_ne!(keys.get(1).unwrap().secret(), keys.get(2).unwrap().secret());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        // By hand without an end of line, and the last identifier.
        let ones = "1".repeat(32);
        fs::write(&path, format!("65534 {ones}")).unwrap();
        assert_eq!(add_key(&path).unwrap(), 65535);
        assert_eq!(load_keys(&path).unwrap().ids().collect::<Vec<_>>(), [65534, 65535]);
        let before = fs::read(&path).unwrap();
        assert!(matches!(add_key(&path), Err(KeyFileError::Exhausted { .. })));
        fs::write(&path, "nonsense").unwrap();
        assert!(matches!(add_key(&path), Err(KeyFileError::Line { line: 1, .. })));
        assert_eq!(fs::read(&path).unwrap(), b"nonsense");
        assert!(before.starts_with(b"65534"));
    }

    #[test]
    fn many_at_once_take_an_identifier_each() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let mut ids: Vec<u16> = std::thread::scope(|scope| {
            let adding: Vec<_> =
                (0..20).map(|_| scope.spawn(|| [0; 5].map(|_| add_key(&path).unwrap()))).collect();
            adding.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        ids.sort_unstable();
        assert_eq!(ids, (1..=100).collect::<Vec<_>>());
        assert_eq!(load_keys(&path).unwrap().ids().count(), 100);
    }

    #[test]
    fn what_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        add_key(&path).unwrap();
        for mode in [0o640, 0o604, 0o666] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(matches!(load_keys(&path), Err(KeyFileError::Open { mode: found, .. }) if found == mode));
            assert!(matches!(add_key(&path), Err(KeyFileError::Open { .. })));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-f#\\n \u{e9}]{0,200}") {
            if let Ok(keys) = parse("keys", &text) {
                prop_assert!(keys.ids().all(|id| id > 0));
            }
        }
    }
}
