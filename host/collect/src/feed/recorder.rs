//! What a live feed says, kept in files that survive whatever happens to the program.
//!
//! A file that exists is never written to. With a period, a new file begins when the last one has been written for so long,
//! between two intervals; each is called after the microsecond when it begins, in UTC: `run.pcapng` becomes
//! `run-20260123T070000.000000Z.pcapng`. The files' names in order are the files in order, however short the period is, and also when
//! the time of day was set back: then a file is called after the microsecond behind the newest name that is there. How long is measured by
//! a clock that does not step.
//!
//! What has been written when [`Recorder::sync`] returns is on the disk. A write that fails ends the file, and so does somebody who removes it or cuts it; with a
//! period, the next one is tried when it is due.
//!
//! # Test plan
//!
//! Names of files, whose order is that of their contents, behind a clock that was set back, too; nothing is overwritten; a folder that vanishes and comes back; a file that is removed, cut, or moved within
//! its folder. The program's
//! tests (`host/cli/tests/record.rs`): killed at random moments, a full disk, what other programs read.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How often another program may take a name before this one does.
const MOST_TRIES: u32 = 1000;

/// Writes what comes into one file after the other.
pub(super) struct Recorder {
    path: PathBuf,
    period: Option<Duration>,
    /// What each file begins with.
    beginning: Vec<u8>,
    /// None after a failure.
    file: Option<File>,
    begun: Instant,
    /// Bytes that were written into the file.
    length: u64,
    /// Written, but maybe not on the disk.
    is_pending: bool,
    failure: Option<io::Error>,
}

impl Recorder {
    /// Begins the first file.
    pub(super) fn create(path: &Path, period: Option<Duration>, beginning: Vec<u8>) -> io::Result<Self> {
        let mut recorder = Recorder {
            path: path.into(),
            period,
            beginning,
            file: None,
            begun: Instant::now(),
            length: 0,
            is_pending: false,
            failure: None,
        };
        recorder.begin()?;
        Ok(recorder)
    }

