//! The hardware for a design: which core, in which size, or why there is none.
//!
//! # Test plan
//!
//! Every shipped design has hardware; every way to ask for what is not built is refused with the reason that concerns
//! it. `hdl/tests/sizes.rs` compares with what is emitted.

use crate::design::Design;
use crate::kind::{CellKind, ClockSource, CoreKind, Shell};
use crate::refusal::Refusal;
use crate::sizes::{Size, sizes};
use crate::stream::Stream;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::shape::Kind;

impl CoreKind {
    /// Whether it is built with so many rows, banks or tables, and classes.
    pub fn is_built(self, rows: usize, banks: usize, classes: usize, cells: CellKind) -> bool {
        sizes(self, cells).contains(&Size::of(rows, banks, classes))
    }

    /// The size that it is built in for a configuration.
    ///
    /// # Errors
    ///
    /// [`Refusal`] if it is not built for the configuration.
    pub fn size(self, configuration: &Configuration) -> Result<Size, Refusal> {
        let cells = CellKind::of_configuration(configuration);
        if cells == CellKind::Slices {
            let refusals = [
                (configuration.kind() == Kind::BOTH, Refusal::Both),
                (configuration.prefixes().lengths() == [0], Refusal::MergedSlices),
                (configuration.has_digest_sum(), Refusal::SlicesWithDigests),
                (self.lanes() > 1, Refusal::SlicesInLanes),
            ];
            if let Some((_, refusal)) = refusals.into_iter().find(|(is_refused, _)| *is_refused) {
                return Err(refusal);
            }
        }
        if cells.is_software_only() {
            return Err(Refusal::SoftwareOnly { cells });
        }
        if self == CoreKind::Byte {
            if cells == CellKind::Digests {
                return Err(Refusal::NoDigests);
            }
            if configuration.adaptive() {
                return Err(Refusal::NotAdaptive);
            }
            if configuration.has_mixing() {
                return Err(Refusal::NoMixing);
            }
            if !configuration.classifier().entries().is_empty() {
                return Err(Refusal::NoClassifier);
            }
        }
        self.size_of_stages(configuration, cells)
    }

    /// The core that is simulated for a configuration, whatever its stream: that of one lane of 64 bits, or of 8 bits where
    /// that alone has the size.
    pub fn simulated(configuration: &Configuration) -> CoreKind {
        match CoreKind::Bits64.size(configuration) {
            Err(Refusal::Size { .. }) if CoreKind::Byte.size(configuration).is_ok() => CoreKind::Byte,
            _ => CoreKind::Bits64,
        }
    }

    /// The size of stages that are built into it with these cells.
    ///
    /// # Errors
    ///
    /// [`Refusal::Cells`] if it is not built with such cells, [`Refusal::Size`] if not in that size.
    pub fn size_of_stages(self, configuration: &Configuration, cells: CellKind) -> Result<Size, Refusal> {
        let size = Size::of_configuration(configuration);
        if sizes(self, cells).contains(&size) {
            return Ok(size);
        }
        if sizes(self, cells).is_empty() {
            return Err(Refusal::Cells { core: self, cells });
        }
        let (rows, banks) = (configuration.rows(), configuration.prefixes().banks());
        Err(Refusal::Size { core: self, cells, rows, banks, classes: configuration.classes() })
    }
}

impl Design {
    /// The core for its stream, shell and clock. Whether that is built for the configuration, [`CoreKind::size`] says.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stream`], [`Refusal::Clock`], [`Refusal::References`] or [`Refusal::ReferenceSender`] if there is none.
    pub fn core(&self) -> Result<CoreKind, Refusal> {
        let (shell, clock) = (self.shell(), self.clock());
        let Stream { width, lanes, .. } = *self.stream();
        let core = CoreKind::of_stream(width, lanes).filter(|core| core.shells().contains(&shell));
        let core = core.ok_or(Refusal::Stream { shell, clock, width, lanes })?;
        match core.clocks(shell).contains(&clock) {
            true if self.references() => match (core, shell) {
                (CoreKind::Bits512, Shell::Inline) => Err(Refusal::ReferenceSender),
                (CoreKind::Bits64 | CoreKind::Bits256 | CoreKind::Bits512, _) => Ok(core),
                (CoreKind::Byte | CoreKind::TwoLanes512 | CoreKind::FourLanes512, _) => {
                    Err(Refusal::References)
                }
            },
            true => Ok(core),
            false if (shell, clock) == (Shell::Inline, ClockSource::TimeOfDay) => {
                Err(Refusal::Clock { shell, clock })
            }
            false => Err(Refusal::Stream { shell, clock, width, lanes }),
        }
    }
    /// Cycles that its control frames take at most, if nothing keeps them waiting: an interval that ends earlier than that
    /// behind the last one is refused.
    pub fn drain_cycles(&self) -> usize {
        let configuration = self.configuration();
        let (shape, classes) = (configuration.shape(), configuration.classes());
        let (cells, frames) = (classes * shape.cells(), classes * usize::from(shape.fragments()));
        let fields = CellKind::of_configuration(configuration).fields();
        let (a_cell, a_frame) = match self.stream().width == CoreKind::Byte.width() {
            // With a key: 12 words of eight bytes, of three cycles each, the tag's bytes, one more each, 32 rounds, eight for each
            // second word, of 48 cycles; the key is copied in 34.
            true if self.authentication() => (56 + 216, 752 + 288 + 16 + 1536 + 2873 + 34),
            // Up to 16 until the interval's number is there.
            true => (56, 752),
            // With a key, five cycles at most for each second word; 15 to begin and 24 to finish.
            false if self.authentication() => (11 + 4 * fields, 290),
            // The core waits while a frame leaves the buffer.
            false => (8 + 2 * fields, 200),
        };
        a_cell * cells + a_frame * frames
    }

    /// Cycles from a delimiter to the next one at least: those of a drain, and with a key those in which the tags of the delimiters that may
    /// come are made. One that comes while its tag is not ready counts as forged, and the point waits for it ever after.
    pub fn interval_cycles(&self) -> usize {
        let (tags, a_tag) = match (self.stream().width == CoreKind::Byte.width(), self.shell()) {
            _ if !self.authentication() => (0, 0),
            // 2,360, and what passes until it is looked at.
            (true, _) => (2, 2400),
            // 2,057; in line there is one more, of the delimiter that is inserted next.
            (false, Shell::Inline) => (3, 2100),
            (false, _) => (2, 2100),
        };
        self.drain_cycles().max(tags * a_tag)
    }
}
