//! `deltaline query --flows`: the worst flows of each interval that a store counts, as long as it has the recording.
//!
//! # Test plan
//!
//! `tests/flows_of_a_store.rs`.

use super::{Interval, Query, Told, WORK, moment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flows::points::FlowsOutput;
use crate::progress::working_aloud;
use crate::report;
use crate::show::json::Schema;
use deltaline_collect::collector::Collector;
use deltaline_collect::flows::Asked;
use deltaline_estimate::quantity::SENT;
use deltaline_store::{Filter, Folder, Kept, NoCells, Noticed};
use indicatif::ProgressBar;
use serde::Serialize;
use std::ops::ControlFlow;

/// Behind why an interval is void that has numbers in the store.
const LACKS: &str = "; its numbers were stored when more of its control frames were in the folder, such as those in a recording that was removed";

/// A line of the JSON output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    /// The first line.
    Start { schema: Schema, folder: String },
    /// An interval, as `query` has it without flows.
    Interval(Interval<'a>),
    /// The worst flows of the interval before.
    Flows(&'a FlowsOutput),
    /// The last line.
    End {
        #[serde(flatten)]
        counts: &'a Counts,
        warnings: &'a [String],
    },
}

/// Intervals that were asked for.
#[derive(Default, Serialize)]
struct Counts {
    /// All.
    intervals: u64,
    /// Those that say something of flows.
    answered: u64,
    /// Those that do not, as they are void or of other points.
    refused: u64,
    /// Those whose recordings are not there any more.
    removed: u64,
    /// Those that their recordings do not hold any more, or not so, and those of recordings that cannot be read.
    unread: u64,
}

impl Counts {
    /// Counts an interval without cells, and says how the program ends with it.
    fn miss(&mut self, reason: &NoCells) -> Exit {
        match reason {
            NoCells::Removed { .. } => self.removed += 1,
            NoCells::Unreadable { .. } | NoCells::Missing { .. } | NoCells::Changed { .. } => {
                self.unread += 1
            }
        }
        if matches!(reason, NoCells::Unreadable { .. }) { Exit::Input } else { Exit::Void }
    }
}

pub(super) fn run(
    arguments: &Query,
    asked: &Asked,
    opened: &Folder,
    filter: &Filter,
    collectors: impl Fn() -> Collector,
) -> Result<Exit, Failure> {
    let mut answer =
        Answer { arguments, asked, told: Told::of(&arguments.folder), counts: Counts::default() };
    let folder = arguments.folder.display().to_string();
    answer.line(&Line::Start { schema: Schema::of("query"), folder })?;
    let mut goes_on = Ok(true);
    let noticed = working_aloud(WORK, |bar| {
        opened.each_with_cells(filter, collectors, |kept| {
            goes_on = match kept {
                Ok(kept) => answer.take(kept, bar),
                Err(error) => {
                    answer.told.leave_out(error);
                    Ok(true)
                }
            };
            if matches!(goes_on, Ok(true)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    });
    if !goes_on? {
        return Ok(answer.told.exit);
    }
    answer.told.leave_out_unsigned(&opened.unsigned(filter));
    answer.finish(&noticed)
}

/// What is shown.
struct Answer<'a> {
    arguments: &'a Query,
    asked: &'a Asked,
    told: Told<'a>,
    counts: Counts,
}

impl Answer<'_> {
    /// Shows an interval; says whether anybody may still be reading.
    fn take(&mut self, kept: Kept, bar: &ProgressBar) -> Result<bool, Failure> {
        let Kept { mut table, followed } = kept;
        table.have_all_columns();
        let was_whole = table.number(0, &SENT.key()).is_some();
        let Some(row) = table.rows_mut().first_mut() else { return Ok(true) };
        let Query { worst, json, .. } = self.arguments;
        let (read, exit) = match &followed {
            Ok(followed) => {
                // It was signed when it was stored; of its cells that is known now.
                row.authenticated &= followed.interval.authenticated;
                let exit = Exit::after_interval(&followed.evaluation);
                // As where it began in a recording that was removed.
                let lacks = followed.evaluation.result.is_err() && exit != Exit::Configuration && was_whole;
                let rest = if lacks { LACKS } else { "" };
                let worst = worst.of(self.asked, followed);
                self.counts.refused += u64::from(worst.is_err());
                (worst.map_err(|reason| format!("{reason}{rest}")), exit)
            }
            Err(reason) => (Err(reason.to_string()), self.counts.miss(reason)),
        };
        self.counts.intervals += 1;
        self.counts.answered += u64::from(read.is_ok());
        self.told.exit = Exit::gravest([self.told.exit, exit]);
        let reported = moment(row.reported);
        let doubt = followed.as_ref().ok().and_then(|followed| followed.figures.figures.clock_doubt.as_ref());
        let doubt = doubt.filter(|_| read.is_ok()).map(|doubt| format!("{doubt}\n")).unwrap_or_default();
        let flows = FlowsOutput::of((row.segment, row.interval), self.asked.count(), read);
        bar.suspend(|| match *json {
            true => {
                let interval = Interval { table: &table, place: 0 };
                Ok(self.line(&Line::Interval(interval))? && self.line(&Line::Flows(&flows))?)
            }
            false => report::print_part(&format!("{reported}, {}{doubt}", flows.text())),
        })
    }

    /// Says how much of what was asked for was read, and all that is to be said besides.
    fn finish(mut self, noticed: &Noticed) -> Result<Exit, Failure> {
        let Counts { intervals, answered, refused, removed, unread } = self.counts;
        let name = self.told.folder.display();
        if removed > 0 {
            self.told.warnings.push(format!(
                "{name}: the recordings of {removed} intervals are not in the folder any more, and so nothing is said of their flows; keep recordings for longer: \
                 `deltaline store --keep`"
            ));
        }
        if unread > 0 {
            self.told.warnings.push(format!(
                "{name}: {unread} intervals could not be read from their recordings again as they were stored; see the reason of each"
            ));
        }
        self.told.notice(noticed);
        self.told.say(&self.arguments.believed);
        if self.arguments.json {
            self.line(&Line::End { counts: &self.counts, warnings: &self.told.warnings })?;
        } else {
            report::print(&format!(
                "{intervals} intervals; flows were read of {answered}; {refused} say nothing of flows, the recordings of {removed} are gone, and {unread} could not be read \
                 again\n"
            ))?;
        }
        Ok(self.told.finish(&self.arguments.believed, intervals == 0))
    }

    /// Shows a line where lines are asked for; says whether anybody may still be reading.
    fn line(&self, line: &Line) -> Result<bool, Failure> {
        if self.arguments.json { report::print_json_line(line) } else { Ok(true) }
    }
}
