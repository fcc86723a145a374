//! Sorting in bounded memory: what does not fit is written to a temporary file in sorted runs, which are merged when it is read.
//!
//! Records are bytes of a fixed length, in the order of their bytes: numbers in them are big-endian.
//!
//! # Test plan
//!
//! Random records, with memory for none too few and for far too few of them: what comes is what a sort in memory gives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::vec::IntoIter;

/// Takes records in any order.
pub(crate) struct Sorter<const N: usize> {
    /// Most records in memory.
    most: usize,
    memory: Vec<[u8; N]>,
    file: Option<File>,
    /// Records of each run in the file.
    runs: Vec<usize>,
}

impl<const N: usize> Sorter<N> {
    /// Takes records, about so many bytes of them in memory.
    pub(crate) fn new(bytes: usize) -> Self {
        Sorter { most: (bytes / N).max(1), memory: vec![], file: None, runs: vec![] }
    }

    /// Takes a record.
    pub(crate) fn push(&mut self, record: [u8; N]) -> io::Result<()> {
        if self.memory.len() == self.most {
            self.spill()?;
        }
        self.memory.push(record);
        Ok(())
    }

    /// Writes what is in memory to the file.
    fn spill(&mut self) -> io::Result<()> {
        self.memory.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            // Where `/tmp` is memory, `/var/tmp` is not.
            none => none.insert(tempfile::tempfile_in(
                std::env::var_os("TMPDIR").map_or("/var/tmp".into(), PathBuf::from),
            )?),
        };
        file.write_all(self.memory.as_flattened())?;
        self.runs.push(self.memory.len());
        self.memory.clear();
        Ok(())
    }

    /// All records in order.
    pub(crate) fn sorted(mut self) -> io::Result<Sorted<N>> {
        if self.runs.is_empty() {
            self.memory.sort_unstable();
            return Ok(Sorted { memory: self.memory.into_iter(), merged: None });
        }
        self.spill()?;
        let Sorter { most, file, runs, .. } = self;
        let chunk = (most / runs.len()).max(1);
        let ends = runs.iter().scan(0, |end, records| {
            *end += records;
            Some((*end - records, *end))
        });
        let merged = file.map(|file| Merged {
            file,
            chunk,
            runs: ends.map(|(next, end)| Run { next, end, chunk: vec![].into_iter() }).collect(),
            heap: BinaryHeap::new(),
        });
        let mut sorted = Sorted { memory: vec![].into_iter(), merged };
        if let Some(merged) = &mut sorted.merged {
            (0..runs.len()).try_for_each(|run| merged.advance(run))?;
        }
        Ok(sorted)
    }
}

/// Records in order.
pub(crate) struct Sorted<const N: usize> {
    memory: IntoIter<[u8; N]>,
    merged: Option<Merged<N>>,
}

impl<const N: usize> Sorted<N> {
    /// The next record.
    pub(crate) fn next(&mut self) -> io::Result<Option<[u8; N]>> {
        match &mut self.merged {
            Some(merged) => merged.next(),
            None => Ok(self.memory.next()),
        }
    }
}

/// Runs of a file, merged.
struct Merged<const N: usize> {
    file: File,
    /// Records that are read at once.
    chunk: usize,
    runs: Vec<Run<N>>,
    /// The next record of each run that has one.
    heap: BinaryHeap<Reverse<([u8; N], usize)>>,
}

/// Records of the file from `next` to `end`, and those before that were read and not given.
struct Run<const N: usize> {
    next: usize,
    end: usize,
    chunk: IntoIter<[u8; N]>,
}

impl<const N: usize> Merged<N> {
    fn next(&mut self) -> io::Result<Option<[u8; N]>> {
        let Some(Reverse((record, run))) = self.heap.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(record))
    }

    /// Puts a run's next record into the heap.
    fn advance(&mut self, number: usize) -> io::Result<()> {
        let Some(run) = self.runs.get_mut(number) else { return Ok(()) };
        if run.chunk.len() == 0 && run.next < run.end {
            let mut chunk = vec![[0; N]; self.chunk.min(run.end - run.next)];
            self.file.read_exact_at(chunk.as_flattened_mut(), (run.next * N) as u64)?;
            run.next += chunk.len();
            run.chunk = chunk.into_iter();
        }
        self.heap.extend(run.chunk.next().map(|record| Reverse((record, number))));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_in_memory(mut records in prop::collection::vec(any::<[u8; 3]>(), 0..200), bytes in 0usize..700) {
            let mut sorter = Sorter::new(bytes);
            records.iter().for_each(|record| sorter.push(*record).unwrap());
            let mut sorted = sorter.sorted().unwrap();
            records.sort_unstable();
            for record in records {
                prop_assert_eq!(sorted.next().unwrap(), Some(record));
            }
            prop_assert_eq!(sorted.next().unwrap(), None);
        }
    }
}
