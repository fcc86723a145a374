//! `deltaline store`: the numbers of a folder's recordings as Parquet, and room for new ones.
//!
//! # Test plan
//!
//! `tests/store.rs`: what `query` and other programs read of it; recordings that are still written to, torn ones, ones that are removed, ones
//! that another key has signed, and folders that are none.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::identity::error_at;
use crate::keys::{collector, mention_forgery};
use crate::parse;
use crate::progress::working;
use crate::report;
use crate::show::json::Schema;
use clap::Args;
use deltaline_store::{Folder, StoreError};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  Record for months, a file an hour, and write the numbers of each hour once it is over:
    deltaline read eth1 --record store/north.pcapng --rotate 1h
    deltaline store store          (every hour, by cron or a systemd timer)

  Keep recordings for 30 days, and the numbers for good:
    deltaline store store --keep 720h

  Ask any program that reads Parquet:
    duckdb -c \"select segment, max(mean_ns) from 'store/*.parquet' group by segment\"";

/// Who is believed when recordings are read.
#[derive(Debug, Args)]
pub(crate) struct Believed {
    /// Of recordings that are not closed yet, take control frames of this design alone: a file, or the name of a shipped one
    #[arg(long, value_name = "DESIGN")]
    design: Option<String>,
    /// Take intervals whose control frames were all signed: with a key of this file in recordings that are not closed yet, and in closed ones with one
    /// that `store` was given
    ///
    /// Files of closed recordings are not signed themselves: who may write into the folder can forge them.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl Believed {
    /// Whether control frames must be signed.
    pub(crate) fn wants_signed(&self) -> bool {
        self.key.is_some()
    }

    /// The design, if one is given.
    pub(crate) fn design(&self) -> Option<&str> {
        self.design.as_deref()
    }

    /// Says, where no key is given, that anybody may have forged what is shown.
    pub(crate) fn mention_forgery(&self) {
        mention_forgery(self.key.as_deref(), "control frames");
    }

