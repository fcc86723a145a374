//! A store's folder: its recordings, those that are closed, and what is asked of it.

use crate::cells::{Around, Kept, NoCells, Wanted};
use crate::closing::{self, Reading, Recorded};
use crate::continuity::{Continuity, Place, Reported};
use crate::overlap::Overlap;
use crate::repetition::{Repeated, Repetition};
use crate::shortcut::{Said, Shortcut};
use crate::stretch::Stretch;
use crate::summing::{Summing, Sums};
use crate::table::{Filter, LeftOut, Table};
use crate::table_file::{self, TableFile};
use bytes::Bytes;
use deltaline_collect::collector::{Collector, Passed};
use deltaline_collect::follower::FollowError;
use deltaline_collect::summary::Missing;
use parquet::errors::ParquetError;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Once, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};
use thiserror::Error;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Why a store cannot be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refuses.
    #[error("{}: {reason}; check the name, the permissions and the free space", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it says.
        reason: io::Error,
    },
    /// The operating system does not let a file of numbers be written, or a recording be removed.
    #[error("{}: cannot be written or removed: {reason}; check the permissions and the free space", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What it says.
        reason: io::Error,
    },
    /// A file of numbers cannot be made or read.
    #[error("{}: {reason}; if its recording is still there, remove this file of numbers alone, and `deltaline store` makes it anew from that", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: ParquetError,
    },
    /// A file of numbers has other contents than its name says, or another name.
    #[error(
        "{}: damaged, or renamed: it has other contents, or another name, than the check in its name was made of; if its recording is still \
         there, remove this file of numbers alone, and `deltaline store` makes it anew from that",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// What has the name of a recording or of a file of numbers is neither.
    #[error("{}: is no regular file, nor a link to one; move it out of the folder", path.display())]
    NoFile {
        /// Its name.
        path: PathBuf,
    },
    /// A recording cannot be read to its end.
    #[error(
        "{reason}; its intervals in front of that count; move it out of the folder if it cannot be mended, as it is not closed"
    )]
    Recording {
        /// The recording.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Recordings cannot be followed.
    #[error(transparent)]
    Follow(FollowError),
}

impl StoreError {
    /// The file or folder that it is of, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            StoreError::Io { path, .. }
            | StoreError::Output { path, .. }
            | StoreError::Table { path, .. }
            | StoreError::Damaged { path }
            | StoreError::NoFile { path }
            | StoreError::Recording { path, .. } => Some(path),
            StoreError::Follow(_) => None,
        }
    }
}

/// What was done with a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Recordings whose numbers are in a file now.
    pub closed: Vec<PathBuf>,
    /// Intervals in them.
    pub intervals: usize,
    /// Recordings that were removed.
    pub removed: Vec<PathBuf>,
    /// Recordings that are still written to, or whose last intervals may go on.
    pub open: Vec<PathBuf>,
    /// Recordings whose end is torn, because the program or the machine was ended.
    pub torn: Vec<PathBuf>,
    /// Recordings that cannot be read to their end, and why: they are not closed.
    pub damaged: Vec<(PathBuf, String)>,
    /// What has the name of a recording and is no file.
    pub irregular: Vec<PathBuf>,
    /// What by its name was a recording, and is none any more, such as one that was compressed.
    pub passed_over: Vec<PathBuf>,
    /// Control frames, in all recordings that were not closed before, that were left out.
    pub left_out: LeftOut,
    /// Recordings that would have been closed, but have no control frame with a right tag: the key may be the wrong one, and an empty file of numbers
    /// would say that nothing was measured.
    pub distrusted: Vec<PathBuf>,
    /// What is to be said of segments of which for long nothing else came.
    pub starved: Vec<String>,
}

/// What was noticed of intervals that were asked for: what lies in a store more than once, and what is missing in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// Files with intervals that were reported before, there or in another file, and how many.
    pub repeated: Vec<(PathBuf, usize)>,
    /// Segments of which recordings of two names, the first two of any, have intervals of the same time that differ: all of them are handed out.
    pub at_once: Vec<(u32, [String; 2])>,
    /// Of recordings that follow each other, by their name, and of a segment: intervals between others of which nothing was recorded.
    pub missing: BTreeMap<(String, u32), Missing>,
    /// Of the same: intervals that came ten minutes or more behind those that follow them, and count in the time when they came.
    pub late: BTreeMap<(String, u32), Missing>,
    /// Recordings of which control frames were left out, or their files of numbers.
    pub left_out: Vec<(PathBuf, LeftOut)>,
    /// What by its name was a recording, and is none any more, such as one that was compressed.
    pub passed_over: Vec<PathBuf>,
}

