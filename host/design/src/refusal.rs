//! Why there is no hardware for a design, and what there is instead.
//!
//! # Test plan
//!
//! Every refusal says what was asked for and what is built; the sizes in it are those of the table, in words.

use crate::kind::{CellKind, ClockSource, CoreKind, Shell};
use crate::sizes::{Size, sizes};
use std::collections::BTreeMap;

/// Why there is no hardware for a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The core is not built in this size.
    #[error(
        "no core{} of {core} for {}{rows} rows{}: built are {}",
        with(*cells), for_classes(*classes), and_banks(*cells, *banks), built(*core, *cells)
    )]
    Size {
        /// The core.
        core: CoreKind,
        /// The cells.
        cells: CellKind,
        /// Rows of each bank or table.
        rows: usize,
        /// Number of banks.
        banks: usize,
        /// Number of classes.
        classes: usize,
    },
    /// The core is not built with the synopsis's cells at all.
    #[error("no core{} of {core} yet: built is that of {}", with(*cells), cores(*cells))]
    Cells {
        /// The core.
        core: CoreKind,
        /// The cells.
        cells: CellKind,
    },
    /// The synopsis is one of software alone.
    #[error(
        "no core{} at all: its cells have no check that a core could rely on, and it gives delays only with the packets' times, which a \
         core does not keep; take identity, whose cells have one, or measure in software",
        with(*cells)
    )]
    SoftwareOnly {
        /// The cells.
        cells: CellKind,
    },
    /// Slices beside an LDA are of software alone.
    #[error("no core with lda and slices; take one of them, or measure in software")]
    Both,
    /// Slices are merged where the table is full, in software alone.
    #[error(
        "no core that merges slices, as prefix length 0 asks for: give 1 to 16, with which slices start once in 2^n packets and a full \
         table's last one goes on; or measure in software"
    )]
    MergedSlices,
    /// Slices have no digests in hardware.
    #[error("no core with slices and digests; leave digest out")]
    SlicesWithDigests,
    /// Slices need the order of packets, which several lanes lose.
    #[error(
        "no core with slices of several lanes: frames of different lanes end in another order than they came in, and slices need it; \
         take one lane, or another synopsis"
    )]
    SlicesInLanes,
    /// The core of 8 bits has no classifier.
    #[error(
        "the core of 8 bits has no classifier: leave the entries out, or use a stream of 64 bits or more"
    )]
    NoClassifier,
    /// The core of 8 bits has no digests.
    #[error(
        "no 8-bit core with digests: its time a packet is used up; leave digest out, or give a stream of 64 bits"
    )]
    NoDigests,
    /// The core of 8 bits cannot change its prefix lengths.
    #[error(
        "no adaptive core of 8 bits: its prefix lengths are fixed; set adaptive to false, or give a wider stream"
    )]
    NotAdaptive,
    /// The core of 8 bits has no mixing.
    #[error("no core of 8 bits with a mixing; leave mixing out, or give a wider stream")]
    NoMixing,
    /// No core is built for this stream.
    #[error(
        "no {shell} core for {lanes} lanes of {width} bits with the clock {clock} yet: built are {}",
        streams()
    )]
    Stream {
        /// How the core meets the stream.
        shell: Shell,
        /// Where time comes from.
        clock: ClockSource,
        /// Width of a lane in bits.
        width: usize,
        /// Number of lanes.
        lanes: usize,
    },
    /// Reference packets are for one lane of 64 bits or more.
    #[error(
        "reference packets are sent and received on one lane of 64, 256 or 512 bits alone; leave references out, or give such a stream"
    )]
    References,
    /// Of 512 bits a reference packet is one beat, which may not change while it waits.
    #[error(
        "no reference packets are sent into a stream of 512 bits: the time at which one leaves would have to be in the beat that leaves, and that \
         may not change while it is stalled; leave references out, or send them by 64 or 256 bits, before the stream is widened"
    )]
    ReferenceSender,
    /// The shell is not built for this clock.
    #[error(
        "no {shell} shell for the clock {clock}: it converts what it observes, four cycles late; give the clock ptp and put \
         the module time_of_day in front"
    )]
    Clock {
        /// How the core meets the stream.
        shell: Shell,
        /// Where time comes from.
        clock: ClockSource,
    },
}

fn with(cells: CellKind) -> &'static str {
    match cells {
        CellKind::Lda => "",
        CellKind::Digests => " with digests",
        CellKind::FineComb => " with FineComb",
        CellKind::IdentityTable => " with an identity table",
        CellKind::LdaIdentity => " with LDA and identity table",
        CellKind::FlowRows => " with LDS",
        CellKind::FlowVector => " with COLATE",
        CellKind::Rda => " with RDA",
        CellKind::Srda => " with sRDA",
        CellKind::Slices => " with slices",
    }
}

/// An identity table always has four tables, beside rows always three, an LDS four rows, COLATE one vector, and slices one table.
fn has_fixed_tables(cells: CellKind) -> bool {
    matches!(
        cells,
        CellKind::IdentityTable
            | CellKind::LdaIdentity
            | CellKind::FlowRows
            | CellKind::FlowVector
            | CellKind::Slices
    )
}