    /// Makes what judges control frames, as often as it is asked; what is wrong with the files is said now.
    pub(crate) fn collectors(&self) -> Result<impl Fn() -> deltaline_collect::collector::Collector, Failure> {
        let first = collector(self.design.as_deref(), self.key.as_deref())?;
        Ok(move || first.clone())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Store {
    /// The folder that `deltaline read --record FOLDER/name.pcapng --rotate 1h` records into
    pub(crate) folder: PathBuf,
    /// Include the newest recording; use this only when nothing writes to it any more
    #[arg(long)]
    pub(crate) all: bool,
    /// Remove recordings that were last written to so long ago, once their numbers and those of the next one of the same name are written; the
    /// newest of a name stays
    #[arg(long, value_parser = parse::duration, value_name = "DURATION")]
    pub(crate) keep: Option<u64>,
    #[command(flatten)]
    pub(crate) believed: Believed,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Output {
    schema: Schema,
    folder: String,
    closed: Vec<String>,
    intervals: usize,
    removed: Vec<String>,
    open: Vec<String>,
    torn: Vec<String>,
    damaged: Vec<String>,
    passed_over: Vec<String>,
    corrupted: u64,
    replayed: u64,
    unauthentic: u64,
    stray: u64,
    beyond: u64,
    distrusted: Vec<String>,
    starved: Vec<String>,
}

pub(crate) fn run(arguments: &Store) -> Result<Exit, Failure> {
    let Store { folder, all, keep, believed, json } = arguments;
    let collectors = believed.collectors()?;
    let failed = |error| failure(folder, error);
    let mut opened = Folder::open(folder).map_err(failed)?;
    let mut work = working("reading recordings", || opened.close(*all, collectors)).map_err(failed)?;
    let mut exit = Exit::Done;
    let numbers = working("looking at files of numbers", || opened.damaged_numbers());
    let mut damaged: BTreeSet<PathBuf> = BTreeSet::new();
    let mut say_of_numbers = |error: StoreError| {
        let file = error.file().map(Path::to_path_buf);
        let failure = failed(error);
        exit = Exit::gravest([exit, failure.exit]);
        if file.is_none_or(|file| damaged.insert(file)) {
            report::say(&format!("{}; recordings that it may be made of are kept", failure.message));
        }
    };
    numbers.into_iter().for_each(&mut say_of_numbers);
    if let Some(keep) = keep {
        for recording in opened.remove(Duration::from_nanos(*keep)).map_err(failed)? {
            match recording {
                Ok(removed) => work.removed.push(removed),
                Err(error) => say_of_numbers(error),
            }
        }
    }
    let names = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let output = Output {
        schema: Schema::of("store"),
        folder: folder.display().to_string(),
        closed: names(&work.closed),
        intervals: work.intervals,
        removed: names(&work.removed),
        open: names(&work.open),
        torn: names(&work.torn),
        damaged: names(
            &work
                .damaged
                .iter()
                .map(|(path, _)| path.clone())
                .chain(work.irregular.clone())
                .chain(damaged)
                .collect::<Vec<_>>(),
        ),
        passed_over: names(&work.passed_over),
        corrupted: work.left_out.corrupted,
        replayed: work.left_out.replayed,
        unauthentic: work.left_out.unauthentic,
        stray: work.left_out.stray,
        beyond: work.left_out.beyond,
        distrusted: names(&work.distrusted),
        starved: work.starved,
    };
    believed.mention_forgery();
    for torn in &output.torn {
        report::say(&format!(
            "{torn}: its end is torn, as when a program is killed while it writes: what is whole is taken"
        ));
    }
    let damaged = work.damaged.into_iter().map(|(path, reason)| StoreError::Recording { path, reason });
    let irregular = work.irregular.into_iter().map(|path| StoreError::NoFile { path });
    for failure in damaged.chain(irregular).map(failed) {
        report::say(&failure.message);
        exit = Exit::gravest([exit, failure.exit]);
    }
    work.passed_over.iter().for_each(|path| report::say(&passed_over(path)));
    for distrusted in &output.distrusted {
        report::say(&format!(
            "{distrusted}: none of its control frames has a right tag, or they are older than what their points had reported: it is not closed, and is kept; \
             name the file with the key that signed them with --key, close recordings of points without a key without --key, or move it out of the folder if it is forged"
        ));
    }
    if !work.left_out.is_none() {
        report::say(&format!(
            "{}: {}: they are left out, and what they said is in no number",
            output.folder, work.left_out
        ));
    }
    for starved in &output.starved {
        report::say(&format!("{}: {starved}", output.folder));
    }
    if *json {
        report::print_json(&output)?;
    } else {
        let distrusted = match output.distrusted.len() {
            0 => String::new(),
            count => format!("; {count} not closed, for none of their control frames has a right tag"),
        };
        report::print(&format!(
            "{} recordings closed, of {} intervals; {} are still open; {} removed{distrusted}\n",
            output.closed.len(),
            output.intervals,
            output.open.len(),
            output.removed.len()
        ))?;
    }
    let is_whole = output.starved.is_empty() && work.distrusted.is_empty();
    Ok(if is_whole { exit } else { Exit::gravest([exit, Exit::Void]) })
}

/// What is to be said of what is no recording any more.
pub(crate) fn passed_over(path: &Path) -> String {
    format!(
        "{}: is passed over, as its name does not end in .pcapng, or is no UTF-8: what it may have recorded is in no number; give it such a name, also if it is compressed, or \
         move it out of the folder",
        path.display()
    )
}

/// What is wrong with a store, by exit code.
pub(crate) fn failure(folder: &Path, error: StoreError) -> Failure {
    match error {
        StoreError::Follow(error) => error_at(&folder.display().to_string(), error),
        StoreError::Output { .. } => Failure::new(Exit::Output, error),
        StoreError::Io { .. }
        | StoreError::Recording { .. }
        | StoreError::Table { .. }
        | StoreError::Damaged { .. }
        | StoreError::NoFile { .. } => Failure::new(Exit::Input, error),
    }
}