/// A store's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// Recordings that follow each other.
    runs: Vec<Vec<PathBuf>>,
    /// Files of numbers, each under the name of its recording without ending.
    tables: BTreeMap<String, Closed>,
    /// Those of recordings that have been written to since: they count as open, and these go when they are closed again.
    outdated: BTreeMap<String, PathBuf>,
    /// What has something behind a recording's ending.
    passed_over: Vec<PathBuf>,
    /// What has the name of a recording and is no file.
    irregular: Vec<PathBuf>,
}

/// The file of numbers of a recording.
#[derive(Clone, Debug)]
struct Closed {
    path: PathBuf,
    /// How many bytes the recording had.
    length: u64,
}

impl Folder {
    /// Looks at what is in a folder.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |reason| StoreError::Io { path: path.into(), reason };
        let mut runs: BTreeMap<String, Vec<(String, u32, PathBuf)>> = BTreeMap::new();
        let mut files: BTreeMap<String, Vec<Closed>> = BTreeMap::new();
        let (mut passed_over, mut irregular, mut lengths) = (vec![], vec![], BTreeMap::new());
        for entry in fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            let stem = stem(&file);
            match file.extension().and_then(|ending| ending.to_str()) {
                // What tells recordings apart is text.
                Some("pcapng") if file.to_str().is_some() => {
                    match length(&file) {
                        Ok(length) => drop(lengths.insert(stem.clone(), length)),
                        Err(StoreError::NoFile { path }) => {
                            irregular.push(path);
                            continue;
                        }
                        Err(error) => return Err(error),
                    }
                    let (run, moment, number) = parts(&stem);
                    runs.entry(run.into()).or_default().push((moment.into(), number, file));
                }
                Some("parquet") => {
                    let (recording, _, length) = named(&stem);
                    files.entry(recording.into()).or_default().push(Closed { path: file, length });
                }
                _ if stem.contains(".pcapng")
                    || file.extension().is_some_and(|ending| ending == "pcapng") =>
                {
                    passed_over.push(file);
                }
                _ => {}
            }
        }
        let runs = runs.into_values().map(|mut files| {
            files.sort();
            files.into_iter().map(|(.., file)| file).collect()
        });
        let runs: Vec<Vec<PathBuf>> = runs.collect();
        let (mut tables, mut outdated) = (BTreeMap::new(), BTreeMap::new());
        for (recording, mut files) in files {
            let length = lengths.get(&recording);
            // Two of one recording are there if the program was ended before it removed the outdated one. Of the recording as it is now, if it is there.
            files.sort_by_key(|closed| (Some(&closed.length) == length, closed.length));
            let Some(newest) = files.pop() else { continue };
            outdated.extend(files.into_iter().map(|older| (recording.clone(), older.path)));
            if length.is_some_and(|length| *length > newest.length) {
                outdated.insert(recording, newest.path);
            } else {
                tables.insert(recording, newest);
            }
        }
        passed_over.sort();
        irregular.sort();
        Ok(Folder { path: path.into(), runs, tables, outdated, passed_over, irregular })
    }

    /// Writes the numbers of recordings that are closed: those behind which two minutes more were recorded, or all of them; but not those in which no
    /// control frame has a right tag. `collector` makes what judges the frames.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; what was closed before stays.
    pub fn close(&mut self, all: bool, collector: impl Fn() -> Collector) -> Result<Work, StoreError> {
        self.remove_drafts();
        let mut work = Work {
            passed_over: self.passed_over.clone(),
            irregular: self.irregular.clone(),
            ..Work::default()
        };
        for run in self.runs.clone() {
            let Reading { recorded, torn, starved } = self.open_ones(&run, &collector)?;
            work.starved.extend(starved);
            work.torn.extend(torn.into_iter().filter(|path| !self.is_closed(path)));
            for each in recorded {
                // Read again for what begins in it: what was left out of it was said when it was closed, and its file says so.
                if self.is_closed(&each.path) {
                    continue;
                }
                work.left_out = work.left_out + each.left_out;
                if let Some(reason) = each.damage {
                    work.damaged.push((each.path, reason));
                    continue;
                }
                if !all && !each.is_settled {
                    work.open.push(each.path);
                    continue;
                }
                if each.is_unauthentic {
                    work.distrusted.push(each.path);
                    continue;
                }
                work.intervals += each.table.rows().len();
                self.add(&stem(&each.path), each.length, each.table, &each.passed, each.left_out)?;
                work.closed.push(each.path);
            }
        }
        Ok(work)
    }

    /// Removes files that a program was writing when it was killed.
    fn remove_drafts(&self) {
        let drafts = fs::read_dir(&self.path).into_iter().flatten().flatten().filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let written = entry.metadata().and_then(|about| about.modified()).ok();
            let is_old = written.and_then(|then| then.elapsed().ok()).is_some_and(|since| since >= ABANDONED);
            is_old && name.starts_with(DRAFT) && name.ends_with(DRAFT_ENDING)
        });
        // One that cannot be removed does no harm.
        drafts.for_each(|draft| drop(fs::remove_file(draft.path())));
    }

    /// The files of numbers, of recordings that are still there and of which they can be made anew, that are not as they were written.
    pub fn damaged_numbers(&self) -> Vec<StoreError> {
        let kept = self.runs.iter().flatten().filter_map(|recording| self.tables.get(&stem(recording)));
        kept.filter_map(|closed| whole(&closed.path).err()).collect()
    }

    /// Files of numbers with intervals that are asked for but that nobody vouches for, and how many; none where that does not matter. Those that cannot be read
    /// are passed over.
    pub fn unsigned(&self, filter: &Filter) -> Vec<(PathBuf, usize)> {
        let closed = self.tables.values().filter(|_| filter.authenticated);
        let counted = closed.filter_map(|closed| {
            let unsigned = reading(&closed.path, |file| file.unsigned(filter)).ok()?;
            Some((closed.path.clone(), unsigned))
        });
        counted.filter(|(_, unsigned)| *unsigned > 0).collect()
    }

    /// Removes recordings that were last written to before so long, and whose numbers, and those of the next recording, are in files as they were
    /// written: if the next one has to be closed anew, intervals that lie in both need this one. Recordings that are kept because a file is not as it was
    /// written have that in their place.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`], [`StoreError::Output`].
    pub fn remove(&self, keep: Duration) -> Result<Vec<Result<PathBuf, StoreError>>, StoreError> {
        let oldest = SystemTime::now().checked_sub(keep);
        let mut removed = vec![];
        // The last intervals of a recording may end in the next one.
        for pair in self.runs.iter().flat_map(|run| run.windows(2)) {
            let failed = |reason| StoreError::Io { path: pair[0].clone(), reason };
            let about = fs::metadata(&pair[0]).map_err(failed)?;
            let written = about.modified().map_err(failed)?;
            // What has been written to meanwhile is not what was closed.
            let closed = |recording: &Path, length: u64| {
                self.tables.get(&stem(recording)).filter(|closed| length <= closed.length)
            };
            let both = closed(&pair[0], about.len()).zip(closed(&pair[1], length(&pair[1])?));
            let Some((own, next)) = both.filter(|_| oldest.is_some_and(|oldest| written < oldest)) else {
                continue;
            };
            let sound = [own, next]
                .into_iter()
                .try_for_each(|closed| Loaded::of(&closed.path, &Filter::default()).map(drop));
            removed.push(match sound {
                Ok(()) => {
                    fs::remove_file(&pair[0])
                        .map_err(|reason| StoreError::Output { path: pair[0].clone(), reason })?;
                    Ok(pair[0].clone())
                }
                Err(error) => Err(error),
            });
        }
        Ok(removed)
    }

    /// Hands out the intervals that are asked for, closed or not, a recording's at a time, in order of their names, while those of the next one are
    /// read; in the place of those that cannot be read, why. An interval that lies in recordings of several names, such as copies or those of two recorders, or comes again because somebody sends
    /// frames again, is handed out where it was reported first, be that in front of the time that is asked for; it returns what it knows of them. Of one run, the
    /// last million are known again.
    pub fn each(
        &self,
        filter: &Filter,
        collector: impl Fn() -> Collector,
        mut take: impl FnMut(Result<Table, StoreError>),
    ) -> Noticed {
        self.each_of_recordings(filter, None, collector, |read| match read {
            Ok((_, Part::Rows(table))) => take(Ok(table)),
            Ok((_, Part::Stretches(_))) => {}
            Err(error) => take(Err(error)),
        })
    }

    /// What the same intervals are together, in times of so many microseconds; it hands over why some cannot be read. Most files of numbers need not be read row by row for times of
    /// hours: they say what their intervals are together.
    pub fn sums(
        &self,
        filter: &Filter,
        every: i64,
        collector: impl Fn() -> Collector,
        mut failed: impl FnMut(StoreError),
    ) -> (Vec<Sums>, Noticed) {
        let (periods, mut summing) = (Summing::new(every), Summing::new(every));
        let noticed = self.each_of_recordings(filter, Some(&periods), collector, |read| match read {
            Ok((_, Part::Rows(table))) => summing.add(&table),
            Ok((_, Part::Stretches(stretches))) => {
                stretches.iter().for_each(|stretch| summing.add_stretch(stretch))
            }
            Err(error) => failed(error),
        });
        (summing.finish(), noticed)
    }

    /// The same intervals, each by itself and with what its recording says of it besides, which is read again for that; in the order in which they are over, and behind them
    /// those of the recording of which it says nothing any more. A recording's at a time are in memory. It ends when it is told to.
    pub fn each_with_cells(
        &self,
        filter: &Filter,
        collector: impl Fn() -> Collector,
        mut take: impl FnMut(Result<Kept, StoreError>) -> ControlFlow<()>,
    ) -> Noticed {
        let mut goes_on = ControlFlow::Continue(());
        self.each_of_recordings(filter, None, &collector, |read| {
            if goes_on.is_continue() {
                goes_on = match read {
                    Ok((recording, Part::Rows(table))) => {
                        self.cells(&recording, table, &collector, |kept| take(Ok(kept)))
                    }
                    Ok((_, Part::Stretches(_))) => ControlFlow::Continue(()),
                    Err(error) => take(Err(error)),
                };
            }
        })
    }

    /// Hands out a recording's intervals with their cells.
    fn cells(
        &self,
        recording: &str,
        table: Table,
        collector: &impl Fn() -> Collector,
        take: impl FnMut(Kept) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let own = |run: &Vec<PathBuf>| run.iter().position(|path| stem(path) == recording);
        let Some((run, own)) = self.runs.iter().find_map(|run| Some((run, own(run)?))) else {
            return Wanted::of(table).give_up(&NoCells::Removed { recording: recording.into() }, take);
        };
        let (collector, before) = (collector(), own.saturating_sub(1));
        let recordings = &run[before..];
        let passed = match &recordings[0] {
            first if collector.wants_signed() => self.passed_before(first),
            _ => Ok(BTreeMap::new()),
        };
        match passed {
            Ok(passed) => Around { recordings, own: own - before, passed }.find(table, collector, take),
            Err(error) => Wanted::of(table).give_up(&NoCells::Unreadable { reason: error.to_string() }, take),
        }
    }

    /// Hands out what [`Folder::each`] does, each part with its recording's name without ending; where they are summed, as stretches if that is enough.
    fn each_of_recordings(
        &self,
        filter: &Filter,
        sums: Option<&Summing>,
        collector: impl Fn() -> Collector,
        mut take: impl FnMut(Result<(String, Part), StoreError>),
    ) -> Noticed {
        let mut noticed = Noticed { passed_over: self.passed_over.clone(), ..Noticed::default() };
        self.irregular.iter().cloned().for_each(|path| take(Err(StoreError::NoFile { path })));
        let mut continuity = Continuity::of(filter.reported.clone());
        let stems = self.tables.keys().cloned().chain(self.runs.iter().flatten().map(|path| stem(path)));
        let mut overlap = Overlap::of(stems.map(|stem| parts(&stem).0.to_string()).collect());
        let open: Vec<_> = self.runs.iter().map(|run| self.not_closed(run, &collector)).collect();
        let is_of_one = overlap.is_of_one();
        let shortcut = sums.filter(|_| is_of_one).and_then(|sums| self.shortcut(filter, sums, &open));
        let mut repetition = Repetition::default();
        // In one run, and of any time, what comes first is read first.
        if shortcut.is_none() && (!is_of_one || filter.reported.is_some()) {
            let read = open.iter().flatten().flatten();
            self.first_reports(&mut repetition, filter, read, |error| take(Err(error)));
        }
        // What is new of a table, and what is to be known of all its intervals' numbers: those that come again say nothing of these.
        let mut take_new = |recording: &str, path: &Path, mut table: Table| {
            let run = parts(recording).0;
            table.sort();
            let mut reported: Vec<Reported> = table.rows().iter().map(Reported::from).collect();
            let Repeated { intervals: repeated, own } = repetition.take_out_of(&mut table, run);
            reported.retain(|each| own.binary_search(each).is_err());
            noticed.repeated.extend((repeated > 0).then(|| (path.to_path_buf(), repeated)));
            overlap.note(run, table.rows());
            (table, reported)
        };
        // Of each run, the last file in front of the time that is asked for, which is read where there is one behind it; and whether one behind
        // that time has come.
        let mut around: BTreeMap<&str, (Option<Loaded>, bool)> = BTreeMap::new();
        let said = |recording| shortcut.as_ref().and_then(|shortcut| shortcut.said(recording));
        let read = |recording, closed: &Closed| match said(recording) {
            Some(said) => Ok(Read::Said(said)),
            None => Loaded::of(&closed.path, filter).map(Read::Loaded),
        };
        self.each_closed(read, |recording, path, read| {
            let run = parts(recording).0;
            let mut loaded = match read {
                Ok(Read::Loaded(loaded)) => loaded,
                Ok(Read::Said(Said { stretches, left_out })) => {
                    noticed.left_out.extend((!left_out.is_none()).then(|| (path.to_path_buf(), *left_out)));
                    let before = around.get_mut(run).and_then(|(before, _)| before.take());
                    match before.map(|before| before.outside(filter)).transpose() {
                        Ok(before) => continuity.take(run, before.unwrap_or_default()),
                        Err(error) => take(Err(error)),
                    }
                    let stretches = stretches.clone().unwrap_or_default();
                    continuity.take_stretches(run, &stretches);
                    return take(Ok((recording.into(), Part::Stretches(stretches))));
                }
                Err(error) => return take(Err(error)),
            };
            let (place, left_out) = (loaded.place, loaded.left_out);
            let is_left_out = place == Place::Inside && !left_out.is_none();
            noticed.left_out.extend(is_left_out.then(|| (path.to_path_buf(), left_out)));
            let (table, inside) = take_new(recording, path, std::mem::take(&mut loaded.table));
            let (before, is_behind) = around.entry(run).or_default();
            match place {
                Place::Before => *before = Some(loaded),
                Place::Behind if *is_behind => {}
                Place::Inside | Place::Behind => {
                    *is_behind |= place == Place::Behind;
                    let outside = before.take().into_iter().chain([loaded]).map(|each| each.outside(filter));
                    match outside.collect::<Result<Vec<_>, _>>() {
                        Ok(outside) => continuity.take(run, in_order(outside.concat(), inside)),
                        Err(error) => take(Err(error)),
                    }
                }
            }
            take(Ok((recording.into(), Part::Rows(table))));
        });
        for recorded in open {
            let recorded = match recorded {
                Ok(recorded) => recorded,
                Err(error) => {
                    take(Err(error));
                    continue;
                }
            };
            for Recorded { path, mut table, left_out, damage, .. } in recorded {
                if let Some(reason) = damage {
                    take(Err(StoreError::Recording { path: path.clone(), reason }));
                }
                let stem = stem(&path);
                let run = parts(&stem).0;
                let before = around.get_mut(run).and_then(|(before, _)| before.take());
                let mut outside = match before.map(|before| before.outside(filter)).transpose() {
                    Ok(before) => before.unwrap_or_default(),
                    Err(error) => {
                        take(Err(error));
                        vec![]
                    }
                };
                let of_any_time = table.rows().iter().filter(|row| filter.takes_at_any_time(row));
                let is_outside = |each: &Reported| place_of(each, filter) != Place::Inside;
                outside.extend(of_any_time.map(Reported::from).filter(is_outside));
                let is_empty = table.is_empty();
                table.retain(|row| filter.takes(row));
                let is_left_out = (is_empty || !table.is_empty()) && !left_out.is_none();
                noticed.left_out.extend(is_left_out.then(|| (path.clone(), left_out)));
                let (table, inside) = take_new(&stem, &path, table);
                continuity.take(run, in_order(outside, inside));
                take(Ok((stem, Part::Rows(table))));
            }
        }
        noticed.at_once = overlap.finish();
        [noticed.missing, noticed.late] = continuity.finish();
        noticed
    }

    /// The intervals that are asked for, in order of segment and time.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn read(&self, filter: &Filter, collector: impl Fn() -> Collector) -> Result<Table, StoreError> {
        let mut whole = Ok(Table::default());
        self.each(filter, collector, |table| match (&mut whole, table) {
            (Ok(whole), Ok(table)) => whole.append(table),
            (Ok(_), Err(error)) => whole = Err(error),
            (Err(_), _) => {}
        });
        let mut whole = whole?;
        whole.sort();
        Ok(whole)
    }

    /// Writes the table of a recording that had so many bytes, what segments had come to in its end, and what of it was left out, into a file that is called after it, after a
    /// check of its contents and the recording's name, and after that number. What there was of it before goes.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn add(
        &mut self,
        name: &str,
        length: u64,
        mut table: Table,
        passed: &BTreeMap<u32, Passed>,
        left_out: LeftOut,
    ) -> Result<(), StoreError> {
        let failed = |reason| StoreError::Output { path: self.path.join(name), reason };
        table.have_all_columns();
        let mut bytes = vec![];
        table_file::write(table, passed, left_out, &mut bytes)
            .map_err(|reason| StoreError::Table { path: self.path.join(name), reason })?;
        let path = self.path.join(format!("{name}.{}-{length}.parquet", check(name, &bytes)));
        // It appears whole, and on the disk, or not at all.
        let mut builder = tempfile::Builder::new();
        builder.prefix(DRAFT).suffix(DRAFT_ENDING);
        // As any new file, not only for its owner as temporary files are; the process's mask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut draft = builder.tempfile_in(&self.path).map_err(failed)?;
        draft.write_all(&bytes).map_err(failed)?;
        draft.as_file().sync_all().map_err(failed)?;
        draft.persist(&path).map_err(|error| failed(error.error))?;
        // Not every file system lets a folder be synchronised.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
        let before = self.tables.insert(name.into(), Closed { path: path.clone(), length });
        let outdated = self.outdated.remove(name).or(before.map(|before| before.path));
        if let Some(outdated) = outdated.filter(|outdated| *outdated != path) {
            fs::remove_file(&outdated).map_err(|reason| StoreError::Output { path: outdated, reason })?;
        }
        Ok(())
    }

    fn is_closed(&self, recording: &Path) -> bool {
        self.tables.contains_key(&stem(recording))
    }

    /// Reads the recordings of a run that are not closed, and the one before: intervals may have begun in it.
    fn open_ones(&self, run: &[PathBuf], collector: &impl Fn() -> Collector) -> Result<Reading, StoreError> {
        let Some(first) = run.iter().position(|path| !self.is_closed(path)) else {
            return Ok(Reading::default());
        };
        let (collector, recordings) = (collector(), &run[first.saturating_sub(1)..]);
        let passed =
            if collector.wants_signed() { self.passed_before(&recordings[0])? } else { BTreeMap::new() };
        closing::read(recordings, passed, collector)
    }

    /// The recordings of a run that are not closed.
    fn not_closed(
        &self,
        run: &[PathBuf],
        collector: &impl Fn() -> Collector,
    ) -> Result<Vec<Recorded>, StoreError> {
        let mut recorded = self.open_ones(run, collector)?.recorded;
        recorded.retain(|each| !self.is_closed(&each.path));
        Ok(recorded)
    }

    /// The shortcut of sums, if there is one.
    pub(crate) fn shortcut(
        &self,
        filter: &Filter,
        sums: &Summing,
        open: &[Result<Vec<Recorded>, StoreError>],
    ) -> Option<Shortcut<'_>> {
        let mut shortcut = Some(Shortcut::default());
        let said = |_: &str, closed: &Closed| {
            reading(&closed.path, |file| {
                Ok(Said { stretches: file.stretches()?, left_out: file.left_out()? })
            })
        };
        self.each_closed(said, |recording, _, said| {
            let before = shortcut.take().zip(said.ok());
            shortcut = before.and_then(|(before, said)| before.file(recording, said, filter, sums));
        });
        open.iter().try_fold(shortcut?, |shortcut, recorded| {
            let tables = recorded.iter().flatten().map(|recorded| &recorded.table);
            let intervals = tables.flat_map(|table| table.rows()).map(Reported::from).collect();
            shortcut.open(in_order(intervals, vec![]))
        })
    }

    /// Hands over what is read of the files of numbers, in order of their names; the next ones are read while what is done with one goes on.
    fn each_closed<'a, T: Send>(
        &'a self,
        read: impl Fn(&'a str, &'a Closed) -> Result<T, StoreError> + Sync,
        mut take: impl FnMut(&'a str, &'a Path, Result<T, StoreError>),
    ) {
        let readers = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST_READERS);
        thread::scope(|scope| {
            let start = |first| {
                let (hand_over, found) = mpsc::sync_channel(0);
                let (mut closed, read) = (self.tables.iter().skip(first).step_by(readers), &read);
                // Until nobody takes any more.
                scope.spawn(move || {
                    closed.all(|(recording, closed)| hand_over.send(read(recording, closed)).is_ok())
                });
                found
            };
            let found: Vec<_> = (0..readers).map(start).collect();
            for ((recording, closed), found) in self.tables.iter().zip(found.iter().cycle()) {
                let Ok(found) = found.recv() else { return };
                take(recording, &closed.path, found);
            }
        });
    }

    /// Notes when what is asked for was first reported, in any run, and hands over why what was reported before cannot be read. What cannot be read at all is
    /// said by who reads it.
    fn first_reports<'a>(
        &self,
        repetition: &mut Repetition,
        filter: &Filter,
        open: impl Iterator<Item = &'a Recorded> + Clone,
        mut failed: impl FnMut(StoreError),
    ) {
        let run = |stem: &str| parts(stem).0.to_string();
        let read = |_: &str, closed: &Closed| Loaded::of(&closed.path, filter);
        self.each_closed(read, |recording, _, loaded| {
            if let Ok(Loaded { table, .. }) = loaded {
                repetition.ask(&run(recording), &table, |_| true);
            }
        });
        for Recorded { path, table, .. } in open.clone() {
            repetition.ask(&run(&stem(path)), table, |row| filter.takes(row));
        }
        let (Some(asked), Some(intervals)) = (&filter.reported, repetition.intervals()) else { return };
        let before = Filter { reported: Some(i64::MIN..asked.start), ..filter.clone() };
        for (recording, Closed { path, .. }) in &self.tables {
            match reading(path, |file| file.rows_of(&before, Some(&intervals))) {
                Ok(table) => repetition.note(&run(recording), &table, |_| true),
                Err(error @ StoreError::Table { .. }) => failed(error),
                Err(_) => {}
            }
        }
        for Recorded { path, table, .. } in open {
            repetition.note(&run(&stem(path)), table, |row| before.takes(row));
        }
    }

    /// What segments had come to in front of a recording, by the newest file of numbers before it that says so.
    fn passed_before(&self, recording: &Path) -> Result<BTreeMap<u32, Passed>, StoreError> {
        let recording = stem(recording);
        let own = parts(&recording);
        let named = self.tables.iter().map(|(name, closed)| (parts(name), &closed.path));
        let mut before: Vec<_> = named.filter(|(other, _)| other.0 == own.0 && *other < own).collect();
        before.sort();
        for (_, path) in before.into_iter().rev() {
            let passed = reading(path, |file| file.passed())?;
            if !passed.is_empty() {
                return Ok(passed);
            }
        }
        Ok(BTreeMap::new())
    }
}

