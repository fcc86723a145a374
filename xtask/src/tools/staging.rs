//! Folders that appear under their name only when they are complete.
//!
//! Test plan: an unfinished folder leaves nothing; a complete one stays; an outdated one is replaced.

use super::error::{Error, io_error};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_128;

const MARKER: &str = ".installed";

pub(super) fn marker_text(asked_for: &str) -> String {
    format!("{:032x}\n", xxh3_128(asked_for.as_bytes()))
}

pub(super) fn is_complete(place: &Path, marker: &str) -> bool {
    fs::read_to_string(place.join(MARKER)).is_ok_and(|text| text == marker)
}

/// A folder under a temporary name, removed again if it is not finished.
pub(super) struct Staging {
    folder: TempDir,
}

impl Staging {
    pub(super) fn new(folder: &Path, name: &str) -> Result<Self, Error> {
        // As any new folder, not only for its owner as temporary ones are; the process's mask still applies.
        let permissions = fs::Permissions::from_mode(0o777);
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{name}-");
        builder.prefix(&prefix).permissions(permissions);
        let folder = builder.tempdir_in(folder).map_err(io_error("create a folder in", folder))?;
        Ok(Self { folder })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Marks the folder as complete and gives it its final name, in place of an outdated one.
    pub(super) fn finish(self, place: &Path, marker: &str) -> Result<(), Error> {
        let file = self.path().join(MARKER);
        fs::write(&file, marker).map_err(io_error("write", &file))?;
        if !is_complete(place, marker) {
            remove(place)?;
        }
        match fs::rename(self.path(), place) {
            // Another process was faster.
            Err(_) if is_complete(place, marker) => Ok(()),
            result => result.map_err(io_error("write", place)),
        }
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", path)(error)),
        _ => Ok(()),
    }
}

pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(io_error("read", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_folder_replaces_an_outdated_one_and_an_unfinished_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let place = folder.join("thing");
        let install = |asked_for: &str, file: &str, finish: bool| {
            let staging = Staging::new(folder, "thing").unwrap();
            fs::write(staging.path().join(file), "").unwrap();
            if finish {
                staging.finish(&place, &marker_text(asked_for)).unwrap();
            }
        };
        install("one", "a", false);
        assert!(entries(folder).unwrap().is_empty());
        install("one", "a", true);
        assert!(is_complete(&place, &marker_text("one")) && place.join("a").is_file());
        // A second process that installed the same finds the first one's work and leaves it.
        install("one", "b", true);
        assert!(place.join("a").is_file() && !place.join("b").exists());
        install("two", "c", true);
        assert!(
            is_complete(&place, &marker_text("two"))
                && !place.join("a").exists()
                && place.join("c").is_file()
        );
        assert_eq!(entries(folder).unwrap(), std::slice::from_ref(&place));
    }
}