    /// Appends to the file.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file {
            self.is_pending = true;
            let result = file.write_all(bytes);
            self.length = self.length.saturating_add(bytes.len() as u64);
            self.check(result);
        }
    }

    /// Waits until all that was written is on the disk; then it is time for a new file, if one is due.
    pub(super) fn sync(&mut self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.is_pending) {
            let result = file.sync_data().and_then(|()| self.still_there(file));
            self.is_pending = false;
            self.check(result);
        }
        if self.period.is_some_and(|period| self.begun.elapsed() >= period) {
            let result = self.begin();
            self.check(result);
        }
    }

    /// Why nothing is recorded any more, once.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Whether what was written can be found again.
    fn still_there(&self, file: &File) -> io::Result<()> {
        let about = file.metadata()?;
        let is_removed = links(&about) == 0;
        if is_removed || about.len() != self.length {
            let what = if is_removed { "removed" } else { "cut, or written to by another program," };
            return Err(io::Error::other(format!("the file was {what} while it was recorded into")));
        }
        Ok(())
    }

    fn check(&mut self, result: io::Result<()>) {
        if let Err(reason) = result {
            self.file = None;
            self.failure = Some(reason);
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.begun = Instant::now();
        let mut file = match self.period {
            None => create_new(&self.path)?,
            Some(_) => self.create_named(SystemTime::now())?,
        };
        file.write_all(&self.beginning)?;
        self.length = self.beginning.len() as u64;
        file.sync_all()?;
        // The name is on the disk when the folder is; not every file system lets a folder be synchronised.
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
        self.file = Some(file);
        Ok(())
    }

    fn create_named(&self, now: SystemTime) -> io::Result<File> {
        for _ in 0..MOST_TRIES {
            let behind = self.newest_moment()?.map(|newest| newest + Duration::from_micros(1));
            let moment = humantime::format_rfc3339_micros(behind.map_or(now, |behind| behind.max(now)));
            let moment = moment.to_string().replace(['-', ':'], "");
            let (beginning, ending) = self.name();
            match create_new(&self.path.with_file_name(format!("{beginning}{moment}{ending}"))) {
                Err(reason) if reason.kind() == ErrorKind::AlreadyExists => {}
                result => return result,
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// What stands in front of and behind the moment in a file's name.
    fn name(&self) -> (String, String) {
        let text = |part: Option<&OsStr>| part.map(|part| part.to_string_lossy().into_owned());
        let beginning = text(self.path.file_stem()).unwrap_or_default() + "-";
        (beginning, text(self.path.extension()).map(|ending| format!(".{ending}")).unwrap_or_default())
    }

    /// The folder of the files.
    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The latest moment in the names of the files that there are.
    fn newest_moment(&self) -> io::Result<Option<SystemTime>> {
        let (beginning, _) = self.name();
        let mut newest = None;
        for entry in self.folder().read_dir()? {
            let name = entry?.file_name();
            newest = newest.max(name.to_string_lossy().strip_prefix(&beginning).and_then(moment));
        }
        Ok(newest)
    }
}

/// A file whose end is written to wherever that is, so that one that is cut gets shorter and no hole.
fn create_new(path: &Path) -> io::Result<File> {
    File::options().append(true).create_new(true).open(path)
}

/// How many names a file has.
#[cfg(unix)]
fn links(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(about)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}

/// The moment that a text begins with, as names have it, such as `20260123T070000.000000Z`.
fn moment(text: &str) -> Option<SystemTime> {
    let (date, time) = (text.get(..8)?, text.get(8..23)?);
    let text = [&date[..4], "-", &date[4..6], "-", &date[6..], &time[..3], ":", &time[3..5], ":", &time[5..]];
    humantime::parse_rfc3339(&text.concat()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// Names and contents.
    fn files(folder: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_string();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_file_that_exists_is_not_touched() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("run.bin");
        Recorder::create(&path, None, vec![b'~']).unwrap().write(b"first");
        let refused = Recorder::create(&path, None, vec![]).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(files(folder.path()), [("run.bin".into(), "~first".into())]);
    }

    /// The clock is set back by an hour, and on again; then the program begins anew with a clock that was never set.
    #[test]
    fn names_in_order_are_files_in_order_whatever_the_clock_shows() {
        let folder = TempDir::new().unwrap();
        let other = folder.path().join("run-x-20991231T235959.000000Z.pcapng");
        fs::write(other, "another recording's").unwrap();
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        let hour = Duration::from_secs(3600);
        let moments = [moment, moment, moment - hour, moment + hour, SystemTime::UNIX_EPOCH];
        for (number, moment) in moments.into_iter().enumerate() {
            let recorder = Recorder::create(&folder.path().join(format!("{number}")), None, vec![]).unwrap();
            let recorder = Recorder { path: folder.path().join("run.pcapng"), ..recorder };
            write!(recorder.create_named(moment).unwrap(), "{number}").unwrap();
        }
        let mut files = files(folder.path());
        files.retain(|(name, _)| name.starts_with("run-2026"));
        let expected = [
            ("run-20260921T141320.000000Z.pcapng", "0"),
            ("run-20260921T141320.000001Z.pcapng", "1"),
            ("run-20260921T141320.000002Z.pcapng", "2"),
            ("run-20260921T151320.000000Z.pcapng", "3"),
            ("run-20260921T151320.000001Z.pcapng", "4"),
        ];
        assert_eq!(files, expected.map(|(name, contents)| (name.to_string(), contents.to_string())));
    }

    #[test]
    fn what_comes_is_spread_over_files_without_a_gap() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("run");
        let mut recorder = Recorder::create(&path, Some(Duration::ZERO), vec![b'~']).unwrap();
        for part in ["one ", "two ", "three "] {
            recorder.write(part.as_bytes());
            recorder.sync();
        }
        assert!(recorder.take_failure().is_none());
        let contents: Vec<String> = files(folder.path()).into_iter().map(|(_, text)| text).collect();
        assert_eq!(contents, ["~one ", "~two ", "~three ", "~"]);
    }

    /// Somebody removes the file, cuts it, or makes it longer: what was in it is no longer there, or in its place. Under another name it still is.
    #[test]
    fn a_file_that_is_not_what_was_written_ends() {
        type Meddling = fn(&Path);
        let meddling: [(Meddling, bool); 4] = [
            (|path| fs::remove_file(path).unwrap(), true),
            (|path| fs::write(path, "").unwrap(), true),
            (|path| fs::write(path, "of another program").unwrap(), true),
            (|path| fs::rename(path, path.with_extension("old")).unwrap(), false),
        ];
        for (meddle, is_failure) in meddling {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("run.bin");
            let mut recorder = Recorder::create(&path, None, vec![b'~']).unwrap();
            recorder.write(b"one ");
            recorder.sync();
            assert!(recorder.take_failure().is_none());
            meddle(&path);
            recorder.write(b"two ");
            recorder.sync();
            assert_eq!(recorder.take_failure().is_some(), is_failure);
        }
    }

    #[test]
    fn after_a_failure_the_next_file_is_tried() {
        let folder = TempDir::new().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let mut recorder = Recorder::create(&inner.join("run"), Some(Duration::ZERO), vec![]).unwrap();
        fs::remove_dir_all(&inner).unwrap();
        recorder.sync();
        assert_eq!(recorder.take_failure().unwrap().kind(), ErrorKind::NotFound);
        assert!(recorder.take_failure().is_none());
        recorder.write(b"lost");
        fs::create_dir(&inner).unwrap();
        recorder.sync();
        recorder.write(b"kept");
        assert_eq!(files(&inner).into_iter().map(|(_, text)| text).collect::<Vec<_>>(), ["kept"]);
    }
}