/// How a file is called while it is written.
const DRAFT: &str = ".deltaline-";
const DRAFT_ENDING: &str = ".draft";
/// So many files of numbers are read at a time at most: each is in memory.
const MOST_READERS: usize = 4;
/// Nobody writes a file for so long.
const ABANDONED: Duration = Duration::from_secs(600);

/// What is handed out of a recording.
enum Part {
    /// Intervals.
    Rows(Table),
    /// What they are together.
    Stretches(Vec<Stretch>),
}

/// What is known of a file of numbers.
enum Read<'a> {
    /// It was read.
    Loaded(Loaded),
    /// What it says of itself is enough.
    Said(&'a Said),
}

/// A file of numbers.
struct Loaded {
    path: PathBuf,
    file: TableFile,
    /// What is asked for of it.
    table: Table,
    /// Where its intervals lie.
    place: Place,
    left_out: LeftOut,
}

impl Loaded {
    /// Reads what is asked for of a file.
    fn of(path: &Path, filter: &Filter) -> Result<Self, StoreError> {
        reading(path, |file| {
            let (table, place, left_out) = (file.rows(filter)?, file.place(filter), file.left_out()?);
            Ok(Loaded { path: path.into(), file, table, place, left_out })
        })
    }

    /// The numbers of its intervals that lie outside of the time that is asked for.
    fn outside(self, filter: &Filter) -> Result<Vec<Reported>, StoreError> {
        if filter.reported.is_none() {
            return Ok(vec![]);
        }
        let at_any_time = Filter { reported: None, ..filter.clone() };
        let mut all = unwinding(|| self.file.reported(&at_any_time))
            .map_err(|reason| StoreError::Table { path: self.path, reason })?;
        all.retain(|each| place_of(each, filter) != Place::Inside);
        Ok(all)
    }
}