fn and_banks(cells: CellKind, banks: usize) -> String {
    if has_fixed_tables(cells) { String::new() } else { format!(" and {banks} banks") }
}

/// The cores that are built with these cells.
fn cores(cells: CellKind) -> String {
    let cores = CoreKind::ALL.into_iter().filter(|core| !sizes(*core, cells).is_empty());
    cores.map(|core| core.to_string()).collect::<Vec<_>>().join(", ")
}

fn for_classes(classes: usize) -> String {
    if classes > 1 { format!("{classes} classes with ") } else { String::new() }
}

/// Values as `8, 16 or 32`.
fn alternatives(values: &[usize]) -> String {
    let words: Vec<String> = values.iter().map(usize::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Numbers that room for so many covers: room for four is taken by three or four.
fn covered(rooms: &[usize], least: usize) -> Vec<usize> {
    let covers = |room: usize| if room <= least { 1..=room } else { room / 2 + 1..=room };
    rooms.iter().flat_map(|&room| covers(room)).collect()
}

/// The sizes of a core in words, those of one number of banks and classes together.
fn built(core: CoreKind, cells: CellKind) -> String {
    type RowsAndBanks = (Vec<usize>, Vec<usize>);
    let mut rows: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for Size { rows: each, banks, classes } in sizes(core, cells) {
        rows.entry((*classes, *banks)).or_default().push(*each);
    }
    // Banks with the same rows and classes, then classes with the same rows and banks.
    let mut banks: BTreeMap<(usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
    for ((classes, room), rows) in rows {
        banks.entry((classes, rows)).or_default().push(room);
    }
    let mut classes: Vec<(RowsAndBanks, Vec<usize>)> = vec![];
    for ((room, rows), banks) in banks {
        match classes.iter_mut().find(|(key, _)| *key == (rows.clone(), banks.clone())) {
            Some((_, rooms)) => rooms.push(room),
            None => classes.push(((rows, banks), vec![room])),
        }
    }
    let line = |((rows, banks), classes): &(RowsAndBanks, Vec<usize>)| {
        let classes = covered(classes, 1);
        let s = if classes == [1] { "" } else { "es" };
        let banks = if has_fixed_tables(cells) {
            String::new()
        } else {
            format!(" with {} banks", alternatives(&covered(banks, 2)))
        };
        format!("{} rows{banks} for {} class{s}", alternatives(rows), alternatives(&classes))
    };
    classes.iter().map(line).collect::<Vec<_>>().join("; ")
}

/// The streams that cores are built for, in words.
fn streams() -> String {
    let one = |core: CoreKind| {
        let shell = |shell: &Shell| {
            let clocks: Vec<String> = core.clocks(*shell).iter().map(ClockSource::to_string).collect();
            format!("{shell} with the clock {}", clocks.join(", "))
        };
        let shells: Vec<String> = core.shells().iter().map(shell).collect();
        format!("{core} ({})", shells.join("; "))
    };
    CoreKind::ALL.map(one).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_words() {
        assert_eq!(
            built(CoreKind::Bits64, CellKind::Digests),
            "16, 256 or 1024 rows with 1, 2, 3 or 4 banks for 1 class"
        );
        assert_eq!(built(CoreKind::Bits64, CellKind::IdentityTable), "16 or 1024 rows for 1 class");
        assert_eq!(
            built(CoreKind::Bits512, CellKind::Digests),
            "16 or 1024 rows with 3 or 4 banks for 1 class"
        );
        assert_eq!(
            built(CoreKind::Bits256, CellKind::Lda),
            "16, 256 or 1024 rows with 1, 2, 3 or 4 banks for 1 class; 16 or 1024 rows with 1 or 2 banks for 2, 3 or 4 classes"
        );
        let (core, cells) = (CoreKind::FourLanes512, CellKind::Lda);
        let refusal = Refusal::Size { core, cells, rows: 32, banks: 2, classes: 2 };
        assert_eq!(
            refusal.to_string(),
            "no core of 4 lanes of 512 bits for 2 classes with 32 rows and 2 banks: built are 16, 256 or 1024 rows with \
             1, 2, 3 or 4 banks for 1 class"
        );
        let (core, cells) = (CoreKind::Bits64, CellKind::IdentityTable);
        assert_eq!(
            Refusal::Size { core, cells, rows: 32, banks: 1, classes: 1 }.to_string(),
            "no core with an identity table of one lane of 64 bits for 32 rows: built are 16 or 1024 rows for 1 class"
        );
        assert_eq!(
            Refusal::Cells { core: CoreKind::Bits256, cells: CellKind::FineComb }.to_string(),
            "no core with FineComb of one lane of 256 bits yet: built is that of one lane of 64 bits"
        );
    }

    #[test]
    fn streams_in_words() {
        let words = streams();
        for part in [
            "one lane of 8 bits (tap with the clock ptp)",
            "one lane of 256 bits (tap with the clock ptp, time-of-day, built-in; inline with the clock ptp, built-in)",
            "4 lanes of 512 bits (tap with",
        ] {
            assert!(words.contains(part), "{words}");
        }
    }
}