fn place_of(interval: &Reported, filter: &Filter) -> Place {
    Place::of([interval.reported; 2], filter.reported.as_ref())
}

/// Both, of each segment in order of time.
fn in_order(mut outside: Vec<Reported>, inside: Vec<Reported>) -> Vec<Reported> {
    outside.extend(inside);
    outside.sort_unstable();
    outside
}

thread_local! {
    /// A panic of this thread is caught, and said as what it comes from.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Reads a Parquet file. Anybody can give a file the right check, and the library panics at some whose parts contradict each other.
fn unwinding<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !IS_CAUGHT.get() {
                before(about);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(false);
    result.unwrap_or_else(|_| Err(ParquetError::General("damaged: its parts contradict each other".into())))
}

/// Reads a file of numbers.
fn reading<T>(path: &Path, read: impl FnOnce(TableFile) -> Result<T, ParquetError>) -> Result<T, StoreError> {
    let bytes = whole(path)?;
    unwinding(|| read(TableFile::open(bytes)?))
        .map_err(|reason| StoreError::Table { path: path.into(), reason })
}

/// A file's bytes, which are what its name says.
fn whole(path: &Path) -> Result<Bytes, StoreError> {
    length(path)?;
    let bytes = fs::read(path).map_err(|reason| StoreError::Io { path: path.into(), reason })?;
    let stem = stem(path);
    let (recording, stated, _) = named(&stem);
    if stated != check(recording, &bytes) {
        return Err(StoreError::Damaged { path: path.into() });
    }
    Ok(bytes.into())
}

/// What the name of a file of numbers says: its recording without ending, the check of its contents, and how many bytes the recording had. One
/// without a check is refused when it is read; one without a number is of a recording that nobody writes to.
fn named(stem: &str) -> (&str, &str, u64) {
    let (recording, rest) = stem.rsplit_once('.').unwrap_or((stem, ""));
    let (check, length) = rest.split_once('-').unwrap_or((rest, ""));
    (recording, check, length.parse().unwrap_or(u64::MAX))
}

/// How many bytes a file has. A pipe would be waited for.
pub(crate) fn length(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(about.len()),
        Err(reason) if !path.is_symlink() => Err(StoreError::Io { path: path.into(), reason }),
        Ok(_) | Err(_) => Err(StoreError::NoFile { path: path.into() }),
    }
}

/// The check of these numbers of a recording. Under another name, where they would take another recording's place or count twice, they have another.
fn check(recording: &str, bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64_with_seed(bytes, xxh3_64(recording.as_bytes())))
}

/// A name without its last ending.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The parts of a rotated recording's name: `north-20260123T070000.000000Z-2` is the second that begins at that moment. Any other
/// name is a run of its own.
fn parts(stem: &str) -> (&str, &str, u32) {
    let is_moment = |text: &str| {
        text.len() == "20260123T070000.000000Z".len()
            && text.ends_with('Z')
            && text.as_bytes().get(8) == Some(&b'T')
    };
    let split = |stem: &str| stem.rfind('-').map(|at| at + 1);
    if let Some(at) = split(stem).filter(|at| is_moment(&stem[*at..])) {
        return (&stem[..at - 1], &stem[at..], 1);
    }
    let numbered = split(stem).and_then(|at| {
        let (moment, number) = (&stem[..at - 1], stem[at..].parse().ok()?);
        let begins = split(moment).filter(|at| is_moment(&moment[*at..]))?;
        Some((&moment[..begins - 1], &moment[begins..], number))
    });
    numbered.unwrap_or((stem, "", 0))
}
